/* tests/schedule/random_pick.h - random blocks and loops for the steps beside, got hold of by
 * recorded steps, so that the traces can be replayed. */
#ifndef HONE_TESTS_SCHEDULE_RANDOM_PICK_H
#define HONE_TESTS_SCHEDULE_RANDOM_PICK_H

#include "schedule/schedule_impl.h"

/* A variable for a block or a loop. HONE_NO_ID when there is none. */
hone_rv hone_random_name(hone_schedule *sch, hone_node_id node);
/* One of the nodes of a kind that are in the tree (the root block left out), or HONE_NO_ID. */
hone_rv hone_random_pick(hone_schedule *sch, hone_rng *rng, hone_node_kind kind);
/* A loop around a block, or HONE_NO_ID. */
hone_rv hone_random_loop_of(hone_schedule *sch, hone_rng *rng, hone_rv block);
/* ILLEGAL: the program has nothing that the step could work on. */
hone_status hone_random_nothing(void);

/* Steps on the storage and the accesses of one block. */
hone_status hone_random_buffer_step(hone_schedule *sch, hone_rng *rng, const char **out_name);
/* Steps that make blocks of nests, or change what is inside of blocks. */
hone_status hone_random_nest_step(hone_schedule *sch, hone_rng *rng, const char **out_name);
/* Steps by index maps. */
hone_status hone_random_layout_step(hone_schedule *sch, hone_rng *rng, const char **out_name);

#endif
