/* tuner/loop/tune_impl.h - the parts of the loop, for one another only. */
#ifndef HONE_TUNER_TUNE_IMPL_H
#define HONE_TUNER_TUNE_IMPL_H

#include "database/db_targets.h"
#include "schedule/intrin/tensor_intrin.h"
#include "support/data/map.h"
#include "support/os/clock.h"
#include "support/os/quiet.h"
#include "tuner/loop/side_thread.h"
#include "tuner/loop/tune.h"
#include "tuner/search/outside.h"
#include "tuner/search/search.h"
#include "tuner/task/tune_task.h"

/* Most proposals of one thought: a generation of the search and an update of the cost model cost
 * about the same for one as for these. */
enum { HONE_BATCH = 8 };

typedef enum hone_trial_state {
    HONE_TRIAL_PROPOSED, /* waits for the builder to take it */
    HONE_TRIAL_BUILDING,
    HONE_TRIAL_BUILT, /* waits for the runner to take it */
    HONE_TRIAL_RUNNING,
    HONE_TRIAL_DONE, /* committed; or cancelled, or dropped for a machine's fault (record is -1) */
} hone_trial_state;
enum { HONE_TRIAL_STATES = HONE_TRIAL_DONE + 1 };

typedef struct hone_trial {
    hone_arena *arena; /* of its build result; reset for each use */
    hone_trial_state state;
    hone_tune_task *task;
    hone_candidate candidate;
    int64_t proposal; /* of this task in this session */
    uint32_t tries;   /* that came to nothing through a machine's fault */
    bool was_dropped; /* after so many: it was never judged, and may be proposed again */
    bool ends_batch;  /* the last proposal of its thought */
    hone_ticket ticket;
    double time_ns;             /* NAN = failed */
    hone_outside_result result; /* texts in the arena of its build result */
    int64_t record;
    hone_build_result built;
    int64_t built_at_ns;
    hone_db_times times;
} hone_trial;

/* One step of what is deterministic: fold results, learn, propose. Runs beside the loop. */
typedef struct hone_thought {
    int64_t fold_from, fold_to; /* in: the results of these proposals are folded first */
    bool may_propose;           /* in */
    int64_t dropped;            /* in: of the tuning, when the thought began */
    uint32_t count;             /* out: proposals made */
    hone_status status;
    bool is_under_way;
} hone_thought;

/* Proposals are numbered over all tasks; those of [folded, proposed) are under way or done. While a
 * thought is under way it owns the ring's other entries, the cost model and the search state of the
 * tasks (tune_task.h); the loop owns the rest. */
typedef struct hone_tuning {
    const hone_tune_options *options;
    const hone_clock *clock;
    hone_tune_task **tasks;
    uint32_t task_count;
    hone_costmodel *model;
    const hone_strategy *strategy;
    hone_outside *outside;        /* owned; NULL: nobody proposes from outside */
    hone_tensor_intrins *intrins; /* owned; NULL: the built-in ones only */
    hone_str target_text;
    hone_hash128 target_hash;
    int64_t footprint_bytes;             /* of the model */
    char distances[HONE_HASH_HEX_BYTES]; /* hash of how far away the tasks' arguments are in it */
    hone_strmap unlike;    /* ids of sessions that timed in another state of the caches */
    hone_db_alikes alikes; /* targets whose records serve; in the result's arena */
    hone_tune_result *result;
    int64_t start_ns, deadline_ns; /* deadline INT64_MAX = none */
    uint64_t artifact_number;
    hone_progress_meter meter;

    hone_trial *trials; /* the ring, look_ahead entries */
    int64_t look_ahead;
    int64_t uncounted;              /* proposals that the budget does not count */
    int64_t folded, proposed;       /* folded: or about to be, by the thought that is under way */
    hone_costmodel_sample *samples; /* look_ahead, for folding */
    hone_side_thread thinker;
    hone_thought thought;
    bool has_ended;            /* no more proposals */
    hone_quiet_gate gate;      /* when has_gate: held shared while there are builds */
    int64_t gate_asked_ns;     /* since when it is not to be had; 0: it is */
    bool has_gate, is_held_up; /* held up: builds are stopped for who times */
    bool is_timing;            /* this machine is kept quiet: builds are stopped, nobody thinks */
    hone_arena *spare;         /* where the next build result goes; then it is the trial's */
    uint32_t in_state[HONE_TRIAL_STATES];
    int64_t dropped;         /* proposals that a machine's faults used up: as many more are made */
    int64_t confirmed_tasks; /* in result->confirm_ns */
    uint32_t faults;         /* of machines, in a row */
    const hone_tune_task *last_task; /* of the trial that was recorded last; NULL = none yet */
    char shown_note[96];             /* of the runner, as the progress line has it */
    int64_t shared_until_ns;         /* time has been shared out among the tasks up to here */
} hone_tuning;

/* As above, and NOW when the time limit is over and something was measured, when no device is left
 * and nobody waits for one, and when none is there to drain what is under way. */
hone_stop hone_tuning_must_stop(const hone_tuning *t);
/* Looks after the runner's devices and keeps its word that none is left. */
HONE_NODISCARD hone_status hone_tuning_tend(hone_tuning *t);
/* A failure of the runner: that no device is left becomes part of the result, and is no failure. */
HONE_NODISCARD hone_status hone_tuning_note_devices(hone_tuning *t, hone_status st);

