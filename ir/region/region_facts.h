/* ir/region/region_facts.h - the values that an index takes while some variables run, under
 * conditions.
 *
 * An index is relaxed over some variables, then tightened by facts. A fact is a linear form p that
 * is known to be <= 0. When the index e shares a relaxed term with p, with coefficients in the
 * integer ratio c, then  e = (e - c*p) + c*p,  so e - c*p bounds e from above (c > 0) or from below
 * (c < 0), and the shared term is gone from it.
 *
 * Memory: the arena of the arith context.
 */
#ifndef HONE_IR_REGION_REGION_FACTS_H
#define HONE_IR_REGION_REGION_FACTS_H

#include "ir/arith/arith.h"

typedef struct region_facts {
    hone_linear *items; /* each <= 0 */
    uint32_t count, capacity;
    bool has_others; /* a condition that is no linear comparison was left out */
} region_facts;

/* Adds the conjuncts of a condition that are linear comparisons of integers; others set
 * has_others. False when memory is short. */
bool region_facts_add(region_facts *facts, hone_arith *arith, const hone_expr *condition);

/* The values between lo and hi (both included; the same pointer for a single index) when the
 * relaxed variables run. out_is_exact: every value in between is reached. */
hone_interval region_relax_span(hone_arith *arith, const region_facts *facts, const hone_expr *lo,
                                const hone_expr *hi, const bool *relax, uint32_t relax_count,
                                bool *out_is_exact);

#endif
