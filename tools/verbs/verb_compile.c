/* tools/verbs/verb_compile.c - `hone compile`: a model and its best records to one library. */
#include <string.h>

#include "compile/compile.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/progress.h"
#include "support/os/scratch.h"
#include "support/text/nearest.h"
#include "tensorfile/tensorfile.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_intrins.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_shapes.h"
#include "tools/cli/cli_target.h"
#include "tools/cli/cli_tensors.h"
#include "tools/cli/cli_variants.h"
#include "tools/farm/farm_options.h"
#include "tools/verbs/kernel_table.h"
#include "tools/verbs/verbs.h"

typedef struct compile_options {
    const char *output, *db, *target, *params, *emit, *weights, *func;
    hone_cli_list shapes, intrins;
    int64_t threads;
    bool no_schedule, reschedule, exact, lines, unsandboxed;
    cli_variants variants;
    farm_options farm;
} compile_options;

/* What the verb opens. */
typedef struct compile_job {
    hone_cli *cli;
    const compile_options *o;
    hone_module *module;
    hone_db *db;
    hone_tensor_set params;
    hone_dim_variants variants;
    hone_compile_options options;
    hone_compile_result result;
    hone_scratch scratch; /* where what goes to standard output is made, or none */
} compile_job;

static hone_status read_weights_choice(const char *text, hone_compile_weights *out) {
    static const char *const names[] = {"auto", "embed", "beside"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text) != 0) continue;
        *out = (hone_compile_weights)i;
        return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_INVALID, "--weights is '%s', must be auto, embed or beside", text);
}

/* What the ending of --output stands for; NULL: nothing. */
static const char *emit_of_ending(const char *path) {
    const char *text = hone_path_extension(path);
    for (int i = 0; i < HONE_COMPILE_EMIT_COUNT; i++) {
        if (strcmp(hone_compile_emits[i].ending, text) == 0) return hone_compile_emits[i].name;
    }
    return strcmp(text, ".h") == 0 ? "so" : NULL;
}

/* "out/model.so" and "out/model" mean the same. */
static const char *without_ending(hone_cli *cli, const char *path) {
    if (!emit_of_ending(path)) return path;
    return hone_arena_printf(cli->arena, "%.*s", (int)(hone_path_extension(path) - path), path);
}

/* Without --emit, the ending of --output tells: "-o kernel.s" wants assembly. */
static const char *what_to_emit(const compile_options *o) {
    const char *known = o->output ? emit_of_ending(o->output) : NULL;
    return o->emit ? o->emit : known ? known : "so";
}

/* "c, llvm, asm or program": what kernels are written as; is_library: "so, a or obj". */
static void list_emits(bool is_library, hone_str *out) {
    const char *names[HONE_COMPILE_EMIT_COUNT];
    size_t count = 0;
    for (int i = 0; i < HONE_COMPILE_EMIT_COUNT; i++) {
        bool makes_library = hone_compile_emits[i].facts & HONE_EMITS_LIBRARY;
        if (makes_library == is_library) names[count++] = hone_compile_emits[i].name;
    }
    hone_name_list(names, count, sizeof *names, out);
}

/* The help of --emit. */
static void describe_emits(hone_str *out) {
    list_emits(true, out);
    hone_str_append(out, "; ");
    list_emits(false, out);
    hone_str_append(out, ": the kernels alone; default: as PATH ends, else so");
}

static hone_status unknown_emit(const char *emit) {
    hone_str names = {0};
    hone_name_list(hone_compile_emits, HONE_COMPILE_EMIT_COUNT, sizeof *hone_compile_emits, &names);
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "--emit is '%s', must be %s", emit, hone_str_text(&names));
    hone_str_deinit(&names);
    return st;
}

static bool is_to_stdout(const compile_options *o) {
    return o->output && strcmp(o->output, "-") == 0;
}

static const char *default_output(hone_cli *cli) {
    if (strcmp(cli->args[0], "-") == 0) return "model";
    const char *base = hone_path_basename(cli->args[0]), *ending = hone_path_extension(base);
    return hone_arena_printf(cli->arena, "%.*s", (int)(ending - base), base);
}

