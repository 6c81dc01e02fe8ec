/* schedule/primitive/move/move_domain.c - boxes below a loop, and the axes of a block solved for
 * them. */
#include "schedule/primitive/move/move_domain.h"

#include "ir/region/region.h"
#include "schedule/primitive/move/move_inverse.h"
#include "schedule/state/instance_order.h"

/* ---- solving one index for one axis ---- */

/* What one dimension says of an axis: low <= axis <= high; NULL = nothing. */
typedef struct hint {
    hone_interval dom;
    bool is_solved; /* the index depends on this axis alone and was inverted */
} hint;

static const hone_expr *constant(hone_schedule *sch, hone_dtype dtype, int64_t value) {
    return hone_expr_int(&sch->ir, dtype, value);
}

/* (e + add) // by, simplified */
static const hone_expr *shifted_div(hone_schedule *sch, const hone_expr *e, int64_t add,
                                    int64_t by) {
    if (!e) return NULL;
    if (add) e = hone_expr_add(&sch->ir, e, constant(sch, e->dtype, add));
    if (by != 1 && e) e = hone_expr_floordiv(&sch->ir, e, constant(sch, e->dtype, by));
    return hone_simplify(&sch->arith, e);
}

/* index = axis * coeff + offset stands for [index, index + extent): the axis values whose elements
 * touch the box (to make all of it), or lie inside it (to use nothing else). */
static hint invert_linear(hone_schedule *sch, int64_t coeff, int64_t offset, int64_t extent,
                          bool inside, hone_interval box) {
    hint h = {.is_solved = true};
    int64_t slack = extent - 1;
    h.dom.min = shifted_div(sch, box.min, coeff - 1 - offset - (inside ? 0 : slack), coeff);
    h.dom.max = shifted_div(sch, box.max, -offset - (inside ? slack : 0), coeff);
    return h;
}

/* invert_linear of an axis that runs backwards: index = offset - axis * by. */
static hint invert_backwards(hone_schedule *sch, int64_t by, int64_t offset, int64_t extent,
                             bool inside, hone_interval box) {
    hint h = {.is_solved = true};
    int64_t slack = extent - 1;
    hone_interval down = {NULL, NULL};
    if (box.max) {
        const hone_expr *zero = constant(sch, box.max->dtype, 0);
        down.min = hone_expr_sub(&sch->ir, zero, box.max);
    }
    if (box.min) {
        const hone_expr *zero = constant(sch, box.min->dtype, 0);
        down.max = hone_expr_sub(&sch->ir, zero, box.min);
    }
    h.dom.min = shifted_div(sch, down.min, by - 1 + offset + (inside ? slack : 0), by);
    h.dom.max = shifted_div(sch, down.max, offset + (inside ? 0 : slack), by);
    return h;
}

/* index = axis // by */
static hint invert_div(hone_schedule *sch, int64_t by, hone_interval box) {
    hint h = {.is_solved = true};
    if (box.min) {
        const hone_expr *scaled =
            hone_expr_mul(&sch->ir, box.min, constant(sch, box.min->dtype, by));
        h.dom.min = hone_simplify(&sch->arith, scaled);
    }
    if (box.max) {
        const hone_expr *scaled =
            hone_expr_mul(&sch->ir, box.max, constant(sch, box.max->dtype, by));
        h.dom.max = shifted_div(sch, scaled, by - 1, 1);
    }
    return h;
}

