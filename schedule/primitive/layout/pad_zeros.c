/* schedule/primitive/layout/pad_zeros.c - shows that zeros neither fail in a block nor change its
 * result. */
#include "schedule/primitive/layout/pad_zeros.h"

/* Integer division, conversion of what may be no number to an integer, shifts, calls. */
static bool is_risk(const void *ctx, const hone_expr *x) {
    (void)ctx;
    bool is_shift = hone_expr_is_call(x, HONE_INTRIN_SHIFT_LEFT) ||
                    hone_expr_is_call(x, HONE_INTRIN_SHIFT_RIGHT);
    if (x->kind == HONE_EXPR_CALL)
        return hone_expr_is_effect(x) || (is_shift && !hone_expr_is_int(x->args[1]));
    if (x->kind == HONE_EXPR_CAST && hone_dtype_is_integer(x->dtype))
        return hone_dtype_is_float(x->args[0]->dtype) && x->args[0]->kind != HONE_EXPR_LOAD;
    return hone_expr_may_trap(x);
}

hone_status sch_check_zero_risks(hone_schedule *sch, hone_node_id block) {
    bool is_found = false;
    for (hone_node_id n = hone_block_body_of(sch->func, block); n != HONE_NO_ID && !is_found;
         n = sch_node(sch, n)->next) {
        is_found = hone_tree_find_part(sch->func, n, true, is_risk, NULL);
    }
    if (!is_found) return HONE_OK;
    return sch_refuse(sch, block,
                      "%s divides integers, shifts, converts to integers or calls: it may fail on "
                      "the zeros of the padding",
                      sch_block_name(sch, block));
}

static bool is_padding_load(hone_var axis, const hone_expr *x) {
    for (uint32_t d = 0; d < x->count; d++) {
        if (x->args[d]->kind == HONE_EXPR_VAR && x->args[d]->u.var == axis) return true;
    }
    return false;
}

static bool is_zero(hone_var axis, const hone_expr *x);

/* The bits of a float are those of 0 where it was put there, not where it may be -0. */
static bool is_zero_call(hone_var axis, const hone_expr *x) {
    if (hone_expr_is_call(x, HONE_INTRIN_IF_THEN_ELSE))
        return is_zero(axis, x->args[1]) && is_zero(axis, x->args[2]);
    if (hone_expr_is_call(x, HONE_INTRIN_BITWISE_AND))
        return is_zero(axis, x->args[0]) || is_zero(axis, x->args[1]);
    bool is_float = x->count > 0 && hone_dtype_is_float(x->args[0]->dtype);
    return hone_expr_is_call(x, HONE_INTRIN_REINTERPRET) &&
           (!is_float || x->args[0]->kind == HONE_EXPR_LOAD) && is_zero(axis, x->args[0]);
}

/* Is the value surely zero where the axis is beyond its old end? Zero times a float that is not
 * known may be no number. */
static bool is_zero(hone_var axis, const hone_expr *x) {
    switch (x->kind) {
    case HONE_EXPR_INT:
        return x->u.i == 0;
    case HONE_EXPR_FLOAT:
        return x->u.f == 0;
    case HONE_EXPR_LOAD:
        return is_padding_load(axis, x);
    case HONE_EXPR_CAST:
        return is_zero(axis, x->args[0]);
    case HONE_EXPR_SELECT:
        return is_zero(axis, x->args[1]) && is_zero(axis, x->args[2]);
    case HONE_EXPR_CALL:
        return is_zero_call(axis, x);
    case HONE_EXPR_BINARY: {
        bool a = is_zero(axis, x->args[0]), b = is_zero(axis, x->args[1]);
        bool adds = x->op == HONE_OP_ADD || x->op == HONE_OP_SUB || x->op == HONE_OP_MIN ||
                    x->op == HONE_OP_MAX;
        if (x->op != HONE_OP_MUL) return adds && a && b;
        return (a && b) || ((a || b) && hone_dtype_is_integer(x->dtype));
    }
    default:
        return false;
    }
}

/* Is the statement a sum that zeros add nothing to: C[…] = C[…] + what is zero? */
static bool is_zero_sum(const hone_node *node, hone_var axis) {
    const hone_expr *value = node->kind == HONE_NODE_STORE ? node->u.store.value : NULL;
    if (!value || !hone_expr_is_op(value, HONE_OP_ADD)) return false;
    for (int i = 0; i < 2; i++) {
        const hone_expr *old = value->args[i];
        bool is_old = old->kind == HONE_EXPR_LOAD && old->u.buffer == node->u.store.buffer;
        for (uint32_t d = 0; is_old && d < node->u.store.rank; d++)
            is_old = hone_expr_same(old->args[d], node->u.store.indices[d]);
        if (is_old && is_zero(axis, value->args[1 - i])) return true;
    }
    return false;
}

hone_status sch_check_zero_sums(hone_schedule *sch, hone_node_id at,
                                const hone_expr *const *extents) {
    const hone_block *block = sch_block(sch, at);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (!extents[i] || block->axes[i].kind != HONE_AXIS_REDUCE) continue;
        hone_var axis = block->axes[i].var;
        hone_node_id n = hone_block_body_of(sch->func, at);
        while (n != HONE_NO_ID && is_zero_sum(sch_node(sch, n), axis))
            n = sch_node(sch, n)->next;
        if (n == HONE_NO_ID) continue;
        return sch_refuse(sch, at,
                          "zeros beyond the end of reduce axis '%s' may change the result of %s",
                          sch->func->vars[axis].name, sch_block_name(sch, at));
    }
    return HONE_OK;
}
