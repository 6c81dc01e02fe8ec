/* tools/run/run_device.c - `hone run` of a PrimFunc for a device with memory of its own: built by a
 * worker, run by an executor, as candidates are; the outputs come back. */
#include <string.h>

#include "builder/builder.h"
#include "compile/first_schedule.h"
#include "ir/core/written_schedule.h"
#include "ir/text/print/script_print.h"
#include "measure/check_bundle.h"
#include "runner/runner.h"
#include "runtime/device.h"
#include "support/os/clock.h"
#include "support/os/scratch.h"
#include "tools/cli/cli_model.h"
#include "tools/run/run_job.h"
#include "tools/run/suited_inputs.h"

#define TIMEOUT_NS (60 * HONE_NS_PER_S)

typedef struct device_run {
    hone_run_job *job;
    hone_arena *arena;
    hone_target target;
    const char *program, *trace; /* as text */
    hone_build_result built;
    hone_runner *runner;
    const char *bundle_path;
    hone_tensor **inputs; /* by argument; NULL: only written */
} device_run;

static hone_status keep_text(device_run *r, hone_status st, hone_str *text, const char **out) {
    if (!st) *out = hone_arena_strdup(r->arena, hone_str_text(text));
    if (!st && !*out) st = HONE_NO_MEMORY("run");
    hone_str_deinit(text);
    return st;
}

/* ---- building ---- */

static hone_status print_program(device_run *r, const hone_func *func) {
    hone_module *module = NULL;
    hone_str text = {0};
    hone_status st = hone_module_of_func(func, &module);
    if (!st) st = hone_module_print(module, NULL, &text);
    hone_module_release(module);
    return keep_text(r, st, &text, &r->program);
}

/* As compile/ does where there is no record: what carries a schedule keeps it. */
static hone_status choose_schedule(device_run *r, const hone_func *func) {
    const hone_run_options *o = r->job->o;
    hone_schedule *sch;
    hone_str text = {0};
    if (o->no_schedule || (!o->reschedule && hone_func_carries_schedule(func))) return HONE_OK;
    HONE_TRY(hone_schedule_create(func, &sch));
    hone_status st = hone_first_schedule(sch, &r->target, 0);
    if (!st) st = hone_trace_print_json(&sch->trace, &text);
    hone_schedule_destroy(sch);
    return keep_text(r, st, &text, &r->trace);
}

static hone_status build(device_run *r) {
    hone_builder *builder = NULL;
    hone_str target = {0};
    hone_ticket ticket, got;
    const hone_builder_local_options options = {.unsandboxed = r->job->o->unsandboxed};
    hone_target_print(&r->target, &target);
    const hone_build_request request = {.program = r->program,
                                        .trace = r->trace,
                                        .target = hone_str_text(&target),
                                        .entry = "kernel",
                                        .threads = 1};
    hone_status st = hone_builder_create_local(&options, &builder);
    if (!st) st = hone_builder_submit(builder, &request, &ticket);
    if (!st) st = hone_builder_next_result(builder, INT64_MAX, r->arena, &got, &r->built);
    if (!st && r->built.failure) {
        st = HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s: %s", hone_failure_name(r->built.failure),
                        r->built.message ? r->built.message : "");
    }
    hone_builder_release(builder);
    hone_str_deinit(&target);
    return st;
}

/* ---- inputs ---- */

static hone_cli_want want_of(const hone_arg *arg) {
    hone_cli_want want = {.name = arg->name, .dtype = arg->dtype, .rank = (int32_t)arg->rank};
    memcpy(want.shape, arg->shape, arg->rank * sizeof *arg->shape);
    return want;
}

static hone_status match_inputs(device_run *r) {
    const hone_manifest *m = &r->built.manifest;
    hone_run_job *job = r->job;
    size_t count = 0, next = 0;
    hone_tensor **given;
    hone_cli_want *wants = hone_arena_zalloc(r->arena, (m->arg_count + 1) * sizeof *wants);
    r->inputs = hone_arena_zalloc(r->arena, (m->arg_count + 1) * sizeof *r->inputs);
    if (!wants || !r->inputs) return HONE_NO_MEMORY("run");
    for (size_t i = 0; i < m->arg_count; i++) {
        if (m->args[i].role != HONE_ARG_OUT) wants[count++] = want_of(&m->args[i]);
    }
    hone_run_suit_wants(job, wants, count);
    HONE_TRY(hone_cli_check_sizes(wants, count, NULL, 0, &job->shapes));
    HONE_TRY(hone_cli_match_tensors(job->cli, wants, count, &job->shapes, &job->inputs, &given));
    HONE_TRY(hone_cli_check_not_empty(wants, count, given, NULL));
    for (size_t i = 0; i < m->arg_count; i++) {
        if (m->args[i].role != HONE_ARG_OUT) r->inputs[i] = given[next++];
    }
    return HONE_OK;
}

