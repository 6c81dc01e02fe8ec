/* tests/tuner/tune_world.h - two tasks, a database in memory, a null builder and a simulated
 * device, for tests of the tuning loop. */
#ifndef HONE_TESTS_TUNER_TUNE_WORLD_H
#define HONE_TESTS_TUNER_TUNE_WORLD_H

#include "support/data/map.h"
#include "support/data/vec.h"
#include "tuner/loop/tune.h"

typedef struct tune_world {
    hone_module *module, *prepared;
    hone_task_list tasks;
    hone_db *db;
    hone_builder *builder;
    hone_runner *runner;
    hone_tune_options options;
    int64_t asked; /* how often a stop was asked for */
    int64_t stop_after;
    int fail_every;
    hone_failure fail_as;
    bool is_uneven; /* devices answer in another order than they were asked */
    int64_t simulated;
    hone_map128 costs; /* of programs that were asked with features: bits of doubles */
} tune_world;

/* A matrix product `dense` and a `scale`; 40 trials. */
void tune_world_open(tune_world *w);
/* With the tasks of a text. */
void tune_world_open_program(tune_world *w, const char *program);
void tune_world_close(tune_world *w);

/* What was tried, in order. */
typedef struct tune_trials {
    HONE_VEC(hone_hash128) programs;
    int64_t ok, failed;
    double best_ns;
    uint64_t fingerprint; /* of who was proposed when, in whatever order they came back */
} tune_trials;

/* session NULL: of all. The programs are the caller's to free. */
void tune_trials_list(tune_world *w, const char *session, tune_trials *out);

#endif
