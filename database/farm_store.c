/* database/farm_store.c - the tracker's state in SQLite; see farm_store.h.
 *
 * The file is locked for as long as it is open (locking_mode EXCLUSIVE), so a second tracker on the
 * same state is refused. Numbers that use all 64 bits are stored as the signed number of the same
 * bits; instances as 32 hex digits.
 */
#include "database/farm_store.h"

#include <sqlite3.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "database/db_place.h"
#include "support/core/alloc.h"

#define APPLICATION_ID 0x486f6e74 /* "Hont" */
#define SCHEMA_VERSION 1

typedef enum stmt_id {
    STMT_GET_TOKEN,
    STMT_PUT_TOKEN,
    STMT_PUT_TUNER,
    STMT_REMOVE_TUNER,
    STMT_REMOVE_TUNER_TRIALS,
    STMT_PUT_TRIAL,
    STMT_UPDATE_TRIAL,
    STMT_REMOVE_TRIAL,
    STMT_PUT_DRAINED,
    STMT_REMOVE_DRAINED,
    STMT_TUNERS,
    STMT_TRIALS,
    STMT_DRAINED,
    STMT_COUNT,
} stmt_id;

static const char *const texts[STMT_COUNT] = {
    [STMT_GET_TOKEN] = "SELECT token FROM lease_token",
    [STMT_PUT_TOKEN] = "UPDATE lease_token SET token = ?1",
    [STMT_PUT_TUNER] = "INSERT INTO tuner(instance, key, name) VALUES(?1, ?2, ?3)"
                       " ON CONFLICT(instance) DO UPDATE SET key = ?2, name = ?3",
    [STMT_REMOVE_TUNER] = "DELETE FROM tuner WHERE instance = ?1",
    [STMT_REMOVE_TUNER_TRIALS] = "DELETE FROM trial WHERE tuner = ?1",
    [STMT_PUT_TRIAL] =
        "INSERT INTO trial(tuner, number, state, losses, returns, is_cancelled, token, runner,"
        " runner_name, slot, result, submit)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    [STMT_UPDATE_TRIAL] =
        "UPDATE trial SET state = ?3, losses = ?4, returns = ?5, is_cancelled = ?6, token = ?7,"
        " runner = ?8, runner_name = ?9, slot = ?10, result = ?11 WHERE tuner = ?1 AND number = ?2",
    [STMT_REMOVE_TRIAL] = "DELETE FROM trial WHERE tuner = ?1 AND number = ?2",
    [STMT_PUT_DRAINED] = "INSERT INTO drained(device) VALUES(?1) ON CONFLICT DO NOTHING",
    [STMT_REMOVE_DRAINED] = "DELETE FROM drained WHERE device = ?1",
    [STMT_TUNERS] = "SELECT instance, key, name FROM tuner ORDER BY id",
    [STMT_TRIALS] = "SELECT tuner, number, state, losses, returns, is_cancelled, token, runner,"
                    " runner_name, slot, result, submit FROM trial ORDER BY id",
    [STMT_DRAINED] = "SELECT device FROM drained ORDER BY device",
};

static const char schema[] = "CREATE TABLE lease_token(token INTEGER NOT NULL) STRICT;"
                             "INSERT INTO lease_token VALUES(0);"
                             "CREATE TABLE tuner("
                             " id INTEGER PRIMARY KEY,"
                             " instance TEXT NOT NULL UNIQUE CHECK(length(instance) = 32),"
                             " key TEXT NOT NULL,"
                             " name TEXT NOT NULL"
                             ") STRICT;"
                             "CREATE TABLE trial("
                             " id INTEGER PRIMARY KEY,"
                             " tuner TEXT NOT NULL REFERENCES tuner(instance),"
                             " number INTEGER NOT NULL,"
                             " state INTEGER NOT NULL,"
                             " losses INTEGER NOT NULL,"
                             " returns INTEGER NOT NULL,"
                             " is_cancelled INTEGER NOT NULL,"
                             " token INTEGER NOT NULL,"
                             " runner TEXT NOT NULL,"
                             " runner_name TEXT NOT NULL,"
                             " slot INTEGER NOT NULL,"
                             " result BLOB,"
                             " submit BLOB NOT NULL,"
                             " UNIQUE(tuner, number)"
                             ") STRICT;"
                             "CREATE TABLE drained(device TEXT PRIMARY KEY) STRICT;";

