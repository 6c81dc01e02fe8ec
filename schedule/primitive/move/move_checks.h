/* schedule/primitive/move/move_checks.h - what compute_at and reverse_compute_at ask of the loops
 * that they have made for a block, before it is put there. For prim_compute_at.c and move_checks.c.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_CHECKS_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_CHECKS_H

#include "schedule/primitive/move/move_domain.h"

/* A block on its way into a loop. */
typedef struct sch_move {
    hone_schedule *sch;
    hone_node_id block, loop, scope;
    bool is_reverse;
    bool keep_units;
    int64_t index;
    uint32_t other_count; /* consumers, or producers */
    const hone_node_id *others;
    sch_axis_domain *domains; /* per axis */
    const hone_expr *outer;   /* conditions of the only other block on loops outside, or NULL */
    hone_node_id before;      /* insert before this child of the loop; HONE_NO_ID = at the end */
} sch_move;

/* ILLEGAL where the nest, which is not in the tree yet, would leave out instances that are needed,
 * repeat some that must not be, run them at once or in a wrong order, or read what producers have
 * not done by then. The bindings and the predicate are the nest's. */
HONE_NODISCARD hone_status sch_check_new_nest(sch_move *m, const sch_nest *nest);

#endif
