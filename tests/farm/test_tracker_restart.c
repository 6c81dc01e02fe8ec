/* tests/farm/test_tracker_restart.c - a tracker that is killed and comes back, with and without its
 * state; the store itself.
 */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/farm/tracker_world.h"
#include "tests/support/hone_test.h"

static char *dir, *store_path;

static int make_dir(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-tracker", &dir));
    store_path = hone_path_join(dir, "state.db");
    return store_path ? 0 : -1;
}

static int remove_dir(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_free(store_path);
    return 0;
}

static hone_farm_held held_of(const hone_farm_assign *a, hone_farm_held_state state) {
    return (hone_farm_held){a->token, a->tuner, a->trial, a->slot, state};
}

static void hello_again(farm_peer *peer, hone_farm_message hello) {
    int64_t end_ns = hone_clock_now(&peer->world->clock.clock) + 20 * HONE_NS_PER_S;
    while (!peer->link && hone_clock_now(&peer->world->clock.clock) < end_ns)
        farm_run(peer->world, 10 * HONE_NS_PER_MS);
    farm_send(peer, &hello);
    farm_expect(peer, HONE_FARM_WELCOME);
}

static void runner_back(farm_peer *runner, const hone_farm_held *held, size_t count) {
    hone_farm_held copy[4];
    if (count) memcpy(copy, held, count * sizeof *held);
    hone_farm_message hello = farm_hello_runner(2, "board", "pi4", 1);
    hello.u.hello.held = (hone_farm_helds){count, copy};
    hello_again(runner, hello);
}

/* Three trials: one has a result that was not acknowledged, one runs, one waits. */
typedef struct scene {
    farm_world w;
    farm_peer *tuner, *runner;
    hone_farm_assign one, two, three;
} scene;

static void begin(scene *s, bool with_state) {
    if (with_state) {
        farm_world_init_keys(&s->w, NULL, store_path);
    } else {
        farm_world_init(&s->w, 1, NULL);
    }
    s->tuner = farm_tuner(&s->w, 1, "alice");
    s->runner = farm_runner(&s->w, 2, "board", "pi4", 1);
    for (uint64_t i = 1; i <= 4; i++)
        farm_do_submit(s->tuner, i, "pi4");
    s->one = farm_take(s->runner);
    s->two = farm_take(s->runner);
    farm_answer(s->runner, &s->one, 11);
    farm_expect(s->tuner, HONE_FARM_OUTCOME); /* not acknowledged */
    s->three = farm_take(s->runner);
}

static void end(scene *s, bool with_state) {
    farm_world_deinit(&s->w);
    if (with_state) HONE_ASSERT_OK(hone_fs_remove_file(store_path));
}

/* Neither peer says more than that it is there: the state knows the rest. */
static void with_state(void **state) {
    (void)state;
    scene s;
    begin(&s, true);
    farm_tracker_restart(&s.w);
    hone_farm_held held[] = {held_of(&s.two, HONE_FARM_HELD_RUNNING),
                             held_of(&s.three, HONE_FARM_HELD_WAITING)};
    runner_back(s.runner, held, 2);
    hello_again(s.tuner, farm_hello_tuner(1, "alice"));
    hone_farm_outcome outcome = farm_expect_outcome(s.tuner, 1, HONE_FAILURE_NONE);
    assert_string_equal(outcome.runner, "board");
    farm_expect_none(s.runner, HONE_FARM_ASSIGN, 2 * HONE_NS_PER_S); /* nothing is run twice */
    farm_answer(s.runner, &s.two, 22);
    assert_int_equal(farm_expect_outcome(s.tuner, 2, HONE_FAILURE_NONE).losses, 0);
    hone_farm_assign four = farm_take(s.runner); /* the same tuner, the same lease */
    assert_int_equal(four.trial, 4);
    assert_int_equal(four.token, s.three.token);
    farm_answer(s.runner, &s.three, 33);
    farm_expect_outcome(s.tuner, 3, HONE_FAILURE_NONE);
    farm_answer(s.runner, &four, 44);
    farm_expect_outcome(s.tuner, 4, HONE_FAILURE_NONE);
    farm_do_submit(s.tuner, 5, "pi4");
    assert_true(farm_take(s.runner).token > s.three.token);
    end(&s, true);
}

