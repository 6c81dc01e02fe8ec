/* tuner/space/mutate_swap.c - two tiles of as many parts exchange their factors, as far as these
 * divide the other's loop: rows become as wide as columns were. */
#include <string.h>

#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

static int64_t extent_of(const hone_decision *d) {
    int64_t product = 1;
    for (uint32_t i = 0; i < d->count; i++)
        product *= d->values[i];
    return product;
}

/* One of the other tiles with as many parts, at random; -1: there is none. */
static int64_t find_partner(const hone_mutation *m, uint32_t self) {
    uint32_t count = 0;
    int64_t found = -1;
    for (uint32_t i = 0; i < m->sketch->count; i++) {
        const hone_decision *d = &m->parent.decisions[i];
        bool fits = i != self && hone_is_tile(&m->sketch->insts[i], d) &&
                    d->count == m->parent.decisions[self].count;
        if (fits && hone_rng_below(m->rng, ++count) == 0) found = i;
    }
    return found;
}

/* Whether it is another tile now. */
static bool take_factors(hone_mutation *m, uint32_t at, uint32_t from) {
    const hone_decision *old = &m->parent.decisions[at], *other = &m->parent.decisions[from];
    int64_t *values = hone_mutation_own(m, at);
    if (!values) return false;
    hone_tile_fit(extent_of(old), hone_tile_limit(&m->sketch->insts[at]), other->count,
                  other->values, old->count, values);
    return memcmp(values, old->values, old->count * sizeof *values) != 0;
}

bool hone_mutator_swap(hone_mutation *m) {
    int64_t first = hone_mutation_pick(m, hone_is_tile);
    int64_t second = first < 0 ? -1 : find_partner(m, (uint32_t)first);
    if (second < 0) return false;
    bool one = take_factors(m, (uint32_t)first, (uint32_t)second);
    bool two = take_factors(m, (uint32_t)second, (uint32_t)first);
    return one || two;
}
