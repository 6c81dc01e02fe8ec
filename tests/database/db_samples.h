/* tests/database/db_samples.h - rows for tests of databases, all made from small numbers. */
#ifndef HONE_TESTS_DATABASE_DB_SAMPLES_H
#define HONE_TESTS_DATABASE_DB_SAMPLES_H

#include "database/database.h"

#define SAMPLE_WALL_NS INT64_C(1700000000000000000)

hone_db_workload sample_workload(int number);
hone_db_target sample_target(int threads);
hone_db_session sample_session(const char *id);
/* An ok trial of workload 1, target 1, session "s1"; median_ns NAN makes it a wrong_result. */
hone_db_trial sample_trial(int64_t proposal, double median_ns);

/* Puts workloads 1 and 2, targets 1 and 2 (threads), sessions "s1" and "s2". */
void sample_fill(hone_db *db);

/* The k best of a task. */
hone_status sample_top_k(hone_db *db, const hone_hash128 *workload, const hone_hash128 *target,
                         int64_t k, hone_db_visit_trial visit, void *ctx);

/* ---- files ---- */

/* Makes a directory for the files of a test program; 0, or -1. */
int sample_files_begin(const char *name);
void sample_files_end(void);
const char *sample_dir(void);
/* The path of a file in it; free with hone_free. */
char *sample_path(const char *name);
hone_status sample_open(const char *path, hone_db_mode mode, hone_db **out_db);
/* A closed database with `trials` trials; its path. */
char *sample_file(const char *name, int trials);
int64_t sample_count_trials(hone_db *db);
/* For hone_db_sql: the first cell of the first row, a number, to the int64_t at ctx. */
bool sample_take_number(void *ctx, const hone_db_row *row);

#endif
