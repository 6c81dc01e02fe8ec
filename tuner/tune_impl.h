/* tuner/tune_impl.h - the parts of the loop, for one another only. */
#ifndef HONE_TUNER_TUNE_IMPL_H
#define HONE_TUNER_TUNE_IMPL_H

#include "support/clock.h"
#include "tuner/search.h"
#include "tuner/tune.h"
#include "tuner/tune_task.h"

/* Proposals of one round; also the look-ahead W: a round sees all results but those of the round
 * before it. */
enum { HONE_ROUND = 8 };

typedef struct hone_trial {
    hone_tune_task *task;
    hone_candidate candidate;
    int64_t proposal; /* of this task in this session */
    hone_ticket ticket;
    bool is_done;   /* committed */
    double time_ns; /* NAN = failed */
    int64_t record;
    const char *artifact; /* path, or NULL */
    hone_build_result built;
    hone_run_result ran;
    hone_db_times times;
} hone_trial;

typedef struct hone_round {
    hone_arena *arena; /* of build results; reset for each use */
    hone_trial trials[HONE_ROUND];
    uint32_t count;
} hone_round;

typedef struct hone_tuning {
    const hone_tune_options *options;
    const hone_clock *clock;
    hone_tune_task **tasks;
    uint32_t task_count;
    hone_costmodel *model;
    const hone_strategy *strategy;
    hone_str target_text;
    hone_hash128 target_hash;
    hone_tune_result *result;
    int64_t start_ns, deadline_ns; /* deadline INT64_MAX = none */
    int64_t propose_until_ns;      /* what is left then is for rounds under way and confirming */
    int64_t proposed;              /* trials handed out, all tasks */
    uint64_t artifact_number;
    hone_progress_meter meter;
    hone_round rounds[2];
} hone_tuning;

hone_stop hone_tuning_stop(const hone_tuning *t);

/* The task that the next round shall be for, or NULL when none has anything left. Source: TVM's
 * gradient scheduler, with an optimistic term for tasks that have few trials. */
hone_tune_task *hone_pick_task(const hone_tuning *t);
/* Notes the best time after a round, for the scheduler. */
HONE_NODISCARD hone_status hone_note_round(hone_tune_task *task);
bool hone_has_converged(const hone_tuning *t);

/* Takes what the database knows of the tasks: elites, seen programs, training samples. */
HONE_NODISCARD hone_status hone_tuning_resume(hone_tuning *t);
/* Runs rounds until the budget, a stop or convergence ends it. */
HONE_NODISCARD hone_status hone_tuning_loop(hone_tuning *t);
/* Times the fastest records of each task again, interleaved, and marks them as confirmed. */
HONE_NODISCARD hone_status hone_tuning_confirm(hone_tuning *t);

/* Waits for one result in slices, so that a stop is noticed. TIMEOUT does not come out. */
HONE_NODISCARD hone_status hone_wait_build(hone_tuning *t, hone_arena *arena, hone_ticket *ticket,
                                           hone_build_result *out);
HONE_NODISCARD hone_status hone_wait_run(hone_tuning *t, hone_ticket *ticket, hone_run_result *out);
/* The build request of a task with a trace; the artifact gets a new name in the work directory. */
HONE_NODISCARD hone_status hone_submit_build(hone_tuning *t, const hone_tune_task *task,
                                             const char *trace, hone_arena *arena,
                                             hone_ticket *out_ticket);
HONE_NODISCARD hone_status hone_submit_run(hone_tuning *t, const hone_tune_task *task,
                                           const hone_build_result *built,
                                           const hone_candidate *candidate, double incumbent_ns,
                                           hone_ticket *out_ticket);

#endif
