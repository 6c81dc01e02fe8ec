/* database/db_jsonl.h - a database as lines of JSON.
 *
 * One object per line, "kind" says what it is: first the workloads, targets and sessions, then the
 * trials, so that a line refers to earlier ones only. All of a database is there.
 */
#ifndef HONE_DATABASE_DB_JSONL_H
#define HONE_DATABASE_DB_JSONL_H

#include <stdio.h>

#include "database/database.h"

#define HONE_DB_JSONL_VERSION 1

enum { HONE_DB_TIMES = 7 };

/* The times of a trial in the order of "times_ns": search, queue, build, transfer, load, measure,
 * check. */
int64_t *hone_db_time_at(hone_db_times *times, size_t i);

/* All of a database to a descriptor, or to a file, which is replaced as a whole. */
HONE_NODISCARD hone_status hone_db_write_lines(hone_db *db, int fd);
HONE_NODISCARD hone_status hone_db_write_lines_file(hone_db *db, const char *path);

/* Whether a workload's text is the program that its hash names: who can read programs knows. */
typedef hone_status (*hone_db_workload_check)(const hone_db_workload *workload);

/* Joins what the lines hold into a database (hone_db_joiner). path: for messages. check: of each
 * workload, NULL = none. INVALID with the line: a line that is none of these, or what check says;
 * VERSION: lines of a newer version; IO. */
HONE_NODISCARD hone_status hone_db_read_lines(hone_db *into, const char *path, FILE *file,
                                              hone_db_workload_check check,
                                              hone_db_merge_counts *out_counts);
HONE_NODISCARD hone_status hone_db_read_lines_file(hone_db *into, const char *path,
                                                   hone_db_workload_check check,
                                                   hone_db_merge_counts *out_counts);

#endif
