/* tests/farm/test_tracker.c - trials, leases and turns, message by message. */

#include "tests/farm/tracker_world.h"
#include "tests/support/hone_test.h"

/* ---- hello ---- */

static void versions(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *peer = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    hone_farm_message hello = farm_hello_tuner(1, "alice");
    hello.u.hello.version_min = hello.u.hello.version_max = HONE_FARM_VERSION + 1;
    farm_send(peer, &hello);
    hone_farm_message no =
        farm_expect_refused(peer, HONE_FARM_REFUSAL_VERSION, "update the tracker");
    assert_int_equal(no.id, hello.id);
    assert_int_equal(no.u.refused.about, HONE_FARM_HELLO);
    hello.u.hello.version_min = hello.u.hello.version_max = 0;
    farm_send(peer, &hello);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_VERSION, "update your side");
    hello.u.hello.version_max = HONE_FARM_VERSION + 7;
    farm_send(peer, &hello);
    assert_int_equal(farm_expect(peer, HONE_FARM_WELCOME).u.welcome.version, HONE_FARM_VERSION);
    farm_world_deinit(&w);
}

static void hello_comes_first(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *peer = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    hone_farm_message m = farm_submit(3, "pi4");
    farm_send(peer, &m);
    assert_int_equal(farm_expect_refused(peer, HONE_FARM_REFUSAL_HELLO, "hello").u.refused.trial,
                     3);
    m = farm_hello_runner(5, "board", "pi4", 1);
    farm_send(peer, &m);
    farm_expect(peer, HONE_FARM_WELCOME);
    m = farm_submit(3, "pi4");
    farm_send(peer, &m);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_ROLE, "runner may not");
    m = farm_plain(HONE_FARM_ASSIGN);
    m.u.assign.timeout_ns = 1;
    farm_send(peer, &m);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_INVALID, "does not take 'assign'");
    farm_world_deinit(&w);
}

static void silent_peers_are_dropped(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *quiet = farm_runner(&w, 1, "board", "pi4", 1);
    farm_peer *beating = farm_tuner(&w, 2, "alice");
    quiet->beats = false;
    farm_run(&w, FARM_EXPIRY_NS + HONE_NS_PER_S / 2);
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.runners, 0);
    assert_int_equal(stats.tuners, 1);
    assert_true(beating->link != 0);
    farm_world_deinit(&w);
}

/* ---- one trial ---- */

static void round_trip(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "board", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign assign = farm_take(runner);
    assert_int_equal(assign.trial, 7);
    assert_int_equal(assign.losses, 0);
    assert_int_equal(assign.request.count, 1);
    assert_int_equal(assign.timeout_ns, 10 * HONE_NS_PER_S);
    assert_true(hone_hash128_equal(assign.tuner, farm_instance(1)));
    farm_run(&w, 2 * HONE_NS_PER_S);
    farm_answer(runner, &assign, 1234.5);
    hone_farm_outcome outcome = farm_expect(tuner, HONE_FARM_OUTCOME).u.outcome;
    hone_failure failure;
    assert_true(farm_outcome_median(&outcome, &failure) == 1234.5);
    assert_string_equal(outcome.runner, "board");
    assert_int_equal(outcome.losses, 0);
    farm_acknowledge(tuner, 7);
    farm_run(&w, HONE_NS_PER_S);
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.waiting + stats.running, 0);
    assert_int_equal(stats.done, 1);
    assert_int_equal(stats.request_bytes, 0);
    farm_world_deinit(&w);
}

static void everything_is_said_again(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "board", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign first = farm_expect(runner, HONE_FARM_ASSIGN).u.assign;
    hone_farm_assign again = farm_take(runner); /* the first one was not answered */
    assert_int_equal(again.token, first.token);
    farm_expect_none(runner, HONE_FARM_ASSIGN, 5 * HONE_NS_PER_S);
    farm_answer(runner, &first, 1);
    farm_expect(tuner, HONE_FARM_OUTCOME);
    farm_expect_outcome(tuner, 7, HONE_FAILURE_NONE);
    farm_expect_none(tuner, HONE_FARM_OUTCOME, 5 * HONE_NS_PER_S);
    farm_world_deinit(&w);
}

