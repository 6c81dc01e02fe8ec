/* tuner/space/space_reduce_gpu.c - reductions on GPUs: by threads together, or in two steps.
 * Source: MetaSchedule's CrossThreadReduction and AddRFactor. */
#include "tuner/space/space_rule.h"

/* With what reads them row by row, or as they stand. */
hone_status hone_rule_cross_thread_reduction(hone_schedule *sch, const char *block_name,
                                             const hone_target *target,
                                             hone_rule_results *out_results) {
    hone_status st = hone_rule_fork_gpu(sch, hone_gpu_sketch_rows, block_name, target, out_results);
    if (!st)
        return hone_rule_go_gpu(sch, hone_gpu_sketch_reduce, true, block_name, target, out_results);
    return hone_status_join(st, hone_rule_keep(sch, out_results));
}

/* Pieces by blocks of their own. */
hone_status hone_rule_add_rfactor_gpu(hone_schedule *sch, const char *block_name,
                                      const hone_target *target, hone_rule_results *out_results) {
    return hone_rule_go_gpu(sch, hone_gpu_sketch_pieces, true, block_name, target, out_results);
}
