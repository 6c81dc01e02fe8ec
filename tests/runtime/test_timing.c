/* tests/runtime/test_timing.c - how often a kernel is run, with kernels that only say how long they
 * took. */
#include <math.h>

#include "runtime/timing.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"

#define MS INT64_C(1000000)

/* A kernel whose runs take `each_ns`, the first one `cold_ns`; run number `fail_at` fails. */
typedef struct fake {
    double each_ns, cold_ns, noise;
    int64_t runs, calls, spent_ns, largest_batch, fail_at;
    int64_t wait_at, wait_ns; /* in this call something else has the CPU for so long */
    hone_rng rng;
} fake;

static int32_t fake_run(void *ctx, int64_t count, int64_t *out_ns) {
    fake *f = ctx;
    double ns = 0;
    if (f->runs == 0 && count > 0) ns = f->cold_ns;
    double factor = 1 + f->noise * hone_test_normal(&f->rng);
    ns += f->each_ns * (double)count * (factor > 0.1 ? factor : 0.1);
    f->runs += count;
    f->calls++;
    if (f->calls == f->wait_at) ns += (double)f->wait_ns;
    if (count > f->largest_batch) f->largest_batch = count;
    *out_ns = (int64_t)ns;
    f->spent_ns += *out_ns;
    return f->fail_at && f->runs >= f->fail_at ? -5 : 0;
}

/* clang-format off */
static const struct row {
    const char *name;
    double each_ns, noise;
    hone_timing_policy policy;
    int64_t first_ns, budget_ns, max_batch;
    int min_samples, max_samples; /* of the result */
    double max_spent_ms;
    bool early;
} rows[] = {
    {"tiny kernel", 20, 0.01, {0}, 500, 0, 0, 16, 32, 60, false},
    {"middling kernel", 300e3, 0.01, {0}, 400000, 0, 0, 16, 32, 40, false},
    {"slow kernel", 50e6, 0.01, {0}, 60 * MS, 0, 0, 2, 2, 120, false},
    {"as good as the incumbent",
     100e3,
     0.02,
     {.incumbent_ns = 99e3},
     150000,
     0,
     0,
     16,
     32,
     40,
     false},
    {"behind", 200e3, 0.02, {.incumbent_ns = 100e3}, 250000, 0, 0, 3, 20, 20, false},
    {"clearly behind", 400e3, 0.02, {.incumbent_ns = 100e3}, 500000, 0, 0, 3, 3, 5, true},
    {"hopeless", 50e6, 0.01, {.incumbent_ns = 100e3}, 55 * MS, 0, 0, 1, 1, 60, true},
    {"hopeless at second sight", 5e6, 0.01, {.incumbent_ns = 100e3}, 6 * MS, 0, 0, 1, 1, 6, true},
    {"slower, but allowed to be",
     400e3,
     0.02,
     {.incumbent_ns = 100e3, .slow_ratio = 5},
     500000,
     0,
     0,
     3,
     20,
     20,
     false},
    {"far slower, but allowed to be",
     5e6,
     0.01,
     {.incumbent_ns = 100e3, .slow_ratio = 100},
     6 * MS,
     0,
     0,
     3,
     20,
     40,
     false},
    {"the runs before the samples are none", 5e6, 0, {0}, 6 * MS, 0, 0, 4, 4, 30, false},
    {"out of budget", 2e9, 0, {0}, 2000 * MS, 3000 * MS, 0, 1, 1, 2100, false},
    {"out of budget before it is sure",
     20e6,
     0,
     {.min_repeat_ns = 300 * MS},
     20 * MS,
     50 * MS,
     0,
     2,
     2,
     70,
     false},
    {"no batches", 20, 0, {.max_samples = 7}, 500, 0, 1, 7, 7, 1, false},
    {"few samples", 1e6, 0.01, {.max_samples = 2}, MS, 0, 0, 2, 2, 50, false},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fake f = {.each_ns = row->each_ns, .noise = row->noise, .rng = hone_rng_from_seed(seed)};
        const hone_timing_options options = {.policy = row->policy,
                                             .first_ns = row->first_ns,
                                             .budget_ns = row->budget_ns,
                                             .max_batch = row->max_batch};
        hone_run_result r;
        hone_run_result_init(&r);
        assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), 0);
        assert_in_range(r.sample_count, row->min_samples, row->max_samples);
        assert_int_equal(r.stopped_early, row->early);
        assert_true((double)f.spent_ns <= row->max_spent_ms * 1e6);
        double off = fabs(r.median_ns / row->each_ns - 1);
        assert_true(off <= 4 * row->noise + 0.01);
        assert_true(r.best_ns <= r.median_ns);
        if (row->max_batch) assert_int_equal(r.batch, row->max_batch);
    }
}

