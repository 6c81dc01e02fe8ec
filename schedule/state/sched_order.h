/* schedule/state/sched_order.h - may instances of blocks, or iterations of loops, run in another
 * order, or at once?
 *
 * A yes is proved for all values of the sizes and in every iteration; false means "not shown".
 * sch_require_x asks the same as sch_is_x, and returns ILLEGAL with the reason, and sets
 * sch->blame, where the answer is no. A block "touches" what it declares to read or write. Within
 * schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_ORDER_H
#define HONE_SCHEDULE_STATE_SCHED_ORDER_H

#include "schedule/state/schedule.h"

/* ---- one block ---- */
/* The instances of the block may run in any order: all axes are spatial or reduce; it stands below
 * loops and known conditions only (sch_is_below_known_conditions) and uses those loops by its
 * bindings alone; it writes disjoint elements (sch_has_disjoint_writes) and reads of its outputs
 * only what the same instance writes; its bindings are affine. out_why (never NULL): the reason of
 * a false, a static text. */
bool sch_is_order_free(hone_schedule *sch, hone_node_id block, const char **out_why);
/* sch_is_order_free of the instances that run in one iteration of `above`, a loop around the block
 * (HONE_NO_ID: of all of them). With a loop, no instance may run twice in the iteration; bindings
 * need not be affine then. */
bool sch_is_order_free_below(hone_schedule *sch, hone_node_id block, hone_node_id above,
                             const char **out_why);
/* sch_is_order_free judged by the stores of the block (sch_has_disjoint_stores) instead of its
 * declared regions, which may overlap though the stores do not. No other block below `loop`, a loop
 * around the block, may touch what it writes. */
bool sch_is_order_free_alone(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* Of every buffer that the block writes, different iterations of `loop`, which is around it, touch
 * disjoint parts. Instances within one iteration may share elements: D[X[vi], vj] = … may write an
 * element for several vi, but each vj has a column to itself. */
bool sch_has_disjoint_slices(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The chain of `count` loops `before` (each the only child of the one in front, outermost first)
 * may be put into the order `after`. For each block below, the loops without disjoint slices
 * (sch_has_disjoint_slices) keep their order among each other; several blocks carry no dependence
 * over any of the loops (sch_carries_no_dependence); all statements stand in blocks. */
bool sch_may_reorder_slices(hone_schedule *sch, uint32_t count, const hone_node_id *before,
                            const hone_node_id *after);

/* ---- several blocks ---- */
/* `loop`, which is around a and b, carries no dependence between them through the buffer: an
 * iteration touches nothing that another one touches. Shown where, in some dimension, all that both
 * touch in an iteration lies behind (or in front of) all that they touch in those before; or where
 * both are at one index that has another value in each iteration of the loop
 * (hone_carries_no_dependence).
 */
bool sch_carries_no_dependence_between(hone_schedule *sch, hone_node_id a, hone_node_id b,
                                       hone_buffer buffer, hone_node_id loop);
/* Over the whole run of `loop`, which is around both, a and b touch disjoint parts of the buffer:
 * in some dimension, all that one of them touches lies in front of all that the other does. */
bool sch_touch_disjoint(hone_schedule *sch, hone_node_id a, hone_node_id b, hone_buffer buffer,
                        hone_node_id loop);
/* None of the loops from `loop` inwards to `bottom` carries a dependence between different blocks
 * below `loop` (sch_carries_no_dependence_between, for each buffer that one of the two writes). */
bool sch_carries_no_dependence(hone_schedule *sch, hone_node_id loop, hone_node_id bottom);
/* Of two blocks below the loop that write the same buffer, the later one must either read it too
 * (an update of what the earlier one made), touch another part of it (sch_touch_disjoint), or share
 * no element with it across iterations of the loops from `loop` to `bottom`
 * (sch_carries_no_dependence_between; bottom HONE_NO_ID: this does not count). */
HONE_NODISCARD hone_status sch_require_compatible_writers(hone_schedule *sch, hone_node_id loop,
                                                          hone_node_id bottom);
/* The iterations of the loop may be reordered, the blocks below keeping their order within an
 * iteration: each block is order free (sch_is_order_free, _below one iteration of the loop around,
 * or _alone), and where there are several, sch_require_compatible_writers holds, and either none
 * of the loops down to bottom carries a dependence or the scope is a stage pipeline. bottom: the
 * innermost of the loops that change their order, or that get blocks below them which were not
 * there before. */
HONE_NODISCARD hone_status sch_require_order_free(hone_schedule *sch, hone_node_id loop,
                                                  hone_node_id bottom);

/* ---- statements outside of blocks ---- */
/* The node is an IF whose condition loads nothing that a block of its scope writes, so that it has
 * one value throughout the scope; or the ELSE of such an IF. */
bool sch_is_known_condition(const hone_schedule *sch, hone_node_id n);
/* Below the loop stands something else than loops and blocks. Insides of blocks are not looked at.
 */
bool sch_has_other_statements(const hone_schedule *sch, hone_node_id loop);
/* sch_has_other_statements, known conditions (sch_is_known_condition) not counted. */
bool sch_has_loose_statements(const hone_schedule *sch, hone_node_id loop);
/* sch_has_loose_statements, or an IF anywhere below the loop, insides of blocks included, has the
 * loop variable in its condition. */
bool sch_has_unguarded_statements(const hone_schedule *sch, hone_node_id loop);

/* ---- iterations that run at once ---- */
/* Lowering can give each iteration of the loop, which is around the block, a copy of its own of
 * what the block writes: the scope allocates these buffers, no block outside of the loop touches
 * them, and no block inside of this one reduces over the loop. */
bool sch_is_private_below(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* What was answered of a loop, for those who ask again while nothing changes; {0}: nothing yet. */
typedef struct sch_answer {
    bool is_known, is_yes;
} sch_answer;
/* sch_carries_no_dependence of the loop alone. */
bool sch_is_independent(hone_schedule *sch, hone_node_id loop, sch_answer *io);
/* The iterations of the loop, which is around the block, may run at once, as far as this block is
 * concerned and its outputs are visible outside of the loop. io: of sch_is_independent. */
HONE_NODISCARD hone_status sch_require_at_once(hone_schedule *sch, hone_node_id block,
                                               hone_node_id loop, sch_answer *io);
/* One of the loops between the block and the next statement above that is no loop runs its
 * iterations at once: parallel, vectorized, or bound to a thread. Not counted: vthreads, and a
 * thread loop inside of which another one has the same thread tag. */
bool sch_is_in_concurrent_loop(const hone_schedule *sch, hone_node_id block);
/* The reader may be moved to `place` (a loop or block) out of the concurrent loops around it, each
 * iteration of which had produced what it read there. ILLEGAL where iterations produce the same
 * elements: then it would matter whose are read. */
HONE_NODISCARD hone_status sch_require_leavable(hone_schedule *sch, hone_node_id reader,
                                                hone_node_id place);
/* A block that will be a child of `place` (a loop or block) may access what the writer makes.
 * ILLEGAL where a concurrent loop around the writer, but not around the place, has iterations that
 * write the same elements: inside, each sees its own value; outside, one of them is left. */
HONE_NODISCARD hone_status sch_require_visible(hone_schedule *sch, hone_node_id writer,
                                               hone_node_id place);

#endif
