/* tools/verbs/verb_bench.c - `hone bench`: compiled models against each other, in turns.
 *
 *   round k: a share of time for each model, in an order that changes every round
 *
 * What happens to the machine meanwhile happens to all of them. The ratio of two models is the
 * median over rounds of their ratio within the round; its interval is a bootstrap over rounds
 * (Efron 1979, percentiles).
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/data/rng.h"
#include "support/data/vec.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_tensors.h"
#include "tools/run/extern_library.h"
#include "tools/verbs/verbs.h"

enum { MOST_MODELS = 16, RESAMPLES = 1000, MIN_ROUNDS = 8 };
#define SHARE_NS (10 * HONE_NS_PER_MS)

typedef struct bench_options {
    hone_cli_list in, shapes;
    const char *func, *extern_path;
    int64_t threads, time_ns, rounds;
} bench_options;

typedef struct contestant {
    const char *path;
    hone_loaded_model *model;
    const hone_model_entry *entry;
    hone_cli_tensors given;
    hone_tensor **inputs, **outputs;
    hone_model_call *call;
    int64_t batch;             /* calls in a share */
    HONE_VEC(double) times_ns; /* of one call, per round */
    double median_ns, best_ns;
} contestant;

typedef struct bench_job {
    hone_cli *cli;
    const bench_options *o;
    contestant models[MOST_MODELS];
    size_t count;
} bench_job;

static int64_t now_ns(void) {
    return hone_clock_now(hone_clock_system());
}

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "bench");
}

/* ---- making ready ---- */

static hone_status make_call(bench_job *job, contestant *c) {
    hone_cli_want *wants;
    HONE_TRY(hone_loaded_model_entry(c->model, job->o->func, &c->entry));
    HONE_TRY(hone_cli_load_tensors(&job->o->in, &c->given));
    HONE_TRY(hone_cli_wants_of_entry(job->cli, c->entry, &wants));
    bool are_made_up = c->given.count == 0;
    HONE_TRY(hone_cli_check_entry_sizes(job->cli, c->entry, wants, &job->o->shapes));
    HONE_TRY(hone_cli_match_tensors(job->cli, wants, (size_t)c->entry->input_count, &job->o->shapes,
                                    &c->given, &c->inputs));
    HONE_TRY(hone_cli_make_outputs(c->model, c->entry, c->inputs, &job->o->shapes, are_made_up,
                                   &c->outputs));
    return hone_model_call_create(c->model, c->entry, c->inputs, c->outputs, &c->call);
}

