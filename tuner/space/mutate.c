/* tuner/space/mutate.c - a child of a candidate: a mutator is drawn, by its weight and by how often
 * its children were better than their parents.
 *
 *   weight in the draw = weight of mutators.def × own rate of better children / rate of all,
 *                        kept between a quarter and four times the former
 */
#include <string.h>

#include "tuner/space/mutator.h"

static const struct {
    bool (*make)(hone_mutation *m);
    double weight;
} table[] = {
#define HONE_MUTATOR(name, weight) {hone_mutator_##name, weight},
#include "tuner/space/mutators.def"
#undef HONE_MUTATOR
};

_Static_assert(HONE_COUNT(table) == HONE_MUTATORS, "one record for each");

enum { MEMORY = 1 << 10 }; /* children of one mutator; what was long ago fades */
#define LEAST 0.25
#define MOST 4.0

/* Few children say little: all mutators begin with as many that they never had. */
static double rate(uint64_t better, uint64_t made) {
    enum { PRIOR = 32 };
    return ((double)better + PRIOR / 4.0) / ((double)made + PRIOR);
}

static void weigh(const hone_mutator_record *record, double *out) {
    uint64_t better = 0, made = 0;
    for (int k = 0; k < HONE_MUTATORS && record; k++) {
        better += record[k].better;
        made += record[k].made;
    }
    for (int k = 0; k < HONE_MUTATORS; k++) {
        double factor = record ? rate(record[k].better, record[k].made) / rate(better, made) : 1;
        if (factor < LEAST) factor = LEAST;
        if (factor > MOST) factor = MOST;
        out[k] = table[k].weight * factor;
    }
}

static uint32_t longest(const hone_space *space) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        if (space->sketches[i].count > most) most = space->sketches[i].count;
    }
    return most;
}

bool hone_mutate(const hone_kin *kin, const hone_draft *parent, hone_rng *rng, hone_arena *arena,
                 hone_child *out) {
    assert(kin && parent && rng && arena && out);
    const hone_trace *sketch = &kin->space->sketches[parent->sketch];
    hone_mutation m = {.kin = kin,
                       .parent = *parent,
                       .sketch = sketch,
                       .rng = rng,
                       .arena = arena,
                       .child_sketch = parent->sketch};
    m.child = hone_arena_alloc(arena, (longest(kin->space) + 1) * sizeof *m.child);
    if (!m.child) return false;
    if (sketch->count) memcpy(m.child, parent->decisions, sketch->count * sizeof *m.child);
    double weights[HONE_MUTATORS];
    weigh(kin->record, weights);
    for (;;) {
        size_t which = hone_rng_weighted(rng, weights, HONE_MUTATORS);
        if (weights[which] <= 0) return false; /* none is left */
        if (table[which].make(&m)) {
            *out = (hone_child){
                {m.child_sketch, m.child},
                (uint32_t)which
            };
            return true;
        }
        weights[which] = 0;
    }
}

void hone_mutate_note(hone_mutator_record *record, uint32_t mutator, bool is_better) {
    assert(mutator < HONE_MUTATORS);
    hone_mutator_record *r = &record[mutator];
    r->made++;
    r->better += is_better;
    if (r->made < MEMORY) return;
    r->made /= 2;
    r->better /= 2;
}