static void doubles_change_nothing(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "board", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign assign = farm_take(runner);
    farm_do_submit(tuner, 7, "pi4");
    farm_expect_none(runner, HONE_FARM_ASSIGN, 2 * HONE_NS_PER_S);
    farm_answer(runner, &assign, 1);
    farm_answer(runner, &assign, 2); /* acknowledged, dropped */
    hone_farm_outcome outcome = farm_expect(tuner, HONE_FARM_OUTCOME).u.outcome;
    hone_failure failure;
    assert_true(farm_outcome_median(&outcome, &failure) == 1);
    farm_acknowledge(tuner, 7);
    farm_acknowledge(tuner, 7);
    farm_run(&w, HONE_NS_PER_S);
    farm_do_submit(tuner, 7, "pi4"); /* late: it is over */
    farm_expect_none(runner, HONE_FARM_ASSIGN, 2 * HONE_NS_PER_S);
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.submitted, 1);
    assert_int_equal(stats.duplicates, 1);
    farm_world_deinit(&w);
}

/* ---- loss ---- */

static void lost_runner(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *first = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign lost = farm_take(first);
    farm_disconnect(first);
    farm_peer *second = farm_runner(&w, 3, "two", "pi4", 1);
    hone_farm_assign again = farm_take(second); /* that has nothing to do */
    assert_true(again.token > lost.token);
    assert_int_equal(again.losses, 0);
    farm_run(&w, FARM_EXPIRY_NS); /* it does not come back: now it is lost */
    assert_int_equal(hone_tracker_get_stats(w.tracker).requeued, 1);
    farm_answer(second, &again, 5);
    assert_int_equal(farm_expect_outcome(tuner, 7, HONE_FAILURE_NONE).losses, 1);
    farm_world_deinit(&w);
}

static void lost_twice(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    farm_do_submit(tuner, 7, "pi4");
    farm_do_submit(tuner, 8, "pi4");
    for (uint64_t i = 0; i < 2; i++) {
        farm_peer *runner = farm_runner(&w, 10 + i, "board", "pi4", 1);
        assert_int_equal(farm_take(runner).trial, 7);
        assert_int_equal(farm_take(runner).trial, 8); /* behind it: not to blame */
        farm_disconnect(runner);
    }
    hone_farm_outcome outcome = farm_expect_outcome(tuner, 7, HONE_FAILURE_DEVICE_LOST);
    assert_int_equal(outcome.losses, 2);
    assert_string_equal(outcome.runner, "board");
    farm_peer *runner = farm_runner(&w, 20, "board", "pi4", 1);
    hone_farm_assign assign = farm_take(runner);
    assert_int_equal(assign.trial, 8);
    assert_int_equal(assign.losses, 0);
    assert_int_equal(hone_tracker_get_stats(w.tracker).lost, 1);
    farm_world_deinit(&w);
}

static void late_result_is_dropped(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *first = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign lost = farm_take(first);
    first->beats = false;
    farm_run(&w, FARM_EXPIRY_NS + HONE_NS_PER_S);
    farm_peer *second = farm_runner(&w, 3, "two", "pi4", 1);
    hone_farm_assign again = farm_take(second);
    /* the first one is back, says what it holds, and is told to let go */
    farm_run(&w, 3 * HONE_NS_PER_S);
    hone_farm_held held = {lost.token, lost.tuner, lost.trial, 0, HONE_FARM_HELD_RUNNING};
    hone_farm_message hello = farm_hello_runner(2, "one", "pi4", 1);
    hello.u.hello.held = (hone_farm_helds){1, &held};
    farm_send(first, &hello);
    assert_int_equal(farm_expect(first, HONE_FARM_ABORT).u.lease.token, lost.token);
    farm_answer(first, &lost, 1);
    farm_answer(second, &again, 2);
    hone_farm_outcome outcome = farm_expect(tuner, HONE_FARM_OUTCOME).u.outcome;
    hone_failure failure;
    assert_true(farm_outcome_median(&outcome, &failure) == 2);
    assert_int_equal(hone_tracker_get_stats(w.tracker).duplicates, 1);
    farm_world_deinit(&w);
}

