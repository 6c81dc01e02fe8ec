/* tests/runner/farm/test_daemon_leaving.c - a daemon that leaves, hears garbage, or lives in bad
 * weather. */
#include "tests/runner/farm/daemon_world.h"

#include "support/data/rng.h"
#include "tests/runner/farm/held_runner.h"

/* ---- leaving ---- */

static void leaves_in_order(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2});
    world_run_for(f, 10 * WORLD_MS);
    hone_daemon_stop(f->daemon, HONE_DAEMON_STOP);
    world_run_for(f, 1000 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_BYE), 0);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 100 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    assert_int_equal(world_count_heard(f, HONE_FARM_BYE), 1);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    assert_true(hone_daemon_is_over(f->daemon));
}

static void leaves_at_once(void **state) {
    daemon_world *f = *state;
    for (int is_urgent = 1; is_urgent >= 0; is_urgent--) {
        world_run_for(f, 10 * WORLD_MS);
        world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
        world_run_for(f, 10 * WORLD_MS);
        hone_daemon_stop(f->daemon, is_urgent ? HONE_DAEMON_NOW : HONE_DAEMON_STOP);
        world_run_for(f, is_urgent ? 10 * WORLD_MS : 20000 * WORLD_MS); /* patience has an end */
        assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
        assert_int_equal(world_count_heard(f, HONE_FARM_BYE), 1);
        assert_true(hone_daemon_is_over(f->daemon));
        hone_daemon_destroy(f->daemon);
        world_forget_heard(f);
        hone_net_destroy(f->client);
        world_connect(f);
        world_create_daemon(f);
    }
}

static void drains(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2});
    world_run_for(f, 10 * WORLD_MS);
    hone_daemon_stop(f->daemon, HONE_DAEMON_DRAIN);
    world_run_for(f, 100000 * WORLD_MS);
    assert_false(hone_daemon_is_over(f->daemon));
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 100 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    assert_true(hone_daemon_is_over(f->daemon));
}

/* A stop hurries a drain, and a drain does not slow a stop. */
static void hurries(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    hone_daemon_stop(f->daemon, HONE_DAEMON_DRAIN);
    hone_daemon_stop(f->daemon, HONE_DAEMON_STOP);
    hone_daemon_stop(f->daemon, HONE_DAEMON_DRAIN);
    world_run_for(f, 14000 * WORLD_MS);
    assert_false(hone_daemon_is_over(f->daemon));
    world_run_for(f, 6000 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
    assert_true(hone_daemon_is_over(f->daemon));
}

/* Idle is who has no trial: what runs long is no idleness, and its end begins the time anew. */
static void leaves_when_idle(void **state) {
    daemon_world *f = *state;
    f->idle_ns = 5000 * WORLD_MS;
    hone_daemon_destroy(f->daemon);
    world_create_daemon(f);
    world_run_for(f, 4000 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 20000 * WORLD_MS);
    assert_false(hone_daemon_is_over(f->daemon));
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 4000 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    world_tell_lease(f, HONE_FARM_RESULT_ACK, 1, 1);
    assert_false(hone_daemon_is_over(f->daemon));
    world_run_for(f, 6000 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_BYE), 1);
    assert_true(hone_daemon_is_over(f->daemon));
}

static void leaves_a_tracker_that_is_gone(void **state) {
    daemon_world *f = *state;
    f->idle_ns = 5000 * WORLD_MS;
    hone_daemon_destroy(f->daemon);
    world_create_daemon(f);
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    hone_simnet_cut(f->simnet, f->client, true);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 4000 * WORLD_MS);
    assert_false(hone_daemon_is_over(f->daemon));
    world_run_for(f, 10000 * WORLD_MS);
    assert_true(hone_daemon_is_over(f->daemon));
}

static void leaves_without_a_tracker(void **state) {
    daemon_world *f = *state;
    hone_simnet_cut(f->simnet, f->client, true);
    world_run_for(f, 10 * WORLD_MS);
    hone_daemon_stop(f->daemon, HONE_DAEMON_STOP);
    world_run_for(f, 10 * WORLD_MS);
    assert_true(hone_daemon_is_over(f->daemon));
}

