/* schedule/state/init_nest.h - for decompose_reduction and blockize: the init of a reduction block
 * as a nest of its own, over the spatial axes only. */
#ifndef HONE_SCHEDULE_STATE_INIT_NEST_H
#define HONE_SCHEDULE_STATE_INIT_NEST_H

#include "schedule/state/schedule_impl.h"

typedef struct sch_init_nest {
    hone_node_id top, bottom; /* its loops; HONE_NO_ID when there are none */
    const hone_expr **map;    /* old loop variable -> new one */
    bool *dropped;            /* loops that the init does not run over */
    uint32_t count;           /* of both arrays */
} sch_init_nest;

/* Does the variable occur in the binding of an axis of this kind? */
bool sch_feeds_axis(const hone_schedule *sch, hone_node_id block, hone_var var,
                    hone_axis_kind kind);

/* A loop from the block up to top whose threads reduce together; HONE_NO_ID: there is none. */
hone_node_id sch_loop_of_shared_sums(const hone_schedule *sch, hone_node_id block,
                                     hone_node_id top);
/* ILLEGAL where there is one: threads can reduce together only where the block itself says what a
 * sum begins with, so its init can't be taken out. */
HONE_NODISCARD hone_status sch_require_serial_sums(hone_schedule *sch, hone_node_id block,
                                                   hone_node_id top);

/* Makes the loops of an init that shall stand before `loop` (around the block): copies, named with
 * the suffix, of those from there on that feed spatial axes. Refused: a condition of the block's
 * predicate over both loops that are kept and loops that are not; threads that reduce together. The
 * program stays as it is. */
HONE_NODISCARD hone_status sch_plan_init(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                         const char *suffix, sch_init_nest *out_nest);
/* Takes the init out of the block, into a block of its own below the planned loops; out_top (not in
 * the tree yet) is the outermost of them, or that block. */
HONE_NODISCARD hone_status sch_take_init(hone_schedule *sch, hone_node_id block,
                                         const sch_init_nest *nest, hone_node_id *out_block,
                                         hone_node_id *out_top);

#endif
