/* tests/database/test_database_file.c - a file among others: who may write it, who has removed it,
 * who is at it, and what is left of one that is damaged. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database/database.h"
#include "database/session_owner.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

enum { TRIALS = 60 };

static hone_db *open_db(const char *path, hone_db_mode mode) {
    hone_db *db = NULL;
    HONE_ASSERT_OK(sample_open(path, mode, &db));
    return db;
}

static void commit(hone_db *db, int64_t proposal) {
    double samples[] = {1, 2, 3};
    float features[64];
    for (int i = 0; i < 64; i++)
        features[i] = (float)i;
    hone_db_trial trial = sample_trial(proposal, 100 + (double)proposal);
    trial.samples_ns = samples, trial.sample_count = 3;
    trial.features = features, trial.feature_version = 1;
    trial.feature_rows = trial.feature_columns = 8;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
}

static char *make_file(const char *name) {
    char *path = sample_path(name);
    hone_db *db = open_db(path, HONE_DB_CREATE);
    sample_fill(db);
    for (int i = 0; i < TRIALS; i++)
        commit(db, i);
    hone_db_close(db);
    return path;
}

/* ---- a file that is being made ---- */

static void remove_all(const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void make_until_killed(const char *path) {
    for (;;) {
        remove_all(path);
        hone_db_close(open_db(path, HONE_DB_CREATE));
    }
}

/* Whoever is killed leaves no file, or one that is whole and empty. */
static void is_made_whole(void **state) {
    (void)state;
    char *path = sample_path("made.db");
    hone_rng rng = hone_test_rng(7);
    hone_db_stats stats;
    for (int i = 0; i < 40; i++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) make_until_killed(path);
        const hone_clock *clock = hone_clock_system();
        hone_clock_sleep_until(clock,
                               hone_clock_now(clock) + (int64_t)hone_rng_below(&rng, 20000000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        if (!hone_fs_exists(path)) continue;
        hone_db *db = open_db(path, HONE_DB_READ);
        HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
        assert_int_equal(stats.trials, 0);
        hone_db_close(db);
    }
    hone_free(path);
}

/* The log of a file that somebody removed is not taken into the next one of that name. */
static void takes_no_log_of_another(void **state) {
    (void)state;
    char *path = sample_path("next.db"), *log = sample_path("next.db-wal"),
         *kept = sample_path("kept");
    hone_db_stats stats;
    hone_db *db = open_db(path, HONE_DB_CREATE);
    sample_fill(db);
    commit(db, 1);
    assert_int_equal(link(log, kept), 0);
    hone_db_close(db);
    remove_all(path);
    assert_int_equal(rename(kept, log), 0);
    db = open_db(path, HONE_DB_CREATE);
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, 0);
    hone_db_close(db);
    hone_free(kept);
    hone_free(log);
    hone_free(path);
}

/* ---- a file that went away ---- */

static void assert_lost(hone_db *db, const char *path, int64_t trials) {
    char rescued[512];
    hone_db_stats stats;
    hone_db_trial trial = sample_trial(1000, 5);
    hone_db_workload workload = sample_workload(3);
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &trial, NULL), HONE_CODE_IO, "removed, moved");
    HONE_ASSERT_CODE(hone_db_confirm(db, 1, 5, 1), HONE_CODE_IO);
    HONE_ASSERT_CODE(hone_db_put_workload(db, &workload), HONE_CODE_IO);
    HONE_ASSERT_CODE(hone_db_end_session(db, "s1", "done", 1), HONE_CODE_IO);
    hone_db_close(db);
    snprintf(rescued, sizeof rescued, "%s.rescued-%ld", path, (long)getpid());
    db = open_db(rescued, HONE_DB_WRITE);
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, trials);
    hone_db_close(db);
}

