/* tuner/search/search.h - search strategies: what to measure next. For the tuner only.
 *
 * A strategy proposes candidates for a task from what was folded so far. It draws only from the rng
 * it is given, so a proposal depends on (seed, task, proposal number) and the folded results alone.
 */
#ifndef HONE_TUNER_SEARCH_H
#define HONE_TUNER_SEARCH_H

#include "tuner/task/tune_task.h"

typedef struct hone_strategy {
    bool takes_advice; /* what was good for programs like the task's is tried early */
    /* Fills up to count candidates that were not seen before; *out_count 0 = nothing new. */
    hone_status (*propose)(hone_tune_task *task, hone_costmodel *model, hone_rng rng,
                           uint32_t count, hone_candidate *out, uint32_t *out_count);
} hone_strategy;

#define HONE_STRATEGY(name) extern const hone_strategy hone_strategy_##name;
#include "tuner/search/strategies.def"
#undef HONE_STRATEGY

/* By name, NULL: the first of strategies.def; INVALID lists them. */
HONE_NODISCARD hone_status hone_strategy_find(const char *name, const hone_strategy **out);

#endif
