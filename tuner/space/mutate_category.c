/* tuner/space/mutate_category.c - another of the candidates. Source: TVM's MutateUnroll,
 * MutateParallel.
 */
#include "tuner/space/mutator.h"

static bool is_choice(const hone_inst *inst, const hone_decision *d) {
    return inst->kind == HONE_INST_SAMPLE_CATEGORICAL && d->count == 1 && inst->attr_count == 2 &&
           inst->attrs[0].kind == HONE_VALUE_LIST && inst->attrs[0].count >= 2;
}

bool hone_mutator_category(hone_mutation *m) {
    int64_t at = hone_mutation_pick(m, is_choice);
    int64_t *value = at < 0 ? NULL : hone_mutation_own(m, (uint32_t)at);
    if (!value) return false;
    int64_t other = (int64_t)hone_rng_below(m->rng, m->sketch->insts[at].attrs[0].count - 1);
    *value = other >= *value ? other + 1 : other;
    return true;
}