static hone_farm_assign run_one(farm_peer *tuner, farm_peer *runner, uint64_t trial) {
    farm_do_submit(tuner, trial, "pi4");
    hone_farm_assign assign = farm_take(runner);
    farm_answer(runner, &assign, 1);
    farm_expect_outcome(tuner, trial, HONE_FAILURE_NONE);
    return assign;
}

/* Tokens are written down in blocks: also the first one behind a block is given once only. */
static void tokens_after_a_block(void **state) {
    enum { BLOCK = 1024 };
    (void)state;
    farm_world w;
    farm_world_init_keys(&w, NULL, store_path);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "board", "pi4", 1);
    uint64_t number = 1, first = run_one(tuner, runner, number).token, last = first;
    while (last < first + BLOCK)
        last = run_one(tuner, runner, ++number).token;
    farm_tracker_restart(&w);
    runner_back(runner, NULL, 0);
    hello_again(tuner, farm_hello_tuner(1, "alice"));
    assert_true(run_one(tuner, runner, ++number).token > last);
    farm_world_deinit(&w);
    HONE_ASSERT_OK(hone_fs_remove_file(store_path));
}

static void with_state_and_lost_runner(void **state) {
    (void)state;
    scene s;
    begin(&s, true);
    farm_disconnect(s.runner);
    farm_tracker_restart(&s.w);
    hello_again(s.tuner, farm_hello_tuner(1, "alice"));
    farm_expect_outcome(s.tuner, 1, HONE_FAILURE_NONE);
    farm_peer *other = farm_runner(&s.w, 9, "other", "pi4", 1);
    hone_farm_assign again = farm_take(other); /* the others' runner may come back yet */
    assert_int_equal(again.trial, 4);
    farm_answer(other, &again, 44);
    farm_expect_outcome(s.tuner, 4, HONE_FAILURE_NONE);
    again = farm_take(other);
    assert_int_equal(again.trial, 2);
    assert_int_equal(again.losses, 1);
    assert_true(again.token > s.three.token);
    assert_int_equal(farm_take(other).trial, 3);
    end(&s, true);
}

static void with_state_and_lost_tuner(void **state) {
    (void)state;
    scene s;
    begin(&s, true);
    farm_disconnect(s.tuner);
    farm_disconnect(s.runner);
    farm_tracker_restart(&s.w);
    assert_int_equal(hone_tracker_get_stats(s.w.tracker).tuners, 1);
    farm_run(&s.w, 70 * HONE_NS_PER_S);
    hone_tracker_stats stats = hone_tracker_get_stats(s.w.tracker);
    assert_int_equal(stats.tuners, 0);
    assert_int_equal(stats.waiting + stats.running, 0);
    farm_tracker_restart(&s.w); /* and it is gone from the state as well */
    assert_int_equal(hone_tracker_get_stats(s.w.tracker).tuners, 0);
    end(&s, true);
}

/* The runner says what it holds, the tuner submits all that has no outcome. */
static void without_state(void **state) {
    (void)state;
    scene s;
    begin(&s, false);
    farm_tracker_restart(&s.w);
    hone_farm_held held[] = {held_of(&s.two, HONE_FARM_HELD_RUNNING),
                             held_of(&s.three, HONE_FARM_HELD_WAITING)};
    runner_back(s.runner, held, 2);
    farm_expect_none(s.runner, HONE_FARM_ABORT, HONE_NS_PER_S);
    farm_answer(s.runner, &s.two, 22); /* before its tuner is back */
    hello_again(s.tuner, farm_hello_tuner(1, "alice"));
    farm_expect_outcome(s.tuner, 2, HONE_FAILURE_NONE);
    farm_do_submit(s.tuner, 3, "pi4");
    farm_do_submit(s.tuner, 4, "pi4");
    farm_answer(s.runner, &s.three, 33); /* ran already */
    farm_expect_outcome(s.tuner, 3, HONE_FAILURE_NONE);
    assert_int_equal(farm_take(s.runner).trial, 4);
    assert_int_equal(hone_tracker_get_stats(s.w.tracker).requeued, 0);
    end(&s, false);
}

