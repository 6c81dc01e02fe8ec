/* tools/verbs/verb_bench.c - `hone bench`: compiled models against each other, in turns
 * (tools/run/timed_model.h). */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "measure/run.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tools/cli/cli_table.h"
#include "tools/run/extern_library.h"
#include "tools/run/timed_model.h"
#include "tools/verbs/verbs.h"

enum { MOST_MODELS = 16, MIN_ROUNDS = 8 };

typedef struct bench_options {
    hone_cli_list in, shapes;
    const char *func, *extern_path;
    int64_t threads, time_ns, rounds;
} bench_options;

typedef struct bench_job {
    hone_cli *cli;
    const bench_options *o;
    hone_timed_model models[MOST_MODELS];
    size_t count;
} bench_job;

static int64_t now_ns(void) {
    return hone_clock_now(hone_clock_system());
}

/* ---- making ready ---- */

/* In words how tensors differ from those of the first model; empty when they do not. */
static void print_difference(const char *what, const hone_timed_model *first,
                             hone_tensor *const *wanted, int32_t wanted_count,
                             hone_tensor *const *got, int32_t count, hone_str *out) {
    if (wanted_count != count) {
        hone_str_printf(out, "has %d %ss, %s has %d", (int)count, what, first->path,
                        (int)wanted_count);
    }
    for (int32_t i = 0; i < count && !out->length; i++) {
        bool is_same = hone_dtype_equal(wanted[i]->dtype, got[i]->dtype) &&
                       hone_tensor_same_shape(wanted[i], got[i]);
        if (is_same) continue;
        hone_str_printf(out, "%s %d is ", what, (int)i);
        hone_tensor_print_type(got[i], out);
        hone_str_printf(out, ", that of %s is ", first->path);
        hone_tensor_print_type(wanted[i], out);
    }
}

/* Times of different work say nothing about each other. */
static hone_status compare_with_first(bench_job *job, const hone_timed_model *c) {
    const hone_timed_model *first = &job->models[0];
    hone_str inputs = {0}, outputs = {0};
    hone_status st = HONE_OK;
    print_difference("input", first, first->inputs, first->entry->input_count, c->inputs,
                     c->entry->input_count, &inputs);
    print_difference("output", first, first->outputs, first->entry->output_count, c->outputs,
                     c->entry->output_count, &outputs);
    if (inputs.length) {
        st = HONE_ERROR(HONE_CODE_INVALID, "other inputs: %s", hone_str_text(&inputs));
    } else if (outputs.length) {
        HONE_LOG(&job->cli->log, HONE_LOG_WARNING, "%s: other outputs: %s", c->path,
                 hone_str_text(&outputs));
    }
    hone_str_deinit(&inputs);
    hone_str_deinit(&outputs);
    return st;
}

static hone_status open_one(bench_job *job, hone_timed_model *c, const char *path) {
    const char *ending = hone_path_extension(path);
    const hone_timed_model_options options = {&job->o->in, &job->o->shapes, job->o->func,
                                              (int32_t)job->o->threads};
    if (strcmp(ending, ".py") == 0 || strcmp(ending, ".onnx") == 0) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s: bench times compiled models; 'hone compile' makes one", path);
    }
    HONE_TRY(hone_timed_model_open(job->cli, path, &options, c));
    return hone_status_annotate(compare_with_first(job, c), "%s", path);
}

/* ---- rounds ---- */

static hone_status run_rounds(bench_job *job) {
    int64_t end = now_ns() + job->o->time_ns;
    for (size_t round = 0;; round++) {
        bool is_enough = job->o->rounds ? round >= (size_t)job->o->rounds
                                        : round >= MIN_ROUNDS && now_ns() >= end;
        if (is_enough) return HONE_OK;
        HONE_TRY(hone_timed_models_round(job->models, job->count, round));
    }
}

/* ---- output ---- */

static double median_ns(const hone_timed_model *c) {
    return hone_stat_median(c->times_ns.data, c->times_ns.count);
}

static double best_ns(const hone_timed_model *c) {
    double best = INFINITY;
    for (size_t i = 0; i < c->times_ns.count; i++)
        best = fmin(best, c->times_ns.data[i]);
    return best;
}

