/* tools/tune/tune_options.h - what `hone tune` is told: the options, and what they are once they
 * have been read together. */
#ifndef HONE_TOOLS_TUNE_TUNE_OPTIONS_H
#define HONE_TOOLS_TUNE_TUNE_OPTIONS_H

#include "graph/plan/tasks.h"
#include "measure/run.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_variants.h"
#include "tools/farm/farm_options.h"

/* Zeros, and the defaults that the help names. */
typedef struct tune_options {
    hone_cli_list shapes, intrins, inputs;
    const char *db, *target, *task, *space, *propose, *strategy, *cost_model, *cache, *extern_path,
        *report;
    int64_t trials, time_ns, seed, threads, builders, look_ahead, evaluations;
    bool has_trials, has_time, until_converged, no_report, unsandboxed, kernels_only;
    cli_variants variants;
    hone_variant_rules variant_rules;
    farm_options farm;
    bool is_remote;
    hone_cache_state cache_state;
} tune_options;

/* Checks them as far as that needs no task and no device, and fills in what follows: variant_rules,
 * is_remote, farm.choice, and 1000 trials where nothing ends the run. INVALID, NOT_FOUND,
 * UNSUPPORTED with the option. */
HONE_NODISCARD hone_status tune_options_check(hone_cli *cli, tune_options *o);
/* Where no --cache is given: as in the model, where there is one with weights, else hot. */
void tune_options_choose_cache(tune_options *o, const hone_task_list *tasks);
/* The command line that gives the same run; device_key: of the farm's devices, or NULL. */
void tune_options_print(const tune_options *o, const char *model, const char *device_key,
                        hone_str *out);

#endif
