/* tuner/space/mutate_shift.c - the smallest step along a loop: its least prime factor moves from
 * one part of a tile to the one beside it. */
#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

static bool shift(hone_rng *rng, int64_t limit, uint32_t parts, int64_t *io) {
    int64_t primes[HONE_MAX_PRIMES];
    int32_t powers[HONE_MAX_PRIMES];
    for (int tries = 0; tries < HONE_MUTATOR_TRIES; tries++) {
        uint32_t left = (uint32_t)hone_rng_below(rng, parts - 1);
        bool is_inwards = hone_rng_below(rng, 2) == 0;
        uint32_t from = is_inwards ? left : left + 1, to = is_inwards ? left + 1 : left;
        if (io[from] < 2) continue;
        uint32_t count = hone_factorize(io[from], primes, powers);
        int64_t factor = primes[hone_rng_below(rng, count)];
        if (to == parts - 1 && limit > 0 && io[to] * factor > limit) continue;
        io[from] /= factor;
        io[to] *= factor;
        return true;
    }
    return false;
}

bool hone_mutator_shift(hone_mutation *m) {
    int64_t at = hone_mutation_pick(m, hone_is_tile);
    if (at < 0) return false;
    int64_t *values = hone_mutation_own(m, (uint32_t)at);
    int64_t limit = hone_tile_limit(&m->sketch->insts[at]);
    return values && shift(m->rng, limit, m->parent.decisions[at].count, values);
}
