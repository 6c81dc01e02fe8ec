/* tests/lower/driver/lower_sequence.h - a program under random steps, lowered: after every pass it
 * means what it did, and once allocations stand where they belong no two iterations of a parallel,
 * vectorized or thread-bound loop touch one element, but for giving it the same value. */
#ifndef HONE_TESTS_LOWER_DRIVER_LOWER_SEQUENCE_H
#define HONE_TESTS_LOWER_DRIVER_LOWER_SEQUENCE_H

#include "tests/schedule/steps/random_steps.h"

typedef struct hone_lower_counts {
    uint64_t tried, lowered;
    uint64_t outputs[2]; /* of the programs before they were scheduled; those that still are */
} hone_lower_counts;

/* False, with the program, the result and the trace on stderr, when a check failed. */
bool hone_lower_sequence(hone_arena *arena, const hone_func *base, uint64_t seed,
                         const hone_tensor_intrins *intrins, hone_lower_counts *io_counts);

#endif
