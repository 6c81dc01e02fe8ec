/* database/sqlite/db_sqlite_stmt.c - prepared statements, binding, and what SQLite's codes mean. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "database/sqlite/db_sqlite_schema.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"

#define WORKLOAD_ROWS "SELECT hash, hash_version, name, flops, args_json, program FROM workload"
#define TARGET_ROWS "SELECT hash, threads, text FROM target"
#define SESSION_ROWS                                                                               \
    "SELECT uid, state, started_ns, ended_ns, seed, look_ahead, budget_trials, budget_ns, model,"  \
    " hone_version, command_line, options_json, owner FROM session"

#define OF_A_TASK                                                                                  \
    "workload_id = (SELECT id FROM workload WHERE hash = ?1)"                                      \
    " AND target_id = (SELECT id FROM target WHERE hash = ?2)"

/* Of the task k, by an index that holds the column. */
#define BEST_TIME(column, which)                                                                   \
    "(SELECT " column " FROM trial WHERE workload_id = k.workload_id"                              \
    " AND target_id = k.target_id AND " which " AND " DB_HAS_TIMES("trial.") " ORDER BY " column   \
                                                                             " LIMIT 1)"

static const char *const texts[DB_STMT_COUNT] = {
    [DB_STMT_BEGIN] = "BEGIN IMMEDIATE",
    [DB_STMT_COMMIT] = "COMMIT",
    [DB_STMT_ROLLBACK] = "ROLLBACK",
    [DB_STMT_PUT_WORKLOAD] =
        "INSERT INTO workload(hash, hash_version, name, flops, args_json, program, checksum)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, hone_sum(?1, ?2, ?3, ?4, ?5, ?6))"
        " ON CONFLICT(hash) DO NOTHING",
    [DB_STMT_PUT_TARGET] = "INSERT INTO target(hash, threads, text, checksum)"
                           " VALUES(?1, ?2, ?3, hone_sum(?1, ?2, ?3))"
                           " ON CONFLICT(hash) DO NOTHING",
    [DB_STMT_BEGIN_SESSION] =
        "INSERT INTO session(uid, state, started_ns, ended_ns, seed, look_ahead, budget_trials,"
        " budget_ns, model, hone_version, command_line, options_json, owner)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
        " ON CONFLICT(uid) DO NOTHING",
    /* What changes a row keeps a checksum that was wrong before wrong. */
    [DB_STMT_END_SESSION] =
        "UPDATE session SET state = ?2, ended_ns = ?3, checksum = CASE WHEN checksum "
        "IS " DB_SESSION_SUM("state", "ended_ns") " THEN " DB_SESSION_SUM(
            "?2", "?3") " ELSE checksum END WHERE uid = ?1",
    [DB_STMT_FIND_WORKLOAD] = "SELECT id FROM workload WHERE hash = ?1",
    [DB_STMT_FIND_TARGET] = "SELECT id FROM target WHERE hash = ?1",
    [DB_STMT_FIND_SESSION] = "SELECT id FROM session WHERE uid = ?1",
    [DB_STMT_PUT_TRIAL] =
        "INSERT INTO trial(uid, session_id, workload_id, target_id, proposal, sketch, program,"
        " outcome, median_ns, spread, max_error, confirmed_ns, predicted_score, search_ns,"
        " queue_ns, build_ns, transfer_ns, load_ns, measure_ns, check_ns, wall_ns, drift, device,"
        " message, trace, confirmed_at_ns) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
        " ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)"
        " ON CONFLICT DO NOTHING",
    [DB_STMT_PUT_SAMPLE] = "INSERT INTO sample(trial_id, number, ns) VALUES(?1, ?2, ?3)",
    [DB_STMT_PUT_FEATURE] = "INSERT INTO feature(trial_id, version, row_count, column_count, data)"
                            " VALUES(?1, ?2, ?3, ?4, ?5)",
    [DB_STMT_REPLACE_WORKLOAD] =
        "UPDATE workload SET hash_version = ?2, name = ?3, flops = ?4, args_json = ?5,"
        " program = ?6, checksum = hone_sum(?1, ?2, ?3, ?4, ?5, ?6) WHERE hash = ?1",
    [DB_STMT_REPLACE_SESSION] =
        "UPDATE session SET state = ?2, started_ns = ?3, ended_ns = ?4, seed = ?5, look_ahead = ?6,"
        " budget_trials = ?7, budget_ns = ?8, model = ?9, hone_version = ?10, command_line = ?11,"
        " options_json = ?12, owner = ?13 WHERE uid = ?1",
    [DB_STMT_REPLACE_TRIAL] =
        "UPDATE trial SET session_id = ?2, workload_id = ?3, target_id = ?4, proposal = ?5,"
        " sketch = ?6, program = ?7, outcome = ?8, median_ns = ?9, spread = ?10, max_error = ?11,"
        " confirmed_ns = ?12, predicted_score = ?13, search_ns = ?14, queue_ns = ?15,"
        " build_ns = ?16, transfer_ns = ?17, load_ns = ?18, measure_ns = ?19, check_ns = ?20,"
        " wall_ns = ?21, drift = ?22, device = ?23, message = ?24, trace = ?25,"
        " confirmed_at_ns = ?26 WHERE uid = ?1",
    [DB_STMT_DROP_SAMPLES] = "DELETE FROM sample WHERE trial_id = ?1",
    [DB_STMT_DROP_FEATURE] = "DELETE FROM feature WHERE trial_id = ?1",
    [DB_STMT_SUM_SESSION] =
        "UPDATE session SET checksum = " DB_SESSION_SUM("state", "ended_ns") " WHERE uid = ?1",
    [DB_STMT_SUM_TRIAL] = "UPDATE trial SET checksum = " DB_TRIAL_SUM(
        "confirmed_ns", "confirmed_at_ns") " WHERE id = ?1",
    [DB_STMT_CONFIRM] =
        "UPDATE trial SET confirmed_ns = ?2, confirmed_at_ns = ?3, checksum = CASE WHEN checksum "
        "IS " DB_TRIAL_SUM("confirmed_ns", "confirmed_at_ns") " THEN " DB_TRIAL_SUM(
            "?2", "?3") " ELSE checksum END WHERE id = ?1 AND outcome = 'ok'",
    [DB_STMT_PRUNE] =
        "DELETE FROM trial WHERE confirmed_ns IS NULL AND sketch >= 0 AND id NOT IN"
        " (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY workload_id, target_id"
        " ORDER BY median_ns, uid) AS place FROM trial WHERE outcome = 'ok'"
        " AND " DB_HAS_TIMES("trial.") ") WHERE place <= ?1)",
    [DB_STMT_PRUNE_TASKS] = "INSERT OR REPLACE INTO task SELECT" DB_TASK_COUNTS,
    [DB_STMT_SAMPLES] = "SELECT ns FROM sample WHERE trial_id = ?1 ORDER BY number",
    [DB_STMT_FEATURE] =
        "SELECT version, row_count, column_count, data FROM feature WHERE trial_id = ?1",
    [DB_STMT_FIND_UID] = "SELECT id FROM trial WHERE uid >= ?1 AND uid < ?1 || 'g' LIMIT 2",
    [DB_STMT_HAS_PROGRAM] = "SELECT 1 FROM trial"
                            " WHERE workload_id = (SELECT id FROM workload WHERE hash = ?1)"
                            " AND target_id = (SELECT id FROM target WHERE hash = ?2)"
                            " AND program = ?3 AND id <= ?4 LIMIT 1",
    [DB_STMT_HISTORY_TIMES] =
        "SELECT id, wall_ns FROM trial INDEXED BY trial_latest WHERE " OF_A_TASK
        " ORDER BY wall_ns",
    [DB_STMT_HISTORY_MEDIANS] =
        "SELECT id, median_ns FROM trial INDEXED BY trial_fastest"
        " WHERE " OF_A_TASK " AND outcome = 'ok' AND " DB_IS_TIME("median_ns"),
    [DB_STMT_HISTORY_CONFIRMED] =
        "SELECT id, confirmed_ns FROM trial INDEXED BY trial_confirmed"
        " WHERE " OF_A_TASK " AND confirmed_ns IS NOT NULL AND " DB_IS_TIME("confirmed_ns"),
    [DB_STMT_HISTORY_SESSIONS] =
        "SELECT t.id, s.place FROM"
        " (SELECT id, row_number() OVER (ORDER BY started_ns, uid) - 1 AS place FROM session) s"
        " CROSS JOIN trial t WHERE t.session_id = s.id AND " OF_A_TASK,
    [DB_STMT_WORKLOADS] = WORKLOAD_ROWS " ORDER BY id",
    [DB_STMT_WORKLOAD] = WORKLOAD_ROWS " WHERE hash = ?1",
    [DB_STMT_WORKLOAD_AT] = WORKLOAD_ROWS " WHERE id = ?1",
    [DB_STMT_TARGETS] = TARGET_ROWS " ORDER BY id",
    [DB_STMT_TARGET] = TARGET_ROWS " WHERE hash = ?1",
    [DB_STMT_TARGET_AT] = TARGET_ROWS " WHERE id = ?1",
    [DB_STMT_SESSIONS] = SESSION_ROWS " ORDER BY started_ns, uid",
    [DB_STMT_SESSION] = SESSION_ROWS " WHERE uid = ?1",
    [DB_STMT_SESSION_AT] = SESSION_ROWS " WHERE id = ?1",
    [DB_STMT_TASKS] =
        "SELECT w.hash, g.hash, w.name, g.text, g.threads, w.flops, k.trials, k.ok, k.confirmed,"
        " coalesce(" BEST_TIME("confirmed_ns", "confirmed_ns IS NOT NULL") ", " BEST_TIME(
            "median_ns", "outcome = 'ok'") "), k.last_wall_ns FROM task k"
                                           " JOIN workload w ON w.id = k.workload_id"
                                           " JOIN target g ON g.id = k.target_id"
                                           " WHERE k.trials > 0 ORDER BY w.name, w.hash, g.hash",
    /* max(t.id) makes t.message that of the latest trial: SQLite's rule for bare columns. */
    [DB_STMT_FAILURES] =
        "SELECT t.outcome, w.name, w.hash, count(*), t.message,"
        " max(printf('%020d', t.wall_ns) || t.uid)"
        " FROM trial t JOIN workload w ON w.id = t.workload_id WHERE t.outcome <> 'ok'"
        " GROUP BY t.outcome, t.workload_id ORDER BY count(*) DESC, t.outcome, w.name, w.hash",
    [DB_STMT_STATS] = "SELECT count(*), count(median_ns), count(confirmed_ns), min(wall_ns),"
                      " max(wall_ns), sum(search_ns), sum(queue_ns), sum(build_ns),"
                      " sum(transfer_ns), sum(load_ns), sum(measure_ns), sum(check_ns) FROM trial",
    [DB_STMT_COUNTS] = "SELECT (SELECT count(*) FROM workload), (SELECT count(*) FROM target),"
                       " (SELECT count(*) FROM session),"
                       " (SELECT page_count * page_size FROM pragma_page_count,"
                       " pragma_page_size), (SELECT user_version FROM pragma_user_version)",
};

