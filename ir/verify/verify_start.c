/* ir/verify/verify_start.c - the values that reductions start at: a sum at 0, a product at 1, a
 * maximum below all. */
#include <math.h>

#include "ir/verify/verify_impl.h"

static bool number_of(const hone_expr *e, double *out) {
    if (e->kind == HONE_EXPR_CAST) return number_of(e->args[0], out);
    *out = e->kind == HONE_EXPR_INT ? (double)e->u.i : e->u.f;
    return e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_FLOAT;
}

/* The other operand of `C[...] op x`, or NULL. */
static const hone_expr *operand_of(const hone_expr *value, hone_buffer buffer) {
    for (uint32_t i = 0; i < 2; i++) {
        if (value->args[i]->kind == HONE_EXPR_LOAD && value->args[i]->u.buffer == buffer)
            return value->args[1 - i];
    }
    return NULL;
}

/* May a maximum start at 0: of magnitudes, squares, unsigned numbers? */
static bool is_never_negative(verifier *v, const hone_expr *e) {
    if (e->kind == HONE_EXPR_CAST && hone_dtype_is_float(e->dtype))
        return is_never_negative(v, e->args[0]);
    if (hone_dtype_is_integer(e->dtype)) return hone_arith_bound(&v->arith, e).min >= 0;
    if (hone_expr_is_op(e, HONE_OP_MUL)) return hone_expr_same(e->args[0], e->args[1]);
    if (hone_expr_is_op(e, HONE_OP_MAX)) {
        return is_never_negative(v, e->args[0]) || is_never_negative(v, e->args[1]);
    }
    double value;
    if (number_of(e, &value)) return value >= 0;
    return e->kind != HONE_EXPR_LOAD && e->kind != HONE_EXPR_BINARY; /* who knows */
}

static bool is_greatest(hone_dtype dtype, double value) {
    if (hone_dtype_is_float(dtype)) return value >= hone_dtype_max_float(dtype);
    return value >= (double)hone_dtype_max_int(dtype);
}

static bool is_least(hone_dtype dtype, double value) {
    if (hone_dtype_is_float(dtype)) return value <= -hone_dtype_max_float(dtype);
    return value <= (double)hone_dtype_min_int(dtype) && value != 0;
}

static void check_extreme(verifier *v, const char *block, hone_node_id first, bool is_max,
                          double start, const hone_expr *other) {
    hone_dtype dtype = other->dtype;
    const char *type = HONE_DTYPE_NAME(dtype);
    if (is_max ? is_greatest(dtype, start) : is_least(dtype, start)) {
        verify_warning(v, first,
                       "block '%s' takes the %s from the %s %s on, so that nothing changes it; it "
                       "starts at T.%s_value(\"%s\")",
                       block, is_max ? "maximum" : "minimum", is_max ? "greatest" : "least", type,
                       is_max ? "min" : "max", type);
    } else if (start == 0 && (!is_max || !is_never_negative(v, other))) {
        verify_warning(v, first,
                       "block '%s' takes the %s from 0 on, so that all %s numbers count as 0; it "
                       "starts at T.%s_value(\"%s\")",
                       block, is_max ? "maximum" : "minimum", is_max ? "negative" : "positive",
                       is_max ? "min" : "max", type);
    }
}

void verify_odd_start(verifier *v, hone_node_id id, hone_node_id first, hone_node_id update) {
    const hone_node *start = hone_func_node(v->func, first);
    const hone_expr *value = hone_func_node(v->func, update)->u.store.value;
    if (hone_expr_as_extreme(value)) value = hone_expr_as_extreme(value);
    const char *block = hone_func_node(v->func, id)->u.block.block->name;
    double from;
    if (value->kind != HONE_EXPR_BINARY || !number_of(start->u.store.value, &from)) return;
    const hone_expr *other = operand_of(value, start->u.store.buffer);
    if (!other) return;
    if (value->op == HONE_OP_MUL && from == 0) {
        verify_warning(v, first,
                       "block '%s' multiplies what T.init sets to 0: a product starts at 1", block);
    } else if (value->op == HONE_OP_ADD && from != 0) {
        verify_warning(v, first, "block '%s' adds to what T.init sets to %g: a sum starts at 0",
                       block, from);
    } else if (value->op == HONE_OP_MAX || value->op == HONE_OP_MIN) {
        check_extreme(v, block, first, value->op == HONE_OP_MAX, from, other);
    }
}
