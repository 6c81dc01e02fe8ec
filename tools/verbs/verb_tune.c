/* tools/verbs/verb_tune.c - `hone tune`: sets the tuner up on this machine and shows how it goes.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "builder/builder.h"
#include "database/db_targets.h"
#include "runner/farm/runner_remote.h"
#include "runner/runner.h"
#include "runtime/device.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/progress.h"
#include "support/os/quiet.h"
#include "support/os/scratch.h"
#include "support/os/thread.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_intrins.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_target.h"
#include "tools/report/report.h"
#include "tools/run/extern_library.h"
#include "tools/tune/tune_inputs.h"
#include "tools/tune/tune_model.h"
#include "tools/tune/tune_options.h"
#include "tools/tune/tune_summary.h"
#include "tools/verbs/verbs.h"
#include "tuner/loop/tune.h"
#include "tuner/search/search.h"

enum { MAX_EXECUTORS = 4 }; /* on a card: each has its arguments in the card's memory */

/* What a run owns. */
typedef struct tune_run {
    hone_cli *cli;
    hone_task_list tasks;
    hone_tune_inputs inputs;
    hone_db *db;
    hone_builder *builder;
    hone_runner *runner;
    const hone_build_intrin *intrins; /* in the arena of cli */
    size_t intrin_count;
    hone_runner *local_runner; /* for references, when trials run elsewhere; or NULL */
    hone_target target, host;
    hone_scratch work_dir;
    hone_str quiet_path, command_line;
    hone_progress_renderer renderer;
    hone_log plain_log; /* to stderr, below the progress line */
    hone_log log;
    tune_model model;
    hone_tune_result result;
} tune_run;

/* ---- Ctrl-C: the first drains, the second stops now ---- */

/* Signal handlers have nowhere else to leave their word. */
static volatile sig_atomic_t interrupts;

static void on_interrupt(int number) {
    (void)number;
    static const char first[] = "\nhone: finishing what is under way; once more stops at once\n";
    if (interrupts < 2) interrupts++;
    if (interrupts == 1) {
        ssize_t ignored = write(STDERR_FILENO, first, sizeof first - 1);
        (void)ignored;
    }
}

static hone_stop should_stop(void *ctx) {
    (void)ctx;
    return interrupts == 0 ? HONE_STOP_NO : interrupts == 1 ? HONE_STOP_DRAIN : HONE_STOP_NOW;
}

static bool is_interrupted(void *ctx) {
    (void)ctx;
    return interrupts > 0;
}

static void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- setting up ---- */

/* Log lines first take the progress line off the screen. */
static void write_log(void *context, hone_log_level level, const char *text) {
    tune_run *run = context;
    hone_progress_renderer_clear(&run->renderer);
    run->plain_log.write(run->plain_log.context, level, text);
}

/* Where candidates cannot be held, none is run. */
static hone_status check_layers(tune_run *run, const tune_options *o, hone_runner *runner) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    HONE_TRY(hone_status_annotate(hone_runner_local_layers(runner, layers),
                                  "candidates cannot be run here; 'hone doctor' says what to do"));
    HONE_LOG(&run->log, o->unsandboxed ? HONE_LOG_WARNING : HONE_LOG_DEBUG,
             "candidates are held by %s%s", layers, o->unsandboxed ? " only" : "");
    return HONE_OK;
}

/* A card waits while drivers compile and results are compared: several do that beside each other.
 */
static int32_t executors_of(const char *device) {
    int32_t most = hone_thread_cpu_count() / 4;
    if (!device || !hone_device_name_is_alone(device) || most < 1) return 1;
    return most < MAX_EXECUTORS ? most : MAX_EXECUTORS;
}

/* device: that candidates run on; NULL: this machine. */
static hone_status open_local_runner(tune_run *run, const tune_options *o, const char *device,
                                     hone_runner **out_runner) {
    if (!run->quiet_path.length) HONE_TRY(hone_quiet_default_path(&run->quiet_path));
    const int32_t executors = executors_of(device);
    hone_runner_local_options runner = {.slots = executors,
                                        .per_card = executors,
                                        .device = device,
                                        .quiet_path = hone_str_text(&run->quiet_path),
                                        .unsandboxed = o->unsandboxed};
    HONE_TRY(hone_runner_create_local(&runner, out_runner));
    return check_layers(run, o, *out_runner);
}

