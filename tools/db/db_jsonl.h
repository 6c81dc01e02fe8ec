/* tools/db/db_jsonl.h - a database as lines of JSON.
 *
 * One object per line, "kind" says what it is: first the workloads, targets and sessions, then the
 * trials, so that a line refers to earlier ones only. All of a database is there.
 */
#ifndef HONE_TOOLS_DB_DB_JSONL_H
#define HONE_TOOLS_DB_DB_JSONL_H

#include "database/database.h"

#define HONE_DB_JSONL_VERSION 1

enum { HONE_DB_TIMES = 7 };

/* The times of a trial in the order of "times_ns": search, queue, build, transfer, load, measure,
 * check. */
int64_t *hone_db_time_at(hone_db_times *times, size_t i);

#endif
