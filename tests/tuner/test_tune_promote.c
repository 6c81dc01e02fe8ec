/* tests/tuner/test_tune_promote.c - what a confirmation promotes on a noisy device: whole runs over
 * the simulated one, with jitter, disturbances and a speed that drifts. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <string.h>

#include "support/data/rng.h"
#include "tests/tuner/tune_world.h"

enum { RUNS = 100 };

/* A device on which the first program, the default schedule, costs 1000. */
typedef struct noisy {
    tune_world world;
    hone_rng rng;
    double others_cost, jitter;
    double speed; /* drifts */
    hone_map128 known;
    int64_t seen;
} noisy;

/* The default schedule is proposed before anything else. */
static double cost_of(noisy *n, hone_hash128 program) {
    uint64_t number = 0;
    if (!hone_map128_find(&n->known, program, &number)) {
        number = (uint64_t)n->seen++;
        assert_true(hone_map128_put(&n->known, program, number));
    }
    return number == 0 ? 1000 : n->others_cost;
}

static void simulate(void *ctx, hone_hash128 program, const float *features, uint32_t row_count,
                     hone_simulated_facts *out) {
    noisy *n = ctx;
    (void)features;
    (void)row_count;
    double disturbed = hone_rng_below(&n->rng, 12) ? 1 : 1 + 2 * hone_rng_uniform(&n->rng);
    n->speed *= 1 + 0.002 * hone_test_normal(&n->rng);
    *out = (hone_simulated_facts){.cost_ns = cost_of(n, program) * n->speed * disturbed,
                                  .noise = n->jitter,
                                  .noise_seed = hone_rng_next(&n->rng)};
}

static void noisy_open(noisy *n, uint64_t seed, double others_cost, double jitter) {
    *n = (noisy){.others_cost = others_cost, .jitter = jitter, .speed = 1};
    n->rng = hone_rng_from_seed(seed);
    tune_world_open(&n->world);
    hone_tune_options *o = &n->world.options;
    o->seed = seed;
    o->only_task = "dense";
    o->trials = 24;
    o->strategy = "random";
    o->cost_model = "null";
    o->simulate = simulate;
    o->should_stop = NULL;
    o->ctx = n;
}

static void noisy_close(noisy *n) {
    tune_world_close(&n->world);
    hone_map128_deinit(&n->known);
}

typedef struct used {
    bool is_default, is_confirmed;
} used;

static bool note_used(void *ctx, const hone_db_trial *trial) {
    used *u = ctx;
    *u = (used){trial->sketch < 0, !isnan(trial->confirmed_ns)};
    return false;
}

/* Whether something else than the default would be used behind a run; runs of one database. */
static int promotions(double others_cost, double jitter, int runs_of_each) {
    int promoted = 0;
    const uint64_t first = hone_test_seed(1);
    for (uint64_t seed = first; seed < first + RUNS; seed++) {
        noisy n;
        used u = {0};
        noisy_open(&n, seed, others_cost, jitter);
        for (int run = 0; run < runs_of_each; run++) {
            hone_tune_result result;
            HONE_ASSERT_OK(hone_tune(&n.world.tasks, &n.world.options, &result));
            assert_true(result.tasks[0].is_confirmed);
            hone_tune_result_deinit(&result);
        }
        hone_db_filter best = {.order = HONE_DB_ORDER_BEST, .limit = 1};
        HONE_ASSERT_OK(hone_db_trials(n.world.db, &best, note_used, &u));
        assert_true(u.is_confirmed);
        promoted += !u.is_default;
        noisy_close(&n);
    }
    return promoted;
}

/* One in a hundred, and for seeds that nobody has seen what chance may add to that. */
static int most_of(int confirmations) {
    double mean = confirmations / 100.0;
    return (int)(hone_test_seed(1) == 1 ? mean : mean + 3 * sqrt(mean) + 1);
}

static void no_faster_one_is_promoted(void **state) {
    (void)state;
    assert_in_range(promotions(1000, 0.05, 1), 0, most_of(RUNS));
}

/* Going on with a database does not wear the default down. */
static void no_faster_one_is_promoted_later(void **state) {
    (void)state;
    assert_in_range(promotions(1000, 0.02, 3), 0, most_of(3 * RUNS));
}

static void a_slower_one_is_never_promoted(void **state) {
    (void)state;
    assert_int_equal(promotions(1050, 0.05, 1), 0);
}

static void a_faster_one_is_promoted(void **state) {
    (void)state;
    assert_in_range(promotions(930, 0.02, 1), RUNS * 9 / 10, RUNS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_faster_one_is_promoted),
        cmocka_unit_test(no_faster_one_is_promoted_later),
        cmocka_unit_test(a_slower_one_is_never_promoted),
        cmocka_unit_test(a_faster_one_is_promoted),
    };
    return cmocka_run_group_tests_name("tuner/promote", tests, NULL, NULL);
}
