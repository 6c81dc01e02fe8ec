/* database/sqlite/db_sqlite_write.c - puts rows. Every public call is one transaction. */
#include <inttypes.h>
#include <unistd.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "support/core/strbuf.h"

/* ---- transactions ---- */

static hone_status run_plain(db_sqlite *db, db_stmt_id id, const char *doing) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, id, &stmt));
    return db_sqlite_run(db, stmt, doing);
}

/* Copies what can still be read through the open file beside where it was. */
static hone_status rescue(db_sqlite *db, const char *name) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->sql, "VACUUM INTO ?1", -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_TRANSIENT);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    hone_status st = rc == SQLITE_DONE ? HONE_OK : db_sqlite_error(db, rc, "save what it holds");
    sqlite3_finalize(stmt);
    return st;
}

/* What goes into a file without a name is lost when it is closed: from here on nothing is written,
 * and what was committed is saved once. */
static hone_status leave_place(db_sqlite *db) {
    hone_str name = {0};
    hone_str_printf(&name, "%s.rescued-%ld", db->path, (long)getpid());
    hone_status st = hone_str_check(&name);
    if (!st && !db->is_rescued) st = rescue(db, name.data);
    db->is_rescued |= !st;
    if (!st) {
        st = HONE_ERROR(HONE_CODE_IO,
                        "%s: was removed, moved or replaced while it was in use; what it held is "
                        "in %s",
                        db->path, name.data);
    } else {
        st = hone_status_annotate(st, "removed, moved or replaced while it was in use");
    }
    hone_str_deinit(&name);
    return st;
}

static hone_status check_place(db_sqlite *db) {
    int has_moved = 0;
    sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    return has_moved ? leave_place(db) : HONE_OK;
}

static hone_status begin(db_sqlite *db) {
    HONE_TRY(check_place(db));
    return run_plain(db, DB_STMT_BEGIN, "begin a transaction");
}

/* Commits when all went well, else rolls back. */
static hone_status finish(db_sqlite *db, hone_status st) {
    if (!st) st = run_plain(db, DB_STMT_COMMIT, "commit");
    if (!st) return HONE_OK;
    /* A full disk rolls back by itself; a second rollback is then an error of no interest. */
    if (!sqlite3_get_autocommit(db->sql)) {
        hone_status_free(run_plain(db, DB_STMT_ROLLBACK, "roll back"));
    }
    return hone_status_trail(st, __FILE__, __LINE__);
}

/* ---- workloads, targets, sessions ---- */

static hone_status write_workload(db_sqlite *db, db_stmt_id id, const hone_db_workload *workload) {
    sqlite3_stmt *stmt;
    HONE_TRY(check_place(db));
    HONE_TRY(db_sqlite_stmt(db, id, &stmt));
    int rc = SQLITE_OK;
    db_bind_hash(stmt, 1, &workload->hash, &rc);
    db_bind_int(stmt, 2, workload->hash_version, &rc);
    db_bind_text(stmt, 3, workload->name, &rc);
    db_bind_real(stmt, 4, workload->flops, &rc);
    db_bind_text(stmt, 5, workload->args_json, &rc);
    db_bind_text(stmt, 6, workload->program, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write a workload");
    return db_sqlite_run(db, stmt, "write a workload");
}

hone_status db_sqlite_put_workload(hone_db *base, const hone_db_workload *workload) {
    return write_workload(db_sqlite_of(base), DB_STMT_PUT_WORKLOAD, workload);
}

hone_status db_sqlite_replace_workload(hone_db *base, const hone_db_workload *workload) {
    return write_workload(db_sqlite_of(base), DB_STMT_REPLACE_WORKLOAD, workload);
}

hone_status db_sqlite_put_target(hone_db *base, const hone_db_target *target) {
    db_sqlite *db = db_sqlite_of(base);
    sqlite3_stmt *stmt;
    HONE_TRY(check_place(db));
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_PUT_TARGET, &stmt));
    int rc = SQLITE_OK;
    db_bind_hash(stmt, 1, &target->hash, &rc);
    db_bind_int(stmt, 2, target->threads, &rc);
    db_bind_text(stmt, 3, target->text, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write a target");
    return db_sqlite_run(db, stmt, "write a target");
}

