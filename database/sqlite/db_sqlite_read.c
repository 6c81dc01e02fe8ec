/* database/sqlite/db_sqlite_read.c - queries with typed rows. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "database/sqlite/db_sqlite_schema.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"

/* ---- trials ---- */

/* CROSS JOIN keeps the trial table outermost, where its indices give the order. */
static const char trial_select[] =
    "SELECT t.id, t.uid, s.uid, w.hash, g.hash, t.proposal, t.sketch, t.program, t.outcome,"
    " t.median_ns, t.spread, t.max_error, t.confirmed_ns, t.predicted_score, t.search_ns,"
    " t.queue_ns, t.build_ns, t.transfer_ns, t.load_ns, t.measure_ns, t.check_ns, t.wall_ns,"
    " t.drift, t.device, t.message, ";
static const char trial_from[] =
    " FROM trial t CROSS JOIN session s ON s.id = t.session_id"
    " CROSS JOIN workload w ON w.id = t.workload_id CROSS JOIN target g ON g.id = t.target_id";

/* Parameters are numbered: those that a query does not name stay unbound and unused. */
static void append_where(hone_str *text, const hone_db_query *query) {
    const hone_db_filter *f = &query->filter;
    bool ok_only = f->order == HONE_DB_ORDER_FASTEST || query->by_confirmed;
    bool is_ok = f->outcome && strcmp(f->outcome, HONE_DB_OUTCOME_OK) == 0;
    hone_str_append(text, " WHERE 1");
    if (f->record) hone_str_append(text, " AND t.id = ?1");
    if (f->workload) {
        hone_str_append(text, " AND t.workload_id = (SELECT id FROM workload WHERE hash = ?2)");
    }
    if (f->target) {
        hone_str_append(text, " AND t.target_id = (SELECT id FROM target WHERE hash = ?3)");
    }
    if (f->session) {
        hone_str_append(text, " AND t.session_id = (SELECT id FROM session WHERE uid = ?4)");
    }
    if (f->program) hone_str_append(text, " AND t.program = ?5");
    /* A literal, so that the indices of good records serve. */
    if (f->outcome && !is_ok) hone_str_append(text, " AND t.outcome = ?6");
    if (ok_only || is_ok) hone_str_append(text, " AND t.outcome = 'ok' AND " DB_HAS_TIMES("t."));
    if (query->confirmed == HONE_DB_CONFIRMED_ONLY) {
        hone_str_append(text, " AND t.confirmed_ns IS NOT NULL");
    } else if (query->confirmed == HONE_DB_CONFIRMED_NOT) {
        hone_str_append(text, " AND t.confirmed_ns IS NULL");
    }
}

static void append_order(hone_str *text, const hone_db_query *query) {
    if (query->by_confirmed) {
        hone_str_append(text, " ORDER BY t.confirmed_ns, t.uid");
    } else if (query->filter.order == HONE_DB_ORDER_FASTEST) {
        /* A program or a session has few records: theirs are found and sorted (+: no index for
         * it), not looked for among all of the task. */
        bool are_few = query->filter.program || query->filter.session;
        hone_str_printf(text, " ORDER BY %st.median_ns, t.uid", are_few ? "+" : "");
    } else if (query->filter.order == HONE_DB_ORDER_RECORD) {
        hone_str_append(text, " ORDER BY t.id");
    } else if (query->filter.order == HONE_DB_ORDER_LATEST) {
        hone_str_append(text, " ORDER BY t.wall_ns DESC, t.id DESC");
    } else if (query->filter.order == HONE_DB_ORDER_LAST_RECORD) {
        hone_str_append(text, " ORDER BY t.id DESC");
    } else {
        hone_str_append(text, " ORDER BY s.started_ns, s.uid, t.proposal, t.id");
    }
    if (query->filter.limit > 0) hone_str_append(text, " LIMIT ?7");
}

/* Takes over the text. */
static hone_status prepare_kept(db_sqlite *db, char *text, db_kept_query *out) {
    *out = (db_kept_query){.text = text};
    int rc = sqlite3_prepare_v3(db->sql, text, -1, SQLITE_PREPARE_PERSISTENT, &out->stmt, NULL);
    if (rc == SQLITE_OK) return HONE_OK;
    hone_free(text);
    return db_sqlite_error(db, rc, "prepare a query");
}

/* Finds it among those that are kept, or makes it in the place of the one that was not used for the
 * longest time, and puts it in front. */
