#include "schedule/primitive/choose/sample.h"
#include "tuner/space.h"

#include <string.h>

/* Small steps through a design space: one decision of a candidate changes. Tiles are moved nine
 * times of ten. Source: TVM's MutateTileSize, MutateComputeLocation, MutateUnroll. */

enum { MAX_DIVISORS = 256, MOST_TRIES = 32 };

typedef enum choice { CHOICE_NONE, CHOICE_TILE, CHOICE_OTHER } choice;

static int64_t product_of(const hone_decision *d) {
    int64_t product = 1;
    for (uint32_t i = 0; i < d->count; i++)
        product *= d->values[i];
    return product;
}

static bool is_category(const hone_inst *inst) {
    return inst->kind == HONE_INST_SAMPLE_CATEGORICAL && inst->attr_count == 2 &&
           inst->attrs[0].kind == HONE_VALUE_LIST && inst->attrs[0].count >= 2;
}

static choice kind_of(const hone_inst *inst, const hone_decision *d) {
    switch (inst->kind) {
    case HONE_INST_SAMPLE_PERFECT_TILE:
        return d->count >= 2 && product_of(d) >= 2 ? CHOICE_TILE : CHOICE_NONE;
    case HONE_INST_SAMPLE_CATEGORICAL:
        return d->count == 1 && is_category(inst) ? CHOICE_OTHER : CHOICE_NONE;
    case HONE_INST_SAMPLE_COMPUTE_LOCATION:
        return d->count == 1 ? CHOICE_OTHER : CHOICE_NONE;
    default:
        return CHOICE_NONE;
    }
}

/* The k-th instruction of that sort, or trace->count. */
static uint32_t find_choice(const hone_trace *trace, const hone_decision *decisions, choice sort,
                            uint64_t k) {
    for (uint32_t i = 0; i < trace->count; i++) {
        if (kind_of(&trace->insts[i], &decisions[i]) == sort && k-- == 0) return i;
    }
    return trace->count;
}

static uint32_t count_choices(const hone_trace *trace, const hone_decision *decisions,
                              choice sort) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        count += kind_of(&trace->insts[i], &decisions[i]) == sort;
    }
    return count;
}

/* Moves a divisor of one part to another; the innermost part respects its limit. */
static bool move_factor(const hone_inst *inst, hone_rng *rng, uint32_t parts, int64_t *io) {
    int64_t divisors[MAX_DIVISORS];
    int64_t limit =
        inst->attr_count > 1 && inst->attrs[1].kind == HONE_VALUE_INT ? inst->attrs[1].u.i : -1;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
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

static bool change_category(const hone_inst *inst, hone_rng *rng, int64_t *io) {
    uint32_t count = inst->attrs[0].count;
    int64_t other = (int64_t)hone_rng_below(rng, count - 1);
    *io = other >= *io ? other + 1 : other;
    return true;
}

/* Which loops are legal is known at replay only: it takes the nearest place that is. */
static bool change_location(hone_rng *rng, int64_t *io) {
    enum { INLINE = -2, LOOPS_BEYOND = 4 };
    int64_t highest = (*io < 0 ? 0 : *io) + LOOPS_BEYOND;
    int64_t other = hone_rng_between(rng, INLINE, highest - 1);
    *io = other >= *io ? other + 1 : other;
    return true;
}

static bool change(const hone_inst *inst, hone_rng *rng, uint32_t count, int64_t *io) {
    switch (inst->kind) {
    case HONE_INST_SAMPLE_PERFECT_TILE:
        return move_factor(inst, rng, count, io);
    case HONE_INST_SAMPLE_CATEGORICAL:
        return change_category(inst, rng, io);
    default:
        return change_location(rng, io);
    }
}

bool hone_mutate(const hone_trace *sketch, const hone_decision *decisions, hone_rng *rng,
                 hone_arena *arena, hone_decision *out_decisions) {
    assert(sketch && decisions && rng && arena && out_decisions);
    if (sketch->count) memmove(out_decisions, decisions, sketch->count * sizeof *decisions);
    uint32_t tiles = count_choices(sketch, decisions, CHOICE_TILE);
    uint32_t others = count_choices(sketch, decisions, CHOICE_OTHER);
    if (tiles + others == 0) return false;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        bool wants_tile = hone_rng_uniform(rng) < 0.9;
        choice sort = (wants_tile && tiles) || others == 0 ? CHOICE_TILE : CHOICE_OTHER;
        uint64_t k = hone_rng_below(rng, sort == CHOICE_TILE ? tiles : others);
        uint32_t at = find_choice(sketch, decisions, sort, k);
        const hone_decision *old = &decisions[at];
        int64_t *values = hone_arena_copy(arena, old->values, old->count * sizeof *values);
        if (!values) return false;
        if (!change(&sketch->insts[at], rng, old->count, values)) continue;
        out_decisions[at] = (hone_decision){old->count, values};
        return true;
    }
    return false;
}
