/* schedule/primitive/move/move_inverse.c - inverts all indices of a region together. */
#include "schedule/primitive/move/move_inverse.h"

#include "ir/arith/itermap.h"
#include "schedule/state/instance_order.h"

/* The places in a box: the only one of a dimension as it is, else a variable that runs over it,
 * marked in *out_marks. */
static bool points_of(hone_schedule *sch, const sch_box *box, uint32_t rank,
                      const hone_region *region, const hone_expr **out_points, bool **out_marks) {
    uint32_t first = sch->func->var_count;
    for (uint32_t d = 0; d < rank; d++) {
        hone_dtype dtype = region->ranges[d].min->dtype;
        hone_range range;
        if (!hone_interval_range(&sch->arith, box->dims[d], dtype, &range)) return false;
        out_points[d] = range.min;
        if (hone_expr_is_int_value(range.extent, 1)) continue;
        hone_var var = hone_func_add_var(sch->func, "place", dtype);
        if (var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, range)) return false;
        out_points[d] = sch_var(sch, var);
    }
    bool *marks = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *marks);
    for (uint32_t v = first; marks && v < sch->func->var_count; v++)
        marks[v] = true;
    *out_marks = marks;
    return marks != NULL;
}

static bool is_point(const hone_region *region, uint32_t rank) {
    for (uint32_t d = 0; d < rank; d++) {
        if (!hone_expr_is_int_value(region->ranges[d].extent, 1)) return false;
        if (!hone_expr_is_pure_index(region->ranges[d].min)) return false;
    }
    return rank > 0;
}

/* Where the axes run over the intervals, do the places stay in the box? */
static bool stays_inside(hone_schedule *sch, const hone_block *block, const hone_region *region,
                         uint32_t rank, const sch_box *box, const hone_interval *axes) {
    bool *marks = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *marks);
    bool is_inside = marks != NULL;
    for (uint32_t a = 0; a < block->axis_count && is_inside; a++) {
        hone_range range;
        is_inside =
            hone_interval_range(&sch->arith, axes[a], block->axes[a].dom.extent->dtype, &range) &&
            hone_arith_bind(&sch->arith, block->axes[a].var, range);
        marks[block->axes[a].var] = true;
    }
    for (uint32_t d = 0; d < rank && is_inside; d++) {
        hone_interval reach =
            hone_arith_relax(&sch->arith, region->ranges[d].min, marks, sch->func->var_count, NULL);
        is_inside = hone_prove_contains(&sch->arith, box->dims[d], reach);
    }
    for (uint32_t a = 0; a < block->axis_count; a++) {
        is_inside =
            hone_arith_bind(&sch->arith, block->axes[a].var, block->axes[a].dom) && is_inside;
    }
    return is_inside;
}

bool sch_axes_by_inverse(hone_schedule *sch, const hone_block *block, const hone_region *region,
                         const sch_box *box, bool inside, hone_interval *out) {
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank, count = block->axis_count;
    if (!is_point(region, rank)) return false;
    const hone_expr **indices = hone_arena_alloc(sch->arena, rank * sizeof *indices);
    const hone_expr **points = hone_arena_alloc(sch->arena, rank * sizeof *points);
    hone_iter *iters = sch_whole_axes(sch, block);
    const hone_expr **axes = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *axes);
    const hone_iter *longer; /* an axis may end before its last digit does */
    bool *marks = NULL;
    hone_itermap map;
    if (!indices || !points || !iters || !axes) return false;
    for (uint32_t d = 0; d < rank; d++)
        indices[d] = region->ranges[d].min;
    if (!hone_itermap_detect_lengthened(&sch->arith, rank, indices, count, iters, &longer, &map) ||
        !points_of(sch, box, rank, region, points, &marks) ||
        !hone_itermap_inverse(&sch->arith, &map, points, count, longer, axes)) {
        return false;
    }
    for (uint32_t a = 0; a < count; a++) {
        const hone_expr *value = axes[a] ? axes[a] : block->axes[a].dom.min;
        out[a] = hone_arith_relax(&sch->arith, hone_simplify(&sch->arith, value), marks,
                                  sch->func->var_count, NULL);
        if (!out[a].min || !out[a].max) return false;
    }
    return !inside || stays_inside(sch, block, region, rank, box, out);
}