static inline hone_trial *hone_tuning_trial(const hone_tuning *t, int64_t number) {
    return &t->trials[number % t->look_ahead];
}

/* The task that the next proposals shall be for, or NULL when none has anything left. Source: TVM's
 * gradient scheduler, with an optimistic term for tasks that have few trials. */
hone_tune_task *hone_pick_task(const hone_tuning *t);
/* Notes the best time after a batch, for the scheduler. */
HONE_NODISCARD hone_status hone_note_batch(hone_tune_task *task);
bool hone_has_converged(const hone_tuning *t);
/* What as many trials again may save, as a share of the best time: the gains of the last two
 * doublings of the number of trials are taken on. NAN: too few to say. */
double hone_still_to_gain(const hone_tune_task *task);
/* Whether all candidates that there are were tried. */
bool hone_is_used_up(const hone_tuning *t);

/* Makes the ring and the thread that thinks. */
HONE_NODISCARD hone_status hone_tuning_loop_init(hone_tuning *t);
void hone_tuning_loop_deinit(hone_tuning *t);
/* Takes over how far away the model's arguments are. */
void hone_tuning_read_distances(hone_tuning *t, const hone_task_list *list);
/* What a session keeps of itself, as JSON: the state of caches, and what the machine can do where
 * it runs the candidates; NULL: hot, elsewhere. In the result's arena. */
HONE_NODISCARD hone_status hone_tuning_session_text(const hone_tuning *t, const char **out_text);
/* Finds the sessions with another state. */
HONE_NODISCARD hone_status hone_tuning_find_unlike(hone_tuning *t);
static inline bool hone_tuning_is_like(const hone_tuning *t, const hone_db_trial *trial) {
    return !hone_strmap_find(&t->unlike, trial->session, NULL);
}

/* Takes what the database knows of the tasks: elites, seen programs, training samples. */
HONE_NODISCARD hone_status hone_tuning_resume(hone_tuning *t);
/* Takes as advice what it knows of programs that differ from a task's in sizes only, and of the
 * task on targets unlike this one (tune_transfer.c). */
HONE_NODISCARD hone_status hone_tuning_transfer(hone_tuning *t);
/* Proposes, builds, measures and records until the budget, a stop or convergence ends it. */
HONE_NODISCARD hone_status hone_tuning_loop(hone_tuning *t);
/* Times the fastest records of each task again, interleaved, and marks them as confirmed. */
HONE_NODISCARD hone_status hone_tuning_confirm(hone_tuning *t);
/* How long that takes, by what it took before, or else by what trials took; 0 = nothing was
 * measured since. */
int64_t hone_tuning_confirm_ns(const hone_tuning *t);

/* ---- tune_gate.c ---- */
HONE_NODISCARD hone_status hone_tuning_gate_init(hone_tuning *t);
void hone_tuning_gate_deinit(hone_tuning *t);
/* Whether builds may begin: takes the gate for them. */
bool hone_tuning_may_build(hone_tuning *t);
/* hone_tuning_may_build, but waits until they may. */
void hone_tuning_await_gate(hone_tuning *t);
/* Lets go when somebody wants to be alone, and goes on afterwards. */
void hone_tuning_tend_gate(hone_tuning *t);

/* Thinks: `context` is the hone_tuning. Also called directly, to fold what is left at the end. */
void hone_think(void *context);

/* A trial came to nothing through a machine's fault: true, it is to be tried again; else it is
 * dropped. UNAVAILABLE, with what the machine said: there was nothing but faults for so long that
 * nothing good can be expected any more. */
HONE_NODISCARD hone_status hone_tuning_note_fault(hone_tuning *t, hone_trial *trial,
                                                  const char *message, bool *out_again);

/* Commits a finished trial and shows it; a cancelled one was never judged: nothing is recorded.
 * `ran` NULL: it did not build. */
HONE_NODISCARD hone_status hone_trial_record(hone_tuning *t, hone_trial *trial,
                                             hone_failure failure, const char *message,
                                             const hone_run_result *ran);
/* Sends the progress line as it stands, also when nothing was recorded. */
void hone_tuning_show(hone_tuning *t);

/* The build request of a task with a trace; the artifact gets a new name in the work directory. */
HONE_NODISCARD hone_status hone_submit_build(hone_tuning *t, const hone_tune_task *task,
                                             const char *trace, hone_arena *arena,
                                             hone_ticket *out_ticket);
/* `device` NULL: any; else the name of one. */
HONE_NODISCARD hone_status hone_submit_run(hone_tuning *t, const hone_tune_task *task,
                                           const hone_build_result *built,
                                           const hone_candidate *candidate,
                                           const hone_timing_policy *timing, const char *device,
                                           hone_ticket *out_ticket);
/* Waits for the one build or run that is in flight, in slices, so that a stop is noticed. TIMEOUT
 * does not come out. */
HONE_NODISCARD hone_status hone_wait_build(hone_tuning *t, hone_arena *arena,
                                           hone_build_result *out);
HONE_NODISCARD hone_status hone_wait_run(hone_tuning *t, hone_run_result *out);

#endif
