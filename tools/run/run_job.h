/* tools/run/run_job.h - between verb_run.c and its two ways of running. */
#ifndef HONE_TOOLS_RUN_RUN_JOB_H
#define HONE_TOOLS_RUN_RUN_JOB_H

#include "graph/module/graph_options.h"
#include "target/target.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_tensors.h"

typedef struct hone_run_options {
    const char *func, *out_dir, *extern_path, *params, *db, *target;
    hone_cli_list in, expect, shapes;
    int64_t threads;
    double rtol, atol;
    bool time, interpret, check, no_schedule, reschedule, unsandboxed;
} hone_run_options;

typedef struct hone_run_job {
    hone_cli *cli;
    const hone_run_options *o;
    void *extern_library;   /* of --extern */
    hone_tensor_set params; /* of --params */
    const hone_graph_weight *weights;
    hone_cli_list shapes;   /* of --shape, without what reading the model has used */
    hone_dim_variant empty; /* that are 0, or of which one of 0 is computed: what it is made for */
    hone_cli_tensors inputs, expected;
    const hone_cli_want *suited; /* inputs of the program, with what suits it */
    size_t suited_count;
    bool is_unsuited;         /* nothing was found that surely suits: whole numbers are 1 */
    uint32_t line, column;    /* in the text: what could not be run; 0 = unknown */
    hone_cli_tensors outputs; /* results by name */
    double best_ns, median_ns, spread; /* of --time; NAN = not timed */
} hone_run_job;

/* The function that is run: the one that is named, else the first. NOT_FOUND with the list of
 * names. */
HONE_NODISCARD hone_status hone_run_pick(const hone_run_job *job, const hone_module *module,
                                         const hone_member **out_member);
/* Says which of several functions is run where none was named and none is called main. */
void hone_run_say_which(const hone_run_job *job, const char *name, uint32_t count);
/* What a function of a program takes, in order; the program is verified. UNSUPPORTED: a parameter
 * is no tensor of known type and rank. */
HONE_NODISCARD hone_status hone_run_wants(hone_run_job *job, const hone_member *member,
                                          hone_cli_want **out_wants, size_t *out_count);
/* A library: loads it, runs, times. */
HONE_NODISCARD hone_status hone_run_library(hone_run_job *job, const char *path);
/* A PrimFunc, for a device with memory of its own. */
HONE_NODISCARD hone_status hone_run_on_device(hone_run_job *job, const hone_module *module,
                                              const hone_target *target);
/* The oracle. */
HONE_NODISCARD hone_status hone_run_interpreted(hone_run_job *job, const hone_module *module);

#endif
