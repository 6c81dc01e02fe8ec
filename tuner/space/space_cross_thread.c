/* tuner/space/space_cross_thread.c - reductions by threads together, with what reads them row by
 * row, or as they stand. Source: MetaSchedule's CrossThreadReduction. */
#include "tuner/space/space_rule.h"

hone_status hone_rule_cross_thread_reduction(hone_schedule *sch, const char *block_name,
                                             const hone_target *target,
                                             hone_rule_results *out_results) {
    hone_status st = hone_rule_fork_gpu(sch, hone_gpu_sketch_rows, block_name, target, out_results);
    if (!st)
        return hone_rule_go_gpu(sch, hone_gpu_sketch_reduce, true, block_name, target, out_results);
    return hone_status_join(st, hone_rule_keep(sch, out_results));
}
