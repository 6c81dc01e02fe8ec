/* ir/arith/linear_expr.c - products of terms, sums as expressions, and linear forms for others. */
#include "ir/arith/arith.h"

#include <string.h>

#include "ir/arith/arith_impl.h"

/* ---- products ---- */

uint32_t arith_mono_factors(const hone_expr *e, const hone_expr **out) {
    uint32_t n = 0;
    while (hone_expr_is_op(e, HONE_OP_MUL) && n + 1 < ARITH_MAX_FACTORS) {
        out[n++] = e->args[1];
        e = e->args[0];
    }
    out[n++] = e;
    for (uint32_t i = 0; i < n / 2; i++) {
        const hone_expr *swap = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = swap;
    }
    return n;
}

static hone_dtype wider(hone_dtype x, hone_dtype y) {
    return x.bits >= y.bits ? x : y;
}

static const hone_expr *mono_of(hone_arith *a, const hone_expr **factors, uint32_t n) {
    hone_dtype dtype = factors[0]->dtype;
    for (uint32_t i = 1; i < n; i++)
        dtype = wider(dtype, factors[i]->dtype);
    const hone_expr *e = hone_expr_cast(&a->ir, dtype, factors[0]);
    for (uint32_t i = 1; i < n; i++) {
        e = hone_expr_mul(&a->ir, e, hone_expr_cast(&a->ir, dtype, factors[i]));
    }
    return e;
}

/* Factors of a term, without the casts that a mixed product needs. */
static uint32_t bare_factors(hone_arith *a, const hone_expr *e, const hone_expr **out) {
    uint32_t n = arith_mono_factors(e, out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = arith_strip_cast(a, out[i]);
    return n;
}

const hone_expr *arith_mono_mul(hone_arith *a, const hone_expr *x, const hone_expr *y) {
    if (!x || !y) return NULL;
    const hone_expr *all[2 * ARITH_MAX_FACTORS];
    uint32_t n = bare_factors(a, x, all);
    n += bare_factors(a, y, all + n);
    if (n > ARITH_MAX_FACTORS) return NULL; /* the sum fails, the product stays as written */
    arith_sort(all, n);
    return mono_of(a, all, n);
}

bool arith_mono_div(hone_arith *a, const hone_expr *x, const hone_expr *d, const hone_expr **out) {
    const hone_expr *fx[ARITH_MAX_FACTORS], *fd[ARITH_MAX_FACTORS];
    uint32_t nx = bare_factors(a, x, fx), nd = bare_factors(a, d, fd);
    *out = NULL;
    for (uint32_t i = 0; i < nd; i++) {
        uint32_t j = 0;
        while (j < nx && arith_order(fx[j], fd[i]) != 0)
            j++;
        if (j == nx) return false;
        memmove(&fx[j], &fx[j + 1], (nx - j - 1) * sizeof fx[0]);
        nx--;
    }
    if (nx) *out = mono_of(a, fx, nx);
    return true;
}

/* ---- building expressions ---- */

static const hone_expr *int_with(hone_arith *a, hone_dtype dtype, int64_t v,
                                 const hone_expr *hint) {
    if (hint && hone_expr_is_int_value(hint, v) && hone_dtype_equal(hint->dtype, dtype)) {
        return hint;
    }
    return hone_expr_int(&a->ir, dtype, v);
}

static const hone_expr *op_with(hone_arith *a, hone_op op, const hone_expr *x, const hone_expr *y,
                                const hone_expr *hint) {
    if (hint && hone_expr_is_op(hint, op) && hint->args[0] == x && hint->args[1] == y) return hint;
    return hone_expr_binary(&a->ir, op, x, y);
}

static const hone_expr *cast_with(hone_arith *a, hone_dtype dtype, const hone_expr *e,
                                  const hone_expr *hint) {
    if (hone_dtype_equal(e->dtype, dtype)) return e;
    if (hint && hint->kind == HONE_EXPR_CAST && hint->args[0] == e &&
        hone_dtype_equal(hint->dtype, dtype)) {
        return hint;
    }
    return hone_expr_cast(&a->ir, dtype, e);
}

static const hone_expr *arg_of(const hone_expr *hint, hone_op op, int which) {
    return hint && hone_expr_is_op(hint, op) ? hint->args[which] : NULL;
}

/* The term in the dtype of the sum; hint nodes that are the same are used again. */
static const hone_expr *term_in(hone_arith *a, const hone_expr *term, hone_dtype dtype,
                                const hone_expr *hint) {
    if (hone_dtype_equal(term->dtype, dtype)) {
        bool same = hint && hint->kind == term->kind && hone_expr_same(hint, term);
        return same ? hint : term;
    }
    if (hone_expr_is_op(term, HONE_OP_MUL)) {
        const hone_expr *x = term_in(a, term->args[0], dtype, arg_of(hint, HONE_OP_MUL, 0));
        const hone_expr *y = term_in(a, term->args[1], dtype, arg_of(hint, HONE_OP_MUL, 1));
        return op_with(a, HONE_OP_MUL, x, y, hint);
    }
    if (term->kind == HONE_EXPR_CAST && arith_cast_is_exact(a, term)) {
        return term_in(a, term->args[0], dtype, hint);
    }
    return cast_with(a, dtype, term, hint);
}

static const hone_expr *scaled_term(hone_arith *a, const hone_expr *term, int64_t coeff,
                                    hone_dtype dtype, const hone_expr *hint) {
    if (coeff == 1) return term_in(a, term, dtype, hint);
    const hone_expr *t = term_in(a, term, dtype, arg_of(hint, HONE_OP_MUL, 0));
    const hone_expr *c = int_with(a, dtype, coeff, arg_of(hint, HONE_OP_MUL, 1));
    return op_with(a, HONE_OP_MUL, t, c, hint);
}

/* One summand of the text: a term, or the constant when term is NULL. */
typedef struct summand {
    const hone_expr *term;
    int64_t coeff;
} summand;

static const hone_expr *summand_expr(hone_arith *a, summand x, int64_t coeff, hone_dtype dtype,
                                     const hone_expr *hint) {
    return x.term ? scaled_term(a, x.term, coeff, dtype, hint) : int_with(a, dtype, coeff, hint);
}

static const hone_expr *build(hone_arith *a, const summand *items, uint32_t count, hone_dtype dtype,
                              const hone_expr *hint) {
    if (count == 1) return summand_expr(a, items[0], items[0].coeff, dtype, hint);
    summand last = items[count - 1];
    bool minus = last.coeff < 0 && last.coeff != INT64_MIN;
    hone_op op = minus ? HONE_OP_SUB : HONE_OP_ADD;
    const hone_expr *left = build(a, items, count - 1, dtype, arg_of(hint, op, 0));
    const hone_expr *right =
        summand_expr(a, last, minus ? -last.coeff : last.coeff, dtype, arg_of(hint, op, 1));
    return left && right ? op_with(a, op, left, right, hint) : NULL;
}

static uint32_t order_summands(const arith_sum *s, summand *items) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->terms[i].coeff > 0) items[n++] = (summand){s->terms[i].term, s->terms[i].coeff};
    }
    bool leads = n == 0 && s->constant > 0;
    if (leads) items[n++] = (summand){NULL, s->constant};
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->terms[i].coeff < 0) items[n++] = (summand){s->terms[i].term, s->terms[i].coeff};
    }
    if (!leads && (s->constant != 0 || n == 0)) items[n++] = (summand){NULL, s->constant};
    return n;
}

