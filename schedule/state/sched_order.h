/* schedule/state/sched_order.h - may blocks, or iterations of loops, run in another order, or at
 * once?
 *
 * Answers are proofs: true holds for all sizes and in every iteration; false means "not shown".
 * sch_require_x returns ILLEGAL with the reason instead of false, and sets sch->blame. "Touches"
 * is reads or writes, by what blocks declare. Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_ORDER_H
#define HONE_SCHEDULE_STATE_SCHED_ORDER_H

#include "schedule/state/schedule.h"

/* ---- one block ---- */
/* The instances of the block may run in another order: spatial and reduce axes, loops by bindings
 * only, below known conditions; disjoint writes; reads of its outputs where it writes them; affine
 * bindings. out_why (never NULL): the reason of a false, static. */
bool sch_is_order_free(hone_schedule *sch, hone_node_id block, const char **out_why);
/* sch_is_order_free of the instances of one iteration of `above`, a loop around the block
 * (HONE_NO_ID: of all); no instance may run twice there. */
bool sch_is_order_free_below(hone_schedule *sch, hone_node_id block, hone_node_id above,
                             const char **out_why);
/* The instances of the block may run in another order by what it stores (sch_has_disjoint_stores),
 * whatever it declares; no other block below the loop, which is around it, touches what it writes.
 */
bool sch_is_order_free_alone(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* Different iterations of a loop around the block touch disjoint parts of all that it writes.
 * (Instances within one iteration may write the same elements.) */
bool sch_has_disjoint_slices(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The chain of `count` loops `before`, outermost first, may be put into the order `after`: for each
 * block below, the loops in which it has no own slices keep their order among each other; no
 * statement outside of blocks; what several blocks touch, they touch in the same iterations
 * (sch_carries_no_dependence). */
bool sch_may_reorder_slices(hone_schedule *sch, uint32_t count, const hone_node_id *before,
                            const hone_node_id *after);

/* ---- several blocks ---- */
/* No dependence between a and b through the buffer is carried by the loop, which is around both: in
 * some dimension, all that they touch in one iteration lies behind all that they touch in those
 * before; or both touch one element, which no other iteration of the loops around them touches. */
bool sch_carries_no_dependence_between(hone_schedule *sch, hone_node_id a, hone_node_id b,
                                       hone_buffer buffer, hone_node_id loop);
/* In all iterations of the loop, which is around both, a and b touch disjoint parts of the buffer:
 * in some dimension all of one lies in front of all of the other. */
bool sch_touch_disjoint(hone_schedule *sch, hone_node_id a, hone_node_id b, hone_buffer buffer,
                        hone_node_id loop);
/* No dependence between different blocks below `loop` is carried by one of the loops from `loop`
 * down to `bottom` (sch_carries_no_dependence_between). */
bool sch_carries_no_dependence(hone_schedule *sch, hone_node_id loop, hone_node_id bottom);
/* sch_carries_no_dependence, or the scope is a stage pipeline. */
HONE_NODISCARD hone_status sch_require_stages(hone_schedule *sch, hone_node_id loop,
                                              hone_node_id bottom);
/* Where several blocks below the loop write one buffer, each later one reads it (an update),
 * touches another part of it than those before (sch_touch_disjoint), or touches it in the same
 * iterations as they do, in each loop from `loop` down to `bottom` (HONE_NO_ID: this does not
 * count). */
HONE_NODISCARD hone_status sch_require_compatible_writers(hone_schedule *sch, hone_node_id loop,
                                                          hone_node_id bottom);
/* The instances of all blocks below the loop may run in another order, while the blocks stay in
 * theirs: each is order free, by itself, within one iteration of the loop around, or alone; several
 * of them satisfy sch_require_compatible_writers and sch_require_stages. bottom: the innermost of
 * the loops that change their order, or get blocks below them that were not. */
HONE_NODISCARD hone_status sch_require_order_free(hone_schedule *sch, hone_node_id loop,
                                                  hone_node_id bottom);

/* ---- statements outside of blocks ---- */
/* The node is an IF whose condition loads nothing that a block of its scope writes, or an ELSE. */
bool sch_is_known_condition(const hone_schedule *sch, hone_node_id n);
/* Below the loop, blocks not entered, stands something else than loops and blocks. */
bool sch_has_other_statements(const hone_schedule *sch, hone_node_id loop);
/* Below the loop, blocks not entered, stands something else than loops, blocks and known
 * conditions. */
bool sch_has_loose_statements(const hone_schedule *sch, hone_node_id loop);
/* As sch_has_loose_statements, or a condition below the loop, also inside of blocks, uses its
 * variable. */
bool sch_has_unguarded_statements(const hone_schedule *sch, hone_node_id loop);

/* ---- iterations that run at once ---- */
/* Lowering can give each iteration of the loop, which is around the block, its own copy of what the
 * block writes: its scope allocates the buffers, and all blocks of the scope that touch them stand
 * below the loop; no block inside of it accumulates over the loop. */
bool sch_is_private_below(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The iterations of the loop, which is around the block, may run at once, as far as the block is
 * concerned and its outputs are seen from outside. */
HONE_NODISCARD hone_status sch_require_at_once(hone_schedule *sch, hone_node_id block,
                                               hone_node_id loop);
/* A loop of the unbroken chain around the block runs its iterations at once: parallel, vectorized
 * or thread-bound, but for vthreads and for threads whose work an inner loop of the same name
 * takes. */
bool sch_is_in_concurrent_loop(const hone_schedule *sch, hone_node_id block);
/* The reader may leave its loops for a place elsewhere: where such a loop runs its iterations at
 * once, each of them had what it made for itself to read. ILLEGAL where different iterations make
 * the same elements, so that it matters whose are read. */
HONE_NODISCARD hone_status sch_require_leavable(hone_schedule *sch, hone_node_id reader,
                                                hone_node_id place);
/* A block at `place` (a loop or block, of which it will be a child) may access what the writer
 * makes: ILLEGAL where a concurrent loop around the writer, but not around the place, has
 * iterations that make the same elements. */
HONE_NODISCARD hone_status sch_require_visible(hone_schedule *sch, hone_node_id writer,
                                               hone_node_id place);

#endif
