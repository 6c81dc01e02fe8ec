/* tuner/space/mutate_tile.c - moves a divisor of one part of a tile to another; the innermost part
 * respects its limit. Source: TVM's MutateTileSize. */
#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

enum { MAX_DIVISORS = 256 };

static bool applies(const hone_inst *inst, const hone_decision *d) {
    int64_t product = 1;
    for (uint32_t i = 0; i < d->count; i++)
        product *= d->values[i];
    return inst->kind == HONE_INST_SAMPLE_PERFECT_TILE && d->count >= 2 && product >= 2;
}

static bool change(const hone_inst *inst, hone_rng *rng, uint32_t parts, int64_t *io) {
    int64_t divisors[MAX_DIVISORS];
    int64_t limit =
        inst->attr_count > 1 && inst->attrs[1].kind == HONE_VALUE_INT ? inst->attrs[1].u.i : -1;
    for (int tries = 0; tries < HONE_MUTATOR_TRIES; tries++) {
        uint32_t from = (uint32_t)hone_rng_below(rng, parts);
        uint32_t to = (uint32_t)hone_rng_below(rng, parts);
        if (from == to || io[from] < 2) continue;
        uint32_t count = hone_divisors(io[from], MAX_DIVISORS, divisors);
        uint32_t usable = count;
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

const hone_mutator hone_mutator_tile = {applies, change};