static void lease_runs_out(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign assign = farm_take(runner);
    farm_expect_none(runner, HONE_FARM_ABORT, 12 * HONE_NS_PER_S);
    assert_int_equal(farm_expect(runner, HONE_FARM_ABORT).u.lease.trial, 7);
    /* until it has answered it gets nothing, others do */
    farm_expect_none(runner, HONE_FARM_ASSIGN, 5 * HONE_NS_PER_S);
    farm_peer *other = farm_runner(&w, 3, "two", "pi4", 1);
    hone_farm_assign again = farm_take(other);
    assert_int_equal(again.losses, 1);
    hone_farm_message back = farm_plain(HONE_FARM_RETURNED);
    back.u.returned = (hone_farm_returned){assign.token, assign.tuner, assign.trial, "killed it"};
    farm_send(runner, &back);
    farm_expect(runner, HONE_FARM_RESULT_ACK);
    farm_do_submit(tuner, 8, "pi4");
    assert_int_equal(farm_take(runner).trial, 8);
    farm_world_deinit(&w);
}

static void returned(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    uint64_t token = 0;
    for (int i = 0; i < 8; i++) {
        hone_farm_assign assign = farm_take(runner);
        assert_true(assign.token > token);
        assert_int_equal(assign.losses, 0);
        token = assign.token;
        hone_farm_message back = farm_plain(HONE_FARM_RETURNED);
        back.u.returned = (hone_farm_returned){assign.token, assign.tuner, assign.trial, "no disk"};
        farm_send(runner, &back);
        farm_expect(runner, HONE_FARM_RESULT_ACK);
    }
    farm_expect_outcome(tuner, 7, HONE_FAILURE_DEVICE_LOST);
    farm_world_deinit(&w);
}

/* Beside another trial, too: what was said under a token is not said about a second time under it.
 */
static void returned_gets_another_token(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    farm_do_submit(tuner, 8, "pi4");
    hone_farm_assign running = farm_take(runner), behind = farm_take(runner);
    assert_int_equal(behind.token, running.token);
    hone_farm_message back = farm_plain(HONE_FARM_RETURNED);
    back.u.returned = (hone_farm_returned){behind.token, behind.tuner, behind.trial, "no disk"};
    farm_send(runner, &back);
    farm_expect(runner, HONE_FARM_RESULT_ACK);
    farm_expect_none(runner, HONE_FARM_ASSIGN, 3 * FARM_HEARTBEAT_NS);
    farm_answer(runner, &running, 1);
    hone_farm_assign again = farm_take(runner);
    assert_int_equal(again.trial, behind.trial);
    assert_true(again.token > behind.token);
    farm_world_deinit(&w);
}

/* A result of an earlier lease is none of the present one, though slot and trial are the same. */
static void result_of_earlier_lease(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    hone_farm_assign earlier = farm_take(runner);
    hone_farm_message back = farm_plain(HONE_FARM_RETURNED);
    back.u.returned = (hone_farm_returned){earlier.token, earlier.tuner, earlier.trial, "no disk"};
    farm_send(runner, &back);
    farm_expect(runner, HONE_FARM_RESULT_ACK);
    hone_farm_assign assign = farm_take(runner);
    assert_true(assign.token > earlier.token);
    farm_answer(runner, &earlier, 1); /* acknowledged, dropped */
    farm_expect_none(tuner, HONE_FARM_OUTCOME, 2 * HONE_NS_PER_S);
    farm_answer(runner, &assign, 2);
    hone_farm_outcome outcome = farm_expect(tuner, HONE_FARM_OUTCOME).u.outcome;
    hone_failure failure;
    assert_true(farm_outcome_median(&outcome, &failure) == 2);
    farm_world_deinit(&w);
}

