/* ir/arith/exact.c - which sums and products are the numbers that they say, and which may wrap
 * around.
 *
 * What programs compute of loop variables, sizes and constants is meant as a number: nothing of it
 * is assumed to leave its type, unless what is known of the variables shows that it does. What is
 * loaded, cast or passed is any value of its type; sums of it wrap around where their bounds do not
 * show that they fit.
 *
 * Sums are congruent to what is computed modulo 2^bits, wrapping or not, so a sum may always be
 * written as another one of the same type. Only what looks at its size (division, comparison, min
 * and max, a wider type) must ask here first. */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

/* ---- what is loaded, cast or passed ---- */

static bool is_value_var(const hone_arith *a, hone_var var) {
    return var < a->count && a->values[var];
}

/* Calls that are numbers of indices where their arguments are. */
static bool is_plain_call(const hone_expr *e) {
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_IF_THEN_ELSE:
    case HONE_INTRIN_LIKELY:
    case HONE_INTRIN_ABS:
    case HONE_INTRIN_SHIFT_LEFT:
    case HONE_INTRIN_SHIFT_RIGHT:
    case HONE_INTRIN_BITWISE_AND:
    case HONE_INTRIN_BITWISE_OR:
    case HONE_INTRIN_BITWISE_XOR:
    case HONE_INTRIN_BITWISE_NOT:
        return true;
    default:
        return hone_expr_is_vscale(e);
    }
}

static bool is_polynomial(const hone_expr *e) {
    return e->kind == HONE_EXPR_BINARY && e->op <= HONE_OP_MUL && e->dtype.lanes == 1 &&
           hone_dtype_is_integer(e->dtype) && !hone_dtype_is_bool(e->dtype);
}

/* arith_fits for any integer type. */
static bool is_of_type(hone_dtype dtype, int64_t value) {
    return hone_dtype_is_int(dtype) ? arith_fits(dtype, value) : hone_dtype_holds(dtype, value);
}

/* Two constants that are beyond their type together: they wrap. */
static bool is_unfolded(const hone_expr *e) {
    int64_t value = 0;
    return is_polynomial(e) && hone_expr_is_int(e->args[0]) && hone_expr_is_int(e->args[1]) &&
           !(hone_fold_ints((hone_op)e->op, e->args[0]->u.i, e->args[1]->u.i, &value) &&
             is_of_type(e->dtype, value));
}

/* Nothing but loop variables, sizes and constants in it. */
static bool is_of_indices(const hone_arith *a, const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
    case HONE_EXPR_STRING:
        return true;
    case HONE_EXPR_VAR:
        return !is_value_var(a, e->u.var);
    case HONE_EXPR_CAST:
        if (!hone_dtype_is_integer(e->args[0]->dtype) || e->args[0]->dtype.bits > e->dtype.bits)
            return false;
        break;
    case HONE_EXPR_CALL:
        if (e->op == HONE_INTRIN_CHECKED_INDEX) return true;
        if (!is_plain_call(e)) return false;
        break;
    case HONE_EXPR_BINARY:
        if (is_unfolded(e)) return false;
        break;
    case HONE_EXPR_FLOAT:
    case HONE_EXPR_LOAD:
        return false;
    default:
        break;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (!is_of_indices(a, e->args[i])) return false;
    }
    return true;
}

bool hone_arith_bind_value(hone_arith *arith, hone_var var) {
    if (!arith_reserve_var(arith, var)) return false;
    return arith->values[var] = true;
}

bool arith_note_value(hone_arith *a, hone_var var, const hone_expr *value) {
    if (!arith_reserve_var(a, var)) return false;
    a->values[var] = !is_of_indices(a, value);
    return true;
}

static bool note_size(void *ctx, const hone_expr *e) {
    hone_arith *a = ctx;
    if (e->kind == HONE_EXPR_VAR && e->u.var < a->count) a->values[e->u.var] = false;
    return true;
}