static void without_state_tuner_first(void **state) {
    (void)state;
    scene s;
    begin(&s, false);
    farm_tracker_restart(&s.w);
    hello_again(s.tuner, farm_hello_tuner(1, "alice"));
    for (uint64_t i = 2; i <= 4; i++)
        farm_do_submit(s.tuner, i, "pi4");
    hone_farm_held held = held_of(&s.two, HONE_FARM_HELD_RUNNING);
    runner_back(s.runner, &held, 1);
    farm_expect_none(s.runner, HONE_FARM_ASSIGN, HONE_NS_PER_S); /* not behind the one it holds */
    farm_answer(s.runner, &s.two, 22);
    farm_expect_outcome(s.tuner, 2, HONE_FAILURE_NONE);
    hone_farm_assign next = farm_take(s.runner);
    assert_int_equal(next.trial, 3);
    assert_true(next.token > s.three.token);
    end(&s, false);
}

static void give_back(farm_peer *runner, const hone_farm_assign *assign) {
    hone_farm_message m = {.kind = HONE_FARM_RETURNED, .id = 1};
    m.u.returned.token = assign->token;
    m.u.returned.tuner = assign->tuner;
    m.u.returned.trial = assign->trial;
    farm_send(runner, &m);
    farm_expect(runner, HONE_FARM_RESULT_ACK);
}

/* What the runner gives back before its tuner is there comes again under a larger token: that of
 * the other slot's lease may be smaller than the one it had. */
static void without_state_given_back(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "board", "pi4", 2);
    farm_do_submit(tuner, 1, "pi4");
    hone_farm_assign one = farm_take(runner);
    farm_do_submit(tuner, 2, "pi4");
    hone_farm_assign two = farm_take(runner);
    assert_true(two.token > one.token);
    farm_tracker_restart(&w);
    hone_farm_held held[] = {held_of(&one, HONE_FARM_HELD_RUNNING),
                             held_of(&two, HONE_FARM_HELD_WAITING)};
    hone_farm_message hello = farm_hello_runner(2, "board", "pi4", 2);
    hello.u.hello.held = (hone_farm_helds){2, held};
    hello_again(runner, hello);
    give_back(runner, &two);
    hello_again(tuner, farm_hello_tuner(1, "alice"));
    farm_do_submit(tuner, 1, "pi4");
    farm_do_submit(tuner, 2, "pi4");
    hone_farm_assign again = farm_take(runner);
    assert_int_equal(again.trial, 2);
    assert_true(again.token > two.token);
    farm_world_deinit(&w);
}

/* A trial for one device waits for its runner, which is back a little later than its tuner. */
static void device_comes_back(void **state) {
    (void)state;
    scene s;
    begin(&s, false);
    farm_disconnect(s.runner);
    farm_tracker_restart(&s.w);
    hello_again(s.tuner, farm_hello_tuner(1, "alice"));
    hone_farm_message m = farm_submit(9, "pi4");
    hone_farm_set_text(m.u.submit.device, sizeof m.u.submit.device, "board/0");
    farm_send(s.tuner, &m);
    farm_expect_none(s.tuner, HONE_FARM_OUTCOME, 2 * HONE_NS_PER_S);
    farm_peer *board = farm_runner(&s.w, 12, "board", "pi4", 1);
    assert_int_equal(farm_take(board).trial, 9);
    end(&s, false);
}

/* A tracker that cannot write its state ends, and has promised nothing that is not in it. */
static void full_disk(void **state) {
    (void)state;
    scene s;
    begin(&s, true);
    struct rlimit limit, old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 1024;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    hone_vec_clear(&s.tuner->inbox);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    hone_farm_message m = farm_submit(5, "pi4");
    farm_send(s.tuner, &m);
    hone_status st = hone_tracker_step(s.w.tracker);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, before);
    HONE_ASSERT_ERROR(st, HONE_CODE_IO, "state.db: cannot write");
    farm_tracker_stop(&s.w);
    farm_run(&s.w, HONE_NS_PER_S);
    for (size_t i = 0; i < s.tuner->inbox.count; i++)
        assert_int_not_equal(s.tuner->inbox.data[i].kind, HONE_FARM_ACCEPTED);
    farm_tracker_start(&s.w); /* there is room again */
    hello_again(s.tuner, farm_hello_tuner(1, "alice"));
    farm_expect_outcome(s.tuner, 1, HONE_FAILURE_NONE);
    farm_do_submit(s.tuner, 5, "pi4");
    end(&s, true);
}

