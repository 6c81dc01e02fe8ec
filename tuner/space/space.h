/* tuner/space/space.h - design spaces: sketches, which are traces whose decisions are left open.
 *
 * Rules are applied block by block, from the root block to the first, rule after rule; each may
 * leave a schedule as it is, change it, or fork it into several. What comes out are the sketches.
 * A step that a rule tries and that is refused makes the rule pass over the block: generating a
 * space never fails because of a program.
 * Source: MetaSchedule (NeurIPS 2022), section 3; TVM's post-order-apply.
 */
#ifndef HONE_TUNER_SPACE_H
#define HONE_TUNER_SPACE_H

#include "schedule/intrin/tensor_intrin.h"
#include "schedule/state/schedule.h"
#include "schedule/variant/variant.h"
#include "target/target.h"

typedef struct hone_space {
    hone_arena *arena;    /* owns the traces */
    hone_trace *sketches; /* simplified, decisions removed, without postprocessing */
    uint32_t count;
} hone_space;

/* A candidate of a space: decisions has one per instruction of the sketch. */
typedef struct hone_draft {
    int32_t sketch;
    const hone_decision *decisions;
} hone_draft;

/* Deterministic: the same program and target give the same sketches in the same order. */
HONE_NODISCARD hone_status hone_space_generate(const hone_func *func, const hone_target *target,
                                               hone_space *out_space);
/* hone_space_generate with tensor intrinsics of the user's, for which places are sought. */
HONE_NODISCARD hone_status hone_space_generate_with(const hone_func *func,
                                                    const hone_target *target,
                                                    const hone_tensor_intrins *intrins,
                                                    hone_space *out_space);
/* A space with one sketch, given by the user as a trace (--space FILE). ILLEGAL: a step is refused
 * whatever is drawn, or works on another function; with the step and the reason. INVALID: it has no
 * steps. */
HONE_NODISCARD hone_status hone_space_load(const char *path, const hone_trace_context *context,
                                           const hone_target *target, hone_space *out_space);
void hone_space_deinit(hone_space *space);

/* Adds a sketch of the space's arena behind the others; a decided one is opened, and where it
 * begins is *out_start (NULL: not wanted). False: no memory. */
bool hone_space_add(hone_space *space, const hone_trace *trace, hone_draft *out_start);

/* Adds sketches of the variants (schedule/variant/) that serve for a program of a CPU and that the
 * rules allow: their default schedules, opened, and a few by the rules. out_starts:
 * HONE_MAX_VARIANTS; with which decisions each of them begins. constants: as for
 * hone_first_schedule. */
HONE_NODISCARD hone_status hone_space_add_variants(hone_space *space, const hone_func *func,
                                                   const hone_target *target, uint64_t constants,
                                                   const hone_variant_rules *rules,
                                                   hone_draft *out_starts, uint32_t *out_count);

/* Postprocessing of a candidate: applied after its decisions are made, recorded behind
 * EnterPostproc. ILLEGAL: the candidate is to be dropped. */
HONE_NODISCARD hone_status hone_postprocess(hone_schedule *sch, const hone_target *target);

/* ---- mutation (mutate.c) ---- */

/* A measured candidate, of this space or of one like it. */
typedef struct hone_relative {
    const hone_trace *sketch;
    const hone_decision *decisions;
} hone_relative;

enum {
#define HONE_MUTATOR(name, weight) HONE_MUTATOR_IS_##name,
#include "tuner/space/mutators.def"
#undef HONE_MUTATOR
    HONE_MUTATORS
};

/* How a mutator did: its children, and how many of them were better than their parents. */
typedef struct hone_mutator_record {
    uint64_t made, better;
} hone_mutator_record;

/* What a mutation may draw from. */
typedef struct hone_kin {
    const hone_space *space;
    const hone_relative *relatives;
    uint32_t count;
    const hone_mutator_record *record; /* of all HONE_MUTATORS; NULL: nothing is known */
} hone_kin;

typedef struct hone_child {
    hone_draft draft;
    uint32_t mutator; /* that made it */
} hone_child;

/* Changes a candidate a little at random (mutators.def says in which ways); what did not change is
 * shared. Decisions of another sketch may be open: a replay draws them. False when there is nothing
 * to change or no memory. Source: TVM's mutators, and others. */
bool hone_mutate(const hone_kin *kin, const hone_draft *parent, hone_rng *rng, hone_arena *arena,
                 hone_child *out);
/* Tells how a child turned out; record has HONE_MUTATORS entries. */
void hone_mutate_note(hone_mutator_record *record, uint32_t mutator, bool is_better);

#endif
