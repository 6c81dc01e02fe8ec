/* ir/arith/linear.c - sums: constant + sum of coeff * term in canonical order.
 *
 * Canonical text of a sum: terms with positive coefficients, then those with negative ones as
 * subtractions, each group in the order of arith_order, then the constant. When no term is
 * positive, a positive constant leads ("5 - i"), else the first term is "i * -1".
 * Casts between index dtypes that keep the value are no terms: they are looked through and put
 * back around the leaves, so that no product is formed in a narrower type than it was written in.
 */
#include "ir/arith/arith.h"

#include <string.h>

#include "ir/arith/arith_impl.h"

bool arith_is_index(hone_dtype dtype) {
    return dtype.lanes == 1 && hone_dtype_is_int(dtype) && dtype.bits >= 32;
}

bool arith_fits(hone_dtype dtype, int64_t value) {
    if (dtype.bits >= 64) return true;
    int64_t limit = (int64_t)1 << (dtype.bits - 1);
    return value >= -limit && value < limit;
}

bool arith_cast_is_exact(hone_arith *a, const hone_expr *cast) {
    const hone_expr *inner = cast->args[0];
    if (!arith_is_index(cast->dtype) || !arith_is_index(inner->dtype)) return false;
    if (inner->dtype.bits == cast->dtype.bits) return true;
    if (inner->dtype.bits < cast->dtype.bits) return arith_is_exact(a, inner);
    hone_bound b = arith_expr_bound(a, inner);
    return b.min <= b.max && arith_fits(cast->dtype, b.min) && arith_fits(cast->dtype, b.max);
}

/* ---- order ---- */

static uint32_t leading_var(const hone_expr *e) {
    for (;;) {
        if (e->kind == HONE_EXPR_VAR) return e->u.var;
        if (e->count == 0) return UINT32_MAX;
        uint32_t i = 0;
        while (i + 1 < e->count && e->args[i]->count == 0 && e->args[i]->kind != HONE_EXPR_VAR)
            i++;
        e = e->args[i];
    }
}

static int order_numbers(int64_t x, int64_t y) {
    return (x > y) - (x < y);
}

static int order_payload(const hone_expr *x, const hone_expr *y) {
    switch ((hone_expr_kind)x->kind) {
    case HONE_EXPR_FLOAT:
        return memcmp(&x->u.f, &y->u.f, sizeof x->u.f);
    case HONE_EXPR_STRING:
        return strcmp(x->u.s, y->u.s);
    case HONE_EXPR_VAR:
    case HONE_EXPR_LET:
        return order_numbers(x->u.var, y->u.var);
    case HONE_EXPR_LOAD:
        return order_numbers(x->u.buffer, y->u.buffer);
    default:
        return order_numbers(x->u.i, y->u.i);
    }
}

static int order_structure(const hone_expr *x, const hone_expr *y) {
    if (x == y && x->count == 0) return 0;
    bool x_var = x->kind == HONE_EXPR_VAR, y_var = y->kind == HONE_EXPR_VAR;
    if (x_var != y_var) return x_var ? -1 : 1;
    if (x->kind != y->kind) return order_numbers(x->kind, y->kind);
    if (x->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)x->op)) return -1;
    if (x->op != y->op) return order_numbers(x->op, y->op);
    if (x->count != y->count) return order_numbers(x->count, y->count);
    if (x->dtype.code != y->dtype.code) return order_numbers(x->dtype.code, y->dtype.code);
    if (x->dtype.bits != y->dtype.bits) return order_numbers(x->dtype.bits, y->dtype.bits);
    if (x->dtype.lanes != y->dtype.lanes) return order_numbers(x->dtype.lanes, y->dtype.lanes);
    int order = order_payload(x, y);
    for (uint32_t i = 0; i < x->count && !order; i++) {
        order = order_structure(x->args[i], y->args[i]);
    }
    return order;
}

int arith_order(const hone_expr *x, const hone_expr *y) {
    uint32_t lx = leading_var(x), ly = leading_var(y);
    if (lx != ly) return lx < ly ? -1 : 1;
    return order_structure(x, y);
}

/* ---- making sums ---- */