struct hone_farm_store {
    sqlite3 *sql;
    char *path; /* owned; for messages */
    sqlite3_stmt *stmts[STMT_COUNT];
};

/* ---- statements ---- */

static hone_code code_of(int rc) {
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return HONE_CODE_NO_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return HONE_CODE_UNAVAILABLE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
    case SQLITE_SCHEMA:
        return HONE_CODE_INVALID;
    default:
        return HONE_CODE_IO;
    }
}

static hone_status sql_error(const hone_farm_store *store, int rc, const char *doing) {
    hone_code code = code_of(rc);
    return HONE_ERROR(code, "%s: cannot %s: %s%s", store->path, doing,
                      store->sql ? sqlite3_errmsg(store->sql) : sqlite3_errstr(rc),
                      code == HONE_CODE_UNAVAILABLE ? "; another tracker has it open" : "");
}

static hone_status exec(hone_farm_store *store, const char *text, const char *doing) {
    int rc = sqlite3_exec(store->sql, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? HONE_OK : sql_error(store, rc, doing);
}

static hone_status prepare(hone_farm_store *store, stmt_id id, sqlite3_stmt **out_stmt) {
    *out_stmt = store->stmts[id];
    if (!*out_stmt) {
        int rc = sqlite3_prepare_v3(store->sql, texts[id], -1, SQLITE_PREPARE_PERSISTENT,
                                    &store->stmts[id], NULL);
        if (rc != SQLITE_OK) return sql_error(store, rc, "prepare a statement");
        *out_stmt = store->stmts[id];
    }
    sqlite3_reset(*out_stmt);
    sqlite3_clear_bindings(*out_stmt);
    return HONE_OK;
}

/* For changes: the transaction begins here. */
static hone_status prepare_change(hone_farm_store *store, stmt_id id, sqlite3_stmt **out_stmt) {
    *out_stmt = NULL;
    if (sqlite3_get_autocommit(store->sql)) HONE_TRY(exec(store, "BEGIN", "begin a transaction"));
    return prepare(store, id, out_stmt);
}

static hone_status run(hone_farm_store *store, sqlite3_stmt *stmt, const char *doing) {
    int rc = sqlite3_step(stmt);
    hone_status st = rc == SQLITE_DONE ? HONE_OK : sql_error(store, rc, doing);
    sqlite3_reset(stmt);
    return st;
}

/* A failed binding leaves NULL, which the NOT NULL of its column refuses. */
static void bind_int(sqlite3_stmt *stmt, int at, int64_t value) {
    (void)sqlite3_bind_int64(stmt, at, value);
}
static void bind_text(sqlite3_stmt *stmt, int at, const char *text) {
    (void)sqlite3_bind_text(stmt, at, text ? text : "", -1, SQLITE_TRANSIENT);
}
static void bind_instance(sqlite3_stmt *stmt, int at, hone_farm_instance instance) {
    char hex[HONE_HASH_HEX_BYTES];
    bind_text(stmt, at, hone_hash128_print(instance, hex));
}
/* The bytes stay until the statement has run. */
static void bind_bytes(sqlite3_stmt *stmt, int at, hone_farm_bytes bytes) {
    const void *data = bytes.count ? (const void *)bytes.data : "";
    (void)sqlite3_bind_blob64(stmt, at, data, bytes.count, SQLITE_STATIC);
}

static const char *column_text(sqlite3_stmt *stmt, int at) {
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return text ? text : "";
}
static hone_farm_bytes column_bytes(sqlite3_stmt *stmt, int at) {
    const void *data = sqlite3_column_blob(stmt, at);
    return (hone_farm_bytes){data, (size_t)sqlite3_column_bytes(stmt, at)};
}
static bool column_instance(sqlite3_stmt *stmt, int at, hone_farm_instance *out) {
    return hone_hash128_parse(column_text(stmt, at), out);
}

static hone_status damaged(const hone_farm_store *store, const char *what) {
    return HONE_ERROR(HONE_CODE_INVALID, "%s: is damaged: %s; move it away to begin anew",
                      store->path, what);
}

/* ---- open ---- */

static hone_status pragma_number(hone_farm_store *store, const char *text, int64_t *out_number) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->sql, text, -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) *out_number = sqlite3_column_int64(stmt, 0);
    hone_status st = rc == SQLITE_ROW ? HONE_OK : sql_error(store, rc, "read the file");
    sqlite3_finalize(stmt);
    return st;
}

