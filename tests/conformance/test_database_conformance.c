/* tests/conformance/test_database_conformance.c - what every database must do; each case runs on
 * each backend. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database/database.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "support/thread.h"
#include "tests/database/db_samples.h"
#include "tests/support/hone_test.h"

static char *scratch_dir;

static hone_db *make_memory(void) {
    hone_db *db = NULL;
    HONE_ASSERT_OK(hone_db_create_memory(&db));
    return db;
}

static hone_db *make_sqlite(void) {
    static int number;
    char path[512];
    snprintf(path, sizeof path, "%s/%d.db", scratch_dir, number++);
    hone_db *db = NULL;
    hone_db_options options = {.path = path, .mode = HONE_DB_CREATE};
    HONE_ASSERT_OK(hone_db_open_sqlite(&options, &db));
    return db;
}

/* ---- what the visits collect ---- */

typedef struct seen_trials {
    int count, stop_after;
    int64_t proposal[64], record[64];
    double median_ns[64];
    size_t sample_count;
    uint32_t feature_rows;
} seen_trials;

static bool see_trial(void *ctx, const hone_db_trial *trial) {
    seen_trials *seen = ctx;
    assert_true(seen->count < 64);
    seen->proposal[seen->count] = trial->proposal;
    seen->record[seen->count] = trial->record;
    seen->median_ns[seen->count] = trial->median_ns;
    seen->sample_count += trial->sample_count;
    seen->feature_rows += trial->feature_rows;
    return ++seen->count != seen->stop_after;
}

static bool count_any(void *ctx) {
    return ++*(int *)ctx > 0;
}
static bool count_hash(void *ctx, const hone_hash128 *hash) {
    return hash && count_any(ctx);
}

static void commit(hone_db *db, int64_t proposal, double median_ns) {
    hone_db_trial trial = sample_trial(proposal, median_ns);
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
}

/* ---- cases ---- */

static void keeps_every_field(hone_db *db) {
    double samples[] = {100, 101.5, 99};
    float features[] = {1, 2, 3, 4, 5, 6};
    hone_db_trial trial = sample_trial(3, 100);
    trial.samples_ns = samples;
    trial.sample_count = 3;
    trial.features = features;
    trial.feature_version = 9;
    trial.feature_rows = 2;
    trial.feature_columns = 3;
    int64_t record = 0;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, &record));
    assert_true(record > 0);

    hone_arena *arena = hone_arena_create(4096);
    const hone_db_trial *got = NULL;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)record);
    HONE_ASSERT_OK(hone_db_get_trial(db, number, arena, &got));
    assert_int_equal(got->record, record);
    hone_hash128 uid = hone_db_trial_uid("s1", &trial.workload, &trial.target, 3);
    assert_true(hone_hash128_equal(got->uid, uid));
    assert_string_equal(got->session, "s1");
    assert_true(hone_hash128_equal(got->workload, trial.workload));
    assert_true(hone_hash128_equal(got->target, trial.target));
    assert_true(hone_hash128_equal(got->program, trial.program));
    assert_int_equal(got->proposal, 3);
    assert_int_equal(got->sketch, 0);
    assert_string_equal(got->trace, trial.trace);
    assert_string_equal(got->outcome, "ok");
    assert_null(got->message);
    assert_true(got->median_ns == 100 && got->spread == 0.02 && got->max_error == 1e-6);
    assert_true(isnan(got->confirmed_ns) && got->predicted_score == 0.5);
    assert_string_equal(got->drift, "none");
    assert_string_equal(got->device, "local");
    assert_memory_equal(&got->times, &trial.times, sizeof trial.times);
    assert_int_equal(got->wall_ns, trial.wall_ns);
    assert_int_equal(got->sample_count, 3);
    assert_memory_equal(got->samples_ns, samples, sizeof samples);
    assert_int_equal(got->feature_version, 9);
    assert_int_equal(got->feature_rows, 2);
    assert_int_equal(got->feature_columns, 3);
    assert_memory_equal(got->features, features, sizeof features);
    hone_arena_destroy(arena);
}