static hone_status put_table(bench_job *job) {
    hone_table table;
    hone_table_init(&table, job->cli->arena, "model|>median|>best|>faster|>95 % from|>to");
    for (size_t i = 0; i < job->count; i++) {
        hone_timed_model *c = &job->models[i];
        hone_time_ratio r;
        HONE_TRY(hone_timed_models_ratio(job->cli->arena, &job->models[0], c, &r));
        hone_table_add(&table, "%s", c->path);
        hone_table_add(&table, "%s", hone_text_of_ns(job->cli->arena, median_ns(c)));
        hone_table_add(&table, "%s", hone_text_of_ns(job->cli->arena, best_ns(c)));
        hone_table_add(&table, "%.3fx", r.median);
        hone_table_add(&table, "%.3f", r.low);
        hone_table_add(&table, "%.3f", r.high);
    }
    hone_cli_put_table(job->cli, &table);
    hone_str_printf(&job->cli->out, "faster: than the first; %zu rounds in turns\n",
                    job->models[0].times_ns.count);
    return HONE_OK;
}

static hone_status put_json(bench_job *job) {
    hone_json *json = hone_json_make_object(), *rows = hone_json_make_array();
    bool ok = true;
    hone_status st = HONE_OK;
    for (size_t i = 0; i < job->count && !st; i++) {
        hone_timed_model *c = &job->models[i];
        hone_time_ratio r = {0};
        st = hone_timed_models_ratio(job->cli->arena, &job->models[0], c, &r);
        hone_json *row = hone_json_make_object();
        ok &= hone_json_set_text(row, "model", c->path);
        ok &= hone_json_set_f64(row, "median_ns", median_ns(c));
        ok &= hone_json_set_f64(row, "best_ns", best_ns(c));
        ok &= hone_json_set_f64(row, "ratio", r.median);
        ok &= hone_json_set_f64(row, "low", r.low);
        ok &= hone_json_set_f64(row, "high", r.high);
        ok &= hone_json_append(rows, row);
    }
    ok &= hone_json_set_i64(json, "rounds", (int64_t)job->models[0].times_ns.count);
    ok &= hone_json_set(json, "models", rows);
    if (st || !ok) {
        hone_json_destroy(json);
        return st ? st : HONE_ERROR(HONE_CODE_NO_MEMORY, "bench");
    }
    return hone_cli_put_json(job->cli, json);
}

static hone_status bench(bench_job *job) {
    if (job->o->rounds) HONE_TRY(hone_cli_refuse(job->cli, "time", "a number of rounds"));
    for (int i = 0; i < job->cli->arg_count; i++) {
        hone_timed_model *c = &job->models[job->count++];
        HONE_TRY(open_one(job, c, job->cli->args[i]));
    }
    HONE_TRY(hone_timed_models_try(job->models, job->count));
    for (size_t i = 0; i < job->count; i++)
        HONE_TRY(hone_timed_model_warm_up(&job->models[i]));
    HONE_TRY(run_rounds(job));
    return job->cli->json ? put_json(job) : put_table(job);
}

static hone_status run(hone_cli *cli, const bench_options *o) {
    bench_job job = {.cli = cli, .o = o};
    void *library = NULL;
    hone_status st =
        o->extern_path ? hone_cli_open_externs(cli, o->extern_path, &library) : HONE_OK;
    if (!st) st = bench(&job);
    for (size_t i = 0; i < job.count; i++)
        hone_timed_model_close(&job.models[i]);
    if (library) dlclose(library);
    return st;
}

int hone_verb_bench(int argc, char **argv) {
    bench_options o = {.time_ns = 2 * HONE_NS_PER_S};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("in", 0, "FILE", LIST, &o.in,
                        "inputs in order, for all of them; default: made up"),
        HONE_CLI_OPTION("shape", 0, "N=4", LIST, &o.shapes, "sizes of made-up inputs; default 1"),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.func,
                        "the function; default: main, or the first"),
        HONE_CLI_OPTION("extern", 0, "LIB.so", TEXT, &o.extern_path,
                        "library with external functions"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads,
                        "threads for each; default: what it was compiled for", .min = 1,
                        .max = 1024),
        HONE_CLI_OPTION("time", 0, "T", TIME, &o.time_ns, "go on for so long in all; default 2s",
                        .min = 1),
        HONE_CLI_OPTION("rounds", 0, "N", NUMBER, &o.rounds, "or for so many rounds", .min = 1,
                        .max = 1000000),
        {0},
    };
    const hone_cli_command command = {
        .name = "bench",
        .usage = "A.so B.so... [--time T] [--threads N]",
        .summary = "Times compiled models in turns and prints how many times faster each is than "
                   "the first, with a 95 % confidence interval.",
        .example = "hone bench /tmp/mlp.so --threads 1",
        .notes =
            "At most 16 models, which take the same inputs; what to compare with comes from hone "
            "compile --no-schedule, another database or other options.",
        .options = options,
        .min_args = 1,
        .max_args = MOST_MODELS,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, run(&cli, &o));
}
