/* ir/region/region_joint.c - the box that a block touches where its dimensions share loops.
 *
 * C[f // 4, f % 4] touches all of a box although both indices run with f: the iterator map of the
 * indices says so. It is asked when looking at one dimension at a time did not help.
 */
#include "ir/arith/itermap.h"
#include "ir/region/region_impl.h"

typedef struct joint {
    hone_arith *arith;
    const region_access *access;
    uint32_t rank;
    const hone_expr **indices; /* of boxes side by side, where an extent is not 1: their numbers */
    const hone_expr *predicate, *beside; /* on what indexes, and on what does not */
} joint;

static bool runs(const joint *j, const hone_expr *e) {
    return hone_expr_uses_any(e, j->access->relax, j->access->relax_count);
}

/* Loops and indices of one nest have one type. */
static hone_dtype dtype_of(const joint *j) {
    return j->rank ? j->indices[0]->dtype : HONE_DTYPE_I32;
}

/* Indices over the loops; false when an index is not a number of a box of constant size. */
static bool read_indices(joint *j) {
    hone_ir *ir = &j->arith->ir;
    for (uint32_t d = 0; d < j->rank; d++) {
        const hone_range *range = &j->access->region->ranges[d];
        if (!hone_expr_is_pure_index(range->min) || !hone_expr_is_int(range->extent)) return false;
        const hone_expr *index =
            hone_expr_substitute(ir, range->min, j->access->map, j->access->map_count);
        if (!index) return false;
        if (!hone_expr_is_int_value(range->extent, 1)) {
            const hone_expr *rest = hone_expr_floormod(ir, index, range->extent);
            if (range->extent->u.i < 1 || !rest ||
                !hone_prove_equal(j->arith, rest, hone_expr_int(ir, index->dtype, 0))) {
                return false;
            }
            index = hone_simplify(j->arith, hone_expr_floordiv(ir, index, range->extent));
        }
        if (!index) return false;
        j->indices[d] = index;
    }
    return true;
}

static bool is_beside_indices(const joint *j, const hone_expr *e) {
    for (uint32_t v = 0; v < j->access->relax_count; v++) {
        if (!j->access->relax[v] || !hone_expr_uses_var(e, (hone_var)v)) continue;
        for (uint32_t d = 0; d < j->rank; d++) {
            if (hone_expr_uses_var(j->indices[d], (hone_var)v)) return false;
        }
    }
    return true;
}

/* A condition on loops that index nothing: the elements are touched where those loops begin. */
static bool holds_at_begin(const joint *j, const hone_expr *e) {
    for (uint32_t v = 0; v < j->access->relax_count; v++) {
        if (!j->access->relax[v] || !hone_expr_uses_var(e, (hone_var)v)) continue;
        hone_range range;
        if (!hone_arith_range_of(j->arith, (hone_var)v, dtype_of(j), &range)) return false;
        e = hone_expr_substitute_one(&j->arith->ir, e, (hone_var)v, range.min);
        if (!e) return false;
    }
    return hone_prove(j->arith, e);
}

static bool add_condition(const joint *j, const hone_expr *e, const hone_expr **io) {
    *io = *io ? hone_expr_binary(&j->arith->ir, HONE_OP_AND, *io, e) : e;
    return *io != NULL;
}

/* False where a condition may leave out the whole piece. */
static bool read_conditions(joint *j, const hone_expr *e) {
    if (!e || hone_expr_is_int_value(e, 1)) return true;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        return read_conditions(j, e->args[0]) && read_conditions(j, e->args[1]);
    }
    if (!runs(j, e)) return hone_prove(j->arith, e);
    if (!is_beside_indices(j, e)) return add_condition(j, e, &j->predicate);
    return holds_at_begin(j, e) && add_condition(j, e, &j->beside);
}

/* The conditions that cut the indices; false where one may leave out the whole piece, or cut it
 * where loops that index nothing do not begin. */
