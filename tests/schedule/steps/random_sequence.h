/* tests/schedule/steps/random_sequence.h - a program under random steps, each of which is checked:
 * what is accepted is well formed, what is refused is refused by a status and leaves the program as
 * it was; the result means what the program meant, and its trace can be read and replayed. */
#ifndef HONE_TESTS_SCHEDULE_STEPS_RANDOM_SEQUENCE_H
#define HONE_TESTS_SCHEDULE_STEPS_RANDOM_SEQUENCE_H

#include "tests/schedule/steps/random_steps.h"
#include "tests/schedule/steps/step_counts.h"

typedef struct hone_sequence_options {
    const hone_tensor_intrins *intrins; /* may be NULL */
    uint32_t replay_every;              /* replay the trace of every n-th seed; 1 = of each */
    const char *variant;                /* the first step takes it up; NULL = none does */
} hone_sequence_options;

/* False, with the program, the result and the trace on stderr, when a check failed. */
bool hone_random_sequence(const hone_func *base, uint64_t seed,
                          const hone_sequence_options *options, hone_step_counts *io_counts);

/* On stderr: the seed, why the sequence failed after a step, the program, what it became, by what
 * steps. */
void hone_explain_sequence(const hone_func *base, const hone_schedule *sch, uint64_t seed,
                           const char *step, const char *why);

/* How often the body of the busiest nest below a node runs; a symbolic size counts as a few. Counts
 * no further once it is beyond `enough`. */
int64_t hone_work_of(const hone_func *func, hone_node_id id, int64_t enough);

#endif