static void finds_records(hone_db *db) {
    hone_arena *arena = hone_arena_create(4096);
    const hone_db_trial *got = NULL;
    char hex[HONE_HASH_HEX_BYTES];
    for (int i = 0; i < 20; i++)
        commit(db, i, 100 + i);
    HONE_ASSERT_OK(hone_db_get_trial(db, "7", arena, &got));
    hone_hash128_print(got->uid, hex);
    int64_t record = got->record;
    for (size_t length = 12; length <= 32; length += 20) {
        hex[length] = '\0';
        HONE_ASSERT_OK(hone_db_get_trial(db, hex, arena, &got));
        assert_int_equal(got->record, record);
        hone_hash128_print(got->uid, hex);
    }
    for (char *c = hex; *c; c++)
        *c = *c >= 'a' ? (char)(*c - 'a' + 'A') : *c;
    HONE_ASSERT_OK(hone_db_get_trial(db, hex, arena, &got));
    HONE_ASSERT_CODE(hone_db_get_trial(db, "99999", arena, &got), HONE_CODE_NOT_FOUND);
    assert_null(got);
    HONE_ASSERT_CODE(hone_db_get_trial(db, "ffffffffffffffffffffffffffffffff", arena, &got),
                     HONE_CODE_NOT_FOUND);
    HONE_ASSERT_ERROR(hone_db_get_trial(db, "zebra", arena, &got), HONE_CODE_INVALID, "'zebra'");
    HONE_ASSERT_CODE(hone_db_get_trial(db, "", arena, &got), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_db_get_trial(db, "abc", arena, &got), HONE_CODE_INVALID);
    hone_arena_destroy(arena);
}

static void orders_and_limits(hone_db *db) {
    static const double times[] = {50, 20, NAN, 40, 20, 30};
    for (int i = 5; i >= 0; i--)
        commit(db, i, times[i]);
    hone_db_filter filter = {0};
    seen_trials seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &filter, see_trial, &seen));
    assert_int_equal(seen.count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(seen.proposal[i], i);

    seen = (seen_trials){0};
    filter.order = HONE_DB_ORDER_FASTEST;
    HONE_ASSERT_OK(hone_db_trials(db, &filter, see_trial, &seen));
    static const int64_t fastest[] = {4, 1, 5, 3, 0}; /* 4 was committed before 1 */
    assert_int_equal(seen.count, 5);
    assert_memory_equal(seen.proposal, fastest, sizeof fastest);

    seen = (seen_trials){0};
    filter.order = HONE_DB_ORDER_LATEST;
    filter.limit = 2;
    HONE_ASSERT_OK(hone_db_trials(db, &filter, see_trial, &seen));
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.proposal[0], 0);
    assert_int_equal(seen.proposal[1], 1);

    seen = (seen_trials){.stop_after = 3};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, see_trial, &seen));
    assert_int_equal(seen.count, 3);
}

static void filters(hone_db *db) {
    hone_db_trial other = sample_trial(0, 10);
    other.workload = sample_workload(2).hash;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &other, NULL));
    other.target = sample_target(2).hash;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &other, NULL));
    other.session = "s2";
    HONE_ASSERT_OK(hone_db_commit_trial(db, &other, NULL));
    commit(db, 1, 5);
    commit(db, 2, NAN);

    hone_hash128 workload = sample_workload(2).hash, target = sample_target(2).hash;
    hone_hash128 program = {.lo = 101, .hi = 7}, unknown = {.lo = 12345};
    const struct {
        hone_db_filter filter;
        int want;
    } rows[] = {
        {{0},                                                         5},
        {{.workload = &workload},                                     3},
        {{.target = &target},                                         2},
        {{.workload = &workload, .target = &target, .session = "s2"}, 1},
        {{.session = "s1"},                                           4},
        {{.session = "nobody"},                                       0},
        {{.outcome = "ok"},                                           4},
        {{.outcome = "wrong_result"},                                 1},
        {{.outcome = "run_crash"},                                    0},
        {{.program = &program},                                       1},
        {{.workload = &unknown},                                      0},
        {{.target = &unknown},                                        0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        seen_trials seen = {0};
        HONE_ASSERT_OK(hone_db_trials(db, &rows[i].filter, see_trial, &seen));
        assert_int_equal(seen.count, rows[i].want);
    }
}

