/* database/sqlite/db_sqlite_user.c - SQL that people type, and the check of a whole file.
 *
 * A statement of a person runs on a connection of its own that cannot write: opened read-only, an
 * authorizer that knows reading only, a limit on time and on the size of one value.
 */
#include <string.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"

#define DEFAULT_TIMEOUT_NS INT64_C(60000000000)

enum { MAX_VALUE_BYTES = 64 << 20, STEPS_BETWEEN_LOOKS = 20000 };

/* ---- permission ---- */

static bool pragma_is_harmless(const char *name, const char *argument) {
    static const char *const with_argument[] = {"table_info", "table_xinfo", "index_list",
                                                "index_info", "foreign_key_list"};
    static const char *const without[] = {"table_list", "user_version", "application_id",
                                          "page_count", "page_size"};
    for (size_t i = 0; i < HONE_COUNT(with_argument); i++) {
        if (sqlite3_stricmp(name, with_argument[i]) == 0) return true;
    }
    for (size_t i = 0; i < HONE_COUNT(without); i++) {
        if (!argument && sqlite3_stricmp(name, without[i]) == 0) return true;
    }
    return false;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
                     const char *trigger) {
    (void)ctx, (void)database, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return sqlite3_stricmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return pragma_is_harmless(a, b) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int is_late(void *ctx) {
    return hone_clock_now(hone_clock_system()) > *(const int64_t *)ctx;
}

/* ---- one statement ---- */

static hone_status sql_error(db_sqlite *db, int rc, int64_t timeout_ns) {
    if ((rc & 0xff) == SQLITE_INTERRUPT) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "the query ran for more than %.0f s",
                          (double)timeout_ns / 1e9);
    }
    if ((rc & 0xff) == SQLITE_AUTH) {
        return HONE_ERROR(HONE_CODE_INVALID, "only reading statements are allowed here: %s",
                          sqlite3_errmsg(db->sql));
    }
    if ((rc & 0xff) != SQLITE_ERROR && (rc & 0xff) != SQLITE_TOOBIG) {
        return db_sqlite_error(db, rc, "run the query");
    }
    const char *reason = sqlite3_errmsg(db->sql);
    bool no_table = strncmp(reason, "no such table", 13) == 0;
    return HONE_ERROR(HONE_CODE_INVALID, "%s%s", reason,
                      no_table ? "; there are v_trials, v_best, v_tasks, v_failures, v_sessions, "
                                 "v_targets, v_workloads, v_samples, v_curve"
                               : "");
}

static bool is_blank(const char *tail) {
    return tail[strspn(tail, " \t\r\n;")] == '\0';
}

static hone_status prepare_user(db_sqlite *db, const char *sql, int64_t timeout_ns,
                                sqlite3_stmt **out_stmt) {
    const char *tail = "";
    int rc = sqlite3_prepare_v2(db->sql, sql, -1, out_stmt, &tail);
    if (rc != SQLITE_OK) return sql_error(db, rc, timeout_ns);
    if (!*out_stmt) return HONE_ERROR(HONE_CODE_INVALID, "there is no statement in '%s'", sql);
    if (!is_blank(tail)) {
        return HONE_ERROR(HONE_CODE_INVALID, "one statement at a time; what follows is '%s'", tail);
    }
    if (!sqlite3_stmt_readonly(*out_stmt)) {
        return HONE_ERROR(HONE_CODE_INVALID, "only reading statements are allowed here");
    }
    return HONE_OK;
}

/* ---- parameters ---- */

static hone_status find_value(sqlite3_stmt *stmt, int at, const hone_db_statement *statement,
                              const hone_db_cell **out_value) {
    const char *name = sqlite3_bind_parameter_name(stmt, at); /* NULL, "?3", ":name" */
    bool is_named = name && name[0] != '?';
    for (size_t i = 0; i < statement->parameter_count && is_named; i++) {
        const hone_db_parameter *given = &statement->parameters[i];
        if (!given->name || strcmp(given->name, name + 1) != 0) continue;
        *out_value = &given->value;
        return HONE_OK;
    }
    size_t place = (size_t)at - 1;
    if (place < statement->parameter_count && !statement->parameters[place].name) {
        *out_value = &statement->parameters[place].value;
        return HONE_OK;
    }
    if (is_named) return HONE_ERROR(HONE_CODE_INVALID, "parameter '%s' has no value", name);
    return HONE_ERROR(HONE_CODE_INVALID, "parameter %d has no value", at);
}

