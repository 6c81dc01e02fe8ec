/* tuner/task/reference.c - runs the interpreter for reference outputs and their bounds. */
#include "tuner/task/reference.h"

#include <math.h>

#include "compile/first_schedule.h"
#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "measure/check_bundle.h"
#include "schedule/primitive/primitives.h"
#include "support/os/clock.h"
#include "tuner/task/widen.h"

#define INTERPRETED_FLOPS 2e6 /* the interpreter checks the reference of smaller tasks */
#define PATIENCE_NS (60 * HONE_NS_PER_S)
#define BESIDE_DEVICE_NS (10 * HONE_NS_PER_S) /* a GPU may do it in less */

/* By what, and with which schedule. */
typedef struct way {
    const char *name; /* "": the first, which needs no words */
    hone_runner *runner;
    const hone_target *target;
    hone_status (*schedule)(hone_schedule *sch, const hone_target *target); /* NULL: none */
    int32_t threads;
    int64_t timeout_ns;
} way;

typedef struct making {
    const hone_reference_options *options;
    const way *by;
    hone_tune_task *task;
    hone_arena *arena;
    hone_build_result plain, wide; /* the program, and its f64 twin where it has one */
    bool has_wide;
    hone_made_inputs inputs;
    bool is_about_inputs; /* what failed may do so for these inputs alone */
    bool is_slow;         /* it did not come back: other inputs are not waited for */
} making;

/* One program, run once for its outputs. */
typedef struct plain_run {
    const hone_manifest *manifest;
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

/* A file of this task, in the arena of the making. */
static hone_status path_of(making *m, const char *suffix, const char **out_path) {
    char hex[HONE_HASH_HEX_BYTES];
    hone_hash128_print(m->task->task->hash, hex);
    *out_path = hone_arena_printf(m->arena, "%s/%s%s", m->options->work_dir, hex, suffix);
    return *out_path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
}

/* The way's schedule of a program; NULL: it has none. */
static hone_status trace_of(making *m, const hone_func *func, const char **out) {
    hone_schedule *sch;
    hone_str text = {0};
    *out = NULL;
    if (!m->by->schedule) return HONE_OK;
    HONE_TRY(hone_schedule_create(func, &sch));
    hone_status st = m->by->schedule(sch, m->by->target);
    if (!st) st = hone_trace_print_json(&sch->trace, &text);
    if (!st) *out = hone_arena_strdup(m->arena, hone_str_text(&text));
    if (!st && !*out) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_str_deinit(&text);
    hone_schedule_destroy(sch);
    return st;
}

static hone_status target_text(making *m, const char **out) {
    hone_str text = {0};
    hone_target_print(m->by->target, &text);
    *out = hone_arena_strdup(m->arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return *out ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
}

static hone_status build(making *m, const hone_func *func, const char *suffix,
                         hone_build_result *out) {
    hone_build_request request = {.entry = "kernel", .threads = m->by->threads};
    HONE_TRY(text_of(m, func, &request.program));
    HONE_TRY(trace_of(m, func, &request.trace));
    HONE_TRY(target_text(m, &request.target));
    HONE_TRY(path_of(m, suffix, &request.output_path));
    if (!request.program) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_ticket ticket, got;
    HONE_TRY(hone_builder_submit(m->options->builder, &request, &ticket));
    HONE_TRY(hone_builder_next_result(m->options->builder, INT64_MAX, m->arena, &got, out));
    HONE_TRY(check_machine(out->failure, out->message));
    return out->failure ? no_reference(hone_failure_name(out->failure), out->message) : HONE_OK;
}

static hone_status build_both(making *m) {
    HONE_TRY(build(m, m->task->task->func, "-plain.so", &m->plain));
    hone_func *wide = NULL;
    hone_status st = hone_func_widen(m->task->task->func, m->arena, &wide);
    if (hone_status_code(st) == HONE_CODE_UNSUPPORTED) {
        /* the plain program is the only reference there is: the interpreter still checks it */
        hone_status_free(st);
        return HONE_OK;
    }
    HONE_TRY(st);
    m->has_wide = true;
    return build(m, wide, "-wide.so", &m->wide);
}

/* ---- running ---- */

static hone_check_tensor tensor_of(const making *m, const hone_arg *arg, size_t i) {
    return (hone_check_tensor){.dtype = arg->dtype,
                               .role = arg->role,
                               .count = hone_arg_elements(arg),
                               .generator = m->inputs.items[i].generator,
                               .values = m->inputs.items[i].values,
                               .reference_dtype = arg->dtype};
}

/* The bundle of a program's arguments, with nothing to compare with yet. */
static hone_status begin_bundle(making *m, const hone_manifest *manifest, hone_check_bundle *out) {
    size_t count = manifest->arg_count;
    *out = (hone_check_bundle){.seed = m->options->seed, .count = count};
    out->tensors = hone_arena_zalloc(m->arena, (count + 1) * sizeof *out->tensors);
    if (!out->tensors) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    for (size_t i = 0; i < count; i++)
        out->tensors[i] = tensor_of(m, &manifest->args[i], i);
    return HONE_OK;
}

static hone_status write_inputs(making *m, const hone_manifest *manifest, const char **out_path) {
    hone_check_bundle bundle;
    HONE_TRY(begin_bundle(m, manifest, &bundle));
    HONE_TRY(path_of(m, "-inputs" HONE_CHECK_BUNDLE_SUFFIX, out_path));
    return hone_check_bundle_write(&bundle, *out_path);
}

static bool is_output(const hone_arg *arg) {
    return arg->role != HONE_ARG_IN;
}

static bool writes_something(const hone_manifest *manifest) {
    for (size_t i = 0; i < manifest->arg_count; i++) {
        if (is_output(&manifest->args[i]) && hone_arg_bytes(&manifest->args[i]) > 0) return true;
    }
    return false;
}

static hone_status run(making *m, const hone_build_result *artifact, plain_run *out) {
    if (!writes_something(&artifact->manifest)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "its results have no elements, so there is nothing to measure");
    }
    hone_run_request request = {.artifact_path = artifact->artifact_path,
                                .manifest = artifact->manifest,
                                .extern_path = m->options->extern_path,
                                .threads = m->by->threads,
                                .timeout_ns = m->by->timeout_ns,
                                .seed = m->options->seed,
                                .want_outputs = true};
    hone_ticket ticket, got;
    hone_run_result *result = &out->result;
    out->manifest = &artifact->manifest;
    HONE_TRY(write_inputs(m, &artifact->manifest, &request.check_path));
    HONE_TRY(hone_runner_submit(m->by->runner, &request, &ticket));
    HONE_TRY(hone_runner_next_result(m->by->runner, INT64_MAX, &got, result));
    if (!result->failure && result->outputs) return HONE_OK;
    m->is_slow = result->failure == HONE_FAILURE_RUN_TIMEOUT;
    m->is_about_inputs = m->is_slow || result->failure == HONE_FAILURE_RUN_CRASH;
    hone_status st = check_machine(result->failure, result->message);
    if (!st) st = no_reference(hone_failure_name(result->failure), result->message);
    hone_run_result_deinit(result);
    return st;
}

/* ---- the bundle ---- */

/* Of scheduled programs, which may both be wrong. */
static hone_status check_deviation(const making *m, const hone_arg *plain, int64_t count,
                                   const hone_tensor_difference *difference) {
    double terms = m->task->task->flops / (double)(count > 0 ? count : 1);
    if (!m->by->schedule) return HONE_OK;
    double most = hone_rounding_bound(plain->dtype, terms, difference->reference_max);
    if (difference->max_error <= most) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "the program and its f64 twin differ by %g, rounding explains %g",
                      difference->max_error, most);
}

