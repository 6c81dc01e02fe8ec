/* tuner/space/mutate.c - one decision of a candidate changes: a mutator is drawn, then a place for
 * it. */
#include <string.h>

#include "tuner/space/mutator.h"

static const struct {
    const hone_mutator *mutator;
    double weight;
} table[] = {
#define HONE_MUTATOR(name, weight) {&hone_mutator_##name, weight},
#include "tuner/space/mutators.def"
#undef HONE_MUTATOR
};

enum { MUTATORS = HONE_COUNT(table) };

typedef struct mutation {
    const hone_trace *trace;
    const hone_decision *decisions;
    uint32_t counts[MUTATORS]; /* of places */
} mutation;

/* Whose place an instruction is; MUTATORS: nobody's. */
static int mutator_at(const mutation *m, uint32_t i) {
    int which = 0;
    while (which < MUTATORS &&
           !table[which].mutator->applies(&m->trace->insts[i], &m->decisions[i]))
        which++;
    return which;
}

/* The mutators to choose a place from: one whose turn it is, else those that share the rest, else
 * all others. */
static uint32_t draw_mutators(const mutation *m, hone_rng *rng, bool *is_drawn) {
    double at = hone_rng_uniform(rng);
    uint32_t shared = 0, total = 0;
    for (int k = 0; k < MUTATORS; k++) {
        bool is_its_turn = at >= 0 && at < table[k].weight;
        if (is_its_turn && m->counts[k]) {
            memset(is_drawn, 0, MUTATORS * sizeof *is_drawn);
            is_drawn[k] = true;
            return m->counts[k];
        }
        at -= table[k].weight;
        is_drawn[k] = table[k].weight == HONE_MUTATOR_REST;
        total += m->counts[k];
        if (is_drawn[k]) shared += m->counts[k];
    }
    for (int k = 0; k < MUTATORS && !shared; k++)
        is_drawn[k] = true;
    return shared ? shared : total;
}

static bool change_one(const mutation *m, hone_rng *rng, hone_arena *arena, hone_decision *out,
                       bool *out_failed) {
    bool is_drawn[MUTATORS];
    uint64_t skip = hone_rng_below(rng, draw_mutators(m, rng, is_drawn));
    uint32_t at = 0;
    int which;
    for (;; at++) {
        which = mutator_at(m, at);
        if (which < MUTATORS && is_drawn[which] && skip-- == 0) break;
    }
    const hone_decision *old = &m->decisions[at];
    int64_t *values = hone_arena_copy(arena, old->values, old->count * sizeof *values);
    *out_failed = !values;
    if (!values || !table[which].mutator->change(&m->trace->insts[at], rng, old->count, values)) {
        return false;
    }
    out[at] = (hone_decision){old->count, values};
    return true;
}

bool hone_mutate(const hone_trace *sketch, const hone_decision *decisions, hone_rng *rng,
                 hone_arena *arena, hone_decision *out_decisions) {
    assert(sketch && decisions && rng && arena && out_decisions);
    if (sketch->count) memmove(out_decisions, decisions, sketch->count * sizeof *decisions);
    mutation m = {.trace = sketch, .decisions = decisions};
    uint32_t total = 0;
    for (uint32_t i = 0; i < sketch->count; i++) {
        int which = mutator_at(&m, i);
        if (which == MUTATORS) continue;
        m.counts[which]++;
        total++;
    }
    bool has_failed = false;
    for (int tries = 0; total && tries < HONE_MUTATOR_TRIES && !has_failed; tries++) {
        if (change_one(&m, rng, arena, out_decisions, &has_failed)) return true;
    }
    return false;
}
