/* database/sqlite/db_sqlite.c - the sqlite backend: one file, shared by any number of processes.
 *
 * Durability: write-ahead log with synchronous=FULL, so each commit is one fsync of the log; what
 * was acknowledged survives a killed process and, as far as fsync holds, a power cut.
 */
#include <assert.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "support/core/alloc.h"

static void destroy(hone_db *base) {
    db_sqlite *db = db_sqlite_of(base);
    db_sqlite_finalize_all(db);
    sqlite3_close_v2(db->sql);
    hone_free(db->samples);
    hone_free(db->features);
    hone_free(db->path);
    hone_free(db);
}

static const hone_db_vtable sqlite_vtable = {
    .name = "sqlite",
    .destroy = destroy,
    .put_workload = db_sqlite_put_workload,
    .put_target = db_sqlite_put_target,
    .begin_session = db_sqlite_begin_session,
    .end_session = db_sqlite_end_session,
    .commit = db_sqlite_commit,
    .confirm = db_sqlite_confirm,
    .replace_workload = db_sqlite_replace_workload,
    .replace_session = db_sqlite_replace_session,
    .replace = db_sqlite_replace,
    .prune = db_sqlite_prune,
    .query = db_sqlite_query,
    .find_uid = db_sqlite_find_uid,
    .has_program = db_sqlite_has_program,
    .workloads = db_sqlite_workloads,
    .targets = db_sqlite_targets,
    .sessions = db_sqlite_sessions,
    .history = db_sqlite_history,
    .tasks = db_sqlite_tasks,
    .failures = db_sqlite_failures,
    .stats = db_sqlite_stats,
    .begin_look = db_sqlite_begin_look,
    .end_look = db_sqlite_end_look,
    .check = db_sqlite_check,
    .select = db_sqlite_select,
};

hone_status hone_db_open_sqlite(const hone_db_options *options, hone_db **out_db) {
    assert(options && out_db);
    *out_db = NULL;
    if (!options->path || !*options->path) {
        return HONE_ERROR(HONE_CODE_INVALID, "the path of the database is missing");
    }
    hone_status st = HONE_OK;
    db_sqlite *db = hone_calloc(1, sizeof *db);
    if (!db) return HONE_ERROR(HONE_CODE_NO_MEMORY, "database handle");
    hone_db_init(&db->base, &sqlite_vtable);
    db->is_checking = options->is_checking;
    db->base.read_only = options->mode == HONE_DB_READ;
    db->path = hone_strdup(options->path);
    if (!db->path) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "database path");
    if (!st) HONE_TRY_GOTO(st, db_sqlite_connect(db, options), fail);
    if (!st && !db->base.read_only) HONE_TRY_GOTO(st, hone_db_end_killed(&db->base), fail);
    if (st) goto fail;
    *out_db = &db->base;
    return HONE_OK;
fail:
    hone_db_close(&db->base);
    return st;
}