static hint solve_index(hone_schedule *sch, const hone_range *index, hone_var axis, bool inside,
                        hone_interval box) {
    int64_t extent = hone_expr_const(index->extent);
    const hone_expr *e = index->min;
    if (extent < 1) return (hint){.is_solved = false};
    if (e->kind == HONE_EXPR_VAR && e->u.var == axis) {
        return invert_linear(sch, 1, 0, extent, inside, box);
    }
    if (hone_expr_is_op(e, HONE_OP_FLOORDIV) && extent == 1 && e->args[0]->kind == HONE_EXPR_VAR &&
        e->args[0]->u.var == axis && hone_expr_const(e->args[1]) > 0) {
        return invert_div(sch, e->args[1]->u.i, box);
    }
    hone_linear linear;
    if (hone_linear_of(&sch->arith, e, &linear) && linear.count == 1 &&
        linear.terms[0].term->kind == HONE_EXPR_VAR && linear.terms[0].term->u.var == axis) {
        int64_t coeff = linear.terms[0].coeff;
        if (coeff > 0) return invert_linear(sch, coeff, linear.constant, extent, inside, box);
        if (coeff < 0 && coeff > -INT32_MAX) {
            return invert_backwards(sch, -coeff, linear.constant, extent, inside, box);
        }
    }
    return (hint){.is_solved = false};
}

/* ---- all axes ---- */

static bool uses_axis(const hone_range *range, hone_var var) {
    return hone_expr_uses_var(range->min, var) || hone_expr_uses_var(range->extent, var);
}

static hone_interval intersect(hone_schedule *sch, hone_interval a, hone_interval b) {
    return hone_interval_intersect(&sch->arith, a, b);
}

/* Takes clamps off an end: max(x, c) → x with x >= c wanted; the condition replaces the clamp, so
 * that bindings stay affine. */
static const hone_expr *unclamp(const hone_expr *e, hone_op clamp, const hone_expr **out_limit) {
    while (e && hone_expr_is_op(e, clamp)) {
        if (hone_expr_is_int(e->args[1])) {
            *out_limit = e->args[1];
            e = e->args[0];
        } else if (hone_expr_is_int(e->args[0])) {
            *out_limit = e->args[0];
            e = e->args[1];
        } else {
            return e;
        }
    }
    return e;
}

static const hone_expr *last_of(hone_schedule *sch, hone_range dom) {
    const hone_expr *end = hone_expr_add(&sch->ir, dom.min, dom.extent);
    return hone_simplify(&sch->arith,
                         hone_expr_sub(&sch->ir, end, constant(sch, dom.extent->dtype, 1)));
}

static void whole_domain(hone_range dom, sch_axis_domain *out) {
    *out = (sch_axis_domain){.low = dom.min, .extent = dom.extent};
}

static const hone_expr *in_dtype(hone_schedule *sch, const hone_expr *e, hone_dtype dtype) {
    return hone_simplify(&sch->arith, hone_expr_cast(&sch->ir, dtype, e));
}

/* The greater (MAX) or smaller (MIN) of two limits; the plain one where it is known which. */
static const hone_expr *stricter(hone_schedule *sch, hone_op op, const hone_expr *a,
                                 const hone_expr *b) {
    const hone_expr *low = op == HONE_OP_MAX ? b : a, *high = op == HONE_OP_MAX ? a : b;
    if (hone_prove_less_equal(&sch->arith, low, high)) return a;
    if (hone_prove_less_equal(&sch->arith, high, low)) return b;
    return hone_expr_binary(&sch->ir, op, a, b);
}

/* The smaller of several limits without those that nothing up to the last value reaches. */
static const hone_expr *without_kept(hone_schedule *sch, const hone_expr *limit,
                                     const hone_expr *last) {
    while (limit && hone_expr_is_op(limit, HONE_OP_MIN)) {
        const hone_expr *a = limit->args[0], *b = limit->args[1];
        if (hone_prove_less_equal(&sch->arith, last, a)) {
            limit = b;
        } else if (hone_prove_less_equal(&sch->arith, last, b)) {
            limit = a;
        } else {
            break;
        }
    }
    return limit;
}

/* Between constants, a limit is the end itself. */
static bool ends_sooner(hone_schedule *sch, const hone_expr *low, const hone_expr *extent,
                        const hone_expr *at_most, const hone_expr **out_extent) {
    int64_t count;
    if (!hone_expr_is_int(low) || !hone_expr_is_int(extent) || !hone_expr_is_int(at_most) ||
        __builtin_sub_overflow(at_most->u.i, low->u.i, &count) || count < 0 ||
        count >= extent->u.i) {
        return false;
    }
    *out_extent = constant(sch, extent->dtype, count + 1);
    return *out_extent != NULL;
}

