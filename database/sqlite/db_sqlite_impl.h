/* database/sqlite/db_sqlite_impl.h - what the files of the sqlite backend share.
 *
 *   db_sqlite.c         the table of functions, create and destroy
 *   db_sqlite_open.c    connecting: whose file is it, settings, migrations
 *   db_sqlite_schema.c  tables, views, migrations
 *   db_sqlite_sum.c     checksums of rows
 *   db_sqlite_stmt.c    prepared statements, binding, errors
 *   db_sqlite_write.c   put, begin, end, commit, prune
 *   db_sqlite_read.c    queries with typed rows
 *   db_sqlite_history.c when the trials of a task came
 *   db_sqlite_user.c    SQL that people type
 *   db_sqlite_check.c   looking through a whole file
 *   db_sqlite_recover.c salvaging what can be read of a damaged one
 *   db_sqlite_pages.c   rows that nothing leads to any more
 */
#ifndef HONE_DATABASE_SQLITE_DB_SQLITE_IMPL_H
#define HONE_DATABASE_SQLITE_DB_SQLITE_IMPL_H

#include <sqlite3.h>

#include "database/database_impl.h"
#include "support/data/vec.h"

/* One row per statement that is kept prepared; the text is in db_sqlite_stmt.c. */
typedef enum db_stmt_id {
    DB_STMT_BEGIN,
    DB_STMT_COMMIT,
    DB_STMT_ROLLBACK,
    DB_STMT_PUT_WORKLOAD,
    DB_STMT_PUT_TARGET,
    DB_STMT_BEGIN_SESSION,
    DB_STMT_END_SESSION,
    DB_STMT_FIND_WORKLOAD,
    DB_STMT_FIND_TARGET,
    DB_STMT_FIND_SESSION,
    DB_STMT_PUT_TRIAL,
    DB_STMT_PUT_SAMPLE,
    DB_STMT_PUT_FEATURE,
    DB_STMT_REPLACE_WORKLOAD,
    DB_STMT_REPLACE_SESSION,
    DB_STMT_REPLACE_TRIAL,
    DB_STMT_DROP_SAMPLES,
    DB_STMT_DROP_FEATURE,
    DB_STMT_SUM_SESSION,
    DB_STMT_SUM_TRIAL,
    DB_STMT_CONFIRM,
    DB_STMT_PRUNE,
    DB_STMT_PRUNE_TASKS,
    DB_STMT_SAMPLES,
    DB_STMT_FEATURE,
    DB_STMT_FIND_UID,
    DB_STMT_HAS_PROGRAM,
    DB_STMT_HISTORY_TIMES,
    DB_STMT_HISTORY_MEDIANS,
    DB_STMT_HISTORY_CONFIRMED,
    DB_STMT_HISTORY_SESSIONS,
    DB_STMT_WORKLOADS, /* all, as the next kinds; then one by its identity, one by its row */
    DB_STMT_WORKLOAD,
    DB_STMT_WORKLOAD_AT,
    DB_STMT_TARGETS,
    DB_STMT_TARGET,
    DB_STMT_TARGET_AT,
    DB_STMT_SESSIONS,
    DB_STMT_SESSION,
    DB_STMT_SESSION_AT,
    DB_STMT_TASKS,
    DB_STMT_FAILURES,
    DB_STMT_STATS,
    DB_STMT_COUNTS,
    DB_STMT_COUNT,
} db_stmt_id;

/* A query of trials that is kept prepared; which there are, the filters decide. */
enum { DB_KEPT_QUERIES = 8 };
typedef struct db_kept_query {
    char *text; /* owned; NULL = none */
    sqlite3_stmt *stmt;
} db_kept_query;

typedef struct db_sqlite {
    hone_db base; /* first: a db_sqlite * is an hone_db * */
    sqlite3 *sql;
    char *path;       /* owned; for messages */
    bool is_copy;     /* sql is a private copy of the file, brought up to date */
    bool is_rescued;  /* its file is gone, what it held was saved */
    bool is_checking; /* messages about damage do not send people to 'hone db check' */
    sqlite3_stmt *stmts[DB_STMT_COUNT];
    db_kept_query queries[DB_KEPT_QUERIES]; /* the one that was used last first */
    int64_t steps;                          /* of the statement that runs: db_sqlite_bound_steps */
    double *samples;                        /* scratch of the row being visited, as is the next */
    float *features;
    size_t sample_capacity, feature_capacity;
} db_sqlite;

