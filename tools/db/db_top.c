/* tools/db/db_top.c - `hone db top`: the best records of each task. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "database/db_targets.h"
#include "support/os/clock.h"
#include "support/text/nearest.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_record.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_target.h"
#include "tools/db/db_verbs.h"

typedef struct top_options {
    const char *task, *target;
    int64_t threads, k;
} top_options;

/* By name, or by the first digits of the workload's hash. */
static bool is_wanted(const top_options *options, const hone_db_task *task) {
    char hash[HONE_HASH_HEX_BYTES];
    if (options->threads && task->threads != options->threads) return false;
    if (!options->task || strcmp(options->task, task->name) == 0) return true;
    size_t length = strlen(options->task);
    hone_hash128_print(task->workload, hash);
    return length >= 4 && strncmp(hash, options->task, length) == 0;
}

/* A task that is not there is a mistake, whatever else is asked for. */
static hone_status check_task(hone_cli *cli, const top_options *options,
                              const hone_db_rows *tasks) {
    const top_options any = {.task = options->task};
    const char **names = hone_arena_alloc(cli->arena, (tasks->count + 1) * sizeof *names);
    if (!names) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tasks");
    for (size_t i = 0; i < tasks->count; i++) {
        if (is_wanted(&any, &tasks->tasks[i])) return HONE_OK;
        names[i] = tasks->tasks[i].name;
    }
    const char *meant = hone_name_suggest(options->task, names, tasks->count, sizeof *names);
    if (meant) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: no task is named '%s'; did you mean '%s'?",
                          cli->args[0], options->task, meant);
    }
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: no task is named '%s'; 'hone db tasks' lists them",
                      cli->args[0], options->task);
}

/* Why a table is empty, in the order in which rows are left out. */
static void say_none(hone_cli *cli, const top_options *options, size_t found) {
    const char *why = found ? "every trial failed; 'hone db failures' tells why"
                      : options->target
                          ? "none serves the target; 'hone db targets' lists those tuned for"
                      : options->threads ? "none is for so many threads; 'hone db tasks' lists them"
                                         : "no trial was made";
    cli->exit_code = HONE_EXIT_NO;
    hone_log_line(&cli->log, HONE_LOG_WARNING, "%s has no such record: %s", cli->args[0], why);
}

static bool is_confirmed(const hone_db_trial *trial) {
    return !isnan(trial->confirmed_ns);
}

static void put_trial(hone_cli *cli, hone_table *table, const hone_db_task *task,
                      const hone_db_trial *trial) {
    hone_table_add(table, "%s", task->name);
    hone_table_add(table, "%d", task->threads);
    hone_table_add(table, "%" PRId64, trial->record);
    hone_table_add(table, "%s", hone_text_of_ns(cli->arena, trial->median_ns));
    hone_table_add(table, "%s", hone_text_of_gflops(cli->arena, task->flops, trial->median_ns));
    hone_table_add(table, isnan(trial->spread) ? "-" : "%.1f%%", 100 * trial->spread);
    hone_table_add(table, "%s",
                   is_confirmed(trial) ? hone_text_of_ns(cli->arena, trial->confirmed_ns) : "no");
    hone_table_add(table, "%s", hone_text_of_age(cli->arena, trial->wall_ns, hone_wall_time_ns()));
    const char *variant = hone_cli_variant_of(cli->arena, trial->trace);
    hone_table_add(table, "%d%s%s", trial->sketch, variant ? " " : "", variant ? variant : "");
    hone_table_add(table, "%s", hone_cli_short_target(cli->arena, task->target_text));
}

static hone_json *trial_json(hone_arena *arena, const hone_db_task *task,
                             const hone_db_trial *trial) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_i64(json, "record", trial->record);
    ok &= hone_json_set_text(json, "uid", hone_hash128_print(trial->uid, hash));
    ok &= hone_json_set_text(json, "task", task->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(task->workload, hash));
    ok &= hone_json_set_text(json, "target", task->target_text);
    ok &= hone_json_set_i64(json, "threads", task->threads);
    ok &= hone_json_set_f64(json, "median_ns", trial->median_ns);
    ok &= hone_json_set_f64(json, "gflops", task->flops / trial->median_ns);
    ok &= hone_json_set_f64(json, "spread_fraction", trial->spread);
    ok &= hone_json_set_bool(json, "confirmed", is_confirmed(trial));
    ok &= hone_json_set_f64(json, "confirmed_ns", trial->confirmed_ns);
    ok &= hone_json_set_i64(json, "wall_ns", trial->wall_ns);
    ok &= hone_json_set_i64(json, "sketch", trial->sketch);
    ok &= hone_json_set_text(json, "variant", hone_cli_variant_of(arena, trial->trace));
    ok &= hone_json_set_text(json, "session", trial->session);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

/* The task that a record is of: all that is known of its target. NULL: it began after the tasks
 * were listed. */
