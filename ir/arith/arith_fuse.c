/* ir/arith/arith_fuse.c - rules between the terms of one sum.
 *
 *   (y // m)*m*c + (y % m)*c      ->  y*c
 *   y*c - (y // m)*m*c            ->  (y % m)*c
 *   ((x//b) % m)*b*c + (x % b)*c  ->  (x % (b*m))*c
 *   with u + x//b as (u*b + x)//b in all of them
 *   (y // m)*m*r*c + (y % m)*r*c  ->  y*r*c               (m and r symbols)
 *   min(x + r, y) - r             ->  min(x, y - r)       (also max)
 *
 * Each rule makes the sum shorter, so they end.
 */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

static void drop_two(arith_sum *s, uint32_t i, uint32_t j) {
    s->terms[i].coeff = 0;
    s->terms[j].coeff = 0;
}

/* s += (y % m) * c. What is smaller modulo m is made so here: the sum would stay as it is, and be
 * simplified when it is looked at the next time. */
static void add_remainder(hone_arith *a, arith_sum *s, const hone_expr *y, int64_t m, int64_t c) {
    arith_sum x, r;
    arith_sum_init(&x);
    arith_sum_add_expr(a, &x, y, 1);
    arith_sum_sort(a, &x);
    if (!x.wraps && arith_divmod_const(a, &x, m, true, y->dtype, &r)) {
        arith_sum_add_sum(a, s, &r, c);
    } else {
        const hone_expr *modulus = hone_expr_int(&a->ir, y->dtype, m);
        arith_sum_add_term(a, s, hone_expr_floormod(&a->ir, y, modulus), c);
    }
}

/* A quotient, as one is written or as a sum: u + x//b = (u*b + x)//b. */
typedef struct quotient_form {
    const hone_expr *dividend;  /* u*b + x */
    const hone_expr *remaining; /* x: the same as the dividend modulo b */
    int64_t divisor;
} quotient_form;

static bool as_quotient(hone_arith *a, const hone_expr *y, quotient_form *out) {
    arith_sum sum, dividend;
    uint32_t found = 0;
    int64_t divisor = 0;
    if (arith_is_op_by_const(y, HONE_OP_FLOORDIV, &out->divisor)) {
        out->dividend = out->remaining = y->args[0];
        return true;
    }
    if (!hone_expr_is_op(y, HONE_OP_ADD) && !hone_expr_is_op(y, HONE_OP_SUB)) return false;
    arith_sum_init(&sum);
    arith_sum_add_expr(a, &sum, y, 1);
    arith_sum_sort(a, &sum);
    for (uint32_t i = 0; i < sum.count && !sum.failed; i++) {
        if (!arith_is_op_by_const(sum.terms[i].term, HONE_OP_FLOORDIV, &divisor)) continue;
        if (sum.terms[i].coeff != 1 || found++) return false;
        out->divisor = divisor;
        out->remaining = sum.terms[i].term->args[0];
        sum.terms[i].coeff = 0;
    }
    if (sum.failed || sum.wraps || found != 1) return false;
    arith_sum_init(&dividend);
    arith_sum_add_expr(a, &dividend, out->remaining, 1);
    arith_sum_add_sum(a, &dividend, &sum, out->divisor);
    if (!arith_sum_finish(a, &dividend)) return false;
    hone_bound bound = arith_sum_bound_known(a, &dividend);
    if (!arith_fits(y->dtype, bound.min) || !arith_fits(y->dtype, bound.max)) return false;
    if (!arith_sum_is_exact(a, &dividend, y->dtype)) return false;
    out->dividend = arith_sum_expr(a, &dividend, y->dtype, NULL);
    return out->dividend;
}

/* term is y // m for this y, with y = x // b seen as x // (b*m). */
static bool is_quotient_of(const hone_expr *term, const hone_expr *y, const quotient_form *whole,
                           int64_t m) {
    int64_t d = 0, product = 0;
    if (!arith_is_op_by_const(term, HONE_OP_FLOORDIV, &d)) return false;
    if (d == m && hone_expr_same(term->args[0], y)) return true;
    return whole->divisor && arith_mul(whole->divisor, m, &product) && d == product &&
           hone_expr_same(term->args[0], whole->dividend);
}

