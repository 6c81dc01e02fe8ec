/* ir/region/region_facts.h - the values that an index takes while some variables run, under
 * conditions.
 *
 * An index is relaxed over some variables, then tightened by facts. A fact here is a linear form p
 * that is known to be <= 0. Where an index e and p share a relaxed term, with coefficients in the
 * integer ratio c, then e = (e - c*p) + c*p: e - c*p, from which the term is gone, bounds e from
 * above (c > 0) or from below (c < 0).
 *
 *     i + j under i + j - n <= 0, i and j relaxed: c = 1, and e - p = n is an upper end
 *
 * Memory: the arena of the arith context.
 */
#ifndef HONE_IR_REGION_REGION_FACTS_H
#define HONE_IR_REGION_REGION_FACTS_H

#include "ir/arith/arith.h"

typedef struct region_facts {
    hone_linear *items; /* each <= 0 */
    uint32_t count, capacity;
    bool has_others; /* some condition is no linear comparison, and is not among the items */
} region_facts;

/* Adds the conjuncts of a condition that are linear comparisons of integers; others set
 * has_others. False when memory is short. */
bool region_facts_add(region_facts *facts, hone_arith *arith, const hone_expr *condition);

/* The interval of all values from lo to hi (both included; lo == hi for a single index) while the
 * variables marked in relax[] run. out_is_exact: every value of it is reached. */
hone_interval region_relax_span(hone_arith *arith, const region_facts *facts, const hone_expr *lo,
                                const hone_expr *hi, const bool *relax, uint32_t relax_count,
                                bool *out_is_exact);

#endif