static void shows_samples_and_features_on_request(hone_db *db) {
    double samples[] = {1, 2};
    float features[] = {1, 2};
    hone_db_trial trial = sample_trial(0, 1);
    trial.samples_ns = samples, trial.sample_count = 2;
    trial.features = features, trial.feature_rows = 1, trial.feature_columns = 2;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    for (int mask = 0; mask < 4; mask++) {
        seen_trials seen = {0};
        hone_db_filter filter = {.with_samples = mask & 1, .with_features = mask & 2};
        HONE_ASSERT_OK(hone_db_trials(db, &filter, see_trial, &seen));
        assert_int_equal(seen.sample_count, mask & 1 ? 2 : 0);
        assert_int_equal(seen.feature_rows, mask & 2 ? 1 : 0);
    }
}

static void refolds_sessions_in_order(hone_db *db) {
    hone_db_trial trial = sample_trial(1, 5);
    trial.session = "s2";
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    trial.proposal = 0;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    commit(db, 9, 5);
    commit(db, 8, 5);
    static const int64_t want[] = {8, 9, 0, 1}; /* s1 started before s2 */
    seen_trials seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, see_trial, &seen));
    assert_int_equal(seen.count, 4);
    assert_memory_equal(seen.proposal, want, sizeof want);
}

static void gives_top_k(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    for (int i = 0; i < 30; i++)
        commit(db, i, i % 7 == 0 ? (double)NAN : 1000 - i);
    seen_trials seen = {0};
    HONE_ASSERT_OK(hone_db_top_k(db, &workload, &target, 3, see_trial, &seen));
    static const int64_t want[] = {29, 27, 26};
    assert_int_equal(seen.count, 3);
    assert_memory_equal(seen.proposal, want, sizeof want);
    seen = (seen_trials){0};
    HONE_ASSERT_OK(hone_db_top_k(db, &workload, &target, 1000, see_trial, &seen));
    assert_int_equal(seen.count, 25);
    seen = (seen_trials){0};
    HONE_ASSERT_OK(hone_db_top_k(db, &workload, &target, 0, see_trial, &seen));
    assert_int_equal(seen.count, 0);
    target = sample_target(2).hash;
    HONE_ASSERT_OK(hone_db_top_k(db, &workload, &target, 3, see_trial, &seen));
    assert_int_equal(seen.count, 0);
}

static void best_prefers_the_confirmed(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    hone_arena *arena = hone_arena_create(4096);
    const hone_db_trial *best = NULL;
    HONE_ASSERT_OK(hone_db_best(db, &workload, &target, arena, &best));
    assert_null(best);
    commit(db, 0, NAN);
    HONE_ASSERT_OK(hone_db_best(db, &workload, &target, arena, &best));
    assert_null(best);
    commit(db, 1, 100);
    commit(db, 2, 98);
    HONE_ASSERT_OK(hone_db_best(db, &workload, &target, arena, &best));
    assert_int_equal(best->proposal, 2);
    hone_db_filter first = {.order = HONE_DB_ORDER_LATEST};
    seen_trials seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &first, see_trial, &seen));
    HONE_ASSERT_OK(hone_db_confirm(db, seen.record[1], 101)); /* proposal 1 */
    HONE_ASSERT_OK(hone_db_best(db, &workload, &target, arena, &best));
    assert_int_equal(best->proposal, 1);
    assert_true(best->confirmed_ns == 101);
    commit(db, 3, 90); /* more than the margin faster */
    HONE_ASSERT_OK(hone_db_best(db, &workload, &target, arena, &best));
    assert_int_equal(best->proposal, 3);
    hone_arena_destroy(arena);
}

static void confirms_ok_records_only(hone_db *db) {
    hone_db_trial trial = sample_trial(0, NAN);
    int64_t record = 0;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, &record));
    HONE_ASSERT_CODE(hone_db_confirm(db, record, 5), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_db_confirm(db, record + 1, 5), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_db_confirm(db, -1, 5), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_db_confirm(db, record, NAN), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_db_confirm(db, record, 0), HONE_CODE_INVALID);
}

static void refuses_what_refers_to_nothing(hone_db *db) {
    hone_db_trial trial = sample_trial(0, 5);
    trial.session = "nobody";
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &trial, NULL), HONE_CODE_INVALID, "nobody");
    trial = sample_trial(0, 5);
    trial.workload.lo = 999;
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &trial, NULL), HONE_CODE_INVALID, "workload");
    trial = sample_trial(0, 5);
    trial.target.lo ^= 1;
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &trial, NULL), HONE_CODE_INVALID, "target");
    seen_trials seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, see_trial, &seen));
    assert_int_equal(seen.count, 0);
}

