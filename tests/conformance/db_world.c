/* tests/conformance/db_world.c - databases of either kind, filled with samples. */
#include "tests/conformance/db_world.h"

#include <assert.h>
#include <stdio.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

static char *scratch_dir;

hone_db *db_world_memory(void) {
    hone_db *db = NULL;
    HONE_ASSERT_OK(hone_db_create_memory(&db));
    return db;
}

hone_db *db_world_sqlite(void) {
    static int number;
    char path[512];
    snprintf(path, sizeof path, "%s/%d.db", scratch_dir, number++);
    hone_db *db = NULL;
    hone_db_options options = {.path = path, .mode = HONE_DB_CREATE};
    HONE_ASSERT_OK(hone_db_open_sqlite(&options, &db));
    return db;
}

bool db_see_trial(void *ctx, const hone_db_trial *trial) {
    db_seen *seen = ctx;
    assert_true(seen->count < 64);
    seen->proposal[seen->count] = trial->proposal;
    seen->record[seen->count] = trial->record;
    seen->median_ns[seen->count] = trial->median_ns;
    seen->sample_count += trial->sample_count;
    seen->feature_rows += trial->feature_rows;
    seen->trace_count += trial->trace != NULL;
    return ++seen->count != seen->stop_after;
}

bool db_count_any(void *ctx) {
    return ++*(int *)ctx > 0;
}

void db_world_commit(hone_db *db, int64_t proposal, double median_ns) {
    hone_db_trial trial = sample_trial(proposal, median_ns);
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
}

/* ---- each case on each backend ---- */

static const struct backend {
    const char *name;
    hone_db *(*make)(void);
} backends[] = {
    {"memory", db_world_memory},
    {"sqlite", db_world_sqlite},
};

enum { BACKENDS = sizeof backends / sizeof backends[0], MOST_CASES = 64 };

typedef struct row {
    char name[96];
    int backend;
    const db_case *which;
} row;

static void run_case(void **state) {
    const row *r = *state;
    hone_db *db = backends[r->backend].make();
    sample_fill(db);
    r->which->run(db);
    hone_db_close(db);
}

int db_world_run(const char *suite, const db_case *cases, int count) {
    static row rows[BACKENDS * MOST_CASES];
    struct CMUnitTest tests[BACKENDS * MOST_CASES] = {0};
    assert(count <= MOST_CASES);
    hone_status st = hone_fs_temp_dir("hone-db", &scratch_dir);
    if (st) return 1;
    for (int i = 0; i < BACKENDS * count; i++) {
        row *r = &rows[i];
        *r = (row){.backend = i / count, .which = &cases[i % count]};
        snprintf(r->name, sizeof r->name, "%s: %s", backends[r->backend].name, r->which->name);
        tests[i] = (struct CMUnitTest){.name = r->name, .test_func = run_case, .initial_state = r};
    }
    int failed = _cmocka_run_group_tests(suite, tests, (size_t)(BACKENDS * count), NULL, NULL);
    hone_status_free(hone_fs_remove_tree(scratch_dir));
    hone_free(scratch_dir);
    return failed;
}
