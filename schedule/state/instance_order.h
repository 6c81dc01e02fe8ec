/* schedule/state/instance_order.h - which instances of a block run where it stands; and where they
 * write the same elements, the last one counts: they must not change places. */
#ifndef HONE_SCHEDULE_STATE_INSTANCE_ORDER_H
#define HONE_SCHEDULE_STATE_INSTANCE_ORDER_H

#include "ir/arith/itermap.h"
#include "schedule/state/schedule_impl.h"

/* Loops, innermost first: from bottom outwards, then from outer outwards, each up to what is no
 * loop; HONE_NO_ID where there are none. */
typedef struct sch_loop_chain {
    hone_node_id bottom, outer;
} sch_loop_chain;

/* Do the loops meet the instances, as bindings say, in the order of the axes' values (the last axis
 * changes fastest)? Axes that a block without init has no use for may change their order. */
bool sch_meets_in_order(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                        sch_loop_chain loops);
/* Refuses a block of which instances that write the same elements would change their order:
 * different spatial values may do so, and the loops around it, or those that will be with the
 * bindings that will be, do not meet the instances in order. */
HONE_NODISCARD hone_status sch_require_order(hone_schedule *sch, hone_node_id block,
                                             const hone_expr *const *then, sch_loop_chain loops);

/* The axes of a block, each over all of its domain; NULL when memory is short. */
hone_iter *sch_whole_axes(hone_schedule *sch, const hone_block *block);
/* The values that an axis of a block takes in one run of the marked loops, where it stands. */
HONE_NODISCARD hone_status sch_values_now(hone_schedule *sch, hone_node_id block,
                                          const hone_axis *axis, const bool *marks,
                                          hone_interval *out);
/* The values that the axes of a block take in one run of its scope, as a box around them. exact
 * (may be NULL): each point of the box is met. */
HONE_NODISCARD hone_status sch_axes_box(hone_schedule *sch, hone_node_id block, hone_iter **out,
                                        bool *out_is_exact);

#endif
