/* ir/arith/itermap_parse.c - index expressions as sums of splits. */
#include "ir/arith/itermap_impl.h"

#include <string.h>

/* ---- exact values ---- */

const hone_expr *imap_int(imap *m, int64_t value) {
    return hone_expr_int(&m->a->ir, m->dtype, value);
}

bool imap_is_one(const hone_expr *e) {
    return hone_expr_is_int_value(e, 1);
}

const hone_expr *imap_mul(imap *m, const hone_expr *x, const hone_expr *y) {
    int64_t product = 0;
    if (!x || !y) return NULL;
    if (imap_is_one(x)) return y;
    if (imap_is_one(y)) return x;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) {
        return arith_mul(x->u.i, y->u.i, &product) ? imap_int(m, product) : NULL;
    }
    return arith_simp(m->a, hone_expr_mul(&m->a->ir, x, y));
}

const hone_expr *imap_ceildiv(imap *m, const hone_expr *x, const hone_expr *y) {
    if (hone_expr_is_int(x) && hone_expr_is_int(y) && y->u.i > 0 && x->u.i > 0) {
        return imap_int(m, (x->u.i - 1) / y->u.i + 1);
    }
    hone_ir *ir = &m->a->ir;
    const hone_expr *up = hone_expr_add(ir, x, hone_expr_sub(ir, y, imap_int(m, 1)));
    return arith_simp(m->a, hone_expr_floordiv(ir, up, y));
}

bool imap_equal(imap *m, const hone_expr *x, const hone_expr *y) {
    if (!x || !y) return false;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) return x->u.i == y->u.i;
    return hone_expr_same(x, y) || hone_prove_equal(m->a, x, y);
}

bool imap_less_equal(imap *m, const hone_expr *x, const hone_expr *y) {
    if (!x || !y) return false;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) return x->u.i <= y->u.i;
    return hone_expr_same(x, y) || hone_prove_less_equal(m->a, x, y);
}

bool imap_divide(imap *m, const hone_expr *x, const hone_expr *y, const hone_expr **out) {
    *out = NULL;
    if (!x || !y || hone_expr_is_int_value(y, 0)) return false;
    if (hone_expr_is_int(x) && hone_expr_is_int(y)) {
        if (y->u.i < 1 || x->u.i % y->u.i) return false;
        *out = imap_int(m, x->u.i / y->u.i);
        return true;
    }
    if (imap_is_one(y)) {
        *out = x;
        return true;
    }
    hone_ir *ir = &m->a->ir;
    const hone_expr *rest = arith_simp(m->a, hone_expr_floormod(ir, x, y));
    if (!rest || !hone_expr_is_int_value(rest, 0)) return false;
    *out = arith_simp(m->a, hone_expr_floordiv(ir, x, y));
    return *out != NULL;
}

int64_t imap_loop_of(const imap *m, hone_var var) {
    if (var >= m->a->slot_capacity) return -1;
    uint32_t k = m->a->slots[var];
    return k < m->iter_count && m->iters[k].var == var ? (int64_t)k : -1;
}

bool imap_uses_loops(const imap *m, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR) return imap_loop_of(m, e->u.var) >= 0;
    for (uint32_t i = 0; i < e->count; i++) {
        if (imap_uses_loops(m, e->args[i])) return true;
    }
    return false;
}

/* ---- sums of splits ---- */

void imap_sum_init(imap_sum *s) {
    arith_sum_init(&s->base);
    s->count = s->capacity = 0;
    s->splits = NULL;
}

bool imap_same_split(const hone_iter_split *x, const hone_iter_split *y) {
    return x->source == y->source && hone_expr_same(x->lower, y->lower) &&
           hone_expr_same(x->extent, y->extent);
}

bool imap_add_split(imap *m, imap_sum *s, hone_iter_split split) {
    if (!split.lower || !split.extent || !split.scale) {
        m->reason = "a number in the index is too large";
        return false;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (!imap_same_split(&s->splits[i], &split)) continue;
        hone_ir *ir = &m->a->ir;
        s->splits[i].scale = arith_simp(m->a, hone_expr_add(ir, s->splits[i].scale, split.scale));
        return s->splits[i].scale != NULL;
    }
    void *items = s->splits;
    if (!arith_grow(m->a, &items, s->count, &s->capacity, sizeof split)) return false;
    s->splits = items;
    s->splits[s->count++] = split;
    return true;
}