static hone_status keep_query(db_sqlite *db, char *text) {
    db_kept_query *kept = db->queries, one;
    int at = 0;
    while (at < DB_KEPT_QUERIES - 1 && kept[at].text && strcmp(kept[at].text, text) != 0)
        at++;
    if (kept[at].text && strcmp(kept[at].text, text) == 0) {
        one = kept[at];
        hone_free(text);
    } else {
        HONE_TRY(prepare_kept(db, text, &one));
        sqlite3_finalize(kept[at].stmt);
        hone_free(kept[at].text);
    }
    memmove(&kept[1], &kept[0], (size_t)at * sizeof *kept);
    kept[0] = one;
    return HONE_OK;
}

static hone_status prepare_query(db_sqlite *db, const hone_db_query *query,
                                 sqlite3_stmt **out_stmt) {
    hone_str text = {0};
    *out_stmt = NULL;
    hone_str_append(&text, trial_select);
    hone_str_append(&text,
                    query->filter.without_trace ? "NULL, NULL" : "t.trace, t.confirmed_at_ns");
    hone_str_append(&text, trial_from);
    append_where(&text, query);
    append_order(&text, query);
    HONE_TRY(hone_str_check(&text));
    HONE_TRY(keep_query(db, hone_str_take(&text)));
    *out_stmt = db->queries[0].stmt;
    sqlite3_clear_bindings(*out_stmt);
    db->steps = 0;
    return HONE_OK;
}

static int bind_query(sqlite3_stmt *stmt, const hone_db_query *query) {
    const hone_db_filter *f = &query->filter;
    int rc = SQLITE_OK;
    if (f->record) db_bind_int(stmt, 1, f->record, &rc);
    if (f->workload) db_bind_hash(stmt, 2, f->workload, &rc);
    if (f->target) db_bind_hash(stmt, 3, f->target, &rc);
    if (f->session) db_bind_text(stmt, 4, f->session, &rc);
    if (f->program) db_bind_hash(stmt, 5, f->program, &rc);
    if (f->outcome && strcmp(f->outcome, HONE_DB_OUTCOME_OK) != 0) {
        db_bind_text(stmt, 6, f->outcome, &rc);
    }
    if (f->limit > 0) db_bind_int(stmt, 7, f->limit, &rc);
    return rc;
}

static hone_status read_samples(db_sqlite *db, hone_db_trial *trial) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_SAMPLES, &stmt));
    int rc = SQLITE_OK;
    db_bind_int(stmt, 1, trial->record, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "read samples");
    size_t count = 0;
    for (;;) {
        bool row = false;
        HONE_TRY(db_sqlite_step(db, stmt, "read samples", &row));
        if (!row) break;
        if (count == db->sample_capacity) {
            size_t capacity = count ? 2 * count : 32;
            double *grown = hone_realloc_array(db->samples, capacity, sizeof *grown);
            if (!grown) return HONE_ERROR(HONE_CODE_NO_MEMORY, "samples");
            db->samples = grown;
            db->sample_capacity = capacity;
        }
        db->samples[count++] = sqlite3_column_double(stmt, 0);
    }
    trial->samples_ns = count ? db->samples : NULL;
    trial->sample_count = count;
    return HONE_OK;
}

static hone_status copy_features(db_sqlite *db, sqlite3_stmt *stmt, hone_db_trial *trial) {
    int64_t rows = sqlite3_column_int64(stmt, 1), columns = sqlite3_column_int64(stmt, 2);
    const void *data = sqlite3_column_blob(stmt, 3);
    size_t bytes = (size_t)sqlite3_column_bytes(stmt, 3);
    bool fits = rows >= 0 && columns >= 0 && rows <= (1 << 24) && columns <= (1 << 24) &&
                (uint64_t)rows * (uint64_t)columns * sizeof(float) == bytes;
    if (!fits) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s: features of record %" PRId64 " are %zu bytes for %" PRId64
                          " × %" PRId64 " numbers%s",
                          db->path, trial->record, bytes, rows, columns,
                          db_sqlite_damage_advice(db));
    }
    if (bytes > db->feature_capacity) {
        float *grown = hone_realloc(db->features, bytes);
        if (!grown) return HONE_ERROR(HONE_CODE_NO_MEMORY, "features");
        db->features = grown;
        db->feature_capacity = bytes;
    }
    if (bytes) memcpy(db->features, data, bytes);
    trial->feature_version = sqlite3_column_int(stmt, 0);
    trial->feature_rows = (uint32_t)rows;
    trial->feature_columns = (uint32_t)columns;
    trial->features = bytes ? db->features : NULL;
    return HONE_OK;
}

