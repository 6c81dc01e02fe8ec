/* tests/database/test_database_sqlite.c - files that are not ours, damaged, unwritable or full. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
                      "is empty, not a Hone");
    HONE_ASSERT_OK(sample_open(path, HONE_DB_CREATE, &db));
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

/* ---- the outside world ---- */

/* Runs `body` in a child without privileges; its exit status must be 0. */
static void in_child(void (*body)(const char *path), const char *path, bool as_nobody) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (as_nobody && geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(3);
        body(path);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void expect(bool condition, int code) {
    if (!condition) _exit(code);
}

static void use_read_only_place(const char *path) {
    hone_db *db = NULL;
    hone_status st = sample_open(path, HONE_DB_READ, &db);
    expect(!st, 10);
    hone_db_stats stats;
    expect(!hone_db_get_stats(db, &stats) && stats.trials == 3, 11);
    hone_db_close(db);
    st = sample_open(path, HONE_DB_WRITE, &db);
    expect(hone_status_consume(st) == HONE_CODE_IO, 12);
    char other[512];
    snprintf(other, sizeof other, "%s.new", path);
    st = sample_open(other, HONE_DB_CREATE, &db);
    expect(hone_status_code(st) == HONE_CODE_IO, 13);
    expect(strstr(hone_status_message(st), other) != NULL, 14);
    hone_status_free(st);
}

static void reads_from_a_read_only_directory(void **state) {
    (void)state;
    char *place = sample_path("fixed");
    HONE_ASSERT_OK(hone_fs_mkdirs(place));
    char *path = sample_file("fixed/kept.db", 3);
    assert_int_equal(chmod(sample_dir(), 0755), 0);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(place, 0555), 0);
    in_child(use_read_only_place, path, true);
    assert_int_equal(chmod(place, 0755), 0);
    hone_free(path);
    hone_free(place);
}

/* What another program, which keeps no log, leaves when it is killed in the midst of a change. */
static void copy_in_the_midst(const char *path, const char *copy) {
    static const char *const ends[] = {"", "-journal"};
    sqlite3 *sql = NULL;
    assert_int_equal(sqlite3_open_v2(path, &sql, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sql,
                                  "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; "
                                  "DELETE FROM sample; DELETE FROM trial; "
                                  "CREATE TABLE more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                                  "SELECT i + 1 FROM n LIMIT 500) SELECT randomblob(1000) FROM n",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (size_t i = 0; i < HONE_COUNT(ends); i++) {
        char from[512], to[512], *bytes = NULL;
        size_t count = 0;
        snprintf(from, sizeof from, "%s%s", path, ends[i]);
        snprintf(to, sizeof to, "%s%s", copy, ends[i]);
        HONE_ASSERT_OK(hone_fs_read(from, 1 << 24, &bytes, &count));
        HONE_ASSERT_OK(hone_fs_write_atomic(to, bytes, count));
        hone_free(bytes);
    }
    assert_int_equal(sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(sql), SQLITE_OK);
}

static void readers_take_back_what_was_left_undone(void **state) {
    (void)state;
    hone_db_stats stats;
    hone_db *db = NULL;
    char *path = sample_file("midst.db", 5), *copy = sample_path("left.db");
    hone_db_options options = {.path = copy, .mode = HONE_DB_READ};
    copy_in_the_midst(path, copy);
    assert_int_equal(chmod(copy, 0444), 0);
    HONE_ASSERT_ERROR(hone_db_open_sqlite(&options, &db), HONE_CODE_IO, "was not closed");
    assert_int_equal(chmod(copy, 0644), 0);
    HONE_ASSERT_OK(hone_db_open_sqlite(&options, &db));
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    hone_db_close(db);
    hone_free(path);
    hone_free(copy);
    assert_int_equal(stats.trials, 5);
}

/* The limit on the size of files stands for a full disk: writes fail half-way. */
static void fill_the_disk(const char *path) {
    hone_db *db = NULL;
    struct rlimit limit, small = {.rlim_cur = 800000, .rlim_max = RLIM_INFINITY};
    char *trace = calloc(1, 3001);
    memset(trace, 'x', 3000);
    signal(SIGXFSZ, SIG_IGN);
    expect(!hone_status_consume(sample_open(path, HONE_DB_CREATE, &db)), 10);
    sample_fill(db);
    expect(!getrlimit(RLIMIT_FSIZE, &limit), 11);
    small.rlim_max = limit.rlim_max;
    expect(!setrlimit(RLIMIT_FSIZE, &small), 12);
    int64_t committed = 0;
    hone_status st = HONE_OK;
    while (!st && committed < 500) {
        hone_db_trial trial = sample_trial(committed, 100);
        trial.trace = trace;
        st = hone_db_commit_trial(db, &trial, NULL);
        committed += !st;
    }
    expect(st && committed > 5, 13);
    expect(hone_status_code(st) == HONE_CODE_IO, 14);
    expect(strstr(hone_status_message(st), "disk") != NULL, 15);
    hone_status_free(st);
    hone_db_stats stats;
    expect(!hone_status_consume(hone_db_get_stats(db, &stats)), 16);
    expect(stats.trials == committed, 17);
    expect(!setrlimit(RLIMIT_FSIZE, &limit), 18); /* there is room again */
    hone_db_trial trial = sample_trial(committed, 100);
    expect(!hone_status_consume(hone_db_commit_trial(db, &trial, NULL)), 19);
    hone_db_close(db);
    int lines = 0;
    expect(!hone_status_consume(sample_open(path, HONE_DB_WRITE, &db)), 20);
    expect(!hone_status_consume(hone_db_check(db, count_line, &lines)), 21);
    expect(!hone_status_consume(hone_db_get_stats(db, &stats)), 22);
    expect(stats.trials == committed + 1, 23);
    hone_db_close(db);
    free(trace);
}