static inline db_sqlite *db_sqlite_of(hone_db *base) {
    return (db_sqlite *)base;
}

/* ---- db_sqlite_stmt.c ---- */

/* Makes a failure of an SQLite result code, with the file's path. `doing` reads after "cannot". */
HONE_NODISCARD hone_status db_sqlite_error(const db_sqlite *db, int rc, const char *doing);
/* What to do about a damaged file; goes after a message. */
const char *db_sqlite_damage_advice(const db_sqlite *db);
/* Runs SQL without results. */
HONE_NODISCARD hone_status db_sqlite_exec(db_sqlite *db, const char *text, const char *doing);
/* The statement, reset and without bindings; prepared when first used. */
HONE_NODISCARD hone_status db_sqlite_stmt(db_sqlite *db, db_stmt_id id, sqlite3_stmt **out_stmt);
/* Steps once; *out_row tells whether there is a row. Resets the statement when there is none. */
HONE_NODISCARD hone_status db_sqlite_step(db_sqlite *db, sqlite3_stmt *stmt, const char *doing,
                                          bool *out_row);
/* Runs a statement that has no rows. */
HONE_NODISCARD hone_status db_sqlite_run(db_sqlite *db, sqlite3_stmt *stmt, const char *doing);
void db_sqlite_finalize_all(db_sqlite *db);

/* Binding: NULL text and NAN become NULL. Failures are out of memory; they show in step, because
 * what was not bound is NULL: so each returns the first failure of a chain. */
void db_bind_text(sqlite3_stmt *stmt, int at, const char *text, int *rc);
void db_bind_int(sqlite3_stmt *stmt, int at, int64_t value, int *rc);
void db_bind_real(sqlite3_stmt *stmt, int at, double value, int *rc);
void db_bind_hash(sqlite3_stmt *stmt, int at, const hone_hash128 *hash, int *rc);

const char *db_column_text(sqlite3_stmt *stmt, int at); /* NULL for NULL */
double db_column_real(sqlite3_stmt *stmt, int at);      /* NAN for NULL */
/* INVALID when the text is no hash (a damaged file). */
HONE_NODISCARD hone_status db_column_hash(const db_sqlite *db, sqlite3_stmt *stmt, int at,
                                          hone_hash128 *out_hash);

/* Pages of a damaged file may lead in circles: a statement that takes far more steps than the file
 * has rows is ended, and the file is said to be damaged. Of the connection that db->sql is now. */
void db_sqlite_bound_steps(db_sqlite *db);

/* ---- db_sqlite_open.c ---- */

/* Opens a connection to db->path into db->sql with all settings made, checks that the file is ours
 * and migrates it where the mode allows. */
HONE_NODISCARD hone_status db_sqlite_connect(db_sqlite *db, const hone_db_options *options);

/* ---- db_sqlite_sum.c ---- */

/* Makes the functions of DB_…_SUM (db_sqlite_schema.h) known to the connection. */
HONE_NODISCARD hone_status db_sqlite_add_sums(db_sqlite *db);

/* ---- db_sqlite_write.c ---- */
hone_status db_sqlite_put_workload(hone_db *base, const hone_db_workload *workload);
hone_status db_sqlite_put_target(hone_db *base, const hone_db_target *target);
hone_status db_sqlite_begin_session(hone_db *base, const hone_db_session *session);
hone_status db_sqlite_end_session(hone_db *base, const char *id, const char *state,
                                  int64_t ended_ns);
hone_status db_sqlite_commit(hone_db *base, const hone_db_trial *trials, size_t count,
                             int64_t *out_record);
hone_status db_sqlite_confirm(hone_db *base, int64_t record, double confirmed_ns,
                              int64_t confirmed_at_ns);
hone_status db_sqlite_replace_workload(hone_db *base, const hone_db_workload *workload);
hone_status db_sqlite_replace_session(hone_db *base, const hone_db_session *session);
hone_status db_sqlite_replace(hone_db *base, const hone_db_trial *trials, size_t count);
hone_status db_sqlite_prune(hone_db *base, int64_t keep, int64_t *out_removed);