static hone_status read_features(db_sqlite *db, hone_db_trial *trial) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_FEATURE, &stmt));
    int rc = SQLITE_OK;
    db_bind_int(stmt, 1, trial->record, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "read features");
    bool row = false;
    HONE_TRY(db_sqlite_step(db, stmt, "read features", &row));
    if (!row) return HONE_OK;
    hone_status st = copy_features(db, stmt, trial);
    sqlite3_reset(stmt);
    return st;
}

/* A text that every row has. In a damaged one it may be NULL whatever the schema says. */
static hone_status column_needed(const db_sqlite *db, sqlite3_stmt *stmt, int at,
                                 const char **out_text) {
    *out_text = db_column_text(stmt, at);
    if (*out_text) return HONE_OK;
    if (sqlite3_errcode(db->sql) == SQLITE_NOMEM) return HONE_ERROR(HONE_CODE_NO_MEMORY, "a row");
    return HONE_ERROR(HONE_CODE_INVALID, "%s: a row has no %s%s", db->path,
                      sqlite3_column_name(stmt, at), db_sqlite_damage_advice(db));
}

/* Of a row that somebody has edited it may be anything; what no kernel can take is no time. */
static double column_time(sqlite3_stmt *stmt, int at) {
    double ns = db_column_real(stmt, at);
    return hone_run_is_time(ns) ? ns : NAN;
}

static hone_status read_trial(db_sqlite *db, sqlite3_stmt *stmt, const hone_db_filter *filter,
                              hone_db_trial *trial) {
    *trial = (hone_db_trial){0};
    trial->record = sqlite3_column_int64(stmt, 0);
    HONE_TRY(db_column_hash(db, stmt, 1, &trial->uid));
    HONE_TRY(column_needed(db, stmt, 2, &trial->session));
    HONE_TRY(db_column_hash(db, stmt, 3, &trial->workload));
    HONE_TRY(db_column_hash(db, stmt, 4, &trial->target));
    trial->proposal = sqlite3_column_int64(stmt, 5);
    trial->sketch = sqlite3_column_int(stmt, 6);
    HONE_TRY(db_column_hash(db, stmt, 7, &trial->program));
    HONE_TRY(column_needed(db, stmt, 8, &trial->outcome));
    trial->median_ns = column_time(stmt, 9);
    trial->spread = db_column_real(stmt, 10);
    trial->max_error = db_column_real(stmt, 11);
    trial->confirmed_ns = column_time(stmt, 12);
    trial->predicted_score = db_column_real(stmt, 13);
    trial->times = (hone_db_times){
        .search = sqlite3_column_int64(stmt, 14),
        .queue = sqlite3_column_int64(stmt, 15),
        .build = sqlite3_column_int64(stmt, 16),
        .transfer = sqlite3_column_int64(stmt, 17),
        .load = sqlite3_column_int64(stmt, 18),
        .measure = sqlite3_column_int64(stmt, 19),
        .check = sqlite3_column_int64(stmt, 20),
    };
    trial->wall_ns = sqlite3_column_int64(stmt, 21);
    trial->drift = db_column_text(stmt, 22);
    trial->device = db_column_text(stmt, 23);
    trial->message = db_column_text(stmt, 24);
    if (!filter->without_trace) HONE_TRY(column_needed(db, stmt, 25, &trial->trace));
    trial->confirmed_at_ns = sqlite3_column_int64(stmt, 26);
    if (filter->with_samples) HONE_TRY(read_samples(db, trial));
    if (filter->with_features) HONE_TRY(read_features(db, trial));
    return HONE_OK;
}

/* Pages that lead in circles repeat themselves. */
static hone_status check_order(const db_sqlite *db, const hone_db_query *query, int64_t *io_last,
                               int64_t record) {
    bool is_order = query->filter.order == HONE_DB_ORDER_RECORD && !query->by_confirmed;
    if (is_order && *io_last && record <= *io_last) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: record %" PRId64 " comes after %" PRId64 "%s",
                          db->path, record, *io_last, db_sqlite_damage_advice(db));
    }
    *io_last = record;
    return HONE_OK;
}

