/* tools/verbs/verb_profile.c - `hone profile`: what each kernel of a model takes in place. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"
#include "measure/run.h"
#include "runtime/roofline.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/scratch.h"
#include "support/os/thread.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_target.h"
#include "tools/cli/cli_variants.h"
#include "tools/run/extern_library.h"
#include "tools/run/model_profile.h"
#include "tools/verbs/verbs.h"

enum { LEAST_ROUNDS = 8, LEAST_CALLS = 4 };

typedef struct profile_options {
    hone_cli_list in, shapes;
    const char *db, *func, *params, *extern_path;
    cli_variants variants;
    int64_t threads, time_ns;
    bool unsandboxed;
} profile_options;

typedef struct profile_job {
    hone_cli *cli;
    const profile_options *o;
    hone_scratch scratch; /* of what is compiled here */
    const char *library;
    hone_timed_model model;
    hone_model_profile profile;
    bool is_apart;          /* on a GPU, of which nobody knows what it can do */
    hone_roofline roofline; /* of this machine, where its CPUs run the kernels */
    double model_ns;        /* of one call, nobody looking on */
} profile_job;

/* ---- the model ---- */

static hone_status compile_into(profile_job *job, const hone_compile_options *options) {
    const hone_graph_options given = {.weights = options->weight_values,
                                      .weight_count = options->weight_count,
                                      .keeps_inputs = true};
    hone_compile_result result = {0};
    hone_module *module = NULL;
    HONE_TRY(hone_cli_load_module(job->cli->args[0], &given, &module));
    hone_cli_warn_of_file(&job->cli->log, job->cli->args[0], module);
    hone_module_freeze(module);
    hone_status st = hone_compile_module(module, options, &result);
    hone_compile_result_deinit(&result);
    hone_module_release(module);
    return hone_status_annotate(st, "%s", job->cli->args[0]);
}

static hone_status compile_with(profile_job *job, hone_db *db, hone_tensor_set *params,
                                hone_dim_variants *variants) {
    const profile_options *o = job->o;
    hone_compile_options options = {.db = db, .func = o->func, .unsandboxed = o->unsandboxed};
    HONE_TRY(hone_cli_read_variants(job->cli, &o->variants, &options.variant_rules));
    HONE_TRY(hone_cli_read_target(NULL, o->threads, &options.target));
    HONE_TRY(hone_cli_load_params(job->cli, o->params, params, &options.weight_values));
    HONE_TRY(hone_dim_variants_parse(o->shapes.items, o->shapes.count, variants));
    options.weight_count = params->count;
    options.variants = variants;
    HONE_TRY(hone_scratch_open("hone-profile", &job->scratch));
    options.output = hone_arena_printf(job->cli->arena, "%s/model", job->scratch.path);
    job->library = hone_arena_printf(job->cli->arena, "%s/model.so", job->scratch.path);
    if (!options.output || !job->library) return HONE_ERROR(HONE_CODE_NO_MEMORY, "profile");
    return compile_into(job, &options);
}

static hone_status compile(profile_job *job) {
    hone_db *db = NULL;
    hone_tensor_set params = {0};
    hone_dim_variants variants = {0};
    hone_status st = job->o->db ? hone_cli_open_db(job->o->db, HONE_DB_READ, &db) : HONE_OK;
    if (!st) st = compile_with(job, db, &params, &variants);
    hone_dim_variants_deinit(&variants);
    hone_tensor_set_deinit(&params);
    hone_db_close(db);
    return st;
}

/* A library is taken as it is; options that say how to compile would do nothing. */
static hone_status find_library(profile_job *job) {
    job->library = job->cli->args[0];
    if (strcmp(hone_path_extension(job->library), ".so") == 0)
        return hone_cli_refuse(job->cli, "db params variants max-error variant",
                               "a library that is compiled already");
    if (!job->o->db) HONE_TRY(hone_cli_refuse(job->cli, "variant", "kernels without records"));
    return compile(job);
}