void arith_sum_init(arith_sum *s) {
    s->constant = 0;
    s->count = 0;
    s->capacity = ARITH_LOCAL_TERMS;
    s->failed = false;
    s->has = 0;
    s->wraps = 0;
    s->terms = s->local;
}

void arith_sum_add_const(arith_sum *s, int64_t value, int64_t scale) {
    int64_t product = 0;
    if (!arith_mul(value, scale, &product) || !arith_add(s->constant, product, &s->constant)) {
        s->failed = true;
    }
}

static uint8_t kind_flags(const hone_expr *term) {
    if (term->kind != HONE_EXPR_BINARY) return 0;
    switch ((hone_op)term->op) {
    case HONE_OP_FLOORDIV:
        return ARITH_HAS_DIV;
    case HONE_OP_FLOORMOD:
        return ARITH_HAS_MOD;
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        return ARITH_HAS_MINMAX;
    case HONE_OP_MUL:
        return ARITH_HAS_PRODUCT;
    default:
        return 0;
    }
}

void arith_sum_add_term(hone_arith *a, arith_sum *s, const hone_expr *term, int64_t coeff) {
    if (!term || coeff == INT64_MIN) s->failed = true;
    if (s->failed || coeff == 0) return;
    if (s->count == s->capacity) {
        uint32_t larger = s->capacity * 2;
        hone_linear_term *terms = arith_alloc(a, larger * sizeof *terms);
        if (!terms) {
            s->failed = true;
            return;
        }
        memcpy(terms, s->terms, s->count * sizeof *terms);
        s->terms = terms;
        s->capacity = larger;
    }
    if (term->kind != HONE_EXPR_VAR) s->has |= kind_flags(term);
    s->terms[s->count].term = term;
    s->terms[s->count++].coeff = coeff;
}

static void note_wrapping(arith_sum *s, uint8_t bits) {
    if (bits && (!s->wraps || bits < s->wraps)) s->wraps = bits;
}

void arith_sum_add_sum(hone_arith *a, arith_sum *s, const arith_sum *other, int64_t scale) {
    if (other->failed) s->failed = true;
    note_wrapping(s, other->wraps);
    arith_sum_add_const(s, other->constant, scale);
    for (uint32_t i = 0; i < other->count && !s->failed; i++) {
        int64_t coeff = 0;
        if (!arith_mul(other->terms[i].coeff, scale, &coeff)) s->failed = true;
        arith_sum_add_term(a, s, other->terms[i].term, coeff);
    }
}

void arith_sum_add_linear(hone_arith *a, arith_sum *s, const hone_linear *linear, int64_t scale) {
    arith_sum_add_const(s, linear->constant, scale);
    for (uint32_t i = 0; i < linear->count && !s->failed; i++) {
        int64_t coeff = 0;
        if (!arith_mul(linear->terms[i].coeff, scale, &coeff)) s->failed = true;
        arith_sum_add_term(a, s, linear->terms[i].term, coeff);
    }
}

static const hone_expr *strip_cast(hone_arith *a, const hone_expr *e) {
    while (e->kind == HONE_EXPR_CAST && arith_cast_is_exact(a, e))
        e = e->args[0];
    return e;
}

static bool is_multiple_or_sum(const hone_expr *e) {
    return e->kind == HONE_EXPR_INT || hone_expr_is_op(e, HONE_OP_MUL) ||
           hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB);
}

/* A product that was left as it was written: a factor is a number, a multiple or a sum. Such a one
 * is no product of terms: its factors are not mixed with others. */
static bool is_kept_product(const hone_expr *e) {
    if (!hone_expr_is_op(e, HONE_OP_MUL)) return false;
    for (; hone_expr_is_op(e, HONE_OP_MUL); e = e->args[0]) {
        if (is_multiple_or_sum(e->args[1])) return true;
    }
    return is_multiple_or_sum(e);
}

/* A canonical product may hold casts around its factors; a term never does. */
static const hone_expr *term_of(hone_arith *a, const hone_expr *e) {
    if (!hone_expr_is_op(e, HONE_OP_MUL) || is_kept_product(e)) return e;
    const hone_expr *factors[ARITH_MAX_FACTORS];
    uint32_t n = arith_mono_factors(e, factors);
    bool has_cast = false;
    for (uint32_t i = 0; i < n; i++) {
        const hone_expr *bare = strip_cast(a, factors[i]);
        has_cast |= bare != factors[i];
        factors[i] = bare;
    }
    if (!has_cast) return e;
    const hone_expr *product = factors[0];
    for (uint32_t i = 1; i < n && product; i++)
        product = arith_mono_mul(a, product, factors[i]);
    return product;
}