static hone_code code_of(int rc) {
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return HONE_CODE_NO_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return HONE_CODE_TIMEOUT;
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return HONE_CODE_IO;
    case SQLITE_INTERRUPT: /* it led in circles: db_sqlite_bound_steps */
    case SQLITE_ERROR:     /* our statements are right: it is the schema that is not */
    case SQLITE_MISMATCH:
    case SQLITE_FORMAT:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_SCHEMA:
        return HONE_CODE_INVALID;
    default:
        return HONE_CODE_INTERNAL;
    }
}

const char *db_sqlite_damage_advice(const db_sqlite *db) {
    return db->is_checking ? "; 'hone db recover' saves what can be read"
                           : "; the file is damaged: 'hone db check' lists what is wrong, "
                             "'hone db recover' saves what can be read";
}

/* What a person should know beside SQLite's own words. */
static const char *advice_of(const db_sqlite *db, int rc) {
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return "; what was committed before is kept";
    case SQLITE_IOERR:
        return "; is the disk full or gone? what was committed before is kept";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return "; another process holds the database";
    case SQLITE_INTERRUPT:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_FORMAT:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return db_sqlite_damage_advice(db);
    case SQLITE_READONLY:
        return "; the file or its directory cannot be written";
    default:
        return "";
    }
}

