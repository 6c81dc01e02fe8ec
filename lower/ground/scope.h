/* lower/ground/scope.h - what is known at a node: ranges of the loops around it, and which
 * variables are bound below it; inside lower/ only. */
#ifndef HONE_LOWER_GROUND_SCOPE_H
#define HONE_LOWER_GROUND_SCOPE_H

#include "lower/ground/accesses.h"
#include "lower/ground/passes.h"

/* {.lower = …} and hone_arith_init(&arith) begin one; it may be used for one node after another. */
typedef struct lower_scope {
    hone_lower *lower;
    hone_arith arith;
    bool *loops, *others;           /* by variable: bound below, by a loop, by a LET */
    bool *bound;                    /* by variable: that of a loop whose range arith knows */
    uint32_t var_count, node_count; /* how many there were when the sizes were looked up */
    uint32_t capacity;
} lower_scope;

/* Binds the ranges of the loops around root, of root and of those below it, and marks the variables
 * that vary below: those of root and below. `kept` is a loop variable that is left unmarked, that
 * of root for instance; HONE_NO_ID = none. */
HONE_NODISCARD hone_status lower_enter(lower_scope *s, hone_node_id root, hone_var kept);
/* lower_enter, but of the loops below root only those around at least one of these accesses. */
HONE_NODISCARD hone_status lower_enter_for(lower_scope *s, hone_node_id root,
                                           const lower_accesses *accesses);
/* Threads around a node that share memory of that scope touch it all at once: their loops count as
 * loops below. (What is allocated in global memory there becomes their own:
 * threads/memory_scopes.c.) */
void lower_count_sharers(lower_scope *s, hone_node_id at, const char *memory);
/* Whether the expression uses a variable that varies below root. */
bool lower_varies_below(const lower_scope *s, const hone_expr *e);
/* The index relaxed over the loops below root: an interval over what stands outside. Its ends are
 * NULL where the index loads, or uses a LET from below. */
hone_interval lower_range_below(lower_scope *s, const hone_expr *index);
/* Binds the loops around a node; itself too, where it is a loop. */
HONE_NODISCARD hone_status lower_bind_around(const hone_func *func, hone_node_id node,
                                             hone_arith *arith);

#endif
