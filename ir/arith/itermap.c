/* ir/arith/itermap.c - detection of iterator maps, and their expressions. */
#include "ir/arith/itermap.h"

#include "ir/arith/itermap_impl.h"

/* What arith knew of the loops before; the detection binds them to the ranges given. */
typedef struct saved_var {
    hone_bound bound;
    const hone_expr *min, *extent;
} saved_var;

static bool reserve_slots(hone_arith *a, hone_var var) {
    if (var < a->slot_capacity) return true;
    uint32_t capacity = a->slot_capacity ? a->slot_capacity : 64;
    while (capacity <= var)
        capacity *= 2;
    uint32_t *slots = arith_alloc(a, capacity * sizeof *slots);
    if (!slots) return false;
    for (uint32_t v = 0; v < capacity; v++)
        slots[v] = 0;
    a->slots = slots;
    a->slot_capacity = capacity;
    return true;
}

static bool bind_loop(imap *m, uint32_t k, bool trivial) {
    hone_range range = m->iters[k].range;
    hone_var var = m->iters[k].var;
    if (!hone_arith_bind(m->a, var, range)) return false;
    const hone_expr *min = arith_simp(m->a, range.min);
    const hone_expr *extent = arith_simp(m->a, range.extent);
    if (!min || !extent) return false;
    bool is_unit = imap_is_one(extent);
    if (hone_expr_is_int(extent) && extent->u.i < 1) m->is_empty = true;
    if (is_unit && !trivial) { /* the simplifier must not put the constant in its place */
        hone_arith_bind_const(m->a, var, HONE_BOUND_NEG_INF, HONE_BOUND_POS_INF);
    }
    m->loop_mins[k] = min;
    m->loops[k] =
        (hone_iter_source){.var = var, .min = min, .extent = is_unit && trivial ? NULL : extent};
    return true;
}

static bool begin(imap *m, saved_var *saved, bool trivial) {
    hone_arith *a = m->a;
    for (uint32_t k = 0; k < m->iter_count;
         k++) { /* all of them first: growing forgets the slots */
        if (!arith_reserve_var(a, m->iters[k].var)) return false;
        if (!reserve_slots(a, m->iters[k].var)) return false;
    }
    for (uint32_t k = 0; k < m->iter_count; k++) {
        hone_var var = m->iters[k].var;
        saved[k] = (saved_var){a->bounds[var], a->mins[var], a->extents[var]};
        a->slots[var] = k;
    }
    for (uint32_t k = 0; k < m->iter_count; k++) {
        if (!bind_loop(m, k, trivial)) return false;
    }
    return true;
}

static void end(imap *m, const saved_var *saved) {
    for (uint32_t k = m->iter_count; k-- > 0;) {
        hone_var var = m->iters[k].var;
        m->a->bounds[var] = saved[k].bound;
        m->a->mins[var] = saved[k].min;
        m->a->extents[var] = saved[k].extent;
    }
}

static bool parse_all(imap *m, uint32_t count, const hone_expr *const *indices, hone_itermap *out) {
    for (uint32_t i = 0; i < count; i++) {
        imap_sum s;
        out->failed_index = i;
        m->a->fuel = ARITH_FUEL;
        if (!indices[i] || !arith_is_index(indices[i]->dtype)) {
            m->reason = "an index is no int32 or int64";
            return false;
        }
        if (!imap_parse(m, indices[i], &s)) return false;
        if (!imap_sort_splits(m, s.splits, s.count)) {
            m->reason = "scales cannot be compared";
            return false;
        }
        out->sums[i].base = arith_sum_expr(m->a, &s.base, indices[i]->dtype, NULL);
        out->sums[i].count = s.count;
        out->sums[i].splits = s.splits;
        if (!out->sums[i].base) {
            m->reason = "an index is too large";
            return false;
        }
    }
    out->failed_index = 0;
    return true;
}

static bool read_predicate(imap *m, const hone_expr *predicate) {
    if (!predicate) return true;
    if (!imap_read_predicate(m, predicate)) return false;
    for (m->predicate_pass = 2; m->predicate_pass <= m->most_loops; m->predicate_pass++) {
        m->shorter_count = m->constraint_count;
        if (!imap_read_predicate(m, predicate)) return false;
    }
    return true;
}