/* Likewise at the start. */
static bool begins_later(hone_schedule *sch, const hone_expr **io_low, const hone_expr **io_extent,
                         const hone_expr *at_least) {
    int64_t skipped;
    const hone_expr *low = *io_low, *extent = *io_extent;
    if (!hone_expr_is_int(low) || !hone_expr_is_int(extent) || !hone_expr_is_int(at_least) ||
        __builtin_sub_overflow(at_least->u.i, low->u.i, &skipped) || skipped < 0 ||
        skipped >= extent->u.i) {
        return false;
    }
    *io_low = constant(sch, low->dtype, at_least->u.i);
    *io_extent = constant(sch, extent->dtype, extent->u.i - skipped);
    return *io_low != NULL && *io_extent != NULL;
}

/* From an interval to loop bounds: constant extent where one is known, conditions for the rest.
 * False when an end is unknown or no constant extent is: then the whole domain stands in out. */
static bool close_domain(hone_schedule *sch, hone_range dom, hone_interval need,
                         sch_axis_domain *out) {
    const hone_expr *at_least = NULL, *at_most = NULL;
    const hone_expr *low = unclamp(need.min, HONE_OP_MAX, &at_least);
    const hone_expr *high = unclamp(need.max, HONE_OP_MIN, &at_most);
    const hone_expr *last = last_of(sch, dom);
    whole_domain(dom, out);
    if (!low || !high || !last) return false;
    low = in_dtype(sch, low, dom.extent->dtype);
    high = in_dtype(sch, high, dom.extent->dtype);
    const hone_expr *one = constant(sch, dom.extent->dtype, 1);
    const hone_expr *span = hone_expr_sub(&sch->ir, high, low);
    span = hone_simplify(&sch->arith, hone_expr_add(&sch->ir, span, one));
    if (!span) return false;
    /* all of the domain, shown: simpler, and exact */
    if (!at_least && !at_most &&
        hone_prove_contains(&sch->arith, (hone_interval){low, high},
                            (hone_interval){dom.min, last})) {
        return true;
    }
    const hone_expr *extent = span;
    if (!hone_expr_is_int(span)) {
        hone_bound bound = hone_arith_bound(&sch->arith, span);
        if (at_most) {
            at_most = in_dtype(sch, at_most, dom.extent->dtype);
            high = stricter(sch, HONE_OP_MIN, high, at_most);
            const hone_expr *cut = hone_expr_sub(&sch->ir, at_most, low);
            cut = hone_simplify(&sch->arith, hone_expr_add(&sch->ir, cut, one));
            hone_bound least = hone_arith_bound(&sch->arith, cut);
            if (least.max >= 1 && least.max < bound.max) bound = least;
        }
        if (bound.max == HONE_BOUND_POS_INF || bound.max < 1) return false;
        bool is_longer = hone_expr_is_int(dom.extent) && bound.max > dom.extent->u.i &&
                         hone_prove_less_equal(&sch->arith, dom.min, low);
        extent = is_longer ? dom.extent : constant(sch, dom.extent->dtype, bound.max);
        const hone_expr *end = hone_expr_add(&sch->ir, low, extent);
        const hone_expr *reach = end ? hone_expr_sub(&sch->ir, end, one) : NULL;
        reach = reach ? hone_simplify(&sch->arith, reach) : NULL;
        if (!reach) return false;
        at_most = without_kept(sch, high, reach);
    }
    if (at_least) {
        at_least = stricter(sch, HONE_OP_MAX, at_least, dom.min);
    } else if (!hone_prove_less_equal(&sch->arith, dom.min, low)) {
        at_least = dom.min;
    }
    if (at_least && begins_later(sch, &low, &extent, at_least)) at_least = NULL;
    if (!low || !extent) return false;
    const hone_expr *end = hone_simplify(&sch->arith, hone_expr_add(&sch->ir, low, extent));
    if (!hone_prove_less_equal(&sch->arith, end, hone_expr_add(&sch->ir, last, one))) {
        at_most = at_most ? stricter(sch, HONE_OP_MIN, at_most, last) : last;
    } else if (at_most && hone_expr_is_int(at_most) &&
               hone_prove_less_equal(&sch->arith, last, at_most)) {
        at_most = NULL;
    }
    if (at_most && ends_sooner(sch, low, extent, at_most, &extent)) at_most = NULL;
    *out = (sch_axis_domain){low, extent, at_least, at_most};
    return true;
}

