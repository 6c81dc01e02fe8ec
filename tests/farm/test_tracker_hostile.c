/* tests/farm/test_tracker_hostile.c - nothing that a peer sends harms the tracker or the others. */

#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "tests/farm/tracker_world.h"
#include "tests/measure/farm_samples.h"
#include "tests/support/hone_test.h"

/* A trial goes through though somebody has sent whatever he likes. */
static void still_works(farm_world *w, farm_peer *tuner, farm_peer *runner, uint64_t trial) {
    hone_vec_clear(&tuner->inbox);
    hone_vec_clear(&runner->inbox);
    farm_do_submit(tuner, trial, "good");
    hone_farm_assign assign = farm_take(runner);
    farm_answer(runner, &assign, 1);
    farm_expect_outcome(tuner, trial, HONE_FAILURE_NONE);
    farm_run(w, HONE_NS_PER_MS);
}

static void frames_of_all_sorts(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "good", 1);
    farm_peer *bad = farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    static const struct {
        const char *bytes;
        size_t count;
    } frames[] = {
        {"\0",                                                   1 },
        {"\xff",                                                 1 },
        {"GET / HTTP/1.1\r\n\r\n",                               18},
        {"\xa0",                                                 1 },
        {"\xa2\x00\x01\x01\x05",                                 5 }, /* an empty HELLO */
        {"\xa2\x00\x18\xc8\x01\x05",                             6 }, /* kind 200 */
        {"\xa2\x00\x00\x01\x05",                                 5 }, /* kind 0 */
        {"\xbb\xff\xff\xff\xff\xff\xff\xff\xff",                 9 },
        {"\xa2\x00\x07\x05\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 13}, /* a request of 2^64 bytes */
        {"\xa3\x00\x07\x05\x41\x01\x05\x41\x01",                 9 }, /* a key twice */
    };
    for (size_t i = 0; i < HONE_COUNT(frames); i++) {
        farm_send_bytes(bad, frames[i].bytes, frames[i].count);
        farm_expect_refused(bad, HONE_FARM_REFUSAL_MALFORMED, "");
    }
    still_works(&w, tuner, runner, 1);
    char *large = hone_calloc(1, HONE_FARM_MAX_FRAME + 1);
    assert_non_null(large);
    farm_send_bytes(bad, large, HONE_FARM_MAX_FRAME);
    farm_expect_refused(bad, HONE_FARM_REFUSAL_MALFORMED, "");
    hone_status_free(hone_net_send(bad->net, bad->link, large, HONE_FARM_MAX_FRAME + 1));
    hone_free(large);
    farm_run(&w, HONE_NS_PER_S);
    still_works(&w, tuner, runner, 2);
    farm_world_deinit(&w);
}

/* Every message with random changes, from every kind of peer, in any order. */
static void mutated_messages(void **state) {
    (void)state;
    farm_world w;
    hone_tracker_options o = {.max_frames_per_s = 1000000};
    farm_world_init(&w, 1, &o);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "good", 1);
    farm_peer *bad[3] = {farm_tuner(&w, 11, "bad"), farm_runner(&w, 12, "bad", "bad", 2),
                         farm_connect(&w, NULL)};
    hone_rng rng = hone_test_rng(5);
    hone_str frame = {0};
    for (int round = 0; round < 40000; round++) {
        farm_peer *peer = bad[hone_rng_below(&rng, 3)];
        hone_farm_message m =
            farm_sample((hone_farm_kind)(1 + hone_rng_below(&rng, HONE_FARM_KIND_LIMIT - 1)));
        if (m.kind == HONE_FARM_BYE && round % 50) m = farm_plain(HONE_FARM_PING);
        if (m.kind == HONE_FARM_KICK || m.kind == HONE_FARM_DRAIN) continue; /* it is insecure */
        hone_str_clear(&frame);
        HONE_ASSERT_OK(hone_farm_encode(&m, &frame));
        for (uint64_t k = hone_rng_below(&rng, 4); k; k--)
            frame.data[hone_rng_below(&rng, frame.length)] = (char)hone_rng_next(&rng);
        if (hone_rng_below(&rng, 16) == 0) frame.length = 1 + hone_rng_below(&rng, frame.length);
        farm_send_bytes(peer, frame.data, frame.length);
        if (round % 20 == 0) farm_run(&w, HONE_NS_PER_MS);
        if (round % 200 == 0) {
            for (int i = 0; i < 3; i++) { /* they come back when they were thrown out */
                hone_farm_message hello = i == 1 ? farm_hello_runner(12, "bad", "bad", 2)
                                                 : farm_hello_tuner(11 + (uint64_t)i, "bad");
                hone_vec_clear(&bad[i]->inbox);
                farm_send(bad[i], &hello);
            }
            farm_run(&w, HONE_NS_PER_S / 4);
        }
        if (round % 10000 == 0) still_works(&w, tuner, runner, (uint64_t)round);
    }
    still_works(&w, tuner, runner, 99999);
    assert_true(hone_tracker_get_stats(w.tracker).refused > 1000);
    hone_str_deinit(&frame);
    farm_world_deinit(&w);
}

