/* tests/farm/sim_watch.h - looks at every frame between tracker and runners and knows the rules of
 * leases: the tokens of a slot only grow, over restarts of the tracker too; a token belongs to one
 * slot of one life of one runner and to one tuner; a lease covers two trials; a slot gets a new
 * lease only when its runner has let go of all trials of the older one; a trial that has a result
 * under a token stays done under it, and one that was returned is not assigned under it again,
 * unless the tracker was another one then: it learns of the trial from the tuner, who may come
 * after the return.
 *
 * A broken rule is written down; the first one is what counts.
 */
#ifndef HONE_TESTS_FARM_SIM_WATCH_H
#define HONE_TESTS_FARM_SIM_WATCH_H

#include "measure/farm.h"
#include "support/core/arena.h"
#include "support/core/strbuf.h"
#include "support/data/vec.h"
#include "support/os/clock.h"
#include "support/os/log.h"

typedef struct sim_lease {
    uint64_t token;
    uint32_t runner, life, slot; /* which runner of the simulation, in which of its lives */
    hone_farm_instance tuner;
} sim_lease;

/* A trial under a lease: assigned, then answered by its runner, then the tracker knows that. An
 * ASSIGN in between is a repetition that crossed the answer; so is every one behind a RESULT. */
typedef struct sim_assigned {
    sim_lease lease;
    uint64_t trial;
    bool is_answered, is_acknowledged, has_result, was_returned;
    bool is_older; /* assigned by a tracker that has died since */
    bool is_over;  /* returned, and the tracker, who knew of it, has said so */
} sim_assigned;

typedef struct sim_watch {
    HONE_VEC(sim_lease) leases; /* all, in order of their first ASSIGN */
    HONE_VEC(sim_assigned) assigned;
    uint64_t frames, assigns, results;
    hone_str broken;         /* "": no rule was */
    const hone_log *log;     /* a line for each frame about a trial; NULL: none */
    const hone_clock *clock; /* for those */
    hone_arena *arena;
} sim_watch;

HONE_NODISCARD hone_status sim_watch_init(sim_watch *watch, const hone_log *log,
                                          const hone_clock *clock);
void sim_watch_deinit(sim_watch *watch);

/* A frame of the tracker for a runner, and the other way round. */
void sim_watch_to_runner(sim_watch *watch, uint32_t runner, uint32_t life, const void *bytes,
                         size_t count);
void sim_watch_from_runner(sim_watch *watch, uint32_t runner, uint32_t life, const void *bytes,
                           size_t count);
/* The runner's life is over: it lets go of all. */
void sim_watch_runner_died(sim_watch *watch, uint32_t runner);
/* A tracker that restarts may have to learn what is held. */
void sim_watch_tracker_died(sim_watch *watch);

/* How many assigned trials were not answered. */
size_t sim_watch_unanswered(const sim_watch *watch);

#endif
