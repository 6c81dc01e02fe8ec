/* tools/verbs/verb_run.c - `hone run`: a compiled model, a model or a program, with inputs from
 * files. */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "compile/compile.h"
#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/os/fs.h"
#include "support/os/scratch.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_target.h"
#include "tools/run/extern_library.h"
#include "tools/run/run_job.h"
#include "tools/run/sizes_of_inputs.h"
#include "tools/run/suited_inputs.h"
#include "tools/verbs/kernel_table.h"
#include "tools/verbs/verbs.h"

#define NOT_SAID (-(double)INFINITY) /* --rtol: it depends on the type then */

/* ---- a model or program: compiled on the spot ---- */

static hone_status compile_to(hone_run_job *job, const hone_module *module,
                              const hone_target *target, const char *output) {
    hone_db *db = NULL;
    hone_compile_result result = {0};
    hone_compile_options options = {.output = output,
                                    .func = job->o->func,
                                    .no_schedule = job->o->no_schedule,
                                    .reschedule = job->o->reschedule,
                                    .unsandboxed = job->o->unsandboxed,
                                    .weight_values = job->weights,
                                    .weight_count = job->params.count};
    hone_dim_variants empty = {.items = &job->empty, .count = 1};
    if (job->empty.dim_count) options.variants = &empty;
    options.target = *target;
    if (!hone_target_is_gpu(target)) HONE_TRY(hone_target_check_here(target));
    hone_cli_warn_of_threads(&job->cli->log, &options.target);
    if (job->o->db && !job->o->no_schedule) {
        hone_db_options db_options = {.path = job->o->db, .mode = HONE_DB_READ};
        HONE_TRY(hone_db_open_sqlite(&db_options, &db));
        options.db = db;
    }
    hone_status st = hone_compile_module(module, &options, &result);
    bool is_told = job->o->time && !job->cli->quiet && !job->cli->json;
    if (!st && is_told) hone_cli_put_kernels(job->cli, &result);
    if (result.arena) hone_compile_result_deinit(&result);
    hone_db_close(db);
    return st;
}

/* A graph: what is wanted, or what a module without a name for it is. */
static bool is_model(const hone_module *module, const char *func) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (func && strcmp(member->name, func) != 0) continue;
        if (member->kind == HONE_MEMBER_GRAPH) return true;
    }
    return false;
}

/* Sizes that are known in a run only: a model's driver finds them, and launches by them. */
static bool has_open_sizes(const hone_module *module, const char *func) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (func && strcmp(member->name, func) != 0) continue;
        const hone_func *of = member->kind == HONE_MEMBER_FUNC ? member->func : NULL;
        for (uint32_t p = 0; of && p < of->param_count; p++) {
            hone_buffer id = of->params[p].buffer;
            if (id != HONE_NO_ID && hone_buffer_elements(&of->buffers[id]) < 0) return true;
        }
    }
    return false;
}

static hone_status compile_and_run(hone_run_job *job, const hone_module *module) {
    hone_scratch dir;
    hone_target target;
    HONE_TRY(hone_cli_read_target(job->o->target, job->o->threads, &target));
    if (hone_target_is_gpu(&target) && !is_model(module, job->o->func) &&
        !has_open_sizes(module, job->o->func))
        return hone_run_on_device(job, module, &target);
    HONE_TRY(hone_scratch_open("hone-running", &dir));
    const char *output = hone_arena_printf(job->cli->arena, "%s/model", dir.path);
    const char *library = hone_arena_printf(job->cli->arena, "%s/model.so", dir.path);
    hone_status st =
        output && library ? compile_to(job, module, &target, output) : HONE_NO_MEMORY("run");
    if (!st) st = hone_run_library(job, library);
    return hone_status_join(st, hone_scratch_close(&dir));
}

