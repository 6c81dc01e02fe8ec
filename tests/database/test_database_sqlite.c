/* tests/database/test_database_sqlite.c - files that are not ours, damaged, or of older versions.
 */
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "database/database.h"
#include "database/network_fs.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

enum { OFFSET_USER_VERSION = 60, OFFSET_APPLICATION_ID = 68 }; /* of SQLite's file header */

static void set_bytes(const char *path, long offset, const char *bytes, size_t count) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void assert_refused(const char *path, hone_code code, const char *part) {
    static const hone_db_mode modes[] = {HONE_DB_READ, HONE_DB_WRITE, HONE_DB_CREATE};
    for (size_t i = 0; i < 3; i++) {
        hone_db *db = (hone_db *)&db;
        HONE_ASSERT_ERROR(sample_open(path, modes[i], &db), code, part);
        assert_null(db);
    }
}

/* ---- whose file is it ---- */

static void refuses_a_newer_version(void **state) {
    (void)state;
    char *path = sample_file("newer.db", 1);
    set_bytes(path, OFFSET_USER_VERSION, "\0\0\0\x63", 4);
    assert_refused(path, HONE_CODE_VERSION, "schema version 99");
    hone_free(path);
}

static void refuses_foreign_files(void **state) {
    (void)state;
    char *path = sample_file("foreign.db", 1);
    set_bytes(path, OFFSET_APPLICATION_ID, "\0\0\0\1", 4);
    assert_refused(path, HONE_CODE_INVALID, "not one of Hone's");
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "hello, world, this is text\n", 27));
    assert_refused(path, HONE_CODE_INVALID, "not a Hone database");
    hone_free(path);
    assert_refused(sample_dir(), HONE_CODE_INVALID, "not a regular file");
    path = sample_path("empty.db");
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "", 0));
    hone_db *db = NULL;
    HONE_ASSERT_ERROR(sample_open(path, HONE_DB_READ, &db), HONE_CODE_INVALID, "empty");
    HONE_ASSERT_OK(
        sample_open(path, HONE_DB_CREATE, &db)); /* somebody touched it: it becomes ours */
    hone_db_close(db);
    hone_free(path);
}

static void says_what_is_missing(void **state) {
    (void)state;
    char *path = sample_path("missing.db");
    hone_db *db = NULL;
    HONE_ASSERT_ERROR(sample_open(path, HONE_DB_READ, &db), HONE_CODE_NOT_FOUND, "missing.db");
    HONE_ASSERT_CODE(sample_open(path, HONE_DB_WRITE, &db), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_ERROR(sample_open("/nowhere/at/all.db", HONE_DB_CREATE, &db), HONE_CODE_IO,
                      "/nowhere/at/all.db");
    HONE_ASSERT_CODE(sample_open("", HONE_DB_CREATE, &db), HONE_CODE_INVALID);
    hone_free(path);
}

static void opens_odd_names(void **state) {
    (void)state;
    static const char *const names[] = {"a b.db", "50%.db", "what?.db", "#1.db", "ü&x=1.db"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = sample_file(names[i], 2);
        hone_db *db = NULL;
        assert_true(hone_fs_exists(path));
        HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
        assert_int_equal(sample_count_trials(db), 2);
        hone_db_close(db);
        hone_free(path);
    }
}

/* What is no path to SQLite: a name of its own, and what follows two slashes. */
static void opens_odd_places(void **state) {
    (void)state;
    char here[PATH_MAX], twice[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(sample_dir()), 0);
    snprintf(twice, sizeof twice, "/%s/twice.db", sample_dir());
    const char *const names[] = {":memory:", "file::memory:?x=1", twice};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hone_db *db = NULL;
        HONE_ASSERT_OK(sample_open(names[i], HONE_DB_CREATE, &db));
        sample_fill(db);
        hone_db_close(db);
        assert_true(hone_fs_exists(names[i]));
        HONE_ASSERT_OK(sample_open(names[i], HONE_DB_READ, &db));
        hone_db_close(db);
    }
    assert_int_equal(chdir(here), 0);
}

