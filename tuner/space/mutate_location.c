/* tuner/space/mutate_location.c - another place to compute at. Which loops are legal is known at
 * replay only: it takes the nearest place that is. Source: TVM's MutateComputeLocation. */
#include "tuner/space/mutator.h"

static bool applies(const hone_inst *inst, const hone_decision *d) {
    return inst->kind == HONE_INST_SAMPLE_COMPUTE_LOCATION && d->count == 1;
}

static bool change(const hone_inst *inst, hone_rng *rng, uint32_t count, int64_t *io) {
    enum { INLINE = -2, LOOPS_BEYOND = 4 };
    (void)inst, (void)count;
    int64_t highest = (*io < 0 ? 0 : *io) + LOOPS_BEYOND;
    int64_t other = hone_rng_between(rng, INLINE, highest - 1);
    *io = other >= *io ? other + 1 : other;
    return true;
}

const hone_mutator hone_mutator_location = {applies, change};