static const hone_db_task *task_of(const hone_db_rows *tasks, const hone_db_trial *trial) {
    for (size_t i = 0; i < tasks->count; i++) {
        if (hone_hash128_equal(tasks->tasks[i].workload, trial->workload) &&
            hone_hash128_equal(tasks->tasks[i].target, trial->target)) {
            return &tasks->tasks[i];
        }
    }
    return NULL;
}

static hone_status top_of(hone_cli *cli, hone_db *db, const hone_db_filter *filter,
                          const hone_db_rows *tasks, hone_table *table, hone_json *json,
                          size_t *io_records) {
    hone_db_rows rows = {.arena = cli->arena};
    HONE_TRY(hone_cli_list_trials(db, filter, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        const hone_db_task *task = task_of(tasks, &rows.trials[i]);
        if (!task) continue;
        ++*io_records;
        put_trial(cli, table, task, &rows.trials[i]);
        if (!json || hone_json_append(json, trial_json(cli->arena, task, &rows.trials[i])))
            continue;
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "records");
    }
    return HONE_OK;
}

/* Whether an earlier row has led to the records of all targets that serve. */
static bool is_covered(const hone_db_rows *tasks, size_t at, const hone_db_alikes *alikes) {
    for (size_t i = 0; i < at; i++) {
        if (hone_hash128_equal(tasks->tasks[i].workload, tasks->tasks[at].workload) &&
            hone_db_alikes_find(alikes, tasks->tasks[i].target) < alikes->count) {
            return true;
        }
    }
    return false;
}

/* alikes NULL: of each target for itself. */
static hone_status top_of_all(hone_cli *cli, const top_options *options, hone_db *db,
                              const hone_db_alikes *alikes, hone_table *table, hone_json *json) {
    hone_db_rows tasks = {.arena = cli->arena};
    size_t found = 0, records = 0;
    HONE_TRY(hone_cli_list_tasks(db, &tasks));
    if (options->task) HONE_TRY(check_task(cli, options, &tasks));
    for (size_t i = 0; i < tasks.count; i++) {
        const hone_db_task *task = &tasks.tasks[i];
        bool serves = !alikes || hone_db_alikes_find(alikes, task->target) < alikes->count;
        if (!serves || !is_wanted(options, task)) continue;
        found++;
        if (alikes && is_covered(&tasks, i, alikes)) continue;
        hone_db_filter filter = {.workload = &task->workload,
                                 .target = alikes ? alikes->hashes : &task->target,
                                 .target_count = alikes ? alikes->count : 1,
                                 .limit = options->k,
                                 .order = HONE_DB_ORDER_BEST};
        HONE_TRY(top_of(cli, db, &filter, &tasks, table, json, &records));
    }
    if (records == 0) say_none(cli, options, found);
    return HONE_OK;
}

static hone_status top_on(hone_cli *cli, const top_options *options, hone_db *db,
                          const hone_db_alikes *alikes) {
    hone_table table;
    hone_json *json = cli->json ? hone_json_make_array() : NULL;
    hone_table_init(&table, cli->arena,
                    "task|>threads|>record|>time|>GFLOPS|>spread|>confirmed|>age|>sketch|~target");
    hone_status st = top_of_all(cli, options, db, alikes, &table, json);
    if (!st && json) return hone_cli_put_json(cli, json);
    if (!st) hone_cli_put_table(cli, &table);
    hone_json_destroy(json);
    return st;
}

static hone_status top(hone_cli *cli, const top_options *options) {
    hone_target target;
    hone_db_alikes alikes;
    hone_db *db = NULL;
    if (options->target) {
        HONE_TRY(hone_cli_read_target(options->target, options->threads, &target));
    }
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    hone_status st = HONE_OK;
    if (options->target) st = hone_db_targets_alike(db, &target, cli->arena, &alikes);
    if (!st) st = top_on(cli, options, db, options->target ? &alikes : NULL);
    hone_db_close(db);
    return st;
}

int hone_db_verb_top(int argc, char **argv) {
    top_options o = {.k = 5};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("task", 0, "T", TEXT, &o.task,
                        "this task: its name, or the first digits of its hash"),
        HONE_CLI_OPTION("target", 0, "TARGET", TEXT, &o.target,
                        "records that serve this target: its own and those of targets like it"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads, "for this number of threads alone",
                        .min = 1, .max = 1024),
        HONE_CLI_OPTION("count", 'k', "N", NUMBER, &o.k, "records per task; default 5", .min = 1,
                        .max = 1000000),
        {0},
    };
    const hone_cli_command command = {
        .name = "db top",
        .usage = "DB [--task T] [--target TARGET] [-k 5]",
        .summary = "The best records of each task and target: confirmed ones first, by their "
                   "confirmed time. Exit code 1: there are none.",
        .example = "hone db top /tmp/tuned.db -k 3",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, top(&cli, &o));
}