/* Whoever began to make it was killed. */
static void says_that_nothing_is_there(void **state) {
    (void)state;
    char *path = sample_path("begun.db");
    sqlite3 *sql = NULL;
    hone_db *db = NULL;
    assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(sql), SQLITE_OK);
    HONE_ASSERT_ERROR(sample_open(path, HONE_DB_READ, &db), HONE_CODE_INVALID,
                      "is empty; tune, import");
    HONE_ASSERT_OK(sample_open(path, HONE_DB_CREATE, &db));
    hone_db_close(db);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "", 0));
    HONE_ASSERT_ERROR(sample_open(path, HONE_DB_READ, &db), HONE_CODE_INVALID,
                      "is empty; tune, import");
    HONE_ASSERT_OK(sample_open(path, HONE_DB_CREATE, &db));
    hone_db_close(db);
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    hone_db_close(db);
    hone_free(path);
}

static void readers_change_nothing(void **state) {
    (void)state;
    char *path = sample_file("reader.db", 2), *before = NULL, *after = NULL;
    size_t before_count = 0, after_count = 0;
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &before, &before_count));
    hone_db *db = NULL;
    hone_db_trial trial = sample_trial(9, 1);
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &trial, NULL), HONE_CODE_INVALID, "reading only");
    HONE_ASSERT_CODE(hone_db_confirm(db, 1, 5, SAMPLE_WALL_NS), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_db_end_session(db, "s1", "done", 1), HONE_CODE_INVALID);
    hone_db_close(db);
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &after, &after_count));
    assert_int_equal(before_count, after_count);
    assert_memory_equal(before, after, after_count);
    hone_free(before);
    hone_free(after);
    hone_free(path);
}

static void knows_network_file_systems(void **state) {
    (void)state;
    assert_true(hone_db_is_network_fs(0x6969));           /* NFS */
    assert_true(hone_db_is_network_fs((long)0xff534d42)); /* CIFS */
    assert_true(hone_db_is_network_fs((int)0xfe534d42));  /* SMB2, sign-extended */
    assert_false(hone_db_is_network_fs(0xef53));          /* ext4 */
    assert_false(hone_db_is_network_fs(0x01021994));      /* tmpfs */
    assert_false(hone_db_is_network_fs(0));
}

/* ---- damage ---- */

static bool ignore_trial(void *ctx, const hone_db_trial *trial) {
    (void)ctx, (void)trial;
    return true;
}
static bool ignore_task(void *ctx, const hone_db_task *task) {
    (void)ctx, (void)task;
    return true;
}
static void count_line(void *ctx, const char *line) {
    assert_non_null(line);
    ++*(int *)ctx;
}

/* Opens, reads everything, writes a little. Whatever happens is a status. True: nothing failed. */
static bool exercise(const char *path) {
    hone_db *db = NULL;
    int lines = 0;
    hone_db_filter all = {.with_samples = true, .with_features = true};
    hone_status st = sample_open(path, HONE_DB_WRITE, &db);
    if (st) {
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_INVALID || code == HONE_CODE_VERSION ||
                    code == HONE_CODE_IO || code == HONE_CODE_INTERNAL);
        return false;
    }
    hone_db_trial trial = sample_trial(1000, 5);
    bool ok = !hone_status_consume(hone_db_trials(db, &all, ignore_trial, NULL));
    ok &= !hone_status_consume(hone_db_tasks(db, ignore_task, NULL));
    ok &= !hone_status_consume(hone_db_check(db, count_line, &lines));
    ok &= !hone_status_consume(hone_db_commit_trial(db, &trial, NULL));
    hone_db_close(db);
    return ok;
}

static void survives_truncation(void **state) {
    (void)state;
    char *path = sample_file("whole.db", 40), *bytes = NULL, *cut = sample_path("cut.db");
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &bytes, &count));
    for (size_t length = 1; length < count; length += length < 200 ? 37 : 4099) {
        HONE_ASSERT_OK(hone_fs_write_atomic(cut, bytes, length));
        assert_false(exercise(cut));
    }
    HONE_ASSERT_OK(hone_fs_write_atomic(cut, bytes, count));
    assert_true(exercise(cut));
    hone_free(bytes);
    hone_free(path);
    hone_free(cut);
}

