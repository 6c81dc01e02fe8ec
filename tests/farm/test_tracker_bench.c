/* tests/farm/test_tracker_bench.c - results that cannot be, slots that err, runners that say
 * nothing, and targets.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/wire.h"
#include "tests/farm/tracker_world.h"
#include "tests/support/hone_test.h"

static farm_peer *join(farm_world *w, uint64_t instance, const char *name, const char *target) {
    farm_peer *runner = farm_connect(w, NULL);
    hone_farm_message hello = farm_hello_runner(instance, name, "pi4", 1);
    hone_farm_set_text(hello.u.hello.slots.items[0].target, HONE_FARM_TARGET_BYTES, target);
    runner->beats = true;
    farm_run(w, HONE_NS_PER_S);
    farm_send(runner, &hello);
    farm_expect(runner, HONE_FARM_WELCOME);
    return runner;
}

static void submit(farm_peer *tuner, uint64_t trial, const char *target) {
    hone_farm_message m = farm_submit(trial, "pi4");
    m.u.submit.wants_time = true;
    hone_farm_set_text(m.u.submit.target, sizeof m.u.submit.target, target);
    farm_send(tuner, &m);
    farm_expect(tuner, HONE_FARM_ACCEPTED);
}

/* RESULT with a result of one's own. */
static void answer(farm_peer *runner, const hone_farm_assign *assign, const hone_run_result *r) {
    hone_farm_message m = farm_plain(HONE_FARM_RESULT);
    hone_str bytes = {0};
    HONE_ASSERT_OK(hone_run_result_encode(r, &bytes));
    m.u.result = (hone_farm_result){
        assign->token, assign->tuner, assign->trial, {(const uint8_t *)bytes.data, bytes.length}
    };
    farm_send(runner, &m);
    hone_str_deinit(&bytes);
    farm_expect(runner, HONE_FARM_RESULT_ACK);
}

static hone_run_result result_of(hone_failure failure, int32_t samples, double ns) {
    hone_run_result r;
    hone_run_result_init(&r);
    r.failure = failure;
    r.sample_count = samples;
    for (int32_t i = 0; i < samples; i++)
        r.samples_ns[i] = ns;
    return r;
}

static hone_farm_status_slot status_of(farm_peer *tuner, size_t row) {
    hone_farm_message ask = farm_plain(HONE_FARM_STATUS);
    farm_send(tuner, &ask);
    hone_farm_status_table table = farm_expect(tuner, HONE_FARM_STATUS_TABLE).u.status_table;
    assert_true(row < table.slots.count);
    return table.slots.items[row];
}

static const struct impossible {
    const char *name;
    hone_failure failure;
    int32_t samples;
    double ns;
} impossible[] = {
    {"no time at all",           HONE_FAILURE_NONE,          0, 0       },
    {"a time of nothing",        HONE_FAILURE_NONE,          3, 0       },
    {"a time of almost nothing", HONE_FAILURE_NONE,          3, 1e-300  },
    {"a time without an end",    HONE_FAILURE_NONE,          3, INFINITY},
    {"nobody cancelled it",      HONE_FAILURE_CANCELLED,     0, 0       },
    {"the device's own trouble", HONE_FAILURE_DEVICE_LOST,   0, 0       },
    {"the machine's",            HONE_FAILURE_MACHINE_ERROR, 0, 0       },
};

/* The trial is run by somebody else, though the one that erred is the one that is free. */
static void somebody_else_runs_it(void **state) {
    const struct impossible *row = *state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *bad = join(&w, 2, "bad", "llvm");
    submit(tuner, 7, "");
    hone_farm_assign assign = farm_take(bad);
    farm_peer *good = join(&w, 3, "good", "llvm");
    hone_run_result r = result_of(row->failure, row->samples, row->ns);
    answer(bad, &assign, &r);
    hone_farm_assign again = farm_take(good);
    assert_int_equal(again.trial, 7);
    assert_int_equal(again.losses, 0);
    farm_answer(good, &again, 1500);
    hone_farm_outcome outcome = farm_expect_outcome(tuner, 7, HONE_FAILURE_NONE);
    assert_string_equal(outcome.runner, "good");
    assert_int_equal(hone_tracker_get_stats(w.tracker).errors, 1);
    farm_world_deinit(&w);
}

