/* schedule/defaults/default_joined.c - two axes of an image that lie one behind the other in all
 * that a product and what takes it read and write become one: a convolution of one tap is a product
 * of matrices, whose vectors do not end where rows of the image do.
 *
 *   Y[f, y, x] += X[c, y, x] * W[f, c]
 *     ⇒   Y[f, p // 56, p % 56] += X[c, p // 56, p % 56] * W[f, c] */
#include "schedule/defaults/axes.h"
#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

/* Axes of a block; inner is the contiguous one of what it writes. */
typedef struct pair {
    uint32_t outer, inner;
    int64_t outer_extent, inner_extent;
} pair;

static int64_t extent_of(const hone_block *block, uint32_t axis) {
    return hone_expr_const(block->axes[axis].dom.extent);
}

/* One step along the outer axis goes as far as all steps along the inner one. */
static bool goes_on(hone_schedule *sch, const hone_block *block, const hone_region *region,
                    const pair *p) {
    int64_t outer, inner;
    return sch_stride_in_axis(sch, region, block->axes[p->outer].var, &outer) &&
           sch_stride_in_axis(sch, region, block->axes[p->inner].var, &inner) && inner >= 0 &&
           outer == inner * p->inner_extent;
}

static bool all_go_on(hone_schedule *sch, const hone_block *block, const pair *p) {
    bool go_on = goes_on(sch, block, &block->writes[0], p);
    for (uint32_t r = 0; r < block->read_count && go_on; r++)
        go_on = goes_on(sch, block, &block->reads[r], p);
    return go_on;
}

static bool is_wide(const hone_block *block, uint32_t axis) {
    return block->axes[axis].kind == HONE_AXIS_SPATIAL && extent_of(block, axis) > 1;
}

static bool is_contiguous(hone_schedule *sch, const hone_block *block, uint32_t axis) {
    int64_t stride = 0;
    return sch_stride_in_axis(sch, &block->writes[0], block->axes[axis].var, &stride) &&
           stride == 1;
}

static bool is_pair(hone_schedule *sch, const hone_block *block, uint32_t outer, uint32_t inner,
                    pair *out) {
    *out = (pair){outer, inner, extent_of(block, outer), extent_of(block, inner)};
    return block->write_count == 1 && out->outer_extent <= INT32_MAX / out->inner_extent &&
           all_go_on(sch, block, out);
}

/* The next wide axis in front of one; -1: there is none. */
static int32_t wide_before(const hone_block *block, int32_t axis) {
    do {
        axis--;
    } while (axis >= 0 && !is_wide(block, (uint32_t)axis));
    return axis;
}

/* An axis (the contiguous one; or any, the last ones first), and the last one in front of it. */
static bool find_pair(hone_schedule *sch, hone_node_id node, bool is_any, pair *out) {
    const hone_block *block = hone_func_node(sch->func, node)->u.block.block;
    int32_t inner = wide_before(block, (int32_t)block->axis_count), outer;
    for (; inner >= 0; inner = outer) {
        outer = wide_before(block, inner);
        bool counts = is_any || is_contiguous(sch, block, (uint32_t)inner);
        if (counts && outer >= 0 && is_pair(sch, block, (uint32_t)outer, (uint32_t)inner, out))
            return true;
        if (counts && !is_any) return false;
    }
    return false;
}

/* "lambda v0, v1, v2, v3: (v0, v1 * 56 + v2, v3)" */
static void print_map(uint32_t count, const pair *p, hone_str *text) {
    hone_str_append(text, "lambda ");
    for (uint32_t a = 0; a < count; a++)
        hone_str_printf(text, "%sv%u", a ? ", " : "", a);
    hone_str_append(text, ": (");
    for (uint32_t a = 0; a < count; a++) {
        if (a == p->inner) continue;
        if (a == p->outer)
            hone_str_printf(text, "v%u * %lld + v%u, ", p->outer, (long long)p->inner_extent,
                            p->inner);
        else
            hone_str_printf(text, "v%u, ", a);
    }
    hone_str_append(text, ")");
}

static hone_status read_map(hone_schedule *sch, uint32_t count, const pair *p,
                            const hone_index_map **out_map) {
    hone_str text = {0};
    print_map(count, p, &text);
    return hone_default_read_map(sch, &text, out_map);
}

static hone_status join_axes(hone_schedule *sch, hone_rv block, const pair *p) {
    hone_node_id node;
    const hone_index_map *map;
    HONE_TRY(hone_schedule_node(sch, block, &node));
    HONE_TRY(read_map(sch, hone_func_node(sch->func, node)->u.block.block->axis_count, p, &map));
    return hone_sch_transform_block_layout(sch, block, map);
}

/* The dimension of what is written that is just this axis; -1: there is none. */
static int32_t dimension_of(const hone_schedule *sch, const hone_block *block, uint32_t axis) {
    const hone_region *written = &block->writes[0];
    for (uint32_t d = 0; d < hone_func_buffer(sch->func, written->buffer)->rank; d++) {
        const hone_expr *at = written->ranges[d].min;
        if (at->kind == HONE_EXPR_VAR && at->u.var == block->axes[axis].var) return (int32_t)d;
    }
    return -1;
}

/* So that the indices of what is passed on stay axes. */
static hone_status join_dimensions(hone_schedule *sch, hone_rv block, const pair *p) {
    hone_node_id node;
    const hone_index_map *map;
    HONE_TRY(hone_schedule_node(sch, block, &node));
    const hone_block *inner = hone_func_node(sch->func, node)->u.block.block;
    pair d = *p;
    int32_t first = dimension_of(sch, inner, p->outer), last = dimension_of(sch, inner, p->inner);
    if (first < 0 || last < 0) return HONE_ERROR(HONE_CODE_ILLEGAL, "no dimensions of the axes");
    d.outer = (uint32_t)first;
    d.inner = (uint32_t)last;
    HONE_TRY(read_map(sch, hone_func_buffer(sch->func, inner->writes[0].buffer)->rank, &d, &map));
    return hone_sch_transform_layout(sch, block, true, 0, map, NULL, false);
}

