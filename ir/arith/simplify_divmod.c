/* ir/arith/simplify_divmod.c - floor division and remainder of sums.
 *
 * With y = c*Q + R (Q takes whatever c divides):  y // c = Q + R // c  and  y % c = R % c.
 * R is then split into A + B, A a multiple of g, g a divisor of c, and B known to stay inside one
 * block of g: R // c = (A/g) // (c/g)  and  R % c = g * ((A/g) % (c/g)) + B.
 */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

static bool bound_fits(hone_dtype dtype, hone_bound b) {
    return b.min <= b.max && arith_fits(dtype, b.min) && arith_fits(dtype, b.max);
}

/* The dtype to divide in what was below a wider operation. int32(x % 12) // 4 is x % 12 // 4 in the
 * dtype of x, which in int32 would be another value. */
static hone_dtype opened_dtype(hone_arith *a, const hone_expr *inner, hone_dtype dtype) {
    if (inner->dtype.bits <= dtype.bits) return dtype;
    return bound_fits(dtype, arith_expr_bound(a, inner)) ? dtype : inner->dtype;
}

/* opened_dtype for a sum whose terms may be wider than the result. */
static hone_dtype leaf_dtype(hone_arith *a, const arith_sum *y, hone_dtype dtype) {
    hone_dtype widest = dtype;
    for (uint32_t i = 0; i < y->count; i++) {
        if (y->terms[i].term->dtype.bits > widest.bits) widest = y->terms[i].term->dtype;
    }
    if (widest.bits == dtype.bits) return dtype;
    return bound_fits(dtype, arith_sum_bound_known(a, y)) ? dtype : widest;
}

/* y divided by d, as an operation; failed where that would wrap around. */
static void add_leaf(hone_arith *a, arith_sum *out, const arith_sum *y, const arith_sum *d,
                     bool want_mod, hone_dtype dtype) {
    dtype = leaf_dtype(a, y, dtype);
    if (!arith_sum_is_exact(a, y, dtype) || !arith_sum_is_exact(a, d, dtype)) {
        out->failed = true;
        return;
    }
    const hone_expr *e = arith_sum_expr(a, y, dtype, NULL);
    const hone_expr *divisor = arith_sum_expr(a, d, dtype, NULL);
    hone_op op = want_mod ? HONE_OP_FLOORMOD : HONE_OP_FLOORDIV;
    arith_sum_add_term(a, out, hone_expr_binary(&a->ir, op, e, divisor), 1);
}

bool arith_is_op_by_const(const hone_expr *e, hone_op op, int64_t *out_divisor) {
    if (!hone_expr_is_op(e, op) || !hone_expr_is_int(e->args[1]) || e->args[1]->u.i <= 0) {
        return false;
    }
    *out_divisor = e->args[1]->u.i;
    return true;
}

/* Splits y into out += y / c (exact parts, unless want_mod) and r. Coefficients that c does not
 * divide stay whole: x*6 + y is a number that iterator maps know, x*2 + y is not. */
static bool reduce_terms(hone_arith *a, const arith_sum *y, int64_t c, bool want_mod,
                         hone_dtype *dtype, arith_sum *out, arith_sum *r) {
    bool again = false;
    for (uint32_t i = 0; i < y->count; i++) {
        const hone_expr *term = y->terms[i].term;
        int64_t coeff = y->terms[i].coeff, inner = 0, product = 0;
        if (coeff % c == 0) {
            if (!want_mod) arith_sum_add_term(a, out, term, coeff / c);
            continue;
        }
        if (want_mod && arith_is_op_by_const(term, HONE_OP_FLOORMOD, &inner) &&
            arith_mul(coeff % c, inner, &product) && product % c == 0 &&
            arith_is_exact(a, term->args[0])) {
            arith_sum_add_expr(a, r, term->args[0], coeff % c); /* x % (c*k) = x modulo c */
            *dtype = opened_dtype(a, term->args[0], *dtype);
            again = true;
        } else {
            arith_sum_add_term(a, r, term, coeff);
        }
    }
    if (!want_mod) arith_sum_add_const(out, arith_floordiv(y->constant, c), 1);
    arith_sum_add_const(r, arith_floormod(y->constant, c), 1);
    return again;
}

