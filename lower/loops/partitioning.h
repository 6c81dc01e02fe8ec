/* lower/loops/partitioning.h - between which iterations of a loop the conditions below it change;
 * inside lower/ only. */
#ifndef HONE_LOWER_LOOPS_PARTITIONING_H
#define HONE_LOWER_LOOPS_PARTITIONING_H

#include "lower/ground/conditions.h"

/* Iterations first .. end - 1 of a loop. */
typedef struct lower_span {
    int64_t first, end;
} lower_span;

/* A term is below `at` (is_end), or not below it. */
typedef struct lower_limit {
    const hone_expr *term;
    int64_t at;
    bool is_end;
} lower_limit;

/* The limit of its term at which a gap (lower_gap_of) changes its sign; false when the gap is not
 * linear in exactly one term. */
bool lower_limit_of(hone_arith *arith, const hone_expr *gap, lower_limit *out);
/* Narrows the span to the iterations in which e is below 0; false, and nothing is done, when e is
 * not linear in the loop variable alone. */
bool lower_span_below_zero(hone_arith *arith, const hone_expr *e, hone_var var, lower_span *span);
/* Cuts off iterations at both ends of the loops at and below root in which no statement runs, since
 * all stand under conditions that do not hold there (lower/loops/trim.c). */
HONE_NODISCARD hone_status lower_trim_loops(lower_conditions *c, hone_node_id root);
/* Puts loops over pieces of the rows of a tile of sums in the place of root, which is a copy of the
 * tile whose rows are not all there (lower/loops/tail_rows.c); out_done: it was such a tile. */
HONE_NODISCARD hone_status lower_take_rows_apart(lower_conditions *v, hone_node_id root,
                                                 bool *out_done);
enum { LOWER_MAX_ROOTS = 4 };
typedef struct lower_roots {
    uint32_t count;
    hone_node_id items[LOWER_MAX_ROOTS];
} lower_roots;
/* Puts copies of the tile of sums, one for each register of its columns, in the place of root, each
 * under the condition that some of its columns are there (lower/loops/tail_columns.c). Gives the
 * copies; root alone, as it is, where it is no such tile. */
HONE_NODISCARD hone_status lower_take_columns_apart(lower_conditions *v, hone_node_id root,
                                                    lower_roots *out);
/* The condition step * iteration + constant + terms < 0, of which is known that the terms are a
 * multiple of unit from least to most (unit 0: there are no terms). */
typedef struct lower_alike_sum {
    int64_t step, constant, unit, least, most;
} lower_alike_sum;
/* In which iterations of a loop the same conditions hold as in the one before; see
 * lower/loops/alike.c. {0}: not known of any. */
typedef struct lower_alike {
    bool is_known;
    uint32_t count;
    const hone_expr *conditions[LOWER_MAX_CONDITIONS];
    lower_alike_sum sums[LOWER_MAX_CONDITIONS];
} lower_alike;

/* Fills in lower_alike from the conditions that c lists below the loop over var. */
void lower_find_alike(lower_conditions *c, hone_var var, lower_alike *out);
/* Whether the conditions that hold in this iteration are those of the one before it. */
bool lower_is_alike(const lower_alike *alike, int64_t iteration);
/* Puts the value in the place of the loop's variable wherever one of the conditions stands below
 * root, and nowhere else. */
HONE_NODISCARD hone_status lower_fix_conditions(hone_func *func, hone_node_id root,
                                                const lower_alike *alike, hone_var var,
                                                const hone_expr *value);
/* Statements that follow each other below one parent. */
typedef struct lower_run {
    hone_node_id first, last;
} lower_run;
enum { LOWER_MAX_RUNS = 8 };
/* Which statements of a loop's body hold the conditions, so that copies of the loop for different
 * iterations need a copy of these. */
typedef struct lower_runs {
    enum {
        LOWER_RUNS_ALL,   /* copies need all of the body */
        LOWER_RUNS_SOME,  /* items need copies, the rest does not */
        LOWER_RUNS_INNER, /* like SOME, but inside of further loops */
    } kind;
    uint32_t count;
    lower_run items[LOWER_MAX_RUNS];
} lower_runs;

/* Conditions of a tile that go by the value of one sum of loops around it, and where a choice by
 * them costs nothing beside the work below it; see lower/loops/borders.c. */
typedef struct lower_border {
    hone_node_id root;    /* the choice stands around it */
    const hone_expr *sum; /* of two or more terms */
    lower_span all;       /* its values */
    bool is_fixed;        /* the value alone decides each condition */
    uint32_t count;       /* 0: there is no border at this root */
    const hone_expr *conditions[LOWER_MAX_CONDITIONS];
    const hone_expr *gaps[LOWER_MAX_CONDITIONS];   /* below 0 where the condition holds */
    const hone_expr *by_sum[LOWER_MAX_CONDITIONS]; /* with a variable in the place of the sum */
    int64_t scales[LOWER_MAX_CONDITIONS];          /* of the sum in each gap */
} lower_border;

/* The serial loop that does nothing but this one, or HONE_NO_ID. */
hone_node_id lower_serial_around(const hone_func *func, hone_node_id loop);
/* The border that has this root. c: scratch. */
HONE_NODISCARD hone_status lower_find_border(lower_conditions *c, hone_node_id root,
                                             lower_border *out);
/* Whether all tiles below the loop that ask for the condition have a border within the loop that
 * takes it. scratch: other conditions than those that the loop's are listed in. */
HONE_NODISCARD hone_status lower_is_left_to_borders(lower_conditions *scratch, hone_node_id loop,
                                                    const hone_expr *condition, bool *out_is);
/* Makes the border's by_sum, binds var to the values, and lists by_sum in c, which found it. */
HONE_NODISCARD hone_status lower_go_by_sum(lower_conditions *c, lower_border *border, hone_var var);
/* Puts by_sum in the place of the conditions. */
HONE_NODISCARD hone_status lower_put_by_sum(hone_func *func, hone_node_id root,
                                            const lower_border *border);
/* Below the root nothing asks for the conditions but choices between numbers that ask for all. */
bool lower_border_is_joint(const hone_func *func, const lower_border *border);
/* Below the node the conditions of a joint border do not hold together: such choices take their
 * other number. */
HONE_NODISCARD hone_status lower_border_fails(hone_func *func, hone_node_id root,
                                              const lower_border *border);

/* Finds the runs of statements below the loop that hold conditions listed in c
 * (lower/loops/condition_runs.c). */
void lower_find_runs(const lower_conditions *c, hone_node_id loop, lower_runs *out);

#endif
