/* schedule/state/instance_order.h - in which order the instances of a block run, and which of them.
 * Where two instances write the same element the later one counts, so a step must not exchange
 * them. */
#ifndef HONE_SCHEDULE_STATE_INSTANCE_ORDER_H
#define HONE_SCHEDULE_STATE_INSTANCE_ORDER_H

#include "ir/arith/itermap.h"
#include "schedule/state/schedule_impl.h"

/* Two chains of loops, one around the other, innermost first: from `bottom` outwards, then from
 * `outer` outwards, each up to the first node that is no loop; HONE_NO_ID: no such chain. */
typedef struct sch_loop_chain {
    hone_node_id bottom, outer;
} sch_loop_chain;

/* With these bindings (one per axis), the loops run the instances in lexicographic order of their
 * axes, the last one changing fastest. Axes that a block without init does not use may stand
 * anywhere in the order. */
bool sch_meets_in_order(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                        sch_loop_chain loops);
/* ILLEGAL where the step would exchange instances that write the same element: the block's writes
 * are not disjoint, and the loops around it now, or those that will be (`loops`, with the bindings
 * `then`), do not run the instances in order. */
HONE_NODISCARD hone_status sch_require_order(hone_schedule *sch, hone_node_id block,
                                             const hone_expr *const *then, sch_loop_chain loops);

/* The loops as iterators over their ranges; an array in the arena, NULL where memory is short. */
hone_iter *sch_iters_of_loops(hone_schedule *sch, uint32_t count, const hone_node_id *loops);
/* The axes of a block as iterators over their whole domains, in the arena; NULL when memory is
 * short. */
hone_iter *sch_whole_axes(hone_schedule *sch, const hone_block *block);
/* An interval around the values that an axis takes, with its present binding, while the marked
 * loops run (marks: by variable) and the others stand still. */
HONE_NODISCARD hone_status sch_values_now(hone_schedule *sch, hone_node_id block,
                                          const hone_axis *axis, const bool *marks,
                                          hone_interval *out);
/* A box around the values that the axes take in one run of the block's scope: one iterator per
 * axis, in the arena. out_is_exact (may be NULL): an instance runs for each point of the box. */
HONE_NODISCARD hone_status sch_axes_box(hone_schedule *sch, hone_node_id block, hone_iter **out,
                                        bool *out_is_exact);

#endif
