/* tests/conformance/test_database_conformance.c - what every database must do with trials; each
 * case runs on each backend. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/conformance/db_world.h"

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
        db_world_commit(db, i, 100 + i);
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
        db_world_commit(db, i, times[i]);
    hone_db_filter filter = {0};
    db_seen seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
    assert_int_equal(seen.count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(seen.proposal[i], i);

    seen = (db_seen){0};
    filter.order = HONE_DB_ORDER_FASTEST;
    HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
    static const int64_t fastest[] = {1, 4, 5, 3, 0}; /* equals by uid */
    assert_int_equal(seen.count, 5);
    assert_memory_equal(seen.proposal, fastest, sizeof fastest);

    seen = (db_seen){0};
    filter.order = HONE_DB_ORDER_LATEST;
    filter.limit = 2;
    HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.proposal[0], 5); /* made last, however they were numbered */
    assert_int_equal(seen.proposal[1], 4);

    seen = (db_seen){0};
    filter.order = HONE_DB_ORDER_LAST_RECORD;
    HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.proposal[0], 0);
    assert_int_equal(seen.proposal[1], 1);

    seen = (db_seen){.stop_after = 3};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, db_see_trial, &seen));
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
    db_world_commit(db, 1, 5);
    db_world_commit(db, 2, NAN);

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
        {{.record = 2},                                               1},
        {{.record = 2, .session = "s2"},                              0},
        {{.record = 99},                                              0},
        {{.workload = &unknown},                                      0},
        {{.target = &unknown},                                        0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        db_seen seen = {0};
        HONE_ASSERT_OK(hone_db_trials(db, &rows[i].filter, db_see_trial, &seen));
        assert_int_equal(seen.count, rows[i].want);
    }
}

typedef struct moments {
    hone_db_moment items[16];
    int count, stop_after;
} moments;

static bool see_moment(void *ctx, const hone_db_moment *moment) {
    moments *seen = ctx;
    seen->items[seen->count++] = *moment;
    return seen->count != seen->stop_after;
}

/* In order of time, whatever order they were put in; of one task, whatever there is of others. */
static void tells_histories(hone_db *db) {
    static const struct {
        int64_t wall_ns;
        double median_ns;
        const char *session;
    } put[] = {
        {30, 100, "s2"},
        {10, NAN, "s1"},
        {20, 50,  "s1"},
        {20, 70,  "s2"},
    };
    static const struct {
        int64_t record;
        int32_t session;
        double median_ns, confirmed_ns;
    } want[] = {
        {2, 0, NAN, NAN},
        {3, 0, 50,  51 },
        {4, 1, 70,  NAN},
        {1, 1, 100, NAN},
    };
    for (int i = 0; i < 4; i++) {
        hone_db_trial trial = sample_trial(i, put[i].median_ns);
        trial.session = put[i].session;
        trial.wall_ns = put[i].wall_ns;
        HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    }
    hone_db_trial other = sample_trial(0, 10);
    other.workload = sample_workload(2).hash;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &other, NULL));
    HONE_ASSERT_OK(hone_db_confirm(db, 3, 51, 99));

    hone_db_trial first = sample_trial(0, 10);
    moments seen = {0}, two = {.stop_after = 2}, none = {0};
    HONE_ASSERT_OK(hone_db_history(db, &first.workload, &first.target, see_moment, &seen));
    assert_int_equal(seen.count, 4);
    for (int i = 0; i < 4; i++) {
        const hone_db_moment *got = &seen.items[i];
        assert_int_equal(got->record, want[i].record);
        assert_int_equal(got->session, want[i].session);
        assert_int_equal(got->wall_ns, put[want[i].record - 1].wall_ns);
        assert_true(got->median_ns == want[i].median_ns || isnan(want[i].median_ns));
        assert_int_equal(isnan(got->median_ns), isnan(want[i].median_ns));
        assert_true(got->confirmed_ns == want[i].confirmed_ns || isnan(want[i].confirmed_ns));
        assert_int_equal(isnan(got->confirmed_ns), isnan(want[i].confirmed_ns));
    }
    HONE_ASSERT_OK(hone_db_history(db, &first.workload, &first.target, see_moment, &two));
    assert_int_equal(two.count, 2);
    hone_hash128 unknown = {.lo = 12345};
    HONE_ASSERT_OK(hone_db_history(db, &unknown, &first.target, see_moment, &none));
    assert_int_equal(none.count, 0);
}

