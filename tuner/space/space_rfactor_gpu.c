/* tuner/space/space_rfactor_gpu.c - reductions in two steps, pieces by blocks
 * of their own. Source: MetaSchedule's AddRFactor. */
#include "tuner/space/space_rule.h"

hone_status hone_rule_add_rfactor_gpu(hone_schedule *sch, const char *block_name,
                                      const hone_target *target, hone_rule_results *out_results) {
    return hone_rule_go_gpu(sch, hone_gpu_sketch_pieces, true, block_name, target, out_results);
}
