/* compile/part_values.c - expressions over sizes to the list of values that a model computes. */
#include "compile/parts.h"

/* An element that is found in two phases is two values: a run may come by one of them alone. */
static int32_t add(part_plan *plan, hone_mt_value value) {
    for (size_t i = 0; i < plan->values.count; i++) {
        const hone_mt_value *v = &plan->values.data[i];
        if (v->op == value.op && v->a == value.a && v->b == value.b && v->k == value.k &&
            v->phase == value.phase) {
            return (int32_t)i;
        }
    }
    if (!hone_vec_push(&plan->values, value)) return -1;
    return (int32_t)plan->values.count - 1;
}

int32_t part_value_const(part_plan *plan, int64_t k) {
    return add(plan, (hone_mt_value){.op = HONE_MT_CONST, .k = k});
}

static bool is_zero(const hone_mt_value *value) {
    return value->op == HONE_MT_CONST && value->k == 0;
}

static bool fold(hone_mt_op op, int64_t a, int64_t b, int64_t *out) {
    if (op == HONE_MT_ADD) return !__builtin_add_overflow(a, b, out);
    if (op == HONE_MT_SUB) return !__builtin_sub_overflow(a, b, out);
    return op == HONE_MT_MUL && !__builtin_mul_overflow(a, b, out);
}

int32_t part_value_make(part_plan *plan, hone_mt_op op, int32_t a, int32_t b) {
    int64_t k;
    if (a < 0 || b < 0) return -1;
    bool is_computed = op >= HONE_MT_ADD && op <= HONE_MT_MAX;
    const hone_mt_value *left = is_computed ? &plan->values.data[a] : NULL;
    const hone_mt_value *right = is_computed ? &plan->values.data[b] : NULL;
    if (is_computed && left->op == HONE_MT_CONST && right->op == HONE_MT_CONST &&
        fold(op, left->k, right->k, &k)) {
        return part_value_const(plan, k);
    }
    if (op == HONE_MT_MUL && (is_zero(left) || is_zero(right))) return part_value_const(plan, 0);
    int32_t phase = is_computed && left->phase > right->phase ? left->phase : 0;
    if (is_computed && right->phase > phase) phase = right->phase;
    return add(plan, (hone_mt_value){.op = (int32_t)op, .a = a, .b = b, .phase = phase});
}

int32_t part_value_element(part_plan *plan, uint32_t phase, uint32_t tensor, uint32_t element,
                           uint32_t bytes) {
    return add(plan, (hone_mt_value){.op = HONE_MT_ELEMENT,
                                     .a = (int32_t)tensor,
                                     .b = (int32_t)element,
                                     .phase = (int32_t)phase,
                                     .k = bytes});
}

static int32_t binary_op(hone_op op) {
    switch (op) {
    case HONE_OP_ADD:
        return HONE_MT_ADD;
    case HONE_OP_SUB:
        return HONE_MT_SUB;
    case HONE_OP_MUL:
        return HONE_MT_MUL;
    case HONE_OP_FLOORDIV:
        return HONE_MT_DIV;
    case HONE_OP_FLOORMOD:
        return HONE_MT_MOD;
    case HONE_OP_MIN:
        return HONE_MT_MIN;
    case HONE_OP_MAX:
        return HONE_MT_MAX;
    default:
        return -1;
    }
}

enum { MOST_SHIFTED = 62 };

int32_t part_value_expr(part_plan *plan, const hone_expr *e, const int32_t *map) {
    if (hone_expr_is_int(e)) return part_value_const(plan, e->u.i);
    if (e->kind == HONE_EXPR_VAR) return map[e->u.var];
    if (e->kind == HONE_EXPR_CAST) return part_value_expr(plan, e->args[0], map);
    bool is_left = hone_expr_is_call(e, HONE_INTRIN_SHIFT_LEFT);
    if (is_left || hone_expr_is_call(e, HONE_INTRIN_SHIFT_RIGHT)) {
        int64_t by = hone_expr_const(e->args[1]);
        if (by < 0 || by > MOST_SHIFTED) return -1;
        return part_value_make(plan, is_left ? HONE_MT_MUL : HONE_MT_DIV,
                               part_value_expr(plan, e->args[0], map),
                               part_value_const(plan, (int64_t)1 << by));
    }
    int32_t op = e->kind == HONE_EXPR_BINARY ? binary_op((hone_op)e->op) : -1;
    if (op < 0) return -1;
    int32_t a = part_value_expr(plan, e->args[0], map);
    return part_value_make(plan, (hone_mt_op)op, a, part_value_expr(plan, e->args[1], map));
}

bool part_check_add(part_plan *plan, hone_mt_check check) {
    if (check.got == check.wanted) return true; /* equal values have one number */
    for (size_t i = 0; i < plan->checks.count; i++) {
        const hone_mt_check *c = &plan->checks.data[i];
        bool is_same = c->got == check.got && c->wanted == check.wanted;
        bool is_before = c->phase >= 0 || c->phase == check.phase; /* of all runs, or of the same */
        if (is_same && is_before && c->relation == check.relation) return true; /* said once */
    }
    return check.place && check.what && hone_vec_push(&plan->checks, check);
}