static void shows_samples_and_features_on_request(hone_db *db) {
    double samples[] = {1, 2};
    float features[] = {1, 2};
    hone_db_trial trial = sample_trial(0, 1);
    trial.samples_ns = samples, trial.sample_count = 2;
    trial.features = features, trial.feature_rows = 1, trial.feature_columns = 2;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    for (int mask = 0; mask < 8; mask++) {
        db_seen seen = {0};
        hone_db_filter filter = {
            .with_samples = mask & 1, .with_features = mask & 2, .without_trace = mask & 4};
        HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
        assert_int_equal(seen.sample_count, mask & 1 ? 2 : 0);
        assert_int_equal(seen.feature_rows, mask & 2 ? 1 : 0);
        assert_int_equal(seen.trace_count, mask & 4 ? 0 : 1);
    }
}

static void refolds_sessions_in_order(hone_db *db) {
    hone_db_trial trial = sample_trial(1, 5);
    trial.session = "s2";
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    trial.proposal = 0;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    db_world_commit(db, 9, 5);
    db_world_commit(db, 8, 5);
    static const int64_t want[] = {8, 9, 0, 1}; /* s1 started before s2 */
    db_seen seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, db_see_trial, &seen));
    assert_int_equal(seen.count, 4);
    assert_memory_equal(seen.proposal, want, sizeof want);
}

static void gives_top_k(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    for (int i = 0; i < 30; i++)
        db_world_commit(db, i, i % 7 == 0 ? (double)NAN : 1000 - i);
    db_seen seen = {0};
    HONE_ASSERT_OK(sample_top_k(db, &workload, &target, 3, db_see_trial, &seen));
    static const int64_t want[] = {29, 27, 26};
    assert_int_equal(seen.count, 3);
    assert_memory_equal(seen.proposal, want, sizeof want);
    seen = (db_seen){0};
    HONE_ASSERT_OK(sample_top_k(db, &workload, &target, 1000, db_see_trial, &seen));
    assert_int_equal(seen.count, 25);
    seen = (db_seen){0};
    target = sample_target(2).hash;
    HONE_ASSERT_OK(sample_top_k(db, &workload, &target, 3, db_see_trial, &seen));
    assert_int_equal(seen.count, 0);
}

static int64_t best_proposal(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    db_seen seen = {0};
    HONE_ASSERT_OK(sample_top_k(db, &workload, &target, 1, db_see_trial, &seen));
    return seen.count ? seen.proposal[0] : -1;
}

static void best_prefers_the_confirmed(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    assert_int_equal(best_proposal(db), -1);
    db_world_commit(db, 0, NAN);
    assert_int_equal(best_proposal(db), -1);
    db_world_commit(db, 1, 100);
    db_world_commit(db, 2, 98);
    assert_int_equal(best_proposal(db), 2);
    hone_db_filter first = {.order = HONE_DB_ORDER_LATEST};
    db_seen seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, &first, db_see_trial, &seen));
    HONE_ASSERT_OK(hone_db_confirm(db, seen.record[1], 101, SAMPLE_WALL_NS)); /* proposal 1 */
    assert_int_equal(best_proposal(db), 1);
    db_world_commit(db, 3, 10); /* however fast it looks: nobody has confirmed it */
    assert_int_equal(best_proposal(db), 1);
    static const int64_t want[] = {1, 3, 2};
    for (int64_t k = 1; k <= 4; k++) {
        seen = (db_seen){0};
        HONE_ASSERT_OK(sample_top_k(db, &workload, &target, k, db_see_trial, &seen));
        assert_int_equal(seen.count, k < 3 ? k : 3);
        assert_memory_equal(seen.proposal, want, (size_t)seen.count * sizeof want[0]);
    }
}

/* Times of different targets are not compared: only whether they were confirmed. */
static void asks_of_several_targets(hone_db *db) {
    static const struct {
        int target;
        double median_ns, confirmed_ns;
    } rows[] = {
        {1, 50, NAN},
        {1, 40, NAN},
        {2, 10, NAN},
        {2, 20, 20 },
        {1, 70, 70 },
        {2, 15, 30 },
    };
    const struct {
        int first;
        hone_db_order order;
        size_t limit;
        int64_t want[6];
    } asked[] = {
        {1, HONE_DB_ORDER_BEST,    6, {4, 3, 5, 1, 0, 2}},
        {2, HONE_DB_ORDER_BEST,    6, {3, 5, 4, 2, 1, 0}},
        {1, HONE_DB_ORDER_BEST,    4, {4, 3, 5, 1}      },
        {1, HONE_DB_ORDER_BEST,    1, {4}               },
        {1, HONE_DB_ORDER_FASTEST, 4, {1, 0, 4, 2}      },
        {2, HONE_DB_ORDER_LATEST,  4, {5, 3, 2, 4}      },
    };
    for (int i = 0; i < 6; i++) {
        hone_db_trial trial = sample_trial(i, rows[i].median_ns);
        trial.target = sample_target(rows[i].target).hash;
        trial.confirmed_ns = rows[i].confirmed_ns;
        HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    }
    hone_hash128 workload = sample_workload(1).hash;
    for (size_t i = 0; i < HONE_COUNT(asked); i++) {
        hone_hash128 targets[] = {sample_target(asked[i].first).hash,
                                  sample_target(3 - asked[i].first).hash};
        hone_db_filter filter = {.workload = &workload,
                                 .target = targets,
                                 .target_count = 2,
                                 .limit = (int64_t)asked[i].limit,
                                 .order = asked[i].order};
        db_seen seen = {0};
        HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
        assert_int_equal(seen.count, asked[i].limit);
        assert_memory_equal(seen.proposal, asked[i].want, asked[i].limit * sizeof(int64_t));
        seen = (db_seen){.stop_after = 1};
        HONE_ASSERT_OK(hone_db_trials(db, &filter, db_see_trial, &seen));
        assert_int_equal(seen.count, 1);
    }
}