bool imap_sort_splits(imap *m, hone_iter_split *splits, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        hone_iter_split split = splits[i];
        uint32_t j = i;
        while (j > 0) {
            /* equal scales: the longer one first, so that a unit split never stands in the way */
            bool same = imap_equal(m, splits[j - 1].scale, split.scale);
            if (same ? imap_less_equal(m, split.extent, splits[j - 1].extent)
                     : imap_less_equal(m, split.scale, splits[j - 1].scale)) {
                break;
            }
            if (!imap_less_equal(m, splits[j - 1].scale, split.scale)) return false;
            splits[j] = splits[j - 1];
            j--;
        }
        splits[j] = split;
    }
    return true;
}

bool imap_is_compact(imap *m, const hone_iter_split *splits, uint32_t count) {
    for (uint32_t i = 0; i + 1 < count; i++) {
        const hone_expr *wanted = imap_mul(m, splits[i + 1].scale, splits[i + 1].extent);
        if (!imap_equal(m, splits[i].scale, wanted)) return false;
    }
    return true;
}

static bool same_number(const hone_iter_sum *x, const hone_iter_split *splits, uint32_t count) {
    if (x->count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!imap_same_split(&x->splits[i], &splits[i])) return false;
        if (!hone_expr_same(x->splits[i].scale, splits[i].scale)) return false;
    }
    return true;
}

const hone_iter_source *imap_fuse(imap *m, const hone_iter_split *splits, uint32_t count,
                                  const hone_expr *extent, const hone_expr *min) {
    for (uint32_t i = 0; i < m->fused_count; i++) {
        const hone_iter_source *known = m->fused[i];
        if (same_number(&known->sum, splits, count) && hone_expr_same(known->extent, extent) &&
            hone_expr_same(known->sum.base, min)) {
            return known;
        }
    }
    void *items = m->fused;
    if (!arith_grow(m->a, &items, m->fused_count, &m->fused_capacity, sizeof *m->fused)) {
        return NULL;
    }
    m->fused = items;
    hone_iter_source *source = arith_alloc(m->a, sizeof *source);
    hone_iter_split *copy = arith_alloc(m->a, count * sizeof *copy);
    if (!source || !copy) return NULL;
    memcpy(copy, splits, count * sizeof *copy);
    *source = (hone_iter_source){
        .is_fused = true,
        .var = HONE_NO_ID,
        .sum = {.base = min, .count = count, .splits = copy},
        .extent = extent,
    };
    m->fused[m->fused_count++] = source;
    return source;
}

/* ---- division of splits ---- */

static bool fail(imap *m, const char *reason) {
    m->reason = reason;
    return false;
}

/* Brings a sum to one split (times its scale): as it is, or as a new mixed-radix number. */
static bool to_one_split(imap *m, imap_sum *s, hone_iter_split *out) {
    if (s->count == 1) {
        *out = s->splits[0];
        return true;
    }
    if (!imap_sort_splits(m, s->splits, s->count)) return fail(m, "scales cannot be compared");
    if (!imap_is_compact(m, s->splits, s->count)) {
        return fail(m, "the divided sum is no mixed-radix number");
    }
    const hone_expr *scale = s->splits[s->count - 1].scale;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!imap_divide(m, s->splits[i].scale, scale, &s->splits[i].scale)) {
            return fail(m, "the divided sum is no mixed-radix number");
        }
    }
    const hone_expr *extent = imap_mul(m, s->splits[0].scale, s->splits[0].extent);
    if (!extent) return fail(m, "a number in the index is too large");
    const hone_iter_source *source = imap_fuse(m, s->splits, s->count, extent, imap_int(m, 0));
    if (!source) return false;
    *out = (hone_iter_split){source, imap_int(m, 1), extent, scale};
    return true;
}

const hone_expr *imap_end_of(imap *m, const hone_iter_split *digit) {
    return imap_mul(m, digit->lower, digit->extent);
}

bool imap_reaches_top(imap *m, const hone_iter_split *x) {
    const hone_expr *end = imap_end_of(m, x);
    return end && imap_less_equal(m, x->source->extent, end);
}

