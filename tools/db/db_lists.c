/* tools/db/db_lists.c - `hone db tasks|targets|sessions|failures|stats`: tables of what is there.
 */
#include <inttypes.h>
#include <math.h>

#include "support/os/clock.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_table.h"
#include "tools/db/db_verbs.h"

/* A list: gets the rows, prints them as a table or as JSON objects. */
typedef struct list_verb {
    hone_cli_command command;
    hone_status (*get)(hone_db *db, hone_db_rows *rows);
    const char *head;
    void (*put_row)(hone_cli *cli, hone_table *table, const hone_db_rows *rows, size_t i);
    hone_json *(*make_json)(const hone_db_rows *rows, size_t i);
} list_verb;

static hone_status list(hone_cli *cli, const list_verb *verb) {
    hone_db *db = NULL;
    hone_db_rows rows = {.arena = cli->arena};
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    hone_status st = verb->get(db, &rows);
    hone_db_close(db);
    if (st) return st;
    if (cli->json) {
        hone_json *json = hone_json_make_array();
        for (size_t i = 0; json && i < rows.count; i++) {
            if (hone_json_append(json, verb->make_json(&rows, i))) continue;
            hone_json_destroy(json);
            json = NULL;
        }
        return hone_cli_put_json(cli, json);
    }
    hone_table table;
    hone_table_init(&table, cli->arena, verb->head);
    for (size_t i = 0; i < rows.count; i++)
        verb->put_row(cli, &table, &rows, i);
    hone_cli_put_table(cli, &table);
    return HONE_OK;
}

static int run_list(const list_verb *verb, int argc, char **argv) {
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &verb->command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, list(&cli, verb));
}

/* Hands the object on, or ends it when a member could not be set. */
static hone_json *finished(hone_json *json, bool ok) {
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

/* ---- tasks ---- */

static hone_status list_tasks(hone_db *db, hone_db_rows *rows) {
    HONE_TRY(hone_cli_list_tasks(db, rows));
    return hone_cli_list_task_shapes(db, rows);
}

static void put_task(hone_cli *cli, hone_table *table, const hone_db_rows *rows, size_t i) {
    const hone_db_task *t = &rows->tasks[i];
    char hash[HONE_HASH_HEX_BYTES];
    hone_table_add(table, "%s", t->name);
    hone_table_add(table, "%.8s", hone_hash128_print(t->workload, hash));
    hone_table_add(table, "%d", t->threads);
    hone_table_add(table, "%" PRId64, t->trials);
    hone_table_add(table, "%" PRId64, t->failed);
    hone_table_add(table, "%" PRId64, t->confirmed);
    hone_table_add(table, "%s", hone_text_of_ns(cli->arena, t->best_ns));
    hone_table_add(table, "%s", hone_text_of_gflops(cli->arena, t->flops, t->best_ns));
    hone_table_add(table, "%s", hone_text_of_age(cli->arena, t->last_wall_ns, hone_wall_time_ns()));
    hone_table_add(table, "%s", rows->shapes[i]);
    hone_table_add(table, "%s", hone_cli_short_target(cli->arena, t->target_text));
}

static hone_json *task_json(const hone_db_rows *rows, size_t i) {
    const hone_db_task *t = &rows->tasks[i];
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "task", t->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(t->workload, hash));
    ok &= hone_json_set_text(json, "target", t->target_text);
    ok &= hone_json_set_text(json, "target_hash", hone_hash128_print(t->target, hash));
    ok &= hone_json_set_text(json, "shapes", rows->shapes[i]);
    ok &= hone_json_set_i64(json, "threads", t->threads);
    ok &= hone_json_set_f64(json, "flops", t->flops);
    ok &= hone_json_set_i64(json, "trials", t->trials);
    ok &= hone_json_set_i64(json, "ok", t->ok);
    ok &= hone_json_set_i64(json, "failed", t->failed);
    ok &= hone_json_set_i64(json, "confirmed", t->confirmed);
    ok &= hone_json_set_f64(json, "best_ns", t->best_ns);
    return finished(json, ok);
}

