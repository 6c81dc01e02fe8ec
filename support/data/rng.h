/* support/data/rng.h - counter-based random numbers.
 *
 * The n-th number is a pure function of (key, n): no hidden state, nothing to warm up, the same on
 * every machine and in every thread. Key it by what the choice belongs to (seed, task, proposal).
 * A value in the caller's storage; thread-compatible. Not cryptographic.
 */
#ifndef HONE_SUPPORT_DATA_RNG_H
#define HONE_SUPPORT_DATA_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "support/data/hash.h"

typedef struct hone_rng {
    uint64_t key[2];
    uint64_t counter;
} hone_rng;

hone_rng hone_rng_make(uint64_t seed, hone_hash128 task, uint64_t proposal);
hone_rng hone_rng_from_seed(uint64_t seed);
/* A stream of its own for the `index`-th child; the parent does not change. */
hone_rng hone_rng_split(const hone_rng *rng, uint64_t index);

uint64_t hone_rng_next(hone_rng *rng);
/* Uniform in [0, bound), without bias; `bound` is at least 1. */
uint64_t hone_rng_below(hone_rng *rng, uint64_t bound);
/* Uniform in [lo, hi], both included. */
int64_t hone_rng_between(hone_rng *rng, int64_t lo, int64_t hi);
/* Uniform in [0, 1), a multiple of 2^-53. */
double hone_rng_uniform(hone_rng *rng);
/* An index below `count`, with probability proportional to its weight (weights >= 0, not all 0). */
size_t hone_rng_weighted(hone_rng *rng, const double *weights, size_t count);

#endif
