/* ir/region/region_impl.h - what region inference and region relaxing share. For this folder only.
 *
 * Memory: the arena of the arith context.
 */
#ifndef HONE_IR_REGION_REGION_IMPL_H
#define HONE_IR_REGION_REGION_IMPL_H

#include "ir/region/region_facts.h"

/* A value that does not move, simplified; but (v - 1) // 2 stays, as in TVM: it does not become
 * (v + 1) // 2 - 1. */
const hone_expr *region_fixed(hone_arith *arith, const hone_expr *e);
/* What a block touches of a buffer, in terms of the loops around it. */
typedef struct region_access {
    const hone_region *region;
    const hone_expr *const *map; /* axis variable → binding, map_count entries */
    uint32_t map_count;
    const bool *relax; /* by variable: the loops that run, relax_count entries */
    uint32_t relax_count;
} region_access;

/* All dimensions together: true when the access touches exactly a box, which is out (rank entries),
 * under the conditions of the predicate (NULL = true). False: don't know. */
bool region_joint_box(hone_arith *arith, const region_access *access, uint32_t rank,
                      const hone_expr *predicate, hone_interval *out);

/* The elements are counted row by row by the loops that run, and the predicate holds for all
 * numbers that the buffer has: all of it is touched. False: don't know. */
bool region_is_whole_by_rows(hone_arith *arith, const region_access *access,
                             const hone_buffer_info *buffer, const hone_expr *predicate);

/* Takes a loop apart of which indices take digits: two new ones run in its place, whose variables
 * are behind all that arith knows; the caller puts arith->count back. False: there is no such loop
 * (or no memory). */
bool region_split_digits(hone_arith *arith, uint32_t rank, region_access *io,
                         const hone_expr **io_predicate);

/* [0, extent - 1] of one dimension of a buffer. */
hone_interval region_whole_dim(hone_arith *arith, const hone_buffer_info *buffer, uint32_t dim);

#endif