static hone_status run_source(hone_run_job *job, const char *path) {
    hone_module *module;
    hone_graph_options given = {.weights = job->weights,
                                .weight_count = job->params.count,
                                .keeps_inputs = true,
                                .keeps_sizes = true};
    HONE_TRY(hone_run_sizes_of_inputs(job, &given.dims, &given.dim_count));
    HONE_TRY(hone_cli_load_module(path, &given, &module));
    hone_cli_warn_of_file(&job->cli->log, path, module);
    hone_module_freeze(module);
    hone_status st = hone_cli_other_sizes(job->cli, module, &job->o->shapes, &job->shapes);
    if (!st) st = hone_run_note_empty(job, module);
    if (!st && !job->inputs.count) st = hone_run_suit_inputs(job, module);
    if (!st)
        st = job->o->interpret ? hone_run_interpreted(job, module) : compile_and_run(job, module);
    hone_module_release(module);
    hone_code code = hone_status_code(st);
    bool is_of_model = code == HONE_CODE_INVALID || code == HONE_CODE_UNSUPPORTED ||
                       code == HONE_CODE_ILLEGAL || code == HONE_CODE_TYPE;
    return is_of_model ? hone_cli_place(path, job->line, job->column, st) : st;
}

/* ---- results ---- */

/* The name with '_' for what no file's name should have, and no longer than they may be. */
static char *file_name(hone_arena *arena, const char *name) {
    char *short_name = hone_path_short_name(name);
    char *clean = short_name ? hone_arena_strdup(arena, short_name) : NULL;
    hone_free(short_name);
    for (char *c = clean; c && *c; c++) {
        if (*c == '/' || (unsigned char)*c < 32 || *c == 127) *c = '_';
    }
    return clean;
}

/* What npy has no letter for (bfloat16) goes into a .safetensors file. */
static hone_status save(const hone_run_job *job, const char *path, const char *name,
                        const hone_tensor *tensor) {
    const char *full = hone_arena_printf(job->cli->arena, "%s.npy", path);
    if (!full) return HONE_NO_MEMORY("run");
    hone_status st = hone_npy_save(full, tensor);
    if (hone_status_code(st) != HONE_CODE_UNSUPPORTED) return st;
    hone_status_free(st);
    hone_tensor_set set = {0};
    hone_tensor *copy;
    full = hone_arena_printf(job->cli->arena, "%s.safetensors", path);
    HONE_TRY(full ? hone_tensor_clone(tensor, &copy) : HONE_NO_MEMORY("run"));
    st = hone_tensor_set_add(&set, name, copy);
    if (!st) st = hone_tensor_set_save(full, &set);
    hone_tensor_set_deinit(&set);
    return st;
}

/* DIR/NAME.npy; a name that is taken already gets a number. */
static hone_status write_one(const hone_run_job *job, hone_strmap *taken, const char *name,
                             const hone_tensor *tensor) {
    hone_arena *arena = job->cli->arena;
    const char *path = hone_arena_printf(arena, "%s/%s", job->o->out_dir, name);
    for (unsigned i = 1; path && hone_strmap_find(taken, path, NULL); i++)
        path = hone_arena_printf(arena, "%s/%s_%u", job->o->out_dir, name, i);
    if (!path || !hone_strmap_put(taken, path, 1)) return HONE_NO_MEMORY("run");
    return save(job, path, name, tensor);
}

/* Names that are names of files as they are come first: they keep them. */
static hone_status write_all(const hone_run_job *job, hone_strmap *taken) {
    for (size_t k = 0; k < 2 * job->outputs.count; k++) {
        const hone_cli_tensor *output = &job->outputs.data[k % job->outputs.count];
        const char *name = file_name(job->cli->arena, output->name);
        if (!name) return HONE_NO_MEMORY("run");
        bool is_first_round = k < job->outputs.count;
        if ((strcmp(name, output->name) == 0) != is_first_round) continue;
        HONE_TRY(write_one(job, taken, name, output->tensor));
    }
    return HONE_OK;
}

static hone_status write_results(const hone_run_job *job) {
    if (!job->o->out_dir) return HONE_OK;
    hone_strmap taken = {0};
    HONE_TRY(hone_fs_mkdirs(job->o->out_dir));
    hone_status st = write_all(job, &taken);
    hone_strmap_deinit(&taken);
    return st;
}