/* The only consumer of the block, where there is one; else HONE_NO_ID. */
static hone_node_id find_taker(hone_schedule *sch, hone_node_id block) {
    const hone_node_id *consumers;
    uint32_t count;
    hone_status st = sch_consumers(sch, block, &count, &consumers);
    return hone_status_consume(st) == HONE_CODE_OK && count == 1 ? consumers[0] : HONE_NO_ID;
}

/* The axis that is a dimension of what is read; -1: none is. */
static int32_t axis_at(const hone_block *block, const hone_region *read, int32_t dimension) {
    const hone_expr *at = read->ranges[dimension].min;
    for (uint32_t a = 0; a < block->axis_count; a++)
        if (at->kind == HONE_EXPR_VAR && at->u.var == block->axes[a].var) return (int32_t)a;
    return -1;
}

/* The axes of a block that takes what another one writes, which stand for a pair of that one. */
static bool find_taken(hone_schedule *sch, const hone_block *block, hone_node_id taker,
                       const pair *p, pair *out) {
    const hone_block *by = hone_func_node(sch->func, taker)->u.block.block;
    int32_t first = dimension_of(sch, block, p->outer), last = dimension_of(sch, block, p->inner);
    for (uint32_t r = 0; r < by->read_count && first >= 0 && last >= 0; r++) {
        if (by->reads[r].buffer != block->writes[0].buffer) continue;
        int32_t outer = axis_at(by, &by->reads[r], first), inner = axis_at(by, &by->reads[r], last);
        return outer >= 0 && inner >= 0 && is_wide(by, (uint32_t)outer) &&
               is_wide(by, (uint32_t)inner) &&
               is_pair(sch, by, (uint32_t)outer, (uint32_t)inner, out) &&
               out->inner_extent == p->inner_extent && out->outer_extent == p->outer_extent;
    }
    return false;
}

/* The pair of the block, and that of what takes its output, which is the same one: a copy, where it
 * is not one block that does. */
static bool find_pairs(hone_schedule *sch, hone_node_id block, bool is_any, pair *out,
                       pair *out_taken) {
    hone_node_id taker;
    if (!find_pair(sch, block, is_any, out)) return false;
    taker = find_taker(sch, block);
    if (taker == HONE_NO_ID || hone_nest_has_reduce_axis(sch, taker)) return true;
    return find_taken(sch, hone_func_node(sch->func, block)->u.block.block, taker, out, out_taken);
}

static hone_status join(hone_schedule *sch, hone_rv block, bool is_any) {
    hone_rv consumer;
    hone_node_id node;
    pair p, taken;
    HONE_TRY(hone_default_epilogue(sch, block, &consumer));
    if (consumer == HONE_NO_ID)
        HONE_TRY(hone_sch_cache_write(sch, block, 0, "global", 0, NULL, &consumer));
    HONE_TRY(hone_schedule_node(sch, block, &node));
    if (!find_pairs(sch, node, is_any, &p, &taken))
        return HONE_ERROR(HONE_CODE_ILLEGAL, "no such axes");
    HONE_TRY(join_dimensions(sch, block, &p));
    HONE_TRY(join_axes(sch, block, &p));
    return join_axes(sch, consumer, &taken);
}

static bool may_join(hone_schedule *sch, const hone_reduction_facts *facts, bool is_any,
                     hone_default_axes *out) {
    pair p, taken;
    if (!(facts->has_reuse || facts->is_spatially_contiguous) ||
        !find_pairs(sch, facts->block, is_any, &p, &taken))
        return false;
    *out = (hone_default_axes){p.outer, p.inner};
    return true;
}

bool hone_default_may_join_axes(const hone_default_nest *n, hone_default_axes *out) {
    return !n->limits->are_sizes_open && may_join(n->sch, &n->facts, false, out);
}

/* On a copy first: a step that is refused in the middle would leave half of it. */
static hone_status try_join(hone_schedule *sch, hone_rv block, bool is_any, bool *out_is_done) {
    hone_schedule *copy = NULL;
    *out_is_done = false;
    HONE_TRY(hone_schedule_copy(sch, &copy));
    copy->wants_reasons = false;
    hone_status st = join(copy, block, is_any);
    hone_schedule_destroy(copy);
    if (st) return hone_default_optional(st);
    *out_is_done = true;
    return join(sch, block, is_any);
}

hone_status hone_default_join_axes(hone_default_nest *n, bool *out_is_done) {
    hone_default_axes axes;
    *out_is_done = false;
    if (n->lanes < 2 || !hone_default_may_join_axes(n, &axes)) return HONE_OK;
    return try_join(n->sch, n->block, false, out_is_done);
}

hone_status hone_axes_join(hone_schedule *sch, hone_rv block) {
    hone_reduction_facts facts;
    hone_default_axes axes;
    hone_node_id node;
    bool is_done = true;
    uint32_t count = 0;
    while (is_done) {
        HONE_TRY(hone_schedule_node(sch, block, &node));
        if (!hone_nest_reduction(sch, node, &facts) || !may_join(sch, &facts, true, &axes)) break;
        HONE_TRY(try_join(sch, block, true, &is_done));
        count += is_done;
    }
    return count ? HONE_OK : HONE_ERROR(HONE_CODE_ILLEGAL, "no such axes");
}
