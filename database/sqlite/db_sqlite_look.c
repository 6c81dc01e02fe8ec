/* database/sqlite/db_sqlite_look.c - many reads of one state of the file: a transaction that only
 * reads.
 *
 * With a write-ahead log readers see the file as it was when they began, and hold nobody up; pages
 * that were read stay good, and no statement asks for locks. Without one they would hold up who
 * commits, and are left as they are.
 */
#include <string.h>

#include "database/sqlite/db_sqlite_impl.h"

static hone_status has_log(db_sqlite *db, bool *out) {
    sqlite3_stmt *stmt = NULL;
    *out = false;
    int rc = sqlite3_prepare_v2(db->sql, "PRAGMA journal_mode", -1, &stmt, NULL);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "prepare a statement");
    const unsigned char *mode =
        sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_text(stmt, 0) : NULL;
    *out = mode && strcmp((const char *)mode, "wal") == 0;
    sqlite3_finalize(stmt);
    return HONE_OK;
}

hone_status db_sqlite_begin_look(hone_db *base) {
    db_sqlite *db = db_sqlite_of(base);
    bool reads_beside_writers;
    HONE_TRY(has_log(db, &reads_beside_writers));
    if (!reads_beside_writers) return HONE_OK;
    return db_sqlite_exec(db, "BEGIN", "begin a transaction");
}

void db_sqlite_end_look(hone_db *base) {
    db_sqlite *db = db_sqlite_of(base);
    if (sqlite3_get_autocommit(db->sql)) return;
    sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL); /* it has only read */
}
