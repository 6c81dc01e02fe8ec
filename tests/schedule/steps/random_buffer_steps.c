/* tests/schedule/steps/random_buffer_steps.c - random steps on the storage and the accesses of one
 * block.
 */
#include "ir/core/index_map.h"
#include "schedule/primitive/primitives.h"
#include "tests/schedule/steps/random_pick.h"
#include "tests/schedule/steps/random_steps.h"

static hone_status align(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    int64_t axis = hone_rng_between(rng, -2, 2);
    return hone_sch_storage_align(sch, block, hone_rng_below(rng, 8) == 0, axis,
                                  (int64_t)hone_rng_below(rng, 4) * 8,
                                  (int64_t)hone_rng_below(rng, 8));
}

static hone_status set_scope(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    static const char *const scopes[] = {"global", "global.vtcm", "wrong"};
    return hone_sch_set_scope(sch, block, (int64_t)hone_rng_below(rng, 2),
                              scopes[hone_rng_below(rng, HONE_COUNT(scopes))]);
}

static hone_status reorder_axes(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    int64_t order[8];
    HONE_TRY(sch_resolve_block(sch, block, &node));
    uint32_t count = sch_block(sch, node)->axis_count;
    if (count > 8) return hone_random_nothing();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)hone_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    if (count && hone_rng_below(rng, 8) == 0) order[0] = 1;
    return hone_sch_reorder_block_iter_var(sch, block, count, order);
}

static hone_status reindex(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    return hone_sch_reindex(sch, block, hone_rng_below(rng, 2), (int64_t)hone_rng_below(rng, 2),
                            NULL);
}

static hone_status cache_inplace(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    return hone_sch_cache_inplace(sch, block, (int64_t)hone_rng_below(rng, 2), "global", NULL);
}

static hone_status cache_index(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    return hone_sch_cache_index(sch, block, "global", (int64_t)hone_rng_below(rng, 3), NULL, NULL);
}

static hone_status copy_at(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv loop = hone_random_loop_of(sch, rng, block);
    int64_t index = (int64_t)hone_rng_below(rng, 2);
    if (loop == HONE_NO_ID) return hone_random_nothing();
    return hone_rng_below(rng, 2) ? hone_sch_read_at(sch, loop, block, index, "global", NULL)
                                  : hone_sch_write_at(sch, loop, block, index, "global", NULL);
}

/* With one of those who read the result. */
static hone_status fuse_epilogue(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    HONE_TRY(sch_consumers(sch, node, &count, &readers));
    if (count == 0) return hone_random_nothing();
    hone_rv reader = hone_random_name(sch, readers[hone_rng_below(rng, count)]);
    return hone_sch_fuse_reduction_epilogue(sch, block, reader);
}

static hone_status pad_einsum(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    int64_t padding[8];
    HONE_TRY(sch_resolve_block(sch, block, &node));
    uint32_t count = sch_block(sch, node)->axis_count;
    if (count > 8) return hone_random_nothing();
    for (uint32_t i = 0; i < count; i++)
        padding[i] = hone_rng_below(rng, 3) ? 1 : (int64_t)hone_rng_below(rng, 6);
    return hone_sch_pad_einsum(sch, block, count, padding);
}

/* What the block says that it reads or writes, a little wider; with axes as parameters. */
/* A region of a nested block may also speak of the axes around it, which a map does not have. */
static bool is_of_axes(const hone_schedule *sch, const hone_block *block, const hone_expr *e) {
    for (hone_var v = 0; v < sch->func->var_count; v++) {
        if (!hone_expr_uses_var(e, v)) continue;
        uint32_t i = 0;
        while (i < block->axis_count && block->axes[i].var != v)
            i++;
        if (i == block->axis_count) return false;
    }
    return true;
}