/* Does a dimension of the region speak of an axis in a way that is not solved by itself? */
static bool is_intricate(hone_schedule *sch, const hone_block *block, const hone_region *region) {
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        hone_var axis = block->axes[a].var;
        for (uint32_t d = 0; d < rank; d++) {
            if (!uses_axis(&region->ranges[d], axis)) continue;
            hint h = solve_index(sch, &region->ranges[d], axis, false, (hone_interval){NULL, NULL});
            if (!h.is_solved) return true;
        }
    }
    return false;
}

/* Per box and region the intervals of all axes, where they come from all dimensions at once. */
static hone_status solve_at_once(hone_schedule *sch, const hone_block *block, bool inside,
                                 uint32_t region_count, const hone_region *regions,
                                 uint32_t box_count, const sch_box *boxes, hone_interval ***out) {
    hone_interval **solved =
        hone_arena_zalloc(sch->arena, (box_count * region_count + 1) * sizeof(hone_interval *));
    if (!solved) return sch_no_memory();
    *out = solved;
    for (uint32_t b = 0; b < box_count; b++) {
        for (uint32_t r = 0; r < region_count; r++) {
            if (regions[r].buffer != boxes[b].buffer || !is_intricate(sch, block, &regions[r])) {
                continue;
            }
            hone_interval *axes =
                hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
            if (!axes) return sch_no_memory();
            if (sch_axes_by_inverse(sch, block, &regions[r], &boxes[b], inside, axes)) {
                solved[b * region_count + r] = axes;
            }
        }
    }
    return sch_ir_error(sch);
}

/* All that one region of the block says of one axis, given the box of its buffer. */
static hone_status solve_in_region(hone_schedule *sch, hone_node_id block,
                                   const hone_region *region, const sch_box *box, hone_var axis,
                                   bool must_solve, hone_interval *io, bool *out_is_bounded) {
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (!uses_axis(&region->ranges[d], axis)) continue;
        hint h = solve_index(sch, &region->ranges[d], axis, must_solve, box->dims[d]);
        if (h.is_solved) {
            *io = *out_is_bounded ? intersect(sch, *io, h.dom) : h.dom;
            *out_is_bounded = true;
        } else if (must_solve) {
            return sch_refuse(sch, block,
                              "dimension %u of buffer '%s' in %s is indexed in a way "
                              "that can't be solved for axis '%s'",
                              d, sch_buffer_name(sch, region->buffer), sch_block_name(sch, block),
                              sch->func->vars[axis].name);
        }
    }
    return HONE_OK;
}

/* reverse: what is read by no axis must lie in the box as it is. */
static hone_status check_fixed_dimensions(hone_schedule *sch, hone_node_id id,
                                          const hone_region *region, const sch_box *box) {
    const hone_block *block = sch_block(sch, id);
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, region->buffer);
    for (uint32_t d = 0; d < buffer->rank; d++) {
        hone_range range = region->ranges[d];
        bool is_axis = false;
        for (uint32_t a = 0; a < block->axis_count; a++) {
            is_axis = is_axis || uses_axis(&range, block->axes[a].var);
        }
        hone_interval dim = box->dims[d];
        if (is_axis) continue;
        const hone_expr *last = last_of(sch, range);
        if (hone_prove_contains(&sch->arith, dim, (hone_interval){range.min, last})) continue;
        return sch_refuse(sch, id, "%s reads more of dimension %u of '%s' than one iteration makes",
                          sch_block_name(sch, id), d, buffer->name);
    }
    return HONE_OK;
}