/* The target is the devices': they are asked first. References are made here. */
static hone_status open_remote_runner(tune_run *run, const tune_options *o) {
    const char *device_target = NULL;
    HONE_TRY(hone_farm_choice_connect(&o->farm.choice, &run->log, &run->runner));
    HONE_TRY(hone_farm_choice_wait(&o->farm.choice, run->runner, &run->log, is_interrupted, NULL,
                                   &device_target));
    HONE_TRY(hone_farm_choice_target(&o->farm.choice, device_target, &run->target));
    HONE_TRY(hone_target_detect(&run->host));
    return open_local_runner(run, o, NULL, &run->local_runner);
}

/* References are made by the host. */
static hone_status open_card_runner(tune_run *run, const tune_options *o) {
    HONE_TRY(open_local_runner(run, o, hone_target_kind_name(run->target.kind), &run->runner));
    HONE_TRY(hone_target_detect(&run->host));
    return open_local_runner(run, o, NULL, &run->local_runner);
}

static hone_status open_runner(tune_run *run, const tune_options *o) {
    if (o->is_remote) return open_remote_runner(run, o);
    HONE_TRY(hone_cli_read_target(o->target, o->threads, &run->target));
    if (hone_target_is_gpu(&run->target)) return open_card_runner(run, o);
    return open_local_runner(run, o, NULL, &run->runner);
}

/* A tune that is the first for its target begins with what the database has of those like it. */
static hone_status say_known_target(tune_run *run) {
    hone_db_alikes alikes;
    HONE_TRY(hone_db_targets_alike(run->db, &run->target, run->cli->arena, &alikes));
    if (alikes.is_known || alikes.count == 1) return HONE_OK;
    HONE_LOG(&run->log, HONE_LOG_WARNING,
             "the search begins with what the database has for a target that is like this one: %s",
             alikes.differences[1]);
    return HONE_OK;
}

static hone_status open_services(tune_run *run, const tune_options *o) {
    hone_builder_local_options builder = {.workers = (int32_t)o->builders,
                                          .unsandboxed = o->unsandboxed};
    HONE_TRY(open_runner(run, o));
    hone_cli_warn_of_threads(&run->log, &run->target);
    HONE_TRY(hone_cli_open_db(o->db, HONE_DB_CREATE, &run->db));
    HONE_TRY(say_known_target(run));
    HONE_TRY(hone_scratch_open("hone-tuning", &run->work_dir));
    return hone_builder_create_local(&builder, &run->builder);
}

/* ---- the run ---- */

/* For timing whole models; 0 = as long as that takes. */
static int64_t time_for_model(const tune_options *o) {
    const int64_t most = 10 * HONE_NS_PER_S;
    return o->time_ns / 10 < most ? o->time_ns / 10 : most;
}

/* The model is asked where it can be run: on this machine's CPU, with kernels of the rules' spaces.
 */
static hone_status begin_model(tune_run *run, const tune_options *o) {
    const tune_model_options options = {.shapes = &o->shapes,
                                        .target = &run->target,
                                        .db = run->db,
                                        .builder = run->builder,
                                        .dir = run->work_dir.path,
                                        .extern_path = o->extern_path,
                                        .log = &run->log,
                                        .intrin_count = run->intrin_count,
                                        .intrins = run->intrins,
                                        .variant_rules = o->variant_rules,
                                        .time_ns = time_for_model(o)};
    bool is_here = !run->local_runner && !o->is_remote;
    if (!is_here || o->kernels_only || o->space || o->task) return HONE_OK;
    return tune_model_begin(&run->model, run->cli, &options);
}

/* What is left of --time, when the model is compiled twice more and timed. */
static int64_t time_for_kernels(const tune_run *run, const tune_options *o) {
    if (!run->model.is_on || !o->time_ns) return o->time_ns;
    int64_t rest = o->time_ns - 3 * run->model.compile_ns - run->model.options.time_ns;
    return rest > o->time_ns / 2 ? rest : o->time_ns / 2;
}

