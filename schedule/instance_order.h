/* schedule/instance_order.h - where instances of a block write the same elements, the last one
 * counts: they must not change places. */
#ifndef HONE_SCHEDULE_INSTANCE_ORDER_H
#define HONE_SCHEDULE_INSTANCE_ORDER_H

#include "schedule/schedule_impl.h"

/* Loops, innermost first: from bottom outwards, then from outer outwards, each up to what is no
 * loop; HONE_NO_ID where there are none. */
typedef struct sch_loop_chain {
    hone_node_id bottom, outer;
} sch_loop_chain;

/* Do the loops meet the instances, as bindings say, in the order of the axes' values (the last axis
 * changes fastest)? Also true where the order does not matter: different spatial values write
 * different elements. Axes that a block without init has no use for may change their order. */
bool sch_runs_in_order(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                       sch_loop_chain loops);

#endif