static void a_full_disk_loses_nothing(void **state) {
    (void)state;
    char *path = sample_path("full.db");
    in_child(fill_the_disk, path, false);
    hone_free(path);
}

static bool take_proposal(void *ctx, const hone_db_trial *trial) {
    *(int64_t *)ctx = trial->proposal;
    return false;
}

/* Commits until it is killed; says each proposal that was acknowledged. */
static void commit_for_ever(const char *path, int pipe_fd) {
    hone_db *db = NULL;
    hone_db_trial trial = sample_trial(0, 100);
    const hone_db_filter latest = {.session = "s1", .order = HONE_DB_ORDER_LATEST};
    int64_t last = -1;
    expect(!hone_status_consume(sample_open(path, HONE_DB_WRITE, &db)), 10);
    expect(!hone_status_consume(hone_db_trials(db, &latest, take_proposal, &last)), 11);
    for (int64_t i = last + 1;; i++) {
        double samples[] = {1, 2, 3};
        trial = sample_trial(i, 100);
        trial.samples_ns = samples;
        trial.sample_count = 3;
        expect(!hone_status_consume(hone_db_commit_trial(db, &trial, NULL)), 12);
        expect(write(pipe_fd, &i, sizeof i) == sizeof i, 13);
    }
}

static bool mark_seen(void *ctx, const hone_db_trial *trial) {
    bool *seen = ctx;
    assert_int_equal(trial->sample_count, 3);
    if (trial->proposal < 100000) seen[trial->proposal] = true;
    return true;
}

