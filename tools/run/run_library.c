/* tools/run/run_library.c - `hone run` of a compiled model. */
#include <math.h>

#include "runtime/timing.h"
#include "support/os/clock.h"
#include "tools/run/run_job.h"
#include "tools/run/suited_inputs.h"

static int32_t run_many(void *ctx, int64_t count, int64_t *out_ns) {
    const hone_model_call *call = ctx;
    int64_t start = hone_clock_now(hone_clock_system());
    int32_t code = 0;
    for (int64_t i = 0; i < count && !code; i++)
        code = hone_model_call_run(call);
    *out_ns = hone_clock_now(hone_clock_system()) - start;
    return code;
}

static hone_status time_call(hone_run_job *job, hone_model_call *call) {
    hone_timing_options options = {.policy = {.min_repeat_ns = 500 * HONE_NS_PER_MS},
                                   .budget_ns = 20 * HONE_NS_PER_S};
    hone_run_result result = {0};
    HONE_TRY(hone_model_call_place(call));
    int32_t code = hone_timing_measure(&options, run_many, call, &result);
    if (code) return hone_model_call_status(call, code);
    job->median_ns = result.median_ns;
    job->best_ns = result.best_ns;
    job->spread = result.spread;
    return HONE_OK;
}

/* The results by name: outputs, then inputs that were updated. */
static hone_status keep(hone_run_job *job, const hone_model_entry *entry,
                        hone_tensor *const *inputs, hone_tensor *const *outputs) {
    hone_tensor *copy;
    for (int32_t i = 0; i < entry->output_count; i++) {
        HONE_TRY(hone_tensor_clone(outputs[i], &copy));
        HONE_TRY(hone_cli_tensors_add(&job->outputs, entry->outputs[i].name, copy));
    }
    for (int32_t i = 0; i < entry->input_count; i++) {
        if (!entry->inputs[i].is_updated) continue;
        HONE_TRY(hone_tensor_clone(inputs[i], &copy));
        HONE_TRY(hone_cli_tensors_add(&job->outputs, entry->inputs[i].name, copy));
    }
    return HONE_OK;
}

static hone_status run_once(void *ctx) {
    return hone_model_call_status(ctx, hone_model_call_run(ctx));
}

static hone_status run_entry(hone_run_job *job, const hone_loaded_model *model,
                             const hone_model_entry *entry) {
    hone_cli_want *wants;
    hone_tensor **inputs, **outputs = NULL;
    hone_model_call *call = NULL;
    HONE_TRY(hone_cli_wants_of_entry(job->cli, entry, &wants));
    hone_run_suit_wants(job, wants, (size_t)entry->input_count);
    bool are_made_up = job->inputs.count == 0;
    HONE_TRY(hone_cli_check_entry_sizes(job->cli, entry, wants, &job->shapes));
    HONE_TRY(hone_cli_match_tensors(job->cli, wants, (size_t)entry->input_count, &job->shapes,
                                    &job->inputs, &inputs));
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(
        st, hone_cli_make_outputs(model, entry, inputs, &job->shapes, are_made_up, &outputs), done);
    HONE_TRY_GOTO(st, hone_model_call_create(model, entry, inputs, outputs, &call), done);
    HONE_TRY_GOTO(st, hone_cli_run_made_up(&job->inputs, job->suited != NULL, run_once, call),
                  done);
    /* before timing, which repeats the call: what is updated in place changes */
    HONE_TRY_GOTO(st, keep(job, entry, inputs, outputs), done);
    if (job->o->time) st = time_call(job, call);
done:
    hone_model_call_destroy(call);
    hone_model_free_outputs(entry, outputs);
    return st;
}

hone_status hone_run_library(hone_run_job *job, const char *path) {
    hone_loaded_model *model;
    const hone_model_entry *entry;
    HONE_TRY(hone_loaded_model_open(path, (int32_t)job->o->threads, &model));
    hone_status st = hone_loaded_model_entry(model, job->o->func, &entry);
    if (!st) {
        uint32_t count = (uint32_t)hone_loaded_model_info(model)->entry_count;
        hone_run_say_which(job, entry->name, count);
        st = run_entry(job, model, entry);
    }
    hone_loaded_model_close(model);
    return st;
}
