/* support/data/rng.c - see rng.h.
 *
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014) as a
 * counter-based generator: the n-th number is mix(mix(key0 + n * golden) ^ key1). The second round
 * keeps streams whose first keys differ by a multiple of `golden` apart.
 */
#include "support/data/rng.h"

#include <assert.h>
#include <string.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static hone_rng from_hash(hone_hash128 hash) {
    return (hone_rng){
        .key = {hash.lo, hash.hi},
          .counter = 0
    };
}

hone_rng hone_rng_make(uint64_t seed, hone_hash128 task, uint64_t proposal) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_u64(&hasher, seed);
    hone_hasher_hash(&hasher, task);
    hone_hasher_u64(&hasher, proposal);
    return from_hash(hone_hasher_finish(&hasher));
}

hone_rng hone_rng_from_seed(uint64_t seed) {
    return hone_rng_make(seed, (hone_hash128){0, 0}, 0);
}

hone_rng hone_rng_split(const hone_rng *rng, uint64_t index) {
    hone_hash128 key = {rng->key[0], rng->key[1]};
    return hone_rng_make(rng->counter, key, index);
}

uint64_t hone_rng_next(hone_rng *rng) {
    uint64_t x = hone_hash_mix(rng->key[0] + ++rng->counter * GOLDEN);
    return hone_hash_mix(x ^ rng->key[1]);
}

/* Lemire: Fast Random Integer Generation in an Interval, 2019, section 4. */
uint64_t hone_rng_below(hone_rng *rng, uint64_t bound) {
    assert(bound > 0);
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)hone_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = (UINT64_MAX - bound + 1) % bound;
        while ((uint64_t)product < threshold)
            product = (u128)hone_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

int64_t hone_rng_between(hone_rng *rng, int64_t lo, int64_t hi) {
    assert(lo <= hi);
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0: all 64-bit numbers */
    uint64_t offset = span ? hone_rng_below(rng, span) : hone_rng_next(rng);
    return (int64_t)((uint64_t)lo + offset);
}

double hone_rng_uniform(hone_rng *rng) {
    return (double)(hone_rng_next(rng) >> 11) * 0x1p-53;
}

size_t hone_rng_weighted(hone_rng *rng, const double *weights, size_t count) {
    assert(count > 0);
    double sum = 0;
    size_t last = 0; /* the last that can be chosen, should rounding carry us past the end */
    for (size_t i = 0; i < count; i++) {
        assert(weights[i] >= 0);
        sum += weights[i];
        if (weights[i] > 0) last = i;
    }
    double left = hone_rng_uniform(rng) * sum;
    for (size_t i = 0; i < count; i++) {
        if (left < weights[i]) return i;
        left -= weights[i];
    }
    return last;
}
