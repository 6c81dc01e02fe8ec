/* tools/db_explain.c - `hone db explain`: which record each kernel of a model would get, and why.
 */
#include <inttypes.h>
#include <math.h>

#include "compile/record_choice.h"
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

static void put_row(hone_cli *cli, hone_table *table, const hone_task *task,
                    const hone_record_choice *c) {
    hone_table_add(table, "%s", task->name);
    hone_table_add(table, "%" PRIu32, task->weight);
    hone_table_add(table, "%s", hone_record_match_name(c->match));
    hone_table_add(table, c->trial ? "%" PRId64 : "-", c->trial ? c->trial->record : 0);
    hone_table_add(table, "%s", hone_text_of_ns(cli->arena, c->trial ? c->trial->median_ns : NAN));
    hone_table_add(table, "%s", c->reason);
}

static hone_json *row_json(const hone_task *task, const hone_record_choice *c) {
    char hash[HONE_HASH_HEX_BYTES];
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "task", task->name);
    ok &= hone_json_set_text(json, "workload_hash", hone_hash128_print(task->hash, hash));
    ok &= hone_json_set_i64(json, "weight", task->weight);
    ok &= hone_json_set_text(json, "match", hone_record_match_name(c->match));
    ok &= hone_json_set(json, "record",
                        c->trial ? hone_json_make_i64(c->trial->record) : hone_json_make_null());
    ok &= hone_json_set_f64(json, "median_ns", c->trial ? c->trial->median_ns : NAN);
    ok &= hone_json_set_text(json, "program_hash",
                             c->trace ? hone_hash128_print(c->program, hash) : NULL);
    ok &= hone_json_set_i64(json, "stale_records", c->stale);
    ok &= hone_json_set_i64(json, "earlier_records", c->earlier);
    ok &= hone_json_set_text(json, "earlier_reason", c->earlier_reason);
    ok &= hone_json_set_text(json, "reason", c->reason);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

static hone_status explain_all(hone_cli *cli, const hone_task_list *tasks,
                               hone_record_chooser *chooser) {
    hone_table table;
    hone_table_init(&table, cli->arena, "kernel|>calls|match|>record|>time|why");
    for (uint32_t i = 0; i < tasks->count; i++)
        HONE_TRY(hone_record_chooser_note(chooser, tasks->items[i].hash));
    hone_json *json = cli->json ? hone_json_make_array() : NULL;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < tasks->count && !st; i++) {
        hone_record_choice c;
        st = hone_record_choose(chooser, tasks->items[i].func, cli->arena, &c);
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
    hone_record_chooser *chooser = NULL;
    hone_status st = HONE_OK;
    HONE_TRY(hone_cli_parse_target(o->target, o->threads, &target));
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    HONE_TRY_GOTO(st, hone_cli_open_intrins(cli, &o->intrins, &intrins), done);
    HONE_TRY_GOTO(st, hone_cli_load_tasks(cli->args[1], &o->shapes, &tasks), done);
    HONE_TRY_GOTO(st, hone_record_chooser_create(db, hone_target_hash(&target), intrins, &chooser),
                  done);
    st = explain_all(cli, &tasks, chooser);
done:
    hone_record_chooser_destroy(chooser);
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
                   "exact, translated (from other names, or from an earlier program), stale (its "
                   "trace makes another program now), other target, or none.",
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
