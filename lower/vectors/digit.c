/* lower/vectors/digit.c - see digit.h. */
#include "lower/vectors/digit.h"

bool lower_move_of(hone_arith *arith, const hone_expr *e, hone_var var, const hone_expr *min,
                   lower_move *out) {
    if (!hone_linear_coeff(arith, e, var, &out->step)) return false;
    out->start = hone_expr_substitute_one(&arith->ir, e, var, min);
    if (out->start) out->start = hone_simplify(arith, out->start);
    return out->start != NULL;
}

static bool is_digit(const hone_expr *e) {
    return hone_expr_is_divmod(e) && hone_dtype_is_int(e->dtype) && e->dtype.lanes == 1 &&
           hone_expr_const(e->args[1]) > 0;
}

bool lower_digit_of(hone_arith *arith, const hone_expr *e, hone_var var, lower_digit *out) {
    if (!is_digit(e)) return false;
    out->number = e->args[0];
    out->divisor = hone_expr_const(e->args[1]);
    return hone_linear_coeff(arith, out->number, var, &out->step);
}

static bool is_digit_of(const void *ctx, const hone_expr *e) {
    const hone_var *var = ctx;
    return is_digit(e) && hone_expr_uses_var(e->args[0], *var);
}

bool lower_has_digit(const hone_func *func, hone_node_id root, hone_var var) {
    return hone_tree_find_part(func, root, false, is_digit_of, &var) != NULL;
}
