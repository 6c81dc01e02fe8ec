/* tuner/task/tune_task.h - what the loop knows of one task. For the tuner only. */
#ifndef HONE_TUNER_TUNE_TASK_H
#define HONE_TUNER_TUNE_TASK_H

#include "costmodel/costmodel.h"
#include "costmodel/feature.h"
#include "database/database.h"
#include "graph/plan/tasks.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/replay/trace_opening.h"
#include "schedule/variant/variant.h"
#include "support/data/map.h"
#include "tuner/space/space.h"

/* A program that may be measured: a sketch with decisions, and what replaying it gave. */
typedef struct hone_candidate {
    int32_t sketch;                 /* -1: what tuning has to beat, hone_tune_task_before */
    const hone_decision *decisions; /* one per instruction of the sketch; in the task's arena */
    hone_hash128 program;           /* of the postprocessed program */
    hone_hash128 looks;             /* of its features: who looks alike is one to the cost model */
    const float *features;          /* row_count rows; in the task's arena */
    uint32_t row_count;
    float score;
    const hone_variant *variant; /* where sketch is -1: of the program; NULL: as it is */
    const char *trace;           /* JSON; made for those that are proposed */
    const char *source;          /* who proposed it, when it came from outside, and ... */
    const char *label;           /* ... what he calls it, JSON or NULL; both NULL: the search did */
} hone_candidate;

/* A measured candidate that may become a parent. */
typedef struct hone_elite {
    int32_t sketch;
    const hone_decision *decisions;
    hone_hash128 looks;
    double time_ns;
} hone_elite;

enum {
    HONE_ELITES = 48,
    HONE_ADVICE = 8,
    HONE_EVALUATIONS = 1024,
    HONE_LEAST_EVALUATIONS = 64,
    HONE_MAX_FOREIGN = 32
};

/* The task's check bundle with what a variant declares on top of the bounds. */
typedef struct hone_variant_bundle {
    hone_variant variant;
    const char *path;
} hone_variant_bundle;

/* What all candidates of a sketch have in common. */
typedef struct hone_task_opening {
    hone_trace_opening opening;
    bool is_made;
} hone_task_opening;

typedef struct hone_tune_task {
    const hone_task *task;
    hone_arena *arena;        /* lives as long as the tuning run */
    hone_arena *scratch;      /* of one batch; reset by the search */
    hone_space space;         /* the rules' sketches, and behind them the default schedule as one */
    bool has_own_space;       /* the user's: one sketch, and nothing else is proposed */
    bool begins_as_written;   /* not with the default schedule */
    hone_hash128 before;      /* hash of the program that tuning has to beat */
    int32_t default_sketch;   /* its index, -1 = it has nothing to decide */
    hone_variant_rules rules; /* which variants may be used; of the user's those that serve */
    const char *unserved[HONE_MAX_GIVEN]; /* by variant of the user's: why it is not for the task;
                                             NULL: it serves */
    hone_draft starts[HONE_MAX_VARIANTS]; /* of variants and intrinsics; proposed first */
    uint32_t start_count;
    uint32_t started;       /* of these */
    uint32_t foreign_count; /* sketches at the end that others wrote */
    const hone_decision *default_decisions;
    hone_schedule *schedule;     /* replays run here */
    hone_task_opening *openings; /* by sketch, while the search looks at many candidates; or NULL */
    uint32_t opening_count;
    hone_tensor_intrins *intrins; /* owned: the user's, and those that the sketches name */
    hone_feature_state *features;
    const hone_target *target;
    const char *program;        /* text */
    hone_module *stored_module; /* owned; NULL = the database has the same text */
    const hone_func *stored;    /* the program under the names of the database; NULL = it is ours */
    hone_map128 seen;           /* hashes of programs that were proposed or are in the database */
    hone_map128 looks;          /* how many of them look so */
    hone_db *db;                /* asked for what is not there; NULL = all it has is there */
    hone_hash128 target_hash;   /* of whose records it is asked */
    int64_t last_record;        /* up to where */
    hone_elite elites[HONE_ELITES]; /* fastest first */
    uint32_t elite_count;
    hone_candidate advice[HONE_ADVICE]; /* nearest first (hone_tune_task_advise) */
    uint32_t advice_count, advice_taken;
    const char *check_path;                        /* bundle, or NULL */
    hone_variant_bundle checks[HONE_MAX_VARIANTS]; /* of variants that declare an error */
    uint32_t check_count;
    double before_ns, best_ns;
    double shown_ns;     /* best so far, folded or not: for the progress line and for timing */
    double confirmed_ns; /* best of earlier confirmations; NAN = none */
    bool is_confirmed;   /* best_ns comes from the confirmation */
    int64_t proposals;   /* made in this session */
    int64_t folded, failed;
    int64_t confirmed;       /* as many were folded when it was confirmed last */
    int64_t known_trials;    /* that the database had: of all targets that serve */
    int64_t known_elsewhere; /* of these, by others than the own */
    int64_t since_better;    /* folded trials since the last gain of 1 % */
    bool is_exhausted;       /* the search finds nothing new */
    uint32_t evaluations;    /* candidates that the search looks at for each batch */
    hone_mutator_record mutators[HONE_MUTATORS];
    struct hone_tune_task *const *siblings; /* the tasks of the run, this among them */
    uint32_t sibling_count;
    bool is_left_out; /* it cannot be checked: nothing is proposed */
    bool has_before;  /* what tuning has to beat was proposed, or is known */
    uint32_t batches; /* proposed */
    double *history;  /* best time after each batch that was folded */
    uint32_t history_count, history_capacity;
    int64_t busy_ns;
} hone_tune_task;