/* ---- timing ---- */

static int64_t now_ns(void) {
    return hone_clock_now(hone_clock_system());
}

/* As kernels are timed: the fastest of so many runs, each by itself. */
static hone_status run_fastest(hone_timed_model *model, int64_t calls) {
    double least = 0;
    for (int64_t i = 0; i < calls; i++) {
        double ns;
        HONE_TRY(hone_timed_model_run(model, 1, &ns));
        if (i == 0 || ns < least) least = ns;
    }
    return hone_vec_push(&model->times_ns, least) ? HONE_OK : HONE_NO_MEMORY("profile");
}

/* Calls of a round: a batch, or a few to find the fastest of, as far as there is time for that. */
static hone_status find_calls(profile_job *job, int64_t *out) {
    double ns, calls = LEAST_CALLS;
    HONE_TRY(hone_timed_model_run(&job->model, 1, &ns));
    calls = fmin(calls, (double)job->o->time_ns / (2 * LEAST_ROUNDS * ns));
    *out = calls > (double)job->model.batch ? (int64_t)calls : job->model.batch;
    return HONE_OK;
}

/* Rounds with and without somebody looking on take turns. */
static hone_status run_rounds(profile_job *job) {
    int64_t calls;
    HONE_TRY(find_calls(job, &calls));
    int64_t end = now_ns() + job->o->time_ns;
    for (int round = 0; round < LEAST_ROUNDS || now_ns() < end; round++) {
        HONE_TRY(hone_model_profile_round(&job->profile, &job->model, calls));
        HONE_TRY(run_fastest(&job->model, calls));
    }
    job->model_ns = hone_stat_median(job->model.times_ns.data, job->model.times_ns.count);
    return HONE_OK;
}

/* What one thread does is its CPU time, whatever else the machine does meanwhile; what external
 * functions do may be on threads of theirs. */
static const hone_clock *clock_of(const profile_job *job, int32_t threads) {
    bool is_alone = threads == 1 && !job->o->extern_path;
    return is_alone ? hone_clock_thread() : hone_clock_system();
}

static hone_status find_roofline(profile_job *job) {
    const hone_model_info *info = hone_loaded_model_info(job->model.model);
    hone_target target;
    HONE_TRY(hone_target_parse(info->target, &target));
    job->is_apart = hone_target_is_gpu(&target);
    if (job->is_apart) return HONE_OK;
    int32_t threads = job->o->threads ? (int32_t)job->o->threads : info->threads;
    job->model.clock = clock_of(job, threads);
    int32_t cores = (int32_t)hone_thread_cpu_count();
    return hone_roofline_measure(threads < cores ? threads : cores, &job->roofline);
}

static hone_status measure(profile_job *job) {
    const profile_options *o = job->o;
    const hone_timed_model_options options = {&o->in, &o->shapes, o->func, (int32_t)o->threads};
    HONE_TRY(hone_timed_model_open(job->cli, job->library, &options, &job->model));
    HONE_TRY(hone_timed_models_try(&job->model, 1));
    HONE_TRY(find_roofline(job));
    HONE_TRY(hone_timed_model_warm_up(&job->model));
    return run_rounds(job);
}

/* ---- output ---- */

typedef struct kernel_row {
    const hone_kernel_profile *kernel;
    double ns;       /* of all its calls in one of the model */
    double roofline; /* share: the least time that its work takes, over its time */
    bool by_memory;
} kernel_row;

static int slowest_first(const void *a, const void *b) {
    double x = ((const kernel_row *)a)->ns, y = ((const kernel_row *)b)->ns;
    return (x < y) - (x > y);
}

