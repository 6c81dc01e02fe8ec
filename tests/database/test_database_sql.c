/* tests/database/test_database_sql.c - SQL of people: what may be run, the views, the queries of
 * docs/database.md. */
#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

static bool count_rows(void *ctx, const hone_db_row *row) {
    assert_non_null(row->names);
    *(int *)ctx += row->cells != NULL;
    return true;
}

/* clang-format off */
static const struct sql_row {
    const char *name, *sql;
    hone_code code;
    const char *part; /* of the message */
    int rows;
} sql_rows[] = {
    {"select", "SELECT * FROM v_trials", HONE_CODE_OK, NULL, 20},
    {"trailing semicolon", "SELECT count(*) FROM v_trials;  \n", HONE_CODE_OK, NULL, 1},
    {"with", "WITH x(n) AS (VALUES (1), (2)) SELECT n FROM x", HONE_CODE_OK, NULL, 2},
    {"table info", "PRAGMA table_info(trial)", HONE_CODE_OK, NULL, 28},
    {"explain", "EXPLAIN QUERY PLAN SELECT * FROM v_best", HONE_CODE_OK, NULL, -1},
    {"insert", "INSERT INTO target(hash, threads, text) VALUES('x', 1, 'y')", HONE_CODE_INVALID,
     "only reading", 0},
    {"delete", "DELETE FROM trial", HONE_CODE_INVALID, "only reading", 0},
    {"drop", "DROP VIEW v_trials", HONE_CODE_INVALID, "only reading", 0},
    {"create temp", "CREATE TEMP TABLE x(y)", HONE_CODE_INVALID, "only reading", 0},
    {"attach", "ATTACH '/tmp/other.db' AS o", HONE_CODE_INVALID, "only reading", 0},
    {"vacuum into", "VACUUM INTO '/tmp/copy.db'", HONE_CODE_INVALID, NULL, 0},
    {"pragma that writes", "PRAGMA user_version = 7", HONE_CODE_INVALID, "only reading", 0},
    {"pragma of the journal", "PRAGMA journal_mode = DELETE", HONE_CODE_INVALID, "only reading", 0},
    {"load extension", "SELECT load_extension('x')", HONE_CODE_INVALID, NULL, 0},
    {"begin", "BEGIN EXCLUSIVE", HONE_CODE_INVALID, "only reading", 0},
    {"two statements", "SELECT 1; SELECT 2", HONE_CODE_INVALID, "one statement", 0},
    {"nothing", "  -- only a comment", HONE_CODE_INVALID, "no statement", 0},
    {"syntax", "SELEC 1", HONE_CODE_INVALID, "syntax error", 0},
    {"unknown column", "SELECT speed FROM v_best", HONE_CODE_INVALID, "speed", 0},
    {"unknown view", "SELECT * FROM trials", HONE_CODE_INVALID, "v_trials", 0},
    {"endless",
     "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x",
     HONE_CODE_TIMEOUT, "ran for more", 0},
    {"huge value", "SELECT length(zeroblob(1000000000))", HONE_CODE_INVALID, "too big", 0},
};
/* clang-format on */

static void runs_sql(void **state) {
    const struct sql_row *row = *state;
    static int number;
    char name[32];
    snprintf(name, sizeof name, "sql%d.db", number++);
    char *path = sample_file(name, 20);
    hone_db *db = NULL;
    int rows = 0;
    HONE_ASSERT_OK(sample_open(path, HONE_DB_WRITE, &db));
    HONE_ASSERT_ERROR(hone_db_sql(db, row->sql, 300000000, count_rows, &rows), row->code,
                      row->part);
    if (row->rows >= 0) assert_int_equal(rows, row->rows);
    assert_int_equal(sample_count_trials(db), 20);
    hone_db_close(db);
    hone_free(path);
}

/* What a statement gives for these values. */
#define INT_OF(number)                                                                             \
    { .kind = HONE_DB_CELL_INT, .i = (number) }
#define TEXT_OF(string)                                                                            \
    { .kind = HONE_DB_CELL_TEXT, .text = (string), .length = sizeof(string) - 1 }

/* clang-format off */
static const struct bound_row {
    const char *name, *sql;
    size_t count;
    hone_db_parameter parameters[3];
    hone_code code;
    const char *part; /* of the message */
    int64_t first;    /* the first cell */
} bound_rows[] = {
    {"by place", "SELECT ? - ?", 2, {{NULL, INT_OF(7)}, {NULL, INT_OF(2)}}, HONE_CODE_OK, NULL, 5},
    {"by number", "SELECT ?2 - ?1", 2, {{NULL, INT_OF(7)}, {NULL, INT_OF(2)}}, HONE_CODE_OK, NULL, -5},
    {"by name", "SELECT :a - @b - $a", 2, {{"b", INT_OF(2)}, {"a", INT_OF(7)}}, HONE_CODE_OK, NULL, -2},
    {"names by place", "SELECT :a - :b - :a", 2, {{NULL, INT_OF(7)}, {NULL, INT_OF(2)}}, HONE_CODE_OK, NULL, -2},
    {"names that are not used", "SELECT :a", 2, {{"b", INT_OF(2)}, {"a", INT_OF(7)}}, HONE_CODE_OK, NULL, 7},
    {"real", "SELECT CAST(? * 4 AS INTEGER)", 1, {{NULL, {.kind = HONE_DB_CELL_REAL, .f = 0.5}}}, HONE_CODE_OK, NULL, 2},
    {"null", "SELECT ? IS NULL", 1, {{NULL, {.kind = HONE_DB_CELL_NULL}}}, HONE_CODE_OK, NULL, 1},
    {"blob", "SELECT length(?)", 1, {{NULL, {.kind = HONE_DB_CELL_BLOB, .text = "a\0b", .length = 3}}}, HONE_CODE_OK, NULL, 3},
    {"text is no SQL", "SELECT length(?)", 1, {{NULL, TEXT_OF("1) --")}}, HONE_CODE_OK, NULL, 5},
    {"in a view", "SELECT count(*) FROM v_trials WHERE outcome <> ?", 1, {{NULL, TEXT_OF("none")}}, HONE_CODE_OK, NULL, 20},
    {"none given", "SELECT ?", 0, {{0}}, HONE_CODE_INVALID, "parameter 1 has no value", 0},
    {"one missing", "SELECT ?, ?", 1, {{NULL, INT_OF(1)}}, HONE_CODE_INVALID, "parameter 2 has no value", 0},
    {"name missing", "SELECT :task", 1, {{"tusk", INT_OF(1)}}, HONE_CODE_INVALID, "':task' has no value", 0},
    {"too many", "SELECT ?", 2, {{NULL, INT_OF(1)}, {NULL, INT_OF(2)}}, HONE_CODE_INVALID, "2 values for a statement with 1", 0},
};
/* clang-format on */

