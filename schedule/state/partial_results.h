/* schedule/state/partial_results.h - blocks that read an output of a reduction before its last
 * update (a partial result).
 *
 *     for i: for k:
 *         with block C: C[i] += A[i, k]      only the last iteration of k makes C[i] complete;
 *         with block D: D[i] = C[i] * 2      but each one overwrites D[i]: what stays is right
 */
#ifndef HONE_SCHEDULE_STATE_PARTIAL_RESULTS_H
#define HONE_SCHEDULE_STATE_PARTIAL_RESULTS_H

#include "schedule/state/schedule_impl.h"

/* Reading partial results does no harm: the loop, below which both are or will be and over which
 * the writer reduces, only repeats instances of the reader; the last repetition comes behind the
 * last update, and the earlier ones leave nothing but what it overwrites. bindings, predicate:
 * those that the reader has, or will have, there. */
bool sch_may_read_partial(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                          const hone_expr *const *bindings, const hone_expr *predicate,
                          hone_node_id loop);

/* A block in front of `block`, below the loop, that reduces over the loop what `block` reads, or
 * what that was computed from: then `block` finds other values in each iteration. HONE_NO_ID: there
 * is none. */
hone_node_id sch_summed_source(hone_schedule *sch, hone_node_id block, hone_node_id loop);

#endif
