/* tests/runner/farm/test_daemon.c - the daemon beside a tracker that the test plays, in virtual
 * time: greeting, trials. */
#include "tests/runner/farm/daemon_world.h"

#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/runner/farm/held_runner.h"

/* ---- greeting ---- */

static void says_who_it_is(void **state) {
    daemon_world *f = *state;
    f->is_mute = true;
    world_run_for(f, 2500 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_HELLO), 4); /* 0 s, 0.25 s, 0.75 s, 1.75 s */
    const hone_farm_hello *hello = &world_last(f, HONE_FARM_HELLO)->u.hello;
    assert_int_equal(hello->version_max, HONE_FARM_VERSION);
    assert_int_equal(hello->role, HONE_FARM_RUNNER);
    assert_string_equal(hello->name, "desk");
    assert_string_equal(hello->software, "hone-runner 1");
    assert_int_equal(hello->instance.lo, 42);
    assert_int_equal(hello->slots.count, WORLD_SLOTS);
    assert_int_equal(hello->slots.items[1].slot, 1);
    assert_int_equal(hello->slots.items[1].cores, 4);
    assert_string_equal(hello->slots.items[1].device_key, "board");
    assert_int_equal(hello->held.count, 0);
    assert_false(hone_daemon_get_stats(f->daemon).is_connected);
    world_welcome(f);
    world_run_for(f, 10 * WORLD_MS);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

static void keeps_in_touch(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10500 * WORLD_MS);
    assert_in_range(world_count_heard(f, HONE_FARM_PING), 9, 11);
    assert_int_equal(world_count_heard(f, HONE_FARM_HELLO), 1);
    f->is_mute = true; /* a tracker that hangs: the connection is there, but nobody */
    world_run_for(f, WORLD_EXPIRY_NS + 1500 * WORLD_MS);
    assert_true(world_count_heard(f, HONE_FARM_HELLO) > 1);
    f->is_mute = false;
    world_run_for(f, 20000 * WORLD_MS);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

static void gives_up_when_told_so(void **state) {
    static const struct {
        hone_farm_refusal refusal;
        hone_code code;
    } rows[] = {
        {HONE_FARM_REFUSAL_VERSION, HONE_CODE_VERSION},
        {HONE_FARM_REFUSAL_ROLE,    HONE_CODE_INVALID},
    };
    daemon_world *f = *state;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        hone_farm_message refused = {.kind = HONE_FARM_REFUSED, .u.refused.code = rows[i].refusal};
        hone_farm_set_text(refused.u.refused.text, HONE_FARM_NOTE_BYTES, "not like this");
        world_run_for(f, 10 * WORLD_MS);
        world_tell(f, &refused);
        world_run_for(f, 10 * WORLD_MS);
        hone_status st = f->end;
        f->end = HONE_OK;
        HONE_ASSERT_ERROR(st, rows[i].code, "not like this");
    }
}

static void greets_again_when_unknown(void **state) {
    daemon_world *f = *state;
    const hone_farm_message refused = {.kind = HONE_FARM_REFUSED,
                                       .u.refused.code = HONE_FARM_REFUSAL_HELLO};
    world_run_for(f, 10 * WORLD_MS);
    world_forget_heard(f);
    world_tell(f, &refused);
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_HELLO), 1);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

/* ---- trials ---- */

static void check_file(const daemon_world *f, const char *path, size_t which) {
    char *bytes;
    size_t count;
    assert_non_null(path);
    assert_int_equal(strncmp(path, f->dir, strlen(f->dir)), 0);
    HONE_ASSERT_OK(hone_fs_read(path, WORLD_MAX_FILE, &bytes, &count));
    assert_int_equal(count, f->files[which].blob.bytes);
    assert_memory_equal(bytes, f->files[which].content, count);
    hone_free(bytes);
}

static void runs_what_is_assigned(void **state) {
    daemon_world *f = *state;
    world_offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 8000);
    world_offer(f, HONE_FARM_BLOB_BUNDLE, 2, 1);
    world_offer(f, HONE_FARM_BLOB_EXTERN, 3, WORLD_CHUNK_BYTES);
    f->acks = false;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 9, .trial = 4, .slot = 1, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_TAKEN)->u.lease.token, 9);
    assert_int_equal(world_last(f, HONE_FARM_TAKEN)->u.lease.trial, 4);
    assert_int_equal(world_count_heard(f, HONE_FARM_BLOB_WANT), 8 + 1 + 1);
    assert_null(held_runner_running(f->runners[0]));
    const hone_run_request *r = held_runner_running(f->runners[1]);
    assert_non_null(r);
    assert_int_equal(r->timeout_ns, 123 * WORLD_MS);
    assert_string_equal(r->manifest.entry, "kernel");
    check_file(f, r->artifact_path, 0);
    check_file(f, r->check_path, 1);
    check_file(f, r->extern_path, 2);
    held_runner_finish(f->runners[1], 5000);
    world_run_for(f, 3500 * WORLD_MS);
    assert_in_range(world_count_heard(f, HONE_FARM_RESULT), 4, 6); /* until somebody has it */
    hone_run_result result = world_result_of(world_last(f, HONE_FARM_RESULT));
    assert_true(result.median_ns == 5000);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.token, 9);
    assert_int_equal(world_held(f), 1);
    world_tell_lease(f, HONE_FARM_RESULT_ACK, 9, 4);
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_held(f), 0);
    world_forget_heard(f);
    world_assign(f, (daemon_assignment){.token = 9, .trial = 5, .slot = 1, .has_files = true});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_BLOB_WANT), 0); /* the files are there */
    assert_int_equal(held_runner_started(f->runners[1]), 2);
}

