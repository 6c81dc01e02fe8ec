/* lower/ground/conditions.h - conditions below a node, and what implies them for all iterations of
 * the loops there; inside lower/ only. */
#ifndef HONE_LOWER_GROUND_CONDITIONS_H
#define HONE_LOWER_GROUND_CONDITIONS_H

#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"

enum { LOWER_MAX_CONDITIONS = 32 };

typedef struct lower_conditions {
    lower_scope scope;
    bool is_changed; /* left to the pass: it has changed the program */
    uint32_t count;
    const hone_expr *conditions[LOWER_MAX_CONDITIONS]; /* conjuncts of IFs and if_then_else */
    const hone_expr *hoisted[LOWER_MAX_CONDITIONS];    /* what implies each, without the loops */
} lower_conditions;

/* lower_enter(root, kept), then lists the conditions below root that are implied by a condition on
 * variables from outside of root (and on `kept`): `hoisted`. Others are left out, as are, with
 * only_in_tiles, conditions outside of vectorized and unrolled loops. */
HONE_NODISCARD hone_status lower_find_conditions(lower_conditions *c, hone_node_id root,
                                                 hone_var kept, bool only_in_tiles);
/* Forgets condition number i. */
void lower_drop_condition(lower_conditions *c, uint32_t i);
/* Replaces each of the conditions by true, wherever it stands below root. */
HONE_NODISCARD hone_status lower_assume_conditions(lower_conditions *c, hone_node_id root);
/* The gap of a comparison of integers: an expression that is below 0 exactly where the comparison
 * holds (i < n: i - n). NULL for other conditions. */
const hone_expr *lower_gap_of(hone_arith *arith, const hone_expr *condition);

/* The gap of a conjunct, relaxed over the loops below root: an interval over what stands outside.
 * {NULL, NULL}: no comparison of integers, or not known. */
hone_interval lower_gap_range(lower_conditions *c, const hone_expr *part);

/* A vectorized or unrolled loop. */
bool lower_is_tile(const hone_func *func, hone_node_id id);

/* lower_clip shortens a loop by a condition whose gap changes by this much per iteration. */
static inline bool lower_may_clip(int64_t coefficient) {
    enum { MOST = 64 };
    return coefficient == -1 || (coefficient >= 1 && coefficient <= MOST);
}

#endif
