/* ir/region/relation_disjoint.c - do two points of an access relation touch disjoint elements?
 * Proofs that they do, and a search for two that do not. */
#include "ir/region/relation.h"

#include "ir/region/region_impl.h"

enum { MOST_ACCESSES = 16, MOST_LOOPS = 32, MOST_INDICES = 16, MOST_VALUES = 64 };

/* ---- points that differ in iterators of which the boxes are an injective map ---- */

/* The map that is asked about, and the iterators that were added to it. */
typedef struct injection {
    const hone_relation *rel;
    const hone_expr **indices;
    hone_iter *iters;
    uint32_t iter_count;
    hone_var next; /* a variable that nobody knows yet */
} injection;

/* Where the accesses lie behind the first of them: 0, step, 2 * step, …, count of them. */
typedef struct steps {
    int64_t first, step, count;
} steps;

static bool find_distances(const hone_relation *rel, uint32_t d, int64_t *at) {
    hone_arith *arith = rel->arith;
    const hone_expr *base = rel->accesses[0].mins[d];
    for (uint32_t i = 0; i < rel->count; i++) {
        const hone_expr *min = rel->accesses[i].mins[d];
        at[i] = 0;
        if (hone_expr_same(min, base)) continue;
        const hone_expr *distance = hone_simplify(arith, hone_expr_sub(&arith->ir, min, base));
        if (!distance || !hone_expr_is_int(distance)) return false;
        at[i] = distance->u.i;
        if (at[i] > INT32_MAX || at[i] < -INT32_MAX) return false;
    }
    return true;
}

static bool find_steps(const hone_relation *rel, uint32_t d, steps *out) {
    int64_t at[MOST_ACCESSES], last = 0;
    *out = (steps){0, 0, 1};
    if (!find_distances(rel, d, at)) return false;
    for (uint32_t i = 0; i < rel->count; i++) {
        if (at[i] < out->first) out->first = at[i];
        if (at[i] > last) last = at[i];
    }
    for (uint32_t i = 0; i < rel->count; i++) {
        int64_t behind = at[i] - out->first;
        if (behind > 0 && (out->step == 0 || behind < out->step)) out->step = behind;
    }
    for (uint32_t i = 0; i < rel->count; i++) {
        if (out->step > 0 && (at[i] - out->first) % out->step != 0) return false;
    }
    if (out->step > 0) out->count = (last - out->first) / out->step + 1;
    return true;
}

/* All accesses have one known length in the dimension; 0: they have not. */
static int64_t common_extent(const hone_relation *rel, uint32_t d) {
    int64_t extent = rel->accesses[0].extents[d];
    for (uint32_t i = 0; i < rel->count; i++) {
        if (!rel->accesses[i].mins[d] || rel->accesses[i].extents[d] != extent) return 0;
    }
    return extent;
}

/* The number of a box among those of its length, which begin at multiples of it and, all of them,
 * as far behind these. NULL: they do not. */
static const hone_expr *box_number(const hone_relation *rel, const hone_expr *min, int64_t extent) {
    hone_arith *arith = rel->arith;
    if (extent == 1) return min;
    hone_modular at = hone_arith_modular(arith, min);
    if (at.coeff % extent != 0) return NULL;
    const hone_expr *by = hone_expr_int(&arith->ir, min->dtype, extent);
    return hone_simplify(arith, hone_expr_floordiv(&arith->ir, min, by));
}

/* index + first + step * u, with a new iterator u; NULL where memory is short. */
static const hone_expr *with_steps(injection *in, const hone_expr *index, const steps *by) {
    hone_ir *ir = &in->rel->arith->ir;
    hone_range range = {hone_expr_int(ir, index->dtype, 0),
                        hone_expr_int(ir, index->dtype, by->count)};
    hone_var var = in->next++;
    if (!range.min || !range.extent || !hone_arith_bind(in->rel->arith, var, range)) return NULL;
    in->iters[in->iter_count++] = (hone_iter){var, range};
    const hone_expr *step = hone_expr_mul(ir, hone_expr_var(ir, index->dtype, var),
                                          hone_expr_int(ir, index->dtype, by->step));
    step = hone_expr_add(ir, step, hone_expr_int(ir, index->dtype, by->first));
    return hone_expr_add(ir, index, step);
}

