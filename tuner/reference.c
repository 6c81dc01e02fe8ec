#include "tuner/reference.h"

#include <math.h>
#include <string.h>

#include "ir/interp.h"
#include "ir/script_print.h"
#include "measure/check_bundle.h"
#include "support/alloc.h"
#include "tuner/widen.h"

enum { RUN_TIMEOUT_S = 60 };
#define INTERPRETED_FLOPS 2e6 /* the interpreter checks the reference of smaller tasks */

typedef struct making {
    hone_tune_task *task;
    hone_builder *builder;
    hone_runner *runner;
    const char *target_text, *extern_path, *work_dir;
    uint64_t seed;
    hone_arena *arena;
} making;

/* One program, built plainly and run once for its outputs. */
typedef struct plain_run {
    hone_manifest manifest;
    hone_run_result result;
} plain_run;

static hone_status no_reference(const char *what, const char *why) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s: %s", what, why && *why ? why : "no reason given");
}

/* Then the program may well have a reference: this is no time to leave it out. */
static hone_status check_machine(hone_failure failure, const char *why) {
    if (hone_failure_fault(failure) != HONE_FAULT_MACHINE) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s: %s", hone_failure_name(failure), why ? why : "");
}

static hone_status text_of(making *m, const hone_func *func, const char **out) {
    hone_module *module = NULL;
    hone_str text = {0};
    hone_status st = hone_module_of_func(func, &module);
    if (!st) st = hone_module_print(module, NULL, &text);
    if (!st) *out = hone_arena_strdup(m->arena, hone_str_text(&text));
    hone_str_deinit(&text);
    hone_module_release(module);
    return st;
}