static bool join_quotient(hone_arith *a, arith_sum *s, uint32_t at, int64_t m) {
    const hone_expr *y = s->terms[at].term->args[0];
    int64_t c = s->terms[at].coeff, wanted = 0;
    quotient_form whole = {0};
    bool is_asked = false;
    if (!arith_mul(c, m, &wanted)) return false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->terms[i].coeff != wanted) continue;
        if (!is_asked && !as_quotient(a, y, &whole)) whole.divisor = 0;
        is_asked = true;
        if (!is_quotient_of(s->terms[i].term, y, &whole, m)) continue;
        drop_two(s, at, i);
        arith_sum_add_expr(a, s, y, c);
        return true;
    }
    return false;
}

/* The remainder at position `at` is the high part (x//b) % m of x % (b*m): find the low part. */
static bool join_remainders(hone_arith *a, arith_sum *s, uint32_t at, int64_t m) {
    const hone_expr *high = s->terms[at].term;
    int64_t product = 0;
    quotient_form q;
    if (!as_quotient(a, high->args[0], &q) || !arith_mul(q.divisor, m, &product)) return false;
    if (!arith_fits(high->dtype, product)) return false;
    int64_t b = q.divisor;
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *low = s->terms[i].term;
        int64_t low_m = 0, wanted = 0, lower = 0;
        if (!arith_is_op_by_const(low, HONE_OP_FLOORMOD, &low_m) || i == at) continue;
        if (!arith_mul(s->terms[i].coeff, low_m, &wanted) || wanted != s->terms[at].coeff) continue;
        const hone_expr *x = low->args[0], *base = q.dividend;
        bool plain = low_m == b && hone_expr_same(x, q.remaining);
        bool shifted = !plain && arith_is_op_by_const(x, HONE_OP_FLOORDIV, &lower) &&
                       lower * (b / lower) == b && b / lower == low_m &&
                       hone_expr_same(x->args[0], base);
        if (!plain && !shifted) continue;
        int64_t c = s->terms[i].coeff;
        drop_two(s, at, i);
        add_remainder(a, s, plain ? base : x, low_m * m, c);
        return true;
    }
    return false;
}

/* All terms of y stand in s with c times their coefficient: takes them out. */
static bool take_terms(hone_arith *a, arith_sum *s, const hone_expr *y, int64_t c,
                       uint32_t except) {
    arith_sum parts;
    arith_sum_init(&parts);
    arith_sum_add_expr(a, &parts, y, 1);
    arith_sum_sort(a, &parts);
    if (parts.failed || parts.wraps || parts.count == 0 || parts.count >= s->count) return false;
    for (uint32_t i = 0; i < parts.count; i++) {
        int64_t at = arith_sum_find(s, parts.terms[i].term), wanted = 0;
        if (at < 0 || at == except || !arith_mul(parts.terms[i].coeff, c, &wanted)) return false;
        if (s->terms[at].coeff != wanted) return false;
    }
    for (uint32_t i = 0; i < parts.count; i++) {
        s->terms[arith_sum_find(s, parts.terms[i].term)].coeff = 0;
    }
    arith_sum_add_const(s, parts.constant, -c);
    return true;
}

/* y*c - (y//m)*m*c; also (x//b)*c - (x//(b*m))*m*c. */
static bool make_remainder(hone_arith *a, arith_sum *s, uint32_t at, int64_t m) {
    const hone_expr *quotient = s->terms[at].term;
    int64_t d = s->terms[at].coeff;
    if (d % m == 0 && take_terms(a, s, quotient->args[0], -(d / m), at)) {
        s->terms[at].coeff = 0;
        add_remainder(a, s, quotient->args[0], m, -(d / m));
        return true;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t b = 0, c = s->terms[i].coeff;
        if (i == at || c == 0 || !arith_is_op_by_const(s->terms[i].term, HONE_OP_FLOORDIV, &b))
            continue;
        if (b >= m || m % b || d % c || d / c != -(m / b)) continue;
        if (!hone_expr_same(s->terms[i].term->args[0], quotient->args[0])) continue;
        const hone_expr *inner = s->terms[i].term;
        drop_two(s, at, i);
        add_remainder(a, s, inner, m / b, c);
        return true;
    }
    return false;
}

