/* tuner/space/mutator.h - for mutators only: small steps through a design space.
 *
 * A mutator makes a child of a parent: mutate.c chooses which one, by how well each did before.
 */
#ifndef HONE_TUNER_MUTATOR_H
#define HONE_TUNER_MUTATOR_H

#include "tuner/space/space.h"

typedef struct hone_mutation {
    const hone_kin *kin;
    hone_draft parent;
    const hone_trace *sketch; /* the parent's */
    hone_rng *rng;
    hone_arena *arena;
    int32_t child_sketch; /* begins as the parent's */
    hone_decision *child; /* room for the longest sketch; begins as the parent's decisions */
} hone_mutation;

/* Makes a child that differs from its parent. False: there is nothing for it to change, or it found
 * nothing in reasonable time; then the child is as it was. */
#define HONE_MUTATOR(name, weight) bool hone_mutator_##name(hone_mutation *m);
#include "tuner/space/mutators.def"
#undef HONE_MUTATOR

enum { HONE_MUTATOR_TRIES = 32 };

/* ---- what mutators share (mutate_shared.c) ---- */

typedef bool (*hone_mutable)(const hone_inst *inst, const hone_decision *decision);
/* One of the instructions whose decision could change, at random; -1: there is none. */
int64_t hone_mutation_pick(const hone_mutation *m, hone_mutable is_mutable);
/* Gives the child a copy of a decision, to be changed; NULL: no memory. */
int64_t *hone_mutation_own(hone_mutation *m, uint32_t at);
/* A tile of more than one part and more than one iteration. */
bool hone_is_tile(const hone_inst *inst, const hone_decision *decision);
/* The most that the last part of a tile may have; -1: anything. */
int64_t hone_tile_limit(const hone_inst *inst);
/* Makes the factors `wanted` fit an extent, from the last part to the first, which takes the rest:
 * each becomes the largest divisor of what is left that is no larger. */
void hone_tile_fit(int64_t extent, int64_t limit, uint32_t wanted_parts, const int64_t *wanted,
                   uint32_t parts, int64_t *out);

#endif
