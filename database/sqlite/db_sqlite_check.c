/* database/sqlite/db_sqlite_check.c - looks through a whole file. What is damaged is a finding, not
 * the end of the search.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "database/sqlite/db_sqlite_schema.h"
#include "support/core/strbuf.h"

typedef struct findings {
    hone_db_report report;
    void *ctx;
    int64_t count;
    const char *what; /* whose rows are looked at */
} findings;

static void find(findings *f, const char *line) {
    f->count++;
    f->report(f->ctx, line);
}

HONE_PRINTF(2, 3) static void find_text(findings *f, const char *format, ...) {
    hone_str line = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&line, format, args);
    va_end(args);
    find(f, hone_str_text(&line));
    hone_str_deinit(&line);
}

/* Damage that ends a question is a finding, too. */
static hone_status note_damage(findings *f, hone_status st) {
    if (hone_status_code(st) != HONE_CODE_INVALID) return st;
    find(f, hone_status_message(st));
    hone_status_free(st);
    return HONE_OK;
}

/* Asks something whose rows are findings; `describe` turns a row into a line. */
static hone_status ask(db_sqlite *db, const char *text, findings *f,
                       void (*describe)(sqlite3_stmt *stmt, findings *f)) {
    sqlite3_stmt *stmt = NULL;
    db->steps = 0;
    int rc = sqlite3_prepare_v2(db->sql, text, -1, &stmt, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW) describe(stmt, f);
    }
    hone_status st = rc == SQLITE_DONE ? HONE_OK : db_sqlite_error(db, rc, "check the file");
    sqlite3_finalize(stmt);
    return note_damage(f, st);
}

static void describe_page(sqlite3_stmt *stmt, findings *f) {
    const char *text = db_column_text(stmt, 0);
    if (text && strcmp(text, "ok") != 0) find(f, text);
}

static void describe_key(sqlite3_stmt *stmt, findings *f) {
    find_text(f, "row %" PRId64 " of %s refers to a row of %s that is not there",
              (int64_t)sqlite3_column_int64(stmt, 1), db_column_text(stmt, 0),
              db_column_text(stmt, 2));
}

static void describe_sum(sqlite3_stmt *stmt, findings *f) {
    find_text(f, "%s %s is not what was written: its checksum differs", f->what,
              db_column_text(stmt, 0));
}

static void describe_counts(sqlite3_stmt *stmt, findings *f) {
    find_text(f, "the trials of workload %s for target %s are counted wrong",
              db_column_text(stmt, 0), db_column_text(stmt, 1));
}

/* A file whose log is empty has all its pages. */
static hone_status check_size(const db_sqlite *db, findings *f) {
    struct stat facts;
    hone_str log = {0};
    hone_str_printf(&log, "%s-wal", db->path);
    bool has_log = stat(hone_str_text(&log), &facts) == 0 && facts.st_size > 0;
    hone_status st = hone_str_check(&log);
    hone_str_deinit(&log);
    if (st || has_log || db->is_copy || stat(db->path, &facts) != 0) return st;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(
        db->sql, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", -1,
        &stmt, NULL);
    if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
        sqlite3_column_int64(stmt, 0) != facts.st_size) {
        find_text(f, "the file has %" PRId64 " bytes, must have %" PRId64, (int64_t)facts.st_size,
                  (int64_t)sqlite3_column_int64(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return HONE_OK;
}

static hone_status check_sums(db_sqlite *db, findings *f) {
    /* clang-format off */
    static const struct row {
        const char *what, *sql;
    } rows[] = {
        {"workload", "SELECT hash FROM workload WHERE checksum IS NOT " DB_WORKLOAD_SUM},
        {"target", "SELECT hash FROM target WHERE checksum IS NOT " DB_TARGET_SUM},
        {"session",
         "SELECT uid FROM session WHERE checksum IS NOT " DB_SESSION_SUM("state", "ended_ns")},
        {"record", "SELECT id FROM trial WHERE checksum IS NOT " DB_TRIAL_SUM("confirmed_ns",
                                                                              "confirmed_at_ns")},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        f->what = rows[i].what;
        HONE_TRY(ask(db, rows[i].sql, f, describe_sum));
    }
    return HONE_OK;
}

static const char wrong_counts[] =
    "WITH counted AS (SELECT" DB_TASK_COUNTS "),"
    " kept AS (SELECT * FROM task WHERE trials > 0),"
    " wrong AS (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)"
    "  UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted))"
    " SELECT DISTINCT w.hash, g.hash FROM wrong"
    " JOIN workload w ON w.id = workload_id JOIN target g ON g.id = target_id";

static bool check_trial(void *ctx, const hone_db_trial *trial) {
    hone_hash128 want =
        hone_db_trial_uid(trial->session, &trial->workload, &trial->target, trial->proposal);
    if (!hone_hash128_equal(want, trial->uid))
        find_text(ctx, "the uid of record %" PRId64 " does not fit what it identifies",
                  trial->record);
    hone_status st = hone_db_check_trial(trial);
    if (st) find_text(ctx, "record %" PRId64 ": %s", trial->record, hone_status_message(st));
    hone_status_free(st);
    return true;
}

hone_status db_sqlite_check(hone_db *base, hone_db_report report, void *ctx) {
    db_sqlite *db = db_sqlite_of(base);
    findings f = {.report = report, .ctx = ctx};
    hone_db_query everything = {
        .filter = {.with_samples = true, .with_features = true}
    };
    HONE_TRY(check_size(db, &f));
    HONE_TRY(ask(db, "PRAGMA integrity_check", &f, describe_page));
    HONE_TRY(ask(db, "PRAGMA foreign_key_check", &f, describe_key));
    HONE_TRY(check_sums(db, &f));
    HONE_TRY(ask(db, wrong_counts, &f, describe_counts));
    if (!f.count) HONE_TRY(note_damage(&f, db_sqlite_query(base, &everything, check_trial, &f)));
    if (!f.count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s: is damaged: %" PRId64 " findings", db->path, f.count);
}
