/* tuner/space/mutate_shared.c - what mutators share. */
#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

int64_t hone_mutation_pick(const hone_mutation *m, hone_mutable is_mutable) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->sketch->count; i++)
        count += is_mutable(&m->sketch->insts[i], &m->parent.decisions[i]);
    if (count == 0) return -1;
    uint64_t skip = hone_rng_below(m->rng, count);
    uint32_t at = 0;
    while (!is_mutable(&m->sketch->insts[at], &m->parent.decisions[at]) || skip-- > 0)
        at++;
    return at;
}

int64_t *hone_mutation_own(hone_mutation *m, uint32_t at) {
    const hone_decision *old = &m->parent.decisions[at];
    int64_t *values = hone_arena_copy(m->arena, old->values, old->count * sizeof *values);
    if (values) m->child[at] = (hone_decision){old->count, values};
    return values;
}

bool hone_is_tile(const hone_inst *inst, const hone_decision *d) {
    if (inst->kind != HONE_INST_SAMPLE_PERFECT_TILE || d->count < 2) return false;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->values[i] > 1) return true;
    }
    return false;
}

int64_t hone_tile_limit(const hone_inst *inst) {
    bool has_limit = inst->attr_count > 1 && inst->attrs[1].kind == HONE_VALUE_INT;
    return has_limit && inst->attrs[1].u.i > 0 ? inst->attrs[1].u.i : -1;
}

void hone_tile_fit(int64_t extent, int64_t limit, uint32_t wanted_parts, const int64_t *wanted,
                   uint32_t parts, int64_t *out) {
    for (uint32_t back = 0; back < parts; back++) /* counted from the last part */
        out[parts - 1 - back] = back + 1 < wanted_parts ? wanted[wanted_parts - 1 - back] : 1;
    hone_fit_perfect_tile(extent, parts, limit, out);
}