/* Its time begins when that of the first one is over: 2 * 10 s, and the slack. */
static void lease_of_second_trial(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    farm_do_submit(tuner, 8, "pi4");
    hone_farm_assign first = farm_take(runner);
    assert_int_equal(farm_take(runner).trial, 8);
    farm_run(&w, 9 * HONE_NS_PER_S);
    farm_answer(runner, &first, 1);
    farm_expect_outcome(tuner, 7, HONE_FAILURE_NONE);
    farm_expect_none(runner, HONE_FARM_ABORT, 9 * HONE_NS_PER_S);
    assert_int_equal(farm_expect(runner, HONE_FARM_ABORT).u.lease.trial, 8);
    farm_world_deinit(&w);
}

static void reconnected_runner(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    farm_do_submit(tuner, 8, "pi4");
    hone_farm_assign one = farm_take(runner), two = farm_take(runner);
    farm_disconnect(runner);
    runner = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    /* it holds the first; the second never reached it */
    hone_farm_held held = {one.token, one.tuner, one.trial, 0, HONE_FARM_HELD_RUNNING};
    hone_farm_message hello = farm_hello_runner(2, "one", "pi4", 1);
    hello.u.hello.held = (hone_farm_helds){1, &held};
    farm_send(runner, &hello);
    hone_farm_assign again = farm_take(runner);
    assert_int_equal(again.trial, 8);
    assert_int_equal(again.token, two.token);
    farm_expect_none(runner, HONE_FARM_ASSIGN, HONE_NS_PER_S / 2);
    farm_answer(runner, &one, 1);
    assert_int_equal(farm_expect_outcome(tuner, 7, HONE_FAILURE_NONE).losses, 0);
    assert_int_equal(hone_tracker_get_stats(w.tracker).requeued, 0);
    farm_world_deinit(&w);
}

static void restarted_runner(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    farm_do_submit(tuner, 7, "pi4");
    farm_take(runner);
    farm_disconnect(runner); /* killed; the same name again, at once */
    runner = farm_runner(&w, 9, "one", "pi4", 1);
    int64_t before_ns = hone_clock_now(&w.clock.clock);
    assert_int_equal(farm_take(runner).losses, 1);
    assert_true(hone_clock_now(&w.clock.clock) - before_ns < FARM_HEARTBEAT_NS);
    farm_world_deinit(&w);
}

static void name_in_use(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *runner = farm_runner(&w, 2, "one", "pi4", 1), *other = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    hone_farm_message hello = farm_hello_runner(3, "one", "pi4", 1);
    for (int i = 0; i < 3; i++) { /* the first one answers when it is asked */
        farm_send(other, &hello);
        farm_expect_refused(other, HONE_FARM_REFUSAL_TAKEN, "'one'");
        farm_run(&w, FARM_HEARTBEAT_NS);
    }
    /* it hangs: it answers no longer, and its place is taken before it counts as lost */
    runner->beats = false;
    hone_simnet_cut(w.simnet, runner->net, true);
    farm_send(other, &hello);
    farm_expect_refused(other, HONE_FARM_REFUSAL_TAKEN, "'one'");
    farm_run(&w, FARM_HEARTBEAT_NS);
    farm_send(other, &hello);
    farm_expect(other, HONE_FARM_WELCOME);
    farm_world_deinit(&w);
}

/* ---- slots and turns ---- */

static void two_in_flight(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    for (uint64_t i = 1; i <= 6; i++)
        farm_do_submit(tuner, i, "pi4");
    farm_do_submit(tuner, 100, "pi5");
    farm_peer *runner = farm_runner(&w, 2, "one", "pi4", 2);
    /* one for each slot, then one behind each */
    uint32_t slots[4];
    uint64_t tokens[4];
    for (uint64_t i = 0; i < 4; i++) {
        hone_farm_assign assign = farm_take(runner);
        assert_int_equal(assign.trial, i + 1);
        slots[i] = assign.slot;
        tokens[i] = assign.token;
    }
    assert_true(slots[0] != slots[1]);
    assert_true(tokens[0] != tokens[1]);
    assert_int_equal(tokens[0], tokens[slots[2] == slots[0] ? 2 : 3]);
    farm_expect_none(runner, HONE_FARM_ASSIGN, HONE_NS_PER_S);
    assert_int_equal(hone_tracker_get_stats(w.tracker).running, 4);
    assert_int_equal(hone_tracker_get_stats(w.tracker).waiting, 3);
    farm_world_deinit(&w);
}