/* The factor of a term that is a remainder of a symbol, and the other ones (NULL = none). */
static const hone_expr *remainder_in(hone_arith *a, const hone_expr *term,
                                     const hone_expr **out_rest) {
    const hone_expr *factors[ARITH_MAX_FACTORS], *found = NULL;
    uint32_t n = arith_mono_factors(term, factors);
    *out_rest = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (!found && hone_expr_is_op(factors[i], HONE_OP_FLOORMOD)) {
            found = factors[i];
            continue;
        }
        *out_rest = *out_rest ? arith_mono_mul(a, *out_rest, factors[i]) : factors[i];
        if (!*out_rest) return NULL;
    }
    return found;
}

/* Where quotient * m * r stands in the sum with this coefficient, m or r being NULL for none; -1.
 */
static int64_t find_quotient(hone_arith *a, const arith_sum *s, const hone_expr *quotient,
                             const hone_expr *m, const hone_expr *r, int64_t coeff) {
    const hone_expr *product = quotient;
    if (product && m) product = arith_mono_mul(a, m, product);
    if (product && r) product = arith_mono_mul(a, product, r);
    int64_t i = product ? arith_sum_find(s, product) : -1;
    return i >= 0 && s->terms[i].coeff == coeff ? i : -1;
}

/* y // m as x // (d*m), where y is x // d; NULL = it is not. */
static const hone_expr *whole_quotient(hone_arith *a, const hone_expr *y, const hone_expr *m) {
    if (!hone_expr_is_op(y, HONE_OP_FLOORDIV)) return NULL;
    const hone_expr *d = y->args[1];
    if (hone_expr_is_int(d) || !hone_dtype_equal(d->dtype, m->dtype)) return NULL;
    const hone_expr *all =
        hone_expr_is_int(m) ? hone_expr_mul(&a->ir, d, m) : arith_mono_mul(a, d, m);
    return all ? hone_expr_floordiv(&a->ir, y->args[0], all) : NULL;
}

/* The symbolic case: (y % m)*r*c + (y // m)*m*r*c with m a term of its own, and r, if there is one:
 * what a digit in the middle is multiplied with. */
static bool join_symbolic(hone_arith *a, arith_sum *s, uint32_t at) {
    const hone_expr *rest, *mod = remainder_in(a, s->terms[at].term, &rest);
    if (!mod) return false;
    const hone_expr *y = mod->args[0], *m = mod->args[1];
    int64_t scale = 1, wanted = 0, c = s->terms[at].coeff;
    if (hone_expr_is_op(m, HONE_OP_MUL) && hone_expr_is_int(m->args[1])) {
        scale = m->args[1]->u.i;
        m = m->args[0];
    }
    if (hone_expr_is_int(m) && rest && m->u.i > 0) {
        scale = m->u.i;
        m = NULL;
    } else if (hone_expr_is_int(m) || hone_expr_is_op(m, HONE_OP_ADD) ||
               hone_expr_is_op(m, HONE_OP_SUB)) {
        return false;
    }
    if (rest && (hone_expr_is_op(y, HONE_OP_ADD) || hone_expr_is_op(y, HONE_OP_SUB))) return false;
    if (!arith_mul(c, scale, &wanted)) return false;
    const hone_expr *quotient = hone_expr_floordiv(&a->ir, y, mod->args[1]);
    int64_t i = find_quotient(a, s, quotient, m, rest, wanted);
    if (i < 0 && rest) i = find_quotient(a, s, whole_quotient(a, y, mod->args[1]), m, rest, wanted);
    const hone_expr *joined = rest && i >= 0 ? arith_mono_mul(a, y, rest) : y;
    if (i < 0 || !joined) return false;
    drop_two(s, at, (uint32_t)i);
    arith_sum_add_expr(a, s, joined, c);
    return true;
}

