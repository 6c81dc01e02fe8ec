/* database/sqlite/db_sqlite_history.c - when the trials of a task came and what times they have,
 * from indices alone: the rows, which hold traces, are some hundred times as large.
 *
 * needs: trial_latest, trial_fastest, trial_confirmed and the index of unique proposals, each of
 * which holds what its statement asks for (EXPLAIN QUERY PLAN says COVERING).
 */
#include <assert.h>
#include <stdlib.h>

#include "database/sqlite/db_sqlite_impl.h"

typedef struct history {
    db_sqlite *db;
    const hone_hash128 *workload, *target;
    HONE_VEC(hone_db_moment) moments;
} history;

static const char doing[] = "read a history";

static int by_record(const void *a, const void *b) {
    const hone_db_moment *x = a, *y = b;
    return (x->record > y->record) - (x->record < y->record);
}

static int by_time(const void *a, const void *b) {
    const hone_db_moment *x = a, *y = b;
    int order = (x->wall_ns > y->wall_ns) - (x->wall_ns < y->wall_ns);
    return order ? order : by_record(a, b);
}

static hone_status open_statement(history *h, db_stmt_id id, sqlite3_stmt **out_stmt) {
    int rc = SQLITE_OK;
    HONE_TRY(db_sqlite_stmt(h->db, id, out_stmt));
    db_bind_hash(*out_stmt, 1, h->workload, &rc);
    db_bind_hash(*out_stmt, 2, h->target, &rc);
    return rc == SQLITE_OK ? HONE_OK : db_sqlite_error(h->db, rc, doing);
}

static hone_status add_moment(history *h, sqlite3_stmt *stmt) {
    hone_db_moment moment = {.record = sqlite3_column_int64(stmt, 0),
                             .wall_ns = sqlite3_column_int64(stmt, 1),
                             .session = -1,
                             .median_ns = NAN,
                             .confirmed_ns = NAN};
    if (hone_vec_push(&h->moments, moment)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "history");
}

/* Trials that came after the times were read are not there. */
static hone_status fill_moment(history *h, sqlite3_stmt *stmt, db_stmt_id id) {
    hone_db_moment key = {.record = sqlite3_column_int64(stmt, 0)};
    hone_db_moment *moment =
        bsearch(&key, h->moments.data, h->moments.count, sizeof key, by_record);
    if (!moment) return HONE_OK;
    if (id == DB_STMT_HISTORY_SESSIONS) {
        moment->session = sqlite3_column_int(stmt, 1);
    } else if (id == DB_STMT_HISTORY_MEDIANS) {
        moment->median_ns = db_column_real(stmt, 1);
    } else {
        moment->confirmed_ns = db_column_real(stmt, 1);
    }
    return HONE_OK;
}

static hone_status read_column(history *h, db_stmt_id id) {
    sqlite3_stmt *stmt = NULL;
    HONE_TRY(open_statement(h, id, &stmt));
    for (;;) {
        bool row = false;
        HONE_TRY(db_sqlite_step(h->db, stmt, doing, &row));
        if (!row) return HONE_OK;
        hone_status st =
            id == DB_STMT_HISTORY_TIMES ? add_moment(h, stmt) : fill_moment(h, stmt, id);
        if (!st) continue;
        sqlite3_reset(stmt);
        return st;
    }
}

static hone_status read_columns(history *h) {
    HONE_TRY(read_column(h, DB_STMT_HISTORY_TIMES));
    if (h->moments.count == 0) return HONE_OK;
    qsort(h->moments.data, h->moments.count, sizeof *h->moments.data, by_record);
    HONE_TRY(read_column(h, DB_STMT_HISTORY_MEDIANS));
    HONE_TRY(read_column(h, DB_STMT_HISTORY_CONFIRMED));
    HONE_TRY(read_column(h, DB_STMT_HISTORY_SESSIONS));
    qsort(h->moments.data, h->moments.count, sizeof *h->moments.data, by_time);
    return HONE_OK;
}

hone_status db_sqlite_history(hone_db *base, const hone_hash128 *workload,
                              const hone_hash128 *target, hone_db_visit_moment visit, void *ctx) {
    history h = {.db = db_sqlite_of(base), .workload = workload, .target = target};
    hone_status st = read_columns(&h);
    for (size_t i = 0; i < h.moments.count && !st; i++) {
        if (!visit(ctx, &h.moments.data[i])) break;
    }
    hone_vec_deinit(&h.moments);
    return st;
}
