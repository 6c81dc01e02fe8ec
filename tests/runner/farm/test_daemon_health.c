/* tests/runner/farm/test_daemon_health.c - slots that test themselves before the daemon joins and
 * after failures, and are benched, with the reason, until they work again.
 */
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/runner/farm/daemon_world.h"
#include "tests/runner/farm/held_runner.h"

#define TEST_SEED 77

static hone_status make(void *ctx, hone_run_request *out_request) {
    static const uint8_t bytes[] = {1};
    int *fails = ctx;
    if (*fails) return HONE_ERROR(HONE_CODE_IO, "no space left on device");
    *out_request = (hone_run_request){
        .artifact_bytes = bytes,
        .artifact_byte_count = 1,
        .manifest = {.abi_version = 1, .entry = "self_test"},
        .seed = TEST_SEED
    };
    return HONE_OK;
}

static bool is_tested(const hone_runner *runner) {
    const hone_run_request *r = held_runner_running(runner);
    return r && r->seed == TEST_SEED;
}

/* A daemon that tests itself; `fails` says whether its tests can be made. */
static void begin(daemon_world *f, int *fails) {
    hone_daemon_destroy(f->daemon);
    *fails = 0;
    f->self_test = (hone_daemon_self_test){make, fails};
    world_create_daemon(f);
    world_run_for(f, 10 * WORLD_MS);
}

static void join(daemon_world *f, int *fails) {
    begin(f, fails);
    for (int i = 0; i < WORLD_SLOTS; i++)
        held_runner_finish(f->runners[i], 10);
    world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    world_forget_heard(f);
}

static const hone_farm_benches *benched(const daemon_world *f) {
    return &world_last(f, HONE_FARM_PING)->u.ping.benched;
}

static void tests_itself_before_it_joins(void **state) {
    daemon_world *f = *state;
    int fails;
    begin(f, &fails);
    assert_true(is_tested(f->runners[0]) && is_tested(f->runners[1]));
    world_run_for(f, 3 * WORLD_HEARTBEAT_NS);
    assert_int_equal(world_count_heard(f, HONE_FARM_HELLO), 0);
    held_runner_finish(f->runners[0], 10);
    held_runner_fail(f->runners[1], HONE_FAILURE_WRONG_RESULT, "element 3 is 7");
    world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    const hone_farm_hello *hello = &world_last(f, HONE_FARM_HELLO)->u.hello;
    assert_int_equal(hello->benched.count, 1);
    assert_int_equal(hello->benched.items[0].slot, 1);
    assert_non_null(strstr(hello->benched.items[0].text, "element 3 is 7"));
}

/* A time of nothing, or nothing compared, is no test that was passed. */
static void a_test_must_be_passed(void **state) {
    daemon_world *f = *state;
    int fails;
    begin(f, &fails);
    held_runner_finish(f->runners[0], 0);
    held_runner_finish_outputs(f->runners[1], 8);
    world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    assert_int_equal(world_last(f, HONE_FARM_HELLO)->u.hello.benched.count, 2);
}

static void a_fault_is_given_back_and_tested(void **state) {
    daemon_world *f = *state;
    int fails;
    join(f, &fails);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2});
    world_run_for(f, 10 * WORLD_MS);
    held_runner_fail(f->runners[0], HONE_FAILURE_DEVICE_LOST, "the executor did not start");
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
    assert_int_equal(world_count_heard(f, HONE_FARM_RESULT), 0);
    assert_true(is_tested(f->runners[0])); /* before the second trial */
    held_runner_fail(f->runners[0], HONE_FAILURE_DEVICE_LOST, "the executor did not start");
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    assert_int_equal(benched(f)->count, 1);
    assert_non_null(strstr(benched(f)->items[0].text, "the executor did not start"));
    world_assign(f, (daemon_assignment){.token = 2, .trial = 3});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 3);
}

static bool unlink_file(void *ctx, const char *name) {
    char *path = hone_path_join(((daemon_world *)ctx)->dir, name);
    hone_status_free(hone_fs_remove_file(path));
    hone_free(path);
    return true;
}