static hone_status check_fixed(hone_schedule *sch, hone_node_id id, uint32_t box_count,
                               const sch_box *boxes) {
    const hone_block *block = sch_block(sch, id);
    for (uint32_t b = 0; b < box_count; b++) {
        for (uint32_t r = 0; r < block->read_count; r++) {
            if (block->reads[r].buffer != boxes[b].buffer) continue;
            HONE_TRY(check_fixed_dimensions(sch, id, &block->reads[r], &boxes[b]));
        }
    }
    return HONE_OK;
}

hone_status sch_solve_axes(hone_schedule *sch, hone_node_id id, uint32_t box_count,
                           const sch_box *boxes, sch_solve_for what, sch_axis_domain *out) {
    const hone_block *block = sch_block(sch, id);
    bool of_writes = what != SCH_SOLVE_USE;
    uint32_t region_count;
    const hone_region *regions = sch_regions_of(block, of_writes, &region_count);
    hone_interval **at_once = NULL;
    if (!of_writes) HONE_TRY(check_fixed(sch, id, box_count, boxes));
    HONE_TRY(solve_at_once(sch, block, what != SCH_SOLVE_MAKE, region_count, regions, box_count,
                           boxes, &at_once));
    for (uint32_t a = 0; a < block->axis_count; a++) {
        hone_interval need = {NULL, NULL};
        bool has_need = false, is_free = false;
        for (uint32_t b = 0; b < box_count; b++) {
            for (uint32_t r = 0; r < region_count; r++) {
                if (regions[r].buffer != boxes[b].buffer) continue;
                hone_interval here = {NULL, NULL};
                const hone_interval *solved = at_once[b * region_count + r];
                bool is_bounded = solved != NULL;
                if (solved) here = solved[a];
                if (!solved) {
                    HONE_TRY(solve_in_region(sch, id, &regions[r], &boxes[b], block->axes[a].var,
                                             what == SCH_SOLVE_USE, &here, &is_bounded));
                }
                if (!is_bounded) {
                    /* compute_at: this buffer needs all of the axis; reverse: no restriction */
                    is_free = is_free || of_writes;
                    continue;
                }
                if (!has_need) {
                    need = here;
                } else {
                    need = of_writes ? hone_interval_union(&sch->arith, need, here)
                                     : intersect(sch, need, here);
                }
                has_need = true;
            }
        }
        if (!has_need || is_free) {
            whole_domain(block->axes[a].dom, &out[a]);
            continue;
        }
        bool is_closed = close_domain(sch, block->axes[a].dom, need, &out[a]);
        if (what == SCH_SOLVE_MAKE) { /* no loop has less than no iteration */
            bool is_none = hone_expr_is_int(out[a].extent) && out[a].extent->u.i < 1;
            if (is_none) whole_domain(block->axes[a].dom, &out[a]);
        } else if (!is_closed) {
            return sch_refuse(sch, id,
                              "the values that axis '%s' of %s takes in one iteration "
                              "are not known",
                              sch->func->vars[block->axes[a].var].name, sch_block_name(sch, id));
        }
    }
    return sch_ir_error(sch);
}

static void keep_at_least(hone_schedule *sch, const hone_expr *limit, sch_axis_domain *io) {
    io->at_least = io->at_least ? stricter(sch, HONE_OP_MAX, io->at_least, limit) : limit;
}

static void keep_at_most(hone_schedule *sch, const hone_expr *limit, sch_axis_domain *io) {
    io->at_most = io->at_most ? stricter(sch, HONE_OP_MIN, io->at_most, limit) : limit;
}