static hone_status tune(tune_run *run, const tune_options *o) {
    hone_progress progress = hone_progress_renderer_sink(&run->renderer);
    const char *key = o->is_remote ? hone_runner_remote_device_key(run->runner) : NULL;
    tune_options_print(o, run->cli->args[0], key, &run->command_line);
    HONE_TRY(hone_str_check(&run->command_line));
    hone_tune_options options = {.db = run->db,
                                 .target = run->target,
                                 .builder = run->builder,
                                 .runner = run->runner,
                                 .look_ahead = (int32_t)o->look_ahead,
                                 .reference_runner = run->local_runner,
                                 .reference_target = run->local_runner ? &run->host : NULL,
                                 .strategy = o->strategy,
                                 .cost_model = o->cost_model,
                                 .evaluations = (int32_t)o->evaluations,
                                 .seed = (uint64_t)o->seed,
                                 .trials = o->trials,
                                 .time_limit_ns = time_for_kernels(run, o),
                                 .until_converged = o->until_converged,
                                 .only_task = o->task,
                                 .space_path = o->space,
                                 .propose = o->propose,
                                 .variant_rules = o->variant_rules,
                                 .extern_path = o->extern_path,
                                 .given = run->inputs.given,
                                 .given_count = run->inputs.count,
                                 .intrin_count = run->intrin_count,
                                 .intrins = run->intrins,
                                 .cache = o->cache_state,
                                 .work_dir = run->work_dir.path,
                                 .model_name = hone_path_basename(run->cli->args[0]),
                                 .command_line = hone_str_text(&run->command_line),
                                 .hone_version = HONE_VERSION,
                                 .is_here = !run->local_runner && !o->is_remote,
                                 .progress = run->cli->quiet ? NULL : &progress,
                                 .quiet_path = hone_str_text(&run->quiet_path),
                                 .log = &run->log,
                                 .should_stop = should_stop};
    return hone_tune(&run->tasks, &options, &run->result);
}

/* The page beside the database; not being able to write it is not worth failing for. */
static void write_report(tune_run *run, const tune_options *o) {
    hone_str path = {0};
    const char *extension = hone_path_extension(o->db);
    hone_str_append_n(&path, o->db, strlen(o->db) - strlen(extension));
    hone_str_append(&path, ".html");
    const char *to = o->report ? o->report : hone_str_text(&path);
    hone_status st = hone_fs_is_same(o->db, to)
                         ? HONE_ERROR(HONE_CODE_INVALID, "'%s' is the database", to)
                         : hone_report_write(run->db, o->db, to);
    if (!st && !run->cli->json && !run->cli->quiet) {
        hone_str_printf(&run->cli->out, "report: %s\n", to);
    }
    if (st) {
        hone_log_line(&run->cli->log, HONE_LOG_WARNING, "no report: %s", hone_status_message(st));
    }
    hone_status_free(st);
    hone_str_deinit(&path);
}

/* What the text of a space registers, read for the first task that it is for: a space that is for
 * none of them is refused with the reason. */
static hone_status read_registered(tune_run *run, const tune_options *o) {
    hone_status st = HONE_OK;
    for (uint32_t i = 0; o->space && i < run->tasks.count; i++) {
        const hone_task *task = &run->tasks.items[i];
        if (o->task && strcmp(o->task, task->name) != 0) continue;
        hone_status_free(st);
        st = hone_cli_add_registered(run->cli, &o->intrins, o->space, task->func, &run->intrins,
                                     &run->intrin_count);
        if (!st) return HONE_OK;
        st = hone_status_annotate(st, "%s: task '%s'", run->cli->args[0], task->name);
    }
    return st;
}

/* By the target where it is known before the devices of a farm are asked. */
static hone_status load_tasks(tune_run *run, const tune_options *o) {
    hone_target target;
    bool is_known = !o->is_remote || o->target;
    if (is_known) HONE_TRY(hone_cli_read_target(o->target, o->threads, &target));
    return hone_cli_load_tasks(run->cli->args[0], &o->shapes, is_known ? &target : NULL,
                               &run->tasks);
}

/* No kernel has a record: through no fault of theirs, or as warnings have said. */
static void say_why_none(tune_run *run) {
    hone_cli *cli = run->cli;
    const char *put_off = run->result.put_off;
    cli->exit_code = put_off ? HONE_EXIT_WORLD : HONE_EXIT_NO;
    if (put_off) {
        hone_log_line(&cli->log, HONE_LOG_ERROR, "no candidate of %s could be judged: %s",
                      cli->args[0], put_off);
    } else if (cli->quiet) {
        hone_log_line(&cli->log, HONE_LOG_ERROR,
                      "%s: no kernel has a record; without --quiet the warnings say why",
                      cli->args[0]);
    }
}