/* R lies in one block of c: done. */
static bool divmod_in_block(hone_arith *a, const arith_sum *r, int64_t c, bool want_mod,
                            arith_sum *out) {
    hone_bound b = arith_sum_bound_known(a, r);
    if (b.min == HONE_BOUND_NEG_INF || b.max == HONE_BOUND_POS_INF || b.min > b.max) return false;
    int64_t block = arith_floordiv(b.min, c), start = 0;
    if (arith_floordiv(b.max, c) != block || !arith_mul(block, c, &start)) return false;
    if (want_mod) {
        arith_sum_add_sum(a, out, r, 1);
        arith_sum_add_const(out, start, -1);
    } else {
        arith_sum_add_const(out, block, 1);
    }
    return true;
}

/* Tries R = A + B with this g. */
static bool divmod_by_part(hone_arith *a, const arith_sum *r, int64_t c, int64_t g, bool want_mod,
                           hone_dtype dtype, arith_sum *out) {
    arith_sum high, low, part;
    arith_sum_init(&high);
    arith_sum_init(&low);
    for (uint32_t i = 0; i < r->count; i++) {
        bool is_high = r->terms[i].coeff % g == 0;
        arith_sum_add_term(a, is_high ? &high : &low, r->terms[i].term,
                           is_high ? r->terms[i].coeff / g : r->terms[i].coeff);
    }
    if (high.count == 0) return false;
    if (a->keeps_numbers && (high.count > 1 || high.terms[0].coeff != 1)) return false;
    if (a->keeps_numbers && !a->cuts_remainders && want_mod && low.count > 1) return false;
    low.constant = arith_floormod(r->constant, g);
    high.constant = arith_floordiv(r->constant, g);
    hone_bound b = arith_sum_bound_known(a, &low);
    if (b.min == HONE_BOUND_NEG_INF || b.max == HONE_BOUND_POS_INF || b.min > b.max) return false;
    int64_t block = arith_floordiv(b.min, g), start = 0;
    if (arith_floordiv(b.max, g) != block || !arith_mul(block, g, &start)) return false;
    arith_sum_add_const(&high, block, 1);
    if (!arith_divmod_const(a, &high, c / g, want_mod, dtype, &part)) return false;
    arith_sum_add_sum(a, out, &part, want_mod ? g : 1);
    if (want_mod) {
        arith_sum_add_sum(a, out, &low, 1);
        arith_sum_add_const(out, start, -1);
    }
    return true;
}

/* Candidates for g, largest first: what c has in common with each coefficient, and the running
 * common divisors of these. */
static uint32_t part_candidates(const arith_sum *r, int64_t c, int64_t *out, uint32_t room) {
    uint32_t n = 0;
    int64_t all = c;
    for (uint32_t i = 0; i < r->count; i++)
        all = hone_gcd(all, r->terms[i].coeff);
    for (uint32_t i = 0; i <= r->count && n < room; i++) {
        int64_t g = i < r->count ? hone_gcd(c, r->terms[i].coeff) : all;
        uint32_t at = n;
        while (at > 0 && out[at - 1] < g)
            at--;
        if (g <= 1 || (at > 0 && out[at - 1] == g)) continue;
        for (uint32_t k = n; k > at; k--)
            out[k] = out[k - 1];
        out[at] = g;
        n++;
    }
    int64_t running = n ? out[0] : 0;
    for (uint32_t i = 1; i < n && n < room; i++) {
        int64_t next = hone_gcd(running, out[i]);
        if (next > 1 && next < out[n - 1]) out[n++] = next;
        running = next;
    }
    return n;
}

static bool divmod_by_parts(hone_arith *a, const arith_sum *r, int64_t c, bool want_mod,
                            hone_dtype dtype, arith_sum *out) {
    int64_t g[16];
    uint32_t n = part_candidates(r, c, g, 16);
    for (uint32_t i = 0; i < n; i++) {
        if (divmod_by_part(a, r, c, g[i], want_mod, dtype, out)) return true;
        if (out->failed) return false;
    }
    return false;
}