/* A first run that was the kernel alone and long settles who is far behind; nobody else. */
static void a_long_first_run_settles_it(void **state) {
    (void)state;
    static const struct {
        int64_t first_ns;
        double incumbent_ns, slow_ratio;
        bool counts, settles;
    } cases[] = {
        {40 * MS, 10e6, 0,   true,  true },
        {40 * MS, 10e6, 0,   false, false}, /* constants, or others, are in its time */
        {40 * MS, 20e6, 0,   true,  false}, /* twice as slow may be cold caches and builds */
        {40 * MS, 10e6, 5,   true,  false}, /* it is allowed to be */
        {40 * MS, 0,    0,   true,  false}, /* nobody is known who is faster */
        {5 * MS,  1e6,  0,   true,  false}, /* too short to know */
        {40 * MS, 20e6, 1.5, true,  true },
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        fake f = {.each_ns = (double)cases[i].first_ns, .rng = hone_test_rng(1)};
        const hone_timing_options options = {
            .policy = {.incumbent_ns = cases[i].incumbent_ns, .slow_ratio = cases[i].slow_ratio},
            .first_ns = cases[i].first_ns,
            .first_counts = cases[i].counts
        };
        hone_run_result r;
        hone_run_result_init(&r);
        assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), 0);
        assert_int_equal(f.calls == 0, cases[i].settles);
        assert_true(r.sample_count >= 1 && r.batch == 1);
        assert_true(fabs(r.median_ns / (double)cases[i].first_ns - 1) < 1e-6);
        if (cases[i].settles) assert_true(r.stopped_early);
        hone_run_result_deinit(&r);
    }
}

/* Who waited once is not taken for one that is slow, whichever of its calls that was. */
static void one_wait_condemns_nobody(void **state) {
    (void)state;
    static const double kernels_ns[] = {20, 300e3, 2e6};
    for (size_t k = 0; k < HONE_COUNT(kernels_ns); k++) {
        for (int64_t at = 0; at <= 8; at++) { /* 0: the first run, before these */
            double each = kernels_ns[k];
            fake f = {.each_ns = each, .wait_at = at, .wait_ns = 60 * MS};
            const hone_timing_options options = {.policy = {.incumbent_ns = each * 0.99},
                                                 .first_ns =
                                                     (int64_t)(each * 1.5) + (at ? 0 : 60 * MS)};
            hone_run_result r;
            hone_run_result_init(&r);
            f.rng = hone_test_rng(1);
            assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), 0);
            assert_false(r.stopped_early);
            assert_true(r.best_ns < each * 1.01 && r.median_ns < each * 1.01);
            hone_run_result_deinit(&r);
        }
    }
}

/* The cost of a cold start must not end up in the samples, nor make batches of one. */
static void cold_starts_do_not_count(void **state) {
    (void)state;
    fake f = {.each_ns = 200, .cold_ns = 500000, .rng = hone_test_rng(1)};
    const hone_timing_options options = {.first_ns = 700000};
    hone_run_result r;
    hone_run_result_init(&r);
    assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), 0);
    assert_true(fabs(r.median_ns - 200) < 2);
    assert_true(r.batch * 200 >= 100000);
}

/* No samples of a kernel that failed, whichever run it was. */
static void failures_end_it(void **state) {
    (void)state;
    static const int64_t when[] = {1, 2, 700, 5000, 40000};
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        fake f = {.each_ns = 500, .fail_at = when[i], .rng = hone_test_rng(1)};
        const hone_timing_options options = {.first_ns = 1000};
        hone_run_result r;
        hone_run_result_init(&r);
        assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), -5);
        assert_int_equal(r.sample_count, 0);
        assert_true(isnan(r.median_ns));
    }
}

/* A clock that stands still must not make it run for ever. */
static void zero_times_are_survived(void **state) {
    (void)state;
    fake f = {.each_ns = 0, .rng = hone_test_rng(1)};
    const hone_timing_options options = {.first_ns = 0};
    hone_run_result r;
    hone_run_result_init(&r);
    assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), 0);
    assert_true(r.sample_count > 0 && r.median_ns >= 0);
    assert_true(f.largest_batch <= 1000000);
}

/* A clock that also sees what is done between runs: 30 ms each time. */
typedef struct clock_of_all {
    hone_clock base;
    const fake *kernel;
} clock_of_all;

static int64_t all_now(const hone_clock *clock) {
    const fake *f = ((const clock_of_all *)clock)->kernel;
    return f->spent_ns + f->runs * 30 * MS;
}

/* What takes long between the runs of a tiny kernel is part of the budget. */
static void time_between_runs_is_bounded(void **state) {
    (void)state;
    fake f = {.each_ns = 100, .noise = 0.01, .rng = hone_test_rng(1)};
    const clock_of_all clock = {{.now_ns = all_now}, &f};
    const hone_timing_options options = {
        .first_ns = 500, .budget_ns = 5000 * MS, .clock = &clock.base};
    hone_run_result r;
    hone_run_result_init(&r);
    assert_int_equal(hone_timing_measure(&options, fake_run, &f, &r), 0);
    assert_true(r.sample_count >= 3);
    assert_true(all_now(&clock.base) < 6000 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_first_run_settles_it),
                                       cmocka_unit_test(one_wait_condemns_nobody),
                                       cmocka_unit_test(cold_starts_do_not_count),
                                       cmocka_unit_test(failures_end_it),
                                       cmocka_unit_test(zero_times_are_survived),
                                       cmocka_unit_test(time_between_runs_is_bounded)};
    return HONE_RUN_ROWS("runtime/timing", rows, check_row) +
           cmocka_run_group_tests_name("runtime/timing_edges", tests, NULL, NULL);
}
