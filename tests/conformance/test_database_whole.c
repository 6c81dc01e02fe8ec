/* tests/conformance/test_database_whole.c - what every database must do beside trials: sessions,
 * lists, sums, several threads and handles, merging, lack of memory; each case runs on each
 * backend. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/thread.h"
#include "tests/conformance/db_world.h"

static bool see_session(void *ctx, const hone_db_session *session) {
    hone_db_session *out = ctx;
    if (strcmp(session->id, "s1") == 0) {
        out->seed = session->seed;
        out->ended_ns = session->ended_ns;
        out->look_ahead = session->look_ahead;
        out->budget_trials = session->budget_trials;
        assert_string_equal(session->model, "mlp.onnx");
        assert_string_equal(session->state, out->state);
        assert_null(session->options_json);
    }
    return true;
}

static void keeps_sessions(hone_db *db) {
    hone_db_session got = {.state = "running"};
    HONE_ASSERT_OK(hone_db_sessions(db, NULL, see_session, &got));
    assert_true(got.seed == UINT64_MAX - 6 && got.look_ahead == 8 && got.budget_trials == 100);
    assert_int_equal(got.ended_ns, 0);
    HONE_ASSERT_OK(hone_db_end_session(db, "s1", "done", SAMPLE_WALL_NS + 1));
    got = (hone_db_session){.state = "done"};
    HONE_ASSERT_OK(hone_db_sessions(db, "s1", see_session, &got));
    assert_int_equal(got.ended_ns, SAMPLE_WALL_NS + 1);
    HONE_ASSERT_CODE(hone_db_end_session(db, "s9", "done", 1), HONE_CODE_NOT_FOUND);
    hone_db_session twin = sample_session("s1");
    HONE_ASSERT_ERROR(hone_db_begin_session(db, &twin), HONE_CODE_INVALID, "'s1'");
}

static bool see_workload(void *ctx, const hone_db_workload *workload) {
    hone_db_workload want = sample_workload((int)workload->hash.lo);
    assert_string_equal(workload->name, want.name);
    assert_string_equal(workload->program, want.program);
    assert_string_equal(workload->args_json, want.args_json);
    assert_true(workload->flops == want.flops && workload->hash_version == 1);
    return db_count_any(ctx);
}

static bool see_target(void *ctx, const hone_db_target *target) {
    assert_string_equal(target->text, "llvm -mcpu=test");
    assert_true(target->threads == 1 || target->threads == 2);
    return db_count_any(ctx);
}

static void keeps_workloads_and_targets(hone_db *db) {
    int count = 0;
    hone_db_workload again = sample_workload(1);
    HONE_ASSERT_OK(hone_db_put_workload(db, &again)); /* twice is once */
    HONE_ASSERT_OK(hone_db_workloads(db, NULL, see_workload, &count));
    assert_int_equal(count, 2);
    HONE_ASSERT_OK(hone_db_workloads(db, &again.hash, see_workload, &count));
    assert_int_equal(count, 3);
    count = 0;
    hone_db_target target = sample_target(2);
    HONE_ASSERT_OK(hone_db_put_target(db, &target));
    HONE_ASSERT_OK(hone_db_targets(db, NULL, see_target, &count));
    assert_int_equal(count, 2);
    target.threads = 0;
    HONE_ASSERT_CODE(hone_db_put_target(db, &target), HONE_CODE_INVALID);
    again.program = NULL;
    HONE_ASSERT_CODE(hone_db_put_workload(db, &again), HONE_CODE_INVALID);
}

typedef struct seen_tasks {
    int count;
    hone_db_task tasks[8];
} seen_tasks;

static bool see_task(void *ctx, const hone_db_task *task) {
    seen_tasks *seen = ctx;
    seen->tasks[seen->count++] = *task;
    return true;
}

static bool see_failure(void *ctx, const hone_db_failure_count *failure) {
    assert_string_equal(failure->outcome, "wrong_result");
    assert_string_equal(failure->workload_name, "conv2d");
    assert_string_equal(failure->last_message, "C[0, 3] is 2, must be 1");
    *(int64_t *)ctx += failure->count;
    return true;
}

