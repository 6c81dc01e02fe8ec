/* lower/memory/lifetimes.h - private copies for iterations that run at once (array expansion);
 * inside lower/ only. */
#ifndef HONE_LOWER_MEMORY_LIFETIMES_H
#define HONE_LOWER_MEMORY_LIFETIMES_H

#include "lower/ground/accesses.h"

/* Where iterations of a parallel or vectorized loop around all accesses may store to the same
 * elements, and each reads within the box that it stores to: gives the buffer a dimension for them,
 * in front, for each such loop between its ALLOC node and the accesses. all: its accesses, none of
 * them opaque. */
HONE_NODISCARD hone_status lower_part_iterations(hone_lower *lower, hone_node_id alloc,
                                                 const lower_accesses *all);

#endif