static void binds_parameters(void **state) {
    const struct bound_row *row = *state;
    static int number;
    char name[32];
    snprintf(name, sizeof name, "bound%d.db", number++);
    char *path = sample_file(name, 20);
    hone_db *db = NULL;
    int64_t first = 0;
    hone_db_statement statement = {
        .sql = row->sql, .parameters = row->parameters, .parameter_count = row->count};
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    HONE_ASSERT_ERROR(hone_db_select(db, &statement, sample_take_number, &first), row->code,
                      row->part);
    assert_int_equal(first, row->first);
    hone_db_close(db);
    hone_free(path);
}

/* Runs every block marked sql of the documentation; each has rows. */
static void documented_queries_run(void **state) {
    (void)state;
    char *path = sample_file("docs.db", 25), *text = NULL;
    size_t count = 0;
    int queries = 0;
    hone_db *db = NULL;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path("docs/database.md"), 1 << 20, &text, &count));
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    for (char *at = text; (at = strstr(at, "```sql\n")) != NULL;) {
        char *from = at + 7, *to = strstr(from, "```");
        int rows = 0;
        assert_non_null(to);
        *to = '\0';
        HONE_ASSERT_OK(hone_db_sql(db, from, 0, count_rows, &rows));
        assert_true(rows > 0);
        queries++;
        at = to + 1;
    }
    assert_true(queries >= 5);
    hone_db_close(db);
    hone_free(text);
    hone_free(path);
}

static bool has_column(void *ctx, const hone_db_row *row) {
    const char *text = ctx;
    for (size_t i = 0; i < row->count && !row->cells; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", row->names[i]);
        if (!strstr(text, quoted)) fail_msg("column %s is not in docs/database.md", quoted);
    }
    return false;
}

/* Every column of every view is in the documentation. */
static void documentation_is_complete(void **state) {
    (void)state;
    static const char *const views[] = {"v_trials",    "v_best",     "v_tasks",
                                        "v_failures",  "v_sessions", "v_targets",
                                        "v_workloads", "v_samples",  "v_curve"};
    char *path = sample_file("columns.db", 1), *text = NULL;
    size_t count = 0;
    hone_db *db = NULL;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path("docs/database.md"), 1 << 20, &text, &count));
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        char sql[64];
        assert_non_null(strstr(text, views[i]));
        snprintf(sql, sizeof sql, "SELECT * FROM %s", views[i]);
        HONE_ASSERT_OK(hone_db_sql(db, sql, 0, has_column, text));
    }
    hone_db_close(db);
    hone_free(text);
    hone_free(path);
}

static bool take_record(void *ctx, const hone_db_trial *trial) {
    *(int64_t *)ctx = trial->record;
    return false;
}

/* v_best makes the choice of HONE_DB_ORDER_BEST, whatever was confirmed. */
static void best_view_agrees_with_best(void **state) {
    (void)state;
    hone_rng rng = hone_test_rng(4);
    char *path = sample_file("best.db", 0);
    hone_db *db = NULL;
    HONE_ASSERT_OK(sample_open(path, HONE_DB_WRITE, &db));
    for (int i = 0; i < 60; i++) {
        int64_t record = 0, viewed = -1;
        hone_db_trial trial =
            sample_trial(i, 1000 - 12 * (double)(i / 3) + 6 * (double)hone_rng_below(&rng, 10));
        HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, &record));
        if (hone_rng_below(&rng, 4) == 0) {
            double confirmed_ns = trial.median_ns + 10 * (double)hone_rng_below(&rng, 10) - 30;
            HONE_ASSERT_OK(hone_db_confirm(db, record, confirmed_ns, SAMPLE_WALL_NS));
        }
        int64_t best = 0;
        HONE_ASSERT_OK(sample_top_k(db, &trial.workload, &trial.target, 1, take_record, &best));
        HONE_ASSERT_OK(
            hone_db_sql(db, "SELECT record FROM v_best", 0, sample_take_number, &viewed));
        assert_int_equal(best, viewed);
    }
    hone_db_close(db);
    hone_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_queries_run),
        cmocka_unit_test(documentation_is_complete),
        cmocka_unit_test(best_view_agrees_with_best),
    };
    if (sample_files_begin("hone-sql")) return 1;
    int failed = cmocka_run_group_tests_name("database/views", tests, NULL, NULL);
    failed += HONE_RUN_ROWS("database/sql", sql_rows, runs_sql);
    failed += HONE_RUN_ROWS("database/parameters", bound_rows, binds_parameters);
    sample_files_end();
    return failed;
}
