/* schedule/state/init_nest.h - the init of a reduction block as a loop nest of its own, over the
 * spatial axes only; for decompose_reduction and blockize.
 *
 *     for i, k:                                   for i_init:
 *         with block B(vi = i, vk = k):               with block B_init: C[vi] = 0
 *             init: C[vi] = 0                 →   for i, k:
 *             C[vi] = C[vi] + A[vi, vk]               with block B_update: C[vi] = C[vi] + …
 */
#ifndef HONE_SCHEDULE_STATE_INIT_NEST_H
#define HONE_SCHEDULE_STATE_INIT_NEST_H

#include "schedule/state/schedule_impl.h"

typedef struct sch_init_nest {
    sch_nest loops;        /* without bindings */
    const hone_expr **map; /* by variable: of an old loop, the variable of the new one */
    bool *dropped;         /* by variable: of a loop that the init does not run over */
    uint32_t count;        /* of both arrays */
} sch_init_nest;

/* Some axis of this kind has the variable in its binding. */
bool sch_feeds_axis(const hone_schedule *sch, hone_node_id block, hone_var var,
                    hone_axis_kind kind);

/* A loop, from the block outwards up to `top`, that is bound to threads and feeds a reduce axis:
 * its threads reduce together (a cross-thread reduction). HONE_NO_ID: there is none. */
hone_node_id sch_loop_of_shared_sums(const hone_schedule *sch, hone_node_id block,
                                     hone_node_id top);
/* ILLEGAL where sch_loop_of_shared_sums finds a loop. Threads can reduce together only if the block
 * itself says what a sum begins with, so its init has to stay. */
HONE_NODISCARD hone_status sch_require_serial_sums(hone_schedule *sch, hone_node_id block,
                                                   hone_node_id top);

/* Makes the loops of an init that shall stand in front of `loop`, a loop around the block: copies
 * of those from `loop` inwards that feed spatial axes, `suffix` behind their names. They are not in
 * the tree yet. ILLEGAL: sch_require_serial_sums; a conjunct of the block's predicate that uses
 * both loops that are copied and loops that are not. */
HONE_NODISCARD hone_status sch_plan_init(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                         const char *suffix, sch_init_nest *out_nest);
/* Moves the init out of the block into a block of its own (out_block) inside of the planned loops.
 * out_top: the outermost of these loops, or that block; the caller puts it into the tree. */
HONE_NODISCARD hone_status sch_take_init(hone_schedule *sch, hone_node_id block,
                                         const sch_init_nest *nest, hone_node_id *out_block,
                                         hone_node_id *out_top);

#endif