static void kill_once(const char *path, int wait_ms, bool *acknowledged) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(fds[0]);
        commit_for_ever(path, fds[1]);
        _exit(0);
    }
    close(fds[1]);
    usleep((useconds_t)wait_ms * 1000); /* allow usleep: lets the child write */
    kill(child, SIGKILL);
    int64_t proposal;
    while (read(fds[0], &proposal, sizeof proposal) == sizeof proposal) {
        if (proposal < 100000) acknowledged[proposal] = true;
    }
    close(fds[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_killed_process_loses_nothing(void **state) {
    (void)state;
    char *path = sample_file("killed.db", 0);
    bool *acknowledged = calloc(100000, sizeof *acknowledged);
    int64_t total = 0;
    for (int round = 0; round < 15; round++) {
        bool *seen = calloc(100000, sizeof *seen);
        hone_db *db = NULL;
        int lines = 0;
        hone_db_filter filter = {.with_samples = true};
        kill_once(path, 15 + 7 * round, acknowledged);
        HONE_ASSERT_OK(sample_open(path, HONE_DB_WRITE, &db));
        HONE_ASSERT_OK(hone_db_trials(db, &filter, mark_seen, seen));
        HONE_ASSERT_OK(hone_db_check(db, count_line, &lines));
        hone_db_close(db);
        total = 0;
        for (int i = 0; i < 100000; i++) {
            if (acknowledged[i]) assert_true(seen[i]);
            total += acknowledged[i];
        }
        free(seen);
    }
    print_message("%lld trials acknowledged, none lost\n", (long long)total);
    assert_true(total > 10);
    free(acknowledged);
    hone_free(path);
}

/* Two processes make and fill one file at the same time. */
static void two_writers_share_a_file(void **state) {
    (void)state;
    enum { EACH = 40, WRITERS = 3 };
    char *path = sample_path("shared.db");
    pid_t children[WRITERS];
    fflush(NULL);
    for (int w = 0; w < WRITERS; w++) {
        children[w] = fork();
        assert_true(children[w] >= 0);
        if (children[w]) continue;
        hone_db *db = NULL;
        char session[16];
        snprintf(session, sizeof session, "w%d", w);
        hone_status opened = sample_open(path, HONE_DB_CREATE, &db);
        if (opened) fprintf(stderr, "%s\n", hone_status_message(opened));
        expect(!hone_status_consume(opened), 10);
        hone_db_workload workload = sample_workload(1);
        hone_db_target target = sample_target(1);
        hone_db_session begun = sample_session(session);
        expect(!hone_status_consume(hone_db_put_workload(db, &workload)), 11);
        expect(!hone_status_consume(hone_db_put_target(db, &target)), 12);
        expect(!hone_status_consume(hone_db_begin_session(db, &begun)), 13);
        for (int i = 0; i < EACH; i++) {
            hone_db_trial trial = sample_trial(i, 10 + i);
            trial.session = session;
            expect(!hone_status_consume(hone_db_commit_trial(db, &trial, NULL)), 14);
        }
        hone_db_close(db);
        _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = 0;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    hone_db *db = NULL;
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &db));
    assert_int_equal(sample_count_trials(db), WRITERS * EACH);
    hone_db_close(db);
    hone_free(path);
}

static int64_t trials_of(hone_db *db) {
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    return stats.trials;
}

/* What is read between begin and end is of one state; who writes meanwhile does not wait. */
static void looks_at_one_state(void **state) {
    (void)state;
    char *path = sample_file("looked-at.db", 3);
    hone_db *reader = NULL, *writer = NULL;
    hone_db_options at_once = {.path = path, .mode = HONE_DB_WRITE, .busy_timeout_ns = 1000000};
    HONE_ASSERT_OK(sample_open(path, HONE_DB_READ, &reader));
    HONE_ASSERT_OK(hone_db_open_sqlite(&at_once, &writer));
    for (int i = 0; i < 2; i++) { /* again, when it has ended */
        hone_db_trial trial = sample_trial(10 + i, 5);
        HONE_ASSERT_OK(hone_db_begin_look(reader));
        assert_int_equal(trials_of(reader), 3 + i);
        HONE_ASSERT_OK(hone_db_commit_trial(writer, &trial, NULL));
        assert_int_equal(trials_of(reader), 3 + i);
        hone_db_end_look(reader);
        assert_int_equal(trials_of(reader), 4 + i);
    }
    HONE_ASSERT_OK(hone_db_begin_look(writer)); /* does nothing */
    hone_db_trial trial = sample_trial(20, 5);
    HONE_ASSERT_OK(hone_db_commit_trial(writer, &trial, NULL));
    hone_db_end_look(writer);
    assert_int_equal(trials_of(reader), 6);
    hone_db_close(writer);
    hone_db_close(reader);
    hone_free(path);
}

/* Takes the lock of writers in the memory that the processes of a log share (byte 120 of the -shm
 * file, see SQLite's wal.c), says so, and waits to be killed. */
static void hold_write_lock(const char *path, int pipe_fd) {
    char shared[512];
    snprintf(shared, sizeof shared, "%s-shm", path);
    int file = open(shared, O_RDWR | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1};
    expect(file >= 0 && fcntl(file, F_SETLK, &lock) == 0, 10);
    expect(write(pipe_fd, "x", 1) == 1, 11);
    for (;;)
        pause();
}

static void says_who_is_in_the_way(void **state) {
    (void)state;
    char *path = sample_file("busy.db", 1), byte;
    hone_db *db = NULL;
    hone_db_options options = {.path = path, .mode = HONE_DB_WRITE, .busy_timeout_ns = 50000000};
    int fds[2];
    hone_db_trial trial = sample_trial(7, 5);
    HONE_ASSERT_OK(hone_db_open_sqlite(&options, &db));
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hold_write_lock(path, fds[1]);
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    close(fds[0]);
    hone_status st = hone_db_commit_trial(db, &trial, NULL);
    int64_t readable = sample_count_trials(db); /* readers do not wait for writers */
    kill(child, SIGKILL);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    HONE_ASSERT_ERROR(st, HONE_CODE_TIMEOUT, "another process holds the database");
    assert_int_equal(readable, 1);
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    hone_db_close(db);
    hone_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_newer_version),
        cmocka_unit_test(refuses_foreign_files),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(opens_odd_names),
        cmocka_unit_test(opens_odd_places),
        cmocka_unit_test(says_that_nothing_is_there),
        cmocka_unit_test(readers_change_nothing),
        cmocka_unit_test(knows_network_file_systems),
        cmocka_unit_test(survives_truncation),
        cmocka_unit_test(survives_flipped_bits),
        cmocka_unit_test(finds_edited_rows),
        cmocka_unit_test(finds_a_cut_end),
        cmocka_unit_test(migrates_older_versions),
        cmocka_unit_test(reads_from_a_read_only_directory),
        cmocka_unit_test(readers_take_back_what_was_left_undone),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_killed_process_loses_nothing),
        cmocka_unit_test(two_writers_share_a_file),
        cmocka_unit_test(looks_at_one_state),
        cmocka_unit_test(says_who_is_in_the_way),
    };
    if (sample_files_begin("hone-sqlite")) return 1;
    int failed = cmocka_run_group_tests_name("database/sqlite", tests, NULL, NULL);
    sample_files_end();
    return failed;
}