/* *out_sum: of all kernels. */
static hone_status make_rows(const profile_job *job, kernel_row **out_rows, double *out_sum) {
    size_t count = job->profile.kernels.count;
    kernel_row *rows = hone_arena_alloc(job->cli->arena, count * sizeof *rows);
    if (!rows) return HONE_ERROR(HONE_CODE_NO_MEMORY, "profile");
    *out_sum = 0;
    for (size_t i = 0; i < count; i++) {
        const hone_kernel_profile *k = &job->profile.kernels.data[i];
        kernel_row row = {.kernel = k, .ns = hone_stat_median(k->times_ns.data, k->times_ns.count)};
        if (!job->is_apart)
            row.roofline =
                hone_roofline_ns(&job->roofline, k->flops, k->bytes, &row.by_memory) / row.ns;
        rows[i] = row;
        *out_sum += row.ns;
    }
    qsort(rows, count, sizeof *rows, slowest_first);
    *out_rows = rows;
    return HONE_OK;
}

static void put_table(const profile_job *job, const kernel_row *rows, double sum) {
    hone_cli *cli = job->cli;
    hone_table table;
    hone_table_init(&table, cli->arena,
                    job->is_apart
                        ? "kernel|>calls|>time|>share|>GFLOPS|>GB/s|schedule"
                        : "kernel|>calls|>time|>share|>GFLOPS|>GB/s|>roofline|bound by|schedule");
    for (size_t i = 0; i < job->profile.kernels.count; i++) {
        const hone_kernel_profile *k = rows[i].kernel;
        hone_table_add(&table, "%s", k->name);
        hone_table_add(&table, "%" PRIu32, k->calls);
        hone_table_add(&table, "%s", hone_text_of_ns(cli->arena, rows[i].ns));
        hone_table_add(&table, "%.1f%%", 100 * rows[i].ns / sum);
        hone_table_add(&table, "%s", hone_text_of_gflops(cli->arena, k->flops, rows[i].ns));
        hone_table_add(&table, "%.1f", k->bytes / rows[i].ns);
        if (!job->is_apart) {
            hone_table_add(&table, "%.0f%%", 100 * rows[i].roofline);
            hone_table_add(&table, "%s", rows[i].by_memory ? "memory" : "arithmetic");
        }
        hone_table_add(&table, "%s", k->origin);
    }
    hone_cli_put_table(cli, &table);
    if (cli->quiet) return;
    hone_str_printf(&cli->out, "\nmodel: %s; kernels together: %s; %zu rounds\n",
                    hone_text_of_ns(cli->arena, job->model_ns), hone_text_of_ns(cli->arena, sum),
                    job->model.times_ns.count);
    if (job->is_apart) {
        hone_str_append(&cli->out, "each kernel was waited for: its time holds that of its launch, "
                                   "which the model does not wait for\n");
        return;
    }
    hone_str_printf(&cli->out, "machine: %.4g GFLOPS of float32, %.3g GB/s from memory\n",
                    job->roofline.flops_per_ns, job->roofline.bytes_per_ns);
}

static bool set_roofline(hone_json *json, const kernel_row *row) {
    return hone_json_set_f64(json, "roofline", row->roofline) &&
           hone_json_set_text(json, "bound_by", row->by_memory ? "memory" : "arithmetic");
}

static hone_json *row_json(const profile_job *job, const kernel_row *row) {
    const hone_kernel_profile *k = row->kernel;
    hone_json *json = hone_json_make_object();
    if (hone_json_set_text(json, "kernel", k->name) &&
        hone_json_set_text(json, "workload", k->workload) &&
        hone_json_set_text(json, "schedule", k->origin) &&
        hone_json_set_i64(json, "calls", k->calls) && hone_json_set_f64(json, "ns", row->ns) &&
        hone_json_set_f64(json, "flops", k->flops) && hone_json_set_f64(json, "bytes", k->bytes) &&
        hone_json_set_f64(json, "gflops", k->flops / row->ns) &&
        hone_json_set_f64(json, "gb_per_second", k->bytes / row->ns) &&
        (job->is_apart || set_roofline(json, row))) {
        return json;
    }
    hone_json_destroy(json);
    return NULL;
}