static void add_parts(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale) {
    if (s->failed) return;
    e = strip_cast(a, e);
    if (e->kind == HONE_EXPR_INT) {
        arith_sum_add_const(s, e->u.i, scale);
        return;
    }
    if (e->kind == HONE_EXPR_BINARY && arith_is_index(e->dtype)) {
        int64_t other = 0;
        if (e->op == HONE_OP_ADD || e->op == HONE_OP_SUB) {
            add_parts(a, s, e->args[0], scale);
            if (!arith_mul(scale, e->op == HONE_OP_ADD ? 1 : -1, &other)) s->failed = true;
            add_parts(a, s, e->args[1], other);
            return;
        }
        if (e->op == HONE_OP_MUL && e->args[1]->kind == HONE_EXPR_INT) {
            if (!arith_mul(scale, e->args[1]->u.i, &other)) s->failed = true;
            add_parts(a, s, e->args[0], other);
            return;
        }
        e = term_of(a, e);
    }
    arith_sum_add_term(a, s, e, scale);
}

void arith_sum_add_expr(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale) {
    if (!e) s->failed = true;
    if (s->failed) return;
    e = strip_cast(a, e);
    if (!arith_is_exact(a, e)) note_wrapping(s, (uint8_t)e->dtype.bits);
    add_parts(a, s, e, scale);
}

static bool is_small(int64_t value) {
    return value >= -INT32_MAX && value <= INT32_MAX;
}

static bool has_small_numbers(const arith_sum *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_small(s->terms[i].coeff)) return false;
    }
    return is_small(s->constant);
}

static bool has_kept_product(const arith_sum *s) {
    for (uint32_t i = 0; (s->has & ARITH_HAS_PRODUCT) && i < s->count; i++) {
        if (is_kept_product(s->terms[i].term)) return true;
    }
    return false;
}

static bool is_mono(const arith_sum *s) {
    return s->count == 1 && s->constant == 0;
}

/* May x * y * scale be expanded? With large numbers only where nothing is distributed: of
 * e * (1 - i) * 2^62, which may be 0, e * 2^62 alone may overflow. */
static bool is_expanded(const arith_sum *x, const arith_sum *y, int64_t scale) {
    int64_t c = 0;
    if (x->count == 0 || y->count == 0) return true;
    if ((uint64_t)x->count * y->count > ARITH_MAX_PRODUCT) return false;
    if (has_kept_product(x) || has_kept_product(y)) return false;
    if (is_mono(x) && is_mono(y)) {
        return arith_mul(x->terms[0].coeff, y->terms[0].coeff, &c) && arith_mul(c, scale, &c);
    }
    return is_small(scale) && has_small_numbers(x) && has_small_numbers(y);
}

bool arith_sum_add_product(hone_arith *a, arith_sum *s, const arith_sum *x, const arith_sum *y,
                           int64_t scale) {
    if (!is_expanded(x, y, scale)) return false;
    int64_t cx = 0, cy = 0;
    if (x->failed || y->failed || !arith_mul(x->constant, scale, &cx) ||
        !arith_mul(y->constant, scale, &cy)) {
        s->failed = true;
        return true;
    }
    arith_sum_add_sum(a, s, y, cx); /* x.constant * y, then x.terms * y.constant */
    for (uint32_t i = 0; i < x->count && !s->failed; i++) {
        int64_t coeff = 0;
        if (!arith_mul(x->terms[i].coeff, cy, &coeff)) s->failed = true;
        arith_sum_add_term(a, s, x->terms[i].term, coeff);
    }
    for (uint32_t i = 0; i < x->count; i++) {
        for (uint32_t j = 0; j < y->count && !s->failed; j++) {
            int64_t coeff = 0;
            if (!arith_mul(x->terms[i].coeff, y->terms[j].coeff, &coeff) ||
                !arith_mul(coeff, scale, &coeff)) {
                s->failed = true;
                return true;
            }
            arith_sum_add_term(a, s, arith_mono_mul(a, x->terms[i].term, y->terms[j].term), coeff);
        }
    }
    return true;
}

