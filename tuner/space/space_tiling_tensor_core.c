/* tuner/space/space_tiling_tensor_core.c - products on matrix units (schedule/gpu/
 * gpu_fragments.c), beside those by threads; where groups of four warps multiply together
 * (gpu_groups.c), a sketch for each of their tiles, too. Source: MetaSchedule's
 * MultiLevelTilingTensorCore. */
#include "tuner/space/space_rule.h"

#define GROUPS(number)                                                                             \
    static hone_status groups_##number(hone_schedule *sch, hone_rv block,                          \
                                       const hone_gpu_limits *limits) {                            \
        return hone_gpu_sketch_groups(sch, block, limits, number);                                 \
    }
GROUPS(0)
GROUPS(1)
GROUPS(2)
GROUPS(3)
GROUPS(4)
GROUPS(5)

hone_status hone_rule_multi_level_tiling_tensor_core(hone_schedule *sch, const char *block_name,
                                                     const hone_target *target,
                                                     hone_rule_results *out_results) {
    static const hone_rule_gpu ways[HONE_GPU_GROUP_TILES] = {groups_0, groups_1, groups_2,
                                                             groups_3, groups_4, groups_5};
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    bool is_block = node != HONE_NO_ID && node != hone_func_root_block(sch->func);
    for (uint32_t i = 0; i < HONE_GPU_GROUP_TILES && is_block && !st; i++)
        st = hone_rule_fork_gpu(sch, ways[i], block_name, target, out_results);
    if (st) return hone_status_join(st, hone_rule_keep(sch, out_results));
    return hone_rule_go_gpu(sch, hone_gpu_sketch_fragments, true, block_name, target, out_results);
}
