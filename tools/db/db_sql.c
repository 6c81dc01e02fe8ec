/* tools/db/db_sql.c - `hone db sql`: a reading query, as a table, as CSV or as JSON. */
#include <inttypes.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_table.h"
#include "tools/db/db_verbs.h"

typedef struct sql_output {
    hone_cli *cli;
    bool csv;
    hone_table table;
    hone_json *json; /* an array, in JSON mode */
    hone_status st;
} sql_output;

static void print_cell(const hone_db_cell *cell, hone_str *out) {
    switch (cell->kind) {
    case HONE_DB_CELL_NULL:
        break;
    case HONE_DB_CELL_INT:
        hone_str_printf(out, "%" PRId64, cell->i);
        break;
    case HONE_DB_CELL_REAL:
        hone_json_print_f64(cell->f, out);
        break;
    case HONE_DB_CELL_TEXT:
        hone_str_append_n(out, cell->text, cell->length);
        break;
    case HONE_DB_CELL_BLOB:
        hone_str_append(out, "x'");
        for (size_t i = 0; i < cell->length; i++) {
            hone_str_printf(out, "%02x", (unsigned)(unsigned char)cell->text[i]);
        }
        hone_str_append_char(out, '\'');
        break;
    }
}

/* RFC 4180: quotes around what holds a comma, a quote or a line end. */
static void put_csv(hone_str *out, const char *text, bool is_last) {
    if (strpbrk(text, ",\"\r\n")) {
        hone_str_append_char(out, '"');
        for (; *text; text++) {
            if (*text == '"') hone_str_append_char(out, '"');
            hone_str_append_char(out, *text);
        }
        hone_str_append_char(out, '"');
    } else {
        hone_str_append(out, text);
    }
    hone_str_append(out, is_last ? "\r\n" : ",");
}

static hone_json *cell_json(const hone_db_cell *cell) {
    hone_str text = {0};
    hone_json *json = NULL;
    switch (cell->kind) {
    case HONE_DB_CELL_NULL:
        return hone_json_make_null();
    case HONE_DB_CELL_INT:
        return hone_json_make_i64(cell->i);
    case HONE_DB_CELL_REAL:
        return hone_json_make_f64(cell->f);
    case HONE_DB_CELL_TEXT:
        return hone_json_make_text_n(cell->text, cell->length);
    case HONE_DB_CELL_BLOB:
        print_cell(cell, &text);
        json = hone_json_make_text(hone_str_text(&text));
        hone_str_deinit(&text);
    }
    return json;
}

static void put_json_row(sql_output *o, const hone_db_row *row) {
    hone_json *json = hone_json_make_object();
    bool ok = true;
    for (size_t i = 0; i < row->count; i++) {
        ok &= hone_json_set(json, row->names[i], cell_json(&row->cells[i]));
    }
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    if (!hone_json_append(o->json, json)) {
        o->st = HONE_ERROR(HONE_CODE_INVALID,
                           "a cell cannot be written as JSON: a zero byte in its text");
    }
}

static void begin_table(sql_output *o, const hone_db_row *row) {
    hone_table_init(&o->table, o->cli->arena, "");
    for (size_t i = 0; i < row->count; i++)
        hone_table_add_column(&o->table, HONE_COLUMN_PROSE, row->names[i]);
}

static bool take_row(void *ctx, const hone_db_row *row) {
    sql_output *o = ctx;
    if (!row->cells) {
        if (o->csv) {
            for (size_t i = 0; i < row->count; i++) {
                put_csv(&o->cli->out, row->names[i], i + 1 == row->count);
            }
        } else if (!o->json) {
            begin_table(o, row);
        }
        return true;
    }
    if (o->json) {
        put_json_row(o, row);
        return !o->st;
    }
    hone_str text = {0};
    for (size_t i = 0; i < row->count; i++) {
        hone_str_clear(&text);
        print_cell(&row->cells[i], &text);
        if (o->csv) {
            put_csv(&o->cli->out, hone_str_text(&text), i + 1 == row->count);
        } else {
            hone_table_add(&o->table, "%s", hone_str_text(&text));
        }
    }
    hone_str_deinit(&text);
    return true;
}

static hone_status sql(hone_cli *cli, bool csv, int64_t timeout_ns) {
    hone_db *db = NULL;
    sql_output o = {.cli = cli, .csv = csv};
    if (cli->json) HONE_TRY(hone_cli_refuse(cli, "csv", "--json"));
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    if (cli->json) o.json = hone_json_make_array();
    hone_status st = hone_db_sql(db, cli->args[1], timeout_ns, take_row, &o);
    hone_db_close(db);
    st = hone_status_join(st, o.st);
    if (st) {
        hone_json_destroy(o.json);
        return st;
    }
    if (cli->json) return hone_cli_put_json(cli, o.json);
    if (!o.csv) hone_cli_put_table(cli, &o.table);
    return HONE_OK;
}

int hone_db_verb_sql(int argc, char **argv) {
    bool csv = false;
    int64_t timeout_ns = 0;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("csv", 0, NULL, SWITCH, &csv, "comma-separated values"),
        HONE_CLI_OPTION("timeout", 0, "60s", TIME, &timeout_ns,
                        "give up after this time; default 60 s", .min = 1),
        {0},
    };
    const hone_cli_command command = {
        .name = "db sql",
        .usage = "DB QUERY [--csv | --json]",
        .summary = "Runs one reading SQL statement. Views: v_trials, v_best, v_tasks, v_failures, "
                   "v_sessions, v_targets, v_workloads, v_samples, v_curve (docs/database.md).",
        .example = "hone db sql /tmp/tuned.db 'SELECT task, best_ns FROM v_tasks'",
        .options = options,
        .min_args = 2,
        .max_args = 2,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, sql(&cli, csv, timeout_ns));
}
