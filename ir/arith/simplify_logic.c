/* ir/arith/simplify_logic.c - comparisons, and/or/not, min and max.
 *
 * Canonical comparisons of integers, P and N being sums with positive coefficients and no common
 * divisor, k a constant:  P < k   P < N + k   P <= N   N >= k   P == N + k   P != N + k.
 */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

enum { MAX_PARTS = 16 };

static bool is_compare(const hone_expr *e) {
    return e->kind == HONE_EXPR_BINARY && hone_op_is_compare((hone_op)e->op);
}

static hone_op opposite(hone_op op) {
    switch (op) {
    case HONE_OP_EQ:
        return HONE_OP_NE;
    case HONE_OP_NE:
        return HONE_OP_EQ;
    case HONE_OP_LT:
        return HONE_OP_GE;
    case HONE_OP_LE:
        return HONE_OP_GT;
    case HONE_OP_GT:
        return HONE_OP_LE;
    default:
        return HONE_OP_LT;
    }
}

const hone_expr *arith_negate(hone_arith *a, const hone_expr *e) {
    if (!e) return NULL;
    if (e->kind == HONE_EXPR_INT) return hone_expr_int(&a->ir, e->dtype, !e->u.i);
    if (e->kind == HONE_EXPR_NOT) return e->args[0];
    if (is_compare(e) && !hone_dtype_is_float(e->args[0]->dtype)) {
        return hone_expr_binary(&a->ir, opposite((hone_op)e->op), e->args[0], e->args[1]);
    }
    if (hone_expr_is_op(e, HONE_OP_AND) || hone_expr_is_op(e, HONE_OP_OR)) {
        hone_op op = e->op == HONE_OP_AND ? HONE_OP_OR : HONE_OP_AND;
        return hone_expr_binary(&a->ir, op, arith_negate(a, e->args[0]),
                                arith_negate(a, e->args[1]));
    }
    return hone_expr_not(&a->ir, e);
}

/* ---- comparisons ---- */

/* Positive terms to p, negative ones, negated, to n; constants stay 0. */
static void split_signs(hone_arith *a, const arith_sum *s, arith_sum *p, arith_sum *n) {
    arith_sum_init(p);
    arith_sum_init(n);
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t c = s->terms[i].coeff;
        arith_sum_add_term(a, c > 0 ? p : n, s->terms[i].term, c > 0 ? c : -c);
    }
}

static const hone_expr *hint_arg(const hone_expr *e, int which) {
    return is_compare(e) ? e->args[which] : NULL;
}

static const hone_expr *make_compare(hone_arith *a, const hone_expr *e, hone_op op,
                                     const arith_sum *x, const arith_sum *y) {
    hone_dtype dtype = e->args[0]->dtype;
    if (!arith_sum_is_exact(a, x, dtype) || !arith_sum_is_exact(a, y, dtype)) return NULL;
    const hone_expr *ex = arith_sum_expr(a, x, dtype, hint_arg(e, 0));
    const hone_expr *ey = arith_sum_expr(a, y, dtype, hint_arg(e, 1));
    if (!ex || !ey) return NULL;
    if (e->op == op && e->args[0] == ex && e->args[1] == ey) return e;
    return hone_expr_binary(&a->ir, op, ex, ey);
}

static int64_t common_divisor(const arith_sum *s) {
    int64_t g = 0;
    for (uint32_t i = 0; i < s->count; i++)
        g = hone_gcd(g, s->terms[i].coeff);
    return g;
}

/* out = (terms / g)*sign */
static void scaled_down(hone_arith *a, const arith_sum *s, int64_t g, int64_t sign,
                        arith_sum *out) {
    arith_sum_init(out);
    for (uint32_t i = 0; i < s->count; i++) {
        arith_sum_add_term(a, out, s->terms[i].term, s->terms[i].coeff / g * sign);
    }
}

static bool is_huge(const arith_sum *s) {
    return s->constant > INT64_MAX / 2 || s->constant < INT64_MIN / 2;
}

/* d == 0 (or != 0), undecided. */
static const hone_expr *canonical_equal(hone_arith *a, const hone_expr *e, const arith_sum *d) {
    int64_t g = common_divisor(d), sign = d->terms[0].coeff < 0 ? -1 : 1;
    if (g < 1 || d->constant % g || d->constant == INT64_MIN) return NULL;
    if (g > 1 || is_huge(d)) a->rule_count++; /* other numbers may decide it */
    arith_sum s, p, n;
    scaled_down(a, d, g, sign, &s);
    if (s.failed) return NULL;
    split_signs(a, &s, &p, &n);
    arith_sum_add_const(&n, d->constant / g * sign, -1);
    return make_compare(a, e, (hone_op)e->op, &p, &n);
}