static bool read_predicate(joint *j, const hone_expr *e) {
    if (!read_conditions(j, e)) return false;
    for (uint32_t v = 0; j->predicate && j->beside && v < j->access->relax_count; v++) {
        if (j->access->relax[v] && hone_expr_uses_var(j->predicate, (hone_var)v) &&
            hone_expr_uses_var(j->beside, (hone_var)v))
            return false;
    }
    return true;
}

static bool is_used(const joint *j, hone_var var) {
    if (j->predicate && hone_expr_uses_var(j->predicate, var)) return true;
    for (uint32_t d = 0; d < j->rank; d++) {
        if (hone_expr_uses_var(j->indices[d], var)) return true;
    }
    return false;
}

static bool read_loops(const joint *j, uint32_t *out_count, hone_iter **out) {
    *out_count = 0;
    *out = hone_arena_alloc(j->arith->ir.arena, (j->access->relax_count + 1) * sizeof **out);
    if (!*out) return false;
    for (uint32_t v = 0; v < j->access->relax_count; v++) {
        if (!j->access->relax[v] || !is_used(j, (hone_var)v)) continue;
        hone_range range;
        if (!hone_arith_range_of(j->arith, (hone_var)v, dtype_of(j), &range)) return false;
        if (runs(j, range.min) || runs(j, range.extent)) return false;
        (*out)[(*out_count)++] = (hone_iter){(hone_var)v, range};
    }
    return true;
}

/* [base, base + the number of values) of one index, times the size of its boxes. */
static bool interval_of(const joint *j, uint32_t d, const hone_iter_sum *sum, hone_interval *out) {
    hone_ir *ir = &j->arith->ir;
    const hone_expr *size = j->access->region->ranges[d].extent;
    hone_dtype dtype = j->indices[d]->dtype;
    const hone_expr *one = hone_expr_int(ir, dtype, 1), *count = one;
    if (sum->count) {
        count = hone_expr_mul(ir, hone_expr_cast(ir, dtype, sum->splits[0].scale),
                              hone_expr_cast(ir, dtype, sum->splits[0].extent));
    }
    size = hone_expr_cast(ir, dtype, size);
    const hone_expr *base = hone_expr_mul(ir, hone_expr_cast(ir, dtype, sum->base), size);
    const hone_expr *last = hone_expr_sub(ir, hone_expr_mul(ir, count, size), one);
    *out = (hone_interval){hone_simplify(j->arith, base),
                           hone_simplify(j->arith, hone_expr_add(ir, base, last))};
    return out->min && out->max;
}

/* ---- digits of one number ----
 *
 * Simplifying takes out of a dividend, and of a condition, what no digit needs, with f2 below 4:
 *   (f0 * 32 + f1) // 12, (f0 * 128 + f1 * 4 + f2) % 48    the first is that number // 48
 *   f0 * 32 + f1 < 24, f0 * 16 + (f1 * 4 + f2) // 8        f0 * 128 + f1 * 4 + f2 < 96
 */

enum { MOST_NUMBERS = 16 };

typedef struct numbers {
    const joint *joint;
    const hone_expr *items[MOST_NUMBERS]; /* of which digits are taken */
    uint32_t count;
    bool is_changed;
} numbers;

static bool note_number(void *ctx, const hone_expr *e) {
    numbers *n = ctx;
    if (hone_expr_is_divmod(e) && n->count < MOST_NUMBERS) n->items[n->count++] = e->args[0];
    return true;
}

/* The terms of a form that another one has too. */
static bool shared_terms(const joint *j, const hone_linear *form, const hone_linear *other,
                         hone_linear *out) {
    hone_linear_term *terms =
        hone_arena_alloc(j->arith->ir.arena, (form->count + 1) * sizeof *terms);
    *out = (hone_linear){.terms = terms};
    for (uint32_t i = 0; terms && i < form->count; i++) {
        for (uint32_t k = 0; k < other->count; k++) {
            if (hone_expr_same(form->terms[i].term, other->terms[k].term))
                terms[out->count++] = form->terms[i];
        }
    }
    return terms != NULL;
}

