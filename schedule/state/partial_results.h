/* schedule/state/partial_results.h - blocks that read what is still being summed up.
 *
 *     for i: for k:
 *         with block C: C[i] += A[i, k]      C[i] is done in the last iteration of k only, but D is
 *         with block D: D[i] = C[i] * 2      made anew in each of them: what stays is right
 */
#ifndef HONE_SCHEDULE_STATE_PARTIAL_RESULTS_H
#define HONE_SCHEDULE_STATE_PARTIAL_RESULTS_H

#include "schedule/state/schedule_impl.h"

/* Both are (or will be) below the loop, over which the writer reduces: does the loop do nothing but
 * repeat the reader, whose last run is behind the last update, and whose earlier ones do no harm?
 * bindings, predicate: those of the reader there. */
bool sch_may_read_partial(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                          const hone_expr *const *bindings, const hone_expr *predicate,
                          hone_node_id loop);

/* One in front of the block, below the loop, that sums over the loop what the block reads, or what
 * that was made of: the block finds other values in each iteration. HONE_NO_ID: nobody does. */
hone_node_id sch_summed_source(hone_schedule *sch, hone_node_id block, hone_node_id loop);

#endif