static void lying_results(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "good", 1);
    farm_do_submit(tuner, 1, "good");
    for (int i = 0; i < 2; i++) { /* bytes that are no result: it is run again */
        hone_farm_assign assign = farm_take(runner);
        assert_int_equal(assign.losses, 0);
        hone_farm_message m = farm_result(&assign, 1);
        /* the size of the outputs is a lie */
        static const uint8_t bytes[] = {0xa1, 17, 0x5a, 0x00, 0x01, 0x00, 0x00, 1};
        m.u.result.result = (hone_farm_bytes){bytes, sizeof bytes};
        farm_send(runner, &m);
        farm_expect(runner, HONE_FARM_RESULT_ACK); /* or it would come again and again */
    }
    hone_farm_assign again = farm_take(runner);
    farm_answer(runner, &again, 1);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE);
    /* a frame that says that it has more result than it has is no frame */
    farm_do_submit(tuner, 2, "good");
    hone_farm_assign assign = farm_take(runner);
    hone_farm_message m = farm_result(&assign, 1);
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(&m, &frame));
    farm_send_bytes(runner, frame.data, frame.length - 1);
    hone_str_deinit(&frame);
    hone_farm_message no = farm_expect_refused(runner, HONE_FARM_REFUSAL_MALFORMED, "too early");
    assert_int_equal(no.u.refused.about, HONE_FARM_RESULT);
    farm_answer(runner, &assign, 1);
    farm_expect_outcome(tuner, 2, HONE_FAILURE_NONE);
    /* a result for a slot that another runner has */
    farm_peer *other = farm_runner(&w, 3, "two", "other", 1);
    farm_do_submit(tuner, 3, "good");
    assign = farm_take(runner);
    farm_answer(other, &assign, 666);
    farm_expect_none(tuner, HONE_FARM_OUTCOME, HONE_NS_PER_S);
    farm_answer(runner, &assign, 1);
    farm_expect_outcome(tuner, 3, HONE_FAILURE_NONE);
    farm_world_deinit(&w);
}

/* Who sends too much is not read further, and the others do not notice. */
static void floods(void **state) {
    (void)state;
    farm_world w;
    hone_tracker_options o = {.max_frames_per_s = 500};
    farm_world_init(&w, 1, &o);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "good", 1);
    farm_peer *flood = farm_tuner(&w, 3, "flood");
    hone_farm_message ping = farm_plain(HONE_FARM_PING);
    for (int i = 0; i < 3000; i++) {
        farm_send(flood, &ping);
        if (i % 50 == 0) farm_run(&w, HONE_NS_PER_MS);
    }
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_true(stats.throttled >= 1500);
    still_works(&w, tuner, runner, 1);
    farm_run(&w, 3 * HONE_NS_PER_S); /* forgiven */
    hone_vec_clear(&flood->inbox);
    farm_send(flood, &ping);
    farm_expect(flood, HONE_FARM_PONG);
    farm_world_deinit(&w);
}

/* Connections that never say who they are, and wants that nobody asked for, cost little and end. */
static void loiterers(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "good", 1);
    for (int i = 0; i < 50; i++)
        farm_connect(&w, NULL);
    farm_run(&w, HONE_NS_PER_S);
    hone_farm_message ping = farm_plain(HONE_FARM_PING);
    for (size_t i = 2; i < w.peers.count; i++)
        farm_send(w.peers.data[i], &ping);
    farm_run(&w, HONE_NS_PER_MS);
    assert_int_equal(hone_tracker_get_stats(w.tracker).peers, 52);
    farm_run(&w, FARM_EXPIRY_NS + HONE_NS_PER_S / 2);
    assert_int_equal(hone_tracker_get_stats(w.tracker).peers, 2);
    still_works(&w, tuner, runner, 1);
    farm_world_deinit(&w);
}

/* The n-th allocation fails, for many n: a frame is dropped, nothing else. */
static void out_of_memory(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 60; n++) {
        farm_world w;
        farm_world_init(&w, 1, NULL);
        farm_peer *tuner = farm_tuner(&w, 1, "alice");
        farm_peer *runner = farm_runner(&w, 2, "one", "good", 1);
        hone_farm_message m = farm_submit(1, "good");
        farm_send(tuner, &m);
        hone_alloc_fail_nth(n, false);
        hone_status st = hone_tracker_step(w.tracker);
        hone_alloc_fail_nth(0, false);
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_OK || code == HONE_CODE_NO_MEMORY);
        farm_run(&w, HONE_NS_PER_MS);
        farm_send(tuner, &m); /* as it would be repeated */
        hone_farm_assign assign = farm_take(runner);
        farm_answer(runner, &assign, 1);
        farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE);
        farm_world_deinit(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_all_sorts), cmocka_unit_test(mutated_messages),
        cmocka_unit_test(lying_results),       cmocka_unit_test(floods),
        cmocka_unit_test(loiterers),           cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests_name("farm/tracker_hostile", tests, NULL, NULL);
}