/* c where the number is part * c + more, which is from 0 to c - 1; 0: it is not. may_lack: the
 * number need not have all terms of part. */
static int64_t times_of(const joint *j, const hone_expr *part, const hone_expr *number,
                        bool may_lack, const hone_expr **out_more) {
    hone_linear all, a, whole, rest;
    if (!hone_dtype_equal(part->dtype, number->dtype) || !hone_linear_of(j->arith, part, &all) ||
        !hone_linear_of(j->arith, number, &whole))
        return 0;
    a = all;
    if (may_lack && !shared_terms(j, &all, &whole, &a)) return 0;
    int64_t c = region_shared_ratio(&whole, &a, j->access->relax, j->access->relax_count);
    if (c < 2 || !region_linear_minus(j->arith, &whole, c, &a, &rest)) return 0;
    *out_more = hone_linear_expr(j->arith, &rest, number->dtype);
    if (!*out_more) return 0;
    hone_bound bound = hone_arith_bound(j->arith, *out_more);
    return bound.min >= 0 && bound.max < c ? c : 0;
}

static const hone_expr *widen_dividend(void *ctx, hone_ir *ir, const hone_expr *e) {
    numbers *n = ctx;
    const hone_expr *ignored;
    int64_t by = hone_expr_is_op(e, HONE_OP_FLOORDIV) ? hone_expr_const(e->args[1]) : -1, whole;
    for (uint32_t i = 0; by > 0 && i < n->count; i++) {
        int64_t c = times_of(n->joint, e->args[0], n->items[i], false, &ignored);
        if (c == 0 || __builtin_mul_overflow(by, c, &whole) || whole > INT32_MAX) continue;
        n->is_changed = true;
        return hone_expr_floordiv(ir, n->items[i], hone_expr_int(ir, e->dtype, whole));
    }
    return e;
}

/* part < 24 as part * c + more < 24 * c. */
static const hone_expr *widen_condition(void *ctx, hone_ir *ir, const hone_expr *e) {
    numbers *n = ctx;
    const hone_expr *more;
    bool is_bound = hone_expr_is_op(e, HONE_OP_LT) || hone_expr_is_op(e, HONE_OP_GE);
    int64_t end;
    for (uint32_t i = 0; is_bound && hone_expr_is_int(e->args[1]) && i < n->count; i++) {
        const hone_expr *part = e->args[0];
        int64_t c = times_of(n->joint, part, n->items[i], true, &more);
        if (c == 0 || __builtin_mul_overflow(e->args[1]->u.i, c, &end) || end > INT32_MAX) continue;
        n->is_changed = true;
        const hone_expr *times = hone_expr_mul(ir, part, hone_expr_int(ir, part->dtype, c));
        return hone_expr_binary(ir, (hone_op)e->op, hone_expr_add(ir, times, more),
                                hone_expr_int(ir, part->dtype, end));
    }
    return e;
}

/* All digits as such of the longest numbers, and conditions as of those; false where none is
 * changed. */
static bool widen_digits(joint *j) {
    numbers n = {.joint = j};
    for (uint32_t d = 0; d < j->rank; d++)
        hone_expr_walk(j->indices[d], note_number, &n);
    for (uint32_t d = 0; d < j->rank && n.count > 1; d++) {
        j->indices[d] = hone_expr_transform(&j->arith->ir, j->indices[d], widen_dividend, &n);
        if (!j->indices[d]) return false;
    }
    if (j->predicate && n.count > 0) {
        j->predicate = hone_expr_transform(&j->arith->ir, j->predicate, widen_condition, &n);
        if (!j->predicate) return false;
    }
    return n.is_changed;
}