/* Fills one output tensor of the bundle: reference data and bound. */
static hone_status describe_output(making *m, const hone_arg *plain, const void *plain_data,
                                   const hone_arg *reference, const void *reference_data,
                                   hone_check_tensor *out) {
    out->reference_dtype = reference->dtype;
    out->reference = reference_data;
    hone_tensor_difference difference;
    HONE_TRY(hone_tensor_compare(plain->dtype, plain_data, reference->dtype, reference_data,
                                 out->count, INFINITY, &difference));
    if (isinf(difference.max_error)) {
        m->is_about_inputs = true;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the plain program gives a NaN or infinity where "
                                                 "its f64 twin does not");
    }
    HONE_TRY(check_deviation(m, plain, out->count, &difference));
    out->plain_deviation = difference.max_error;
    out->reference_max = difference.reference_max;
    out->bound = hone_error_bound(plain->dtype, difference.max_error, difference.reference_max);
    return HONE_OK;
}

static hone_status fill_bundle(making *m, const plain_run *plain, const plain_run *reference,
                               hone_check_bundle *out) {
    const uint8_t *plain_at = plain->result.outputs, *reference_at = reference->result.outputs;
    HONE_TRY(begin_bundle(m, plain->manifest, out));
    for (size_t i = 0; i < out->count; i++) {
        const hone_arg *p = &plain->manifest->args[i], *r = &reference->manifest->args[i];
        if (!is_output(p)) continue;
        /* whole numbers are what the program's own rounding makes them: no twin tells better */
        bool is_float = hone_dtype_is_float(p->dtype);
        HONE_TRY(describe_output(m, p, plain_at, is_float ? r : p,
                                 is_float ? reference_at : plain_at, &out->tensors[i]));
        plain_at += hone_arg_bytes(p);
        reference_at += hone_arg_bytes(r);
    }
    return HONE_OK;
}