/* Kernels that are not tuned: where none are left, the reason stands in the error. */
static void say_skipped(tune_run *run) {
    uint32_t skipped = run->tasks.skipped;
    hone_log *log = &run->cli->log;
    if (run->tasks.count == 0 && !skipped) {
        hone_log_line(log, HONE_LOG_ERROR, "%s has no tuning tasks", run->cli->args[0]);
    } else if (run->tasks.count == 0) {
        hone_log_line(log, HONE_LOG_ERROR,
                      "%s has no tuning tasks: %" PRIu32 " kernel%s symbolic sizes; give them "
                      "with --shape NAME=SIZE",
                      run->cli->args[0], skipped, skipped == 1 ? " has" : "s have");
    } else if (skipped) {
        hone_log_line(log, HONE_LOG_WARNING,
                      "%" PRIu32 " kernel%s symbolic sizes and %s not tuned; give them with "
                      "--shape NAME=SIZE",
                      skipped, skipped == 1 ? " has" : "s have", skipped == 1 ? "is" : "are");
    }
}

static hone_status tune_on(tune_run *run, tune_options *o) {
    HONE_TRY(tune_options_check(run->cli, o));
    HONE_TRY(hone_cli_read_intrins(run->cli, &o->intrins, &run->intrins));
    run->intrin_count = o->intrins.count;
    HONE_TRY(load_tasks(run, o));
    hone_cli_warn_of_left_out(&run->cli->log, run->cli->args[0], run->tasks.left_out);
    say_skipped(run);
    if (run->tasks.count == 0) {
        run->cli->exit_code = HONE_EXIT_NO;
        return HONE_OK;
    }
    tune_options_choose_cache(o, &run->tasks);
    if (o->task) HONE_TRY(hone_task_list_check_name(&run->tasks, o->task));
    HONE_TRY(hone_cli_check_externs(run->cli, o->extern_path, &run->tasks, o->task,
                                    run->intrin_count > 0));
    HONE_TRY(read_registered(run, o));
    HONE_TRY(hone_tune_inputs_load(run->cli, &o->inputs, &run->tasks, o->task, &run->inputs));
    catch_interrupts();
    HONE_TRY(open_services(run, o));
    HONE_TRY(begin_model(run, o));
    HONE_TRY(tune(run, o));
    HONE_TRY(tune_model_decide(&run->model, &run->result));
    HONE_TRY(run->cli->json
                 ? hone_tune_summary_json(run->cli, &run->result, &run->model)
                 : hone_tune_summary_print(run->cli, &run->tasks, &run->result, &run->model));
    if (!o->no_report) write_report(run, o);
    if (run->result.lost_devices) {
        run->cli->exit_code = HONE_EXIT_WORLD;
        hone_log_line(&run->cli->log, HONE_LOG_ERROR,
                      "%s; everything measured is in %s, the same command goes on",
                      run->result.lost_devices, o->db);
    } else if (run->result.was_stopped) {
        run->cli->exit_code = HONE_EXIT_STOPPED;
        if (!run->cli->quiet) {
            hone_log_line(&run->cli->log, HONE_LOG_WARNING,
                          "stopped; everything measured is in %s, the same command goes on", o->db);
        }
    } else if (!hone_tune_summary_has_best(&run->result)) {
        say_why_none(run);
    }
    return HONE_OK;
}

static hone_status clean_up(tune_run *run) {
    tune_model_end(&run->model);
    hone_tune_result_deinit(&run->result);
    hone_runner_destroy(run->runner);
    hone_runner_destroy(run->local_runner);
    hone_builder_release(run->builder);
    hone_db_close(run->db);
    hone_tune_inputs_deinit(&run->inputs);
    hone_task_list_deinit(&run->tasks);
    hone_progress_renderer_deinit(&run->renderer);
    hone_str_deinit(&run->quiet_path);
    hone_str_deinit(&run->command_line);
    return hone_scratch_close(&run->work_dir);
}

static hone_status tune_verb(hone_cli *cli, tune_options *o) {
    tune_run run = {.cli = cli, .plain_log = cli->log};
    run.log = (hone_log){cli->log.level, write_log, &run};
    hone_progress_renderer_init(&run.renderer, stderr, hone_clock_system());
    hone_status st = tune_on(&run, o);
    return hone_status_join(st, clean_up(&run));
}

