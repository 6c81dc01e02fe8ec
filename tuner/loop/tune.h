/* tuner/loop/tune.h - the tuning loop: proposes schedules, builds, runs and records them.
 *
 *   pick task ─► search proposes a batch ─► builder ─► runner ─► database ─► cost model, search
 *
 * Steady state: builders and devices always have something to do, and results come in any order.
 * They are folded in the order of the proposals, with a fixed look-ahead W: a batch of proposals
 * that ends with proposal k sees exactly the results up to k - W. So at most W trials are under
 * way, and the same seed, W and results give the same run, however many builders and devices there
 * are. On a machine that measures itself, building and measuring alternate: while candidates are
 * timed, builds are stopped and search waits.
 *
 * Durability: a trial is committed before it counts. A run on a database that has trials of a task
 * goes on with what they taught.
 * Threads: one thread drives the loop and makes the callbacks; another one thinks.
 */
#ifndef HONE_TUNER_TUNE_H
#define HONE_TUNER_TUNE_H

#include "builder/builder.h"
#include "costmodel/costmodel.h"
#include "database/database.h"
#include "graph/plan/tasks.h"
#include "runner/runner.h"
#include "support/os/log.h"
#include "support/os/progress.h"
#include "target/target.h"
#include "tuner/space/space.h"
#include "tuner/task/made_inputs.h"

typedef enum hone_stop {
    HONE_STOP_NO,
    HONE_STOP_DRAIN, /* no new proposals; what is under way is finished and committed */
    HONE_STOP_NOW,   /* what is under way is cancelled */
} hone_stop;

typedef struct hone_tune_options {
    hone_db *db; /* not owned, open for writing */
    hone_target target;
    hone_builder *builder; /* not owned */
    hone_runner *runner;   /* not owned */
    int32_t look_ahead;    /* W, at least 8; 0 = by the slots of builder and runner */
    /* Where the references of tasks are run, and the target that they are built for; NULL = the
     * runner and the target above. */
    hone_runner *reference_runner;
    const hone_target *reference_target;
    const char *strategy;   /* "evolutionary" (NULL), "random", "replay" */
    const char *cost_model; /* "xgboost" (NULL), "random", "null" */
    int32_t evaluations;    /* candidates that an evolutionary search replays and scores for each
                               batch, at least HONE_LEAST_EVALUATIONS; 0 = HONE_EVALUATIONS */
    uint64_t seed;
    int64_t trials;         /* budget over all tasks; 0 = none */
    int64_t time_limit_ns;  /* 0 = none */
    const char *propose;    /* a command that proposes candidates, too; NULL = none */
    bool until_converged;   /* stop when no task has improved for a while */
    const char *only_task;  /* NULL = all */
    const char *space_path; /* a trace of the user's as the space of every task; NULL = rules */
    hone_variant_rules variant_rules; /* which other algorithms are searched */
    const char *extern_path;
    const hone_given_input *given; /* of which tasks have which inputs, else they are made up */
    size_t given_count;
    size_t intrin_count; /* tensor intrinsics that the space may name */
    const hone_build_intrin *intrins;
    hone_cache_state cache; /* MODEL: with the list's weights and footprint. Records of sessions
                               with another state are not compared with those of this one */
    const char *work_dir;   /* for artifacts and check bundles; must exist */
    const char *model_name, *command_line, *hone_version; /* kept with the session */
    bool is_here; /* this machine's CPUs run the candidates: the session keeps what these can do */
    const hone_progress *progress; /* may be NULL */
    const char *quiet_path; /* of the quiet gate, which builds share with who times on this machine
                               when the runner is elsewhere; NULL = they do not */
    const hone_log *log;    /* may be NULL */
    hone_stop (*should_stop)(void *ctx); /* may be NULL */
    /* For the simulated runner: what the candidate would cost, from its program's hash and
     * features (NULL when it is timed again to be confirmed). Then no reference is made and nothing
     * is checked. NULL = measure for real. */
    void (*simulate)(void *ctx, hone_hash128 program, const float *features, uint32_t row_count,
                     hone_simulated_facts *out_facts);
    void *ctx;
} hone_tune_options;

/* What came of a task, for tables and reports. */
typedef struct hone_tune_task_result {
    const char *name;
    hone_hash128 workload;
    hone_hash128 before; /* the program that was to be beaten */
    uint32_t weight;
    double flops;
    double before_ns; /* what was to be beaten (tune_task.h); NAN = it has no time */
    double best_ns;   /* NAN = nothing worked */
    bool is_confirmed;
    double still_to_gain;   /* share of best_ns that as many trials again may save; NAN = unknown */
    int64_t trials, failed; /* of this run */
    int64_t known_trials;   /* that the database had before */
    double seconds;
} hone_tune_task_result;

typedef struct hone_tune_result {
    hone_arena *arena; /* owns the rest */
    hone_tune_task_result *tasks;
    uint32_t task_count;
    int64_t trials, failed;
    bool was_stopped;         /* by should_stop */
    const char *lost_devices; /* why it ended for want of devices; NULL = it did not */
    const char *put_off; /* why the last candidate was, that could not be judged; NULL = none */
    bool has_converged;
    bool is_used_up;     /* there was nothing left to try */
    hone_db_times times; /* summed over this run */
    int64_t elapsed_ns, train_ns;
    int64_t setup_ns, trials_ns, confirm_ns; /* parts of elapsed_ns */
    hone_costmodel_quality quality;
    char session[HONE_HASH_HEX_BYTES];
} hone_tune_result;

/* Tunes the tasks of a list. Trials that fail are data; failures are those of the database, the
 * builder or the runner as a whole (everything committed stays). */
HONE_NODISCARD hone_status hone_tune(const hone_task_list *tasks, const hone_tune_options *options,
                                     hone_tune_result *out_result);
void hone_tune_result_deinit(hone_tune_result *result);

#endif
