/* tuner/space/mutate_location.c - another place to compute at. Which loops are legal is known at
 * replay only: it takes the nearest place that is. Source: TVM's MutateComputeLocation. */
#include "tuner/space/mutator.h"

static bool is_place(const hone_inst *inst, const hone_decision *d) {
    return inst->kind == HONE_INST_SAMPLE_COMPUTE_LOCATION && d->count == 1;
}

bool hone_mutator_location(hone_mutation *m) {
    enum { INLINE = -2, LOOPS_BEYOND = 4 };
    int64_t at = hone_mutation_pick(m, is_place);
    int64_t *place = at < 0 ? NULL : hone_mutation_own(m, (uint32_t)at);
    if (!place) return false;
    int64_t highest = (*place < 0 ? 0 : *place) + LOOPS_BEYOND;
    int64_t other = hone_rng_between(m->rng, INLINE, highest - 1);
    *place = other >= *place ? other + 1 : other;
    return true;
}