int hone_db_verb_tasks(int argc, char **argv) {
    static const list_verb verb = {
        .command = {.name = "db tasks",
                    .usage = "DB",
                    .summary = "One row per task and target: trials, failures, best time.",
                    .example = "hone db tasks /tmp/tuned.db",
                    .min_args = 1,
                    .max_args = 1,
                    .reports = true},
        .get = list_tasks,
        .head = "task|#workload|>threads|>trials|>failed|>confirmed|>best|>GFLOPS|>last|~shapes|~"
                "target",
        .put_row = put_task,
        .make_json = task_json,
    };
    return run_list(&verb, argc, argv);
}

/* ---- targets ---- */

static void put_target(hone_cli *cli, hone_table *table, const hone_db_rows *rows, size_t i) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_table_add(table, "%.8s", hone_hash128_print(rows->targets[i].hash, hash));
    hone_table_add(table, "%d", rows->targets[i].threads);
    hone_table_add(table, "%s", hone_cli_short_target(cli->arena, rows->targets[i].text));
}

static hone_json *target_json(const hone_db_rows *rows, size_t i) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "target", rows->targets[i].text);
    ok &= hone_json_set_text(json, "target_hash", hone_hash128_print(rows->targets[i].hash, hash));
    ok &= hone_json_set_i64(json, "threads", rows->targets[i].threads);
    return finished(json, ok);
}

int hone_db_verb_targets(int argc, char **argv) {
    static const list_verb verb = {
        .command = {.name = "db targets",
                    .usage = "DB",
                    .summary = "The targets that were tuned for; the number of threads is part of "
                               "a target.", .example = "hone db targets /tmp/tuned.db",
                    .min_args = 1,
                    .max_args = 1,
                    .reports = true},
        .get = hone_cli_list_targets,
        .head = "#hash|>threads|~target",
        .put_row = put_target,
        .make_json = target_json,
    };
    return run_list(&verb, argc, argv);
}

/* ---- sessions ---- */

static void put_session(hone_cli *cli, hone_table *table, const hone_db_rows *rows, size_t i) {
    (void)cli;
    const hone_db_session *s = &rows->sessions[i];
    char when[HONE_WALL_TIME_BYTES], took[HONE_DURATION_BYTES];
    hone_table_add(table, "%.8s", s->id);
    hone_table_add(table, "%s", hone_wall_time_print(s->started_ns, when));
    hone_table_add(table, "%s", s->state);
    bool is_known = s->ended_ns >= s->started_ns; /* else it runs, or clocks were set back */
    hone_table_add(table, "%s",
                   is_known ? hone_duration_print(s->ended_ns - s->started_ns, took) : "-");
    hone_table_add(table, "%s", s->model ? s->model : "-");
    hone_table_add(table, "%s", s->command_line ? s->command_line : "-");
}

static hone_json *session_json(const hone_db_rows *rows, size_t i) {
    const hone_db_session *s = &rows->sessions[i];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "session", s->id);
    ok &= hone_json_set_text(json, "state", s->state);
    ok &= hone_json_set_text(json, "model", s->model);
    ok &= hone_json_set_text(json, "command_line", s->command_line);
    ok &= hone_json_set_text(json, "hone_version", s->hone_version);
    ok &= hone_json_set_i64(json, "started_ns", s->started_ns);
    ok &= hone_json_set_i64(json, "ended_ns", s->ended_ns);
    ok &= hone_json_set_i64(json, "seed", (int64_t)s->seed);
    ok &= hone_json_set_i64(json, "budget_trials", s->budget_trials);
    ok &= hone_json_set_i64(json, "budget_ns", s->budget_ns);
    return finished(json, ok);
}

int hone_db_verb_sessions(int argc, char **argv) {
    static const list_verb verb = {
        .command = {.name = "db sessions",
                    .usage = "DB",
                    .summary = "When and how `hone tune` ran on this database. A session that was "
                               "killed stays 'running'.", .example = "hone db sessions /tmp/tuned.db",
                    .min_args = 1,
                    .max_args = 1,
                    .reports = true},
        .get = hone_cli_list_sessions,
        .head = "#session|!started|state|>took|model|~command",
        .put_row = put_session,
        .make_json = session_json,
    };
    return run_list(&verb, argc, argv);
}

/* ---- failures ---- */

static void put_failure(hone_cli *cli, hone_table *table, const hone_db_rows *rows, size_t i) {
    (void)cli;
    const hone_db_failure_count *f = &rows->failures[i];
    hone_table_add(table, "%s", f->outcome);
    hone_table_add(table, "%s", f->workload_name);
    hone_table_add(table, "%" PRId64, f->count);
    hone_table_add(table, "%s", f->last_message ? f->last_message : "-");
}

