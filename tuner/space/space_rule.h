/* tuner/space/space_rule.h - for the rules of the design space and for postprocessors only. */
#ifndef HONE_TUNER_SPACE_RULE_H
#define HONE_TUNER_SPACE_RULE_H

#include "schedule/gpu/gpu_sketch.h"
#include "schedule/nests/nest_facts.h"
#include "tuner/space/space.h"

enum { HONE_MAX_FORKS = 24 };

/* What a rule makes of one schedule at one block: itself changed in place, and copies. */
typedef struct hone_rule_results {
    hone_schedule *items[HONE_MAX_FORKS]; /* owned by whoever called the rule */
    uint32_t count;
} hone_rule_results;

/* Applies a rule to the block named block_name of sch (which it takes over: it ends up in results
 * or destroyed; after a failure all of them belong to the caller through results). Refused steps
 * are not errors: then results hold the schedule as it was. */
typedef hone_status (*hone_space_rule)(hone_schedule *sch, const char *block_name,
                                       const hone_target *target, hone_rule_results *out_results);

#define HONE_SPACE_RULE(name, devices)                                                             \
    hone_status hone_rule_##name(hone_schedule *sch, const char *block_name,                       \
                                 const hone_target *target, hone_rule_results *out_results);
#include "tuner/space/space_rules.def"
#undef HONE_SPACE_RULE

/* Postprocessors (postproc_limits.c): ILLEGAL drops the candidate. */
hone_status hone_verify_limits(hone_schedule *sch);
hone_status hone_verify_registers(hone_schedule *sch, const hone_target *target);
/* Another (postproc_pipelines.c). */
hone_status hone_verify_pipelines(hone_schedule *sch);
/* A loop that somebody has made a software pipeline: what stands in it counts as it stands. */
bool hone_rule_is_pipeline(const hone_node *node);

/* hone_space_generate for a schedule in which steps may have been done, which it takes over. */
HONE_NODISCARD hone_status hone_space_generate_from(hone_schedule *sch, const hone_target *target,
                                                    hone_space *out_space);

/* ---- what rules share (space_facts.c) ---- */

/* ILLEGAL and NOT_FOUND (a step was refused) become HONE_OK with *out_done false. */
hone_status hone_rule_attempt(hone_status st, bool *out_done);

/* A way to change a schedule; ILLEGAL: it can't be done. */
typedef hone_status (*hone_rule_variant)(hone_schedule *sch, const char *block_name,
                                         const hone_target *target, int32_t argument);
/* Adds a copy of sch with the variant applied to the results; nothing when it is refused. */
hone_status hone_rule_fork(const hone_schedule *sch, hone_rule_variant variant,
                           const char *block_name, const hone_target *target, int32_t argument,
                           hone_rule_results *io_results);
/* A way of schedule/gpu/gpu_sketch.h to change a block. */
typedef hone_status (*hone_rule_gpu)(hone_schedule *sch, hone_rv block,
                                     const hone_gpu_limits *limits);
/* Adds sch itself. */
hone_status hone_rule_keep(hone_schedule *sch, hone_rule_results *io_results);

/* Adds a copy of sch changed by one of the ways of schedule/gpu; nothing when it is refused. */
hone_status hone_rule_fork_gpu(const hone_schedule *sch, hone_rule_gpu way, const char *block_name,
                               const hone_target *target, hone_rule_results *io_results);
/* hone_rule_fork_gpu, and sch itself: always, or only where the way is refused. */
hone_status hone_rule_go_gpu(hone_schedule *sch, hone_rule_gpu way, bool keeps,
                             const char *block_name, const hone_target *target,
                             hone_rule_results *out_results);

/* The node of the block with that name, or HONE_NO_ID; records nothing. */
hone_node_id hone_rule_find_block(const hone_schedule *sch, const char *name);

#endif