static hone_status put_json(const profile_job *job, const kernel_row *rows, double sum) {
    hone_json *json = hone_json_make_object(), *kernels = hone_json_make_array();
    bool ok = true;
    for (size_t i = 0; i < job->profile.kernels.count; i++)
        ok &= hone_json_append(kernels, row_json(job, &rows[i]));
    ok &= hone_json_set(json, "kernels", kernels);
    ok &= hone_json_set_f64(json, "kernels_ns", sum);
    ok &= hone_json_set_f64(json, "model_ns", job->model_ns);
    ok &= hone_json_set_i64(json, "rounds", (int64_t)job->model.times_ns.count);
    if (!job->is_apart) {
        ok &= hone_json_set_f64(json, "machine_gflops", job->roofline.flops_per_ns);
        ok &= hone_json_set_f64(json, "machine_gb_per_second", job->roofline.bytes_per_ns);
    }
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(job->cli, json);
}

static hone_status profile(profile_job *job) {
    kernel_row *rows;
    double sum;
    HONE_TRY(find_library(job));
    HONE_TRY(measure(job));
    HONE_TRY(make_rows(job, &rows, &sum));
    if (job->cli->json) return put_json(job, rows, sum);
    put_table(job, rows, sum);
    return hone_str_check(&job->cli->out);
}

static hone_status run(hone_cli *cli, const profile_options *o) {
    profile_job job = {.cli = cli, .o = o};
    void *library = NULL;
    hone_model_profile_init(&job.profile, cli->arena);
    hone_status st =
        o->extern_path ? hone_cli_open_externs(cli, o->extern_path, &library) : HONE_OK;
    if (!st) st = profile(&job);
    hone_model_profile_deinit(&job.profile);
    hone_timed_model_close(&job.model);
    if (library) dlclose(library);
    return hone_status_join(st, hone_scratch_close(&job.scratch));
}

int hone_verb_profile(int argc, char **argv) {
    profile_options o = {.time_ns = 2 * HONE_NS_PER_S};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("db", 0, "FILE", TEXT, &o.db, "database of records, to compile MODEL with"),
        HONE_CLI_VARIANT_OPTIONS(o.variants),
        HONE_CLI_PARAMS_OPTION(&o.params),
        HONE_CLI_OPTION("in", 0, "FILE", LIST, &o.in, "inputs in order; default: made up"),
        HONE_CLI_OPTION("shape", 0, "N=4", LIST, &o.shapes,
                        "sizes of made-up inputs, and to compile MODEL for; default 1"),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.func,
                        "the function; default: main, or the first"),
        HONE_CLI_OPTION("extern", 0, "LIB.so", TEXT, &o.extern_path,
                        "library with external functions"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads,
                        "threads; default: what it was compiled for, or all cores", .min = 1,
                        .max = 1024),
        HONE_CLI_OPTION("time", 0, "T", TIME, &o.time_ns, "go on for so long; default 2s",
                        .min = 1),
        HONE_CLI_UNSANDBOXED_OPTION(&o.unsandboxed, "compilers"),
        {0},
    };
    const hone_cli_command command = {
        .name = "profile",
        .usage = "MODEL.so|MODEL.onnx|PROGRAM.py [--db FILE] [--time T]",
        .summary = "Runs a model and says what each of its kernels takes in place: time, calls, "
                   "arithmetic, memory, the share of what this machine can do, and where its "
                   "schedule comes from.",
        .example = "hone profile examples/fashion_mnist/mlp.onnx --time 0.1s",
        .notes = "roofline: the least time that its arithmetic, or reading and writing its "
                 "arguments once from memory, would take here, over its time; above 100% what it "
                 "reads lies in caches. Not for GPUs.",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, run(&cli, &o));
}