int hone_verb_tune(int argc, char **argv) {
    tune_options o = {.strategy = "evolutionary",
                      .cost_model = "xgboost",
                      .evaluations = HONE_EVALUATIONS,
                      .farm = {.no_device = "wait"},
                      .builders = hone_thread_cpu_count()};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("db", 0, "FILE", TEXT, &o.db,
                        "where records are kept; made when it is not there"),
        HONE_CLI_OPTION("target", 0, "TARGET", TEXT, &o.target, "what to tune for; default: host"),
        HONE_CLI_OPTION("trials", 0, "N", NUMBER, &o.trials,
                        "candidates to measure, over all tasks; default 1000",
                        .was_given = &o.has_trials, .min = 1, .max = INT64_C(1000000000)),
        HONE_CLI_OPTION("time", 0, "10m", TIME, &o.time_ns, "stop after this time",
                        .was_given = &o.has_time, .min = 1),
        HONE_CLI_OPTION("until-converged", 0, NULL, SWITCH, &o.until_converged,
                        "stop when nothing has got better for a while"),
        HONE_CLI_OPTION("task", 0, "NAME", TEXT, &o.task, "this task alone"),
        HONE_CLI_OPTION("space", 0, "FILE", TEXT, &o.space,
                        "a trace with sampling steps as the design space"),
        HONE_CLI_OPTION("propose", 0, "CMD", TEXT, &o.propose,
                        "a command that proposes candidates, by lines of JSON (docs/tuning.md)"),
        HONE_CLI_VARIANT_OPTIONS(o.variants),
        HONE_CLI_OPTION("strategy", 0, "NAME", TEXT, &o.strategy,
                        "evolutionary (default), random or replay"),
        HONE_CLI_OPTION("cost-model", 0, "NAME", TEXT, &o.cost_model,
                        "xgboost (default), random or null"),
        HONE_CLI_OPTION(
            "evaluations", 0, "N", NUMBER, &o.evaluations,
            "candidates that the search compares for each batch of trials; default 1024",
            .min = HONE_LEAST_EVALUATIONS, .max = 1000000),
        HONE_CLI_OPTION("seed", 0, "N", NUMBER, &o.seed, "of all random choices; default 0",
                        .min = 0, .max = INT64_MAX),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads,
                        "that kernels run on; default: all cores", .min = 1, .max = 1024),
        HONE_CLI_OPTION("look-ahead", 0, "N", NUMBER, &o.look_ahead,
                        "candidates under way at a time; decides with the seed what is proposed",
                        .min = 8, .max = 4096),
        HONE_FARM_ACCESS_OPTIONS(o.farm.choice.access),
        HONE_CLI_OPTION("device-key", 0, "NAME", TEXT, &o.farm.choice.device_key,
                        "devices of the farm to use; default: the only kind there is"),
        HONE_CLI_OPTION("no-device", 0, "WHAT", TEXT, &o.farm.no_device,
                        "when no device is left: wait (default) or stop"),
        HONE_CLI_OPTION("builders", 0, "N", NUMBER, &o.builders,
                        "build processes; default: as many as cores", .min = 1, .max = 256),
        HONE_CLI_OPTION("shape", 0, "N=1,64", LIST, &o.shapes,
                        "numbers for a symbolic size; may be repeated"),
        HONE_CLI_OPTION("in", 0, "NAME=FILE", LIST, &o.inputs,
                        "an input of a task, NAME or TASK:NAME; default: made up"),
        HONE_CLI_OPTION(
            "cache", 0, "STATE", TEXT, &o.cache,
            "of the arguments when timed: hot, cold, or as in the model (default where there "
            "is one with weights)"),
        HONE_CLI_OPTION("kernels-only", 0, NULL, SWITCH, &o.kernels_only,
                        "judge each kernel by itself; default: the whole model decides at the end"),
        HONE_CLI_OPTION("extern", 0, "LIB.so", TEXT, &o.extern_path,
                        "library with external functions"),
        HONE_CLI_INTRIN_OPTION(
            &o.intrins, "a tensor intrinsic: a rule finds its places, and a space may use it"),
        HONE_CLI_OPTION("report", 0, "FILE", OUTPUT, &o.report,
                        "write the report there; default: beside the database"),
        HONE_CLI_OPTION("no-report", 0, NULL, SWITCH, &o.no_report, "write no report"),
        HONE_CLI_UNSANDBOXED_OPTION(&o.unsandboxed, "candidates and compilers"),
        {0},
    };
    const hone_cli_command command = {
        .name = "tune",
        .usage = "MODEL --db FILE [--trials N | --time 10m | --until-converged] [options]",
        .summary = "Searches fast schedules for the tensor programs of a model or program, by "
                   "measuring candidates on this machine, or on the devices of a farm (--tracker). "
                   "What the database knows already is used, "
                   "and every trial is kept: stop with Ctrl-C (twice: at once), go on with the "
                   "same command. "
                   "What repeats: seed, look-ahead, evaluations and the results of trials decide "
                   "what is proposed; times of a real machine differ from run to run, so only "
                   "--strategy random proposes the same again there.",
        .example = "hone tune tests/programs/matmul_relu.py --db /tmp/tuned.db --trials 32",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, tune_verb(&cli, &o));
}