/* (x//b + k)//c = (x + k*b)//(b*c), and (x % b)//c = (x//c) % (b/c) when c divides b. */
static bool div_of_nested(hone_arith *a, const arith_sum *r, int64_t c, hone_dtype dtype,
                          arith_sum *out) {
    if (r->count != 1 || r->terms[0].coeff != 1) return false;
    const hone_expr *term = r->terms[0].term;
    arith_sum x, part, rest;
    int64_t b = 0, product = 0;
    arith_sum_init(&x);
    if (term->count == 0 || !arith_is_exact(a, term->args[0])) return false;
    dtype = opened_dtype(a, term->args[0], dtype);
    if (arith_is_op_by_const(term, HONE_OP_FLOORDIV, &b)) {
        if (!arith_mul(b, c, &product) || !arith_fits(dtype, product)) return false;
        arith_sum_add_expr(a, &x, term->args[0], 1);
        arith_sum_add_const(&x, r->constant, b);
        if (!arith_sum_finish(a, &x)) return false;
        if (!arith_divmod_const(a, &x, product, false, dtype, &part)) return false;
        arith_sum_add_sum(a, out, &part, 1);
        return true;
    }
    if (r->constant != 0 || !arith_is_op_by_const(term, HONE_OP_FLOORMOD, &b) || b % c != 0)
        return false;
    arith_sum_add_expr(a, &x, term->args[0], 1);
    if (!arith_sum_finish(a, &x) || !arith_divmod_const(a, &x, c, false, dtype, &part))
        return false;
    if (!arith_divmod_const(a, &part, b / c, true, dtype, &rest)) return false;
    arith_sum_add_sum(a, out, &rest, 1);
    return true;
}

bool arith_divmod_const(hone_arith *a, const arith_sum *y, int64_t c, bool want_mod,
                        hone_dtype dtype, arith_sum *out) {
    assert(c > 0);
    arith_sum_init(out);
    if (y->failed || y->wraps || a->depth >= ARITH_MAX_DEPTH) return false;
    if (c == 1) {
        if (!want_mod) arith_sum_add_sum(a, out, y, 1);
        return arith_sum_finish(a, out);
    }
    arith_sum r;
    arith_sum_init(&r);
    bool again = reduce_terms(a, y, c, want_mod, &dtype, out, &r);
    if (!arith_sum_finish(a, &r)) return false;
    if (want_mod && r.count == 1 && r.terms[0].coeff % c) r.terms[0].coeff %= c;
    a->depth++;
    if (again) {
        bool ok = arith_divmod_const(a, &r, c, want_mod, dtype, out);
        a->depth--;
        return ok;
    }
    if (r.count == 0) {
        if (want_mod)
            arith_sum_add_const(out, arith_floormod(r.constant, c), 1);
        else
            arith_sum_add_const(out, arith_floordiv(r.constant, c), 1);
    } else if (!divmod_in_block(a, &r, c, want_mod, out) &&
               !divmod_by_parts(a, &r, c, want_mod, dtype, out) &&
               (want_mod || !div_of_nested(a, &r, c, dtype, out))) {
        arith_sum divisor;
        arith_sum_init(&divisor);
        arith_sum_add_const(&divisor, c, 1);
        add_leaf(a, out, &r, &divisor, want_mod, dtype);
    }
    a->depth--;
    return arith_sum_finish(a, out);
}

/* ---- symbolic divisors ---- */

/* y = q * d + r for a divisor of one term. */
static void divide_by_mono(hone_arith *a, const arith_sum *y, const hone_linear_term *d,
                           arith_sum *q, arith_sum *r) {
    for (uint32_t i = 0; i < y->count; i++) {
        const hone_expr *rest = NULL;
        bool divides = y->terms[i].coeff % d->coeff == 0 &&
                       arith_mono_div(a, y->terms[i].term, d->term, &rest);
        if (!divides) {
            arith_sum_add_term(a, r, y->terms[i].term, y->terms[i].coeff);
        } else if (rest) {
            arith_sum_add_expr(a, q, rest, y->terms[i].coeff / d->coeff);
        } else {
            arith_sum_add_const(q, y->terms[i].coeff / d->coeff, 1);
        }
    }
    arith_sum_add_const(r, y->constant, 1);
}