static hone_json *failure_json(const hone_db_rows *rows, size_t i) {
    const hone_db_failure_count *f = &rows->failures[i];
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "outcome", f->outcome);
    ok &= hone_json_set_text(json, "task", f->workload_name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(f->workload, hash));
    ok &= hone_json_set_i64(json, "count", f->count);
    ok &= hone_json_set_text(json, "last_message", f->last_message);
    return finished(json, ok);
}

int hone_db_verb_failures(int argc, char **argv) {
    static const list_verb verb = {
        .command = {.name = "db failures",
                    .usage = "DB",
                    .summary = "Failed candidates by class and task, with the latest message.",
                    .example = "hone db failures /tmp/tuned.db",
                    .min_args = 1,
                    .max_args = 1,
                    .reports = true},
        .get = hone_cli_list_failures,
        .head = "class|task|>times|~the latest message",
        .put_row = put_failure,
        .make_json = failure_json,
    };
    return run_list(&verb, argc, argv);
}

/* ---- stats ---- */

static hone_status put_stats_json(hone_cli *cli, const hone_db_stats *s) {
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"schema_version", s->schema_version},
        {"file_bytes",     s->file_bytes    },
        {"workloads",      s->workloads     },
        {"targets",        s->targets       },
        {"sessions",       s->sessions      },
        {"trials",         s->trials        },
        {"ok",             s->ok            },
        {"failed",         s->failed        },
        {"confirmed",      s->confirmed     },
        {"first_wall_ns",  s->first_wall_ns },
        {"last_wall_ns",   s->last_wall_ns  },
        {"search_ns",      s->times.search  },
        {"queue_ns",       s->times.queue   },
        {"build_ns",       s->times.build   },
        {"transfer_ns",    s->times.transfer},
        {"load_ns",        s->times.load    },
        {"check_ns",       s->times.check   },
        {"measure_ns",     s->times.measure }
    };
    hone_json *json = hone_json_make_object();
    bool ok = json != NULL;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        ok = ok && hone_json_set_i64(json, rows[i].name, rows[i].value);
    }
    return hone_cli_put_json(cli, finished(json, ok));
}

static void put_stats(hone_cli *cli, const hone_db_stats *s) {
    const hone_db_times *t = &s->times;
    char when[HONE_WALL_TIME_BYTES];
    hone_str_printf(&cli->out,
                    "schema %d, %" PRId64 " bytes\n%" PRId64 " workloads, %" PRId64
                    " targets, %" PRId64 " sessions\n%" PRId64 " trials: %" PRId64 " ok, %" PRId64
                    " failed, %" PRId64 " confirmed\n",
                    s->schema_version, s->file_bytes, s->workloads, s->targets, s->sessions,
                    s->trials, s->ok, s->failed, s->confirmed);
    if (!s->trials) return;
    hone_str_printf(&cli->out, "first trial %s", hone_wall_time_print(s->first_wall_ns, when));
    hone_str_printf(&cli->out, ", last %s\n", hone_wall_time_print(s->last_wall_ns, when));
    hone_str_printf(&cli->out,
                    "time: search %.1f s, build %.1f s, queue %.1f s, transfer %.1f s, load %.1f "
                    "s, check %.1f s, measure %.1f s\n",
                    (double)t->search / 1e9, (double)t->build / 1e9, (double)t->queue / 1e9,
                    (double)t->transfer / 1e9, (double)t->load / 1e9, (double)t->check / 1e9,
                    (double)t->measure / 1e9);
}

static hone_status stats_verb(hone_cli *cli) {
    hone_db *db = NULL;
    hone_db_stats stats;
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    hone_status st = hone_db_get_stats(db, &stats);
    hone_db_close(db);
    if (st) return st;
    if (cli->json) return put_stats_json(cli, &stats);
    put_stats(cli, &stats);
    return HONE_OK;
}

int hone_db_verb_stats(int argc, char **argv) {
    static const hone_cli_command command = {
        .name = "db stats",
        .usage = "DB",
        .summary = "How much the database holds and where the time of its trials went.",
        .example = "hone db stats /tmp/tuned.db",
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, stats_verb(&cli));
}