static hone_status make_tables(hone_farm_store *store) {
    char marks[128];
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION_ID, SCHEMA_VERSION);
    HONE_TRY(exec(store, "BEGIN IMMEDIATE", "begin a transaction"));
    HONE_TRY(exec(store, schema, "make the tables"));
    HONE_TRY(exec(store, marks, "mark the file"));
    return exec(store, "COMMIT", "commit");
}

static hone_status check_identity(hone_farm_store *store) {
    int64_t application = 0, version = 0, tables = 0;
    HONE_TRY(pragma_number(store, "PRAGMA application_id", &application));
    HONE_TRY(pragma_number(store, "PRAGMA user_version", &version));
    HONE_TRY(pragma_number(store, "SELECT count(*) FROM sqlite_schema", &tables));
    if (!application && !version && !tables) return make_tables(store);
    if (application != APPLICATION_ID) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is not the state of a tracker", store->path);
    }
    if (version > SCHEMA_VERSION) {
        return HONE_ERROR(HONE_CODE_VERSION,
                          "%s: has schema version %" PRId64 ", this hone reads up to %d; it was "
                          "written by a newer hone",
                          store->path, version, SCHEMA_VERSION);
    }
    return version == SCHEMA_VERSION ? HONE_OK : damaged(store, "it has no schema version");
}

static hone_status connect(hone_farm_store *store) {
    HONE_TRY(hone_db_check_place(store->path));
    int rc = sqlite3_open_v2(store->path, &store->sql,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                 SQLITE_OPEN_EXRESCODE,
                             NULL);
    if (rc != SQLITE_OK) return sql_error(store, rc, "open");
    sqlite3_db_config(store->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_busy_timeout(store->sql, 2000); /* a predecessor that is just going */
    HONE_TRY(exec(store, "PRAGMA locking_mode = EXCLUSIVE", "change a setting"));
    HONE_TRY(exec(store, "PRAGMA journal_mode = WAL", "turn on the write-ahead log"));
    HONE_TRY(exec(store, "PRAGMA synchronous = NORMAL", "change a setting"));
    return check_identity(store);
}

hone_status hone_farm_store_open(const char *path, hone_farm_store **out_store) {
    assert(path && out_store);
    *out_store = NULL;
    hone_farm_store *store = hone_calloc(1, sizeof *store);
    if (!store) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tracker state");
    store->path = hone_strdup(path);
    hone_status st = store->path ? connect(store) : HONE_ERROR(HONE_CODE_NO_MEMORY, "path");
    if (st) {
        hone_farm_store_close(store);
        return st;
    }
    *out_store = store;
    return HONE_OK;
}

void hone_farm_store_close(hone_farm_store *store) {
    if (!store) return;
    for (int i = 0; i < STMT_COUNT; i++)
        sqlite3_finalize(store->stmts[i]);
    sqlite3_close(store->sql);
    hone_free(store->path);
    hone_free(store);
}

hone_status hone_farm_store_commit(hone_farm_store *store) {
    if (sqlite3_get_autocommit(store->sql)) return HONE_OK;
    return exec(store, "COMMIT", "write");
}

/* ---- tokens, tuners, devices ---- */

hone_status hone_farm_store_get_token(hone_farm_store *store, uint64_t *out_token) {
    sqlite3_stmt *stmt;
    *out_token = 0;
    HONE_TRY(prepare(store, STMT_GET_TOKEN, &stmt));
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) *out_token = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    if (rc == SQLITE_DONE) return damaged(store, "it has no token");
    return rc == SQLITE_ROW ? HONE_OK : sql_error(store, rc, "read");
}