static int64_t bytes_with(const char *path, const char *suffix) {
    struct stat facts;
    hone_str name = {0};
    hone_str_printf(&name, "%s%s", path, suffix);
    bool is_there = !name.failed && stat(name.data, &facts) == 0;
    hone_str_deinit(&name);
    return is_there ? (int64_t)facts.st_size : 0;
}

/* Of the file and its log. */
static int64_t bytes_of(const db_sqlite *db) {
    return db->path ? bytes_with(db->path, "") + bytes_with(db->path, "-wal") : 0;
}

/* SQLite takes sizes in a damaged file at their word and finds no memory for them. It is the file's
 * fault where there is memory for all of it, and for what SQLite keeps beside. */
static bool asks_too_much(const db_sqlite *db, int rc) {
    enum { BESIDE = 16 << 20 };
    if ((rc & 0xff) != SQLITE_NOMEM) return false;
    void *room = hone_malloc((size_t)bytes_of(db) + BESIDE);
    bool is_there = room != NULL;
    hone_free(room);
    return is_there;
}

hone_status db_sqlite_error(const db_sqlite *db, int rc, const char *doing) {
    const char *reason = db->sql ? sqlite3_errmsg(db->sql) : sqlite3_errstr(rc);
    if (asks_too_much(db, rc)) {
        rc = SQLITE_CORRUPT;
        reason = "it asks for more memory than there can be need of";
    }
    int number = db->sql ? sqlite3_system_errno(db->sql) : 0;
    bool tell = number && code_of(rc) == HONE_CODE_IO && (rc & 0xff) != SQLITE_READONLY;
    return HONE_ERROR(code_of(rc), "%s: cannot %s: %s%s%s%s", db->path, doing, reason,
                      tell ? ": " : "", tell ? strerror(number) : "", advice_of(db, rc));
}

