/* tests/runner/test_simulated.c - virtual time and deterministic costs. */
#include <math.h>

#include "runner/runner.h"
#include "support/os/clock.h"
#include "tests/support/hone_test.h"

static hone_run_request request(double cost_ns, double noise, uint64_t seed, int64_t latency_ns) {
    return (hone_run_request){
        .artifact_path = "nowhere",
        .manifest = {.entry = "f"            },
        .simulated = { .cost_ns = cost_ns,
                     .noise = noise,
                     .noise_seed = seed,
                     .latency_ns = latency_ns},
    };
}

static hone_runner *make(int32_t slots, int64_t start_ns) {
    hone_runner *r = NULL;
    const hone_runner_simulated_options options = {.slots = slots, .start_ns = start_ns};
    HONE_ASSERT_OK(hone_runner_create_simulated(&options, &r));
    return r;
}

/* Two devices, latencies 30, 10, 10, 5: completions at 10, 20 (device 2), 25, 30. */
static void time_is_virtual(void **state) {
    (void)state;
    static const int64_t latency[] = {30, 10, 10, 5}, when[] = {1010, 1020, 1025, 1030};
    static const hone_ticket order[] = {2, 3, 4, 1};
    hone_runner *r = make(2, 1000);
    hone_ticket ticket;
    for (int i = 0; i < 4; i++) {
        hone_run_request q = request(5, 0, 0, latency[i]);
        HONE_ASSERT_OK(hone_runner_submit(r, &q, &ticket));
    }
    assert_int_equal(hone_runner_simulated_now(r), 1000); /* submitting takes no time */
    for (int i = 0; i < 4; i++) {
        hone_run_result result;
        HONE_ASSERT_OK(hone_runner_next_result(r, HONE_DEADLINE_NOW, &ticket, &result));
        assert_int_equal(ticket, order[i]);
        assert_int_equal(hone_runner_simulated_now(r), when[i]);
        if (ticket == 3) assert_int_equal(result.times.queue_ns, 10);
        hone_run_result_deinit(&result);
    }
    hone_runner_destroy(r);
}

static void same_facts_same_result(void **state) {
    (void)state;
    double first[64];
    for (int round = 0; round < 2; round++) {
        hone_runner *r = make(3, 0);
        hone_ticket ticket;
        for (int i = 0; i < 64; i++) {
            hone_run_request q = request(1000, 0.05, (uint64_t)i, 1 + (i * 7) % 13);
            HONE_ASSERT_OK(hone_runner_submit(r, &q, &ticket));
        }
        double sum = 0;
        for (int i = 0; i < 64; i++) {
            hone_run_result result;
            HONE_ASSERT_OK(hone_runner_next_result(r, HONE_DEADLINE_NOW, &ticket, &result));
            if (round == 0) first[ticket - 1] = result.median_ns;
            assert_true(first[ticket - 1] == result.median_ns);
            assert_true(fabs(result.median_ns - 1000) < 250);
            sum += result.median_ns;
            hone_run_result_deinit(&result);
        }
        assert_true(fabs(sum / 64 - 1000) < 20); /* no bias */
        hone_runner_destroy(r);
    }
    assert_true(first[0] != first[1]);
}

static void failures_can_be_ordered(void **state) {
    (void)state;
    hone_runner *r = make(1, 0);
    hone_ticket ticket;
    hone_run_result result;
    for (int f = 0; f < HONE_FAILURE_COUNT; f++) {
        hone_run_request q = request(1000, 0, 0, 1);
        q.simulated.failure = (hone_failure)f;
        HONE_ASSERT_OK(hone_runner_submit(r, &q, &ticket));
        HONE_ASSERT_OK(hone_runner_next_result(r, HONE_DEADLINE_NOW, &ticket, &result));
        assert_int_equal(result.failure, f);
        assert_int_equal(isnan(result.median_ns), f != HONE_FAILURE_NONE);
        hone_run_result_deinit(&result);
    }
    hone_runner_destroy(r);
}

/* Latencies that are negative or would overflow the clock do no harm. */
static void odd_latencies(void **state) {
    (void)state;
    hone_runner *r = make(1, INT64_MAX - 10);
    hone_ticket ticket;
    hone_run_result result;
    static const int64_t latency[] = {-5, INT64_MAX, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        hone_run_request q = request(1, 0, 0, latency[i]);
        HONE_ASSERT_OK(hone_runner_submit(r, &q, &ticket));
    }
    for (int i = 0; i < 4; i++) {
        HONE_ASSERT_OK(hone_runner_next_result(r, HONE_DEADLINE_NOW, &ticket, &result));
        assert_int_equal(ticket, i + 1);
        hone_run_result_deinit(&result);
    }
    assert_true(hone_runner_simulated_now(r) == INT64_MAX);
    hone_runner_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_virtual), cmocka_unit_test(same_facts_same_result),
        cmocka_unit_test(failures_can_be_ordered), cmocka_unit_test(odd_latencies)};
    return cmocka_run_group_tests_name("runner/simulated", tests, NULL, NULL);
}
