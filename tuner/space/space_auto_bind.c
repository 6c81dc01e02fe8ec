/* tuner/space/space_auto_bind.c - what no other rule bound, by blocks of so many
 * threads. Source: MetaSchedule's AutoBind. */
#include "tuner/space/space_rule.h"

hone_status hone_rule_auto_bind(hone_schedule *sch, const char *block_name,
                                const hone_target *target, hone_rule_results *out_results) {
    return hone_rule_go_gpu(sch, hone_gpu_sketch_bind, false, block_name, target, out_results);
}