/* Variables bound to values, which may stand in front of what they are bound to. */
static bool note_lets(hone_arith *a, const hone_func *func) {
    enum { ROUNDS = 8 };
    bool is_changed = true;
    for (int round = 0; is_changed && round < ROUNDS; round++) {
        is_changed = false;
        for (hone_node_id n = 0; n < func->node_count; n++) {
            const hone_node *node = &func->nodes[n];
            if (node->kind != HONE_NODE_LET || is_value_var(a, node->u.let.var)) continue;
            if (!arith_note_value(a, node->u.let.var, node->u.let.value)) return false;
            is_changed |= is_value_var(a, node->u.let.var);
        }
    }
    return true;
}

bool arith_find_values(hone_arith *a, const hone_func *func) {
    for (uint32_t p = 0; p < func->param_count; p++) {
        hone_var var = func->params[p].var;
        if (var == HONE_NO_ID || func->params[p].buffer != HONE_NO_ID) continue;
        if (!func->vars[var].is_size && !hone_arith_bind_value(a, var)) return false;
    }
    for (uint32_t i = 0; i < 2; i++) { /* a value that is a size, and what is bound to it */
        if (!note_lets(a, func)) return false;
        for (hone_buffer b = 0; b < func->buffer_count; b++) {
            for (uint32_t d = 0; d < func->buffers[b].rank; d++)
                hone_expr_walk(func->buffers[b].shape[d], note_size, a);
        }
    }
    return true;
}

/* ---- bounds of numbers that do not wrap ---- */

static bool has_ends(hone_bound b) {
    return b.min != HONE_BOUND_NEG_INF && b.max != HONE_BOUND_POS_INF;
}

static bool fits(hone_dtype dtype, hone_bound b) {
    return has_ends(b) && is_of_type(dtype, b.min) && is_of_type(dtype, b.max);
}

/* What one value may be, by its type alone where nothing else is known. */
static hone_bound value_bound(hone_arith *a, const hone_expr *e) {
    hone_bound b = arith_expr_bound(a, e);
    if (e->dtype.bits > 32 || is_of_indices(a, e)) return b;
    hone_bound all = {hone_dtype_min_int(e->dtype), hone_dtype_max_int(e->dtype)};
    return arith_bound_meet(b, all);
}

static hone_bound polynomial_bound(hone_arith *a, const hone_expr *e, bool by_type) {
    if (!is_polynomial(e) || a->depth >= ARITH_MAX_DEPTH) {
        return by_type ? value_bound(a, e) : arith_expr_bound(a, e);
    }
    a->depth++;
    hone_bound x = polynomial_bound(a, e->args[0], by_type);
    hone_bound y = polynomial_bound(a, e->args[1], by_type);
    a->depth--;
    return arith_bound_combine((hone_op)e->op, x, y);
}

/* A known end is outside of the type; or even the least number is so large (the greatest so small)
 * that a constant made it so, and the other end is not unknown, but beyond int64. */
static bool is_beyond(hone_dtype dtype, hone_bound b) {
    const int64_t large = INT64_MAX / 2;
    return b.min > large || b.max < -large ||
           (b.min != HONE_BOUND_NEG_INF && !is_of_type(dtype, b.min)) ||
           (b.max != HONE_BOUND_POS_INF && !is_of_type(dtype, b.max));
}

/* Ends that are known make one that int64 cannot count. */
static bool is_beyond_all(hone_arith *a, const hone_expr *e, hone_bound b) {
    return !has_ends(b) && has_ends(polynomial_bound(a, e->args[0], false)) &&
           has_ends(polynomial_bound(a, e->args[1], false));
}

