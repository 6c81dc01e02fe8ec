/* tuner/space/space_tiling_tensor_core.c - products on matrix units (schedule/gpu/
 * gpu_fragments.c), beside those by threads; where groups of four warps multiply together
 * (gpu_groups.c), a sketch for each of their tiles, too; products of few tiles in parts
 * (gpu_parts.c), by threads as well. Source: MetaSchedule's
 * MultiLevelTilingTensorCore. */
#include "tuner/space/space_rule.h"

#include "compile/first_schedule.h"
#include "schedule/primitive/primitives.h"

static hone_status multiply_by_groups(hone_schedule *sch, const char *block_name,
                                      const hone_target *target, int32_t tile) {
    const hone_gpu_limits limits = hone_gpu_limits_of(target);
    hone_rv block;
    HONE_TRY(hone_sch_get_block(sch, block_name, &block));
    return hone_gpu_sketch_groups(sch, block, &limits, (uint32_t)tile);
}

hone_status hone_rule_multi_level_tiling_tensor_core(hone_schedule *sch, const char *block_name,
                                                     const hone_target *target,
                                                     hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    bool is_block = node != HONE_NO_ID && node != hone_func_root_block(sch->func);
    for (int32_t tile = 0; tile < HONE_GPU_GROUP_TILES && is_block && !st; tile++)
        st = hone_rule_fork(sch, multiply_by_groups, block_name, target, tile, out_results);
    if (is_block && !st)
        st = hone_rule_fork_gpu(sch, hone_gpu_sketch_parts, block_name, target, out_results);
    if (st) return hone_status_join(st, hone_rule_keep(sch, out_results));
    return hone_rule_go_gpu(sch, hone_gpu_sketch_fragments, true, block_name, target, out_results);
}