/* "dir/model" is a name, "dir/" is none. */
static hone_status check_name(const char *path) {
    const char *name = hone_path_basename(path);
    if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "option '--output' wants the name of a library, as "
                      "out/model, '%s' is a directory",
                      path);
}

/* Told before kernels are built. "-o out/model" makes out/. */
static hone_status check_place(const compile_job *job) {
    const hone_compile_options *options = &job->options;
    char *dir = hone_path_dirname(options->output);
    if (!dir) return HONE_ERROR(HONE_CODE_NO_MEMORY, "compile");
    hone_status st =
        hone_fs_check_names(options->output, strlen(hone_compile_emits[options->emit].ending));
    if (!st) st = hone_fs_check_new_dir(dir);
    hone_free(dir);
    return hone_status_annotate(st, "option '--output'");
}

/* `hone compile kernel.py --emit program` would write over the program that it reads. */
static hone_status check_output(compile_job *job) {
    const char *input = job->cli->args[0];
    const char *path = hone_arena_printf(job->cli->arena, "%s.py", job->options.output);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "compile");
    if (job->options.emit != HONE_COMPILE_PROGRAM || !hone_fs_is_same(path, input)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s would be written over; give another name with -o",
                      input);
}

/* "-o -": text goes to standard output, by way of a file. */
static hone_status open_stdout(compile_job *job) {
    if (hone_compile_emits[job->options.emit].facts & HONE_EMITS_LIBRARY) {
        hone_str names = {0};
        list_emits(false, &names);
        hone_status st = HONE_ERROR(
            HONE_CODE_INVALID,
            "a library is a file, give its path with -o; kernels go to standard output: --emit %s",
            hone_str_text(&names));
        hone_str_deinit(&names);
        return st;
    }
    HONE_TRY(hone_scratch_open("hone-compile", &job->scratch));
    job->options.output = hone_arena_printf(job->cli->arena, "%s/model", job->scratch.path);
    return job->options.output ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "compile");
}

static hone_status put_stdout(compile_job *job) {
    char *text = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(job->result.files[0], SIZE_MAX, &text, &count));
    hone_str_append_n(&job->cli->out, text, count);
    hone_free(text);
    return HONE_OK;
}

static hone_status open_db(compile_job *job) {
    if (!job->o->db || job->o->no_schedule) return HONE_OK;
    hone_db_options options = {.path = job->o->db, .mode = HONE_DB_READ};
    HONE_TRY(hone_db_open_sqlite(&options, &job->db));
    job->options.db = job->db;
    return HONE_OK;
}

/* What is compiled for: the device of a farm, a target of the database, or what the text says. */
static hone_status read_target(compile_job *job) {
    const compile_options *o = job->o;
    hone_target *target = &job->options.target;
    farm_options farm = o->farm;
    farm.choice.target = o->target;
    farm.choice.threads = o->threads;
    bool is_found = false;
    bool is_asked = farm.choice.device_key || farm.choice.access.tracker;
    if (is_asked) (void)farm_options_name_a_tracker(&farm); /* reads the environment, too */
    HONE_TRY(farm_options_check(job->cli, &farm));
    if (is_asked) {
        HONE_TRY(hone_farm_choice_ask(&farm.choice, &job->cli->log, target));
    } else {
        if (job->db && o->target) {
            HONE_TRY(hone_cli_find_target(job->db, o->target, o->threads, target, &is_found));
        }
        if (!is_found) HONE_TRY(hone_cli_read_target(o->target, o->threads, target));
    }
    hone_cli_warn_of_threads(&job->cli->log, target);
    return HONE_OK;
}