hone_status hone_farm_store_put_token(hone_farm_store *store, uint64_t token) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, STMT_PUT_TOKEN, &stmt));
    bind_int(stmt, 1, (int64_t)token);
    return run(store, stmt, "store a token");
}

hone_status hone_farm_store_put_tuner(hone_farm_store *store, const hone_farm_stored_tuner *tuner) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, STMT_PUT_TUNER, &stmt));
    bind_instance(stmt, 1, tuner->instance);
    bind_text(stmt, 2, tuner->key);
    bind_text(stmt, 3, tuner->name);
    return run(store, stmt, "store a tuner");
}

hone_status hone_farm_store_remove_tuner(hone_farm_store *store, hone_farm_instance instance) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, STMT_REMOVE_TUNER_TRIALS, &stmt));
    bind_instance(stmt, 1, instance);
    HONE_TRY(run(store, stmt, "forget the trials of a tuner"));
    HONE_TRY(prepare_change(store, STMT_REMOVE_TUNER, &stmt));
    bind_instance(stmt, 1, instance);
    return run(store, stmt, "forget a tuner");
}

hone_status hone_farm_store_put_drained(hone_farm_store *store, const char *device,
                                        bool is_drained) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, is_drained ? STMT_PUT_DRAINED : STMT_REMOVE_DRAINED, &stmt));
    bind_text(stmt, 1, device);
    return run(store, stmt, "store what is draining");
}

/* ---- trials ---- */

static void bind_trial(sqlite3_stmt *stmt, const hone_farm_stored_trial *t, bool is_new) {
    bind_instance(stmt, 1, t->tuner);
    bind_int(stmt, 2, (int64_t)t->trial);
    bind_int(stmt, 3, t->state);
    bind_int(stmt, 4, t->losses);
    bind_int(stmt, 5, t->returns);
    bind_int(stmt, 6, t->is_cancelled);
    bind_int(stmt, 7, (int64_t)t->token);
    bind_instance(stmt, 8, t->runner);
    bind_text(stmt, 9, t->runner_name);
    bind_int(stmt, 10, t->slot);
    if (t->state == HONE_FARM_TRIAL_DONE) bind_bytes(stmt, 11, t->result);
    if (is_new) bind_bytes(stmt, 12, t->submit);
}

hone_status hone_farm_store_put_trial(hone_farm_store *store, const hone_farm_stored_trial *trial) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, STMT_PUT_TRIAL, &stmt));
    bind_trial(stmt, trial, true);
    return run(store, stmt, "store a trial");
}

hone_status hone_farm_store_update_trial(hone_farm_store *store,
                                         const hone_farm_stored_trial *trial) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, STMT_UPDATE_TRIAL, &stmt));
    bind_trial(stmt, trial, false);
    return run(store, stmt, "store a trial");
}

hone_status hone_farm_store_remove_trial(hone_farm_store *store, hone_farm_instance tuner,
                                         uint64_t trial) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare_change(store, STMT_REMOVE_TRIAL, &stmt));
    bind_instance(stmt, 1, tuner);
    bind_int(stmt, 2, (int64_t)trial);
    return run(store, stmt, "forget a trial");
}

/* ---- walks ---- */

