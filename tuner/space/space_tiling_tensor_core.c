/* tuner/space/space_tiling_tensor_core.c - products on matrix units (schedule/gpu/
 * gpu_fragments.c), beside those by threads. Source: MetaSchedule's MultiLevelTilingTensorCore. */
#include "tuner/space/space_rule.h"

hone_status hone_rule_multi_level_tiling_tensor_core(hone_schedule *sch, const char *block_name,
                                                     const hone_target *target,
                                                     hone_rule_results *out_results) {
    return hone_rule_go_gpu(sch, hone_gpu_sketch_fragments, true, block_name, target, out_results);
}
