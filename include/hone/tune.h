/* hone/tune.h - searches fast schedules for the tensor programs of a program, by measuring: what
 * `hone tune` does, in this process. Candidates are compiled by hone-worker and run by hone-runner
 * processes; the library looks for these programs beside itself, in ../bin or ../../bin of its
 * folder, beside the running program and in PATH.
 *
 * Times are nanoseconds, texts UTF-8. Every trial is in the database before it counts: what was
 * stopped goes on with the same call. Two tunes at once in one process are for two threads.
 */
#ifndef HONE_TUNE_H
#define HONE_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include <hone/program.h>
#include <hone/variant.h>

HONE_BEGIN_DECLS

/* ---- what there is to tune ---- */

/* A distinct kernel of a program; texts and the program live during the visit. */
typedef struct hone_tuning_task {
    const char *name;            /* "fused_matmul_add_relu", what hone_tuning_options.task names */
    char workload[33];           /* its identity in a database: hone_program_hash */
    uint32_t calls;              /* of one run of the model */
    double flops;                /* arithmetic operations of one execution */
    double bytes;                /* of its parameters */
    const hone_program *program; /* its tensor program alone */
} hone_tuning_task;

/* Returns 0 to go on; other numbers end the visit. */
typedef int (*hone_tuning_task_visit)(void *context, const hone_tuning_task *task);

/* The tasks in the order of first call. sizes: as those of hone_tuning_options. out_skipped (may be
 * NULL): kernels of which a size is not known, which are no tasks. Errors: invalid (sizes, a
 * program that is not well formed), unsupported (an operator). */
HONE_API hone_error *hone_program_visit_tasks(const hone_program *program, size_t size_count,
                                              const char *const *sizes,
                                              hone_tuning_task_visit visit, void *context,
                                              size_t *out_skipped);

/* ---- tuning ---- */

typedef struct hone_tuning_state {
    int64_t done, total;      /* trials; total 0: there is no limit */
    double trials_per_second; /* 0 = not known */
    double seconds_left;      /* negative = not known */
    const char *best;         /* "mm: 1.23 ms", or NULL; texts live during the call */
    const char *doing;        /* "building", or NULL */
} hone_tuning_state;

enum { HONE_TUNING_GOES_ON = 0, HONE_TUNING_DRAINS = 1, HONE_TUNING_ENDS = 2 };

/* What to do; members that are 0 or NULL have the default. Texts live until the call returns. */
typedef struct hone_tuning_options {
    const char *database;   /* a file, made when it is not there; needed */
    const char *target;     /* what to tune for; default: this machine, or the farm's devices */
    int32_t threads;        /* that kernels run on; default: all cores */
    int64_t trials;         /* candidates to measure, over all tasks */
    double seconds;         /* stop after this time; without any limit there are 1000 trials */
    int until_converged;    /* stop when nothing has got better for a while */
    const char *task;       /* this one alone */
    const char *space;      /* path of a trace with sampling steps, the design space */
    const char *strategy;   /* "evolutionary", "random", "replay" */
    const char *cost_model; /* "xgboost", "random", "null" */
    uint64_t seed;
    int32_t look_ahead; /* candidates under way at a time */
    int32_t builders;   /* build processes; default: one per core */
    int is_cold;        /* arguments are out of the caches when a run is timed */
    size_t size_count;  /* numbers for symbolic sizes, as "N=1,64" */
    const char *const *sizes;
    const char *external; /* path of a library with external functions */
    const char *name;     /* of the model, kept with the session */
    const char *programs; /* folder of hone-worker and hone-runner; default: they are looked for */
    int unsandboxed;      /* candidates and compilers are not held (odd kernels) */
    /* Called in the calling thread, from time to time; may be NULL. should_stop says one of
     * HONE_TUNING_…: drains makes no more candidates and keeps what is under way, ends drops it.
     * log gets a line, without a newline; level 1 error, 2 warning, 3 information. */
    void (*progress)(void *context, const hone_tuning_state *state);
    int (*should_stop)(void *context);
    void (*log)(void *context, int level, const char *text);
    void *context;
} hone_tuning_options;

/* What came of a task; texts live as long as the hone_tuned. */
typedef struct hone_tuned_task {
    const char *name;
    char workload[33];
    uint32_t calls;
    double flops;
    double before_ns;       /* of the program without a search; NAN = not known */
    double best_ns;         /* NAN = nothing worked */
    int is_confirmed;       /* in interleaved order */
    int64_t trials, failed; /* of this call */
    int64_t known_trials;   /* that the database had before */
    double seconds;
} hone_tuned_task;

typedef struct hone_tuned_totals {
    size_t task_count;
    int64_t trials, failed;
    double seconds;
    int was_stopped, has_converged;
    int is_used_up; /* there was nothing left to try */
    char session[33];
} hone_tuned_totals;

typedef struct hone_tuned hone_tuned;

/* Tunes; the result is the caller's. Failed candidates are data. Errors: invalid (an option),
 * not_found (a task, hone-worker, hone-runner), unsupported (a target that does not run
 * here), unavailable (candidates cannot be held), and those of the database. */
HONE_API hone_error *hone_program_tune(const hone_program *program,
                                       const hone_tuning_options *tuning, hone_tuned **out_tuned);
HONE_API void hone_tuned_free(hone_tuned *tuned); /* NULL is allowed */

/* What else takes part in a tune: members that are 0 or NULL do not. It may get more members. */
typedef struct hone_tuning_outside {
    size_t size;         /* sizeof(hone_tuning_outside) */
    const char *propose; /* a command that proposes candidates, by lines of JSON on its standard
                            input and output (docs/tuning.md); sh runs it */
    /* Devices of a farm run the candidates; references are made on this machine. */
    const char *tracker;       /* "tcp://HOST:9190" */
    const char *key;           /* file of your secret key, made by `hone keygen` */
    const char *tracker_key;   /* the tracker's public key, or a file with it */
    const char *device_key;    /* devices to use; default: the only kind there is */
    int is_insecure;           /* no keys, no encryption; a tracker of this machine only */
    int stops_without_devices; /* when none is left; default: wait for one */
    const hone_variant_options *variants; /* other algorithms; NULL: those that are exact */
} hone_tuning_outside;

/* hone_program_tune with others; outside NULL: alone. Errors, too: invalid (a size that no version
 * had, keys, an address, variants), unavailable (no tracker, no device), cancelled (should_stop,
 * before there was one); those of reading a variant's file. */
HONE_API hone_error *hone_program_tune_with(const hone_program *program,
                                            const hone_tuning_options *tuning,
                                            const hone_tuning_outside *outside,
                                            hone_tuned **out_tuned);

/* Live as long as the hone_tuned; NULL for NULL, or when there is no such task. */
HONE_API const hone_tuned_totals *hone_tuned_summary(const hone_tuned *tuned);
HONE_API const hone_tuned_task *hone_tuned_task_at(const hone_tuned *tuned, size_t index);

HONE_END_DECLS

#endif