static void uses_no_path_of_the_tuner(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    const hone_run_request *r = held_runner_running(f->runners[0]);
    assert_non_null(r);
    assert_null(r->check_path);
    assert_string_not_equal(r->artifact_path, "/tuner/kernel.so");
}

static void runs_one_at_a_time(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    for (uint64_t trial = 1; trial <= 3; trial++)
        world_assign(f, (daemon_assignment){.token = 1, .trial = trial});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 2);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    world_tell_lease(f, HONE_FARM_ABORT, 1, 3); /* waits */
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 3);
    world_tell_lease(f, HONE_FARM_ABORT, 1, 2); /* runs */
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    assert_int_equal(world_held(f), 0);
    world_tell_lease(f, HONE_FARM_ABORT, 1, 7); /* is not known */
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 7);
    assert_int_equal(world_count_heard(f, HONE_FARM_RESULT), 1);
}

static void bounds_what_it_takes(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    for (uint64_t trial = 1; trial <= 50; trial++)
        world_assign(f, (daemon_assignment){.token = 1, .trial = trial});
    world_assign(f, (daemon_assignment){.token = 1, .trial = 60, .slot = WORLD_SLOTS});
    world_run_for(f, 10 * WORLD_MS);
    assert_true(world_held(f) <= 8);
    assert_true(world_count_heard(f, HONE_FARM_RETURNED) >= 43);
}

static void knows_what_it_has_seen(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    for (int i = 0; i < 3; i++)
        world_assign(f, (daemon_assignment){.token = 5, .trial = 1});
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_count_heard(f, HONE_FARM_TAKEN), 3);
    assert_int_equal(world_held(f), 1);
    world_assign(f,
                 (daemon_assignment){.token = 6, .trial = 1}); /* after a restart of the tracker */
    world_assign(f, (daemon_assignment){.token = 4, .trial = 2}); /* of long ago */
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.token, 6);
    assert_int_equal(world_held(f), 0);
    world_assign(f,
                 (daemon_assignment){.token = 6, .trial = 1}); /* late, after the acknowledgement */
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    assert_int_equal(world_last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
    world_assign(f, (daemon_assignment){.token = 7, .trial = 1}); /* but a new lease is a new run */
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 2);
}

static void survives_a_lost_connection(void **state) {
    daemon_world *f = *state;
    f->acks = false;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2});
    world_assign(f, (daemon_assignment){.token = 2, .trial = 3, .slot = 1});
    world_run_for(f, 10 * WORLD_MS);
    held_runner_finish(f->runners[1], 1);
    world_run_for(f, 10 * WORLD_MS);
    world_forget_heard(f);
    hone_simnet_break(f->simnet, f->client);
    world_run_for(f, 2000 * WORLD_MS);
    const hone_farm_hello *hello = &world_last(f, HONE_FARM_HELLO)->u.hello;
    assert_int_equal(hello->held.count, 3);
    static const hone_farm_held_state states[] = {HONE_FARM_HELD_RUNNING, HONE_FARM_HELD_WAITING,
                                                  HONE_FARM_HELD_DONE};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hello->held.items[i].trial, i + 1);
        assert_int_equal(hello->held.items[i].state, states[i]);
    }
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, 3);
    f->acks = true;
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 10 * WORLD_MS);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 20000 * WORLD_MS);
    assert_int_equal(world_held(f), 0);
    assert_int_equal(hone_daemon_get_stats(f->daemon).results, 3);
}

/* A tracker that hears nothing for so long has given the work to somebody else. */
static void forgets_what_waits_when_alone(void **state) {
    daemon_world *f = *state;
    world_run_for(f, 10 * WORLD_MS);
    world_assign(f, (daemon_assignment){.token = 1, .trial = 1});
    world_assign(f, (daemon_assignment){.token = 1, .trial = 2});
    world_run_for(f, 10 * WORLD_MS);
    hone_simnet_cut(f->simnet, f->client, true);
    world_run_for(f, WORLD_EXPIRY_NS / 2);
    assert_int_equal(world_held(f), 2);
    world_run_for(f, WORLD_EXPIRY_NS);
    assert_int_equal(world_held(f), 1);
    held_runner_finish(f->runners[0], 1);
    world_run_for(f, 10 * WORLD_MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    hone_simnet_cut(f->simnet, f->client, false);
    world_forget_heard(f);
    world_run_for(f, 60000 * WORLD_MS);
    assert_int_equal(world_last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    assert_int_equal(world_held(f), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(says_who_it_is, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(keeps_in_touch, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(gives_up_when_told_so, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(greets_again_when_unknown, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(runs_what_is_assigned, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(uses_no_path_of_the_tuner, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(runs_one_at_a_time, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(bounds_what_it_takes, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(knows_what_it_has_seen, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(survives_a_lost_connection, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(forgets_what_waits_when_alone, world_set_up,
                                        world_tear_down),
    };
    return cmocka_run_group_tests_name("runner/daemon", tests, NULL, NULL);
}