/* ---- sorting ---- */

static bool term_before(const hone_linear_term *x, const hone_linear_term *y) {
    if (x->term->kind == HONE_EXPR_VAR && y->term->kind == HONE_EXPR_VAR) {
        return x->term->u.var < y->term->u.var;
    }
    return arith_order(x->term, y->term) < 0;
}

static void insertion_sort(hone_linear_term *terms, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        hone_linear_term t = terms[i];
        uint32_t j = i;
        for (; j > 0 && term_before(&t, &terms[j - 1]); j--)
            terms[j] = terms[j - 1];
        terms[j] = t;
    }
}

static void merge_runs(hone_linear_term *to, const hone_linear_term *from, uint32_t left,
                       uint32_t middle, uint32_t right) {
    uint32_t i = left, j = middle;
    for (uint32_t k = left; k < right; k++) {
        bool take_right = i >= middle || (j < right && term_before(&from[j], &from[i]));
        to[k] = from[take_right ? j++ : i++];
    }
}

/* Stable; long sums are merged bottom-up from runs of 16. */
static bool sort_terms(hone_arith *a, arith_sum *s) {
    enum { RUN = 16 };
    for (uint32_t i = 0; i < s->count; i += RUN) {
        insertion_sort(s->terms + i, s->count - i < RUN ? s->count - i : RUN);
    }
    if (s->count <= RUN) return true;
    hone_linear_term *spare = arith_alloc(a, s->capacity * sizeof *spare);
    if (!spare) return false;
    for (uint32_t width = RUN; width < s->count; width *= 2) {
        for (uint32_t i = 0; i < s->count; i += 2 * width) {
            uint32_t middle = i + width < s->count ? i + width : s->count;
            uint32_t end = i + 2 * width < s->count ? i + 2 * width : s->count;
            merge_runs(spare, s->terms, i, middle, end);
        }
        hone_linear_term *done = spare;
        spare = s->terms;
        s->terms = done;
    }
    return true;
}

void arith_sum_sort(hone_arith *a, arith_sum *s) {
    if (s->failed) return;
    if (!sort_terms(a, s)) {
        s->failed = true;
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (kept && arith_order(s->terms[kept - 1].term, s->terms[i].term) == 0) {
            if (!arith_add(s->terms[kept - 1].coeff, s->terms[i].coeff,
                           &s->terms[kept - 1].coeff) ||
                s->terms[kept - 1].coeff == INT64_MIN) {
                s->failed = true;
                return;
            }
            continue;
        }
        if (kept && s->terms[kept - 1].coeff == 0) kept--;
        s->terms[kept++] = s->terms[i];
    }
    if (kept && s->terms[kept - 1].coeff == 0) kept--;
    s->count = kept;
}

bool arith_sum_finish(hone_arith *a, arith_sum *s) {
    arith_sum_sort(a, s);
    for (int round = 0; s->has && round < 16 && !s->failed; round++) {
        if (!arith_fuse_once(a, s)) break;
        arith_sum_sort(a, s);
    }
    return !s->failed;
}

bool arith_sum_is_const(const arith_sum *s, int64_t *out_value) {
    if (s->failed || s->count) return false;
    *out_value = s->constant;
    return true;
}

int64_t arith_sum_find(const arith_sum *s, const hone_expr *term) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (arith_order(s->terms[i].term, term) == 0) return i;
    }
    return -1;
}

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
        out[i] = strip_cast(a, out[i]);
    return n;
}

const hone_expr *arith_mono_mul(hone_arith *a, const hone_expr *x, const hone_expr *y) {
    if (!x || !y) return NULL;
    const hone_expr *all[2 * ARITH_MAX_FACTORS];
    uint32_t n = bare_factors(a, x, all);
    n += bare_factors(a, y, all + n);
    if (n > ARITH_MAX_FACTORS) return NULL; /* the sum fails, the product stays as written */
    for (uint32_t i = 1; i < n; i++) {
        const hone_expr *f = all[i];
        uint32_t j = i;
        for (; j > 0 && arith_order(f, all[j - 1]) < 0; j--)
            all[j] = all[j - 1];
        all[j] = f;
    }
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