/* Both are busy or held when it comes back: it still does not return to where it failed. */
static void never_back_to_the_same(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *bad = join(&w, 2, "bad", "llvm");
    submit(tuner, 1, "");
    hone_farm_assign assign = farm_take(bad);
    farm_peer *good = join(&w, 3, "good", "llvm");
    submit(tuner, 2, "");
    hone_farm_assign busy = farm_take(good);
    submit(tuner, 3, "");
    submit(tuner, 4, "");
    farm_run(&w, HONE_NS_PER_S / 2);
    hone_run_result r = result_of(HONE_FAILURE_NONE, 1, 0);
    answer(bad, &assign, &r);
    hone_vec_clear(&bad->inbox);
    farm_run(&w, 3 * FARM_HEARTBEAT_NS); /* longer than the slot is held */
    for (size_t i = 0; i < bad->inbox.count; i++) {
        const hone_farm_message *m = &bad->inbox.data[i];
        if (m->kind == HONE_FARM_ASSIGN) assert_int_not_equal(m->u.assign.trial, 1);
    }
    farm_answer(good, &busy, 2);
    for (int seen = 0; !seen;) {
        hone_farm_assign next = farm_take(good);
        seen = next.trial == 1;
        farm_answer(good, &next, 2);
    }
    farm_world_deinit(&w);
}

/* Three errors in a row: it gets nothing, everybody is told why, and later it is tried with one
 * trial. */
static void benched_and_probed(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *bad = join(&w, 2, "bad", "llvm");
    hone_farm_message devices = farm_plain(HONE_FARM_DEVICES);
    farm_send(tuner, &devices);
    farm_expect(tuner, HONE_FARM_DEVICE_LIST);
    submit(tuner, 1, "");
    submit(tuner, 2, "");
    hone_run_result r = result_of(HONE_FAILURE_DEVICE_LOST, 0, 0);
    snprintf(r.message, sizeof r.message, "no space left on device");
    hone_farm_assign assign = farm_take(bad), second = farm_take(bad);
    answer(bad, &assign, &r);
    answer(bad, &second, &r);
    assign = farm_take(bad);
    farm_expect_none(bad, HONE_FARM_ASSIGN, HONE_NS_PER_S); /* one at a time now */
    assert_string_equal(status_of(tuner, 0).trouble, "");
    answer(bad, &assign, &r);
    hone_farm_status_slot row = status_of(tuner, 0);
    assert_string_equal(row.trouble, "no space left on device");
    assert_int_equal(row.errors, 3);
    assert_int_equal(row.state, HONE_FARM_SLOT_DRAINING);
    farm_expect_none(bad, HONE_FARM_ASSIGN, 4 * FARM_HEARTBEAT_NS);
    assign = farm_take(bad); /* probed */
    assert_string_equal(status_of(tuner, 0).trouble, "");
    answer(bad, &assign, &r);
    farm_expect_none(bad, HONE_FARM_ASSIGN, 9 * FARM_HEARTBEAT_NS); /* longer than before */
    assign = farm_take(bad);
    farm_expect_none(bad, HONE_FARM_ASSIGN, HONE_NS_PER_S);
    farm_answer(bad, &assign, 1500); /* mended */
    farm_expect(tuner, HONE_FARM_OUTCOME);
    submit(tuner, 3, "");
    assert_int_equal(farm_take(bad).token, farm_take(bad).token);
    assert_int_equal(status_of(tuner, 0).errors, 4);
    assert_int_equal(hone_tracker_get_stats(w.tracker).lost, 0);
    farm_world_deinit(&w);
}

