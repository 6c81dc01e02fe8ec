/* tuner/loop/tune_request.c - what the loop asks of the builder and the runner. */
#include <math.h>

#include "tuner/loop/tune_impl.h"

enum { WAIT_SLICE_NS = 100 * 1000 * 1000, MIN_TIMEOUT_S = 2, MAX_TIMEOUT_S = 20 };

static bool is_as_in_model(const hone_tuning *t) {
    return t->options->cache == HONE_CACHE_MODEL;
}

static size_t count_distances(const hone_tune_task *task, const hone_manifest *manifest) {
    uint32_t count = task->task->distances ? task->task->func->param_count : 0;
    return count < manifest->arg_count ? count : manifest->arg_count;
}

/* What is computed of weights is as far away as the farthest of them. */
static int64_t constants_distance(const hone_tuning *t, const hone_tune_task *task) {
    const hone_task *what = task->task;
    int64_t most = 0;
    if (!is_as_in_model(t) || !what->distances) return 0;
    for (uint32_t i = 0; i < what->func->param_count && i < 64; i++) {
        bool is_weight = what->constants >> i & 1;
        if (is_weight && what->distances[i] > most) most = what->distances[i];
    }
    return most < HONE_RUN_MAX_DISTANCE ? most : HONE_RUN_MAX_DISTANCE;
}

hone_status hone_submit_build(hone_tuning *t, const hone_tune_task *task, const char *trace,
                              hone_arena *arena, hone_ticket *out_ticket) {
    const char *path = hone_arena_printf(arena, "%s/%llu.so", t->options->work_dir,
                                         (unsigned long long)t->artifact_number++);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "build request");
    hone_build_request request = {.program = task->program,
                                  .trace = trace,
                                  .target = hone_str_text(&t->target_text),
                                  .entry = "kernel",
                                  .output_path = path,
                                  .threads = t->options->target.num_threads,
                                  .constants = task->task->constants,
                                  .constants_distance = constants_distance(t, task),
                                  .intrin_count = t->options->intrin_count,
                                  .intrins = t->options->intrins};
    return hone_builder_submit(t->options->builder, &request, out_ticket);
}

/* Long enough for anything that could still win, short enough that a hang costs little. */
static int64_t timeout_for(double incumbent_ns) {
    double wanted = isnan(incumbent_ns) ? MAX_TIMEOUT_S * 1e9 : incumbent_ns * 1000;
    if (wanted < MIN_TIMEOUT_S * 1e9) return MIN_TIMEOUT_S * HONE_NS_PER_S;
    if (wanted > MAX_TIMEOUT_S * 1e9) return MAX_TIMEOUT_S * HONE_NS_PER_S;
    return (int64_t)wanted;
}

hone_status hone_submit_run(hone_tuning *t, const hone_tune_task *task,
                            const hone_build_result *built, const hone_candidate *candidate,
                            const hone_timing_policy *timing, const char *device,
                            hone_ticket *out_ticket) {
    hone_run_request request = {
        .artifact_path = built->artifact_path,
        .manifest = built->manifest,
        .check_path = hone_tune_task_check(task, candidate),
        .extern_path = t->options->extern_path,
        .device = device,
        .threads = t->options->target.num_threads,
        .cache = t->options->cache,
        .weights = task->task->constants,
        .distance_count = is_as_in_model(t) ? count_distances(task, &built->manifest) : 0,
        .distances = task->task->distances,
        .timing = *timing,
        .timeout_ns = timeout_for(task->shown_ns),
        .seed = t->options->seed,
    };
    if (t->options->simulate) {
        t->options->simulate(t->options->ctx, candidate->program, candidate->features,
                             candidate->row_count, &request.simulated);
    }
    return hone_runner_submit(t->options->runner, &request, out_ticket);
}

hone_status hone_wait_build(hone_tuning *t, hone_arena *arena, hone_build_result *out) {
    for (;;) {
        hone_ticket ticket;
        int64_t deadline = hone_clock_now(t->clock) + WAIT_SLICE_NS;
        hone_status st =
            hone_builder_next_result(t->options->builder, deadline, arena, &ticket, out);
        if (!st || hone_status_code(st) != HONE_CODE_TIMEOUT) return st;
        hone_status_free(st);
        HONE_TRY(hone_tuning_tend(t));
        if (hone_tuning_must_stop(t) == HONE_STOP_NOW) {
            hone_builder_cancel_all(t->options->builder);
        }
    }
}

hone_status hone_wait_run(hone_tuning *t, hone_run_result *out) {
    for (;;) {
        hone_ticket ticket;
        int64_t deadline = hone_clock_now(t->clock) + WAIT_SLICE_NS;
        hone_status st = hone_runner_next_result(t->options->runner, deadline, &ticket, out);
        if (!st) return HONE_OK;
        if (hone_status_code(st) == HONE_CODE_TIMEOUT)
            hone_status_free(st);
        else
            HONE_TRY(hone_tuning_note_devices(t, st));
        if (hone_tuning_must_stop(t) == HONE_STOP_NOW) hone_runner_cancel_all(t->options->runner);
    }
}
