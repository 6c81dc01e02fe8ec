/* lower/vectors/vector_cut.h - vectorized loops longer than a register are cut; inside lower/ only.
 */
#ifndef HONE_LOWER_VECTORS_VECTOR_CUT_H
#define HONE_LOWER_VECTORS_VECTOR_CUT_H

#include "lower/ground/passes.h"

/* How many lanes of the widest type that the loop loads, converts to or stores fit into a register
 * of the target; types wider than 32 bits count as 32. */
int64_t lower_vector_lanes(const hone_lower *lower, hone_node_id loop);
/* Replaces a loop of `extent` by one of `head` iterations of `lanes` each and, behind it, what is
 * left; the parts are put in the place of the loop, which becomes the first of them. */
HONE_NODISCARD hone_status lower_cut_vector(hone_lower *lower, hone_node_id loop, int64_t extent,
                                            int64_t lanes);

/* Lanes of a vector that stays within a run of its accesses (consecutive elements): panels of 16
 * columns are read by vectors of 16, not by one of 32 lane after lane. The extent of the loop
 * itself where that is best; else a power of two that divides it. */
int64_t lower_lanes_within_runs(hone_lower *lower, hone_arith *arith, hone_node_id loop,
                                int64_t extent);
/* Simplifies indices below a node, so that those of a loop that was cut are linear again. */
HONE_NODISCARD hone_status lower_simplify_indices(hone_func *func, hone_arith *arith,
                                                  hone_node_id root);

#endif
