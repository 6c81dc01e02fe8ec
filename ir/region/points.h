/* ir/region/points.h - single iterations of the loops around a statement, and what is true there.
 *
 * Whoever looks for an iteration that breaks a rule can show it: a found one is certain, for loops
 * run over numbers, axes and lets follow from them, and every condition on the way is evaluated.
 * What cannot be evaluated (a load, a size) makes the answer "don't know".
 */
#ifndef HONE_IR_REGION_POINTS_H
#define HONE_IR_REGION_POINTS_H

#include "ir/core/func.h"

/* A condition on the way to what is being checked. */
typedef struct hone_guard {
    const hone_expr *condition;
    bool is_negated;
    bool is_soft; /* beside it in an `and`, `or` or T.Select: both sides may be evaluated */
} hone_guard;

/* A variable: where its values come from. */
typedef struct hone_point_var {
    const hone_expr *source; /* an axis: its binding; a let: its value; else NULL */
    int64_t value;           /* at the point in hand */
    uint32_t stamp;          /* value is that of this point */
    bool is_known, is_needed;
    bool is_size; /* comes from outside of the function: known in a trial only */
} hone_point_var;

typedef struct hone_points {
    const hone_func *func;
    hone_point_var *vars;
    hone_guard *guards;
    uint32_t guard_count, guard_capacity;
    uint32_t stamp, lane;
    uint64_t fuel; /* points that may still be looked at in this function */
} hone_points;

typedef enum hone_outside {
    HONE_OUTSIDE_NEVER,     /* no iteration leaves the range */
    HONE_OUTSIDE_UNKNOWN,   /* none was found */
    HONE_OUTSIDE_UNGUARDED, /* one does where a soft guard does not hold */
    HONE_OUTSIDE_FOUND,     /* one does */
} hone_outside;

/* Begins with no guards, to look at iterations of the function's loops. False when memory is short.
 */
bool hone_points_init(hone_points *points, hone_arena *arena, const hone_func *func);
/* Adds a condition that holds on the way; guard_count set back takes it away. False when memory is
 * short. */
bool hone_points_push(hone_points *points, hone_arena *arena, hone_guard guard);
/* The value of an integer or a condition at the point in hand. */
bool hone_value_at(hone_points *points, const hone_expr *e, int64_t *out_value);
/* Is there an iteration of the loops around node in which e is not in [begin, end)? What e is there
 * is the value; for OUTSIDE that iteration is the point in hand. */
hone_outside hone_find_outside(hone_points *points, hone_node_id node, const hone_expr *e,
                               int64_t begin, int64_t end, int64_t *out_value);

#endif
