/* tuner/space/mutator.h - for mutators only: small steps through a design space.
 *
 * A mutator changes the decision of one instruction at random; mutate.c chooses which.
 */
#ifndef HONE_TUNER_MUTATOR_H
#define HONE_TUNER_MUTATOR_H

#include "tuner/space/space.h"

typedef struct hone_mutator {
    /* Is there another decision that it could make? Of one instruction at most one mutator says so;
     * it holds until the sketch changes. */
    bool (*applies)(const hone_inst *inst, const hone_decision *decision);
    /* Changes io, the values of the decision. False where it found none in reasonable time. */
    bool (*change)(const hone_inst *inst, hone_rng *rng, uint32_t count, int64_t *io);
} hone_mutator;

#define HONE_MUTATOR_REST 0

#define HONE_MUTATOR(name, weight) extern const hone_mutator hone_mutator_##name;
#include "tuner/space/mutators.def"
#undef HONE_MUTATOR

enum { HONE_MUTATOR_TRIES = 32 };

#endif