static void bind_or_null(sqlite3_stmt *stmt, int at, int64_t value, int *rc) {
    if (value) {
        db_bind_int(stmt, at, value, rc);
    } else {
        db_bind_text(stmt, at, NULL, rc);
    }
}

static hone_status sum_session(db_sqlite *db, const char *id) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_SUM_SESSION, &stmt));
    int rc = SQLITE_OK;
    db_bind_text(stmt, 1, id, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write a checksum");
    return db_sqlite_run(db, stmt, "write a checksum");
}

static hone_status write_session(db_sqlite *db, db_stmt_id id, const hone_db_session *session) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, id, &stmt));
    int rc = SQLITE_OK;
    db_bind_text(stmt, 1, session->id, &rc);
    db_bind_text(stmt, 2, session->state, &rc);
    db_bind_int(stmt, 3, session->started_ns, &rc);
    bind_or_null(stmt, 4, session->ended_ns, &rc);
    db_bind_int(stmt, 5, (int64_t)session->seed, &rc);
    db_bind_int(stmt, 6, session->look_ahead, &rc);
    bind_or_null(stmt, 7, session->budget_trials, &rc);
    bind_or_null(stmt, 8, session->budget_ns, &rc);
    db_bind_text(stmt, 9, session->model, &rc);
    db_bind_text(stmt, 10, session->hone_version, &rc);
    db_bind_text(stmt, 11, session->command_line, &rc);
    db_bind_text(stmt, 12, session->options_json, &rc);
    db_bind_text(stmt, 13, session->owner, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write a session");
    HONE_TRY(db_sqlite_run(db, stmt, "write a session"));
    if (sqlite3_changes(db->sql)) return sum_session(db, session->id);
    return HONE_ERROR(HONE_CODE_INVALID, "there is a session '%s' already", session->id);
}

hone_status db_sqlite_begin_session(hone_db *base, const hone_db_session *session) {
    db_sqlite *db = db_sqlite_of(base);
    HONE_TRY(begin(db));
    return finish(db, write_session(db, DB_STMT_BEGIN_SESSION, session));
}

hone_status db_sqlite_replace_session(hone_db *base, const hone_db_session *session) {
    db_sqlite *db = db_sqlite_of(base);
    HONE_TRY(begin(db));
    return finish(db, write_session(db, DB_STMT_REPLACE_SESSION, session));
}

hone_status db_sqlite_end_session(hone_db *base, const char *id, const char *state,
                                  int64_t ended_ns) {
    db_sqlite *db = db_sqlite_of(base);
    sqlite3_stmt *stmt;
    HONE_TRY(check_place(db));
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_END_SESSION, &stmt));
    int rc = SQLITE_OK;
    db_bind_text(stmt, 1, id, &rc);
    db_bind_text(stmt, 2, state, &rc);
    bind_or_null(stmt, 3, ended_ns, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "end a session");
    HONE_TRY(db_sqlite_run(db, stmt, "end a session"));
    if (sqlite3_changes(db->sql)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "no session '%s'", id);
}

/* ---- trials ---- */

/* Finds the row number behind an identity; `what` names it in the message. */
static hone_status find_id(db_sqlite *db, db_stmt_id which, const char *identity, const char *what,
                           int64_t *out_id) {
    *out_id = 0;
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, which, &stmt));
    int rc = SQLITE_OK;
    db_bind_text(stmt, 1, identity, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "look up a row");
    bool row = false;
    HONE_TRY(db_sqlite_step(db, stmt, "look up a row", &row));
    if (!row) return hone_db_missing(what, identity);
    *out_id = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return HONE_OK;
}

typedef struct trial_keys {
    int64_t session, workload, target;
} trial_keys;

static hone_status find_keys(db_sqlite *db, const hone_db_trial *trial, trial_keys *out_keys) {
    char hex[33];
    HONE_TRY(find_id(db, DB_STMT_FIND_SESSION, trial->session, "session", &out_keys->session));
    hone_hash128_print(trial->workload, hex);
    HONE_TRY(find_id(db, DB_STMT_FIND_WORKLOAD, hex, "workload", &out_keys->workload));
    hone_hash128_print(trial->target, hex);
    return find_id(db, DB_STMT_FIND_TARGET, hex, "target", &out_keys->target);
}