bool arith_is_exact(hone_arith *a, const hone_expr *e) {
    if (!is_polynomial(e) || a->is_of_indices) return true;
    hone_bound b = polynomial_bound(a, e, false);
    if (fits(e->dtype, b)) return true;
    if (is_of_indices(a, e)) return !is_beyond(e->dtype, b) && !is_beyond_all(a, e, b);
    return fits(e->dtype, polynomial_bound(a, e, true));
}

hone_bound arith_polynomial_bound(hone_arith *a, const hone_expr *e) {
    hone_bound b = polynomial_bound(a, e, false);
    if (fits(e->dtype, b) || arith_is_exact(a, e)) return b;
    return (hone_bound){HONE_BOUND_NEG_INF, HONE_BOUND_POS_INF};
}

bool arith_may_negate_least(hone_arith *a, const hone_expr *e, hone_bound x, hone_bound divisor) {
    bool divides =
        e->kind != HONE_EXPR_BINARY || e->op == HONE_OP_FLOORDIV || e->op == HONE_OP_TRUNCDIV;
    if (!divides || divisor.max < -1 || divisor.min > -1 || a->is_of_indices) return false;
    if (x.min != HONE_BOUND_NEG_INF) return !arith_fits(e->dtype, x.min - 1);
    if (x.max <= HONE_BOUND_NEG_INF + 1) return true; /* no infinity: the least number itself */
    return !is_of_indices(a, e->args[0]);
}

/* ---- sums ---- */

static hone_bound sum_bound_by_type(hone_arith *a, const arith_sum *s) {
    hone_bound b = {s->constant, s->constant};
    for (uint32_t i = 0; i < s->count; i++) {
        hone_bound term = value_bound(a, s->terms[i].term);
        b = arith_bound_add(b, arith_bound_scale(term, s->terms[i].coeff));
    }
    return b;
}

/* Products stand in sums as what they are made of, too. */
static bool has_exact_products(hone_arith *a, const arith_sum *s) {
    for (uint32_t i = 0; (s->has & ARITH_HAS_PRODUCT) && i < s->count; i++) {
        if (!arith_is_exact(a, s->terms[i].term)) return false;
    }
    return true;
}

static bool sum_is_of_indices(const hone_arith *a, const arith_sum *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_of_indices(a, s->terms[i].term)) return false;
    }
    return true;
}

bool arith_sum_is_exact(hone_arith *a, const arith_sum *s, hone_dtype dtype) {
    if (s->failed) return false;
    if (a->is_of_indices) return true;
    if ((s->wraps && s->wraps < dtype.bits) || !has_exact_products(a, s)) return false;
    bool is_lone = s->count == 1 && s->constant == 0 && s->terms[0].coeff == 1;
    if (is_lone && s->terms[0].term->dtype.bits <= dtype.bits) return true;
    hone_bound b = arith_sum_bound_known(a, s);
    if (fits(dtype, b)) return true;
    if (!s->wraps && sum_is_of_indices(a, s)) return !is_beyond(dtype, b);
    return fits(dtype, arith_bound_meet(b, sum_bound_by_type(a, s)));
}

/* ---- the public face ---- */

/* The least number, or what may be it, divided by -1. */
static bool divides_least(hone_arith *a, const hone_expr *e) {
    bool divides = hone_expr_is_op(e, HONE_OP_FLOORDIV) || hone_expr_is_op(e, HONE_OP_TRUNCDIV);
    if (!divides || (e->args[1]->kind == HONE_EXPR_INT && e->args[1]->u.i != -1)) return false;
    return arith_may_negate_least(a, e, arith_expr_bound(a, e->args[0]),
                                  arith_expr_bound(a, e->args[1]));
}

bool hone_arith_is_exact(hone_arith *arith, const hone_expr *e) {
    if (!arith_is_exact(arith, e) || divides_least(arith, e)) return false;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!hone_arith_is_exact(arith, e->args[i])) return false;
    }
    return true;
}

bool hone_arith_is_of_indices(const hone_arith *arith, const hone_expr *e) {
    return is_of_indices(arith, e);
}
