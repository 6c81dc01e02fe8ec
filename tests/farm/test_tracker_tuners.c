/* tests/farm/test_tracker_tuners.c - tuners that go, come back and cancel; and their limits. */
#include <stdio.h>

#include "tests/farm/tracker_world.h"
#include "tests/support/hone_test.h"

/* ---- tuners that go ---- */

static void tuner_comes_back(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    for (uint64_t i = 1; i <= 4; i++)
        farm_do_submit(tuner, i, "pi4");
    hone_farm_assign one = farm_take(runner), two = farm_take(runner);
    farm_disconnect(tuner);
    farm_run(&w, HONE_NS_PER_S);
    farm_answer(runner, &one, 1);
    farm_answer(runner, &two, 2);
    farm_expect_none(runner, HONE_FARM_ASSIGN, 20 * HONE_NS_PER_S); /* not for somebody absent */
    tuner = farm_tuner(&w, 1, "alice");
    farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE);
    farm_expect_outcome(tuner, 2, HONE_FAILURE_NONE);
    assert_int_equal(farm_take(runner).trial, 3);
    farm_world_deinit(&w);
}

static void tuner_stays_away(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    for (uint64_t i = 1; i <= 4; i++) {
        hone_farm_message m = farm_submit(i, "pi4");
        m.u.submit.timeout_ns = 1000 * HONE_NS_PER_S;
        farm_send(tuner, &m);
        farm_expect(tuner, HONE_FARM_ACCEPTED);
    }
    hone_farm_assign one = farm_take(runner), two = farm_take(runner);
    farm_disconnect(tuner);
    farm_expect(runner, HONE_FARM_ABORT);
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.tuners, 0);
    assert_int_equal(stats.waiting + stats.running, 0);
    assert_int_equal(stats.request_bytes, 0);
    farm_answer(runner, &one, 1);
    farm_answer(runner, &two, 2);
    farm_peer *bob = farm_tuner(&w, 5, "bob");
    farm_do_submit(bob, 1, "pi4");
    farm_take(runner);
    farm_world_deinit(&w);
}

static void farewells(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 1, "pi4");
    farm_take(runner);
    hone_farm_message bye = farm_plain(HONE_FARM_BYE);
    farm_send(runner, &bye);
    farm_run(&w, HONE_NS_PER_MS);
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.runners, 0);
    assert_int_equal(stats.waiting, 1);
    assert_int_equal(stats.requeued, 0); /* on purpose: no loss */
    farm_send(tuner, &bye);
    farm_run(&w, HONE_NS_PER_MS);
    assert_int_equal(hone_tracker_get_stats(w.tracker).tuners, 0);
    farm_world_deinit(&w);
}

static void cancel(farm_peer *tuner, uint64_t trial, bool is_known) {
    hone_farm_message m = farm_plain(HONE_FARM_CANCEL);
    m.u.cancel.trial = trial;
    farm_send(tuner, &m);
    hone_farm_message answer = farm_expect(tuner, HONE_FARM_CANCELLED);
    assert_int_equal(answer.u.cancelled.trial, trial);
    assert_int_equal(answer.u.cancelled.is_known, is_known);
}

static void cancelling(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    for (uint64_t i = 1; i <= 3; i++)
        farm_do_submit(tuner, i, "pi4");
    hone_farm_assign one = farm_take(runner), two = farm_take(runner);
    cancel(tuner, 99, false);
    cancel(tuner, 3, true);
    farm_expect_outcome(tuner, 3, HONE_FAILURE_CANCELLED);
    cancel(tuner, 1, true);
    assert_int_equal(farm_expect(runner, HONE_FARM_ABORT).u.lease.trial, 1);
    assert_int_equal(farm_expect(runner, HONE_FARM_ABORT).u.lease.trial, 1); /* until answered */
    hone_farm_message back = farm_plain(HONE_FARM_RETURNED);
    back.u.returned = (hone_farm_returned){one.token, one.tuner, one.trial, "aborted"};
    farm_send(runner, &back);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_CANCELLED);
    cancel(tuner, 2, true); /* the result was faster */
    farm_answer(runner, &two, 3);
    farm_expect_outcome(tuner, 2, HONE_FAILURE_NONE);
    assert_int_equal(hone_tracker_get_stats(w.tracker).request_bytes, 0);
    farm_world_deinit(&w);
}