/* d < 0, undecided. */
static const hone_expr *canonical_less(hone_arith *a, const hone_expr *e, const arith_sum *d) {
    int64_t g = common_divisor(d);
    if (g < 1) return NULL;
    if (g > 1 || is_huge(d)) a->rule_count++;
    int64_t k = arith_floordiv(d->constant, g);
    arith_sum s, p, n;
    scaled_down(a, d, g, 1, &s);
    if (s.failed) return NULL;
    split_signs(a, &s, &p, &n);
    if (p.count == 0) { /* k < n */
        arith_sum_add_const(&p, k, 1);
        arith_sum_add_const(&p, 1, 1);
        return p.failed ? NULL : make_compare(a, e, HONE_OP_GE, &n, &p);
    }
    if (n.count && k == -1) return make_compare(a, e, HONE_OP_LE, &p, &n);
    arith_sum_add_const(&n, k, -1);
    return n.failed ? NULL : make_compare(a, e, HONE_OP_LT, &p, &n);
}

/* Brings "d op 0" to "s < 0". */
static bool as_less(hone_arith *a, hone_op op, const arith_sum *d, arith_sum *s) {
    bool flip = op == HONE_OP_GT || op == HONE_OP_GE;
    arith_sum_init(s);
    arith_sum_add_sum(a, s, d, flip ? -1 : 1);
    if (op == HONE_OP_LE || op == HONE_OP_GE) arith_sum_add_const(s, -1, 1);
    return arith_sum_finish(a, s);
}

static bool fold_compare(hone_op op, int64_t x, int64_t y) {
    switch (op) {
    case HONE_OP_EQ:
        return x == y;
    case HONE_OP_NE:
        return x != y;
    case HONE_OP_LT:
        return x < y;
    case HONE_OP_LE:
        return x <= y;
    case HONE_OP_GT:
        return x > y;
    default:
        return x >= y;
    }
}

static const hone_expr *simp_other_compare(hone_arith *a, const hone_expr *e) {
    const hone_expr *r = arith_simp_children(a, e);
    if (!r || !is_compare(r)) return r;
    const hone_expr *x = r->args[0], *y = r->args[1];
    bool small = !hone_dtype_is_float(x->dtype) && x->dtype.bits < 64;
    if (small && hone_expr_is_int(x) && hone_expr_is_int(y)) {
        return hone_expr_bool(&a->ir, fold_compare((hone_op)r->op, x->u.i, y->u.i));
    }
    return r;
}

static const hone_expr *simp_compare(hone_arith *a, const hone_expr *e) {
    if (!arith_is_index(e->args[0]->dtype) || !arith_is_index(e->args[1]->dtype)) {
        return simp_other_compare(a, e);
    }
    arith_sum d, s;
    if (!arith_sum_diff(a, &d, e->args[0], e->args[1])) { /* too far apart for a difference? */
        const hone_expr *r = arith_simp_parts(a, e);
        if (!r || !is_compare(r) || !hone_expr_is_int(r->args[0]) ||
            !hone_expr_is_int(r->args[1])) {
            return r;
        }
        return hone_expr_int(&a->ir, e->dtype,
                             fold_compare((hone_op)r->op, r->args[0]->u.i, r->args[1]->u.i));
    }
    int known = arith_decide(a, (hone_op)e->op, &d, ARITH_QUICK_FUEL);
    if (known >= 0) return hone_expr_int(&a->ir, e->dtype, known);
    const hone_expr *r = NULL;
    if (d.count == 0) return arith_simp_parts(a, e);
    if (e->op == HONE_OP_EQ || e->op == HONE_OP_NE)
        r = canonical_equal(a, e, &d);
    else if (as_less(a, (hone_op)e->op, &d, &s))
        r = canonical_less(a, e, &s);
    return r ? r : arith_simp_parts(a, e);
}

/* ---- and, or, not ---- */

static uint32_t collect(const hone_expr *e, hone_op op, const hone_expr **out, uint32_t n) {
    if (n >= MAX_PARTS) return n + 1;
    if (!hone_expr_is_op(e, op)) {
        out[n] = e;
        return n + 1;
    }
    n = collect(e->args[0], op, out, n);
    return collect(e->args[1], op, out, n);
}

static bool is_truth(const hone_expr *e, bool value) {
    return e->kind == HONE_EXPR_INT && (e->u.i != 0) == value;
}

/* Pushes what holds while the other parts are looked at: the part itself below "and", its negation
 * below "or" (there the others matter only when it is false). */
static void assume(hone_arith *a, const hone_expr *part, bool is_and) {
    hone_arith_push(a, is_and ? part : arith_negate(a, part));
}

/* All parts may be evaluated: what one may rely on must not change where it loads from. */
static const hone_expr *simp_part(hone_arith *a, const hone_expr *part, uint32_t mark,
                                  const hone_expr *const *known, uint32_t count, bool is_and) {
    if (hone_expr_is_pure_index(part)) return arith_simp(a, part);
    hone_arith_pop(a, mark);
    const hone_expr *r = arith_simp(a, part);
    for (uint32_t i = 0; i < count; i++)
        assume(a, known[i], is_and);
    return r;
}

/* Each part under what the earlier ones say, then backwards: drops those that follow from later
 * ones. The decided value ends all; *out_n is then 0. */