static void notices_that_its_file_is_gone(void **state) {
    (void)state;
    char *path = make_file("gone.db"), *other = sample_path("other.db");
    hone_db *db = open_db(path, HONE_DB_WRITE);
    commit(db, 500);
    assert_int_equal(unlink(path), 0);
    assert_lost(db, path, TRIALS + 1);
    hone_free(path);

    path = make_file("replaced.db");
    db = open_db(path, HONE_DB_WRITE);
    hone_db_close(open_db(other, HONE_DB_CREATE));
    assert_int_equal(rename(other, path), 0);
    assert_lost(db, path, TRIALS);
    hone_free(path);

    path = make_file("moved.db");
    db = open_db(path, HONE_DB_WRITE);
    assert_int_equal(rename(path, other), 0);
    assert_lost(db, path, TRIALS);
    hone_free(path);
    hone_free(other);
}

/* ---- readers that may not write ---- */

static void leaves_nothing_beside_a_fixed_file(void **state) {
    (void)state;
    char *path = make_file("fixed.db"), *shared = sample_path("fixed.db-shm");
    hone_db_stats stats;
    assert_int_equal(chmod(path, 0444), 0);
    hone_db *db = open_db(path, HONE_DB_READ);
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, TRIALS);
    assert_false(hone_fs_exists(shared));
    hone_db_close(db);
    assert_false(hone_fs_exists(shared));
    assert_int_equal(chmod(path, 0644), 0);
    hone_db *writer = open_db(path, HONE_DB_WRITE);
    commit(writer, 500);
    assert_int_equal(chmod(path, 0444), 0); /* read while somebody is at it */
    db = open_db(path, HONE_DB_READ);
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, TRIALS + 1);
    commit(writer, 501);
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, TRIALS + 2);
    hone_db_close(db);
    hone_db_close(writer);
    hone_free(shared);
    hone_free(path);
}

/* ---- sessions of processes that are no more ---- */

static bool take_state(void *ctx, const hone_db_session *session) {
    snprintf(ctx, 16, "%s", session->state);
    return true;
}

static void assert_state(const char *path, const char *id, const char *want) {
    char state[16] = "";
    hone_db *db = open_db(path, HONE_DB_READ);
    HONE_ASSERT_OK(hone_db_sessions(db, id, take_state, state));
    assert_string_equal(state, want);
    hone_db_close(db);
}

static void begin(const char *path, const char *id) {
    char owner[HONE_DB_OWNER_BYTES];
    hone_db *db = open_db(path, HONE_DB_WRITE);
    hone_db_session session = sample_session(id);
    hone_db_owner_print(owner);
    session.owner = owner;
    HONE_ASSERT_OK(hone_db_begin_session(db, &session));
    hone_db_close(db);
}

static void knows_killed_sessions(void **state) {
    (void)state;
    char *path = make_file("sessions.db");
    begin(path, "mine");
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        begin(path, "theirs");
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_state(path, "mine", "running");
    assert_state(path, "theirs", "killed");
    assert_state(path, "s1", "running"); /* nobody can tell */
    hone_db_close(open_db(path, HONE_DB_WRITE));
    assert_state(path, "theirs", "killed");
    assert_state(path, "mine", "running");
    hone_free(path);
}

static void tells_owners_apart(void **state) {
    (void)state;
    char owner[HONE_DB_OWNER_BYTES], other[HONE_DB_OWNER_BYTES + 16];
    hone_db_owner_print(owner);
    assert_true(owner[0]);
    assert_false(hone_db_owner_is_gone(owner));
    assert_false(hone_db_owner_is_gone(NULL));
    assert_false(hone_db_owner_is_gone(""));
    assert_false(hone_db_owner_is_gone("nonsense"));
    snprintf(other, sizeof other, "far-%s", owner); /* another host: who knows */
    assert_false(hone_db_owner_is_gone(other));
    snprintf(other, sizeof other, "%s1", owner); /* another start: the pid was used again */
    assert_true(hone_db_owner_is_gone(other));
}

/* ---- what is left of a damaged file ---- */

static void ignore_line(void *ctx, const char *line) {
    (void)ctx;
    assert_true(line[0]);
}

static const hone_db_recover_options ignoring = {.report = ignore_line};

static hone_db_recovery recover(const char *path, const char *name) {
    char *saved = sample_path(name);
    hone_db_recovery counts;
    hone_db *into = open_db(saved, HONE_DB_CREATE);
    HONE_ASSERT_OK(hone_db_recover(path, into, &ignoring, &counts));
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(into, &stats));
    assert_int_equal(stats.trials, counts.trials);
    hone_db_close(into);
    hone_free(saved);
    return counts;
}

