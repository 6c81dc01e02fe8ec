/* schedule/gpu/gpu_shape.c - which axes of a block are rows, columns, steps and batches. */
#include "schedule/gpu/gpu_product.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

static bool region_uses(const hone_schedule *sch, const hone_region *region, hone_var var) {
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_expr_uses_var(region->ranges[d].min, var)) return true;
    }
    return false;
}

static bool is_point(const hone_schedule *sch, const hone_region *region) {
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (!hone_expr_is_int_value(region->ranges[d].extent, 1)) return false;
    }
    return true;
}

/* Its axes are bound to the loops around it, one by one. */
static bool is_plain_nest(hone_gpu *g, const hone_gpu_nest *nest) {
    const hone_node *block = sch_node(g->sch, nest->block);
    if (nest->count != block->u.block.block->axis_count || nest->count > GPU_MAX_AXES) return false;
    for (uint32_t i = 0; i < nest->count; i++) {
        const hone_node *loop = sch_node(g->sch, nest->loops[i]);
        const hone_expr *binding = block->u.block.bindings[i];
        if (loop->loop_kind != HONE_LOOP_SERIAL || loop->u.loop.annotations.count ||
            loop->first != loop->last || binding->kind != HONE_EXPR_VAR ||
            binding->u.var != loop->u.loop.var)
            return false;
    }
    return true;
}

static bool has_form(const hone_schedule *sch, hone_node_id node) {
    const hone_block *block = sch_block(sch, node);
    return hone_block_init_of(sch->func, node) != HONE_NO_ID && block->write_count == 1 &&
           block->read_count == 2 && block->reads[0].buffer != block->reads[1].buffer &&
           is_point(sch, &block->reads[0]) && is_point(sch, &block->reads[1]) &&
           is_point(sch, &block->writes[0]);
}

/* The group of an axis, or GPU_GROUPS. One step more is in no operand's way. */
static gpu_group group_of(const hone_block *block, const hone_gpu_shape *s, uint32_t a) {
    bool in_first = s->uses[0][a], in_second = s->uses[1][a];
    if (block->axes[a].kind == HONE_AXIS_REDUCE)
        return (in_first && in_second) || s->axes[a] == 1 ? GPU_STEPS : GPU_GROUPS;
    if (block->axes[a].kind != HONE_AXIS_SPATIAL || !s->uses[2][a]) return GPU_GROUPS;
    if (in_first && in_second) return GPU_BATCH;
    return in_first ? GPU_ROWS : in_second ? GPU_COLUMNS : GPU_GROUPS;
}

/* So few rows that hardly anything is read twice: a sum for each result is as fast as memory. */
static bool is_narrow(const hone_gpu_shape *s, gpu_group group) {
    enum { FEW = 4 };
    return !s->has[group] || (s->extents[group] >= 0 && s->extents[group] <= FEW);
}

static int64_t product_of(int64_t a, int64_t b) {
    if (a < 0 || b < 0 || (b > 0 && a > INT32_MAX / b)) return -1;
    return a * b;
}

static bool read_axes(const hone_schedule *sch, const hone_block *block, hone_gpu_shape *s) {
    const hone_region *regions[] = {&block->reads[0], &block->reads[1], &block->writes[0]};
    s->axis_count = block->axis_count;
    for (uint32_t g = 0; g < GPU_GROUPS; g++)
        s->extents[g] = 1;
    for (uint32_t a = 0; a < s->axis_count; a++) {
        for (uint32_t r = 0; r < 3; r++)
            s->uses[r][a] = region_uses(sch, regions[r], block->axes[a].var);
        s->axes[a] = hone_expr_const(block->axes[a].dom.extent);
        gpu_group group = s->groups[a] = group_of(block, s, a);
        if (group == GPU_GROUPS) return false;
        if (!hone_expr_is_int_value(block->axes[a].dom.min, 0)) return false;
        /* strides in maps are the extents of all axes of the group but the first */
        if (s->has[group] && s->axes[a] < 1) return false;
        s->has[group] = true;
        s->extents[group] = product_of(s->extents[group], s->axes[a]);
    }
    return !is_narrow(s, GPU_ROWS) && !is_narrow(s, GPU_COLUMNS) && s->has[GPU_STEPS];
}

/* No other axis of its group moves the access within it. */
static bool is_last(const hone_gpu_shape *s, const bool *uses, uint32_t a) {
    for (uint32_t b = a + 1; b < s->axis_count; b++) {
        if (s->groups[b] == s->groups[a] && uses[b] && s->axes[b] != 1) return false;
    }
    return s->groups[a] != GPU_BATCH;
}

/* The axis along which the access goes straight on; the longest where there are several. */
static void read_side(hone_schedule *sch, const hone_region *region, const hone_block *block,
                      const hone_gpu_shape *s, const bool *uses, hone_gpu_side *out) {
    *out = (hone_gpu_side){GPU_STEPS, 1};
    for (uint32_t a = 0; a < s->axis_count; a++) {
        int64_t stride;
        if (!is_last(s, uses, a)) continue;
        if (!sch_stride_in_axis(sch, region, block->axes[a].var, &stride) || stride != 1) continue;
        if (s->axes[a] >= 0 && s->axes[a] <= out->run) continue;
        *out = (hone_gpu_side){s->groups[a], s->axes[a] < 0 ? 1 : s->axes[a]};
    }
}

static void swap_sides(hone_gpu_shape *s) {
    for (uint32_t a = 0; a < s->axis_count; a++) {
        if (s->groups[a] == GPU_ROWS)
            s->groups[a] = GPU_COLUMNS;
        else if (s->groups[a] == GPU_COLUMNS)
            s->groups[a] = GPU_ROWS;
    }
    for (uint32_t i = 0; i < 3; i++) {
        gpu_group *last = &s->sides[i].last;
        *last = *last == GPU_ROWS ? GPU_COLUMNS : *last == GPU_COLUMNS ? GPU_ROWS : *last;
    }
    int64_t rows = s->extents[GPU_ROWS];
    s->extents[GPU_ROWS] = s->extents[GPU_COLUMNS];
    s->extents[GPU_COLUMNS] = rows;
    s->rows_operand = 1 - s->rows_operand;
}

hone_status hone_gpu_read_shape(hone_gpu *g, hone_rv rv, hone_gpu_shape *out) {
    hone_gpu_nest nest;
    *out = (hone_gpu_shape){0};
    HONE_TRY(hone_gpu_get_nest(g, rv, &nest));
    if (!has_form(g->sch, nest.block) || !is_plain_nest(g, &nest)) return hone_gpu_unfit();
    const hone_block *block = sch_block(g->sch, nest.block);
    if (!read_axes(g->sch, block, out)) return hone_gpu_unfit();
    const hone_region *regions[] = {&block->reads[0], &block->reads[1], &block->writes[0]};
    for (uint32_t r = 0; r < 3; r++) {
        out->types[r] = hone_func_buffer(g->sch->func, regions[r]->buffer)->dtype;
        int32_t bits = out->types[r].bits;
        read_side(g->sch, regions[r], block, out, out->uses[r], &out->sides[r]);
        if (r < 2 && bits > out->operand_bits) out->operand_bits = bits;
        out->bits = bits;
    }
    if (out->sides[2].last == GPU_ROWS) swap_sides(out);
    return HONE_OK;
}