static void bind_trial(sqlite3_stmt *stmt, const hone_db_trial *trial, const trial_keys *keys,
                       int *rc) {
    hone_hash128 uid =
        hone_db_trial_uid(trial->session, &trial->workload, &trial->target, trial->proposal);
    db_bind_hash(stmt, 1, &uid, rc);
    db_bind_int(stmt, 2, keys->session, rc);
    db_bind_int(stmt, 3, keys->workload, rc);
    db_bind_int(stmt, 4, keys->target, rc);
    db_bind_int(stmt, 5, trial->proposal, rc);
    db_bind_int(stmt, 6, trial->sketch, rc);
    db_bind_hash(stmt, 7, &trial->program, rc);
    db_bind_text(stmt, 8, trial->outcome, rc);
    db_bind_real(stmt, 9, trial->median_ns, rc);
    db_bind_real(stmt, 10, trial->spread, rc);
    db_bind_real(stmt, 11, trial->max_error, rc);
    db_bind_real(stmt, 12, trial->confirmed_ns, rc);
    db_bind_real(stmt, 13, trial->predicted_score, rc);
    db_bind_int(stmt, 14, trial->times.search, rc);
    db_bind_int(stmt, 15, trial->times.queue, rc);
    db_bind_int(stmt, 16, trial->times.build, rc);
    db_bind_int(stmt, 17, trial->times.transfer, rc);
    db_bind_int(stmt, 18, trial->times.load, rc);
    db_bind_int(stmt, 19, trial->times.measure, rc);
    db_bind_int(stmt, 20, trial->times.check, rc);
    db_bind_int(stmt, 21, trial->wall_ns, rc);
    db_bind_text(stmt, 22, trial->drift, rc);
    db_bind_text(stmt, 23, trial->device, rc);
    db_bind_text(stmt, 24, trial->message, rc);
    db_bind_text(stmt, 25, trial->trace, rc);
    bind_or_null(stmt, 26, trial->confirmed_at_ns, rc);
}

static hone_status put_samples(db_sqlite *db, const hone_db_trial *trial, int64_t record) {
    for (size_t i = 0; i < trial->sample_count; i++) {
        sqlite3_stmt *stmt;
        HONE_TRY(db_sqlite_stmt(db, DB_STMT_PUT_SAMPLE, &stmt));
        int rc = SQLITE_OK;
        db_bind_int(stmt, 1, record, &rc);
        db_bind_int(stmt, 2, (int64_t)i, &rc);
        db_bind_real(stmt, 3, trial->samples_ns[i], &rc);
        if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write a sample");
        HONE_TRY(db_sqlite_run(db, stmt, "write a sample"));
    }
    return HONE_OK;
}

static hone_status put_features(db_sqlite *db, const hone_db_trial *trial, int64_t record) {
    if (!trial->features) return HONE_OK;
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_PUT_FEATURE, &stmt));
    size_t bytes = (size_t)trial->feature_rows * trial->feature_columns * sizeof(float);
    int rc = SQLITE_OK;
    db_bind_int(stmt, 1, record, &rc);
    db_bind_int(stmt, 2, trial->feature_version, &rc);
    db_bind_int(stmt, 3, trial->feature_rows, &rc);
    db_bind_int(stmt, 4, trial->feature_columns, &rc);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_blob64(stmt, 5, bytes ? (const void *)trial->features : "", bytes,
                                 SQLITE_TRANSIENT);
    }
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write features");
    return db_sqlite_run(db, stmt, "write features");
}

/* Runs a statement about one record. */
static hone_status run_on(db_sqlite *db, db_stmt_id id, int64_t record, const char *doing) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, id, &stmt));
    int rc = SQLITE_OK;
    db_bind_int(stmt, 1, record, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, doing);
    return db_sqlite_run(db, stmt, doing);
}