typedef struct hone_tune_task_options {
    const char *space_path;             /* the user's; NULL: the rules' */
    const hone_tensor_intrins *intrins; /* NULL: the built-in ones only */
    const hone_variant_rules *rules;    /* NULL: exact ones */
} hone_tune_task_options;

HONE_NODISCARD hone_status hone_tune_task_create(const hone_task *task, const hone_target *target,
                                                 const hone_tune_task_options *options,
                                                 hone_tune_task **out_task);
void hone_tune_task_destroy(hone_tune_task *task);

/* Replays a candidate: sketch and decisions (NULL: draws them from rng). ILLEGAL when it is
 * refused. On success the schedule holds the program, and *out is filled but for score and trace;
 * decisions and features are in arena. */
HONE_NODISCARD hone_status hone_tune_task_replay(hone_tune_task *task, int32_t sketch,
                                                 const hone_decision *decisions, hone_rng rng,
                                                 hone_arena *arena, hone_candidate *out);
/* Between these two, replays keep the openings of the sketches, which takes some memory: what the
 * schedule holds then is gone behind the second one. */
HONE_NODISCARD hone_status hone_tune_task_keep_openings(hone_tune_task *task);
HONE_NODISCARD hone_status hone_tune_task_drop_openings(hone_tune_task *task);
/* Makes a candidate of a trace that somebody else wrote: it becomes one of the sketches, which the
 * search goes on from, with its decisions. ILLEGAL, INVALID with the reason and the place: it is
 * refused, by a step or for being more than HONE_MAX_FOREIGN sketches of others. */
HONE_NODISCARD hone_status hone_tune_task_adopt(hone_tune_task *task, const hone_trace *trace,
                                                hone_rng rng, hone_candidate *out);
/* Whether a program was not proposed or recorded before; from here on it is. */
HONE_NODISCARD hone_status hone_tune_task_note_program(hone_tune_task *task, hone_hash128 program,
                                                       bool *out_is_new);
/* How many that look so were proposed or are in the database; and one more of them (or, -1, less).
 */
uint64_t hone_tune_task_alike(const hone_tune_task *task, hone_hash128 looks);
HONE_NODISCARD hone_status hone_tune_task_note_looks(hone_tune_task *task, hone_hash128 looks,
                                                     int change);
/* The looks of rows of features. */
hone_hash128 hone_looks_of(const float *features, uint32_t row_count);
/* What tuning has to beat, as a candidate: the default schedule, or the program as it is written
 * where that carries a schedule or the space is the user's. */
HONE_NODISCARD hone_status hone_tune_task_before(hone_tune_task *task, hone_arena *arena,
                                                 hone_candidate *out);
/* Whether a trial counts against the budget and among the results: beside a space of the user's the
 * program as it is written is measured to compare with. */
bool hone_tune_task_counts(const hone_tune_task *task, int32_t sketch);
/* The bundle that a candidate is checked with, by its variant; NULL where nothing is checked. */
const char *hone_tune_task_check(const hone_tune_task *task, const hone_candidate *candidate);
/* The trace that the schedule holds now, as JSON in arena. */
HONE_NODISCARD hone_status hone_tune_task_trace(hone_tune_task *task, hone_arena *arena,
                                                const char **out_json);
/* Looks up under which names the database keeps the task's traces; after it was put there. */
HONE_NODISCARD hone_status hone_tune_task_learn_names(hone_tune_task *task, hone_db *db);
/* A trace (JSON) under the names of the database, and back under ours; in arena, or as it is. */
HONE_NODISCARD hone_status hone_tune_task_to_stored(const hone_tune_task *task, const char *json,
                                                    hone_arena *arena, const char **out_json);
HONE_NODISCARD hone_status hone_tune_task_from_stored(const hone_tune_task *task, const char *json,
                                                      hone_arena *arena, const char **out_json);
/* Whether a candidate with this time would become an elite. */
bool hone_tune_task_is_elite(const hone_tune_task *task, double time_ns);
/* Takes what was good elsewhere (on another device, for a program like this), in its order; it
 * stands behind what is known of this. With its trace made it is tried early, too. */
void hone_tune_task_advise(hone_tune_task *task, const hone_candidate *candidate);
/* Takes a result: elites, best, history. time NAN = failed. */
void hone_tune_task_fold(hone_tune_task *task, const hone_candidate *candidate, double time_ns);

#endif