/* In words how tensors differ from those of the first model; empty when they do not. */
static void print_difference(const char *what, const contestant *first, hone_tensor *const *wanted,
                             int32_t wanted_count, hone_tensor *const *got, int32_t count,
                             hone_str *out) {
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
static hone_status compare_with_first(bench_job *job, const contestant *c) {
    const contestant *first = &job->models[0];
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

static hone_status open_one(bench_job *job, contestant *c, const char *path) {
    const char *ending = hone_path_extension(path);
    if (strcmp(ending, ".py") == 0 || strcmp(ending, ".onnx") == 0) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s: bench times compiled models; 'hone compile' makes one", path);
    }
    c->path = path;
    HONE_TRY(hone_loaded_model_open(path, (int32_t)job->o->threads, &c->model)); /* says the path */
    hone_status st = make_call(job, c);
    if (!st) st = compare_with_first(job, c);
    return hone_status_annotate(st, "%s", path);
}

static hone_status run_batch(contestant *c, int64_t count, double *out_ns) {
    int64_t start = now_ns();
    for (int64_t i = 0; i < count; i++) {
        int32_t code = hone_model_call_run(c->call);
        if (code) return hone_status_annotate(hone_model_call_status(c->call, code), "%s", c->path);
    }
    *out_ns = (double)(now_ns() - start) / (double)count;
    return HONE_OK;
}

static hone_status run_each(void *ctx) {
    bench_job *job = ctx;
    for (size_t i = 0; i < job->count; i++) {
        double ns;
        HONE_TRY(run_batch(&job->models[i], 1, &ns));
    }
    return HONE_OK;
}

/* Once each, with inputs that suit all of them. */
static hone_status try_inputs(bench_job *job) {
    hone_cli_tensors all = {0}; /* the contestants own them */
    bool ok = true;
    for (size_t i = 0; i < job->count; i++) {
        for (size_t t = 0; t < job->models[i].given.count; t++)
            ok &= hone_vec_push(&all, job->models[i].given.data[t]);
    }
    hone_status st = ok ? hone_cli_run_made_up(&all, run_each, job) : no_memory();
    hone_vec_deinit(&all);
    return st;
}

/* Warms up and finds how many calls fill a share. */
static hone_status warm_up(contestant *c) {
    double ns = 0;
    c->batch = 1;
    HONE_TRY(run_batch(c, 1, &ns));
    for (;;) {
        HONE_TRY(run_batch(c, c->batch, &ns));
        if (ns * (double)c->batch >= (double)SHARE_NS / 2 || c->batch >= 1000000) break;
        c->batch *= 2;
    }
    return HONE_OK;
}

/* ---- rounds ---- */

static hone_status run_round(bench_job *job, size_t round) {
    for (size_t i = 0; i < job->count; i++) {
        size_t at = (i + round) % job->count;
        if ((round / job->count) % 2) at = job->count - 1 - at;
        contestant *c = &job->models[at];
        double ns = 0;
        HONE_TRY(run_batch(c, c->batch, &ns));
        if (!hone_vec_push(&c->times_ns, ns)) return no_memory();
    }
    return HONE_OK;
}

static hone_status run_rounds(bench_job *job) {
    int64_t end = now_ns() + job->o->time_ns;
    for (size_t round = 0;; round++) {
        bool is_enough = job->o->rounds ? round >= (size_t)job->o->rounds
                                        : round >= MIN_ROUNDS && now_ns() >= end;
        if (is_enough) return HONE_OK;
        HONE_TRY(run_round(job, round));
    }
}

/* ---- statistics ---- */

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_double);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

typedef struct ratio {
    double median, low, high; /* 95 % */
} ratio;

/* How many times faster c is than the first. */
static hone_status ratio_of(bench_job *job, const contestant *c, ratio *out) {
    const contestant *first = &job->models[0];
    size_t count = c->times_ns.count;
    double *each = hone_arena_alloc(job->cli->arena, count * sizeof *each);
    double *drawn = hone_arena_alloc(job->cli->arena, count * sizeof *drawn);
    double *medians = hone_arena_alloc(job->cli->arena, RESAMPLES * sizeof *medians);
    if (!each || !drawn || !medians) return no_memory();
    for (size_t i = 0; i < count; i++)
        each[i] = first->times_ns.data[i] / c->times_ns.data[i];
    hone_rng rng = hone_rng_from_seed(95);
    for (int r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < count; i++)
            drawn[i] = each[hone_rng_below(&rng, count)];
        medians[r] = median_of(drawn, count);
    }
    out->median = median_of(each, count);
    qsort(medians, RESAMPLES, sizeof *medians, compare_double);
    out->low = medians[RESAMPLES * 25 / 1000];
    out->high = medians[RESAMPLES * 975 / 1000];
    return HONE_OK;
}

static hone_status summarize(bench_job *job, contestant *c) {
    size_t count = c->times_ns.count;
    double *sorted = hone_arena_alloc(job->cli->arena, count * sizeof *sorted);
    if (!sorted) return no_memory();
    memcpy(sorted, c->times_ns.data, count * sizeof *sorted);
    c->median_ns = median_of(sorted, count);
    c->best_ns = sorted[0];
    return HONE_OK;
}

/* ---- output ---- */