/* ---- db_sqlite_read.c ---- */
hone_status db_sqlite_query(hone_db *base, const hone_db_query *query, hone_db_visit_trial visit,
                            void *ctx);
hone_status db_sqlite_find_uid(hone_db *base, const char *prefix, int *out_count,
                               int64_t *out_record);
hone_status db_sqlite_has_program(hone_db *base, const hone_hash128 *workload,
                                  const hone_hash128 *target, const hone_hash128 *program,
                                  int64_t last_record, bool *out_has);
hone_status db_sqlite_workloads(hone_db *base, const hone_hash128 *hash,
                                hone_db_visit_workload visit, void *ctx);
hone_status db_sqlite_targets(hone_db *base, const hone_hash128 *hash, hone_db_visit_target visit,
                              void *ctx);
hone_status db_sqlite_sessions(hone_db *base, const char *id, hone_db_visit_session visit,
                               void *ctx);
/* Those above for one row of the table. */
hone_status db_sqlite_workload_at(hone_db *base, int64_t row, hone_db_visit_workload visit,
                                  void *ctx);
hone_status db_sqlite_target_at(hone_db *base, int64_t row, hone_db_visit_target visit, void *ctx);
hone_status db_sqlite_session_at(hone_db *base, int64_t row, hone_db_visit_session visit,
                                 void *ctx);
hone_status db_sqlite_tasks(hone_db *base, hone_db_visit_task visit, void *ctx);
hone_status db_sqlite_failures(hone_db *base, hone_db_visit_failure visit, void *ctx);
hone_status db_sqlite_stats(hone_db *base, hone_db_stats *out_stats);

/* ---- db_sqlite_look.c ---- */
hone_status db_sqlite_begin_look(hone_db *base);
void db_sqlite_end_look(hone_db *base);

/* ---- db_sqlite_history.c ---- */
hone_status db_sqlite_history(hone_db *base, const hone_hash128 *workload,
                              const hone_hash128 *target, hone_db_visit_moment visit, void *ctx);

/* ---- db_sqlite_user.c ---- */
hone_status db_sqlite_select(hone_db *base, const hone_db_statement *statement,
                             hone_db_visit_row visit, void *ctx);

/* ---- db_sqlite_pages.c ---- */

typedef struct db_found_rows {
    int64_t rows;
    bool has_sums; /* they were written with checksums */
} db_found_rows;

/* Puts what looks like a row of ours in any page of a file (and the log beside it, which is put
 * into the file) into an empty database, under its number. Nothing in the file is relied on. */
HONE_NODISCARD hone_status db_sqlite_find_rows(const char *copy, db_sqlite *into,
                                               db_found_rows *out_found);

/* ---- db_sqlite_orphans.c ---- */

/* Trials that are sound, and one thing that they refer to. */
typedef struct db_orphan_group {
    size_t kind;                        /* of thing: a table */
    int64_t row, trials;                /* its number in the file */
    char identity[HONE_HASH_HEX_BYTES]; /* its hash or id; "" = nothing knows it any more */
} db_orphan_group;

typedef HONE_VEC(db_orphan_group) db_orphans;

/* Groups trials by all that they refer to, also what is there. */
HONE_NODISCARD hone_status db_sqlite_group_orphans(db_sqlite *db, const int64_t *trials,
                                                   size_t count, db_orphans *orphans);
/* A line for each group whose thing is not in the database. */
HONE_NODISCARD hone_status db_sqlite_report_orphans(const db_orphans *orphans, hone_db *into,
                                                    hone_db_report report, void *ctx);

/* ---- db_sqlite_mend.c ---- */

/* Whether the identity of a row that is not what was written is proven; then what else it says is
 * made anew, or nothing. */
bool db_sqlite_mend_workload(const hone_db_recover_options *options, hone_db_workload *io_row);
bool db_sqlite_mend_target(hone_db_target *io_row);
bool db_sqlite_mend_session(db_sqlite *db, int64_t row, hone_db_session *io_row);

/* ---- db_sqlite_check.c ---- */
hone_status db_sqlite_check(hone_db *base, hone_db_report report, void *ctx);

#endif