/* ---- min and max ---- */

/* What of the other terms of s cancels against side, when side stands with sign in s. */
static uint32_t mark_cancelled(hone_arith *a, const arith_sum *s, uint32_t at, int64_t sign,
                               const hone_expr *side, bool *marks) {
    arith_sum parts;
    arith_sum_init(&parts);
    arith_sum_add_expr(a, &parts, side, sign);
    arith_sum_sort(a, &parts);
    if (parts.failed) return 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < parts.count; i++) {
        int64_t j = arith_sum_find(s, parts.terms[i].term);
        if (j < 0 || j == at || s->terms[j].coeff != -parts.terms[i].coeff || marks[j]) continue;
        marks[j] = true;
        n++;
    }
    return n;
}

static const hone_expr *shifted_side(hone_arith *a, const arith_sum *s, const bool *marks,
                                     int64_t sign, const hone_expr *side, hone_dtype dtype) {
    arith_sum parts;
    arith_sum_init(&parts);
    arith_sum_add_expr(a, &parts, side, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        if (marks[i]) arith_sum_add_term(a, &parts, s->terms[i].term, s->terms[i].coeff * sign);
    }
    if (!arith_sum_finish(a, &parts) || parts.wraps || !arith_sum_is_exact(a, &parts, dtype)) {
        return NULL;
    }
    return arith_sum_expr(a, &parts, dtype, NULL);
}

static bool shift_minmax(hone_arith *a, arith_sum *s, uint32_t at) {
    enum { MAX_TERMS = 32 };
    int64_t sign = s->terms[at].coeff;
    if ((sign != 1 && sign != -1) || s->count > MAX_TERMS || s->count < 2) return false;
    bool marks[MAX_TERMS] = {false};
    const hone_expr *e = s->terms[at].term;
    /* a cancellation in both sides at once is the best; in one it is still no longer than before */
    uint32_t n = mark_cancelled(a, s, at, sign, e->args[0], marks);
    n += mark_cancelled(a, s, at, sign, e->args[1], marks);
    if (n == 0) return false;
    const hone_expr *x = shifted_side(a, s, marks, sign, e->args[0], e->dtype);
    const hone_expr *y = shifted_side(a, s, marks, sign, e->args[1], e->dtype);
    if (!x || !y) return false;
    const hone_expr *moved = arith_simp_minmax(a, hone_expr_binary(&a->ir, (hone_op)e->op, x, y));
    if (!moved) return false;
    s->terms[at].coeff = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (marks[i]) s->terms[i].coeff = 0;
    }
    arith_sum_add_expr(a, s, moved, sign);
    return true;
}

bool arith_fuse_once(hone_arith *a, arith_sum *s) {
    for (uint32_t i = 0; i < s->count && !s->failed; i++) {
        const hone_expr *term = s->terms[i].term;
        int64_t m = 0;
        if (term->kind != HONE_EXPR_BINARY || s->count < 2) continue;
        switch ((hone_op)term->op) {
        case HONE_OP_FLOORMOD:
            if (arith_is_op_by_const(term, HONE_OP_FLOORMOD, &m)) {
                if (join_quotient(a, s, i, m) || join_remainders(a, s, i, m)) return true;
            } else if (join_symbolic(a, s, i)) {
                return true;
            }
            break;
        case HONE_OP_MUL:
            if (join_symbolic(a, s, i)) return true;
            break;
        case HONE_OP_FLOORDIV:
            if (arith_is_op_by_const(term, HONE_OP_FLOORDIV, &m) && make_remainder(a, s, i, m)) {
                return true;
            }
            break;
        case HONE_OP_MIN:
        case HONE_OP_MAX:
            if (shift_minmax(a, s, i)) return true;
            break;
        default:
            break;
        }
    }
    return false;
}
