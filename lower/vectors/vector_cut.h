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
/* Lets a loop begin at 0; where its variable is used, the old beginning is added. */
HONE_NODISCARD hone_status lower_begin_at_zero(hone_lower *lower, hone_node_id id);

#endif
