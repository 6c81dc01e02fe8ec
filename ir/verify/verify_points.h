/* ir/verify/verify_points.h - single iterations of the loops around a statement, and what is true
 * there.
 *
 * Verification looks for an iteration that breaks a rule, and shows it: a found one is certain, for
 * loops run over numbers, axes and lets follow from them, and every condition on the way is
 * evaluated. What cannot be evaluated (a load, a size) makes the answer "don't know", never an
 * error. For this folder only.
 */
#ifndef HONE_IR_VERIFY_VERIFY_POINTS_H
#define HONE_IR_VERIFY_VERIFY_POINTS_H

#include "ir/core/func.h"

/* A condition on the way to what is being checked. */
typedef struct verify_guard {
    const hone_expr *condition;
    bool is_negated;
    bool is_soft; /* beside it in an `and`, `or` or T.Select: both sides may be evaluated */
} verify_guard;

/* A variable: where its values come from. */
typedef struct verify_source {
    const hone_expr *source; /* an axis: its binding; a let: its value; else NULL */
    int64_t value;           /* at the point in hand */
    uint32_t stamp;          /* value is that of this point */
    bool is_known, is_needed;
    bool is_size; /* comes from outside of the function: known in a trial only */
} verify_source;

typedef struct verify_points {
    const hone_func *func;
    verify_source *vars;
    verify_guard *guards;
    uint32_t guard_count, guard_capacity;
    uint32_t stamp, lane;
    uint64_t fuel; /* points that may still be looked at in this function */
} verify_points;

typedef enum verify_answer {
    VERIFY_INSIDE,    /* no iteration leaves the range */
    VERIFY_UNKNOWN,   /* none was found */
    VERIFY_UNGUARDED, /* one does where a soft guard does not hold */
    VERIFY_OUTSIDE,   /* one does */
} verify_answer;

bool verify_points_init(verify_points *points, hone_arena *arena, const hone_func *func);
/* False when memory is short. Guards are taken back by resetting guard_count. */
bool verify_guard_push(verify_points *points, hone_arena *arena, verify_guard guard);
/* The value of an integer or a condition at the point in hand. */
bool verify_value_at(verify_points *points, const hone_expr *e, int64_t *out_value);
/* Is there an iteration of the loops around node in which e is not in [begin, end)? What e is there
 * is the value; for OUTSIDE that iteration is the point in hand. */
verify_answer verify_find_outside(verify_points *points, hone_node_id node, const hone_expr *e,
                                  int64_t begin, int64_t end, int64_t *out_value);

#endif