/* ---- against the interpreter ---- */

static hone_status make_args(const hone_manifest *manifest, const hone_check_bundle *bundle,
                             hone_tensor **args) {
    for (size_t i = 0; i < manifest->arg_count; i++) {
        const hone_arg *arg = &manifest->args[i];
        HONE_TRY(hone_tensor_create(arg->dtype, (int32_t)arg->rank, arg->shape, &args[i]));
        if (arg->role == HONE_ARG_OUT) continue;
        HONE_TRY(hone_check_bundle_fill(bundle, i, args[i]->data));
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
    if (m->task->task->flops > INTERPRETED_FLOPS || m->options->extern_path) return HONE_OK;
    hone_tensor **args = hone_arena_zalloc(m->arena, (manifest->arg_count + 1) * sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_interp_options options = {0};
    hone_status st = make_args(manifest, bundle, args);
    if (!st) st = hone_interp_func(m->task->task->func, args, manifest->arg_count, &options);
    m->is_about_inputs = hone_status_code(st) == HONE_CODE_ILLEGAL;
    if (!st) st = compare_args(manifest, args, bundle);
    for (size_t i = 0; i < manifest->arg_count; i++)
        hone_tensor_destroy(args[i]);
    return st;
}

/* The bundle with what a variant declares on top of each bound of floats. */
static hone_status write_for(making *m, hone_check_bundle *bundle, const hone_variant *variant) {
    hone_tune_task *task = m->task;
    const char *suffix, *path;
    assert(task->check_count < HONE_MAX_VARIANTS); /* each is allowed, and here once */
    for (size_t i = 0; i < bundle->count; i++) {
        hone_check_tensor *t = &bundle->tensors[i];
        if (t->reference && hone_dtype_is_float(t->dtype))
            t->bound = hone_error_bound(t->dtype, t->plain_deviation, t->reference_max) +
                       variant->error * t->reference_max;
    }
    suffix = hone_arena_printf(m->arena, "-variant%u" HONE_CHECK_BUNDLE_SUFFIX, task->check_count);
    if (!suffix) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    HONE_TRY(path_of(m, suffix, &path));
    path = hone_arena_strdup(task->arena, path);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    task->checks[task->check_count++] = (hone_variant_bundle){*variant, path};
    return hone_check_bundle_write(bundle, path);
}

static bool has_check(const hone_tune_task *task, const hone_variant *variant) {
    for (uint32_t i = 0; i < task->check_count; i++) {
        if (hone_variant_is_same(&task->checks[i].variant, variant)) return true;
    }
    return false;
}

static hone_status write_for_variants(making *m, hone_check_bundle *bundle) {
    hone_tune_task *task = m->task;
    task->check_count = 0;
    for (uint32_t i = 0; i < task->space.count; i++) {
        hone_variant variant;
        if (hone_trace_variant(&task->space.sketches[i], &variant) && variant.error > 0 &&
            !has_check(task, &variant))
            HONE_TRY(write_for(m, bundle, &variant));
    }
    return HONE_OK;
}

static hone_status write_bundle(making *m, const plain_run *plain, const plain_run *reference) {
    hone_check_bundle bundle;
    const char *path;
    HONE_TRY(fill_bundle(m, plain, reference, &bundle));
    HONE_TRY(check_by_interpreter(m, plain->manifest, &bundle));
    HONE_TRY(path_of(m, HONE_CHECK_BUNDLE_SUFFIX, &path));
    path = hone_arena_strdup(m->task->arena, path);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    HONE_TRY(hone_check_bundle_write(&bundle, path));
    m->task->check_path = path;
    return write_for_variants(m, &bundle);
}

static hone_status run_both(making *m) {
    plain_run plain, wide;
    m->is_about_inputs = false;
    HONE_TRY(run(m, &m->plain, &plain));
    hone_status st = m->has_wide ? run(m, &m->wide, &wide) : HONE_OK;
    if (!st) st = write_bundle(m, &plain, m->has_wide ? &wide : &plain);
    if (m->has_wide) hone_run_result_deinit(&wide.result);
    hone_run_result_deinit(&plain.result);
    return st;
}

/* ---- inputs that do not suit ---- */

/* Those that were made up, as the program calls them. */
static void list_inputs(const making *m, hone_str *out) {
    const hone_manifest *manifest = &m->plain.manifest;
    const hone_func *func = m->task->task->func;
    for (size_t i = 0; i < manifest->arg_count; i++) {
        const hone_arg *arg = &manifest->args[i];
        if (arg->role == HONE_ARG_OUT || m->inputs.is_given[i]) continue;
        hone_buffer buffer = func->params[m->inputs.params[i]].buffer;
        hone_tensor type = hone_tensor_view(NULL, arg->dtype, (int32_t)arg->rank, arg->shape);
        hone_str_printf(out, "%s'%s:%s' ", out->length ? ", " : "", m->task->task->name,
                        hone_func_buffer(func, buffer)->name);
        hone_tensor_print_type(&type, out);
    }
}

static const char *whose_inputs(const making *m, bool has_made) {
    bool has_given = false;
    for (size_t i = 0; i < m->plain.manifest.arg_count; i++)
        has_given = has_given || m->inputs.is_given[i];
    if (!has_made) return "the inputs that --in gives";
    return has_given ? "the inputs, some from --in and the rest made up," : "made-up inputs";
}

/* Says how to go on. Takes and returns st. */
static hone_status unsuited(const making *m, hone_status st) {
    hone_str made = {0};
    list_inputs(m, &made);
    const char *problem = m->inputs.problem ? m->inputs.problem : "";
    hone_status result = HONE_ERROR(
        HONE_CODE_UNSUPPORTED, "%s%s%s (%s%s%s)%s%s", m->is_slow ? "it takes too long with " : "",
        whose_inputs(m, made.length > 0), m->is_slow ? "" : " do not suit it",
        hone_status_message(st), *problem ? "; " : "", problem,
        made.length ? "; give them with --in NAME=FILE: " : "", hone_str_text(&made));
    hone_str_deinit(&made);
    hone_status_free(st);
    return result;
}

/* One fill after the other until one suits; the first one's failure is told. */
static hone_status try_fills(making *m) {
    hone_status first = HONE_OK, st = HONE_OK;
    for (uint32_t n = 0; !m->is_slow && hone_made_inputs_fill(&m->inputs, n, &st); n++) {
        st = run_both(m);
        if (!st || !m->is_about_inputs) {
            hone_status_free(first);
            return st;
        }
        if (first)
            hone_status_free(st);
        else
            first = st;
        st = HONE_OK;
    }
    return st ? hone_status_join(first, st) : unsuited(m, first);
}

static hone_status make(making *m) {
    const hone_reference_options *o = m->options;
    const hone_task *task = m->task->task;
    m->has_wide = false;
    HONE_TRY(build_both(m));
    HONE_TRY(hone_made_inputs_derive(task->func, task->name, &m->plain.manifest, o->seed, o->given,
                                     o->given_count, m->arena, &m->inputs));
    return try_fills(m);
}

/* ---- the ways ---- */

static hone_status make_by(hone_tune_task *task, const hone_reference_options *options,
                           const way *by, bool *out_is_slow) {
    making m = {.options = options, .by = by, .task = task, .arena = hone_arena_create(64 * 1024)};
    if (!m.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "reference");
    hone_status st = make(&m);
    *out_is_slow = m.is_slow;
    hone_arena_destroy(m.arena);
    return st;
}

/* One way after the other, where the first is too slow; takes its failure, which is told when none
 * gives a reference. */
static hone_status try_others(hone_tune_task *task, const hone_reference_options *options,
                              const way *ways, size_t count, hone_status first) {
    hone_status st = first;
    bool is_slow;
    for (size_t i = 0; i < count && hone_status_code(st) == HONE_CODE_UNSUPPORTED; i++) {
        if (!ways[i].runner) continue;
        hone_status other = make_by(task, options, &ways[i], &is_slow);
        hone_code code = hone_status_code(other);
        bool is_over = code == HONE_CODE_OK || code == HONE_CODE_NO_MEMORY;
        hone_status told = st;
        if (is_over) {
            st = other;
        } else {
            st = HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s; %s: %s", hone_status_message(told),
                            ways[i].name, hone_status_message(other));
            hone_status_free(other);
        }
        hone_status_free(told);
    }
    return st;
}

static hone_status schedule_by_default(hone_schedule *sch, const hone_target *target) {
    return hone_first_schedule(sch, target, 0);
}

hone_status hone_make_reference(hone_tune_task *task, const hone_reference_options *options) {
    const int64_t usual = options->device_runner ? BESIDE_DEVICE_NS : PATIENCE_NS;
    const int64_t patience = options->patience_ns ? options->patience_ns : usual;
    const way plainly = {"", options->runner, options->target, NULL, 1, patience};
    /* clang-format off */
    const way others[] = {
        {"simple kernels of the device", options->device_runner, options->device_target,
         hone_plain_schedule, 1, PATIENCE_NS},
        {"the CPU's default schedule", options->runner, options->target, schedule_by_default,
         options->target->num_threads, 10 * PATIENCE_NS},
    };
    /* clang-format on */
    bool is_slow;
    hone_status st = make_by(task, options, &plainly, &is_slow);
    return is_slow && st ? try_others(task, options, others, HONE_COUNT(others), st) : st;
}
