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

#include "schedule/state/schedule.h"
#include "target/target.h"

typedef struct hone_space {
    hone_arena *arena;    /* owns the traces */
    hone_trace *sketches; /* simplified, decisions removed, without postprocessing */
    uint32_t count;
} hone_space;

/* Whether there are rules that make sketches for such a device. */
bool hone_space_has_rules(const hone_target *target);
/* Deterministic: the same program and target give the same sketches in the same order. */
HONE_NODISCARD hone_status hone_space_generate(const hone_func *func, const hone_target *target,
                                               hone_space *out_space);
/* A space with one sketch, given by the user as a trace (--space FILE). ILLEGAL: a step is refused
 * whatever is drawn, or works on another function; with the step and the reason. */
HONE_NODISCARD hone_status hone_space_load(const char *path, const hone_trace_context *context,
                                           hone_space *out_space);
void hone_space_deinit(hone_space *space);

/* Postprocessing of a candidate: applied after its decisions are made, recorded behind
 * EnterPostproc. ILLEGAL: the candidate is to be dropped. */
HONE_NODISCARD hone_status hone_postprocess(hone_schedule *sch);

/* Changes one decision of a candidate at random: moves a factor between two parts of a tile (90 %),
 * another category or compute location else. decisions: one per instruction of the sketch; out gets
 * all of them (unchanged ones are shared). False when the sketch has nothing to change. Source:
 * TVM's mutators. */
bool hone_mutate(const hone_trace *sketch, const hone_decision *decisions, hone_rng *rng,
                 hone_arena *arena, hone_decision *out_decisions);

#endif