typedef hone_status (*visit_row)(hone_farm_store *store, sqlite3_stmt *stmt, const void *visit,
                                 void *ctx);

static hone_status walk(hone_farm_store *store, stmt_id id, visit_row row, const void *visit,
                        void *ctx) {
    sqlite3_stmt *stmt;
    HONE_TRY(prepare(store, id, &stmt));
    int rc;
    hone_status st = HONE_OK;
    while (!st && (rc = sqlite3_step(stmt)) != SQLITE_DONE) {
        st = rc == SQLITE_ROW ? row(store, stmt, visit, ctx) : sql_error(store, rc, "read");
    }
    sqlite3_reset(stmt);
    return st;
}

/* A pointer to the callback goes through walk, since functions are no objects. */
typedef struct tuner_visit {
    hone_status (*call)(void *ctx, const hone_farm_stored_tuner *tuner);
} tuner_visit;
typedef struct trial_visit {
    hone_status (*call)(void *ctx, const hone_farm_stored_trial *trial);
} trial_visit;
typedef struct drained_visit {
    hone_status (*call)(void *ctx, const char *device);
} drained_visit;

static hone_status tuner_row(hone_farm_store *store, sqlite3_stmt *stmt, const void *visit,
                             void *ctx) {
    hone_farm_stored_tuner tuner = {.key = column_text(stmt, 1), .name = column_text(stmt, 2)};
    if (!column_instance(stmt, 0, &tuner.instance))
        return damaged(store, "a tuner has no instance");
    return ((const tuner_visit *)visit)->call(ctx, &tuner);
}

static hone_status trial_row(hone_farm_store *store, sqlite3_stmt *stmt, const void *visit,
                             void *ctx) {
    int64_t state = sqlite3_column_int64(stmt, 2);
    if (state < 0 || state >= HONE_FARM_TRIAL_STATE_COUNT) {
        return damaged(store, "a trial has a state that is none");
    }
    hone_farm_stored_trial trial = {
        .trial = (uint64_t)sqlite3_column_int64(stmt, 1),
        .state = (hone_farm_trial_state)state,
        .losses = (uint32_t)sqlite3_column_int64(stmt, 3),
        .returns = (uint32_t)sqlite3_column_int64(stmt, 4),
        .is_cancelled = sqlite3_column_int64(stmt, 5) != 0,
        .token = (uint64_t)sqlite3_column_int64(stmt, 6),
        .runner_name = column_text(stmt, 8),
        .slot = (uint32_t)sqlite3_column_int64(stmt, 9),
        .result = column_bytes(stmt, 10),
        .submit = column_bytes(stmt, 11),
    };
    if (!column_instance(stmt, 0, &trial.tuner) || !column_instance(stmt, 7, &trial.runner)) {
        return damaged(store, "a trial has no instance");
    }
    return ((const trial_visit *)visit)->call(ctx, &trial);
}

static hone_status drained_row(hone_farm_store *store, sqlite3_stmt *stmt, const void *visit,
                               void *ctx) {
    (void)store;
    return ((const drained_visit *)visit)->call(ctx, column_text(stmt, 0));
}

hone_status hone_farm_store_tuners(hone_farm_store *store,
                                   hone_status (*visit)(void *ctx,
                                                        const hone_farm_stored_tuner *tuner),
                                   void *ctx) {
    return walk(store, STMT_TUNERS, tuner_row, &(tuner_visit){visit}, ctx);
}

hone_status hone_farm_store_trials(hone_farm_store *store,
                                   hone_status (*visit)(void *ctx,
                                                        const hone_farm_stored_trial *trial),
                                   void *ctx) {
    return walk(store, STMT_TRIALS, trial_row, &(trial_visit){visit}, ctx);
}

hone_status hone_farm_store_drained(hone_farm_store *store,
                                    hone_status (*visit)(void *ctx, const char *device),
                                    void *ctx) {
    return walk(store, STMT_DRAINED, drained_row, &(drained_visit){visit}, ctx);
}