/* Options that would do nothing are mistakes. */
static hone_status refuse_idle_options(const compile_job *job) {
    const compile_options *o = job->o;
    const hone_cli *cli = job->cli;
    uint32_t facts = hone_compile_emits[job->options.emit].facts;
    if (o->no_schedule)
        HONE_TRY(hone_cli_refuse(cli, "db reschedule variants max-error variant",
                                 "kernels without a schedule"));
    if (!o->db) HONE_TRY(hone_cli_refuse(cli, "variant", "kernels without records"));
    if (o->shapes.count == 0) HONE_TRY(hone_cli_refuse(cli, "exact", "sizes without --shape"));
    if (!(facts & HONE_EMITS_LIBRARY))
        HONE_TRY(hone_cli_refuse(cli, "weights", "kernels alone, which have none"));
    if (is_to_stdout(o)) HONE_TRY(hone_cli_refuse(cli, "json", "text on standard output"));
    return HONE_OK;
}

static hone_status read_options(compile_job *job) {
    const compile_options *o = job->o;
    hone_compile_options *options = &job->options;
    const char *emit = what_to_emit(o);
    if (!hone_compile_emit_parse(emit, &options->emit)) return unknown_emit(emit);
    HONE_TRY(read_weights_choice(o->weights, &options->weights));
    options->output = without_ending(job->cli, o->output ? o->output : default_output(job->cli));
    if (!options->output) return HONE_ERROR(HONE_CODE_NO_MEMORY, "compile");
    HONE_TRY(check_name(options->output));
    options->func = o->func;
    options->no_schedule = o->no_schedule;
    options->reschedule = o->reschedule;
    options->exact = o->exact;
    options->lines = o->lines;
    options->unsandboxed = o->unsandboxed;
    HONE_TRY(hone_cli_read_variants(job->cli, &o->variants, &options->variant_rules));
    HONE_TRY(refuse_idle_options(job));
    HONE_TRY(open_db(job));
    HONE_TRY(read_target(job));
    HONE_TRY(is_to_stdout(o) ? open_stdout(job) : check_output(job));
    if (o->output && !is_to_stdout(o)) HONE_TRY(check_place(job));
    HONE_TRY(hone_dim_variants_parse(o->shapes.items, o->shapes.count, &job->variants));
    options->variants = &job->variants;
    HONE_TRY(hone_cli_load_params(job->cli, o->params, &job->params, &options->weight_values));
    options->weight_count = job->params.count;
    HONE_TRY(hone_cli_read_intrins(job->cli, &job->o->intrins, &job->options.intrins));
    job->options.intrin_count = job->o->intrins.count;
    if (!job->db || o->shapes.count > 0) return HONE_OK;
    return hone_cli_recorded_shapes(job->cli, job->db, &job->variants, &options->only_recorded);
}

static void put_result(hone_cli *cli, const hone_compile_result *result) {
    hone_cli_put_kernels(cli, result);
    if (result->plan_count > 1) {
        hone_str_printf(&cli->out, "%u plans: for special sizes and functions\n",
                        result->plan_count);
    }
    for (uint32_t i = 0; i < result->file_count; i++)
        hone_str_printf(&cli->out, "wrote %s\n", result->files[i]);
}

static hone_status compile(compile_job *job) {
    hone_cli *cli = job->cli;
    HONE_TRY(read_options(job));
    const hone_graph_options given = {.weights = job->options.weight_values,
                                      .weight_count = job->options.weight_count,
                                      .dims = job->variants.items[0].dims,
                                      .dim_count = job->variants.items[0].dim_count,
                                      .keeps_inputs = true,
                                      .keeps_sizes = true};
    HONE_TRY(hone_cli_load_module(cli->args[0], &given, &job->module));
    hone_cli_warn_of_file(&cli->log, cli->args[0], job->module);
    hone_module_freeze(job->module);
    HONE_TRY(hone_dim_variants_drop_bound(&job->variants, job->module));
    hone_status st = hone_compile_module(job->module, &job->options, &job->result);
    if (st) {
        hone_code code = hone_status_code(st);
        bool is_models =
            code == HONE_CODE_INVALID || code == HONE_CODE_UNSUPPORTED || code == HONE_CODE_TYPE;
        return is_models ? hone_cli_place(cli->args[0], 0, 0, st) : st;
    }
    hone_cli_warn_of_left_out(&cli->log, cli->args[0], job->result.left_out);
    if (job->scratch.path) return put_stdout(job);
    if (cli->json) {
        hone_compile_result_print_json(&job->result, &cli->out);
    } else if (!cli->quiet) {
        put_result(cli, &job->result);
    }
    return HONE_OK;
}