hone_status db_sqlite_query(hone_db *base, const hone_db_query *query, hone_db_visit_trial visit,
                            void *ctx) {
    db_sqlite *db = db_sqlite_of(base);
    sqlite3_stmt *stmt = NULL;
    HONE_TRY(prepare_query(db, query, &stmt));
    hone_status st = HONE_OK;
    int rc = bind_query(stmt, query);
    if (rc != SQLITE_OK) st = db_sqlite_error(db, rc, "read trials");
    bool go_on = !st;
    int64_t last = 0;
    while (go_on) {
        hone_db_trial trial;
        HONE_TRY_GOTO(st, db_sqlite_step(db, stmt, "read trials", &go_on), done);
        if (!go_on) break;
        HONE_TRY_GOTO(st, read_trial(db, stmt, &query->filter, &trial), done);
        HONE_TRY_GOTO(st, check_order(db, query, &last, trial.record), done);
        go_on = visit(ctx, &trial);
    }
done:
    sqlite3_reset(stmt);
    return st;
}

hone_status db_sqlite_find_uid(hone_db *base, const char *prefix, int *out_count,
                               int64_t *out_record) {
    db_sqlite *db = db_sqlite_of(base);
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_FIND_UID, &stmt));
    int rc = SQLITE_OK;
    db_bind_text(stmt, 1, prefix, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "find a record");
    for (*out_count = 0;; ++*out_count) {
        bool row = false;
        HONE_TRY(db_sqlite_step(db, stmt, "find a record", &row));
        if (!row) return HONE_OK;
        if (!*out_count) *out_record = sqlite3_column_int64(stmt, 0);
    }
}

/* ---- the rest ---- */

/* Begins one of the kept statements with up to one bound text or hash. */
typedef struct cursor {
    db_sqlite *db;
    sqlite3_stmt *stmt;
    const char *doing;
} cursor;

static hone_status cursor_open(cursor *c, db_sqlite *db, db_stmt_id id, const char *doing) {
    *c = (cursor){.db = db, .doing = doing};
    return db_sqlite_stmt(db, id, &c->stmt);
}

static hone_status cursor_bind(cursor *c, int at, const hone_hash128 *hash, const char *text) {
    int rc = SQLITE_OK;
    if (hash) {
        db_bind_hash(c->stmt, at, hash, &rc);
    } else {
        db_bind_text(c->stmt, at, text, &rc);
    }
    return rc == SQLITE_OK ? HONE_OK : db_sqlite_error(c->db, rc, c->doing);
}

static hone_status cursor_open_at(cursor *c, db_sqlite *db, db_stmt_id id, int64_t row,
                                  const char *doing) {
    HONE_TRY(cursor_open(c, db, id, doing));
    int rc = SQLITE_OK;
    db_bind_int(c->stmt, 1, row, &rc);
    return rc == SQLITE_OK ? HONE_OK : db_sqlite_error(db, rc, doing);
}

static hone_status cursor_next(cursor *c, bool *out_row) {
    return db_sqlite_step(c->db, c->stmt, c->doing, out_row);
}

static hone_status cursor_hash(cursor *c, int at, hone_hash128 *out_hash) {
    hone_status st = db_column_hash(c->db, c->stmt, at, out_hash);
    if (st) sqlite3_reset(c->stmt);
    return st;
}

static hone_status cursor_text(cursor *c, int at, const char **out_text) {
    hone_status st = column_needed(c->db, c->stmt, at, out_text);
    if (st) sqlite3_reset(c->stmt);
    return st;
}

static void cursor_close(cursor *c) {
    sqlite3_reset(c->stmt);
}

hone_status db_sqlite_has_program(hone_db *base, const hone_hash128 *workload,
                                  const hone_hash128 *target, const hone_hash128 *program,
                                  int64_t last_record, bool *out_has) {
    cursor c;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), DB_STMT_HAS_PROGRAM, "look for a program"));
    HONE_TRY(cursor_bind(&c, 1, workload, NULL));
    HONE_TRY(cursor_bind(&c, 2, target, NULL));
    HONE_TRY(cursor_bind(&c, 3, program, NULL));
    int rc = SQLITE_OK;
    db_bind_int(c.stmt, 4, last_record, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(c.db, rc, c.doing);
    HONE_TRY(cursor_next(&c, out_has));
    cursor_close(&c);
    return HONE_OK;
}