static void survives_flipped_bits(void **state) {
    (void)state;
    char *path = sample_file("sound.db", 40), *bytes = NULL, *bad = sample_path("flipped.db");
    size_t count = 0;
    int noticed = 0;
    hone_rng rng = hone_test_rng(1);
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &bytes, &count));
    for (int i = 0; i < 60; i++) {
        size_t at = hone_rng_below(&rng, i < 20 ? 100 : count);
        char was = bytes[at];
        bytes[at] = (char)(was ^ (1 << hone_rng_below(&rng, 8)));
        HONE_ASSERT_OK(hone_fs_write_atomic(bad, bytes, count));
        noticed += !exercise(bad);
        bytes[at] = was;
    }
    assert_true(noticed > 0); /* most flips hit text or free space, which no page check sees */
    hone_free(bytes);
    hone_free(path);
    hone_free(bad);
}

/* Runs SQL as any other program could. */
static void edit(const char *path, const char *text) {
    sqlite3 *sql = NULL;
    assert_int_equal(sqlite3_open_v2(path, &sql, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sql, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(sql), SQLITE_OK);
}

static int count_findings(const char *path) {
    hone_db *db = NULL;
    int lines = 0;
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    hone_code code = hone_status_consume(hone_db_check(db, count_line, &lines));
    assert_int_equal(code, lines ? HONE_CODE_INVALID : HONE_CODE_OK);
    hone_db_close(db);
    return lines;
}

/* What somebody else changed is found, whatever column it is in. */
static void finds_edited_rows(void **state) {
    (void)state;
    static const char *const edits[] = {
        "UPDATE workload SET program = program || ' ' WHERE id = 1",
        "UPDATE workload SET name = 'other' WHERE id = 2",
        "UPDATE target SET text = 'llvm' WHERE id = 1",
        "UPDATE session SET command_line = NULL WHERE id = 1",
        "UPDATE trial SET median_ns = median_ns / 2 WHERE id = 3",
        "UPDATE trial SET confirmed_ns = 5 WHERE id = 3",
        "UPDATE trial SET trace = '[]' WHERE id = 3",
        "UPDATE sample SET ns = 1 WHERE trial_id = 3 AND number = 0",
        "DELETE FROM sample WHERE trial_id = 3",
        "INSERT INTO feature VALUES(3, 1, 0, 0, x'')",
        "UPDATE task SET trials = trials + 1",
        "DELETE FROM task",
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "edit%zu.db", i);
        char *path = sample_file(name, 6);
        assert_int_equal(count_findings(path), 0);
        edit(path, edits[i]);
        assert_int_equal(count_findings(path), 1);
        hone_db *db = NULL; /* writing does not make it right */
        HONE_ASSERT_OK(sample_open(path, HONE_DB_WRITE, &db));
        HONE_ASSERT_OK(hone_db_confirm(db, 3, 50, SAMPLE_WALL_NS));
        HONE_ASSERT_OK(hone_db_end_session(db, "s1", "done", SAMPLE_WALL_NS));
        hone_db_close(db);
        assert_int_equal(count_findings(path), 1);
        hone_free(path);
    }
}

static bool take_record(void *ctx, const hone_db_trial *trial) {
    *(int64_t *)ctx = trial->record;
    assert_true(trial->median_ns >= 0.05 && trial->median_ns < 1e300);
    return false;
}

static bool take_best(void *ctx, const hone_db_task *task) {
    *(double *)ctx = task->best_ns;
    return false;
}

static bool is_possible(void *ctx, const hone_db_moment *moment) {
    (void)ctx;
    assert_false(moment->median_ns < 0.05 || moment->median_ns > 1e300);
    assert_false(moment->confirmed_ns < 0.05 || moment->confirmed_ns > 1e300);
    return true;
}

/* All that is asked for the best says that it is the first record, of 100 ns. */
static void assert_first_is_best(const char *path) {
    static const hone_db_order orders[] = {HONE_DB_ORDER_BEST, HONE_DB_ORDER_FASTEST};
    const hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    hone_db *db = NULL;
    double best_ns = 0;
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const hone_db_filter filter = {.workload = &workload, .order = orders[i], .limit = 1};
        int64_t record = 0;
        HONE_ASSERT_OK(hone_db_trials(db, &filter, take_record, &record));
        assert_int_equal(record, 1);
    }
    HONE_ASSERT_OK(hone_db_tasks(db, take_best, &best_ns));
    assert_true(best_ns == 100);
    HONE_ASSERT_OK(hone_db_history(db, &workload, &target, is_possible, NULL));
    hone_db_close(db);
}