static int bind_value(sqlite3_stmt *stmt, int at, const hone_db_cell *value) {
    switch (value->kind) {
    case HONE_DB_CELL_INT:
        return sqlite3_bind_int64(stmt, at, value->i);
    case HONE_DB_CELL_REAL:
        return sqlite3_bind_double(stmt, at, value->f);
    case HONE_DB_CELL_TEXT:
        return sqlite3_bind_text64(stmt, at, value->text, value->length, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case HONE_DB_CELL_BLOB:
        return sqlite3_bind_blob64(stmt, at, value->text, value->length, SQLITE_STATIC);
    case HONE_DB_CELL_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, at);
}

static hone_status bind_parameters(db_sqlite *db, sqlite3_stmt *stmt,
                                   const hone_db_statement *statement) {
    int count = sqlite3_bind_parameter_count(stmt);
    for (int at = 1; at <= count; at++) {
        const hone_db_cell *value = NULL;
        HONE_TRY(find_value(stmt, at, statement, &value));
        int rc = bind_value(stmt, at, value);
        if (rc != SQLITE_OK) return sql_error(db, rc, statement->timeout_ns);
    }
    for (size_t i = (size_t)count; i < statement->parameter_count; i++) {
        if (statement->parameters[i].name) continue; /* a table of values may have more */
        return HONE_ERROR(HONE_CODE_INVALID, "%zu values for a statement with %d parameters",
                          statement->parameter_count, count);
    }
    return HONE_OK;
}

/* ---- rows ---- */

static void read_cell(sqlite3_stmt *stmt, int at, hone_db_cell *cell) {
    *cell = (hone_db_cell){.kind = HONE_DB_CELL_NULL};
    switch (sqlite3_column_type(stmt, at)) {
    case SQLITE_INTEGER:
        cell->kind = HONE_DB_CELL_INT;
        cell->i = sqlite3_column_int64(stmt, at);
        break;
    case SQLITE_FLOAT:
        cell->kind = HONE_DB_CELL_REAL;
        cell->f = sqlite3_column_double(stmt, at);
        break;
    case SQLITE_TEXT:
        cell->kind = HONE_DB_CELL_TEXT;
        cell->text = db_column_text(stmt, at);
        cell->length = (size_t)sqlite3_column_bytes(stmt, at);
        break;
    case SQLITE_BLOB:
        cell->kind = HONE_DB_CELL_BLOB;
        cell->text = sqlite3_column_blob(stmt, at);
        cell->length = (size_t)sqlite3_column_bytes(stmt, at);
        break;
    default:
        break;
    }
}

/* Names and cells of one row, reused for all. */
typedef struct row_storage {
    size_t count;
    const char **names;
    hone_db_cell *cells;
} row_storage;

static hone_status visit_rows(db_sqlite *db, sqlite3_stmt *stmt, row_storage *storage,
                              int64_t timeout_ns, hone_db_visit_row visit, void *ctx) {
    for (size_t i = 0; i < storage->count; i++) {
        storage->names[i] = sqlite3_column_name(stmt, (int)i);
        if (!storage->names[i]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "column name");
    }
    hone_db_row row = {.count = storage->count, .names = storage->names};
    bool go_on = visit(ctx, &row);
    row.cells = storage->cells;
    while (go_on) {
        int rc = sqlite3_step(stmt);
        if (rc == SQLITE_DONE) break;
        if (rc != SQLITE_ROW) return sql_error(db, rc, timeout_ns);
        for (size_t i = 0; i < storage->count; i++)
            read_cell(stmt, (int)i, &storage->cells[i]);
        go_on = visit(ctx, &row);
    }
    return HONE_OK;
}

static hone_status run_user(db_sqlite *db, const hone_db_statement *statement,
                            hone_db_visit_row visit, void *ctx) {
    sqlite3_stmt *stmt = NULL;
    row_storage storage = {0};
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, prepare_user(db, statement->sql, statement->timeout_ns, &stmt), done);
    HONE_TRY_GOTO(st, bind_parameters(db, stmt, statement), done);
    storage.count = (size_t)sqlite3_column_count(stmt);
    storage.names = hone_calloc(storage.count + 1, sizeof *storage.names);
    storage.cells = hone_calloc(storage.count + 1, sizeof *storage.cells);
    if (!storage.names || !storage.cells) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "query row");
        goto done;
    }
    HONE_TRY_GOTO(st, visit_rows(db, stmt, &storage, statement->timeout_ns, visit, ctx), done);
done:
    hone_free(storage.names);
    hone_free(storage.cells);
    sqlite3_finalize(stmt);
    return st;
}

hone_status db_sqlite_select(hone_db *base, const hone_db_statement *statement,
                             hone_db_visit_row visit, void *ctx) {
    hone_db_statement bounded = *statement;
    if (bounded.timeout_ns <= 0) bounded.timeout_ns = DEFAULT_TIMEOUT_NS;
    db_sqlite reader = {.path = db_sqlite_of(base)->path};
    hone_db_options options = {.path = reader.path, .mode = HONE_DB_READ};
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, db_sqlite_connect(&reader, &options), done);
    int64_t deadline_ns = hone_clock_now(hone_clock_system()) + bounded.timeout_ns;
    sqlite3_limit(reader.sql, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    sqlite3_progress_handler(reader.sql, STEPS_BETWEEN_LOOKS, is_late, &deadline_ns);
    sqlite3_set_authorizer(reader.sql, authorize, NULL);
    HONE_TRY_GOTO(st, run_user(&reader, &bounded, visit, ctx), done);
done:
    sqlite3_close_v2(reader.sql);
    return st;
}