static hone_status annotate_access(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    hone_buffer buffer;
    bool is_write = hone_rng_below(rng, 4) == 0;
    int64_t index = (int64_t)hone_rng_below(rng, 2);
    HONE_TRY(sch_resolve_block(sch, block, &node));
    HONE_TRY(sch_nth_buffer(sch, node, is_write, index, &buffer));
    const hone_block *b = sch_block(sch, node);
    const hone_region *region = is_write ? &b->writes[index] : &b->reads[index];
    uint32_t rank = hone_func_buffer(sch->func, buffer)->rank;
    hone_var_info *vars = hone_arena_zalloc(sch->arena, (b->axis_count + 1) * sizeof *vars);
    hone_var *number = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *number);
    const hone_expr **ends = hone_arena_alloc(sch->arena, (2 * (size_t)rank + 1) * sizeof *ends);
    if (!vars || !number || !ends) return sch_no_memory();
    for (uint32_t i = 0; i < b->axis_count; i++) {
        vars[i] = sch->func->vars[b->axes[i].var];
        number[b->axes[i].var] = i;
    }
    for (uint32_t d = 0; d < rank; d++) {
        const hone_range *range = &region->ranges[d];
        hone_dtype dtype = range->min->dtype;
        if (!hone_expr_is_pure_index(range->min) || !hone_expr_is_int(range->extent) ||
            !is_of_axes(sch, b, range->min) ||
            (b->axis_count && !hone_dtype_equal(dtype, vars[0].dtype))) {
            return hone_random_nothing();
        }
        int64_t below = (int64_t)hone_rng_below(rng, 3) / 2,
                above = (int64_t)hone_rng_below(rng, 2);
        const hone_expr *min = hone_expr_copy(&sch->ir, range->min, number, NULL);
        ends[2 * d] = hone_expr_sub(&sch->ir, min, hone_expr_int(&sch->ir, dtype, below));
        ends[2 * d + 1] = hone_expr_add(&sch->ir, min,
                                        hone_expr_int(&sch->ir, dtype, range->extent->u.i + above));
    }
    HONE_TRY(sch_ir_error(sch));
    hone_index_map map = {.param_count = b->axis_count,
                          .count = 2 * rank,
                          .vars = vars,
                          .indices = ends,
                          .is_ranges = true};
    return hone_sch_annotate_buffer_access(sch, block, index, is_write, &map);
}

/* Where the producer does not stand below a loop of its reader yet, it is put there first. */
static hone_status roll(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_node_id node;
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    HONE_TRY(sch_consumers(sch, node, &count, &readers));
    if (count && hone_rng_below(rng, 4)) {
        hone_rv reader = hone_random_name(sch, readers[hone_rng_below(rng, count)]);
        hone_rv loop = hone_random_loop_of(sch, rng, reader);
        if (loop == HONE_NO_ID) return hone_random_nothing();
        hone_status moved = hone_sch_compute_at(sch, block, loop, false, -1);
        if (!hone_status_consume(moved)) {
            hone_status_consume(hone_sch_rolling_buffer(sch, block, 0));
            return HONE_OK; /* one of two steps was taken */
        }
    }
    return hone_sch_rolling_buffer(sch, block, 0);
}

hone_random_group hone_random_buffer_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP_ON(ANY, "reindex", reindex),
        HONE_STEP_ON(ANY, "reindex", reindex),
        HONE_STEP_ON(IN_PLACE, "cache_inplace", cache_inplace),
        HONE_STEP_ON(ANY, "cache_index", cache_index),
        HONE_STEP_ON(ANY, "read_at or write_at", copy_at),
        HONE_STEP_ON(REDUCTION, "fuse_reduction_epilogue", fuse_epilogue),
        HONE_STEP_ON(ANY, "annotate_buffer_access", annotate_access),
        HONE_STEP_ON(ANY, "pad_einsum", pad_einsum),
        HONE_STEP_ON(REDUCTION, "pad_einsum", pad_einsum),
        HONE_STEP_ON(SPATIAL, "rolling_buffer", roll),
        HONE_STEP_ON(ANY, "rolling_buffer", roll),
        HONE_STEP_ON(ANY, "storage_align", align),
        HONE_STEP_ON(ANY, "set_scope", set_scope),
        HONE_STEP_ON(ANY, "reorder_block_iter_var", reorder_axes),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}

/* ---- unsafe ---- */

static hone_status set_dtype(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    static const char *const types[] = {"float16",   "float64", "int8",
                                        "float32x4", "handle",  "bool"};
    return hone_sch_unsafe_set_dtype(sch, block, (int64_t)hone_rng_below(rng, 2),
                                     types[hone_rng_below(rng, HONE_COUNT(types))]);
}

static hone_status hide(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    const int64_t indices[] = {(int64_t)hone_rng_below(rng, 2), (int64_t)hone_rng_below(rng, 2)};
    const char *type = hone_rng_below(rng, 2) ? "read" : "write";
    return hone_sch_unsafe_hide_buffer_access(sch, block, type, (uint32_t)hone_rng_below(rng, 3),
                                              indices);
}

hone_random_group hone_random_unsafe_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP_ON(ANY, "unsafe_set_dtype", set_dtype),
        HONE_STEP_ON(ANY, "unsafe_hide_buffer_access", hide),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}