/* (x // d) or (x % d) for one split x of scale 1; *is_gone: the result is the constant 0. */
static bool divide_split(imap *m, hone_iter_split *x, const hone_expr *d, bool want_mod,
                         bool *is_gone) {
    const hone_expr *quotient = NULL;
    *is_gone = false;
    if (imap_less_equal(m, x->extent, d)) { /* x < d */
        *is_gone = !want_mod;
        return true;
    }
    bool divides = imap_divide(m, x->extent, d, &quotient);
    if (!divides && !imap_reaches_top(m, x))
        return fail(m, "the divisor does not divide the extent");
    if (!divides) quotient = imap_ceildiv(m, x->extent, d);
    if (want_mod) {
        x->extent = d;
    } else {
        x->lower = imap_mul(m, x->lower, d);
        x->extent = quotient;
    }
    return x->lower && x->extent;
}

static bool is_zero(const arith_sum *s) {
    return s->count == 0 && s->constant == 0 && !s->failed;
}

/* y % d where y is no mixed-radix number any more, since its scales were taken modulo d. */
static bool restore_modulo(imap *m, imap_sum *y, const hone_expr *d) {
    if (!m->constraint_count || y->count < 2 || !hone_expr_is_int(d)) return true;
    if (!imap_sort_splits(m, y->splits, y->count) || imap_is_compact(m, y->splits, y->count)) {
        return true;
    }
    return imap_apply_constraints(m, y, d->u.i);
}

/* Adds coeff * (y // d) or coeff * (y % d). */
static bool parse_divmod(imap *m, const hone_expr *e, int64_t coeff, imap_sum *out) {
    const hone_expr *d = e->args[1];
    bool want_mod = e->op == HONE_OP_FLOORMOD, is_gone = false;
    if (imap_uses_loops(m, d)) return fail(m, "a divisor uses a loop");
    if (arith_expr_bound(m->a, d).min < 1) return fail(m, "a divisor may be zero or negative");
    imap_sum inner;
    if (!imap_parse(m, e->args[0], &inner)) return false;
    if (want_mod && !restore_modulo(m, &inner, d)) return false;
    if (!is_zero(&inner.base)) return fail(m, "an offset stands below a division");
    if (inner.count == 0) return true;
    hone_iter_split x;
    if (!to_one_split(m, &inner, &x)) return false;
    const hone_expr *rest = NULL, *factor = x.scale;
    if (!imap_divide(m, d, factor, &rest)) {
        return fail(m, "the divisor is no multiple of the scale");
    }
    x.scale = imap_int(m, 1);
    if (!divide_split(m, &x, rest, want_mod, &is_gone)) return false;
    if (is_gone) return true;
    x.scale = imap_int(m, coeff);
    if (want_mod) x.scale = imap_mul(m, factor, x.scale);
    return imap_add_split(m, out, x);
}

/* ---- backwards ---- */

/* extent - 1 - x as a number of its own; of such a number, x again. */
static bool mirror(imap *m, const hone_iter_split *x, hone_iter_split *out) {
    const hone_iter_source *source = x->source;
    bool is_mirror = source->is_fused && source->sum.count == 1 &&
                     hone_expr_is_int_value(source->sum.splits[0].scale, -1);
    if (is_mirror && imap_is_one(x->lower) && imap_equal(m, x->extent, source->extent)) {
        *out = source->sum.splits[0];
        return true;
    }
    hone_iter_split down = {source, x->lower, x->extent, imap_int(m, -1)};
    const hone_expr *last = arith_simp(m->a, hone_expr_sub(&m->a->ir, x->extent, imap_int(m, 1)));
    const hone_iter_source *made = last ? imap_fuse(m, &down, 1, x->extent, last) : NULL;
    if (!made) return false;
    *out = (hone_iter_split){made, imap_int(m, 1), x->extent, NULL};
    return true;
}

/* What runs backwards, 7 - i, counts as a number that runs forwards: base -= (extent - 1) * |scale|
 * and the mirrored number times |scale|. */