static void print_values(hone_str *out, const hone_tensor *tensor) {
    enum { SHOWN = 8 };
    int64_t count = hone_tensor_count(tensor);
    for (int64_t i = 0; i < count && i < SHOWN; i++) {
        if (hone_dtype_is_float(tensor->dtype)) {
            double value = hone_tensor_get_f64(tensor, i);
            hone_str_printf(out, " %.6g",
                            isnan(value) ? (double)NAN : value); /* its sign says nothing */
        } else if (hone_dtype_is_uint(tensor->dtype)) {
            hone_str_printf(out, " %llu", (unsigned long long)hone_tensor_get_i64(tensor, i));
        } else {
            hone_str_printf(out, " %lld", (long long)hone_tensor_get_i64(tensor, i));
        }
    }
    if (count > SHOWN) hone_str_append(out, " ...");
}

static void print_results(const hone_run_job *job) {
    hone_str *out = &job->cli->out;
    for (size_t i = 0; i < job->outputs.count; i++) {
        hone_str_printf(out, "%s ", job->outputs.data[i].name);
        hone_tensor_print_type(job->outputs.data[i].tensor, out);
        hone_str_append(out, ":");
        print_values(out, job->outputs.data[i].tensor);
        hone_str_append(out, "\n");
    }
    if (isnan(job->median_ns)) return;
    hone_str_printf(out, "time: median %s, best %s, spread %.1f %%\n",
                    hone_text_of_ns(job->cli->arena, job->median_ns),
                    hone_text_of_ns(job->cli->arena, job->best_ns), 100 * job->spread);
}

/* What is allowed where nothing is said: of floats of 16 bits two units of the last place. */
static double relative_tolerance(const hone_run_options *o, hone_dtype dtype) {
    return o->rtol == NOT_SAID ? fmax(1e-4, 2 * hone_dtype_epsilon(dtype)) : o->rtol;
}

/* What --expect says of one output. */
static hone_status compare_one(hone_run_job *job, size_t index, const hone_tensor *want,
                               hone_json *report) {
    const hone_cli_tensor *got = &job->outputs.data[index];
    double rtol = relative_tolerance(job->o, got->tensor->dtype);
    hone_tensor_diff diff = hone_tensor_diff_make(got->tensor, want, rtol, job->o->atol);
    bool is_right = diff.is_comparable && diff.bad_count == 0;
    hone_str text = {0};
    if (diff.is_comparable) {
        hone_tensor_diff_print(&diff, want, &text);
    } else {
        hone_str_append(&text, "is ");
        hone_tensor_print_type(got->tensor, &text);
        hone_str_append(&text, ", expected ");
        hone_tensor_print_type(want, &text);
    }
    if (!is_right) job->cli->exit_code = HONE_EXIT_NO;
    bool ok = true;
    if (job->cli->json) {
        hone_json *item = hone_json_make_object();
        ok &= hone_json_set_text(item, "output", got->name);
        ok &= hone_json_set_bool(item, "right", is_right);
        ok &= hone_json_set_text(item, "difference", hone_str_text(&text));
        ok &= hone_json_append(report, item);
    } else {
        hone_str_printf(&job->cli->out, "%s: %s: %s\n", got->name, is_right ? "right" : "WRONG",
                        hone_str_text(&text));
    }
    hone_str_deinit(&text);
    return ok ? HONE_OK : HONE_NO_MEMORY("run");
}