static hone_status visit_workloads(cursor *c, hone_db_visit_workload visit, void *ctx) {
    for (;;) {
        bool row = false;
        hone_db_workload workload = {0};
        HONE_TRY(cursor_next(c, &row));
        if (!row) return HONE_OK;
        HONE_TRY(cursor_hash(c, 0, &workload.hash));
        workload.hash_version = sqlite3_column_int(c->stmt, 1);
        HONE_TRY(cursor_text(c, 2, &workload.name));
        workload.flops = sqlite3_column_double(c->stmt, 3);
        workload.args_json = db_column_text(c->stmt, 4);
        HONE_TRY(cursor_text(c, 5, &workload.program));
        if (!visit(ctx, &workload)) break;
    }
    cursor_close(c);
    return HONE_OK;
}

hone_status db_sqlite_workloads(hone_db *base, const hone_hash128 *hash,
                                hone_db_visit_workload visit, void *ctx) {
    cursor c;
    db_stmt_id id = hash ? DB_STMT_WORKLOAD : DB_STMT_WORKLOADS;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), id, "read workloads"));
    if (hash) HONE_TRY(cursor_bind(&c, 1, hash, NULL));
    return visit_workloads(&c, visit, ctx);
}

hone_status db_sqlite_workload_at(hone_db *base, int64_t row, hone_db_visit_workload visit,
                                  void *ctx) {
    cursor c;
    HONE_TRY(cursor_open_at(&c, db_sqlite_of(base), DB_STMT_WORKLOAD_AT, row, "read workloads"));
    return visit_workloads(&c, visit, ctx);
}

static hone_status visit_targets(cursor *c, hone_db_visit_target visit, void *ctx) {
    for (;;) {
        bool row = false;
        hone_db_target target = {0};
        HONE_TRY(cursor_next(c, &row));
        if (!row) return HONE_OK;
        HONE_TRY(cursor_hash(c, 0, &target.hash));
        target.threads = sqlite3_column_int(c->stmt, 1);
        HONE_TRY(cursor_text(c, 2, &target.text));
        if (!visit(ctx, &target)) break;
    }
    cursor_close(c);
    return HONE_OK;
}

hone_status db_sqlite_targets(hone_db *base, const hone_hash128 *hash, hone_db_visit_target visit,
                              void *ctx) {
    cursor c;
    db_stmt_id id = hash ? DB_STMT_TARGET : DB_STMT_TARGETS;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), id, "read targets"));
    if (hash) HONE_TRY(cursor_bind(&c, 1, hash, NULL));
    return visit_targets(&c, visit, ctx);
}

hone_status db_sqlite_target_at(hone_db *base, int64_t row, hone_db_visit_target visit, void *ctx) {
    cursor c;
    HONE_TRY(cursor_open_at(&c, db_sqlite_of(base), DB_STMT_TARGET_AT, row, "read targets"));
    return visit_targets(&c, visit, ctx);
}

static hone_status visit_sessions(cursor *c, hone_db_visit_session visit, void *ctx) {
    for (;;) {
        bool row = false;
        HONE_TRY(cursor_next(c, &row));
        if (!row) return HONE_OK;
        const char *id, *state;
        HONE_TRY(cursor_text(c, 0, &id));
        HONE_TRY(cursor_text(c, 1, &state));
        hone_db_session session = {
            .id = id,
            .state = state,
            .started_ns = sqlite3_column_int64(c->stmt, 2),
            .ended_ns = sqlite3_column_int64(c->stmt, 3),
            .seed = (uint64_t)sqlite3_column_int64(c->stmt, 4),
            .look_ahead = sqlite3_column_int(c->stmt, 5),
            .budget_trials = sqlite3_column_int64(c->stmt, 6),
            .budget_ns = sqlite3_column_int64(c->stmt, 7),
            .model = db_column_text(c->stmt, 8),
            .hone_version = db_column_text(c->stmt, 9),
            .command_line = db_column_text(c->stmt, 10),
            .options_json = db_column_text(c->stmt, 11),
            .owner = db_column_text(c->stmt, 12),
        };
        if (!visit(ctx, &session)) break;
    }
    cursor_close(c);
    return HONE_OK;
}

hone_status db_sqlite_sessions(hone_db *base, const char *id, hone_db_visit_session visit,
                               void *ctx) {
    cursor c;
    db_stmt_id which = id ? DB_STMT_SESSION : DB_STMT_SESSIONS;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), which, "read sessions"));
    if (id) HONE_TRY(cursor_bind(&c, 1, NULL, id));
    return visit_sessions(&c, visit, ctx);
}