/* Who cleans a disk while a candidate is loaded: what comes of that is not the candidate's. */
static void removed_files_are_the_machines(void **state) {
    daemon_world *f = *state;
    int fails;
    join(f, &fails);
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->has_files = true;
    for (uint64_t trial = 1; trial <= 2; trial++) {
        world_forget_heard(f);
        world_assign(f, (daemon_assignment){.token = trial, .trial = trial, .has_files = true});
        world_run_for(f, 100 * WORLD_MS);
        assert_non_null(held_runner_running(f->runners[0]));
        if (trial == 2) HONE_ASSERT_OK(hone_fs_list(f->dir, unlink_file, f));
        held_runner_fail(f->runners[0], HONE_FAILURE_LOAD_ERROR, "no such file");
        world_run_for(f, 10 * WORLD_MS);
        assert_int_equal(world_count_heard(f, HONE_FARM_RESULT), trial == 1);
        assert_int_equal(world_count_heard(f, HONE_FARM_RETURNED), trial == 2);
    }
}

static void is_tested_again_and_works(void **state) {
    daemon_world *f = *state;
    int fails;
    join(f, &fails);
    fails = 1; /* its disk is full */
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    held_runner_fail(f->runners[0], HONE_FAILURE_DEVICE_LOST, "no memory");
    world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    assert_string_equal(benched(f)->items[0].text, "no space left on device");
    int started = held_runner_started(f->runners[0]);
    fails = 0;
    world_run_for(f, 2 * HONE_NS_PER_S);
    assert_int_equal(held_runner_started(f->runners[0]), started); /* not at once */
    world_run_for(f, 3 * HONE_NS_PER_S);
    assert_true(is_tested(f->runners[0]));
    held_runner_finish(f->runners[0], 10);
    world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    assert_int_equal(benched(f)->count, 0);
    world_assign(f, (daemon_assignment){.token = 2, .trial = 2});
    world_run_for(f, 10 * WORLD_MS);
    assert_non_null(held_runner_running(f->runners[0]));
}

/* Candidates fail, but eight in a row may be the device's. */
static void failures_in_a_row_are_looked_into(void **state) {
    daemon_world *f = *state;
    int fails;
    join(f, &fails);
    for (uint64_t i = 1; i <= 8; i++) {
        world_assign(f, (daemon_assignment){.token = i, .trial = i});
        world_run_for(f, 10 * WORLD_MS);
        assert_false(is_tested(f->runners[0]));
        held_runner_fail(f->runners[0], HONE_FAILURE_RUN_CRASH, "signal 4");
        world_run_for(f, 10 * WORLD_MS);
        assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, i);
    }
    assert_true(is_tested(f->runners[0]));
    held_runner_finish(f->runners[0], 10);
    world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    assert_int_equal(benched(f)->count, 0);
}

/* The test is passed, but trials come to nothing all the same. */
static void faults_that_the_test_does_not_find(void **state) {
    daemon_world *f = *state;
    int fails;
    join(f, &fails);
    for (uint64_t i = 1; i <= 3; i++) {
        world_assign(f, (daemon_assignment){.token = i, .trial = i});
        world_run_for(f, 10 * WORLD_MS);
        held_runner_fail(f->runners[0], HONE_FAILURE_DEVICE_LOST, "too little memory");
        world_run_for(f, 10 * WORLD_MS);
        if (is_tested(f->runners[0])) held_runner_finish(f->runners[0], 10);
        world_run_for(f, 2 * WORLD_HEARTBEAT_NS);
    }
    assert_int_equal(benched(f)->count, 1);
    assert_string_equal(benched(f)->items[0].text, "too little memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tests_itself_before_it_joins, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(a_test_must_be_passed, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(removed_files_are_the_machines, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(a_fault_is_given_back_and_tested, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(is_tested_again_and_works, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(failures_in_a_row_are_looked_into, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(faults_that_the_test_does_not_find, world_set_up,
                                        world_tear_down),
    };
    return cmocka_run_group_tests_name("runner/daemon_health", tests, NULL, NULL);
}