/* Which of the expected tensors is for each output. */
static hone_status assign_expected(hone_run_job *job, const hone_cli_tensors *expected,
                                   const size_t **out_index) {
    size_t count = job->outputs.count;
    hone_cli_want *wants = hone_arena_zalloc(job->cli->arena, (count + 1) * sizeof *wants);
    size_t *index = hone_arena_zalloc(job->cli->arena, (count + 1) * sizeof *index);
    if (!wants || !index) return HONE_NO_MEMORY("run");
    for (size_t i = 0; i < count; i++) {
        const hone_tensor *tensor = job->outputs.data[i].tensor;
        wants[i].name = job->outputs.data[i].name;
        wants[i].dtype = tensor->dtype;
        wants[i].rank = tensor->rank;
        memcpy(wants[i].shape, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
    }
    *out_index = index;
    return hone_cli_assign_tensors(wants, count, expected, "--expect", "output", index);
}

static hone_status compare(hone_run_job *job, hone_json *report) {
    const size_t *index = NULL;
    if (job->o->expect.count == 0) return HONE_OK;
    HONE_TRY(assign_expected(job, &job->expected, &index));
    for (size_t i = 0; i < job->outputs.count; i++)
        HONE_TRY(compare_one(job, i, job->expected.data[index[i]].tensor, report));
    return HONE_OK;
}

static hone_json *describe_output(const hone_cli_tensor *output) {
    hone_json *item = hone_json_make_object(), *shape = hone_json_make_array();
    hone_json *values = hone_json_make_array();
    const hone_tensor *tensor = output->tensor;
    bool ok = hone_json_set_text(item, "name", output->name) &&
              hone_json_set_text(item, "dtype", HONE_DTYPE_NAME(tensor->dtype));
    for (int32_t d = 0; d < tensor->rank; d++)
        ok &= hone_json_append(shape, hone_json_make_i64(tensor->shape[d]));
    int64_t count = hone_tensor_count(tensor);
    for (int64_t i = 0; i < count && i < 64; i++) {
        ok &= hone_json_append(values, hone_dtype_is_float(tensor->dtype)
                                           ? hone_json_make_f64(hone_tensor_get_f64(tensor, i))
                                           : hone_json_make_i64(hone_tensor_get_i64(tensor, i)));
    }
    ok &= hone_json_set(item, "shape", shape);
    ok &= hone_json_set(item, "first", values);
    if (ok) return item;
    hone_json_destroy(item);
    return NULL;
}

static hone_status put_json(hone_run_job *job, hone_json *checks) {
    hone_json *json = hone_json_make_object(), *outputs = hone_json_make_array();
    bool ok = true;
    for (size_t i = 0; i < job->outputs.count; i++)
        ok &= hone_json_append(outputs, describe_output(&job->outputs.data[i]));
    ok &= hone_json_set(json, "outputs", outputs);
    ok &= hone_json_set(json, "checks", checks);
    if (!isnan(job->median_ns)) {
        ok &= hone_json_set_f64(json, "median_ns", job->median_ns);
        ok &= hone_json_set_f64(json, "best_ns", job->best_ns);
        ok &= hone_json_set_f64(json, "spread", job->spread);
    }
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(job->cli, json);
}

static hone_status report(hone_run_job *job) {
    HONE_TRY(write_results(job));
    hone_json *checks = job->cli->json ? hone_json_make_array() : NULL;
    if (!job->cli->json && !job->cli->quiet) print_results(job);
    hone_status st = compare(job, checks);
    if (st || !job->cli->json) {
        hone_json_destroy(checks);
        return st;
    }
    return put_json(job, checks);
}

/* ---- the verb ---- */

/* Options that would do nothing are mistakes. */
static hone_status check_options(const hone_run_job *job, bool is_library) {
    const hone_cli *cli = job->cli;
    if (is_library && job->o->interpret) {
        return HONE_ERROR(HONE_CODE_INVALID, "--interpret wants a model or program, not a library");
    }
    if (is_library) {
        HONE_TRY(hone_cli_refuse(cli, "params db target no-schedule reschedule unsandboxed",
                                 "what is compiled already"));
    }
    if (job->o->interpret) {
        HONE_TRY(hone_cli_refuse(cli, "time db target no-schedule reschedule threads unsandboxed",
                                 "--interpret"));
    }
    if (!job->o->expect.count)
        HONE_TRY(hone_cli_refuse(cli, "rtol atol", "results without --expect"));
    if (job->o->no_schedule)
        HONE_TRY(hone_cli_refuse(cli, "db reschedule", "kernels without a schedule"));
    return HONE_OK;
}

static hone_status run_file(hone_run_job *job) {
    const char *path = job->cli->args[0];
    bool is_library = strstr(hone_path_basename(path), ".so") != NULL; /* also libx.so.1 */
    HONE_TRY(check_options(job, is_library));
    bool is_rtol_right = job->o->rtol == NOT_SAID || job->o->rtol >= 0;
    if (!(is_rtol_right && job->o->atol >= 0)) {
        return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' is %g, must be at least 0",
                          is_rtol_right ? "atol" : "rtol",
                          is_rtol_right ? job->o->atol : job->o->rtol);
    }
    if (job->o->check && !job->o->interpret) {
        return HONE_ERROR(HONE_CODE_INVALID, "--check wants --interpret");
    }
    if (job->o->out_dir) {
        HONE_TRY(
            hone_status_annotate(hone_fs_check_new_dir(job->o->out_dir), "option '--out-dir'"));
    }
    if (job->o->extern_path)
        HONE_TRY(hone_cli_open_externs(job->cli, job->o->extern_path, &job->extern_library));
    HONE_TRY(hone_cli_load_params(job->cli, job->o->params, &job->params, &job->weights));
    HONE_TRY(hone_cli_load_tensors(&job->o->in, &job->inputs));
    HONE_TRY(hone_cli_load_tensors(&job->o->expect, &job->expected));
    HONE_TRY(is_library ? hone_run_library(job, path) : run_source(job, path));
    return report(job);
}