/* Nobody can run it: in the end it is lost, and it is said why. */
static void not_for_ever(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *bad = join(&w, 2, "bad", "llvm");
    submit(tuner, 1, "");
    hone_run_result r = result_of(HONE_FAILURE_NONE, 0, 0);
    for (int i = 0; i < 8; i++) {
        for (int s = 0; s < 300 && !bad->inbox.count;
             s++) /* pauses are longer than anybody waits */
            farm_run(&w, HONE_NS_PER_S);
        hone_farm_assign assign = farm_take(bad);
        answer(bad, &assign, &r);
    }
    hone_farm_outcome outcome = farm_expect_outcome(tuner, 1, HONE_FAILURE_DEVICE_LOST);
    hone_run_result lost;
    HONE_ASSERT_OK(hone_run_result_decode(outcome.result.data, outcome.result.count, &lost));
    assert_non_null(strstr(lost.message, "a success without a time"));
    farm_world_deinit(&w);
}

/* A runner knows by itself that it cannot work, and says so until it can. */
static void benched_by_its_own_word(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_connect(&w, NULL);
    hone_farm_message hello = farm_hello_runner(2, "board", "pi4", 2);
    hone_farm_bench bench = {0, "the executor did not start"};
    hello.u.hello.benched = (hone_farm_benches){1, &bench};
    farm_run(&w, HONE_NS_PER_S);
    farm_send(runner, &hello);
    farm_expect(runner, HONE_FARM_WELCOME);
    submit(tuner, 1, "");
    assert_int_equal(farm_take(runner).slot, 1);
    assert_string_equal(status_of(tuner, 0).trouble, "the executor did not start");
    hone_farm_message ping = farm_plain(HONE_FARM_PING);
    bench.slot = 1;
    ping.u.ping.benched = hello.u.hello.benched;
    farm_send(runner, &ping);
    farm_expect(runner, HONE_FARM_PONG);
    submit(tuner, 2, "");
    assert_int_equal(farm_take(runner).slot, 0);
    assert_string_equal(status_of(tuner, 0).trouble, "");
    assert_string_equal(status_of(tuner, 1).trouble, "the executor did not start");
    farm_world_deinit(&w);
}

/* Four runners, one of which says nothing any more: the others get what it has, soon. */
static void silent_runner(void **state) {
    bool is_cut = *(const bool *)*state; /* its connection ends, or it only freezes */
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *dead = join(&w, 2, "dead", "llvm");
    submit(tuner, 1, "");
    submit(tuner, 2, "");
    farm_take(dead);
    farm_take(dead);
    farm_peer *idle = join(&w, 3, "idle", "llvm");
    if (is_cut) hone_simnet_break(w.simnet, dead->net);
    hone_simnet_cut(w.simnet, dead->net, true);
    int64_t start_ns = hone_clock_now(&w.clock.clock);
    hone_farm_assign first = farm_take(idle), second = farm_take(idle);
    assert_true(hone_clock_now(&w.clock.clock) - start_ns < 2 * FARM_HEARTBEAT_NS);
    assert_int_equal(first.trial, 1);
    assert_int_equal(second.trial, 2);
    farm_run(&w, 3 * FARM_HEARTBEAT_NS); /* it is lost, and that is counted now */
    farm_answer(idle, &first, 1500);
    assert_int_equal(farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE).losses, 1);
    farm_answer(idle, &second, 1500);
    assert_int_equal(farm_expect_outcome(tuner, 2, HONE_FAILURE_NONE).losses, 0);
    farm_world_deinit(&w);
}

/* ---- one of four is dead ---- */

enum { RUNNERS = 4, AHEAD = 10, TRIALS = 160 };
#define TRIAL_NS (HONE_NS_PER_S / 10)

