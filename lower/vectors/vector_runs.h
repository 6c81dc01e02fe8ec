/* lower/vectors/vector_runs.h - runs: how many consecutive elements the accesses of a vectorized
 * loop touch before they jump; inside lower/ only. */
#ifndef HONE_LOWER_VECTORS_VECTOR_RUNS_H
#define HONE_LOWER_VECTORS_VECTOR_RUNS_H

#include "lower/ground/passes.h"

/* Lanes of a vector that stays within a run of its accesses: panels of 16 columns are read by
 * vectors of 16, not by one of 32 lane after lane. The extent of the loop itself where that is
 * best; else a power of two that divides it. */
int64_t lower_lanes_within_runs(hone_lower *lower, hone_arith *arith, hone_node_id loop,
                                int64_t extent);
/* Simplifies indices below a node, so that those of a loop that was cut are linear again. */
HONE_NODISCARD hone_status lower_simplify_indices(hone_func *func, hone_arith *arith,
                                                  hone_node_id root);

#endif