static void keep_numbers(hone_schedule *sch, const hone_expr *binding, sch_axis_domain *io) {
    hone_bound now = hone_arith_bound(&sch->arith, binding);
    hone_bound low = hone_arith_bound(&sch->arith, io->low);
    hone_bound size = hone_arith_bound(&sch->arith, io->extent);
    hone_dtype dtype = io->extent->dtype;
    if (now.min != HONE_BOUND_NEG_INF && low.min < now.min) {
        keep_at_least(sch, constant(sch, dtype, now.min), io);
    }
    bool is_known = low.max < INT64_MAX / 4 && size.max < INT64_MAX / 4;
    if (now.max == HONE_BOUND_POS_INF || (is_known && low.max + size.max - 1 <= now.max)) return;
    const hone_expr *end = hone_expr_add(&sch->ir, io->low, io->extent);
    if (!is_known && end &&
        hone_prove_less_equal(&sch->arith, end, constant(sch, dtype, now.max + 1))) {
        return; /* f // n, for f below n * 32 */
    }
    keep_at_most(sch, constant(sch, dtype, now.max), io);
}

/* In a block within another one: the values of the binding in one run of the outer block, which may
 * depend on the axes of that. Where the axis has a size: values up to another size. */
static void keep_interval(hone_schedule *sch, hone_interval now, sch_axis_domain *io) {
    hone_dtype dtype = io->extent->dtype;
    const hone_expr *one = constant(sch, dtype, 1), *low = NULL, *high = NULL, *end = NULL;
    if (now.min && now.max) low = in_dtype(sch, now.min, dtype);
    if (low) high = in_dtype(sch, now.max, dtype);
    if (high) end = hone_expr_sub(&sch->ir, hone_expr_add(&sch->ir, io->low, io->extent), one);
    if (!end) return;
    bool starts_within = hone_prove_less_equal(&sch->arith, low, io->low);
    bool ends_within = hone_prove_less_equal(&sch->arith, end, high);
    if (starts_within && ends_within) return;
    bool starts_before = hone_prove_less_equal(&sch->arith, io->low, low);
    bool ends_behind = hone_prove_less_equal(&sch->arith, high, end);
    const hone_expr *length = hone_expr_add(&sch->ir, hone_expr_sub(&sch->ir, high, low), one);
    length = hone_simplify(&sch->arith, length);
    if (starts_before && ends_behind && length && hone_expr_is_int(length) && length->u.i > 0) {
        io->low = low;
        io->extent = length;
        return;
    }
    if (!starts_within) keep_at_least(sch, low, io);
    if (!ends_within) keep_at_most(sch, high, io);
}

/* The loops surely meet all of the axis. */
static bool is_all_of(hone_schedule *sch, hone_interval now, hone_range axis) {
    const hone_expr *end = now.max ? hone_expr_add(&sch->ir, axis.min, axis.extent) : NULL;
    return end && now.min && hone_prove_less_equal(&sch->arith, now.min, axis.min) &&
           hone_prove_less(&sch->arith, hone_expr_sub(&sch->ir, end, now.max),
                           constant(sch, end->dtype, 2));
}

hone_status sch_keep_instances(hone_schedule *sch, hone_node_id id, sch_axis_domain *io) {
    const hone_node *node = sch_node(sch, id);
    const hone_block *block = node->u.block.block;
    hone_node_id scope = sch_scope_of(sch, id);
    bool is_nested = sch_scope_of(sch, scope) != HONE_NO_ID, *marks = NULL;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        hone_range dom = block->axes[a].dom;
        hone_bound bound = hone_arith_bound(&sch->arith, node->u.block.bindings[a]);
        bool has_size = !hone_expr_is_int(dom.min) || !hone_expr_is_int(dom.extent) ||
                        bound.min < INT32_MIN || bound.max > INT32_MAX; /* f // n */
        keep_numbers(sch, node->u.block.bindings[a], &io[a]);
        if (!is_nested && !has_size) continue;
        if (!marks) HONE_TRY(sch_mark_loops(sch, id, scope, &marks));
        hone_interval now;
        HONE_TRY(sch_values_now(sch, id, &block->axes[a], marks, &now));
        if (is_nested || !is_all_of(sch, now, dom)) keep_interval(sch, now, &io[a]);
    }
    return sch_ir_error(sch);
}