static void recovers_what_is_sound(void **state) {
    (void)state;
    char *path = make_file("sound.db");
    hone_db_recovery all = recover(path, "saved.db");
    assert_int_equal(all.trials, TRIALS);
    assert_int_equal(all.workloads, 2);
    assert_int_equal(all.targets, 2);
    assert_int_equal(all.sessions, 2);
    assert_int_equal(all.lost, 0);
    assert_int_equal(all.partial, 0);
    hone_free(path);
    char name[] = "old.db";
    hone_db_recovery old =
        recover(hone_test_source_path("tests/database/fixtures/version1.db"), name);
    assert_int_equal(old.trials, 4);
    assert_int_equal(old.lost, 0);
}

/* Pages full of nonsense, one or some at a time: what lies elsewhere is saved, and nothing that is
 * saved is wrong. */
static void recovers_around_damage(void **state) {
    (void)state;
    enum { ROUNDS = 30, PAGE = 4096 };
    char *path = make_file("whole.db"), *bad = sample_path("bad.db"), *bytes = NULL;
    size_t count = 0;
    int64_t saved = 0;
    hone_rng rng = hone_test_rng(3);
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 24, &bytes, &count));
    size_t pages = count / PAGE;
    char *damaged = malloc(count);
    for (int i = 0; i < ROUNDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "saved%d.db", i);
        memcpy(damaged, bytes, count);
        for (uint64_t k = 1 + hone_rng_below(&rng, 2); k > 0; k--) {
            size_t page = hone_rng_below(&rng, pages);
            for (size_t at = 0; at < PAGE; at++)
                damaged[page * PAGE + at] = (char)hone_rng_next(&rng);
        }
        HONE_ASSERT_OK(hone_fs_write_atomic(bad, damaged, count - (i % 3 ? 0 : 100)));
        hone_db_recovery r = recover(bad, name);
        saved += r.trials;
        assert_true(r.trials <= TRIALS);
    }
    print_message("%lld of %d trials saved\n", (long long)saved, ROUNDS * TRIALS);
    assert_true(saved > ROUNDS * TRIALS / 2);
    free(damaged);
    hone_free(bytes);
    hone_free(bad);
    hone_free(path);
}

/* Writes over pages of a file, with noise or zeros. */
static void spoil(const char *path, long first, long count, hone_rng *rng) {
    char page[4096] = {0};
    FILE *file = fopen(path, "r+b");
    assert_true(file && fseek(file, first * 4096, SEEK_SET) == 0);
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; rng && at < sizeof page; at++)
            page[at] = (char)hone_rng_next(rng);
        assert_int_equal(fwrite(page, sizeof page, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* The schema, and what leads to the rows: none of it holds a row itself. */
static void recovers_without_first_page(void **state) {
    (void)state;
    hone_rng rng = hone_test_rng(5);
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "headless%d.db", i);
        char *path = make_file(name);
        spoil(path, i / 2 ? 15 + i / 2 : 0, 1, i % 2 ? &rng : NULL); /* 16, 17: schema */
        snprintf(name, sizeof name, "headless%d-saved.db", i);
        hone_db_recovery r = recover(path, name);
        assert_int_equal(r.trials, TRIALS);
        assert_int_equal(r.workloads, 2);
        assert_int_equal(r.sessions, 2);
        assert_int_equal(r.lost, 0);
        hone_free(path);
    }
}

static void copy_of(const char *from, const char *to) {
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(from, 1 << 24, &bytes, &count));
    HONE_ASSERT_OK(hone_fs_write_atomic(to, bytes, count));
    hone_free(bytes);
}