static hone_status run(hone_cli *cli, const compile_options *o) {
    compile_job job = {.cli = cli, .o = o};
    hone_status st = compile(&job);
    st = hone_status_join(st, hone_scratch_close(&job.scratch));
    if (job.result.arena) hone_compile_result_deinit(&job.result);
    hone_module_release(job.module);
    hone_db_close(job.db);
    hone_tensor_set_deinit(&job.params);
    hone_dim_variants_deinit(&job.variants);
    return st;
}

int hone_verb_compile(int argc, char **argv) {
    compile_options o = {.weights = "auto", .farm = {.no_device = "stop"}};
    hone_str emits = {0};
    describe_emits(&emits);
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("output", 'o', "PATH", TEXT, &o.output,
                        "PATH.so and PATH.h are written; default: the model's name, here"),
        HONE_CLI_OPTION("db", 0, "FILE", TEXT, &o.db,
                        "database of records; without it kernels get default schedules"),
        HONE_CLI_VARIANT_OPTIONS(o.variants),
        HONE_CLI_OPTION(
            "target", 0, "T", TEXT, &o.target,
            "what to compile for, or the first digits of a target's hash in the database; "
            "default: this "
            "machine"),
        HONE_CLI_OPTION(
            "threads", 0, "N", NUMBER, &o.threads,
            "threads that the model runs on at most; records are of a number of threads; "
            "default: all cores",
            .min = 1, .max = 1024),
        HONE_CLI_PARAMS_OPTION(&o.params),
        HONE_FARM_ACCESS_OPTIONS(o.farm.choice.access),
        HONE_CLI_OPTION("device-key", 0, "NAME", TEXT, &o.farm.choice.device_key,
                        "for such a device of the farm, whose target is asked for"),
        HONE_CLI_OPTION(
            "shape", 0, "N=1,64", LIST, &o.shapes,
            "sizes to make special kernels for, beside general ones; may be repeated; default: "
            "those that the database was tuned for"),
        HONE_CLI_OPTION("exact", 0, NULL, SWITCH, &o.exact,
                        "no general kernels beside those of --shape"),
        HONE_CLI_OPTION("no-schedule", 0, NULL, SWITCH, &o.no_schedule,
                        "plain kernels, as the programs are written"),
        HONE_CLI_OPTION("reschedule", 0, NULL, SWITCH, &o.reschedule,
                        "default schedules also where the program carries one"),
        HONE_CLI_OPTION("emit", 0, "WHAT", TEXT, &o.emit, hone_str_text(&emits)),
        HONE_CLI_OPTION("weights", 0, "WHERE", TEXT, &o.weights,
                        "embed, beside (PATH.weights), or auto: beside when they take over 64 MiB"),
        HONE_CLI_OPTION(
            "lines", 'g', NULL, SWITCH, &o.lines,
            "line tables for perf, gdb and objdump -S, over the lowered programs in PATH.lines"),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.func,
                        "the one function to compile; default: main, else all"),
        HONE_CLI_INTRIN_OPTION(&o.intrins, "a tensor intrinsic that records use"),
        HONE_CLI_UNSANDBOXED_OPTION(&o.unsandboxed, "compilers"),
        {0},
    };
    const hone_cli_command command = {
        .name = "compile",
        .usage = "MODEL.onnx|PROGRAM.py [--db FILE] [-o PATH]",
        .summary = "Makes one library of a model: for each kernel the best record of the database, "
                   "or a default schedule. Never measures. Prints which kernel came from where.",
        .example = "hone compile examples/fashion_mnist/mlp.onnx -o /tmp/mlp",
        .notes = "The library needs libc, libm and nothing of Hone; PATH.h says how to call it.",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    hone_cli cli;
    int code;
    if (hone_cli_begin(&cli, &command, argc, argv, &code)) code = hone_cli_end(&cli, run(&cli, &o));
    hone_str_deinit(&emits);
    return code;
}
