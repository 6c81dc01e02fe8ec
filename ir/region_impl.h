/* ir/region_impl.h - the interval machinery that region inference and region relaxing share.
 *
 * An index is relaxed over some variables, then tightened by facts. A fact is a linear form p that
 * is known to be <= 0. When the index e shares a relaxed term with p, with coefficients in the
 * integer ratio c, then  e = (e - c*p) + c*p,  so e - c*p bounds e from above (c > 0) or from below
 * (c < 0), and the shared term is gone from it.
 *
 * For ir/region*.c only. Memory: the arena of the arith context.
 */
#ifndef HONE_IR_REGION_IMPL_H
#define HONE_IR_REGION_IMPL_H

#include "ir/arith.h"

typedef struct region_facts {
    hone_linear *items; /* each <= 0 */
    uint32_t count, capacity;
    bool has_others; /* a condition that is no linear comparison was left out */
} region_facts;

/* Adds the conjuncts of a condition that are linear comparisons of integers; others set
 * has_others. False when memory is short. */
bool region_facts_add(region_facts *facts, hone_arith *arith, const hone_expr *condition);

/* A value that does not move, simplified; but (v - 1) // 2 stays, as in TVM: it does not become
 * (v + 1) // 2 - 1. */
const hone_expr *region_fixed(hone_arith *arith, const hone_expr *e);
/* The values between lo and hi (both included; the same pointer for a single index) when the
 * relaxed variables run. out_is_exact: every value in between is reached. */
hone_interval region_relax_span(hone_arith *arith, const region_facts *facts, const hone_expr *lo,
                                const hone_expr *hi, const bool *relax, uint32_t relax_count,
                                bool *out_is_exact);

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
