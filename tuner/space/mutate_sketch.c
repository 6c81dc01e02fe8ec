/* tuner/space/mutate_sketch.c - the same decisions in another sketch: the tiles, choices and places
 * of the one are those of the other, one after another, as far as they are alike. What has no
 * counterpart is drawn when the child is replayed, which also repairs tiles of other loops. */
#include <string.h>

#include "schedule/primitive/choose/sample.h"
#include "tuner/space/mutator.h"

/* The next decision of the parent, from *io_at on, that was made by such an instruction. */
static const hone_decision *next_alike(const hone_mutation *m, const hone_inst *inst,
                                       uint32_t *io_at) {
    while (*io_at < m->sketch->count) {
        uint32_t i = (*io_at)++;
        if (m->sketch->insts[i].kind == inst->kind) return &m->parent.decisions[i];
    }
    return NULL;
}

/* How many parts the tile of an instruction has. */
static uint32_t part_count(const hone_inst *inst) {
    bool is_known = inst->attr_count > 0 && inst->attrs[0].kind == HONE_VALUE_INT;
    return is_known && inst->attrs[0].u.i > 0 && inst->attrs[0].u.i <= HONE_MAX_TILE_PARTS
               ? (uint32_t)inst->attrs[0].u.i
               : 0;
}

static hone_decision regroup(const hone_mutation *m, const hone_inst *inst,
                             const hone_decision *old) {
    int64_t extent = 1, parts[HONE_MAX_TILE_PARTS];
    uint32_t count = part_count(inst);
    for (uint32_t i = 0; i < old->count; i++)
        extent *= old->values[i];
    if (count < 1 || old->count < 1) return (hone_decision){0, NULL};
    hone_tile_fit(extent, hone_tile_limit(inst), old->count, old->values, count, parts);
    int64_t *values = hone_arena_copy(m->arena, parts, count * sizeof *values);
    return values ? (hone_decision){count, values} : (hone_decision){0, NULL};
}

static bool has_candidate(const hone_inst *inst, const hone_decision *d) {
    return d->count == 1 && inst->attr_count == 2 && inst->attrs[0].kind == HONE_VALUE_LIST &&
           d->values[0] >= 0 && (uint64_t)d->values[0] < inst->attrs[0].count;
}

static hone_decision translate(const hone_mutation *m, const hone_inst *inst, uint32_t *io_at) {
    const hone_decision *old = next_alike(m, inst, io_at);
    if (!old) return (hone_decision){0, NULL};
    if (inst->kind == HONE_INST_SAMPLE_PERFECT_TILE) return regroup(m, inst, old);
    bool fits = inst->kind == HONE_INST_SAMPLE_COMPUTE_LOCATION ||
                (inst->kind == HONE_INST_SAMPLE_CATEGORICAL && has_candidate(inst, old));
    return fits ? *old : (hone_decision){0, NULL};
}

bool hone_mutator_sketch(hone_mutation *m) {
    const hone_space *space = m->kin->space;
    if (space->count < 2) return false;
    int32_t other = (int32_t)hone_rng_below(m->rng, space->count - 1);
    m->child_sketch = other >= m->parent.sketch ? other + 1 : other;
    const hone_trace *sketch = &space->sketches[m->child_sketch];
    uint32_t at[HONE_INST_COUNT] = {0};
    for (uint32_t i = 0; i < sketch->count; i++) {
        const hone_inst *inst = &sketch->insts[i];
        m->child[i] = hone_inst_is_sampling(inst->kind) ? translate(m, inst, &at[inst->kind])
                                                        : (hone_decision){0, NULL};
    }
    return true;
}