/* The index of all accesses together; 0 where the dimension tells nothing; NULL where memory is
 * short. */
static const hone_expr *index_in(injection *in, uint32_t d) {
    const hone_relation *rel = in->rel;
    const hone_expr *min = rel->accesses[0].mins[d], *index = NULL;
    hone_dtype dtype = min ? min->dtype : HONE_DTYPE_I32;
    int64_t extent = common_extent(rel, d);
    steps by;
    if (extent > 0 && find_steps(rel, d, &by)) {
        if (by.step == 0) index = box_number(rel, min, extent);
        if (by.step > 0 && extent == 1) index = with_steps(in, min, &by);
    }
    return index ? index : hone_expr_int(&rel->arith->ir, dtype, 0);
}

bool hone_is_injective(const hone_relation *rel, uint32_t iter_count, const hone_iter *iters) {
    hone_arith *arith = rel->arith;
    uint32_t rank = hone_func_buffer(rel->func, rel->buffer)->rank, known = arith->count;
    if (rel->count == 0) return !rel->is_short_of_memory;
    injection in = {.rel = rel, .iter_count = iter_count};
    in.next = known > rel->func->var_count ? known : rel->func->var_count;
    in.indices = region_alloc(arith, (rank + 1) * sizeof *in.indices);
    in.iters = region_alloc(arith, (iter_count + rank + 1) * sizeof *in.iters);
    bool is_known =
        in.indices && in.iters && rel->count <= MOST_ACCESSES && !rel->is_short_of_memory;
    for (uint32_t i = 0; is_known && i < iter_count; i++)
        in.iters[i] = iters[i];
    for (uint32_t d = 0; is_known && d < rank; d++) {
        in.indices[d] = index_in(&in, d);
        is_known = in.indices[d] != NULL;
    }
    is_known =
        is_known && hone_itermap_is_injective(arith, rank, in.indices, in.iter_count, in.iters);
    arith->count = known;
    return is_known;
}

/* ---- points that differ in one loop, while the others run ---- */

/* Indices that are the same for all accesses, and the loops that they use. */
typedef struct joint_map {
    const hone_relation *rel;
    uint32_t count, iter_count;
    const hone_expr *indices[MOST_INDICES];
    hone_iter iters[MOST_LOOPS];
} joint_map;

static bool uses_iters(const joint_map *t, const hone_expr *index) {
    for (uint32_t i = 0; i < t->iter_count; i++) {
        if (hone_expr_uses_var(index, t->iters[i].var)) return true;
    }
    return false;
}

