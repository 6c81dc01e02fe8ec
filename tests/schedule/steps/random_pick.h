/* tests/schedule/steps/random_pick.h - random blocks and loops for the steps beside, got hold of by
 * recorded steps, so that the traces can be replayed. */
#ifndef HONE_TESTS_SCHEDULE_STEPS_RANDOM_PICK_H
#define HONE_TESTS_SCHEDULE_STEPS_RANDOM_PICK_H

#include "schedule/state/schedule_impl.h"

/* A variable for a block or a loop. HONE_NO_ID when there is none. */
hone_rv hone_random_name(hone_schedule *sch, hone_node_id node);
/* One of the nodes of a kind that are in the tree (the root block left out), or HONE_NO_ID. */
hone_rv hone_random_pick(hone_schedule *sch, hone_rng *rng, hone_node_kind kind);
/* What a step would like its block to be; one time in five it gets any. */
typedef enum hone_random_wish {
    HONE_WISH_ANY,
    HONE_WISH_REDUCTION, /* has an init */
    HONE_WISH_SPATIAL,   /* all axes are spatial */
    HONE_WISH_PADDING,   /* stores an if_then_else */
    HONE_WISH_IN_PLACE   /* reads what it writes, without an init */
} hone_random_wish;
hone_rv hone_random_block(hone_schedule *sch, hone_rng *rng, hone_random_wish wish);
/* A loop around a block, or HONE_NO_ID. */
hone_rv hone_random_loop_of(hone_schedule *sch, hone_rng *rng, hone_rv block);
/* ILLEGAL: the program has nothing that the step could work on. */
hone_status hone_random_nothing(void);

/* The steps in groups, each on a block or on what it picks itself. One that stands twice is tried
 * twice as often. */
typedef struct hone_random_row {
    const char *name;
    hone_status (*run)(hone_schedule *sch, hone_rng *rng);
    hone_status (*run_block)(hone_schedule *sch, hone_rng *rng, hone_rv block);
    hone_random_wish wish;
} hone_random_row;
#define HONE_STEP(name, run)                                                                       \
    { (name), (run), NULL, HONE_WISH_ANY }
#define HONE_STEP_ON(wish, name, run)                                                              \
    { (name), NULL, (run), HONE_WISH_##wish }

typedef struct hone_random_group {
    const hone_random_row *rows;
    uint32_t count;
} hone_random_group;
hone_random_group hone_random_loop_steps(void);
hone_random_group hone_random_block_steps(void);
/* On the storage and the accesses of a block. */
hone_random_group hone_random_buffer_steps(void);
/* Those that make blocks of nests, or change what is inside of blocks. */
hone_random_group hone_random_nest_steps(void);
/* By index maps. */
hone_random_group hone_random_layout_steps(void);
/* Several that are taken together. */
hone_random_group hone_random_recipe_steps(void);
/* What is unsafe by name. */
hone_random_group hone_random_unsafe_steps(void);

#endif
