/* tests/schedule/steps/random_steps.h - one random step of a schedule, legal or not. */
#ifndef HONE_TESTS_SCHEDULE_STEPS_RANDOM_STEPS_H
#define HONE_TESTS_SCHEDULE_STEPS_RANDOM_STEPS_H

#include "schedule/intrin/tensor_intrin.h"
#include "schedule/state/schedule.h"

/* A kind of step: where its row stands. */
typedef struct hone_random_kind {
    uint32_t group, row;
} hone_random_kind;
hone_random_kind hone_random_draw(hone_rng *rng);
/* One of those that are unsafe by name. */
hone_random_kind hone_random_draw_unsafe(hone_rng *rng);
const char *hone_random_kind_name(hone_random_kind kind);

/* Tries a primitive on random blocks and loops. A refusal is fine (ILLEGAL); the same kind may be
 * tried again and will choose others. */
hone_status hone_random_try(hone_schedule *sch, hone_rng *rng, hone_random_kind kind);
/* Draws and tries a few times. */
hone_status hone_random_step(hone_schedule *sch, hone_rng *rng);
/* Intrinsics that some of the steps use when sch->intrins is this; NULL when memory is short. */
hone_tensor_intrins *hone_random_intrins(void);

#endif
