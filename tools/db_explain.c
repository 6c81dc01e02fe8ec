/* tools/db_explain.c - `hone db explain`: which record each kernel of a model would get, and why.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/structural.h"
#include "schedule/schedule.h"
#include "schedule/tensor_intrin.h"
#include "tools/cli.h"
#include "tools/cli_db.h"
#include "tools/cli_intrins.h"
#include "tools/cli_model.h"
#include "tools/cli_table.h"
#include "tools/db_verbs.h"

typedef struct explain_options {
    const char *target;
    hone_cli_list shapes, intrins;
    int64_t threads;
} explain_options;

/* What a kernel would get. */
typedef struct choice {
    const char *match; /* "exact", "stale", "other target", "none" */
    const hone_db_trial *trial;
    const char *reason;
} choice;

/* Replays a record's trace; NULL when it gives the program that was measured, else why not. */
static hone_status replay(hone_arena *arena, const hone_task *task, const hone_db_trial *trial,
                          const hone_tensor_intrins *intrins, const char **out_trouble) {
    hone_trace trace;
    hone_schedule *sch = NULL;
    hone_trace_init(&trace, arena);
    *out_trouble = NULL;
    hone_status st =
        hone_trace_parse_json(arena, trial->trace, strlen(trial->trace), "trace", &trace);
    if (!st) st = hone_schedule_create(task->func, &sch);
    if (!st) {
        sch->wants_reasons = true;
        sch->intrins = intrins;
        st = hone_trace_apply(&trace, sch, &(hone_apply_options){0});
    }
    if (!st && !hone_hash128_equal(hone_func_hash(sch->func), trial->program)) {
        *out_trouble = "its trace makes another program now";
    }
    hone_schedule_destroy(sch);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    *out_trouble = hone_arena_strdup(arena, hone_status_message(st));
    hone_status_free(st);
    return *out_trouble ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "explain");
}

/* Another target that the database has good records of this workload for, or NULL. */
static const hone_db_task *elsewhere(const hone_db_rows *known, const hone_task *task) {
    for (size_t i = 0; i < known->count; i++) {
        const hone_db_task *row = &known->tasks[i];
        if (row->ok > 0 && hone_hash128_equal(row->workload, task->hash)) return row;
    }
    return NULL;
}

static hone_status choose(hone_cli *cli, hone_db *db, const hone_db_rows *known,
                          const hone_hash128 *target, const hone_tensor_intrins *intrins,
                          const hone_task *task, choice *out) {
    *out = (choice){.match = "none", .reason = "no record of this program: default schedule"};
    HONE_TRY(hone_db_best(db, &task->hash, target, cli->arena, &out->trial));
    if (out->trial) {
        const char *trouble;
        HONE_TRY(replay(cli->arena, task, out->trial, intrins, &trouble));
        out->match = trouble ? "stale" : "exact";
        out->reason = trouble                           ? trouble
                      : isnan(out->trial->confirmed_ns) ? "the fastest, not confirmed"
                                                        : "the fastest that was confirmed";
        return HONE_OK;
    }
    const hone_db_task *other = elsewhere(known, task);
    if (!other) return HONE_OK;
    out->match = "other target";
    out->reason =
        hone_arena_printf(cli->arena, "tuned for %s only: default schedule", other->target_text);
    return out->reason ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "explain");
}

static void put_row(hone_cli *cli, hone_table *table, const hone_task *task, const choice *c) {
    hone_table_add(table, "%s", task->name);
    hone_table_add(table, "%" PRIu32, task->weight);
    hone_table_add(table, "%s", c->match);
    hone_table_add(table, c->trial ? "%" PRId64 : "-", c->trial ? c->trial->record : 0);
    hone_table_add(table, "%s", hone_text_of_ns(cli->arena, c->trial ? c->trial->median_ns : NAN));
    hone_table_add(table, "%s", c->reason);
}

static hone_json *row_json(const hone_task *task, const choice *c) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "task", task->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(task->hash, hash));
    ok &= hone_json_set_i64(json, "weight", task->weight);
    ok &= hone_json_set_text(json, "match", c->match);
    ok &= hone_json_set(json, "record",
                        c->trial ? hone_json_make_i64(c->trial->record) : hone_json_make_null());
    ok &= hone_json_set_f64(json, "median_ns", c->trial ? c->trial->median_ns : NAN);
    ok &= hone_json_set_text(json, "reason", c->reason);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

static hone_status explain_all(hone_cli *cli, hone_db *db, const hone_task_list *tasks,
                               const hone_target *target, const hone_tensor_intrins *intrins) {
    hone_db_rows known = {.arena = cli->arena};
    hone_hash128 target_hash = hone_target_hash(target);
    hone_table table;
    hone_table_init(&table, cli->arena, "kernel|>calls|match|>record|>time|why");
    HONE_TRY(hone_cli_list_tasks(db, &known));
    hone_json *json = cli->json ? hone_json_make_array() : NULL;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < tasks->count && !st; i++) {
        choice c;
        st = choose(cli, db, &known, &target_hash, intrins, &tasks->items[i], &c);
        if (st) break;
        put_row(cli, &table, &tasks->items[i], &c);
        if (json && !hone_json_append(json, row_json(&tasks->items[i], &c))) {
            st = HONE_ERROR(HONE_CODE_NO_MEMORY, "explain");
        }
    }
    if (!st && json) return hone_cli_put_json(cli, json);
    if (!st) hone_table_print(&table, &cli->out);
    hone_json_destroy(json);
    return st;
}

static hone_status explain(hone_cli *cli, const explain_options *o) {
    hone_target target;
    hone_task_list tasks = {0};
    hone_db *db = NULL;
    hone_tensor_intrins *intrins = NULL;
    hone_status st = HONE_OK;
    HONE_TRY(hone_cli_parse_target(o->target, o->threads, &target));
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    HONE_TRY_GOTO(st, hone_cli_open_intrins(cli, &o->intrins, &intrins), done);
    HONE_TRY_GOTO(st, hone_cli_load_tasks(cli->args[1], &o->shapes, &tasks), done);
    st = explain_all(cli, db, &tasks, &target, intrins);
done:
    hone_task_list_deinit(&tasks);
    hone_tensor_intrins_destroy(intrins);
    hone_db_release(db);
    return st;
}

int hone_db_verb_explain(int argc, char **argv) {
    explain_options o = {0};
    const hone_cli_option options[] = {
        {.name = "target",
         .value = "TARGET",
         .kind = HONE_CLI_TEXT,
         .to = &o.target,
         .help = "what would be compiled for; default: host"},
        {.name = "threads",
         .value = "N",
         .kind = HONE_CLI_NUMBER,
         .to = &o.threads,
         .help = "that kernels would run on; default: all cores",
         .min = 1,
         .max = 1024},
        {.name = "shape",
         .value = "N=1,64",
         .kind = HONE_CLI_LIST,
         .to = &o.shapes,
         .help = "numbers for a symbolic size; may be repeated"},
        HONE_CLI_INTRIN_OPTION(&o.intrins, "a tensor intrinsic that records use"),
        {0                                  },
    };
    const hone_cli_command command = {
        .name = "db explain",
        .usage = "DB MODEL [--target TARGET] [--threads N] [--intrin NAME=FILE.py]",
        .summary = "Which record each kernel of a model would get from `hone compile`, and why: "
                   "exact, stale (its trace makes another program now), other target, or none.",
        .example = "hone db explain /tmp/tuned.db tests/programs/matmul_relu.py",
        .options = options,
        .min_args = 2,
        .max_args = 2,
        .reports = true,
    };
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, explain(&cli, &o));
}