/* A board that takes 500 ms for each trial, one behind the other. */
static void turns(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuners[2] = {farm_tuner(&w, 1, "alice"), farm_tuner(&w, 2, "bob")};
    /* alice has come first and has many */
    for (uint64_t i = 0; i < 200; i++)
        farm_do_submit(tuners[0], i, "pi4");
    farm_peer *runner = farm_runner(&w, 3, "one", "pi4", 1);
    for (uint64_t i = 0; i < 60; i++)
        farm_do_submit(tuners[1], i, "pi4");
    int count[2] = {0, 0}, switches = 0, last = -1;
    for (int i = 0; i < 120; i++) {
        hone_farm_assign assign = farm_take(runner);
        int who = hone_hash128_equal(assign.tuner, farm_instance(1)) ? 0 : 1;
        count[who]++;
        switches += last >= 0 && who != last;
        last = who;
        farm_run(&w, HONE_NS_PER_S / 2);
        farm_answer(runner, &assign, 1);
        farm_expect(tuners[who], HONE_FARM_OUTCOME);
        farm_acknowledge(tuners[who], assign.trial);
    }
    assert_true(count[0] >= 50 && count[1] >= 50);
    assert_true(switches >= 10 && switches <= 60); /* a lease lasts about a quantum */
    farm_world_deinit(&w);
}

static void submit_for(farm_peer *tuner, uint64_t trial, const char *device) {
    hone_farm_message m = farm_submit(trial, "pi4");
    hone_farm_set_text(m.u.submit.device, sizeof m.u.submit.device, device);
    farm_send(tuner, &m);
    assert_int_equal(farm_expect(tuner, HONE_FARM_ACCEPTED).u.accepted.trial, trial);
}

/* A trial for one device runs there or nowhere. */
static void one_device(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    farm_peer *one = farm_runner(&w, 2, "one", "pi4", 2),
              *two = farm_runner(&w, 3, "two", "pi4", 1);
    for (uint64_t i = 1; i <= 3; i++)
        submit_for(tuner, i, "one/1");
    submit_for(tuner, 4, "two/0");
    hone_farm_assign first = farm_take(one);
    assert_int_equal(first.slot, 1);
    assert_int_equal(farm_take(one).slot, 1);
    assert_int_equal(farm_take(two).trial, 4);
    farm_expect_none(two, HONE_FARM_ASSIGN, HONE_NS_PER_S); /* though it has room */
    submit_for(tuner, 5, "three/0");
    farm_expect_outcome(tuner, 5, HONE_FAILURE_DEVICE_LOST);
    farm_answer(one, &first, 10);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE);
    farm_acknowledge(tuner, 1);
    assert_int_equal(farm_take(one).trial, 3);
    farm_disconnect(one); /* for good: all that were its are lost */
    for (int i = 0; i < 2; i++) {
        hone_farm_outcome outcome = farm_expect(tuner, HONE_FARM_OUTCOME).u.outcome;
        hone_failure failure;
        farm_outcome_median(&outcome, &failure);
        assert_int_equal(failure, HONE_FAILURE_DEVICE_LOST);
        assert_true(outcome.trial == 2 || outcome.trial == 3);
        farm_acknowledge(tuner, outcome.trial);
    }
    farm_expect_none(two, HONE_FARM_ASSIGN, HONE_NS_PER_S);
    farm_world_deinit(&w);
}

