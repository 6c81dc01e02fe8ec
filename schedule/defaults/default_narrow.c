/* schedule/defaults/default_narrow.c - blocks whose innermost loop is shorter than a vector (real
 * and imaginary parts, channels of pixels): fused with the loops around it, they are vectors as
 * long as it takes until elements of all places meet the same lanes again.
 *
 *   for i, c in (n, 3): Y[i, c] = X[i, c] * w[c]
 *     ⇒
 *   for f0: for f1 in vectorized(48): Y[i, c] = …
 */
#include "ir/core/fold.h"
#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MAX_LOOPS = 16, VECTORS = 4, MAX_VECTORS = 16 };

/* How far an access goes in one step of the innermost loop, and of the one around it: neighbours,
 * or within what a few vectors hold. */
static bool moves_closely(hone_schedule *sch, hone_node_id block, const hone_region *region,
                          const hone_node_id loops[2], int64_t extent) {
    int64_t inner, outer;
    hone_var vars[2];
    for (int i = 0; i < 2; i++)
        vars[i] = hone_func_node(sch->func, loops[i])->u.loop.var;
    return sch_stride_in_loop(sch, block, region, vars[1], &inner) &&
           sch_stride_in_loop(sch, block, region, vars[0], &outer) && inner >= -1 && inner <= 1 &&
           outer >= 0 && outer <= extent;
}

static bool has_spatial_axes(const hone_block *block) {
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    return true;
}

/* The loops of a block, all of them spatial, the innermost short, what is written dense. */
static bool is_narrow(hone_schedule *sch, hone_node_id block, uint32_t count,
                      const hone_node_id *loops, int64_t *out_extent, int64_t *out_total) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    if (count < 2 || inner->write_count != 1 || !has_spatial_axes(inner)) return false;
    *out_total = 1;
    for (uint32_t i = count; i-- > 0;) {
        const hone_node *loop = hone_func_node(sch->func, loops[i]);
        int64_t stride, extent = hone_expr_const(loop->u.loop.range.extent);
        bool is_plain = loop->loop_kind == HONE_LOOP_SERIAL && !loop->u.loop.annotations.count &&
                        loop->first == loop->last;
        if (!is_plain || extent < 1 || extent > INT32_MAX / *out_total) return false;
        if (!sch_stride_in_loop(sch, block, &inner->writes[0], loop->u.loop.var, &stride))
            return false;
        if (extent > 1 && stride != *out_total) return false;
        if (i + 1 == count) *out_extent = extent;
        *out_total *= extent;
    }
    for (uint32_t r = 0; r < inner->read_count; r++) {
        if (!moves_closely(sch, block, &inner->reads[r], loops + count - 2, *out_extent))
            return false;
    }
    return true;
}

/* Whether a loop inside of another may have any extent. */
static bool has_open_row(const hone_schedule *sch, const hone_default_limits *limits,
                         uint32_t count, const hone_node_id *loops) {
    for (uint32_t i = 1; i < count; i++) {
        const hone_node *loop = hone_func_node(sch->func, loops[i]);
        if (hone_default_is_open(limits, hone_expr_const(loop->u.loop.range.extent))) return true;
    }
    return false;
}

static hone_status widen_one(hone_schedule *sch, const hone_default_limits *limits,
                             const char *name) {
    hone_rv block_rv, fused;
    hone_node_id block, nodes[MAX_LOOPS];
    uint32_t count = 0;
    const hone_rv *loops = NULL, *parts = NULL;
    int64_t extent, total, lanes = limits->vector_lanes;
    HONE_TRY(hone_sch_get_block(sch, name, &block_rv));
    HONE_TRY(hone_schedule_node(sch, block_rv, &block));
    HONE_TRY(hone_sch_get_loops(sch, block_rv, &count, &loops));
    if (count > MAX_LOOPS) return HONE_OK;
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(hone_schedule_node(sch, loops[i], &nodes[i]));
    if (!is_narrow(sch, block, count, nodes, &extent, &total) || extent < 2 || extent >= lanes ||
        has_open_row(sch, limits, count, nodes))
        return HONE_OK;
    int64_t vector = extent / hone_gcd(extent, lanes) * lanes;
    while (vector < VECTORS / 2 * lanes)
        vector *= 2;
    if (vector > MAX_VECTORS * lanes || total < 2 * vector) return HONE_OK;
    HONE_TRY(hone_sch_fuse(sch, count, loops, true, &fused));
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(vector)};
    HONE_TRY(hone_sch_split(sch, fused, 2, factors, true, false, &parts));
    return hone_sch_vectorize(sch, parts[1]);
}

hone_status hone_default_narrow(hone_schedule *sch, const hone_default_limits *limits) {
    if (limits->vector_lanes < 4) return HONE_OK;
    hone_default_blocks blocks;
    hone_default_list_blocks(sch, &blocks);
    for (uint32_t i = 0; i < blocks.count; i++)
        HONE_TRY(hone_default_optional(widen_one(sch, limits, blocks.names[i])));
    return HONE_OK;
}