/* A runner cannot claim what it was never given: a token from nowhere, or of a trial that is under
 * way elsewhere. */
static void claims_are_checked(void **state) {
    (void)state;
    scene s;
    begin(&s, false);
    farm_peer *liar = farm_connect(&s.w, NULL);
    hone_farm_held held[] = {
        {1,          s.two.tuner,       2, 0, HONE_FARM_HELD_RUNNING}, /* is on the other one */
        {UINT64_MAX, s.two.tuner,       4, 0, HONE_FARM_HELD_RUNNING}, /* the future */
        {1,          farm_instance(77), 5, 7, HONE_FARM_HELD_RUNNING}, /* no such slot */
    };
    hone_farm_message hello = farm_hello_runner(5, "liar", "pi5", 1);
    hello.u.hello.held = (hone_farm_helds){3, held};
    hello_again(liar, hello);
    for (int i = 0; i < 3; i++)
        farm_expect(liar, HONE_FARM_ABORT);
    hone_farm_assign forged = s.two;
    forged.token = 1;
    farm_answer(liar, &forged, 1);
    farm_expect_none(s.tuner, HONE_FARM_OUTCOME, HONE_NS_PER_S / 8);
    assert_int_equal(hone_tracker_get_stats(s.w.tracker).duplicates, 1);
    assert_int_equal(hone_tracker_get_stats(s.w.tracker).tuners, 1);
    end(&s, false);
}

/* ---- the store ---- */

static hone_status count_row(void *ctx, const hone_farm_stored_trial *trial) {
    (void)trial;
    (*(int *)ctx)++;
    return HONE_OK;
}

static void only_commits_last(void **state) {
    (void)state;
    hone_farm_store *store;
    static const uint8_t bytes[] = {1, 2, 3};
    HONE_ASSERT_OK(hone_farm_store_open(store_path, &store));
    hone_farm_stored_tuner tuner = {
        {1, 2},
        "", "alice"
    };
    hone_farm_stored_trial trial = {
        .tuner = {1,     2},
          .trial = UINT64_MAX, .submit = {bytes, 3}
    };
    HONE_ASSERT_OK(hone_farm_store_put_tuner(store, &tuner));
    HONE_ASSERT_OK(hone_farm_store_put_trial(store, &trial));
    HONE_ASSERT_OK(hone_farm_store_put_token(store, UINT64_MAX));
    HONE_ASSERT_OK(hone_farm_store_commit(store));
    trial.trial = 5;
    HONE_ASSERT_OK(hone_farm_store_put_trial(store, &trial));
    hone_farm_store_close(store);
    HONE_ASSERT_OK(hone_farm_store_open(store_path, &store));
    int rows = 0;
    uint64_t token;
    HONE_ASSERT_OK(hone_farm_store_trials(store, count_row, &rows));
    HONE_ASSERT_OK(hone_farm_store_get_token(store, &token));
    hone_farm_store *second;
    HONE_ASSERT_ERROR(hone_farm_store_open(store_path, &second), HONE_CODE_UNAVAILABLE,
                      "another tracker");
    hone_farm_store_close(store);
    HONE_ASSERT_OK(hone_fs_remove_file(store_path));
    assert_int_equal(rows, 1);
    assert_true(token == UINT64_MAX);
}

static void other_files_are_refused(void **state) {
    (void)state;
    hone_farm_store *store;
    HONE_ASSERT_OK(hone_fs_write_atomic(store_path, "no database at all, just text", 29));
    HONE_ASSERT_CODE(hone_farm_store_open(store_path, &store), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_fs_remove_file(store_path));
    HONE_ASSERT_CODE(hone_farm_store_open("/nowhere/at/all", &store), HONE_CODE_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_state),
        cmocka_unit_test(tokens_after_a_block),
        cmocka_unit_test(with_state_and_lost_runner),
        cmocka_unit_test(with_state_and_lost_tuner),
        cmocka_unit_test(without_state),
        cmocka_unit_test(without_state_tuner_first),
        cmocka_unit_test(without_state_given_back),
        cmocka_unit_test(device_comes_back),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(claims_are_checked),
        cmocka_unit_test(only_commits_last),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests_name("farm/tracker_restart", tests, make_dir, remove_dir);
}
