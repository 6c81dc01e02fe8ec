/* tests/database/test_database_shared.c - a file that others hold, too: folders that cannot be
 * written, full disks, processes that are killed, other writers. */
#include <fcntl.h>
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
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

static void count_line(void *ctx, const char *line) {
    assert_non_null(line);
    ++*(int *)ctx;
}

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
        cmocka_unit_test(reads_from_a_read_only_directory),
        cmocka_unit_test(readers_take_back_what_was_left_undone),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_killed_process_loses_nothing),
        cmocka_unit_test(two_writers_share_a_file),
        cmocka_unit_test(looks_at_one_state),
        cmocka_unit_test(says_who_is_in_the_way),
    };
    if (sample_files_begin("hone-shared")) return 1;
    int failed = cmocka_run_group_tests_name("database/shared", tests, NULL, NULL);
    sample_files_end();
    return failed;
}
