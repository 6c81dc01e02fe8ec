/* database/sqlite/db_sqlite_mend.c - rows of a damaged file that are not what was written, and of
 * which something proves the identity: what they say else is made anew, or left out, so that their
 * trials are not lost with them.
 *
 *   workload  its program has its hash; who knows programs says so
 *   target    its text has its hash
 *   session   a trial's uid, which is a hash of the session's id among others
 */
#include <string.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "target/target.h"

bool db_sqlite_mend_workload(const hone_db_recover_options *options, hone_db_workload *io_row) {
    if (!options->mend) return false;
    const hone_db_workload was = *io_row;
    *io_row = (hone_db_workload){
        .hash = was.hash, .hash_version = was.hash_version, .name = "", .program = was.program};
    return options->mend(options->ctx, io_row) && io_row->name[0];
}

bool db_sqlite_mend_target(hone_db_target *io_row) {
    hone_target target;
    hone_status st = hone_target_parse(io_row->text, &target);
    bool is_its = !st && hone_hash128_equal(hone_target_hash(&target), io_row->hash);
    hone_status_free(st);
    if (is_its) io_row->threads = target.num_threads;
    return is_its;
}

/* uid, workload, target, proposal, begin and end of the trials that a session has. */
#define TRIALS_OF                                                                                  \
    "SELECT t.uid, w.hash, g.hash, t.proposal, t.wall_ns FROM trial t NOT INDEXED"                 \
    " JOIN workload w ON w.id = t.workload_id JOIN target g ON g.id = t.target_id"                 \
    " WHERE t.session_id = ?1"

static bool read_hash(sqlite3_stmt *stmt, int at, hone_hash128 *out) {
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return text && hone_hash128_parse(text, out);
}

static bool is_proof(sqlite3_stmt *stmt, const char *session) {
    hone_hash128 uid, workload, target;
    if (!read_hash(stmt, 0, &uid) || !read_hash(stmt, 1, &workload) || !read_hash(stmt, 2, &target))
        return false;
    hone_hash128 want =
        hone_db_trial_uid(session, &workload, &target, sqlite3_column_int64(stmt, 3));
    return hone_hash128_equal(uid, want);
}

bool db_sqlite_mend_session(db_sqlite *db, int64_t row, hone_db_session *io_row) {
    sqlite3_stmt *stmt = NULL;
    *io_row = (hone_db_session){.id = io_row->id, .state = "killed"};
    if (sqlite3_prepare_v2(db->sql, TRIALS_OF, -1, &stmt, NULL) == SQLITE_OK)
        sqlite3_bind_int64(stmt, 1, row);
    bool is_proven = false;
    while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
        if (!is_proof(stmt, io_row->id)) continue;
        int64_t wall_ns = sqlite3_column_int64(stmt, 4);
        if (!is_proven || wall_ns < io_row->started_ns) io_row->started_ns = wall_ns;
        if (!is_proven || wall_ns > io_row->ended_ns) io_row->ended_ns = wall_ns;
        is_proven = true;
    }
    sqlite3_finalize(stmt);
    return is_proven;
}