/* Times that no kernel can take: nobody has measured them, and they win nothing. */
static void passes_over_impossible_times(void **state) {
    (void)state;
    static const char *const edits[] = {
        "median_ns = 9e999",   "median_ns = -9e999",    "median_ns = -5",        "median_ns = 0",
        "median_ns = 1e-300",  "median_ns = NULL",      "confirmed_ns = -5",     "confirmed_ns = 0",
        "confirmed_ns = -0.0", "confirmed_ns = 1e-300", "confirmed_ns = -9e999",
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char name[32], text[256];
        snprintf(name, sizeof name, "time%zu.db", i);
        snprintf(text, sizeof text,
                 "PRAGMA ignore_check_constraints = 1; UPDATE trial SET %s WHERE id = 3", edits[i]);
        char *path = sample_file(name, 6);
        edit(path, text);
        assert_first_is_best(path);
        assert_true(count_findings(path) > 0);
        hone_free(path);
    }
}

/* Bytes that are missing at the end are seen, however few. */
static void finds_a_cut_end(void **state) {
    (void)state;
    char *path = sample_file("end.db", 40), *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &bytes, &count));
    for (size_t cut = 1; cut < 4000; cut = 3 * cut + 1) {
        HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count - cut));
        assert_true(count_findings(path) > 0);
    }
    hone_free(bytes);
    hone_free(path);
}

/* ---- migration ---- */

/* What the files of older versions hold: read from a copy of its own, or after it was migrated. */
static void assert_older(const char *path, hone_db_mode mode) {
    hone_db *db = NULL;
    hone_db_stats stats;
    int lines = 0;
    int64_t best = 0, killed = 0;
    HONE_ASSERT_OK(sample_open(path, mode, &db));
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.schema_version, 3);
    assert_int_equal(stats.trials, 4);
    assert_int_equal(stats.confirmed, 3);
    HONE_ASSERT_OK(hone_db_check(db, count_line, &lines));
    HONE_ASSERT_OK(hone_db_sql(db, "SELECT record FROM v_best", 0, sample_take_number, &best));
    assert_int_equal(best, 1);
    HONE_ASSERT_OK(hone_db_sql(db, "SELECT count(*) FROM v_sessions WHERE state = 'killed'", 0,
                               sample_take_number, &killed));
    assert_int_equal(killed, 1);
    hone_db_close(db);
}

static void migrates(const char *name) {
    char *path = sample_path(name), *bytes = NULL, *after = NULL, fixture[64];
    size_t count = 0, after_count = 0;
    snprintf(fixture, sizeof fixture, "tests/database/fixtures/%s", name);
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(fixture), 1 << 24, &bytes, &count));
    HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count));
    assert_older(path, HONE_DB_READ);
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &after, &after_count));
    assert_int_equal(after_count, count);
    assert_memory_equal(after, bytes, count);
    assert_older(path, HONE_DB_WRITE);
    assert_older(path, HONE_DB_READ);
    hone_free(after);
    hone_free(bytes);
    hone_free(path);
}

static void migrates_older_versions(void **state) {
    (void)state;
    migrates("version1.db");
    migrates("version2.db");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_newer_version), cmocka_unit_test(refuses_foreign_files),
        cmocka_unit_test(says_what_is_missing),    cmocka_unit_test(opens_odd_names),
        cmocka_unit_test(opens_odd_places),        cmocka_unit_test(says_that_nothing_is_there),
        cmocka_unit_test(readers_change_nothing),  cmocka_unit_test(knows_network_file_systems),
        cmocka_unit_test(survives_truncation),     cmocka_unit_test(survives_flipped_bits),
        cmocka_unit_test(finds_edited_rows),       cmocka_unit_test(passes_over_impossible_times),
        cmocka_unit_test(finds_a_cut_end),         cmocka_unit_test(migrates_older_versions),
    };
    if (sample_files_begin("hone-sqlite")) return 1;
    int failed = cmocka_run_group_tests_name("database/sqlite", tests, NULL, NULL);
    sample_files_end();
    return failed;
}