static void refuses_bad_trials(hone_db *db) {
    double bad_sample[] = {1, NAN};
    hone_db_trial trials[9];
    for (size_t i = 0; i < 9; i++)
        trials[i] = sample_trial(0, 5);
    trials[0].trace = "";
    trials[1].outcome = NULL;
    trials[2].proposal = -1;
    trials[3].median_ns = NAN;
    trials[4].median_ns = INFINITY;
    trials[5].median_ns = 0;
    trials[6].outcome = "run_crash";
    trials[7].samples_ns = bad_sample, trials[7].sample_count = 2;
    trials[8].session = NULL;
    for (size_t i = 0; i < 9; i++) {
        HONE_ASSERT_CODE(hone_db_commit_trial(db, &trials[i], NULL), HONE_CODE_INVALID);
    }
    commit(db, 0, 5);
    hone_db_trial again = sample_trial(0, 6);
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &again, NULL), HONE_CODE_INVALID, "before");
}

static void commits_batches_whole_or_not(hone_db *db) {
    hone_db_trial trials[3] = {sample_trial(0, 1), sample_trial(1, 2), sample_trial(0, 3)};
    HONE_ASSERT_CODE(hone_db_commit_trials(db, trials, 3), HONE_CODE_INVALID); /* 0 twice */
    seen_trials seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, see_trial, &seen));
    assert_int_equal(seen.count, 0);
    HONE_ASSERT_OK(hone_db_commit_trials(db, trials, 2));
    HONE_ASSERT_OK(hone_db_commit_trials(db, trials, 0));
    HONE_ASSERT_OK(hone_db_trials(db, NULL, see_trial, &seen));
    assert_int_equal(seen.count, 2);
}

static void remembers_programs_and_proposals(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    int64_t last = 7;
    HONE_ASSERT_OK(hone_db_last_proposal(db, "s1", &workload, &target, &last));
    assert_int_equal(last, -1);
    commit(db, 4, 5);
    commit(db, 2, NAN);
    hone_db_trial twin = sample_trial(9, 5);
    twin.program = sample_trial(4, 5).program;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &twin, NULL));
    int seen = 0;
    HONE_ASSERT_OK(hone_db_seen_programs(db, &workload, &target, count_hash, &seen));
    assert_int_equal(seen, 2);
    HONE_ASSERT_OK(hone_db_last_proposal(db, "s1", &workload, &target, &last));
    assert_int_equal(last, 9);
    HONE_ASSERT_OK(hone_db_last_proposal(db, "s2", &workload, &target, &last));
    assert_int_equal(last, -1);
}

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
    return count_any(ctx);
}

static bool see_target(void *ctx, const hone_db_target *target) {
    assert_string_equal(target->text, "llvm -mcpu=test");
    assert_true(target->threads == 1 || target->threads == 2);
    return count_any(ctx);
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

    commit(db, 0, 30);
    commit(db, 1, 20);
    commit(db, 2, NAN);
    commit(db, 3, NAN);
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
    seen_trials builds = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &none, see_trial, &builds));
    assert_int_equal(builds.count, 1);
}