bool hone_itermap_detect(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                         uint32_t iter_count, const hone_iter *iters, const hone_expr *predicate,
                         hone_itermap_level level, bool trivial, hone_itermap *out) {
    *out = (hone_itermap){.count = count};
    imap m = {.a = arith, .iter_count = iter_count, .iters = iters, .dtype = HONE_DTYPE_I32};
    arith->fuel = ARITH_FUEL;
    for (uint32_t i = 0; i < count; i++) {
        if (indices[i] && indices[i]->dtype.bits == 64) m.dtype = HONE_DTYPE_I64;
    }
    saved_var *saved = arith_alloc(arith, (iter_count + 1) * sizeof *saved);
    m.loops = arith_alloc(arith, (iter_count + 1) * sizeof *m.loops);
    m.loop_mins = arith_alloc(arith, (iter_count + 1) * sizeof *m.loop_mins);
    out->sums = arith_alloc(arith, (count + 1) * sizeof *out->sums);
    out->reason = "out of memory";
    if (!saved || !m.loops || !m.loop_mins || !out->sums) return false;
    for (uint32_t i = 0; i < count; i++)
        out->sums[i] = (hone_iter_sum){0};
    for (uint32_t k = 0; k < iter_count; k++) {
        hone_var var = iters[k].var;
        if (!arith_reserve_var(arith, var)) return false;
    }
    bool kept_numbers = arith->keeps_numbers;
    arith->keeps_numbers = arith->cuts_remainders = true;
    bool ok = begin(&m, saved, trivial) && read_predicate(&m, predicate) &&
              parse_all(&m, count, indices, out);
    if (ok && level != HONE_ITERMAP_NONE) ok = imap_turn_digits(&m, count, out->sums);
    arith->keeps_numbers = kept_numbers;
    arith->cuts_remainders = false;
    if (ok) {
        ok = imap_check(&m, out, level) ||
             (imap_gather_digits(&m, count, out->sums) && imap_check(&m, out, level));
        out->failed_index = m.failed_index;
    }
    end(&m, saved);
    out->reason = ok ? NULL : m.reason ? m.reason : "out of memory";
    return ok;
}

/* ---- expressions ---- */

static bool add_sum_value(hone_arith *a, const hone_iter_sum *sum, hone_dtype dtype,
                          arith_sum *out);

/* The number of a source: the loop counted from 0, or the fused sum. */
static bool source_value(hone_arith *a, const hone_iter_source *source, hone_dtype dtype,
                         arith_sum *out) {
    arith_sum_init(out);
    if (source->is_fused) return add_sum_value(a, &source->sum, dtype, out);
    const hone_expr *var = source->var_expr;
    if (!var) var = hone_expr_var(&a->ir, source->extent->dtype, source->var);
    arith_flatten(a, out, var, 1);
    arith_sum_add_expr(a, out, source->min, -1);
    return arith_sum_finish(a, out);
}

static bool sum_of_expr(hone_arith *a, arith_sum *s, const hone_expr *e) {
    arith_sum_init(s);
    arith_sum_add_expr(a, s, e, 1);
    return arith_sum_finish(a, s);
}

static bool at_top(hone_arith *a, const hone_iter_split *split) {
    const hone_expr *end = hone_expr_mul(&a->ir, split->lower, split->extent);
    return end && hone_prove_less_equal(a, split->source->extent, end);
}

static bool split_value(hone_arith *a, const hone_iter_split *split, hone_dtype dtype,
                        arith_sum *out) {
    arith_sum x, divisor, quotient;
    if (!source_value(a, split->source, dtype, &x)) return false;
    arith_sum_init(&quotient);
    if (imap_is_one(split->lower)) {
        arith_sum_add_sum(a, &quotient, &x, 1);
    } else if (!sum_of_expr(a, &divisor, split->lower) ||
               !arith_divmod(a, &x, &divisor, false, dtype, &quotient)) {
        return false;
    }
    if (!arith_sum_finish(a, &quotient)) return false;
    arith_sum_init(out);
    if (at_top(a, split)) {
        arith_sum_add_sum(a, out, &quotient, 1);
        return arith_sum_finish(a, out);
    }
    return sum_of_expr(a, &divisor, split->extent) &&
           arith_divmod(a, &quotient, &divisor, true, dtype, out);
}

static bool add_sum_value(hone_arith *a, const hone_iter_sum *sum, hone_dtype dtype,
                          arith_sum *out) {
    if (sum->base) arith_sum_add_expr(a, out, sum->base, 1);
    for (uint32_t i = 0; i < sum->count; i++) {
        arith_sum value, scale;
        if (!split_value(a, &sum->splits[i], dtype, &value)) return false;
        if (!sum_of_expr(a, &scale, sum->splits[i].scale)) return false;
        if (!arith_sum_add_product(a, out, &value, &scale, 1)) return false;
    }
    return arith_sum_finish(a, out);
}

const hone_expr *hone_iter_sum_expr(hone_arith *arith, const hone_iter_sum *sum, hone_dtype dtype) {
    arith_sum s;
    arith_sum_init(&s);
    arith->fuel = ARITH_FUEL;
    if (!add_sum_value(arith, sum, dtype, &s)) return NULL;
    return arith_sum_expr(arith, &s, dtype, NULL);
}

bool hone_itermap_is_injective(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                               uint32_t iter_count, const hone_iter *iters) {
    hone_itermap map;
    return hone_itermap_detect(arith, count, indices, iter_count, iters, NULL,
                               HONE_ITERMAP_INJECTIVE, true, &map);
}

void hone_itermap_simplify(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                           uint32_t iter_count, const hone_iter *iters, const hone_expr *predicate,
                           const hone_expr **out) {
    hone_itermap map;
    bool ok = hone_itermap_detect(arith, count, indices, iter_count, iters, predicate,
                                  HONE_ITERMAP_NONE, !arith->keeps_units, &map);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = ok ? hone_iter_sum_expr(arith, &map.sums[i], indices[i]->dtype) : NULL;
        if (!out[i]) out[i] = hone_simplify(arith, indices[i]);
    }
}
