/* lower/conditions.h - conditions below a node, and what implies them for all iterations of the
 * loops there; inside lower/ only. */
#ifndef HONE_LOWER_CONDITIONS_H
#define HONE_LOWER_CONDITIONS_H

#include "lower/accesses.h"

enum { LOWER_MAX_CONDITIONS = 32 };

/* {.lower = …} and hone_arith_init(&arith) begin one; it may be used for one node after another. */
typedef struct lower_conditions {
    hone_lower *lower;
    hone_arith arith;
    bool *loops, *others; /* by variable, see lower_mark_vars */
    uint32_t var_count, capacity;
    bool is_changed; /* for whoever uses this: the program is another */
    uint32_t count;
    const hone_expr *conditions[LOWER_MAX_CONDITIONS]; /* conjuncts of IFs and if_then_else */
    const hone_expr *hoisted[LOWER_MAX_CONDITIONS];    /* what implies each, without the loops */
} lower_conditions;

/* Binds the loops around and below root and marks those below. `kept` is a loop variable that is
 * not marked, that of root itself for instance; HONE_NO_ID = all are. */
HONE_NODISCARD hone_status lower_enter(lower_conditions *c, hone_node_id root, hone_var kept);
/* Enters root and finds the conditions below; those that cannot be hoisted are left out. */
HONE_NODISCARD hone_status lower_find_conditions(lower_conditions *c, hone_node_id root,
                                                 hone_var kept, bool only_in_tiles);
/* Forgets condition number i. */
void lower_drop_condition(lower_conditions *c, uint32_t i);
/* Below root the conditions hold. */
HONE_NODISCARD hone_status lower_assume_conditions(lower_conditions *c, hone_node_id root);
/* What a comparison of integers says, as an expression that is below 0 where it holds; NULL for
 * other conditions. */
const hone_expr *lower_gap_of(hone_arith *arith, const hone_expr *condition);

/* Iterations first .. end - 1 of a loop. */
typedef struct lower_span {
    int64_t first, end;
} lower_span;

/* Narrows the span to the iterations in which e is below 0; false, and nothing is done, when e is
 * not linear in the loop variable alone. */
bool lower_span_below_zero(hone_arith *arith, const hone_expr *e, hone_var var, lower_span *span);
/* Lets the loops at and below root begin and end where their work does: iterations at both ends in
 * which all statements stand under conditions that cannot hold are left out (lower/trim.c). */
HONE_NODISCARD hone_status lower_trim_loops(lower_conditions *c, hone_node_id root);
/* step * iteration + constant + terms, least..most multiples of unit (0: no terms), below 0 */
typedef struct lower_alike_sum {
    int64_t step, constant, unit, least, most;
} lower_alike_sum;
/* Which iterations of a loop are alike; see lower/alike.c. {0}: none are. */
typedef struct lower_alike {
    bool is_known;
    uint32_t count;
    const hone_expr *conditions[LOWER_MAX_CONDITIONS];
    lower_alike_sum sums[LOWER_MAX_CONDITIONS];
} lower_alike;

/* By the conditions that c has found below the loop over var. */
void lower_find_alike(lower_conditions *c, hone_var var, lower_alike *out);
/* Whether the same conditions hold in this iteration and in the one before it. */
bool lower_is_alike(const lower_alike *alike, int64_t iteration);
/* Asks the conditions below root for this value of the loop's variable. */
HONE_NODISCARD hone_status lower_fix_conditions(hone_func *func, hone_node_id root,
                                                const lower_alike *alike, hone_var var,
                                                const hone_expr *value);
/* Statements that follow each other below one parent. */
typedef struct lower_run {
    hone_node_id first, last;
} lower_run;
enum { LOWER_MAX_RUNS = 8 };
/* Those statements of a loop's body in which the conditions stand. */
typedef struct lower_runs {
    enum {
        LOWER_RUNS_ALL,   /* copies need all of the body */
        LOWER_RUNS_SOME,  /* items need copies, the rest does not */
        LOWER_RUNS_INNER, /* like SOME, but inside of further loops */
    } kind;
    uint32_t count;
    lower_run items[LOWER_MAX_RUNS];
} lower_runs;

/* See lower/condition_runs.c. */
void lower_find_runs(const lower_conditions *c, hone_node_id loop, lower_runs *out);
/* A vectorized or unrolled loop. */
bool lower_is_tile(const hone_func *func, hone_node_id id);

#endif