static bool find_map(const joint *j, hone_itermap *out) {
    uint32_t count;
    hone_iter *loops;
    return read_loops(j, &count, &loops) &&
           hone_itermap_detect(j->arith, j->rank, j->indices, count, loops, j->predicate,
                               HONE_ITERMAP_SURJECTIVE, true, out);
}

bool region_joint_box(hone_arith *arith, const region_access *access, uint32_t rank,
                      const hone_expr *predicate, hone_interval *out) {
    joint j = {.arith = arith, .access = access, .rank = rank};
    hone_itermap map;
    j.indices = hone_arena_alloc(arith->ir.arena, (rank + 1) * sizeof *j.indices);
    if (!j.indices || !read_indices(&j) || !read_predicate(&j, predicate)) return false;
    if (!find_map(&j, &map) && !(widen_digits(&j) && find_map(&j, &map))) return false;
    for (uint32_t d = 0; d < rank; d++) {
        if (!interval_of(&j, d, &map.sums[d], &out[d])) return false;
    }
    return true;
}

/* The number of an element, row by row; NULL where an index is a box or may leave its row. */
static const hone_expr *number_of_element(joint *j, const hone_buffer_info *buffer) {
    hone_ir *ir = &j->arith->ir;
    const hone_expr *number = NULL;
    for (uint32_t d = 0; d < j->rank; d++) {
        const hone_range *range = &j->access->region->ranges[d];
        int64_t size = hone_expr_const(buffer->shape[d]);
        hone_bound bound = hone_arith_bound(j->arith, j->indices[d]);
        bool is_in_row = d == 0 || (bound.min >= 0 && bound.max < size);
        if (size < 1 || !is_in_row || !hone_expr_is_int_value(range->extent, 1)) return NULL;
        const hone_expr *row = hone_expr_int(ir, j->indices[d]->dtype, size);
        number =
            d ? hone_expr_add(ir, hone_expr_mul(ir, number, row), j->indices[d]) : j->indices[d];
    }
    return number ? hone_simplify(j->arith, number) : NULL;
}

bool region_is_whole_by_rows(hone_arith *arith, const region_access *access,
                             const hone_buffer_info *buffer, const hone_expr *predicate) {
    joint j = {.arith = arith, .access = access, .rank = buffer->rank};
    hone_itermap map;
    uint32_t loop_count;
    hone_iter *loops;
    int64_t size = 1;
    j.indices = hone_arena_alloc(arith->ir.arena, (j.rank + 1) * sizeof *j.indices);
    if (!j.rank || !predicate || !j.indices || !read_indices(&j)) return false;
    const hone_expr *number = number_of_element(&j, buffer);
    if (!number || !read_loops(&j, &loop_count, &loops) ||
        !hone_itermap_detect(arith, 1, &number, loop_count, loops, NULL, HONE_ITERMAP_SURJECTIVE,
                             true, &map) ||
        !hone_expr_is_int_value(map.sums[0].base, 0) || !map.sums[0].count) {
        return false;
    }
    for (uint32_t d = 0; d < j.rank; d++) {
        if (__builtin_mul_overflow(size, buffer->shape[d]->u.i, &size)) return false;
    }
    int64_t scale = hone_expr_const(map.sums[0].splits[0].scale);
    int64_t extent = hone_expr_const(map.sums[0].splits[0].extent), values;
    if (scale < 1 || extent < 1 || __builtin_mul_overflow(scale, extent, &values)) return false;
    const hone_expr *end = hone_expr_int(&arith->ir, number->dtype, size);
    const hone_expr *is_inside = hone_expr_binary(&arith->ir, HONE_OP_LT, number, end);
    if (values < size || !is_inside) return false;
    uint32_t mark = hone_arith_push(arith, is_inside);
    bool holds = hone_prove(arith, predicate);
    hone_arith_pop(arith, mark);
    return holds;
}