static bool sum_fits(const arith_sum *s, hone_dtype dtype) {
    if (dtype.bits >= 64) return true;
    if (!arith_fits(dtype, s->constant)) return false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!arith_fits(dtype, s->terms[i].coeff)) return false;
    }
    return true;
}

const hone_expr *arith_sum_expr(hone_arith *a, const arith_sum *s, hone_dtype dtype,
                                const hone_expr *hint) {
    if (s->failed || !sum_fits(s, dtype) || (s->wraps && s->wraps < dtype.bits)) return NULL;
    if (s->count == 0) return int_with(a, dtype, s->constant, hint);
    if (s->count == 1 && s->constant == 0) {
        return scaled_term(a, s->terms[0].term, s->terms[0].coeff, dtype, hint);
    }
    summand local[ARITH_LOCAL_TERMS + 1];
    summand *items = local;
    if (s->count > ARITH_LOCAL_TERMS) items = arith_alloc(a, (s->count + 1) * sizeof *items);
    if (!items) return NULL;
    return build(a, items, order_summands(s, items), dtype, hint);
}

/* ---- the public face ---- */

bool hone_linear_of(hone_arith *arith, const hone_expr *e, hone_linear *out) {
    *out = (hone_linear){0};
    arith_sum s;
    arith->fuel = ARITH_FUEL;
    if (!e || !arith_is_index(e->dtype) || !arith_sum_of(arith, &s, e)) return false;
    out->constant = s.constant;
    out->count = s.count;
    if (s.count == 0) return true;
    out->terms = s.terms;
    if (s.terms != s.local) return true;
    out->terms = arith_alloc(arith, s.count * sizeof *out->terms);
    if (!out->terms) return false;
    memcpy(out->terms, s.terms, s.count * sizeof *out->terms);
    return true;
}

const hone_expr *hone_linear_expr(hone_arith *arith, const hone_linear *linear, hone_dtype dtype) {
    arith_sum s;
    arith_sum_init(&s);
    s.constant = linear->constant;
    s.count = linear->count;
    s.terms = linear->terms;
    return arith_sum_expr(arith, &s, dtype, NULL);
}

bool hone_linear_coeff(hone_arith *arith, const hone_expr *e, hone_var var, int64_t *out_coeff) {
    *out_coeff = 0;
    hone_linear linear;
    if (!hone_linear_of(arith, e, &linear)) return false;
    int64_t coeff = 0;
    for (uint32_t i = 0; i < linear.count; i++) {
        const hone_expr *term = linear.terms[i].term;
        if (term->kind == HONE_EXPR_VAR) {
            if (term->u.var == var) coeff = linear.terms[i].coeff;
        } else if (hone_expr_uses_var(term, var)) {
            return false;
        }
    }
    *out_coeff = coeff;
    return true;
}