static hone_status put_table(bench_job *job) {
    hone_table table;
    hone_table_init(&table, job->cli->arena, "model|>median|>best|>faster|>95 % from|>to");
    for (size_t i = 0; i < job->count; i++) {
        contestant *c = &job->models[i];
        ratio r;
        HONE_TRY(ratio_of(job, c, &r));
        hone_table_add(&table, "%s", c->path);
        hone_table_add(&table, "%s", hone_text_of_ns(job->cli->arena, c->median_ns));
        hone_table_add(&table, "%s", hone_text_of_ns(job->cli->arena, c->best_ns));
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
        contestant *c = &job->models[i];
        ratio r = {0};
        st = ratio_of(job, c, &r);
        hone_json *row = hone_json_make_object();
        ok &= hone_json_set_text(row, "model", c->path);
        ok &= hone_json_set_f64(row, "median_ns", c->median_ns);
        ok &= hone_json_set_f64(row, "best_ns", c->best_ns);
        ok &= hone_json_set_f64(row, "ratio", r.median);
        ok &= hone_json_set_f64(row, "low", r.low);
        ok &= hone_json_set_f64(row, "high", r.high);
        ok &= hone_json_append(rows, row);
    }
    ok &= hone_json_set_i64(json, "rounds", (int64_t)job->models[0].times_ns.count);
    ok &= hone_json_set(json, "models", rows);
    if (st || !ok) {
        hone_json_destroy(json);
        return st ? st : no_memory();
    }
    return hone_cli_put_json(job->cli, json);
}

static hone_status bench(bench_job *job) {
    if (job->o->rounds) HONE_TRY(hone_cli_refuse(job->cli, "time", "a number of rounds"));
    for (int i = 0; i < job->cli->arg_count; i++) {
        contestant *c = &job->models[job->count++];
        HONE_TRY(open_one(job, c, job->cli->args[i]));
    }
    HONE_TRY(try_inputs(job));
    for (size_t i = 0; i < job->count; i++)
        HONE_TRY(warm_up(&job->models[i]));
    HONE_TRY(run_rounds(job));
    for (size_t i = 0; i < job->count; i++)
        HONE_TRY(summarize(job, &job->models[i]));
    return job->cli->json ? put_json(job) : put_table(job);
}

static hone_status run(hone_cli *cli, const bench_options *o) {
    bench_job job = {.cli = cli, .o = o};
    void *library = NULL;
    hone_status st =
        o->extern_path ? hone_cli_open_externs(cli, o->extern_path, &library) : HONE_OK;
    if (!st) st = bench(&job);
    for (size_t i = 0; i < job.count; i++) {
        contestant *c = &job.models[i];
        hone_model_call_destroy(c->call);
        if (c->entry) hone_model_free_outputs(c->entry, c->outputs);
        hone_cli_tensors_deinit(&c->given);
        hone_loaded_model_close(c->model);
        hone_vec_deinit(&c->times_ns);
    }
    if (library) dlclose(library);
    return st;
}

int hone_verb_bench(int argc, char **argv) {
    bench_options o = {.time_ns = 2 * HONE_NS_PER_S};
    const hone_cli_option options[] = {
        {.name = "in",
         .value = "FILE",
         .kind = HONE_CLI_LIST,
         .to = &o.in,
         .help = "inputs in order, for all of them; default: made up"},
        {.name = "shape",
         .value = "N=4",
         .kind = HONE_CLI_LIST,
         .to = &o.shapes,
         .help = "sizes of made-up inputs; default 1"},
        {.name = "func",
         .value = "NAME",
         .kind = HONE_CLI_TEXT,
         .to = &o.func,
         .help = "the function; default: main, or the first"},
        {.name = "extern",
         .value = "LIB.so",
         .kind = HONE_CLI_TEXT,
         .to = &o.extern_path,
         .help = "library with external functions"},
        {.name = "threads",
         .value = "N",
         .kind = HONE_CLI_NUMBER,
         .to = &o.threads,
         .help = "threads for each; default: what it was compiled for",
         .min = 1,
         .max = 1024},
        {.name = "time",
         .value = "T",
         .kind = HONE_CLI_TIME,
         .to = &o.time_ns,
         .min = 1,
         .help = "go on for so long in all; default 2s"},
        {.name = "rounds",
         .value = "N",
         .kind = HONE_CLI_NUMBER,
         .to = &o.rounds,
         .help = "or for so many rounds",
         .min = 1,
         .max = 1000000},
        {0                                       },
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
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, run(&cli, &o));
}