static hone_status write_row(db_sqlite *db, db_stmt_id id, const hone_db_trial *trial) {
    trial_keys keys = {0};
    HONE_TRY(find_keys(db, trial, &keys));
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, id, &stmt));
    int rc = SQLITE_OK;
    bind_trial(stmt, trial, &keys, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "write a trial");
    return db_sqlite_run(db, stmt, "write a trial");
}

static hone_status write_rest(db_sqlite *db, const hone_db_trial *trial, int64_t record) {
    HONE_TRY(put_samples(db, trial, record));
    HONE_TRY(put_features(db, trial, record));
    return run_on(db, DB_STMT_SUM_TRIAL, record, "write a checksum");
}

static hone_status put_trial(db_sqlite *db, const hone_db_trial *trial, int64_t *out_record) {
    HONE_TRY(write_row(db, DB_STMT_PUT_TRIAL, trial));
    if (!sqlite3_changes(db->sql)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "proposal %" PRId64 " of session '%s' was committed before",
                          trial->proposal, trial->session);
    }
    *out_record = sqlite3_last_insert_rowid(db->sql);
    return write_rest(db, trial, *out_record);
}

static hone_status replace_trial(db_sqlite *db, const hone_db_trial *trial) {
    HONE_TRY(write_row(db, DB_STMT_REPLACE_TRIAL, trial));
    HONE_TRY(run_on(db, DB_STMT_DROP_SAMPLES, trial->record, "remove samples"));
    HONE_TRY(run_on(db, DB_STMT_DROP_FEATURE, trial->record, "remove features"));
    return write_rest(db, trial, trial->record);
}

hone_status db_sqlite_commit(hone_db *base, const hone_db_trial *trials, size_t count,
                             int64_t *out_record) {
    db_sqlite *db = db_sqlite_of(base);
    HONE_TRY(begin(db));
    hone_status st = HONE_OK;
    for (size_t i = 0; i < count && !st; i++)
        st = put_trial(db, &trials[i], out_record);
    st = finish(db, st);
    if (st) *out_record = 0;
    return st;
}

hone_status db_sqlite_replace(hone_db *base, const hone_db_trial *trials, size_t count) {
    db_sqlite *db = db_sqlite_of(base);
    HONE_TRY(begin(db));
    hone_status st = HONE_OK;
    for (size_t i = 0; i < count && !st; i++)
        st = replace_trial(db, &trials[i]);
    return finish(db, st);
}

hone_status db_sqlite_confirm(hone_db *base, int64_t record, double confirmed_ns,
                              int64_t confirmed_at_ns) {
    db_sqlite *db = db_sqlite_of(base);
    sqlite3_stmt *stmt;
    HONE_TRY(check_place(db));
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_CONFIRM, &stmt));
    int rc = SQLITE_OK;
    db_bind_int(stmt, 1, record, &rc);
    db_bind_real(stmt, 2, confirmed_ns, &rc);
    bind_or_null(stmt, 3, confirmed_at_ns, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "confirm a record");
    HONE_TRY(db_sqlite_run(db, stmt, "confirm a record"));
    if (sqlite3_changes(db->sql)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "no ok record %" PRId64, record);
}

static hone_status delete_trials(db_sqlite *db, int64_t keep, int64_t *out_removed) {
    sqlite3_stmt *stmt;
    HONE_TRY(db_sqlite_stmt(db, DB_STMT_PRUNE, &stmt));
    int rc = SQLITE_OK;
    db_bind_int(stmt, 1, keep, &rc);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "remove trials");
    HONE_TRY(db_sqlite_run(db, stmt, "remove trials"));
    *out_removed = sqlite3_changes(db->sql);
    return run_plain(db, DB_STMT_PRUNE_TASKS, "count trials");
}

hone_status db_sqlite_prune(hone_db *base, int64_t keep, int64_t *out_removed) {
    db_sqlite *db = db_sqlite_of(base);
    HONE_TRY(begin(db));
    hone_status st = finish(db, delete_trials(db, keep, out_removed));
    if (st) *out_removed = 0;
    if (st) return st;
    return db_sqlite_exec(db, "VACUUM", "give the space of removed trials back");
}