/* ---- bad weather ---- */

static void survives_garbage(void **state) {
    daemon_world *f = *state;
    hone_rng rng = hone_test_rng(3);
    uint8_t bytes[300];
    for (int i = 0; i < 3000; i++) {
        world_run_for(f, 1 * WORLD_MS);
        size_t count = 1 + (size_t)hone_rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < count; k++)
            bytes[k] = (uint8_t)hone_rng_next(&rng);
        if (i % 2) bytes[0] = 0xa2, bytes[1] = 0, bytes[2] = (uint8_t)hone_rng_below(&rng, 24);
        hone_status_free(hone_net_send(f->server, f->peer, bytes, count));
        if (f->end) { /* a refusal that happens to be readable */
            hone_status_free(f->end);
            f->end = HONE_OK;
        }
    }
    assert_true(world_count_heard(f, HONE_FARM_REFUSED) > 0);
    world_run_for(f, 30000 * WORLD_MS);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

/* Every trial comes to its end, whatever the network does to messages; the test's tracker repeats
 * what is not answered, as the real one does. */
static void every_trial_ends(daemon_world *f, uint64_t seed, uint64_t trials) {
    const hone_simnet_faults faults = {.delay_min_ns = WORLD_MS,
                                       .delay_max_ns = 300 * WORLD_MS,
                                       .drop = 0.1,
                                       .duplicate = 0.1,
                                       .reorder = 0.2,
                                       .lose = 0.01};
    hone_rng rng = hone_rng_from_seed(seed);
    hone_simnet_set_faults(f->simnet, &faults);
    for (uint64_t trial = 1; trial <= trials; trial++) {
        const daemon_assignment a = {.token = trial,
                                     .trial = trial,
                                     .slot = (uint32_t)(trial % WORLD_SLOTS),
                                     .has_files = hone_rng_below(&rng, 2) == 1};
        bool has_result = false;
        for (int tries = 0; !has_result; tries++) {
            assert_true(tries < 1000);
            if (f->peer) world_assign(f, a);
            world_run_for(f, (int64_t)hone_rng_below(&rng, 2000) * WORLD_MS);
            hone_runner *runner = f->runners[a.slot];
            if (held_runner_running(runner)) held_runner_finish(runner, (double)trial);
            for (size_t i = 0; i < f->heard.count; i++) {
                const hone_farm_message *m = &f->heard.data[i];
                if (m->kind == HONE_FARM_RESULT && m->u.result.trial == trial) {
                    hone_run_result result = world_result_of(m);
                    assert_true(result.median_ns == (double)trial);
                    has_result = true;
                }
            }
            world_forget_heard(f);
        }
        hone_arena_reset(f->arena);
    }
    hone_simnet_set_faults(f->simnet, &(const hone_simnet_faults){0});
    world_run_for(f, 60000 * WORLD_MS);
}

static void every_trial_ends_in_bad_weather(void **state) {
    daemon_world *f = *state;
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 8000);
    world_offer(f, HONE_FARM_BLOB_BUNDLE, 2, 2500);
    every_trial_ends(f, hone_test_seed(1), 60);
    assert_true(hone_blob_cache_get_stats(f->cache).entries >= 2); /* whole ones */
    for (int i = 0; i < WORLD_SLOTS; i++) {
        if (held_runner_running(f->runners[i])) held_runner_finish(f->runners[i], 1);
    }
    world_run_for(f, 60000 * WORLD_MS);
    assert_int_equal(world_held(f), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leaves_in_order, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(leaves_at_once, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(drains, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(hurries, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(leaves_when_idle, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(leaves_a_tracker_that_is_gone, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(leaves_without_a_tracker, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(survives_garbage, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(every_trial_ends_in_bad_weather, world_set_up,
                                        world_tear_down),
    };
    return cmocka_run_group_tests_name("runner/daemon leaving", tests, NULL, NULL);
}
