/* ir/arith/undivided.c - a bound on a quotient as the bound on its dividend that it is:
 *
 *     x // d + r < 0   is   x + r*d < 0     for d > 0
 *
 * f0*4 + f1 // 8 < n says of the loops f0 and f1 what f0*32 + f1 < n*8 says. And the other way
 * round, where what is left over of the quotient is a term by itself:
 *
 *     x*g + y < 0   is   x < 0     for 0 <= y < g */
#include "ir/arith/arith.h"
#include "ir/core/fold.h"

/* The comparison as s < 0. */
static bool read_difference(hone_arith *arith, const hone_expr *e, hone_linear *out) {
    if (e->kind != HONE_EXPR_BINARY || !hone_dtype_is_integer(e->args[0]->dtype)) return false;
    bool is_less = e->op == HONE_OP_LT || e->op == HONE_OP_LE;
    bool is_greater = e->op == HONE_OP_GT || e->op == HONE_OP_GE;
    if (!is_less && !is_greater) return false;
    const hone_expr *d = hone_expr_sub(&arith->ir, e->args[is_less ? 0 : 1], e->args[is_less]);
    int64_t strict = e->op == HONE_OP_LE || e->op == HONE_OP_GE ? -1 : 0;
    if (!hone_arith_is_exact(arith, e->args[0]) || !hone_arith_is_exact(arith, e->args[1])) {
        return false;
    }
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

/* s < 0 where s is a multiple of g and a term from 0 to g - 1: without the term, divided by g. */
static bool drop_term(hone_arith *arith, hone_linear *s, uint32_t at) {
    hone_bound bound = hone_arith_bound(arith, s->terms[at].term);
    int64_t g = s->constant, most, coeff = s->terms[at].coeff;
    hone_linear_term *terms = hone_arena_alloc(arith->ir.arena, s->count * sizeof *terms);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (i != at) g = hone_gcd(g, s->terms[i].coeff);
    }
    if (!terms || g < 2 || coeff < 1 || bound.min < 0 || bound.max == HONE_BOUND_POS_INF ||
        __builtin_mul_overflow(bound.max, coeff, &most) || most >= g) {
        return false;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (i == at) continue;
        terms[count++] = (hone_linear_term){s->terms[i].term, s->terms[i].coeff / g};
    }
    *s = (hone_linear){s->constant / g, count, terms};
    return true;
}

bool hone_drop_rest(hone_arith *arith, hone_linear *io, const bool *marks, uint32_t mark_count) {
    bool dropped = false;
    for (uint32_t i = 0; i < io->count;) {
        bool is_marked = hone_expr_uses_any(io->terms[i].term, marks, mark_count);
        if (is_marked && drop_term(arith, io, i)) {
            dropped = true;
            i = 0;
        } else {
            i++;
        }
    }
    return dropped;
}

const hone_expr *hone_without_rest(hone_arith *arith, const hone_expr *e, const bool *marks,
                                   uint32_t mark_count) {
    hone_ir *ir = &arith->ir;
    hone_linear s, end = {0};
    uint32_t count = 0;
    if (!read_difference(arith, e, &s) || !hone_drop_rest(arith, &s, marks, mark_count)) return e;
    end.terms = hone_arena_alloc(ir->arena, (s.count + 1) * sizeof *end.terms);
    if (!end.terms || s.constant == INT64_MIN) return e;
    hone_dtype dtype = e->args[0]->dtype;
    end.constant = -s.constant;
    for (uint32_t i = 0; i < s.count; i++) {
        hone_linear_term term = s.terms[i];
        if (term.coeff > 0)
            s.terms[count++] = term;
        else
            end.terms[end.count++] = (hone_linear_term){term.term, -term.coeff};
    }
    s.constant = 0;
    s.count = count;
    return hone_expr_binary(ir, HONE_OP_LT, hone_linear_expr(arith, &s, dtype),
                            hone_linear_expr(arith, &end, dtype));
}
