/* lower/vectors/vector_cut.h - vectorized loops longer than a register are cut; inside lower/ only.
 */
#ifndef HONE_LOWER_VECTORS_VECTOR_CUT_H
#define HONE_LOWER_VECTORS_VECTOR_CUT_H

#include "lower/ground/passes.h"

/* Lanes of a register full of the widest elements that are loaded, converted to or stored; of words
 * at most that a register has. */
int64_t lower_vector_lanes(const hone_lower *lower, hone_node_id loop);
/* Replaces a loop of `extent` by one of `head` iterations of `lanes` each and, behind it, what is
 * left; the parts are put in the place of the loop, which becomes the first of them. */
HONE_NODISCARD hone_status lower_cut_vector(hone_lower *lower, hone_node_id loop, int64_t extent,
                                            int64_t lanes);

#endif