static void summarises(hone_db *db) {
    hone_db_stats stats;
    seen_tasks seen = {0};
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, 0);
    HONE_ASSERT_OK(hone_db_tasks(db, see_task, &seen));
    assert_int_equal(seen.count, 0);

    db_world_commit(db, 0, 30);
    db_world_commit(db, 1, 20);
    db_world_commit(db, 2, NAN);
    db_world_commit(db, 3, NAN);
    hone_db_trial other = sample_trial(0, NAN);
    other.workload = sample_workload(2).hash;
    other.outcome = "build_error";
    other.message = NULL;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &other, NULL));
    HONE_ASSERT_OK(hone_db_tasks(db, see_task, &seen));
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.tasks[0].trials, 4); /* "conv2d" is before "softmax" */
    assert_int_equal(seen.tasks[0].ok, 2);
    assert_int_equal(seen.tasks[0].failed, 2);
    assert_true(seen.tasks[0].best_ns == 20 && seen.tasks[0].threads == 1);
    assert_true(isnan(seen.tasks[1].best_ns) && seen.tasks[1].failed == 1);

    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.workloads, 2);
    assert_int_equal(stats.targets, 2);
    assert_int_equal(stats.sessions, 2);
    assert_int_equal(stats.trials, 5);
    assert_int_equal(stats.ok, 2);
    assert_int_equal(stats.failed, 3);
    assert_int_equal(stats.times.build, 15);
    assert_int_equal(stats.first_wall_ns, SAMPLE_WALL_NS);
    assert_int_equal(stats.last_wall_ns, SAMPLE_WALL_NS + 3 * INT64_C(1000000000));

    hone_db_filter none = {.outcome = "build_error"};
    db_seen builds = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &none, db_see_trial, &builds));
    assert_int_equal(builds.count, 1);
}

static void counts_failures(hone_db *db) {
    int64_t failed = 0;
    HONE_ASSERT_OK(hone_db_failures(db, see_failure, &failed));
    assert_int_equal(failed, 0);
    db_world_commit(db, 0, 3);
    db_world_commit(db, 1, NAN);
    db_world_commit(db, 2, NAN);
    HONE_ASSERT_OK(hone_db_failures(db, see_failure, &failed));
    assert_int_equal(failed, 2);
    hone_db_trial merged = sample_trial(3, NAN); /* a later record of an earlier time */
    merged.wall_ns = SAMPLE_WALL_NS - 1;
    merged.message = "an older one";
    HONE_ASSERT_OK(hone_db_commit_trial(db, &merged, NULL));
    failed = 0;
    HONE_ASSERT_OK(hone_db_failures(db, see_failure, &failed));
    assert_int_equal(failed, 3);
}

static void keeps_odd_text(hone_db *db) {
    hone_db_trial trial = sample_trial(0, NAN);
    trial.message = "'; DROP TABLE trial; -- \" \\ \n\t ✓ ﷽";
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    hone_arena *arena = hone_arena_create(4096);
    const hone_db_trial *got = NULL;
    HONE_ASSERT_OK(hone_db_get_trial(db, "1", arena, &got));
    assert_string_equal(got->message, trial.message);
    hone_arena_destroy(arena);
}

enum { THREADS = 4, PER_THREAD = 25 };

typedef struct committer {
    hone_db *db;
    int first;
} committer;

static void commit_many(void *ctx) {
    const committer *c = ctx;
    for (int i = 0; i < PER_THREAD; i++) {
        hone_db_trial trial = sample_trial(c->first + i, 10 + i);
        hone_hash128 workload = trial.workload;
        bool seen = false;
        HONE_ASSERT_OK(hone_db_commit_trial(c->db, &trial, NULL));
        HONE_ASSERT_OK(
            hone_db_has_program(c->db, &workload, &trial.target, &trial.program, INT64_MAX, &seen));
        assert_true(seen);
    }
}