static void confirms_ok_records_only(hone_db *db) {
    hone_db_trial trial = sample_trial(0, NAN);
    int64_t record = 0;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, &record));
    HONE_ASSERT_CODE(hone_db_confirm(db, record, 5, SAMPLE_WALL_NS), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_db_confirm(db, record + 1, 5, SAMPLE_WALL_NS), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_db_confirm(db, -1, 5, SAMPLE_WALL_NS), HONE_CODE_NOT_FOUND);
    HONE_ASSERT_CODE(hone_db_confirm(db, record, NAN, SAMPLE_WALL_NS), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_db_confirm(db, record, 0, SAMPLE_WALL_NS), HONE_CODE_INVALID);
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
    db_seen seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, db_see_trial, &seen));
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
    db_world_commit(db, 0, 5);
    hone_db_trial again = sample_trial(0, 6);
    HONE_ASSERT_ERROR(hone_db_commit_trial(db, &again, NULL), HONE_CODE_INVALID, "before");
}

static void commits_batches_whole_or_not(hone_db *db) {
    hone_db_trial trials[3] = {sample_trial(0, 1), sample_trial(1, 2), sample_trial(0, 3)};
    HONE_ASSERT_CODE(hone_db_commit_trials(db, trials, 3), HONE_CODE_INVALID); /* 0 twice */
    db_seen seen = {0};
    HONE_ASSERT_OK(hone_db_trials(db, NULL, db_see_trial, &seen));
    assert_int_equal(seen.count, 0);
    HONE_ASSERT_OK(hone_db_commit_trials(db, trials, 2));
    HONE_ASSERT_OK(hone_db_commit_trials(db, trials, 0));
    HONE_ASSERT_OK(hone_db_trials(db, NULL, db_see_trial, &seen));
    assert_int_equal(seen.count, 2);
}

static void remembers_programs(hone_db *db) {
    hone_hash128 workload = sample_workload(1).hash, target = sample_target(1).hash;
    db_world_commit(db, 4, 5);
    db_world_commit(db, 2, NAN);
    hone_db_trial twin = sample_trial(9, 5);
    twin.program = sample_trial(4, 5).program;
    HONE_ASSERT_OK(hone_db_commit_trial(db, &twin, NULL));
    hone_hash128 other = sample_target(2).hash, unknown = {.lo = 1};
    const struct {
        const hone_hash128 *target, *program;
        int64_t last_record;
        bool has;
    } rows[] = {
        {&target, &twin.program, 3, true },
        {&target, &twin.program, 1, true },
        {&target, &twin.program, 0, false},
        {&other,  &twin.program, 3, false},
        {&target, &unknown,      3, false},
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        bool has = !rows[i].has;
        HONE_ASSERT_OK(hone_db_has_program(db, &workload, rows[i].target, rows[i].program,
                                           rows[i].last_record, &has));
        assert_int_equal(has, rows[i].has);
    }
}

int main(void) {
    static const db_case cases[] = {
        DB_CASE(keeps_every_field),
        DB_CASE(finds_records),
        DB_CASE(orders_and_limits),
        DB_CASE(filters),
        DB_CASE(tells_histories),
        DB_CASE(shows_samples_and_features_on_request),
        DB_CASE(refolds_sessions_in_order),
        DB_CASE(gives_top_k),
        DB_CASE(best_prefers_the_confirmed),
        DB_CASE(asks_of_several_targets),
        DB_CASE(confirms_ok_records_only),
        DB_CASE(refuses_what_refers_to_nothing),
        DB_CASE(refuses_bad_trials),
        DB_CASE(commits_batches_whole_or_not),
        DB_CASE(remembers_programs),
    };
    return db_world_run("database conformance", cases, HONE_COUNT(cases));
}
