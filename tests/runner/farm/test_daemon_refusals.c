/* tests/runner/farm/test_daemon_refusals.c - what a daemon cannot run, and says so: other targets,
 * content, full disks. */
#include "tests/runner/farm/daemon_world.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/runner/farm/held_runner.h"

/* ---- what cannot be run ---- */

static void refuses_other_targets(void **state) {
    daemon_world *f = *state;
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 100);
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){
                        .token = 1, .trial = 1, .target = HONE_TEST_ELSEWHERE, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_non_null(
        strstr(world_last(f, HONE_FARM_RETURNED)->u.returned.text, HONE_TEST_ELSEWHERE));
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2, .target = "?!", .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    world_expect_failure(f, HONE_FAILURE_LOAD_ERROR, "target");
    assert_int_equal(world_count_heard(f, HONE_FARM_BLOB_WANT), 0);
    assert_int_equal(held_runner_started(f->runners[0]), 0);
}

static void refuses_requests_without_sense(void **state) {
    daemon_world *f = *state;
    const hone_farm_message message = {
        .kind = HONE_FARM_ASSIGN,
        .u.assign = {.token = 1,
                     .tuner = world_tuner,
                     .trial = 1,
                     .request = {(const uint8_t *)"?", 1},
                     .timeout_ns = 1}
    };
    world_run_for(f, 10 * WORLD_MS);
    world_tell(f, &message);
    world_run_for(f, 10 * WORLD_MS);
    world_expect_failure(f, HONE_FAILURE_LOAD_ERROR, "run request");
    assert_int_equal(world_held(f), 0);
}

static void notices_other_content(void **state) {
    daemon_world *f = *state;
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->files[0].content[1500] ^= 1;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_BLOB_WANT), 6); /* tried twice */
    world_expect_failure(f, HONE_FAILURE_LOAD_ERROR, "hash");
    f->files[0].content[1500] ^= 1;
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
}

static void gives_back_what_has_no_file(void **state) {
    daemon_world *f = *state;
    const hone_farm_blob *blob = world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->has_files = false;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    hone_farm_message missing = {.kind = HONE_FARM_BLOB_MISSING};
    missing.u.blob_missing.hash = blob->hash;
    world_tell(f, &missing);
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
    assert_int_equal(world_held(f), 0);
    assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 0);
}

static void asks_again_for_what_got_lost(void **state) {
    daemon_world *f = *state;
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->has_files = false;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1, .has_files = true});
    world_run_for(f, 500 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_BLOB_WANT), 3);
    f->has_files = true;
    world_run_for(f, WORLD_HEARTBEAT_NS);
    assert_int_equal(world_count_heard(f, HONE_FARM_BLOB_WANT), 6);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
}

static void survives_a_full_disk(void **state) {
    daemon_world *f = *state;
    struct rlimit before;
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 5000);
    world_run_for(f, 10 * WORLD_MS);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(world_last(f, HONE_FARM_RETURNED)->u.returned.text, "no room on disk"));
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
}

static void says_when_outputs_are_too_large(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    held_runner_finish_outputs(f->runners[0], 5 << 20);
    world_run_for(f, 10 * WORLD_MS);
    world_expect_failure(f, HONE_FAILURE_LOAD_ERROR, "outputs");
}

static void replaces_a_refused_result(void **state) {
    daemon_world *f = *state;
    f->acks = false;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 10 * WORLD_MS);
    hone_farm_message refused = {
        .kind = HONE_FARM_REFUSED,
        .id = world_last(f, HONE_FARM_RESULT)->id,
        .u.refused = {.code = HONE_FARM_REFUSAL_INVALID, .about = HONE_FARM_RESULT}
    };
    hone_farm_set_text(refused.u.refused.text, HONE_FARM_NOTE_BYTES, "too odd");
    f->acks = true;
    world_tell(f, &refused);
    world_run_for(f, 10 * WORLD_MS);
    world_expect_failure(f, HONE_FAILURE_LOAD_ERROR, "too odd");
    assert_int_equal(world_held(f), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refuses_other_targets, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(refuses_requests_without_sense, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(notices_other_content, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(gives_back_what_has_no_file, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(asks_again_for_what_got_lost, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(survives_a_full_disk, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(says_when_outputs_are_too_large, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(replaces_a_refused_result, world_set_up, world_tear_down),
    };
    return cmocka_run_group_tests_name("runner/daemon refusals", tests, NULL, NULL);
}
