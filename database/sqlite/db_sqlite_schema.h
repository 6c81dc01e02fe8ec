/* database/sqlite/db_sqlite_schema.h - tables, views and migrations of a database file.
 *
 * The application_id in the file's header says that a file is ours, user_version which migrations
 * it has been through. Migrations are append-only: a released one is never changed.
 */
#ifndef HONE_DATABASE_SQLITE_DB_SQLITE_SCHEMA_H
#define HONE_DATABASE_SQLITE_DB_SQLITE_SCHEMA_H

#include <stddef.h>

#include "measure/run.h"

#define HONE_DB_APPLICATION_ID 0x486f6e65 /* "Hone" */

/* What the checksums of rows cover (hone_sum, hone_sum_all: db_sqlite_sum.c). Version 2 of the
 * schema is made with these: like it, they do not change. That of a trial covers its samples and
 * features; columns that change later are arguments. */
#define DB_WORKLOAD_SUM "hone_sum(hash, hash_version, name, flops, args_json, program)"
#define DB_TARGET_SUM "hone_sum(hash, threads, text)"
#define DB_SESSION_SUM(state, ended_ns)                                                            \
    "hone_sum(uid, " state ", started_ns, " ended_ns ", seed, look_ahead, budget_trials,"          \
    " budget_ns, model, hone_version, command_line, options_json, owner)"
#define DB_TRIAL_SUM(confirmed_ns, confirmed_at_ns)                                                \
    "hone_sum(uid, session_id, workload_id, target_id, proposal, sketch, program, outcome,"        \
    " median_ns, spread, max_error, " confirmed_ns ", " confirmed_at_ns ", predicted_score,"       \
    " search_ns, queue_ns, build_ns, transfer_ns, load_ns, measure_ns, check_ns, wall_ns, drift,"  \
    " device, message, trace,"                                                                     \
    " (SELECT hone_sum_all(number, ns) FROM sample WHERE trial_id = trial.id),"                    \
    " (SELECT hone_sum(version, row_count, column_count, data) FROM feature"                       \
    "  WHERE trial_id = trial.id))"

/* What the table of tasks holds, counted anew. */
#define DB_TASK_COUNTS                                                                             \
    " workload_id, target_id, count(*), count(median_ns), count(confirmed_ns), max(wall_ns),"      \
    " sum(search_ns), sum(build_ns), sum(measure_ns) FROM trial GROUP BY workload_id, target_id"

/* A time that some kernel can take (hone_run_is_time); others are nobody's measurement. The plus
 * keeps them from choosing an index. */
#define DB_TEXT_OF(x) #x
#define DB_TEXT(x) DB_TEXT_OF(x)
#define DB_IS_TIME(column) "(+" column " >= " DB_TEXT(HONE_RUN_LEAST_NS) " AND +" column " < 9e999)"
/* Both times of a good trial are; name: of the table, with its dot. */
#define DB_HAS_TIMES(name)                                                                         \
    "(" DB_IS_TIME(name "median_ns") " AND (" name "confirmed_ns IS NULL OR " DB_IS_TIME(          \
        name "confirmed_ns") "))"

/* The user_version that this build writes. */
int hone_db_schema_latest(void);

/* The statements that take a file from user_version `from` to from + 1, NULL at the end. */
const char *const *hone_db_schema_migration(int from);

#endif