static bool turn_forwards(imap *m, imap_sum *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        hone_iter_split *split = &s->splits[i], turned;
        if (arith_expr_bound(m->a, split->scale).max >= 0) continue;
        arith_sum scale, last;
        arith_sum_init(&scale);
        arith_sum_init(&last);
        arith_sum_add_expr(m->a, &scale, split->scale, 1);
        arith_sum_add_expr(m->a, &last, split->extent, 1);
        arith_sum_add_const(&last, -1, 1);
        if (!mirror(m, split, &turned)) return false;
        turned.scale = arith_simp(m->a, hone_expr_sub(&m->a->ir, imap_int(m, 0), split->scale));
        if (!turned.scale || !arith_sum_finish(m->a, &scale) || !arith_sum_finish(m->a, &last) ||
            !arith_sum_add_product(m->a, &s->base, &scale, &last, 1)) {
            return fail(m, "a number in the index is too large");
        }
        *split = turned;
    }
    return arith_sum_finish(m->a, &s->base) || fail(m, "an index is too large");
}

/* ---- terms ---- */

static bool add_loop(imap *m, uint32_t k, const hone_expr *var, const hone_expr *scale,
                     imap_sum *out) {
    m->loops[k].var_expr = var;
    arith_sum factor, min;
    arith_sum_init(&factor);
    arith_sum_init(&min);
    arith_sum_add_expr(m->a, &factor, scale, 1);
    arith_sum_add_expr(m->a, &min, m->loop_mins[k], 1);
    if (min.count || min.constant) {
        if (!arith_sum_add_product(m->a, &out->base, &factor, &min, 1)) {
            return fail(m, "the start of a loop is too complicated");
        }
    }
    if (!m->loops[k].extent) return true; /* a unit loop */
    return imap_add_split(
        m, out, (hone_iter_split){&m->loops[k], imap_int(m, 1), m->loops[k].extent, scale});
}

static bool parse_term(imap *m, const hone_expr *term, int64_t coeff, imap_sum *out) {
    if (term->kind == HONE_EXPR_VAR) {
        int64_t k = imap_loop_of(m, term->u.var);
        if (k >= 0) return add_loop(m, (uint32_t)k, term, imap_int(m, coeff), out);
    }
    if (!imap_uses_loops(m, term)) {
        arith_sum_add_term(m->a, &out->base, term, coeff);
        return true;
    }
    if (hone_expr_is_divmod(term)) {
        return parse_divmod(m, term, coeff, out);
    }
    if (!hone_expr_is_op(term, HONE_OP_MUL)) return fail(m, "an index is not affine in the loops");
    const hone_expr *factors[ARITH_MAX_FACTORS], *scale = imap_int(m, coeff);
    uint32_t n = arith_mono_factors(term, factors), moving = n;
    for (uint32_t i = 0; i < n; i++) {
        if (!imap_uses_loops(m, factors[i])) {
            scale = imap_mul(m, scale, factors[i]);
        } else if (moving == n) {
            moving = i;
        } else {
            return fail(m, "an index is a product of loops");
        }
    }
    imap_sum inner;
    if (!imap_parse(m, factors[moving], &inner)) return false;
    if (!is_zero(&inner.base) || !scale) return fail(m, "an offset stands in a product");
    for (uint32_t i = 0; i < inner.count; i++) {
        hone_iter_split split = inner.splits[i];
        split.scale = imap_mul(m, split.scale, scale);
        if (!imap_add_split(m, out, split)) return false;
    }
    return true;
}

bool imap_parse(imap *m, const hone_expr *e, imap_sum *out) {
    imap_sum_init(out);
    arith_sum s;
    if (!arith_sum_of(m->a, &s, e)) return fail(m, "an index is too complicated");
    arith_sum_add_const(&out->base, s.constant, 1);
    for (uint32_t i = 0; i < s.count; i++) {
        if (!parse_term(m, s.terms[i].term, s.terms[i].coeff, out)) return false;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        if (!hone_expr_is_int_value(out->splits[i].scale, 0)) out->splits[kept++] = out->splits[i];
    }
    out->count = kept;
    if (!arith_sum_finish(m->a, &out->base)) return fail(m, "an index is too large");
    if (m->constraint_count && !imap_apply_constraints(m, out, 0)) return false;
    return turn_forwards(m, out);
}
