/* ir/region/region_span.c - the values that one index takes while some variables run, under
 * conditions. */
#include "ir/region/region_impl.h"

/* ---- facts ---- */

static bool push_fact(region_facts *facts, hone_arith *arith, hone_linear linear) {
    if (facts->count == facts->capacity) {
        uint32_t capacity = facts->capacity ? facts->capacity * 2 : 8;
        hone_linear *items = hone_arena_alloc(arith->ir.arena, capacity * sizeof *items);
        if (!items) return false;
        for (uint32_t i = 0; i < facts->count; i++)
            items[i] = facts->items[i];
        facts->items = items;
        facts->capacity = capacity;
    }
    facts->items[facts->count++] = linear;
    return true;
}

/* The fact  small - big + offset <= 0. */
static bool add_difference(region_facts *facts, hone_arith *arith, const hone_expr *small,
                           const hone_expr *big, int64_t offset) {
    hone_linear linear;
    const hone_expr *difference = hone_expr_sub(&arith->ir, small, big);
    if (!difference) return false;
    if (!hone_linear_of(arith, difference, &linear) ||
        __builtin_add_overflow(linear.constant, offset, &linear.constant)) {
        facts->has_others = true;
        return true;
    }
    return push_fact(facts, arith, linear);
}

bool region_facts_add(region_facts *facts, hone_arith *arith, const hone_expr *condition) {
    if (!condition) return true;
    if (hone_expr_is_int(condition) && condition->u.i) return true;
    if (hone_expr_is_call(condition, HONE_INTRIN_LIKELY)) {
        return region_facts_add(facts, arith, condition->args[0]);
    }
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        return region_facts_add(facts, arith, condition->args[0]) &&
               region_facts_add(facts, arith, condition->args[1]);
    }
    if (condition->kind != HONE_EXPR_BINARY || !hone_dtype_is_integer(condition->args[0]->dtype)) {
        facts->has_others = true;
        return true;
    }
    const hone_expr *a = condition->args[0], *b = condition->args[1];
    switch ((hone_op)condition->op) {
    case HONE_OP_LT:
        return add_difference(facts, arith, a, b, 1);
    case HONE_OP_LE:
        return add_difference(facts, arith, a, b, 0);
    case HONE_OP_GT:
        return add_difference(facts, arith, b, a, 1);
    case HONE_OP_GE:
        return add_difference(facts, arith, b, a, 0);
    case HONE_OP_EQ:
        return add_difference(facts, arith, a, b, 0) && add_difference(facts, arith, b, a, 0);
    default:
        facts->has_others = true;
        return true;
    }
}

/* ---- relaxing one span ---- */

bool region_linear_minus(hone_arith *arith, const hone_linear *e, int64_t c, const hone_linear *p,
                         hone_linear *out) {
    hone_linear_term *terms =
        hone_arena_alloc(arith->ir.arena, (e->count + p->count + 1) * sizeof *terms);
    if (!terms) return false;
    int64_t product;
    if (__builtin_mul_overflow(c, p->constant, &product) ||
        __builtin_sub_overflow(e->constant, product, &out->constant)) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->count; i++)
        terms[count++] = e->terms[i];
    for (uint32_t i = 0; i < p->count; i++) {
        if (__builtin_mul_overflow(c, p->terms[i].coeff, &product)) return false;
        uint32_t at = 0;
        while (at < count && !hone_expr_same(terms[at].term, p->terms[i].term))
            at++;
        if (at == count) terms[count++] = (hone_linear_term){p->terms[i].term, 0};
        if (__builtin_sub_overflow(terms[at].coeff, product, &terms[at].coeff)) return false;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i].coeff != 0) terms[kept++] = terms[i];
    }
    out->terms = terms;
    out->count = kept;
    return true;
}

int64_t region_shared_ratio(const hone_linear *e, const hone_linear *p, const bool *relax,
                            uint32_t relax_count) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (!hone_expr_uses_any(e->terms[i].term, relax, relax_count)) continue;
        for (uint32_t k = 0; k < p->count; k++) {
            int64_t pc = p->terms[k].coeff;
            if (!hone_expr_same(e->terms[i].term, p->terms[k].term)) continue;
            if (pc == 0 || e->terms[i].coeff % pc != 0) return 0;
            return e->terms[i].coeff / pc;
        }
    }
    return 0;
}

static const hone_expr *tighter(hone_arith *arith, const hone_expr *old, const hone_expr *fresh,
                                hone_op op) {
    if (!old || !fresh) return old ? old : fresh;
    const hone_expr *low = op == HONE_OP_MIN ? old : fresh;
    const hone_expr *high = op == HONE_OP_MIN ? fresh : old;
    if (hone_prove_less_equal(arith, low, high)) return old;
    if (hone_prove_less_equal(arith, high, low)) return fresh;
    return hone_simplify(arith, hone_expr_binary(&arith->ir, op, old, fresh));
}

/* Tightens one side of the interval of e by each fact, and by that one together with those behind
 * it: 2*i + j where i < 1 and j < 2. */
