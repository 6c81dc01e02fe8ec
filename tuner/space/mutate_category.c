/* tuner/space/mutate_category.c - another of the candidates. Source: TVM's MutateUnroll,
 * MutateParallel.
 */
#include "tuner/space/mutator.h"

static bool applies(const hone_inst *inst, const hone_decision *d) {
    return inst->kind == HONE_INST_SAMPLE_CATEGORICAL && d->count == 1 && inst->attr_count == 2 &&
           inst->attrs[0].kind == HONE_VALUE_LIST && inst->attrs[0].count >= 2;
}

static bool change(const hone_inst *inst, hone_rng *rng, uint32_t count, int64_t *io) {
    (void)count;
    int64_t other = (int64_t)hone_rng_below(rng, inst->attrs[0].count - 1);
    *io = other >= *io ? other + 1 : other;
    return true;
}

const hone_mutator hone_mutator_category = {applies, change};