static hone_status build(making *m, const hone_func *func, const char *name,
                         hone_build_result *out) {
    const char *program = NULL;
    HONE_TRY(text_of(m, func, &program));
    const char *path = hone_arena_printf(m->arena, "%s/%s.so", m->work_dir, name);
    if (!program || !path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_build_request request = {.program = program,
                                  .target = m->target_text,
                                  .entry = "kernel",
                                  .output_path = path,
                                  .threads = 1};
    hone_ticket ticket, got;
    HONE_TRY(hone_builder_submit(m->builder, &request, &ticket));
    HONE_TRY(hone_builder_next_result(m->builder, INT64_MAX, m->arena, &got, out));
    HONE_TRY(check_machine(out->failure, out->message));
    return out->failure ? no_reference(hone_failure_name(out->failure), out->message) : HONE_OK;
}

static hone_status run(making *m, const hone_build_result *artifact, const char *check_path,
                       hone_run_result *out) {
    hone_run_request request = {.artifact_path = artifact->artifact_path,
                                .manifest = artifact->manifest,
                                .check_path = check_path,
                                .extern_path = m->extern_path,
                                .threads = 1,
                                .timeout_ns = RUN_TIMEOUT_S * INT64_C(1000000000),
                                .seed = m->seed,
                                .want_outputs = true};
    hone_ticket ticket, got;
    HONE_TRY(hone_runner_submit(m->runner, &request, &ticket));
    HONE_TRY(hone_runner_next_result(m->runner, INT64_MAX, &got, out));
    if (!out->failure && out->outputs) return HONE_OK;
    hone_status st = check_machine(out->failure, out->message);
    if (!st) st = no_reference(hone_failure_name(out->failure), out->message);
    hone_run_result_deinit(out);
    return st;
}

static hone_status build_and_run(making *m, const hone_func *func, const char *suffix,
                                 plain_run *out) {
    char hex[HONE_HASH_HEX_BYTES];
    hone_hash128_print(m->task->task->hash, hex);
    const char *name = hone_arena_printf(m->arena, "%s-%s", hex, suffix);
    hone_build_result artifact;
    if (!name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    HONE_TRY(build(m, func, name, &artifact));
    out->manifest = artifact.manifest;
    return run(m, &artifact, NULL, &out->result);
}

/* ---- the bundle ---- */

static bool is_output(const hone_arg *arg) {
    return arg->role != HONE_ARG_IN;
}

/* Fills one output tensor of the bundle: reference data and bound. */
static hone_status describe_output(const hone_arg *plain, const void *plain_data,
                                   const hone_arg *reference, const void *reference_data,
                                   hone_check_tensor *out) {
    out->reference_dtype = reference->dtype;
    out->reference = reference_data;
    hone_tensor_difference difference;
    HONE_TRY(hone_tensor_compare(plain->dtype, plain_data, reference->dtype, reference_data,
                                 out->count, INFINITY, &difference));
    if (isinf(difference.max_error)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the plain program gives a NaN or infinity where "
                                                 "its f64 twin does not");
    }
    out->plain_deviation = difference.max_error;
    out->reference_max = difference.reference_max;
    out->bound = hone_error_bound(plain->dtype, difference.max_error, difference.reference_max);
    return HONE_OK;
}

static hone_status fill_bundle(making *m, const plain_run *plain, const plain_run *reference,
                               hone_check_bundle *out) {
    size_t count = plain->manifest.arg_count;
    *out = (hone_check_bundle){.seed = m->seed, .count = count};
    out->tensors = hone_arena_zalloc(m->arena, (count + 1) * sizeof *out->tensors);
    if (!out->tensors) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    const uint8_t *plain_at = plain->result.outputs, *reference_at = reference->result.outputs;
    for (size_t i = 0; i < count; i++) {
        const hone_arg *p = &plain->manifest.args[i], *r = &reference->manifest.args[i];
        hone_check_tensor *t = &out->tensors[i];
        *t = (hone_check_tensor){.dtype = p->dtype,
                                 .role = p->role,
                                 .count = hone_arg_elements(p),
                                 .generator = hone_generator_default(p->dtype)};
        if (!is_output(p)) continue;
        HONE_TRY(describe_output(p, plain_at, r, reference_at, t));
        plain_at += hone_arg_bytes(p);
        reference_at += hone_arg_bytes(r);
    }
    return HONE_OK;
}

/* ---- against the interpreter ---- */

static hone_status make_args(making *m, const hone_manifest *manifest, hone_tensor **args) {
    for (size_t i = 0; i < manifest->arg_count; i++) {
        const hone_arg *arg = &manifest->args[i];
        HONE_TRY(hone_tensor_create(arg->dtype, (int32_t)arg->rank, arg->shape, &args[i]));
        if (arg->role == HONE_ARG_OUT) continue;
        hone_generator generator = hone_generator_default(arg->dtype);
        HONE_TRY(hone_generate(&generator, m->seed, (uint32_t)i, arg->dtype, hone_arg_elements(arg),
                               args[i]->data));
    }
    return HONE_OK;
}

static hone_status compare_args(const hone_manifest *manifest, hone_tensor *const *args,
                                const hone_check_bundle *bundle) {
    for (size_t i = 0; i < manifest->arg_count; i++) {
        if (!is_output(&manifest->args[i])) continue;
        const hone_check_tensor *t = &bundle->tensors[i];
        hone_tensor_difference difference;
        HONE_TRY(hone_tensor_compare(args[i]->dtype, args[i]->data, t->reference_dtype,
                                     t->reference, t->count, t->bound, &difference));
        if (difference.wrong_count == 0) continue;
        return HONE_ERROR(HONE_CODE_INTERNAL,
                          "the compiled reference and the interpreter disagree on argument %zu: "
                          "element %lld is %g, the interpreter says %g",
                          i, (long long)difference.max_index, difference.want, difference.got);
    }
    return HONE_OK;
}

static hone_status check_by_interpreter(making *m, const hone_manifest *manifest,
                                        const hone_check_bundle *bundle) {
    if (m->task->task->flops > INTERPRETED_FLOPS || m->extern_path) return HONE_OK;
    hone_tensor **args = hone_arena_zalloc(m->arena, (manifest->arg_count + 1) * sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_interp_options options = {0};
    hone_status st = make_args(m, manifest, args);
    if (!st) st = hone_interp_func(m->task->task->func, args, manifest->arg_count, &options);
    if (!st) st = compare_args(manifest, args, bundle);
    for (size_t i = 0; i < manifest->arg_count; i++)
        hone_tensor_destroy(args[i]);
    return st;
}

static hone_status write_bundle(making *m, const plain_run *plain, const plain_run *reference) {
    hone_check_bundle bundle;
    HONE_TRY(fill_bundle(m, plain, reference, &bundle));
    HONE_TRY(check_by_interpreter(m, &plain->manifest, &bundle));
    char hex[HONE_HASH_HEX_BYTES];
    hone_hash128_print(m->task->task->hash, hex);
    const char *path =
        hone_arena_printf(m->task->arena, "%s/%s%s", m->work_dir, hex, HONE_CHECK_BUNDLE_SUFFIX);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    HONE_TRY(hone_check_bundle_write(&bundle, path));
    m->task->check_path = path;
    return HONE_OK;
}

static hone_status make(making *m) {
    plain_run plain, reference;
    HONE_TRY(build_and_run(m, m->task->task->func, "plain", &plain));
    hone_func *wide = NULL;
    hone_status st = hone_func_widen(m->task->task->func, m->arena, &wide);
    if (st && hone_status_code(st) == HONE_CODE_UNSUPPORTED) {
        /* the plain program is the only reference there is: the interpreter still checks it */
        hone_status_free(st);
        st = write_bundle(m, &plain, &plain);
    } else {
        if (!st) st = build_and_run(m, wide, "wide", &reference);
        if (!st) {
            st = write_bundle(m, &plain, &reference);
            hone_run_result_deinit(&reference.result);
        }
    }
    hone_run_result_deinit(&plain.result);
    return st;
}

hone_status hone_make_reference(hone_tune_task *task, hone_builder *builder, hone_runner *runner,
                                const char *target_text, const char *extern_path,
                                const char *work_dir, uint64_t seed) {
    making m = {.task = task,
                .builder = builder,
                .runner = runner,
                .target_text = target_text,
                .extern_path = extern_path,
                .work_dir = work_dir,
                .seed = seed,
                .arena = hone_arena_create(64 * 1024)};
    if (!m.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_status st = make(&m);
    hone_arena_destroy(m.arena);
    return st;
}