static void is_thread_safe(hone_db *db) {
    hone_thread threads[THREADS];
    committer committers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        committers[i] = (committer){db, i * PER_THREAD};
        HONE_ASSERT_OK(hone_thread_start(&threads[i], "commit", commit_many, &committers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        hone_thread_join(&threads[i]);
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, THREADS * PER_THREAD);
}

static void report_nothing(void *ctx, const char *line) {
    fail_msg("%s: %s", (const char *)ctx, line);
}

static void passes_its_check(hone_db *db) {
    char where[] = "check";
    for (int i = 0; i < 5; i++)
        db_world_commit(db, i, 5);
    HONE_ASSERT_OK(hone_db_check(db, report_nothing, where));
}

static void merges_into(hone_db *db, hone_db *other) {
    hone_db_merge_counts counts;
    hone_db_session extra = sample_session("s3");
    sample_fill(other);
    HONE_ASSERT_OK(hone_db_begin_session(other, &extra));
    double samples[] = {5, 6};
    for (int i = 0; i < 300; i++) {
        hone_db_trial trial = sample_trial(i, i % 9 ? 50 + i : (double)NAN);
        trial.session = i % 2 ? "s3" : "s1";
        trial.samples_ns = samples, trial.sample_count = 2;
        HONE_ASSERT_OK(hone_db_commit_trial(other, &trial, NULL));
    }
    for (int i = 0; i < 10; i += 2) { /* proposals of s1 that both have */
        hone_db_trial trial = sample_trial(i, 7);
        trial.wall_ns += 1;
        HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    }
    HONE_ASSERT_OK(hone_db_merge(db, other, &counts));
    assert_int_equal(counts.trials, 295);
    assert_int_equal(counts.known, 5);
    assert_int_equal(counts.sessions, 1);
    HONE_ASSERT_OK(hone_db_merge(db, other, &counts));
    assert_int_equal(counts.trials, 0);
    assert_int_equal(counts.known, 300);
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    assert_int_equal(stats.trials, 300);
    assert_int_equal(stats.sessions, 3);
    db_seen seen = {0};
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    HONE_ASSERT_OK(sample_top_k(db, &workload, &target, 6, db_see_trial, &seen));
    assert_true(seen.median_ns[4] == 7 && seen.median_ns[5] == 51); /* ours are later */
    HONE_ASSERT_CODE(hone_db_merge(db, db, &counts), HONE_CODE_INVALID);
}

static void merges_memory(hone_db *db) {
    hone_db *other = db_world_memory();
    merges_into(db, other);
    hone_db_close(other);
}

static void merges_a_file(hone_db *db) {
    hone_db *other = db_world_sqlite();
    merges_into(db, other);
    hone_db_close(other);
}

/* What stays: the fastest of each task, what was confirmed, the default schedule. */
static void prunes(hone_db *db) {
    static const double times[] = {50, 10, NAN, 40, 20, 20, 60};
    hone_db_trial slow_default = sample_trial(7, 90), other = sample_trial(8, 900);
    int64_t removed = -1, record = 0;
    slow_default.sketch = -1;
    other.workload = sample_workload(2).hash;
    for (size_t i = 0; i < HONE_COUNT(times); i++)
        db_world_commit(db, (int64_t)i, times[i]);
    HONE_ASSERT_OK(hone_db_commit_trial(db, &slow_default, NULL));
    HONE_ASSERT_OK(hone_db_commit_trial(db, &other, NULL));
    HONE_ASSERT_OK(hone_db_confirm(db, 7, 61, SAMPLE_WALL_NS));
    HONE_ASSERT_CODE(hone_db_prune(db, 0, &removed), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_db_prune(db, 2, &removed));
    assert_int_equal(removed, 4); /* 50, the failed one, 40 and one of 20, by uid */
    db_seen seen = {0};
    hone_db_filter samples = {.order = HONE_DB_ORDER_LAST_RECORD, .with_samples = true};
    HONE_ASSERT_OK(hone_db_trials(db, &samples, db_see_trial, &seen));
    static const int64_t stays[] = {9, 8, 7, 6, 2};
    assert_int_equal(seen.count, HONE_COUNT(stays));
    assert_memory_equal(seen.record, stays, sizeof stays);
    HONE_ASSERT_CODE(hone_db_confirm(db, 1, 1, SAMPLE_WALL_NS), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_OK(hone_db_prune(db, 2, &removed));
    assert_int_equal(removed, 0);
    hone_db_trial again = sample_trial(0, 50); /* what was removed is not known any more */
    HONE_ASSERT_OK(hone_db_commit_trial(db, &again, &record));
    assert_int_equal(record, 10);
    char where[] = "pruned";
    HONE_ASSERT_OK(hone_db_check(db, report_nothing, where));
}

/* Every allocation fails once: the call fails or works, and the database stays usable. */
static void survives_lack_of_memory(hone_db *db) {
    for (uint64_t nth = 1;; nth++) {
        hone_db_trial trial = sample_trial((int64_t)nth, 10);
        hone_alloc_fail_nth(nth, false);
        hone_status st = hone_db_commit_trial(db, &trial, NULL);
        db_seen seen = {0};
        hone_db_filter latest = {.order = HONE_DB_ORDER_LATEST, .limit = 1};
        hone_status read = hone_db_trials(db, &latest, db_see_trial, &seen);
        bool failed = hone_alloc_has_failed();
        hone_alloc_fail_nth(0, false);
        if (!failed) {
            HONE_ASSERT_OK(st);
            HONE_ASSERT_OK(read);
            break;
        }
        hone_status_free(st);
        hone_status_free(read);
        assert_true(nth < 1000);
    }
}

int main(void) {
    static const db_case cases[] = {
        DB_CASE(keeps_sessions),
        DB_CASE(keeps_workloads_and_targets),
        DB_CASE(summarises),
        DB_CASE(counts_failures),
        DB_CASE(keeps_odd_text),
        DB_CASE(is_thread_safe),
        DB_CASE(passes_its_check),
        DB_CASE(merges_memory),
        DB_CASE(merges_a_file),
        DB_CASE(prunes),
        DB_CASE(survives_lack_of_memory),
    };
    return db_world_run("database whole", cases, HONE_COUNT(cases));
}