static hone_status write_inputs(const device_run *r) {
    const hone_manifest *m = &r->built.manifest;
    hone_check_bundle bundle = {.count = m->arg_count};
    bundle.tensors = hone_arena_zalloc(r->arena, (m->arg_count + 1) * sizeof *bundle.tensors);
    if (!bundle.tensors) return HONE_NO_MEMORY("run");
    for (size_t i = 0; i < m->arg_count; i++) {
        const hone_arg *arg = &m->args[i];
        bundle.tensors[i] = (hone_check_tensor){.dtype = arg->dtype,
                                                .role = arg->role,
                                                .count = hone_arg_elements(arg),
                                                .generator = hone_generator_default(arg->dtype),
                                                .values = r->inputs[i] ? r->inputs[i]->data : NULL,
                                                .reference_dtype = arg->dtype};
    }
    return hone_check_bundle_write(&bundle, r->bundle_path);
}

/* ---- running ---- */

static hone_status run_one(device_run *r, bool want_outputs, hone_run_result *result) {
    hone_ticket ticket, got;
    const hone_run_request request = {.artifact_bytes = r->built.artifact_bytes,
                                      .artifact_byte_count = r->built.artifact_byte_count,
                                      .manifest = r->built.manifest,
                                      .check_path = r->bundle_path,
                                      .threads = 1,
                                      .timing = {.min_repeat_ns = 500 * HONE_NS_PER_MS},
                                      .timeout_ns = TIMEOUT_NS,
                                      .want_outputs = want_outputs};
    HONE_TRY(hone_runner_submit(r->runner, &request, &ticket));
    HONE_TRY(hone_runner_next_result(r->runner, INT64_MAX, &got, result));
    if (!result->failure) return HONE_OK;
    bool is_machines = hone_failure_fault(result->failure) == HONE_FAULT_MACHINE;
    hone_status st = HONE_ERROR(is_machines ? HONE_CODE_UNAVAILABLE : HONE_CODE_ILLEGAL, "%s: %s",
                                hone_failure_name(result->failure), result->message);
    hone_run_result_deinit(result);
    return st;
}

static hone_status keep_outputs(device_run *r, const hone_run_result *result) {
    const hone_manifest *m = &r->built.manifest;
    const uint8_t *at = result->outputs;
    for (size_t i = 0; i < m->arg_count; i++) {
        const hone_arg *arg = &m->args[i];
        hone_tensor *tensor;
        if (arg->role == HONE_ARG_IN) continue;
        HONE_TRY(hone_tensor_create(arg->dtype, (int32_t)arg->rank, arg->shape, &tensor));
        memcpy(tensor->data, at, (size_t)hone_arg_bytes(arg));
        at += hone_arg_bytes(arg);
        HONE_TRY(hone_cli_tensors_add(&r->job->outputs, arg->name, tensor));
    }
    return HONE_OK;
}

static hone_status time_it(device_run *r) {
    hone_run_result result;
    HONE_TRY(run_one(r, false, &result));
    r->job->median_ns = result.median_ns;
    r->job->best_ns = result.best_ns;
    r->job->spread = result.spread;
    hone_run_result_deinit(&result);
    return HONE_OK;
}

static hone_status run(device_run *r) {
    hone_run_result result;
    const hone_runner_local_options options = {.device = hone_target_kind_name(r->target.kind),
                                               .unsandboxed = r->job->o->unsandboxed};
    HONE_TRY(hone_runner_create_local(&options, &r->runner));
    HONE_TRY(write_inputs(r));
    HONE_TRY(run_one(r, true, &result));
    hone_status st = keep_outputs(r, &result);
    hone_run_result_deinit(&result);
    if (!st && r->job->o->time) st = time_it(r);
    return st;
}

hone_status hone_run_on_device(hone_run_job *job, const hone_module *module,
                               const hone_target *target) {
    device_run r = {.job = job, .arena = job->cli->arena, .target = *target};
    const hone_func *func;
    hone_scratch dir;
    HONE_TRY(hone_device_name_check(hone_target_kind_name(target->kind)));
    HONE_TRY(hone_cli_refuse(job->cli, "db extern", "programs for a device of its own"));
    HONE_TRY(hone_cli_pick_func(module, job->cli->args[0], job->o->func, &func));
    HONE_TRY(hone_cli_check_func(job->cli->args[0], func));
    HONE_TRY(print_program(&r, func));
    HONE_TRY(choose_schedule(&r, func));
    HONE_TRY(build(&r));
    HONE_TRY(match_inputs(&r));
    HONE_TRY(hone_scratch_open("hone-running", &dir));
    r.bundle_path = hone_arena_printf(r.arena, "%s/inputs.check", dir.path);
    hone_status st = r.bundle_path ? run(&r) : HONE_NO_MEMORY("run");
    hone_runner_destroy(r.runner);
    return hone_status_join(st, hone_scratch_close(&dir));
}
