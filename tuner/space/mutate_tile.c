/* tuner/space/mutate_tile.c - moves a divisor of one part of a tile to another; the innermost part
 * respects its limit. Source: TVM's MutateTileSize. */
#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

enum { MAX_DIVISORS = 256 };

static bool move_divisor(hone_rng *rng, int64_t limit, uint32_t parts, int64_t *io) {
    int64_t divisors[MAX_DIVISORS];
    for (int tries = 0; tries < HONE_MUTATOR_TRIES; tries++) {
        uint32_t from = (uint32_t)hone_rng_below(rng, parts);
        uint32_t to = (uint32_t)hone_rng_below(rng, parts);
        if (from == to || io[from] < 2) continue;
        uint32_t usable = hone_divisors(io[from], MAX_DIVISORS, divisors);
        if (to == parts - 1 && limit > 0) {
            while (usable > 1 && divisors[usable - 1] * io[to] > limit)
                usable--;
        }
        if (usable < 2) continue; /* divisors[0] is 1 */
        int64_t factor = divisors[1 + hone_rng_below(rng, usable - 1)];
        io[from] /= factor;
        io[to] *= factor;
        return true;
    }
    return false;
}

bool hone_mutator_tile(hone_mutation *m) {
    int64_t at = hone_mutation_pick(m, hone_is_tile);
    if (at < 0) return false;
    int64_t *values = hone_mutation_own(m, (uint32_t)at);
    int64_t limit = hone_tile_limit(&m->sketch->insts[at]);
    return values && move_divisor(m->rng, limit, m->parent.decisions[at].count, values);
}