hone_status db_sqlite_session_at(hone_db *base, int64_t row, hone_db_visit_session visit,
                                 void *ctx) {
    cursor c;
    HONE_TRY(cursor_open_at(&c, db_sqlite_of(base), DB_STMT_SESSION_AT, row, "read sessions"));
    return visit_sessions(&c, visit, ctx);
}

hone_status db_sqlite_tasks(hone_db *base, hone_db_visit_task visit, void *ctx) {
    cursor c;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), DB_STMT_TASKS, "read tasks"));
    for (;;) {
        bool row = false;
        hone_db_task task = {0};
        HONE_TRY(cursor_next(&c, &row));
        if (!row) return HONE_OK;
        HONE_TRY(cursor_hash(&c, 0, &task.workload));
        HONE_TRY(cursor_hash(&c, 1, &task.target));
        HONE_TRY(cursor_text(&c, 2, &task.name));
        HONE_TRY(cursor_text(&c, 3, &task.target_text));
        task.threads = sqlite3_column_int(c.stmt, 4);
        task.flops = sqlite3_column_double(c.stmt, 5);
        task.trials = sqlite3_column_int64(c.stmt, 6);
        task.ok = sqlite3_column_int64(c.stmt, 7);
        task.failed = task.trials - task.ok;
        task.confirmed = sqlite3_column_int64(c.stmt, 8);
        task.best_ns = db_column_real(c.stmt, 9);
        task.last_wall_ns = sqlite3_column_int64(c.stmt, 10);
        if (!visit(ctx, &task)) break;
    }
    cursor_close(&c);
    return HONE_OK;
}

hone_status db_sqlite_failures(hone_db *base, hone_db_visit_failure visit, void *ctx) {
    cursor c;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), DB_STMT_FAILURES, "read failures"));
    for (;;) {
        bool row = false;
        hone_db_failure_count failure = {0};
        HONE_TRY(cursor_next(&c, &row));
        if (!row) return HONE_OK;
        HONE_TRY(cursor_text(&c, 0, &failure.outcome));
        HONE_TRY(cursor_text(&c, 1, &failure.workload_name));
        HONE_TRY(cursor_hash(&c, 2, &failure.workload));
        failure.count = sqlite3_column_int64(c.stmt, 3);
        failure.last_message = db_column_text(c.stmt, 4);
        if (!visit(ctx, &failure)) break;
    }
    cursor_close(&c);
    return HONE_OK;
}

hone_status db_sqlite_stats(hone_db *base, hone_db_stats *out_stats) {
    cursor c;
    bool row = false;
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), DB_STMT_STATS, "read statistics"));
    HONE_TRY(cursor_next(&c, &row));
    assert(row); /* an aggregate has one row */
    out_stats->trials = sqlite3_column_int64(c.stmt, 0);
    out_stats->ok = sqlite3_column_int64(c.stmt, 1);
    out_stats->failed = out_stats->trials - out_stats->ok;
    out_stats->confirmed = sqlite3_column_int64(c.stmt, 2);
    out_stats->first_wall_ns = sqlite3_column_int64(c.stmt, 3);
    out_stats->last_wall_ns = sqlite3_column_int64(c.stmt, 4);
    out_stats->times = (hone_db_times){
        .search = sqlite3_column_int64(c.stmt, 5),
        .queue = sqlite3_column_int64(c.stmt, 6),
        .build = sqlite3_column_int64(c.stmt, 7),
        .transfer = sqlite3_column_int64(c.stmt, 8),
        .load = sqlite3_column_int64(c.stmt, 9),
        .measure = sqlite3_column_int64(c.stmt, 10),
        .check = sqlite3_column_int64(c.stmt, 11),
    };
    cursor_close(&c);
    HONE_TRY(cursor_open(&c, db_sqlite_of(base), DB_STMT_COUNTS, "read statistics"));
    HONE_TRY(cursor_next(&c, &row));
    assert(row);
    out_stats->workloads = sqlite3_column_int64(c.stmt, 0);
    out_stats->targets = sqlite3_column_int64(c.stmt, 1);
    out_stats->sessions = sqlite3_column_int64(c.stmt, 2);
    out_stats->file_bytes = sqlite3_column_int64(c.stmt, 3);
    out_stats->schema_version = sqlite3_column_int(c.stmt, 4);
    cursor_close(&c);
    return HONE_OK;
}
