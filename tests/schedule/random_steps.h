/* tests/schedule/random_steps.h - one random step of a schedule, legal or not. */
#ifndef HONE_TESTS_SCHEDULE_RANDOM_STEPS_H
#define HONE_TESTS_SCHEDULE_RANDOM_STEPS_H

#include "schedule/schedule.h"
#include "schedule/tensor_intrin.h"

/* Tries a random primitive on random blocks and loops. A refusal is fine (ILLEGAL); the name of the
 * primitive goes to out_name. */
hone_status hone_random_step(hone_schedule *sch, hone_rng *rng, const char **out_name);
/* Intrinsics that some of the steps use when sch->intrins is this; NULL when memory is short. */
hone_tensor_intrins *hone_random_intrins(void);
/* The same of those that are unsafe by name. */
hone_status hone_random_unsafe_step(hone_schedule *sch, hone_rng *rng, const char **out_name);

#endif
