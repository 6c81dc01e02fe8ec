/* tuner/space/space_tiling_gpu.c - products in tiles of blocks, threads and shared memory
 * (schedule/gpu/ gpu_sketch.c). Source: MetaSchedule's MultiLevelTiling. */
#include "tuner/space/space_rule.h"

hone_status hone_rule_multi_level_tiling_gpu(hone_schedule *sch, const char *block_name,
                                             const hone_target *target,
                                             hone_rule_results *out_results) {
    return hone_rule_go_gpu(sch, hone_gpu_sketch_product, false, block_name, target, out_results);
}