/* A runner that takes so long for a trial, one after the other. */
typedef struct worker {
    farm_peer *peer;
    bool is_dead;
    hone_farm_assign work[AHEAD];
    size_t count;
    int64_t ready_ns; /* with the first one */
} worker;

/* A trial may be assigned again under another token. */
static bool has(const worker *k, const hone_farm_assign *assign) {
    bool is_known = false;
    for (size_t i = 0; i < k->count; i++)
        is_known |= k->work[i].trial == assign->trial && k->work[i].token == assign->token;
    return is_known;
}

static void take_new(worker *k, int64_t now_ns) {
    for (size_t i = 0; i < k->peer->inbox.count; i++) {
        const hone_farm_message *m = &k->peer->inbox.data[i];
        if (m->kind != HONE_FARM_ASSIGN) continue;
        if (has(k, &m->u.assign) || k->count == AHEAD) continue;
        if (k->count == 0) k->ready_ns = now_ns + TRIAL_NS;
        k->work[k->count++] = m->u.assign;
        hone_farm_message taken = farm_lease(HONE_FARM_TAKEN, &m->u.assign);
        farm_send(k->peer, &taken);
    }
    hone_vec_clear(&k->peer->inbox);
}

static void work_on(worker *k, int64_t now_ns) {
    if (k->is_dead) return;
    take_new(k, now_ns);
    if (!k->count || k->ready_ns > now_ns) return;
    hone_farm_message result = farm_result(&k->work[0], 1500);
    farm_send(k->peer, &result);
    k->count--;
    memmove(k->work, k->work + 1, k->count * sizeof *k->work);
    k->ready_ns = now_ns + TRIAL_NS;
}

/* A search looks ahead by so many: it proposes a trial when all up to AHEAD before it are done. */
typedef struct search {
    farm_peer *peer;
    uint64_t submitted;
    bool is_done[TRIALS + 1];
    size_t done;
    int64_t last_ns, longest_ns; /* without an outcome */
} search;

static uint64_t all_done_up_to(const search *s) {
    uint64_t trial = 0;
    while (trial < TRIALS && s->is_done[trial + 1])
        trial++;
    return trial;
}

static void go_on(search *s, int64_t now_ns) {
    for (size_t i = 0; i < s->peer->inbox.count; i++) {
        const hone_farm_message *m = &s->peer->inbox.data[i];
        if (m->kind != HONE_FARM_OUTCOME || s->is_done[m->u.outcome.trial]) continue;
        s->is_done[m->u.outcome.trial] = true;
        s->done++;
        if (now_ns - s->last_ns > s->longest_ns) s->longest_ns = now_ns - s->last_ns;
        s->last_ns = now_ns;
        farm_acknowledge(s->peer, m->u.outcome.trial);
    }
    hone_vec_clear(&s->peer->inbox);
    while (s->submitted < TRIALS && s->submitted < all_done_up_to(s) + AHEAD) {
        hone_farm_message m = farm_submit(++s->submitted, "pi4");
        farm_send(s->peer, &m);
    }
}