static void counts_failures(hone_db *db) {
    int64_t failed = 0;
    HONE_ASSERT_OK(hone_db_failures(db, see_failure, &failed));
    assert_int_equal(failed, 0);
    commit(db, 0, 3);
    commit(db, 1, NAN);
    commit(db, 2, NAN);
    HONE_ASSERT_OK(hone_db_failures(db, see_failure, &failed));
    assert_int_equal(failed, 2);
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
        int seen = 0;
        HONE_ASSERT_OK(hone_db_commit_trial(c->db, &trial, NULL));
        HONE_ASSERT_OK(hone_db_seen_programs(c->db, &workload, &trial.target, count_hash, &seen));
        assert_true(seen > i);
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

static void is_shared_by_reference(hone_db *db) {
    hone_db *other = hone_db_retain(db);
    assert_ptr_equal(other, db);
    hone_db_release(other);
    commit(db, 0, 1);
    hone_db_release(NULL);
}

static void report_nothing(void *ctx, const char *line) {
    fail_msg("%s: %s", (const char *)ctx, line);
}

static void passes_its_check(hone_db *db) {
    char where[] = "check";
    for (int i = 0; i < 5; i++)
        commit(db, i, 5);
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
    for (int i = 0; i < 10; i += 2)
        commit(db, i, 7); /* proposals of s1 that both have */
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
    seen_trials seen = {0};
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    HONE_ASSERT_OK(hone_db_top_k(db, &workload, &target, 6, see_trial, &seen));
    assert_true(seen.median_ns[4] == 7 && seen.median_ns[5] == 51); /* ours were kept */
    HONE_ASSERT_CODE(hone_db_merge(db, db, &counts), HONE_CODE_INVALID);
}

static void merges_memory(hone_db *db) {
    hone_db *other = make_memory();
    merges_into(db, other);
    hone_db_release(other);
}

static void merges_a_file(hone_db *db) {
    hone_db *other = make_sqlite();
    merges_into(db, other);
    hone_db_release(other);
}

/* Every allocation fails once: the call fails or works, and the database stays usable. */
static void survives_lack_of_memory(hone_db *db) {
    for (uint64_t nth = 1;; nth++) {
        hone_db_trial trial = sample_trial((int64_t)nth, 10);
        hone_alloc_fail_nth(nth, false);
        hone_status st = hone_db_commit_trial(db, &trial, NULL);
        seen_trials seen = {0};
        hone_db_filter latest = {.order = HONE_DB_ORDER_LATEST, .limit = 1};
        hone_status read = hone_db_trials(db, &latest, see_trial, &seen);
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

/* ---- each case on each backend ---- */

static const struct backend {
    const char *name;
    hone_db *(*make)(void);
} backends[] = {
    {"memory", make_memory},
    {"sqlite", make_sqlite},
};

#define CASE(function)                                                                             \
    { #function, function }
static const struct {
    const char *name;
    void (*run)(hone_db *db);
} cases[] = {
    CASE(keeps_every_field),
    CASE(finds_records),
    CASE(orders_and_limits),
    CASE(filters),
    CASE(shows_samples_and_features_on_request),
    CASE(refolds_sessions_in_order),
    CASE(gives_top_k),
    CASE(best_prefers_the_confirmed),
    CASE(confirms_ok_records_only),
    CASE(refuses_what_refers_to_nothing),
    CASE(refuses_bad_trials),
    CASE(commits_batches_whole_or_not),
    CASE(remembers_programs_and_proposals),
    CASE(keeps_sessions),
    CASE(keeps_workloads_and_targets),
    CASE(summarises),
    CASE(counts_failures),
    CASE(keeps_odd_text),
    CASE(is_thread_safe),
    CASE(is_shared_by_reference),
    CASE(passes_its_check),
    CASE(merges_memory),
    CASE(merges_a_file),
    CASE(survives_lack_of_memory),
};

enum { BACKENDS = sizeof backends / sizeof backends[0], CASES = sizeof cases / sizeof cases[0] };

typedef struct row {
    char name[96];
    int backend, which;
} row;

static void run_case(void **state) {
    const row *r = *state;
    hone_db *db = backends[r->backend].make();
    assert_string_equal(hone_db_backend(db), backends[r->backend].name);
    sample_fill(db);
    cases[r->which].run(db);
    hone_db_release(db);
}

int main(void) {
    static row rows[BACKENDS * CASES];
    struct CMUnitTest tests[BACKENDS * CASES] = {0};
    hone_status st = hone_fs_temp_dir("hone-db", &scratch_dir);
    if (st) return 1;
    for (int b = 0; b < BACKENDS; b++) {
        for (int c = 0; c < CASES; c++) {
            row *r = &rows[b * CASES + c];
            *r = (row){.backend = b, .which = c};
            snprintf(r->name, sizeof r->name, "%s: %s", backends[b].name, cases[c].name);
            tests[b * CASES + c] =
                (struct CMUnitTest){.name = r->name, .test_func = run_case, .initial_state = r};
        }
    }
    int failed = cmocka_run_group_tests_name("database conformance", tests, NULL, NULL);
    hone_status_free(hone_fs_remove_tree(scratch_dir));
    hone_free(scratch_dir);
    return failed;
}
