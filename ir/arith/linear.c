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
    if (hone_expr_is_effect(x)) return -1;
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

void arith_sort(const hone_expr **parts, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const hone_expr *part = parts[i];
        uint32_t j = i;
        for (; j > 0 && arith_order(part, parts[j - 1]) < 0; j--)
            parts[j] = parts[j - 1];
        parts[j] = part;
    }
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

const hone_expr *arith_strip_cast(hone_arith *a, const hone_expr *e) {
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
        const hone_expr *bare = arith_strip_cast(a, factors[i]);
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
    e = arith_strip_cast(a, e);
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
    e = arith_strip_cast(a, e);
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
