/* tools/verbs/verb_tasks.c - `hone tasks`: the tuning tasks in a model, and what a database knows.
 */
#include <inttypes.h>
#include <math.h>

#include "database/database.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_table.h"
#include "tools/cli/cli_target.h"
#include "tools/verbs/verbs.h"

typedef struct tasks_options {
    hone_cli_list shapes;
    const char *db, *target;
    int64_t threads;
} tasks_options;

/* By parameter: how far away the model finds it. */
static bool put_distances(hone_json *item, const hone_task *task) {
    hone_json *list = hone_json_make_array();
    bool ok = true;
    for (uint32_t i = 0; i < task->func->param_count; i++)
        ok &= hone_json_append(list, hone_json_make_i64(task->distances[i]));
    return hone_json_set(item, "distances", list) && ok;
}

static hone_status put_json(hone_cli *cli, const hone_task_list *tasks, const hone_db_task *known) {
    hone_json *json = hone_json_make_object(), *list = hone_json_make_array();
    char hash[HONE_HASH_HEX_BYTES];
    bool ok = true;
    for (uint32_t i = 0; i < tasks->count; i++) {
        const hone_task *task = &tasks->items[i];
        hone_json *item = hone_json_make_object();
        ok &= hone_json_set_text(item, "name", task->name);
        ok &= hone_json_set_text(item, "hash", hone_hash128_print(task->hash, hash));
        ok &= hone_json_set_i64(item, "weight", task->weight);
        ok &= hone_json_set_f64(item, "flops", task->flops);
        ok &= hone_json_set_f64(item, "bytes", task->bytes);
        ok &= hone_json_set_text(item, "shapes", hone_cli_text_of_shapes(cli->arena, task->func));
        ok &= put_distances(item, task);
        if (known) {
            ok &= hone_json_set_i64(item, "trials", known[i].trials);
            ok &= hone_json_set_i64(item, "failed", known[i].failed);
            ok &= hone_json_set_f64(item, "best_ns", known[i].trials ? known[i].best_ns : NAN);
        }
        ok &= hone_json_append(list, item);
    }
    ok &= hone_json_set(json, "tasks", list);
    ok &= hone_json_set_i64(json, "skipped", tasks->skipped);
    if (tasks->left_out) ok &= hone_json_set_text(json, "left_out", tasks->left_out);
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static void put_table(hone_cli *cli, const hone_task_list *tasks, const hone_db_task *known) {
    hone_table table;
    char hash[HONE_HASH_HEX_BYTES];
    hone_table_init(&table, cli->arena,
                    known ? "task|#hash|>weight|>flops|>bytes|~shapes|>trials|>best|>GFLOPS"
                          : "task|#hash|>weight|>flops|>bytes|~shapes");
    for (uint32_t i = 0; i < tasks->count; i++) {
        const hone_task *task = &tasks->items[i];
        hone_table_add(&table, "%s", task->name);
        hone_table_add(&table, "%s", hone_hash128_print(task->hash, hash));
        hone_table_add(&table, "%" PRIu32, task->weight);
        hone_table_add(&table, "%s", hone_text_of_count(cli->arena, task->flops));
        hone_table_add(&table, "%s", hone_text_of_count(cli->arena, task->bytes));
        hone_table_add(&table, "%s", hone_cli_text_of_shapes(cli->arena, task->func));
        if (!known) continue;
        double best = known[i].trials ? known[i].best_ns : NAN;
        hone_table_add(&table, "%" PRId64, known[i].trials);
        hone_table_add(&table, "%s", hone_text_of_ns(cli->arena, best));
        hone_table_add(&table, "%s", hone_text_of_gflops(cli->arena, task->flops, best));
    }
    hone_cli_put_table(cli, &table);
}

static hone_status tasks_verb(hone_cli *cli, const tasks_options *options) {
    hone_task_list tasks = {0};
    hone_db *db = NULL;
    hone_db_task *known = NULL;
    hone_target target;
    hone_status st = HONE_OK;
    HONE_TRY(hone_cli_read_target(options->target, options->threads, &target));
    if (!options->db) HONE_TRY(hone_cli_refuse(cli, "target threads", "tasks without --db"));
    HONE_TRY_GOTO(st, hone_cli_load_tasks(cli->args[0], &options->shapes, &target, &tasks), done);
    hone_cli_warn_of_left_out(&cli->log, cli->args[0], tasks.left_out);
    if (options->db) {
        HONE_TRY_GOTO(st, hone_cli_open_db(options->db, HONE_DB_READ, &db), done);
        HONE_TRY_GOTO(st, hone_cli_known_tasks(db, &tasks, &target, cli->arena, &known), done);
    }
    if (cli->json) {
        st = put_json(cli, &tasks, known);
        goto done;
    }
    put_table(cli, &tasks, known);
    if (tasks.skipped && !cli->quiet) {
        hone_str_printf(&cli->out,
                        "%" PRIu32
                        " kernels have symbolic sizes; give them with --shape NAME=SIZE\n",
                        tasks.skipped);
    }
    if (tasks.count == 0) cli->exit_code = HONE_EXIT_NO;
done:
    hone_db_close(db);
    hone_task_list_deinit(&tasks);
    return st;
}

int hone_verb_tasks(int argc, char **argv) {
    tasks_options o = {0};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("shape", 0, "N=1,64", LIST, &o.shapes,
                        "numbers for a symbolic size; may be repeated"),
        HONE_CLI_OPTION("db", 0, "FILE", TEXT, &o.db,
                        "also show what this database knows of each task"),
        HONE_CLI_OPTION("target", 0, "TARGET", TEXT, &o.target, "for this target; default: host"),
        HONE_CLI_OPTION("threads", 0, "N", NUMBER, &o.threads,
                        "for kernels on this number of threads; default: all cores", .min = 1,
                        .max = 1024),
        {0},
    };
    const hone_cli_command command = {
        .name = "tasks",
        .usage = "MODEL [--shape N=1,64] [--db FILE] [--target TARGET]",
        .summary = "Lists the tensor programs of a model that can be tuned: hash, call sites "
                   "(weight), operations, traffic. Exit code 1: there are none.",
        .example = "hone tasks examples/fashion_mnist/mlp.onnx",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, tasks_verb(&cli, &o));
}
