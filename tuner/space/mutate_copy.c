/* tuner/space/mutate_copy.c - one decision of another measured candidate, of this task or of one
 * with the same steps: what was good for a layer is tried in the next one, made to fit its loops.
 */
#include <string.h>

#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

/* Sketches of the same steps: decision i of the one is decision i of the other. */
static bool are_alike(const hone_trace *a, const hone_trace *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->insts[i].kind != b->insts[i].kind) return false;
    }
    return true;
}

static const hone_relative *find_relative(const hone_mutation *m) {
    uint32_t count = 0;
    const hone_relative *found = NULL;
    for (uint32_t i = 0; i < m->kin->count; i++) {
        const hone_relative *r = &m->kin->relatives[i];
        if (r->decisions == m->parent.decisions || !are_alike(r->sketch, m->sketch)) continue;
        if (hone_rng_below(m->rng, ++count) == 0) found = r;
    }
    return found;
}

static bool take(hone_mutation *m, uint32_t at, const hone_decision *theirs) {
    const hone_inst *inst = &m->sketch->insts[at];
    const hone_decision *old = &m->parent.decisions[at];
    bool is_tile = inst->kind == HONE_INST_SAMPLE_PERFECT_TILE;
    if (old->count == 0 || theirs->count != old->count) return false;
    if (!is_tile && inst->kind == HONE_INST_SAMPLE_CATEGORICAL &&
        (uint64_t)theirs->values[0] >= inst->attrs[0].count) {
        return false;
    }
    int64_t *values = hone_mutation_own(m, at), extent = 1;
    if (!values) return false;
    for (uint32_t i = 0; i < old->count; i++)
        extent *= old->values[i];
    if (is_tile) {
        hone_tile_fit(extent, hone_tile_limit(inst), theirs->count, theirs->values, old->count,
                      values);
    } else {
        memcpy(values, theirs->values, old->count * sizeof *values);
    }
    return memcmp(values, old->values, old->count * sizeof *values) != 0;
}

bool hone_mutator_copy(hone_mutation *m) {
    const hone_relative *relative = find_relative(m);
    uint32_t count = m->sketch->count;
    if (!relative || count == 0) return false;
    uint64_t from = hone_rng_below(m->rng, count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = (uint32_t)((from + k) % count);
        if (!hone_inst_is_sampling(m->sketch->insts[at].kind)) continue;
        if (take(m, at, &relative->decisions[at])) return true;
        m->child[at] = m->parent.decisions[at];
    }
    return false;
}