/* Adds the loops that the index uses, each once; false: too many. */
static bool add_iters(joint_map *t, const hone_expr *index) {
    for (uint32_t i = 0; i < t->rel->loop_count; i++) {
        const hone_node *loop = hone_func_node(t->rel->func, t->rel->loops[i]);
        bool is_new = hone_expr_uses_var(index, loop->u.loop.var);
        for (uint32_t k = 0; k < t->iter_count && is_new; k++)
            is_new = t->iters[k].var != loop->u.loop.var;
        if (is_new && t->iter_count == MOST_LOOPS) return false;
        if (is_new) t->iters[t->iter_count++] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
    return true;
}

static bool is_injective_map(const joint_map *t) {
    return hone_itermap_is_injective(t->rel->arith, t->count, t->indices, t->iter_count, t->iters);
}

/* The one index of all accesses in the dimension, or NULL. */
static const hone_expr *common_index(const hone_relation *rel, uint32_t d) {
    const hone_expr *first = rel->accesses[0].mins[d];
    if (common_extent(rel, d) != 1) return NULL;
    for (uint32_t i = 1; i < rel->count; i++) {
        const hone_expr *other = rel->accesses[i].mins[d];
        if (hone_expr_same(first, other)) continue;
        first = hone_simplify(rel->arith, first);
        other = hone_simplify(rel->arith, other);
        if (!first || !other || !hone_expr_same(first, other)) return NULL;
    }
    return first;
}

/* One index alone. */
static bool is_injective_alone(const hone_relation *rel, const hone_expr *index, hone_var var) {
    if (index->kind == HONE_EXPR_VAR) return index->u.var == var;
    joint_map t = {.rel = rel, .count = 1, .indices = {index}};
    return hone_expr_uses_var(index, var) && add_iters(&t, index) && is_injective_map(&t);
}

/* All indices that share loops with those of the loop: f0*2 + f1//8 with f1 % 8. */
static bool are_injective_together(const hone_relation *rel, const joint_map *all,
                                   hone_node_id loop) {
    bool is_taken[MOST_INDICES] = {false};
    const hone_node *self = hone_func_node(rel->func, loop);
    joint_map t = {.rel = rel, .iter_count = 1};
    t.iters[0] = (hone_iter){self->u.loop.var, self->u.loop.range};
    for (uint32_t i = 0; i < all->count;) {
        if (is_taken[i] || !uses_iters(&t, all->indices[i])) {
            i++;
            continue;
        }
        is_taken[i] = true;
        t.indices[t.count++] = all->indices[i];
        if (!add_iters(&t, all->indices[i])) return false;
        i = 0;
    }
    return t.count > 1 && is_injective_map(&t);
}

bool hone_is_injective_in(const hone_relation *rel, hone_node_id loop) {
    hone_var var = hone_func_node(rel->func, loop)->u.loop.var;
    joint_map all = {.rel = rel};
    if (rel->count == 0 || rel->is_short_of_memory) return !rel->is_short_of_memory;
    for (uint32_t d = 0; d < rel->accesses[0].rank && all.count < MOST_INDICES; d++) {
        const hone_expr *index = common_index(rel, d);
        if (!index) continue;
        all.indices[all.count++] = index;
    }
    for (uint32_t i = 0; i < all.count; i++) {
        if (is_injective_alone(rel, all.indices[i], var)) return true;
    }
    return are_injective_together(rel, &all, loop);
}

/* ---- boxes that lie one behind the other ---- */

/* By variable: the loops that run, which are all, or (loop) those that are not around it. NULL:
 * memory is short. */
static bool *mark_running(const hone_relation *rel, hone_node_id loop) {
    bool *runs = region_alloc(rel->arith, (rel->func->var_count + 1) * sizeof *runs);
    for (uint32_t i = 0; runs && i < rel->loop_count; i++) {
        bool is_outside =
            loop != HONE_NO_ID &&
            (rel->loops[i] == loop || hone_tree_is_ancestor(rel->func, rel->loops[i], loop));
        runs[hone_func_node(rel->func, rel->loops[i])->u.loop.var] = !is_outside;
    }
    return runs;
}

/* All that the accesses touch in the dimension while the marked loops run; false: not known. */
static bool reach_in(const hone_relation *rel, uint32_t d, const bool *runs, hone_interval *out) {
    hone_arith *arith = rel->arith;
    *out = (hone_interval){NULL, NULL};
    for (uint32_t i = 0; i < rel->count; i++) {
        const hone_expr *min = rel->accesses[i].mins[d];
        if (!min) return false;
        min = hone_simplify(arith, min);
        if (!min) return false;
        hone_interval one = hone_arith_relax(arith, min, runs, rel->func->var_count, NULL);
        if (!one.min || !one.max) return false;
        const hone_expr *more =
            hone_expr_int(&arith->ir, min->dtype, rel->accesses[i].extents[d] - 1);
        one.max = hone_expr_add(&arith->ir, one.max, more);
        *out = out->min ? hone_interval_union(arith, *out, one) : one;
        if (!out->min || !out->max) return false;
    }
    return out->min != NULL;
}

/* Does all that is touched in an iteration lie behind, or in front of, all that is in those before?
 * It does so in the next one, and no later one begins before that. A failed proof is dear: which of
 * the two it could be the coefficient of the loop tells; where there is none, loops go upwards. */
static bool moves_on(const hone_relation *rel, hone_node_id loop) {
    hone_arith *arith = rel->arith;
    hone_var var = hone_func_node(rel->func, loop)->u.loop.var;
    hone_dtype dtype = rel->func->vars[var].dtype;
    const bool *runs = mark_running(rel, loop);
    const hone_expr *next = hone_expr_add(&arith->ir, hone_expr_var(&arith->ir, dtype, var),
                                          hone_expr_int(&arith->ir, dtype, 1));
    for (uint32_t d = 0; runs && next && d < rel->accesses[0].rank; d++) {
        hone_interval now;
        int64_t step;
        if (!reach_in(rel, d, runs, &now)) continue;
        bool is_linear = hone_linear_coeff(arith, now.min, var, &step);
        const hone_expr *low = hone_expr_substitute_one(&arith->ir, now.min, var, next);
        const hone_expr *high = hone_expr_substitute_one(&arith->ir, now.max, var, next);
        if (!low || !high) return false;
        if ((!is_linear || step > 0) && hone_prove_less(arith, now.max, low))
            return hone_prove_less_equal(arith, now.min, low);
        if (is_linear && step < 0 && hone_prove_less(arith, high, now.min))
            return hone_prove_less_equal(arith, high, now.max);
    }
    return false;
}

bool hone_carries_no_dependence(const hone_relation *rel, hone_node_id loop) {
    if (hone_expr_is_int_value(hone_func_node(rel->func, loop)->u.loop.range.extent, 1))
        return true;
    if (rel->count == 0 || rel->is_short_of_memory) return !rel->is_short_of_memory;
    return moves_on(rel, loop) || hone_is_injective_in(rel, loop);
}

bool hone_is_disjoint(const hone_relation *a, const hone_relation *b) {
    const bool *a_runs = mark_running(a, HONE_NO_ID), *b_runs = mark_running(b, HONE_NO_ID);
    if (!a_runs || !b_runs || a->is_short_of_memory || b->is_short_of_memory) return false;
    for (uint32_t d = 0; d < hone_func_buffer(a->func, a->buffer)->rank; d++) {
        hone_interval one, other;
        if (!reach_in(a, d, a_runs, &one) || !reach_in(b, d, b_runs, &other)) continue;
        if (hone_prove_disjoint(a->arith, one, other)) return true;
    }
    return false;
}

/* ---- counter-examples ---- */

/* Where the one element is in the dimension, for the k-th value of the iterator. */
static const hone_expr *place_at(const hone_relation *rel, uint32_t d, const hone_iter *iter,
                                 const hone_expr *const *at, int64_t k) {
    hone_arith *arith = rel->arith;
    const hone_expr *min = rel->accesses[0].mins[d];
    const hone_expr *value =
        hone_expr_int(&arith->ir, iter->range.min->dtype, iter->range.min->u.i + k);
    if (!min || !value) return NULL;
    min = hone_expr_substitute_one(&arith->ir, min, iter->var, value);
    if (at) min = hone_expr_substitute(&arith->ir, min, at, rel->func->var_count);
    return hone_simplify(arith, min);
}

/* Both are one element, whatever is still open in them. */
static bool is_one_place(const hone_expr *const *a, const hone_expr *const *b, uint32_t rank) {
    for (uint32_t d = 0; d < rank; d++) {
        if (!a[d] || !b[d] || !hone_expr_same(a[d], b[d])) return false;
    }
    return true;
}

bool hone_find_overlap(const hone_relation *a, const hone_relation *b, const hone_iter *iter,
                       const hone_expr *const *at, int64_t *out_p, int64_t *out_q) {
    const hone_expr *one[MOST_VALUES][MOST_INDICES], *other[MOST_VALUES][MOST_INDICES];
    uint32_t rank = hone_func_buffer(a->func, a->buffer)->rank;
    int64_t first = hone_expr_const(iter->range.min), count = hone_expr_const(iter->range.extent);
    if (a->is_short_of_memory || b->is_short_of_memory || rank > MOST_INDICES) return false;
    assert(a->count == 1 && b->count == 1 && hone_expr_is_int(iter->range.min));
    for (int64_t k = 0; k < count && k < MOST_VALUES; k++) {
        for (uint32_t d = 0; d < rank; d++) {
            one[k][d] = place_at(a, d, iter, at, k);
            other[k][d] = place_at(b, d, iter, at, k);
        }
        for (int64_t i = 0; i < k; i++) {
            bool is_before = is_one_place(one[i], other[k], rank);
            if (!is_before && !is_one_place(one[k], other[i], rank)) continue;
            *out_p = first + (is_before ? i : k);
            *out_q = first + (is_before ? k : i);
            return true;
        }
    }
    return false;
}
