/* ir/region/points_value.c - the value of an index or a condition in one iteration of the loops
 * around it. */
#include "ir/core/fold.h"
#include "ir/region/points.h"

/* lets of lets of lets: deeper than that nothing is known */
enum { MAX_DEPTH = 200 };

static bool value_of(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out);

static bool var_value(hone_points *p, hone_var id, uint32_t depth, int64_t *out) {
    hone_point_var *var = &p->vars[id];
    if (!var->source || var->stamp == p->stamp) {
        *out = var->value;
        return var->is_known;
    }
    var->is_known = value_of(p, var->source, depth + 1, &var->value);
    var->stamp = p->stamp;
    *out = var->value;
    return var->is_known;
}

/* One side may decide alone. */
static bool connect(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    int64_t decides = e->op == HONE_OP_OR, a = 0, b = 0;
    bool has_a = value_of(p, e->args[0], depth, &a), has_b = value_of(p, e->args[1], depth, &b);
    *out = decides;
    if ((has_a && !a == !decides) || (has_b && !b == !decides)) return true;
    *out = !decides;
    return has_a && has_b;
}

static bool binary(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    int64_t a, b;
    if (e->op == HONE_OP_AND || e->op == HONE_OP_OR) return connect(p, e, depth, out);
    /* of numbers only: a float has no value here */
    return value_of(p, e->args[0], depth, &a) && value_of(p, e->args[1], depth, &b) &&
           hone_fold_operation(e, a, b, out);
}

static bool choose(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    int64_t condition;
    if (!value_of(p, e->args[0], depth, &condition)) return false;
    return value_of(p, e->args[condition ? 1 : 2], depth, out);
}

static bool ramp(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    int64_t base, stride;
    return value_of(p, e->args[0], depth, &base) && value_of(p, e->args[1], depth, &stride) &&
           !__builtin_mul_overflow(stride, (int64_t)p->lane, &stride) &&
           !__builtin_add_overflow(base, stride, out);
}

/* A number that the type does not hold is unknown. */
static bool cast(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    return hone_dtype_is_integer(e->dtype) && value_of(p, e->args[0], depth, out) &&
           hone_dtype_holds(e->dtype, *out);
}

static bool bits(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    int64_t a, b;
    return e->count == 2 && hone_dtype_is_integer(e->dtype) && value_of(p, e->args[0], depth, &a) &&
           value_of(p, e->args[1], depth, &b) &&
           hone_fold_bits((hone_intrin)e->op, e->dtype, a, b, out);
}

static bool call(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    if (e->op == HONE_INTRIN_IF_THEN_ELSE && e->count == 3) return choose(p, e, depth, out);
    if (e->op == HONE_INTRIN_LIKELY && e->count == 1) return value_of(p, e->args[0], depth, out);
    return bits(p, e, depth, out);
}

static bool value_of(hone_points *p, const hone_expr *e, uint32_t depth, int64_t *out) {
    if (depth > MAX_DEPTH) return false;
    depth++;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        *out = e->u.i;
        return true;
    case HONE_EXPR_VAR:
        return e->u.var < p->func->var_count && var_value(p, e->u.var, depth, out);
    case HONE_EXPR_BINARY:
        return binary(p, e, depth, out);
    case HONE_EXPR_NOT:
        if (!value_of(p, e->args[0], depth, out)) return false;
        *out = !*out;
        return true;
    case HONE_EXPR_SELECT:
        return choose(p, e, depth, out);
    case HONE_EXPR_CAST:
        return cast(p, e, depth, out);
    case HONE_EXPR_CALL:
        return call(p, e, depth, out);
    case HONE_EXPR_RAMP:
        return ramp(p, e, depth, out);
    case HONE_EXPR_BROADCAST:
        return value_of(p, e->args[0], depth, out);
    default:
        return false;
    }
}

bool hone_value_at(hone_points *points, const hone_expr *e, int64_t *out_value) {
    return value_of(points, e, 0, out_value);
}