static void draining_and_devices(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *admin = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    hone_farm_message m = farm_hello_tuner(9, "root");
    m.u.hello.role = HONE_FARM_ADMIN;
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_WELCOME);
    m = farm_plain(HONE_FARM_DEVICES);
    hone_farm_set_text(m.u.devices.device_key, sizeof m.u.devices.device_key, "pi4");
    farm_send(tuner, &m);
    assert_int_equal(farm_expect(tuner, HONE_FARM_DEVICE_LIST).u.device_list.devices.count, 0);
    farm_peer *runner = farm_runner(&w, 2, "one", "pi4", 2);
    hone_farm_message list = farm_expect(tuner, HONE_FARM_DEVICE_LIST); /* told by itself */
    assert_int_equal(list.id, 0);
    assert_int_equal(list.u.device_list.devices.count, 2);
    assert_string_equal(list.u.device_list.devices.items[1].runner, "one");
    farm_runner(&w, 4, "other", "pi5", 1);
    assert_int_equal(farm_expect(tuner, HONE_FARM_DEVICE_LIST).u.device_list.devices.count, 2);

    m = farm_plain(HONE_FARM_DRAIN);
    hone_farm_set_text(m.u.drain.device, sizeof m.u.drain.device, "one/0");
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    list = farm_expect(tuner, HONE_FARM_DEVICE_LIST);
    assert_true(list.u.device_list.devices.items[0].is_draining);
    assert_false(list.u.device_list.devices.items[1].is_draining);
    farm_do_submit(tuner, 1, "pi4");
    farm_do_submit(tuner, 2, "pi4");
    farm_do_submit(tuner, 3, "pi4");
    assert_int_equal(farm_take(runner).slot, 1);
    assert_int_equal(farm_take(runner).slot, 1);
    farm_expect_none(runner, HONE_FARM_ASSIGN, HONE_NS_PER_S);
    m.u.drain.is_over = true;
    farm_send(admin, &m);
    assert_int_equal(farm_take(runner).slot, 0);

    m = farm_plain(HONE_FARM_KICK);
    hone_farm_set_text(m.u.kick.device, sizeof m.u.kick.device, "nobody");
    farm_send(admin, &m);
    farm_expect_refused(admin, HONE_FARM_REFUSAL_UNKNOWN, "nobody");
    hone_farm_set_text(m.u.kick.device, sizeof m.u.kick.device, "one");
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    farm_run(&w, HONE_NS_PER_MS);
    assert_int_equal(hone_tracker_get_stats(w.tracker).waiting, 3);
    assert_int_equal(hone_tracker_get_stats(w.tracker).runners, 1);

    m = farm_plain(HONE_FARM_STATUS);
    farm_send(tuner, &m);
    hone_farm_message table = farm_expect(tuner, HONE_FARM_STATUS_TABLE);
    assert_int_equal(table.u.status_table.slots.count, 1);
    assert_string_equal(table.u.status_table.slots.items[0].runner, "other");
    assert_int_equal(table.u.status_table.tuners.count, 1);
    assert_int_equal(table.u.status_table.tuners.items[0].waiting, 3);
    farm_world_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(hello_comes_first),
        cmocka_unit_test(silent_peers_are_dropped),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(everything_is_said_again),
        cmocka_unit_test(doubles_change_nothing),
        cmocka_unit_test(lost_runner),
        cmocka_unit_test(lost_twice),
        cmocka_unit_test(late_result_is_dropped),
        cmocka_unit_test(lease_runs_out),
        cmocka_unit_test(returned),
        cmocka_unit_test(returned_gets_another_token),
        cmocka_unit_test(result_of_earlier_lease),
        cmocka_unit_test(lease_of_second_trial),
        cmocka_unit_test(reconnected_runner),
        cmocka_unit_test(restarted_runner),
        cmocka_unit_test(name_in_use),
        cmocka_unit_test(two_in_flight),
        cmocka_unit_test(turns),
        cmocka_unit_test(one_device),
        cmocka_unit_test(draining_and_devices),
    };
    return cmocka_run_group_tests_name("farm/tracker", tests, NULL, NULL);
}