static void limits(void **state) {
    (void)state;
    farm_world w;
    hone_tracker_options o = {
        .max_trials = 3, .max_tuners = 1, .max_runners = 1, .max_request_bytes = 2};
    farm_world_init(&w, 1, &o);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 1, "pi4");
    farm_do_submit(tuner, 2, "pi4");
    hone_farm_message m = farm_submit(3, "pi4");
    farm_send(tuner, &m);
    farm_expect_refused(tuner, HONE_FARM_REFUSAL_BUSY, "no room");
    hone_farm_message hello = farm_hello_tuner(7, "bob");
    farm_peer *other = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    farm_send(other, &hello);
    farm_expect_refused(other, HONE_FARM_REFUSAL_BUSY, "tuners already");
    hello = farm_hello_runner(8, "two", "pi4", 1);
    farm_send(other, &hello);
    farm_expect_refused(other, HONE_FARM_REFUSAL_BUSY, "runners already");
    farm_take(runner);
    farm_world_deinit(&w);
}

/* Who does not acknowledge what he gets gets no more; the others do. */
static void results_nobody_takes(void **state) {
    (void)state;
    farm_world w;
    hone_tracker_options o = {.max_request_bytes = 1000};
    farm_world_init(&w, 1, &o);
    farm_peer *greedy = farm_tuner(&w, 1, "greedy"), *bob = farm_tuner(&w, 2, "bob");
    farm_peer *runner = farm_runner(&w, 3, "one", "pi4", 1);
    for (uint64_t i = 0; i < 20; i++)
        farm_do_submit(greedy, i, "pi4");
    for (int i = 0; i < 20; i++) {
        farm_run(&w, HONE_NS_PER_MS);
        if (hone_tracker_get_stats(w.tracker).running == 0) break;
        hone_farm_assign assign = farm_take(runner);
        farm_answer(runner, &assign, 1);
    }
    assert_true(hone_tracker_get_stats(w.tracker).waiting > 0);
    assert_int_equal(hone_tracker_get_stats(w.tracker).running, 0);
    farm_do_submit(bob, 1, "pi4");
    hone_farm_assign assign = farm_take(runner);
    assert_true(hone_hash128_equal(assign.tuner, farm_instance(2)));
    farm_answer(runner, &assign, 1);
    farm_expect_outcome(bob, 1, HONE_FAILURE_NONE);
    hone_vec_clear(&greedy->inbox);
    for (uint64_t i = 0; i < 20; i++)
        farm_acknowledge(greedy, i);
    farm_take(runner);
    farm_world_deinit(&w);
}

static void too_many_trials(void **state) {
    (void)state;
    farm_world w;
    hone_tracker_options o = {.max_trials = 3};
    farm_world_init(&w, 1, &o);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    for (uint64_t i = 1; i <= 3; i++)
        farm_do_submit(tuner, i, "pi4");
    hone_farm_message m = farm_submit(4, "pi4");
    farm_send(tuner, &m);
    assert_int_equal(farm_expect_refused(tuner, HONE_FARM_REFUSAL_BUSY, "too many").u.refused.trial,
                     4);
    cancel(tuner, 1, true);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_CANCELLED);
    farm_do_submit(tuner, 4, "pi4");
    farm_world_deinit(&w);
}

static void too_many_device_keys(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    char key[16];
    for (uint64_t i = 0; i < 64; i++) {
        snprintf(key, sizeof key, "key%d", (int)i);
        farm_do_submit(tuner, i, key);
    }
    hone_farm_message m = farm_submit(1000, "one more");
    farm_send(tuner, &m);
    farm_expect_refused(tuner, HONE_FARM_REFUSAL_BUSY, "device keys");
    farm_do_submit(tuner, 1001, "key0");
    farm_world_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuner_comes_back), cmocka_unit_test(tuner_stays_away),
        cmocka_unit_test(farewells),        cmocka_unit_test(cancelling),
        cmocka_unit_test(limits),           cmocka_unit_test(results_nobody_takes),
        cmocka_unit_test(too_many_trials),  cmocka_unit_test(too_many_device_keys),
    };
    return cmocka_run_group_tests_name("farm/tracker_tuners", tests, NULL, NULL);
}
