/* tools/run/timed_model.h - compiled models, made ready to be timed in turns.
 *
 *   round k: a share of time for each model, in an order that changes every round
 *
 * What happens to the machine meanwhile happens to all of them. The ratio of two models is the
 * median over rounds of their ratio within the round; its interval is a bootstrap over rounds
 * (Efron 1979, percentiles).
 */
#ifndef HONE_TOOLS_RUN_TIMED_MODEL_H
#define HONE_TOOLS_RUN_TIMED_MODEL_H

#include "support/data/vec.h"
#include "support/os/clock.h"
#include "tools/cli/cli_tensors.h"

typedef struct hone_timed_model {
    const char *path;
    hone_loaded_model *model;
    const hone_model_entry *entry;
    hone_cli_tensors given;
    hone_tensor **inputs, **outputs;
    hone_model_call *call;
    const hone_clock *clock;   /* that times it: the system's, or hone_clock_thread() */
    int64_t batch;             /* calls in a share */
    HONE_VEC(double) times_ns; /* of one call, per round */
} hone_timed_model;

typedef struct hone_timed_model_options {
    const hone_cli_list *in, *shapes; /* files, sizes of what is made up */
    const char *func;                 /* NULL = main, or the first */
    int32_t threads;                  /* 0 = what it was compiled for */
} hone_timed_model_options;

/* *out is to be closed also after failure. */
HONE_NODISCARD hone_status hone_timed_model_open(hone_cli *cli, const char *path,
                                                 const hone_timed_model_options *options,
                                                 hone_timed_model *out);
void hone_timed_model_close(hone_timed_model *model);

/* Runs each once: made-up inputs are changed until they suit all of them. */
HONE_NODISCARD hone_status hone_timed_models_try(hone_timed_model *models, size_t count);
/* Calls it so often, one after the other; *out_ns: of one call. */
HONE_NODISCARD hone_status hone_timed_model_run(hone_timed_model *model, int64_t count,
                                                double *out_ns);
/* Takes the tensors to the memory of the model's device, warms up, and finds how many calls fill a
 * share of time. */
HONE_NODISCARD hone_status hone_timed_model_warm_up(hone_timed_model *model);
/* Round number `round`: a time for each. */
HONE_NODISCARD hone_status hone_timed_models_round(hone_timed_model *models, size_t count,
                                                   size_t round);

typedef struct hone_time_ratio {
    double median, low, high; /* 95 % */
} hone_time_ratio;

/* How many times faster `model` is than `first`, by the rounds that both had. */
HONE_NODISCARD hone_status hone_timed_models_ratio(hone_arena *arena, const hone_timed_model *first,
                                                   const hone_timed_model *model,
                                                   hone_time_ratio *out);

#endif
