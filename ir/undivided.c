/* ir/undivided.c - a bound on a quotient as the bound on its dividend that it is:
 *
 *     x // d + r < 0   is   x + r*d < 0     for d > 0
 *
 * f0*4 + f1 // 8 < n says of the loops f0 and f1 what f0*32 + f1 < n*8 says. */
#include "ir/arith.h"
#include "ir/fold.h"

/* The comparison as s < 0. */
static bool read_difference(hone_arith *arith, const hone_expr *e, hone_linear *out) {
    if (e->kind != HONE_EXPR_BINARY || !hone_dtype_is_integer(e->args[0]->dtype)) return false;
    bool is_less = e->op == HONE_OP_LT || e->op == HONE_OP_LE;
    bool is_greater = e->op == HONE_OP_GT || e->op == HONE_OP_GE;
    if (!is_less && !is_greater) return false;
    const hone_expr *d = hone_expr_sub(&arith->ir, e->args[is_less ? 0 : 1], e->args[is_less]);
    int64_t strict = e->op == HONE_OP_LE || e->op == HONE_OP_GE ? -1 : 0;
    return d && hone_linear_of(arith, d, out) &&
           !__builtin_add_overflow(out->constant, strict, &out->constant);
}

static bool is_quotient(hone_arith *arith, const hone_linear_term *term) {
    return term->coeff == 1 && hone_expr_is_op(term->term, HONE_OP_FLOORDIV) &&
           hone_arith_bound(arith, term->term->args[1]).min >= 1;
}

const hone_expr *hone_undivided(hone_arith *arith, const hone_expr *e) {
    hone_ir *ir = &arith->ir;
    hone_linear s;
    uint32_t at = 0;
    if (!read_difference(arith, e, &s)) return e;
    while (at < s.count && !is_quotient(arith, &s.terms[at]))
        at++;
    if (at == s.count) return e;
    const hone_expr *quotient = s.terms[at].term;
    hone_dtype dtype = quotient->dtype;
    for (s.count--; at < s.count; at++)
        s.terms[at] = s.terms[at + 1];
    const hone_expr *rest =
        hone_expr_mul(ir, hone_linear_expr(arith, &s, dtype), quotient->args[1]);
    const hone_expr *sum = hone_simplify(arith, hone_expr_add(ir, quotient->args[0], rest));
    return hone_expr_binary(ir, HONE_OP_LT, sum, hone_expr_int(ir, dtype, 0));
}