static bool refine_parts(hone_arith *a, const hone_expr **parts, uint32_t *n, bool is_and) {
    uint32_t mark = a->fact_count, kept = 0;
    for (uint32_t i = 0; i < *n; i++) {
        const hone_expr *part = simp_part(a, parts[i], mark, parts, kept, is_and);
        if (!part || is_truth(part, !is_and)) {
            hone_arith_pop(a, mark);
            *n = 0;
            return part != NULL;
        }
        if (is_truth(part, is_and)) continue;
        parts[kept++] = part;
        assume(a, part, is_and);
    }
    hone_arith_pop(a, mark);
    *n = kept;
    return kept > 0;
}

static void drop_implied(hone_arith *a, const hone_expr **parts, uint32_t *n, bool is_and) {
    for (uint32_t i = *n; i-- > 0 && *n > 1;) {
        uint32_t mark = a->fact_count;
        for (uint32_t j = 0; j < *n; j++) {
            if (j != i) assume(a, parts[j], is_and);
        }
        const hone_expr *part = arith_simp(a, parts[i]);
        hone_arith_pop(a, mark);
        if (!part || !is_truth(part, is_and)) continue;
        for (uint32_t j = i; j + 1 < *n; j++)
            parts[j] = parts[j + 1];
        (*n)--;
        a->rule_count++; /* the others were looked at under it */
    }
}

static const hone_expr *simp_junction(hone_arith *a, const hone_expr *e) {
    const hone_expr *parts[MAX_PARTS];
    hone_op op = (hone_op)e->op;
    bool is_and = op == HONE_OP_AND;
    uint32_t n = collect(e, op, parts, 0);
    if (n > MAX_PARTS) return arith_simp_children(a, e);
    if (!refine_parts(a, parts, &n, is_and)) {
        return a->ir.error ? NULL : hone_expr_int(&a->ir, e->dtype, is_and);
    }
    if (n == 0) return hone_expr_int(&a->ir, e->dtype, !is_and);
    drop_implied(a, parts, &n, is_and);
    const hone_expr *r = parts[0];
    for (uint32_t i = 1; i < n; i++)
        r = hone_expr_binary(&a->ir, op, r, parts[i]);
    return r && hone_expr_same(r, e) ? e : r;
}

static const hone_expr *simp_not(hone_arith *a, const hone_expr *e) {
    const hone_expr *x = arith_simp(a, e->args[0]);
    if (!x) return NULL;
    const hone_expr *r = arith_negate(a, x);
    if (!r || r->kind == HONE_EXPR_NOT) {
        return r && r->args[0] == e->args[0] ? e : r;
    }
    return arith_simp(a, r);
}

const hone_expr *arith_simp_bool(hone_arith *a, const hone_expr *e) {
    if (e->kind == HONE_EXPR_NOT) return simp_not(a, e);
    if (is_compare(e)) return simp_compare(a, e);
    if (e->op == HONE_OP_AND || e->op == HONE_OP_OR) return simp_junction(a, e);
    return arith_simp_children(a, e);
}

/* ---- min and max ---- */

/* Surely x <= y. */
static bool is_at_most(hone_arith *a, const hone_expr *x, const hone_expr *y) {
    arith_sum d;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) return x->u.i <= y->u.i;
    return arith_sum_diff(a, &d, y, x) && arith_nonneg(a, &d, ARITH_QUICK_FUEL);
}

/* Leaves out parts that another one surely beats. */
static void drop_beaten(hone_arith *a, const hone_expr **parts, uint32_t *n, bool is_min) {
    for (uint32_t i = 0; i < *n; i++) {
        for (uint32_t j = 0; j < *n; j++) {
            if (i == j || !is_at_most(a, parts[is_min ? i : j], parts[is_min ? j : i])) continue;
            for (uint32_t k = j; k + 1 < *n; k++)
                parts[k] = parts[k + 1];
            (*n)--;
            if (j < i) i--;
            j--;
        }
    }
}

const hone_expr *arith_simp_minmax(hone_arith *a, const hone_expr *e) {
    enum { MAX_BEATEN = 6 };
    if (!e) return NULL;
    const hone_expr *parts[MAX_PARTS];
    hone_op op = (hone_op)e->op;
    const hone_expr *x = arith_simp(a, e->args[0]), *y = arith_simp(a, e->args[1]);
    if (!x || !y) return NULL;
    uint32_t n = collect(x, op, parts, 0);
    if (n <= MAX_PARTS) n = collect(y, op, parts, n);
    if (n > MAX_PARTS)
        return x == e->args[0] && y == e->args[1] ? e : hone_expr_binary(&a->ir, op, x, y);
    if (n <= MAX_BEATEN) drop_beaten(a, parts, &n, op == HONE_OP_MIN);
    arith_sort(parts, n);
    const hone_expr *r = parts[0];
    for (uint32_t i = 1; i < n; i++)
        r = hone_expr_binary(&a->ir, op, r, parts[i]);
    return r && hone_expr_same(r, e) ? e : r;
}