/* One step of long division by the first term of d, when that makes r shorter. */
static bool divide_step(hone_arith *a, const arith_sum *d, arith_sum *q, arith_sum *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        const hone_expr *rest = NULL;
        if (r->terms[i].coeff % d->terms[0].coeff) continue;
        if (!arith_mono_div(a, r->terms[i].term, d->terms[0].term, &rest)) continue;
        arith_sum factor, trial;
        arith_sum_init(&factor);
        arith_sum_init(&trial);
        int64_t c = r->terms[i].coeff / d->terms[0].coeff;
        if (rest)
            arith_sum_add_expr(a, &factor, rest, c);
        else
            arith_sum_add_const(&factor, c, 1);
        arith_sum_add_sum(a, &trial, r, 1);
        if (!arith_sum_add_product(a, &trial, &factor, d, -1)) continue;
        if (!arith_sum_finish(a, &trial) || trial.count >= r->count) continue;
        arith_sum_add_sum(a, q, &factor, 1);
        arith_sum_init(r);
        arith_sum_add_sum(a, r, &trial, 1);
        return true;
    }
    return false;
}

/* 0 <= r < d, d > 0: provable? */
static bool is_remainder_of(hone_arith *a, const arith_sum *r, const arith_sum *d) {
    arith_sum gap;
    if (!arith_nonneg(a, r, ARITH_QUICK_FUEL)) return false;
    arith_sum_init(&gap);
    arith_sum_add_sum(a, &gap, d, 1);
    arith_sum_add_sum(a, &gap, r, -1);
    arith_sum_add_const(&gap, -1, 1);
    return arith_sum_finish(a, &gap) && arith_nonneg(a, &gap, ARITH_QUICK_FUEL);
}

static bool divmod_symbolic(hone_arith *a, const arith_sum *y, const arith_sum *d, bool want_mod,
                            hone_dtype dtype, arith_sum *out) {
    arith_sum q, r;
    arith_sum_init(&q);
    arith_sum_init(&r);
    if (d->count == 1 && d->constant == 0) {
        divide_by_mono(a, y, &d->terms[0], &q, &r);
    } else {
        arith_sum_add_sum(a, &r, y, 1);
        for (int step = 0; step < 8 && divide_step(a, d, &q, &r); step++)
            continue;
    }
    if (!arith_sum_finish(a, &q) || !arith_sum_finish(a, &r)) return false;
    if (!want_mod) arith_sum_add_sum(a, out, &q, 1);
    if (r.count == 0 && r.constant == 0) return arith_sum_finish(a, out);
    if (is_remainder_of(a, &r, d)) {
        if (want_mod) arith_sum_add_sum(a, out, &r, 1);
    } else {
        add_leaf(a, out, &r, d, want_mod, dtype);
    }
    return arith_sum_finish(a, out);
}

/* y // -c = (-y) // c and y % -c = -((-y) % c). */
static bool divmod_negative(hone_arith *a, const arith_sum *y, int64_t c, bool want_mod,
                            hone_dtype dtype, arith_sum *out) {
    arith_sum negated, part;
    arith_sum_init(&negated);
    arith_sum_add_sum(a, &negated, y, -1);
    if (c == INT64_MIN || !arith_sum_finish(a, &negated)) return false;
    if (!arith_divmod_const(a, &negated, -c, want_mod, dtype, &part)) return false;
    arith_sum_add_sum(a, out, &part, want_mod ? -1 : 1);
    return arith_sum_finish(a, out);
}

bool arith_divmod(hone_arith *a, const arith_sum *y, const arith_sum *d, bool want_mod,
                  hone_dtype dtype, arith_sum *out) {
    arith_sum_init(out);
    if (y->failed || d->failed || y->wraps || d->wraps) return false;
    if (d->count) return divmod_symbolic(a, y, d, want_mod, dtype, out);
    if (d->constant == 0) return false;
    if (d->constant > 0) return arith_divmod_const(a, y, d->constant, want_mod, dtype, out);
    return divmod_negative(a, y, d->constant, want_mod, dtype, out);
}