static const hone_expr *tighten(hone_arith *arith, const region_facts *facts, const hone_expr *e,
                                const hone_expr *bound, bool is_upper, const bool *relax,
                                uint32_t relax_count) {
    hone_linear form, rest;
    if (!facts || facts->count == 0 || !hone_linear_of(arith, e, &form)) return bound;
    for (uint32_t i = 0; i < facts->count; i++) {
        int64_t ratio = region_shared_ratio(&form, &facts->items[i], relax, relax_count);
        if (ratio == 0 || (ratio > 0) != is_upper) continue;
        if (!region_linear_minus(arith, &form, ratio, &facts->items[i], &rest)) continue;
        const hone_expr *other = hone_linear_expr(arith, &rest, e->dtype);
        if (!other) continue;
        bool is_exact;
        hone_interval span = hone_arith_relax(arith, other, relax, relax_count, &is_exact);
        const hone_expr *candidate = is_upper ? span.max : span.min;
        const region_facts later = {.items = facts->items + i + 1, .count = facts->count - i - 1};
        candidate = tighten(arith, &later, other, candidate, is_upper, relax, relax_count);
        bound = tighter(arith, bound, candidate, is_upper ? HONE_OP_MIN : HONE_OP_MAX);
    }
    return bound;
}

static bool has_sides(const hone_expr *e) {
    return hone_expr_is_op(e, HONE_OP_MIN) || hone_expr_is_op(e, HONE_OP_MAX);
}

/* Equal but for the order of the sides of minima and maxima. */
static bool is_reordered(const hone_expr *a, const hone_expr *b) {
    if (hone_expr_same(a, b)) return true;
    if (!has_sides(a) || !hone_expr_is_op(b, (hone_op)a->op)) return false;
    return (is_reordered(a->args[0], b->args[0]) && is_reordered(a->args[1], b->args[1])) ||
           (is_reordered(a->args[0], b->args[1]) && is_reordered(a->args[1], b->args[0]));
}

/* Minima and maxima keep the order of their sides: max(0, x). */
static const hone_expr *with_sides_simplified(hone_arith *arith, const hone_expr *e) {
    if (!has_sides(e)) return hone_simplify(arith, e);
    const hone_expr *a = with_sides_simplified(arith, e->args[0]);
    const hone_expr *b = with_sides_simplified(arith, e->args[1]);
    return a && b ? hone_expr_binary(&arith->ir, (hone_op)e->op, a, b) : NULL;
}

const hone_expr *region_fixed(hone_arith *arith, const hone_expr *e) {
    const hone_expr *simple = hone_simplify(arith, e);
    const hone_expr *written = has_sides(e) ? with_sides_simplified(arith, e) : NULL;
    if (simple && written && is_reordered(written, simple)) return written;
    bool is_shifted =
        simple && hone_expr_is_op(e, HONE_OP_FLOORDIV) &&
        (hone_expr_is_op(simple, HONE_OP_ADD) || hone_expr_is_op(simple, HONE_OP_SUB)) &&
        hone_expr_is_int(simple->args[1]) && hone_expr_is_op(simple->args[0], HONE_OP_FLOORDIV) &&
        hone_expr_same(simple->args[0]->args[1], e->args[1]);
    if (!is_shifted) return simple;
    const hone_expr *numerator = hone_simplify(arith, e->args[0]);
    return numerator ? hone_expr_floordiv(&arith->ir, numerator, e->args[1]) : NULL;
}

hone_interval region_relax_span(hone_arith *arith, const region_facts *facts, const hone_expr *lo,
                                const hone_expr *hi, const bool *relax, uint32_t relax_count,
                                bool *out_is_exact) {
    *out_is_exact = true;
    bool lo_runs = hone_expr_uses_any(lo, relax, relax_count);
    bool hi_runs = lo == hi ? lo_runs : hone_expr_uses_any(hi, relax, relax_count);
    if (!lo_runs && !hi_runs) {
        const hone_expr *min = region_fixed(arith, lo);
        return (hone_interval){min, lo == hi ? min : region_fixed(arith, hi)};
    }
    hone_interval low = hone_arith_relax(arith, lo, relax, relax_count, out_is_exact);
    hone_interval high = low;
    if (lo != hi) {
        bool is_exact;
        high = hone_arith_relax(arith, hi, relax, relax_count, &is_exact);
        *out_is_exact &= is_exact;
    }
    return (hone_interval){
        .min = tighten(arith, facts, lo, low.min, false, relax, relax_count),
        .max = tighten(arith, facts, hi, high.max, true, relax, relax_count),
    };
}

hone_interval region_whole_dim(hone_arith *arith, const hone_buffer_info *buffer, uint32_t dim) {
    const hone_expr *extent = buffer->shape[dim];
    const hone_expr *one = hone_expr_int(&arith->ir, extent->dtype, 1);
    return (hone_interval){
        .min = hone_expr_int(&arith->ir, extent->dtype, 0),
        .max = hone_simplify(arith, hone_expr_sub(&arith->ir, extent, one)),
    };
}