/* It dies with what it was given; the others and the search go on as if it had never been there. */
static void dead_of_four(void **state) {
    bool is_cut = *(const bool *)*state; /* its connection ends, or it only freezes */
    static const char *const names[RUNNERS] = {"a", "b", "c", "d"};
    farm_world w;
    worker workers[RUNNERS] = {{0}};
    farm_world_init(&w, 1, NULL);
    search s = {.peer = farm_tuner(&w, 1, "alice")};
    for (uint64_t i = 0; i < RUNNERS; i++)
        workers[i].peer = join(&w, 2 + i, names[i], "llvm");
    int64_t begin_ns = hone_clock_now(&w.clock.clock), now_ns = begin_ns;
    s.last_ns = begin_ns;
    while (s.done < TRIALS && now_ns - begin_ns < 60 * HONE_NS_PER_S) {
        if (s.done >= TRIALS / 4 && workers[0].count && !workers[0].is_dead) {
            workers[0].is_dead = true;
            if (is_cut) hone_simnet_break(w.simnet, workers[0].peer->net);
            hone_simnet_cut(w.simnet, workers[0].peer->net, true);
        }
        go_on(&s, now_ns);
        for (size_t i = 0; i < RUNNERS; i++)
            work_on(&workers[i], now_ns);
        farm_run(&w, TRIAL_NS / 10);
        now_ns = hone_clock_now(&w.clock.clock);
    }
    int64_t took_ns = now_ns - begin_ns;
    size_t done = s.done;
    farm_world_deinit(&w);
    assert_true(workers[0].is_dead);
    assert_int_equal(done, TRIALS);
    /* the frozen one is noticed within 3/4 of a heartbeat behind its last sign, of which there is
     * one each heartbeat */
    assert_in_range(s.longest_ns, 0, 2 * FARM_HEARTBEAT_NS);
    assert_in_range(took_ns, 0, TRIALS * TRIAL_NS / (RUNNERS - 1) + 4 * FARM_HEARTBEAT_NS);
}

/* What may bring down its runners is not passed through the farm: it moves once. */
static void moves_once(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *first = join(&w, 2, "first", "llvm");
    submit(tuner, 1, "");
    farm_take(first);
    farm_peer *second = join(&w, 3, "second", "llvm");
    farm_disconnect(first);
    farm_take(second);
    farm_peer *third = join(&w, 4, "third", "llvm");
    farm_disconnect(second);
    farm_expect_none(third, HONE_FARM_ASSIGN, FARM_EXPIRY_NS - HONE_NS_PER_S);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_DEVICE_LOST);
    farm_world_deinit(&w);
}

/* A board that comes back with another processor does not get what was built for the old one. */
static void target_is_part_of_a_lease(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    farm_peer *board = join(&w, 2, "board", "llvm -mcpu=cortex-a72");
    submit(tuner, 1, "llvm -mcpu=cortex-a72");
    submit(tuner, 2, "llvm -mcpu=cortex-a72");
    assert_int_equal(farm_take(board).trial, 1);
    farm_disconnect(board);
    farm_run(&w, 2 * FARM_EXPIRY_NS);
    board = join(&w, 3, "board", "llvm -mcpu=cortex-a53");
    farm_expect_none(board, HONE_FARM_ASSIGN, 5 * HONE_NS_PER_S);
    submit(tuner, 3, "llvm -mcpu=cortex-a53");
    assert_int_equal(farm_take(board).trial, 3);
    submit(tuner, 4, ""); /* of a tuner that does not say */
    assert_int_equal(farm_take(board).trial, 4);
    farm_peer *other = join(&w, 4, "other", "llvm -mcpu=cortex-a72");
    assert_int_equal(farm_take(other).trial, 1);
    assert_int_equal(farm_take(other).trial, 2);
    farm_world_deinit(&w);
}

int main(void) {
    static bool cut = true, frozen = false;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_back_to_the_same),
        cmocka_unit_test(benched_and_probed),
        cmocka_unit_test(not_for_ever),
        cmocka_unit_test(benched_by_its_own_word),
        {"silent: cut off",      silent_runner, NULL, NULL, &cut   },
        {"silent: frozen",       silent_runner, NULL, NULL, &frozen},
        {"one of four: cut off", dead_of_four,  NULL, NULL, &cut   },
        {"one of four: frozen",  dead_of_four,  NULL, NULL, &frozen},
        cmocka_unit_test(moves_once),
        cmocka_unit_test(target_is_part_of_a_lease),
    };
    int failed = HONE_RUN_ROWS("farm/tracker_bench: impossible", impossible, somebody_else_runs_it);
    return failed + cmocka_run_group_tests_name("farm/tracker_bench", tests, NULL, NULL);
}