/* A page holds some ten rows, and some hundreds of samples; a row takes some hundreds of steps. */
enum {
    STEPS_BETWEEN_LOOKS = 100000,
    LEAST_STEPS = 50000000,
    STEPS_PER_PAGE = 20000,
    PAGE_BYTES = 4096
};

static int count_steps(void *ctx) {
    db_sqlite *db = ctx;
    db->steps += STEPS_BETWEEN_LOOKS;
    if (db->steps <= LEAST_STEPS) return 0;
    int64_t pages = bytes_of(db) / PAGE_BYTES;
    return db->steps > LEAST_STEPS + STEPS_PER_PAGE * pages;
}

void db_sqlite_bound_steps(db_sqlite *db) {
    db->steps = 0;
    sqlite3_progress_handler(db->sql, STEPS_BETWEEN_LOOKS, count_steps, db);
}

hone_status db_sqlite_exec(db_sqlite *db, const char *text, const char *doing) {
    db->steps = 0;
    int rc = sqlite3_exec(db->sql, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? HONE_OK : db_sqlite_error(db, rc, doing);
}

hone_status db_sqlite_stmt(db_sqlite *db, db_stmt_id id, sqlite3_stmt **out_stmt) {
    assert(id < DB_STMT_COUNT && texts[id]);
    *out_stmt = NULL;
    if (!db->stmts[id]) {
        int rc = sqlite3_prepare_v3(db->sql, texts[id], -1, SQLITE_PREPARE_PERSISTENT,
                                    &db->stmts[id], NULL);
        if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "prepare a statement");
    }
    db->steps = 0;
    sqlite3_reset(db->stmts[id]);
    sqlite3_clear_bindings(db->stmts[id]);
    *out_stmt = db->stmts[id];
    return HONE_OK;
}

hone_status db_sqlite_step(db_sqlite *db, sqlite3_stmt *stmt, const char *doing, bool *out_row) {
    int rc = sqlite3_step(stmt);
    *out_row = rc == SQLITE_ROW;
    if (*out_row) return HONE_OK;
    hone_status st = rc == SQLITE_DONE ? HONE_OK : db_sqlite_error(db, rc, doing);
    sqlite3_reset(stmt);
    return st;
}

hone_status db_sqlite_run(db_sqlite *db, sqlite3_stmt *stmt, const char *doing) {
    bool row = true;
    while (row)
        HONE_TRY(db_sqlite_step(db, stmt, doing, &row));
    return HONE_OK;
}

void db_sqlite_finalize_all(db_sqlite *db) {
    for (int i = 0; i < DB_STMT_COUNT; i++) {
        sqlite3_finalize(db->stmts[i]);
        db->stmts[i] = NULL;
    }
    for (int i = 0; i < DB_KEPT_QUERIES; i++) {
        sqlite3_finalize(db->queries[i].stmt);
        hone_free(db->queries[i].text);
        db->queries[i] = (db_kept_query){0};
    }
}

static void keep_first(int *rc, int next) {
    if (*rc == SQLITE_OK) *rc = next;
}

void db_bind_text(sqlite3_stmt *stmt, int at, const char *text, int *rc) {
    keep_first(rc, text ? sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT)
                        : sqlite3_bind_null(stmt, at));
}

void db_bind_int(sqlite3_stmt *stmt, int at, int64_t value, int *rc) {
    keep_first(rc, sqlite3_bind_int64(stmt, at, value));
}

void db_bind_real(sqlite3_stmt *stmt, int at, double value, int *rc) {
    keep_first(rc,
               isnan(value) ? sqlite3_bind_null(stmt, at) : sqlite3_bind_double(stmt, at, value));
}

void db_bind_hash(sqlite3_stmt *stmt, int at, const hone_hash128 *hash, int *rc) {
    if (!hash) {
        keep_first(rc, sqlite3_bind_null(stmt, at));
        return;
    }
    char hex[33];
    hone_hash128_print(*hash, hex);
    db_bind_text(stmt, at, hex, rc);
}

const char *db_column_text(sqlite3_stmt *stmt, int at) {
    return (const char *)sqlite3_column_text(stmt, at);
}

double db_column_real(sqlite3_stmt *stmt, int at) {
    return sqlite3_column_type(stmt, at) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, at);
}

hone_status db_column_hash(const db_sqlite *db, sqlite3_stmt *stmt, int at,
                           hone_hash128 *out_hash) {
    const char *text = db_column_text(stmt, at);
    if (text && hone_hash128_parse(text, out_hash)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s: '%s' in column %s is no hash%s", db->path,
                      text ? text : "<null>", sqlite3_column_name(stmt, at),
                      db_sqlite_damage_advice(db));
}
