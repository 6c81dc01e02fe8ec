/* lower/blocks/lower_fixed_point.c - the pass that writes out products of fixed point.
 * needs: nothing. keeps: the program. Products of fixed point become what they mean in 64 bits:
 *   q_multiply_shift(x, y, q, s) = int32(((x << l) * y + (1 << (r - 1))) >> r)
 * with l = max(s, 0) and r = q + max(-s, 0); by axis l and r are said (TVM: intrin_rule.cc). */
#include "lower/ground/passes.h"

/* A scalar beside vectors counts for each lane. */
static const hone_expr *wide(hone_ir *ir, const hone_expr *e, uint16_t lanes) {
    if (e && e->dtype.lanes == 1 && lanes > 1) e = hone_expr_broadcast(ir, e, lanes);
    return hone_expr_cast(ir, hone_dtype_with_lanes(HONE_DTYPE_I64, lanes), e);
}

static const hone_expr *truth(hone_ir *ir, const hone_expr *e) {
    if (hone_dtype_is_bool(e->dtype)) return e;
    return hone_expr_binary(ir, HONE_OP_NE, e, hone_expr_int(ir, e->dtype, 0));
}

static const hone_expr *shift(hone_ir *ir, hone_intrin way, const hone_expr *value,
                              const hone_expr *by) {
    if (!value) return NULL;
    return hone_expr_call(ir, value->dtype, way, 2, (const hone_expr *const[]){value, by});
}

static const hone_expr *multiply_shift(hone_ir *ir, const hone_expr *call, const hone_expr *left,
                                       const hone_expr *right) {
    uint16_t lanes = call->dtype.lanes;
    const hone_expr *x = wide(ir, call->args[0], lanes), *y = wide(ir, call->args[1], lanes);
    const hone_expr *by = wide(ir, right, lanes);
    if (!by) return NULL;
    const hone_expr *one = hone_expr_int(ir, by->dtype, 1);
    const hone_expr *half = shift(ir, HONE_INTRIN_SHIFT_LEFT, one, hone_expr_sub(ir, by, one));
    x = shift(ir, HONE_INTRIN_SHIFT_LEFT, x, wide(ir, left, lanes));
    const hone_expr *sum = hone_expr_add(ir, hone_expr_mul(ir, x, y), half);
    return hone_expr_cast(ir, call->dtype, shift(ir, HONE_INTRIN_SHIFT_RIGHT, sum, by));
}

static const hone_expr *expand(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ctx;
    if (hone_expr_is_call(e, HONE_INTRIN_Q_MULTIPLY_SHIFT)) {
        const hone_expr *q = e->args[2], *s = e->args[3], *zero = hone_expr_int(ir, s->dtype, 0);
        const hone_expr *left = hone_expr_binary(ir, HONE_OP_MAX, s, zero);
        const hone_expr *down = hone_expr_binary(ir, HONE_OP_MAX, hone_expr_sub(ir, zero, s), zero);
        return multiply_shift(ir, e, left, hone_expr_add(ir, q, down));
    }
    if (hone_expr_is_call(e, HONE_INTRIN_Q_MULTIPLY_AXIS)) {
        const hone_expr *l = e->args[2], *r = e->args[3], *q = e->args[4], *is_left = e->args[5];
        const hone_expr *left =
            hone_expr_select(ir, truth(ir, is_left), l, hone_expr_int(ir, l->dtype, 0));
        return multiply_shift(ir, e, left, hone_expr_add(ir, r, q));
    }
    return e;
}

hone_status lower_fixed_point(hone_lower *lower) {
    return hone_tree_transform(lower->func, 0, expand, NULL, false);
}