static hone_status run(hone_cli *cli, const hone_run_options *o) {
    hone_run_job job = {.cli = cli, .o = o, .shapes = o->shapes, .median_ns = NAN};
    hone_status st = run_file(&job);
    hone_cli_tensors_deinit(&job.inputs);
    hone_cli_tensors_deinit(&job.outputs);
    hone_cli_tensors_deinit(&job.expected);
    hone_tensor_set_deinit(&job.params);
    if (job.extern_library) dlclose(job.extern_library);
    return st;
}

int hone_verb_run(int argc, char **argv) {
    hone_run_options o = {.rtol = NOT_SAID, .atol = 1e-5};
#define TEXT(option, field, word, words)                                                           \
    HONE_CLI_OPTION((option), 0, (word), TEXT, &o.field, (words))
#define LIST(option, field, word, words)                                                           \
    HONE_CLI_OPTION((option), 0, (word), LIST, &o.field, (words))
#define SWITCH(option, field, words) HONE_CLI_OPTION((option), 0, NULL, SWITCH, &o.field, (words))
    const hone_cli_option options[] = {
        LIST("in", in, "FILE", "inputs in order, .npy, .npz or .pb; NAME=FILE gives one a name"),
        TEXT("out-dir", out_dir, "DIR",
             "write each result to DIR/NAME.npy (bfloat16: .safetensors)"),
        LIST("expect", expect, "FILE", "what the results should be; exit code 1 when they are not"),
        HONE_CLI_OPTION(
            "rtol", 0, "X", REAL, &o.rtol,
            "allowed difference relative to the expected value; default 1e-4, float16 0.002, "
            "bfloat16 0.016"),
        HONE_CLI_OPTION("atol", 0, "X", REAL, &o.atol, "and absolute; default 1e-5"),
        SWITCH("time", time, "run for half a second or more and print times"),
        SWITCH("interpret", interpret, "run the reference interpreter: slow, exact"),
        SWITCH("check", check, "with --interpret: find races and reads of what was never written"),
        TEXT("func", func, "NAME", "the function; default: main, or the first"),
        TEXT("extern", extern_path, "LIB.so", "library with external functions"),
        HONE_CLI_PARAMS_OPTION(&o.params),
        LIST("shape", shapes, "N=4",
             "sizes of made-up inputs, default 1; tensors in an input that is a sequence"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads,
                        "threads to run on; default: what the model was compiled for", .min = 1,
                        .max = 1024),
        TEXT("db", db, "FILE", "for a model or program: records to compile it with"),
        TEXT("target", target, "T", "for a model or program: what to compile for"),
        SWITCH("no-schedule", no_schedule, "for a model or program: plain kernels"),
        SWITCH("reschedule", reschedule, "default schedules also where the program carries one"),
        HONE_CLI_UNSANDBOXED_OPTION(&o.unsandboxed, "compilers"),
        {0},
    };
#undef TEXT
#undef LIST
#undef SWITCH
    const hone_cli_command command = {
        .name = "run",
        .usage = "MODEL.so|MODEL.onnx|PROGRAM.py [--in FILE]... [--expect FILE]...",
        .summary = "Runs a compiled model, or compiles a model or program and runs that. Without "
                   "--in the inputs are made up.",
        .example = "hone run tests/programs/mul_add.py --interpret",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, run(&cli, &o));
}
