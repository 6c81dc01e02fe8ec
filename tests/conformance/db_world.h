/* tests/conformance/db_world.h - databases of every kind for the conformance suites, filled with
 * the samples of tests/database/db_samples.h, and what visits collect. */
#ifndef HONE_TESTS_DB_WORLD_H
#define HONE_TESTS_DB_WORLD_H

#include "database/database.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

typedef struct db_case {
    const char *name;
    void (*run)(hone_db *db);
} db_case;

#define DB_CASE(function)                                                                          \
    { #function, function }

/* Runs each case on a filled database of each backend; how many failed. */
int db_world_run(const char *suite, const db_case *cases, int count);

hone_db *db_world_memory(void);
hone_db *db_world_sqlite(void);

/* A trial of session s1 with one sample. */
void db_world_commit(hone_db *db, int64_t proposal, double median_ns);

/* What visits collect. */
typedef struct db_seen {
    int count, stop_after;
    int64_t proposal[64], record[64];
    double median_ns[64];
    size_t sample_count;
    uint32_t feature_rows, trace_count;
} db_seen;
bool db_see_trial(void *ctx, const hone_db_trial *trial);
bool db_count_any(void *ctx); /* ctx: an int */

#endif