/* A killed writer leaves a log; what it committed there counts. */
static void recovers_what_the_log_holds(void **state) {
    (void)state;
    char *path = make_file("logged.db"), *log = sample_path("logged.db-wal");
    char *killed = sample_path("killed.db"), *killed_log = sample_path("killed.db-wal");
    hone_db *db = open_db(path, HONE_DB_WRITE);
    for (int i = 0; i < 5; i++)
        commit(db, TRIALS + i);
    copy_of(path, killed);
    copy_of(log, killed_log);
    hone_db_close(db);
    spoil(killed, 0, 1, NULL);
    hone_db_recovery r = recover(killed, "killed-saved.db");
    assert_int_equal(r.trials, TRIALS + 5);
    assert_int_equal(r.lost, 0);
    hone_free(path);
    hone_free(log);
    hone_free(killed);
    hone_free(killed_log);
}

static void recovers_no_foreign_file(void **state) {
    (void)state;
    char *path = sample_path("text.db"), *saved = sample_path("nothing.db");
    hone_db_recovery counts;
    hone_db *into = open_db(saved, HONE_DB_CREATE);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, "this is text, and long enough\n", 30));
    HONE_ASSERT_CODE(hone_db_recover(path, into, &ignoring, &counts), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_db_recover("/nowhere/x.db", into, &ignoring, &counts),
                     HONE_CODE_NOT_FOUND);
    hone_db_close(into);
    hone_free(saved);
    hone_free(path);
}

/* A writer in another process, which never had the file open beside the parent's connections: for
 * each byte it opens the file, commits a trial and closes. */
typedef struct writer {
    int to, from;
    pid_t pid;
} writer;

static void write_elsewhere(const char *path, int from, int to) {
    char byte;
    for (int64_t i = 0; read(from, &byte, 1) == 1; i++) {
        hone_db *db = open_db(path, HONE_DB_WRITE);
        commit(db, 1000 + i);
        hone_db_close(db);
        if (write(to, &byte, 1) != 1) _exit(1);
    }
    _exit(0);
}

static writer start_writer(const char *path) {
    int to[2], from[2];
    assert_true(pipe(to) == 0 && pipe(from) == 0);
    writer w = {.to = to[1], .from = from[0], .pid = fork()};
    assert_true(w.pid >= 0);
    if (!w.pid) {
        close(to[1]);
        write_elsewhere(path, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    return w;
}

static void commit_elsewhere(const writer *w) {
    char byte = 1;
    assert_true(write(w->to, &byte, 1) == 1 && read(w->from, &byte, 1) == 1);
}

static void end_writer(const writer *w) {
    int state = 0;
    close(w->to);
    assert_true(waitpid(w->pid, &state, 0) == w->pid && state == 0);
    close(w->from);
}

static int64_t trials_of(hone_db *db) {
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    return stats.trials;
}

/* To open and close the file once more ends no lock of the first one: writers leave its log. */
static void sees_news_beside_another_reader(void **state) {
    (void)state;
    char *path = make_file("twice.db");
    writer w = start_writer(path);
    hone_db *first = open_db(path, HONE_DB_READ);
    int64_t before = trials_of(first);
    commit_elsewhere(&w);
    assert_int_equal(trials_of(first), before + 1);
    hone_db *second = open_db(path, HONE_DB_READ);
    for (int64_t i = 2; i <= 4; i++) {
        commit_elsewhere(&w);
        assert_int_equal(trials_of(second), before + i);
        assert_int_equal(trials_of(first), before + i);
    }
    hone_db_close(second);
    commit_elsewhere(&w);
    assert_int_equal(trials_of(first), before + 5);
    hone_db_close(first);
    end_writer(&w);
    hone_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_made_whole),
        cmocka_unit_test(takes_no_log_of_another),
        cmocka_unit_test(sees_news_beside_another_reader),
        cmocka_unit_test(notices_that_its_file_is_gone),
        cmocka_unit_test(leaves_nothing_beside_a_fixed_file),
        cmocka_unit_test(knows_killed_sessions),
        cmocka_unit_test(tells_owners_apart),
        cmocka_unit_test(recovers_what_is_sound),
        cmocka_unit_test(recovers_around_damage),
        cmocka_unit_test(recovers_without_first_page),
        cmocka_unit_test(recovers_what_the_log_holds),
        cmocka_unit_test(recovers_no_foreign_file),
    };
    if (sample_files_begin("hone-file")) return 1;
    int failed = cmocka_run_group_tests_name("database/file", tests, NULL, NULL);
    sample_files_end();
    return failed;
}
