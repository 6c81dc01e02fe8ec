/* ir/region/region_impl.h - what inferring and relaxing regions share; for this folder only.
 * Memory: the arena of the arith context. */
#ifndef HONE_IR_REGION_REGION_IMPL_H
#define HONE_IR_REGION_REGION_IMPL_H

#include "ir/region/region_facts.h"

/* Simplifies a value in which nothing is relaxed; but (v - 1) // 2 stays, as in TVM, and does not
 * become (v + 1) // 2 - 1. */
const hone_expr *region_fixed(hone_arith *arith, const hone_expr *e);
/* Zeroed memory; NULL where it is short, which is then the error of arith->ir. */
void *region_alloc(hone_arith *arith, size_t bytes);

/* What a block touches of a buffer, in terms of the loops around it. */
typedef struct region_access {
    const hone_region *region;
    const hone_expr *const *map; /* axis variable → binding, map_count entries */
    uint32_t map_count;
    const bool *relax; /* by variable: the loops that run, relax_count entries */
    uint32_t relax_count;
} region_access;

/* Judges all dimensions together, by the iterator map of the indices: true where the access, under
 * the predicate (NULL = true), touches exactly the box `out` (rank intervals). False: not known. */
bool region_joint_box(hone_arith *arith, const region_access *access, uint32_t rank,
                      const hone_expr *predicate, hone_interval *out);

/* The running loops count the elements row by row, and the predicate holds for every number that
 * the buffer has: the whole buffer is touched. False: not known. */
bool region_is_whole_by_rows(hone_arith *arith, const region_access *access,
                             const hone_buffer_info *buffer, const hone_expr *predicate);

/* Where several indices take digits of one loop (i // 4 and i % 4), replaces the loop by two that
 * run in its place, in io and in the predicate. The new variables lie behind all that arith knows:
 * the caller puts arith->count back. False: there is no such loop, or no memory. */
bool region_split_digits(hone_arith *arith, uint32_t rank, region_access *io,
                         const hone_expr **io_predicate);

/* [0, extent - 1] of one dimension of a buffer. */
hone_interval region_whole_dim(hone_arith *arith, const hone_buffer_info *buffer, uint32_t dim);

/* region_span.c */
/* e - c*p as a linear form; false on overflow or when memory is short. */
bool region_linear_minus(hone_arith *arith, const hone_linear *e, int64_t c, const hone_linear *p,
                         hone_linear *out);
/* The integer ratio of the coefficients of a relaxed term that both forms have, or 0. */
int64_t region_shared_ratio(const hone_linear *e, const hone_linear *p, const bool *relax,
                            uint32_t relax_count);

#endif
