/* tests/runner/farm/test_runner_remote.c - the remote runner: devices, trials, files, and trackers
 * that are silent, gone or wrong. */
#include <math.h>
#include <string.h>

#include "net/blob_hash.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/runner/farm/remote_world.h"

static void learns_devices_and_target(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    const hone_farm_hello *hello = &remote_last_of(&w, HONE_FARM_HELLO)->u.hello;
    assert_string_equal(hello->name, "me");
    assert_int_equal(hello->role, HONE_FARM_TUNER);
    assert_true(hello->instance.lo || hello->instance.hi);
    const char *target = NULL;
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, "llvm -mcpu=cortex-a72 -num-cores=4");
    assert_string_equal(hone_runner_note(w.runner), "1 device");
    assert_false(hone_runner_times_here(w.runner));
    remote_change_devices(&w, 3);
    remote_tell_devices(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_int_equal(hone_runner_slots(w.runner), 6);
    remote_change_devices(&w, 0); /* and nobody says so: the next PONG does */
    remote_run_for(&w, 3 * REMOTE_HEARTBEAT_NS);
    assert_int_equal(hone_runner_slots(w.runner), 0);
    assert_string_equal(hone_runner_note(w.runner), "no device 'pi4'");
    remote_close(&w);
}

/* Two kinds of board under one key are two groups. */
static void devices_that_differ_are_groups(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    const char *target = NULL, *chosen = "llvm -mcpu=cortex-a72 -num-cores=4";
    w.targets[1] = "llvm -mcpu=znver3";
    remote_change_devices(&w, 3);
    remote_tell_devices(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, chosen);
    assert_int_equal(hone_runner_slots(w.runner), 4); /* two of the three */
    remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_string_equal(remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit.target, chosen);
    assert_true(remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit.wants_time);
    w.targets[0] = w.targets[2] = w.targets[1]; /* all boards come back with another processor */
    remote_change_devices(&w, 3);
    remote_tell_devices(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_int_equal(hone_runner_slots(w.runner), 0);
    assert_string_equal(hone_runner_note(w.runner), "no device 'pi4' of this target");
    remote_close(&w);
}

/* The largest group on which candidates run. */
static void chooses_what_fits(void **state) {
    (void)state;
    const char *target = NULL;
    remote_world w = {
        .devices = 4, .targets = {"a", "a", "b", "c"},
             .fitting = "b"
    };
    remote_open_with(&w, false);
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, "b");
    assert_int_equal(hone_runner_slots(w.runner), 2);
    remote_close(&w);
    w = (remote_world){
        .devices = 3, .targets = {"a", "b", "b"}
    };
    remote_open_with(&w, false);
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, "b");
    remote_close(&w);
}

/* What no device can run is refused before the first trial, with the reason. */
static void refuses_what_fits_nowhere(void **state) {
    (void)state;
    const char *target = NULL;
    remote_world w = {
        .devices = 2, .targets = {"a", "b"},
             .fitting = "c"
    };
    remote_open_with(&w, false);
    HONE_ASSERT_ERROR(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target),
                      HONE_CODE_UNSUPPORTED, "lacks sve");
    assert_int_equal(hone_runner_slots(w.runner), 0);
    remote_close(&w);
}

/* A tracker that does not judge: what no device can have answered is the device's trouble. */
static void impossible_answers_are_the_devices(void **state) {
    (void)state;
    static const double times[] = {0, 1e-300, INFINITY};
    for (size_t i = 0; i < HONE_COUNT(times); i++) {
        remote_world w;
        remote_open(&w);
        hone_run_result result;
        hone_ticket ticket = remote_submit(&w, NULL);
        remote_run_for(&w, 10 * REMOTE_MS);
        remote_tell_outcome(&w, ticket, times[i]);
        remote_run_for(&w, 10 * REMOTE_MS);
        assert_int_equal(remote_take(&w, &result), ticket);
        assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
        remote_close(&w);
    }
}

static void a_trial_goes_there_and_back(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    hone_ticket ticket = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    const hone_farm_submit *s = &remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit;
    assert_int_equal(s->trial, ticket);
    assert_string_equal(s->device_key, "pi4");
    assert_string_equal(s->device, "");
    assert_int_equal(s->blobs.count, 2);
    assert_int_equal(s->blobs.items[0].role, HONE_FARM_BLOB_ARTIFACT);
    assert_int_equal(s->blobs.items[0].bytes, REMOTE_FILE_BYTES);
    assert_int_equal(s->blobs.items[1].role, HONE_FARM_BLOB_BUNDLE);
    assert_true(s->timeout_ns > HONE_NS_PER_S);
    hone_run_request request;
    HONE_ASSERT_OK(hone_run_request_decode(s->request.data, s->request.count, w.arena, &request));
    assert_string_equal(request.manifest.entry, "kernel");
    assert_int_equal(request.threads, 3);
    assert_int_equal(request.seed, 42);
    assert_null(request.check_path);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), 0);
    remote_run_for(&w, 100 * REMOTE_MS);
    remote_tell_outcome(&w, ticket, 5000);
    remote_run_for(&w, 10 * REMOTE_MS);
    remote_tell_outcome(&w, ticket, 9999); /* late and doubled: acknowledged and dropped */
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_int_equal(remote_count_of(&w, HONE_FARM_OUTCOME_ACK), 2);
    assert_int_equal(remote_take(&w, &result), ticket);
    assert_true(result.median_ns == 5000);
    assert_string_equal(result.device, "board-9/3");
    assert_true(result.times.queue_ns >= 100 * REMOTE_MS);
    remote_tell_outcome(&w, ticket, 7777);
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_int_equal(remote_take(&w, &result), 0);
    assert_int_equal(hone_runner_in_flight(w.runner), 0);
    assert_int_equal(remote_count_of(&w, HONE_FARM_SUBMIT),
                     1); /* not repeated once it was accepted */
    remote_close(&w);
}

static void names_one_device(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    char device[] = "board-0/0";
    remote_submit(&w, device);
    memset(device, 'x', 5); /* it was copied */
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_string_equal(remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit.device, "board-0/0");
    remote_close(&w);
}

static void gives_files_in_parts(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_farm_hash hash = remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit.blobs.items[0].hash;
    uint8_t got[REMOTE_FILE_BYTES];
    for (int64_t at = 0; at < REMOTE_FILE_BYTES; at += REMOTE_CHUNK_BYTES) {
        hone_farm_message want = {.kind = HONE_FARM_BLOB_WANT, .id = 55};
        want.u.blob_want = (hone_farm_blob_want){hash, at, REMOTE_CHUNK_BYTES};
        remote_tell(&w, &want);
        remote_run_for(&w, 10 * REMOTE_MS);
        const hone_farm_message *m = remote_last_of(&w, HONE_FARM_BLOB_CHUNK);
        const hone_farm_blob_chunk *c = &m->u.blob_chunk;
        assert_int_equal(m->id, 55);
        assert_int_equal(c->offset, at);
        assert_int_equal(c->total, REMOTE_FILE_BYTES);
        memcpy(got + at, c->bytes.data, c->bytes.count);
    }
    hone_blob_hash found = hone_blob_hash_of(got, sizeof got);
    assert_memory_equal(found.bytes, hash.bytes, sizeof hash.bytes);
    static const struct {
        int hash_off;
        int64_t offset;
    } wrong[] = {
        {1, 0                      },
        {0, REMOTE_FILE_BYTES      },
        {0, 100 * REMOTE_FILE_BYTES}
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        hone_farm_message want = {.kind = HONE_FARM_BLOB_WANT, .id = 56};
        want.u.blob_want = (hone_farm_blob_want){hash, wrong[i].offset, REMOTE_CHUNK_BYTES};
        want.u.blob_want.hash.bytes[0] ^= (uint8_t)wrong[i].hash_off;
        remote_forget(&w);
        remote_tell(&w, &want);
        remote_run_for(&w, 10 * REMOTE_MS);
        assert_int_equal(remote_count_of(&w, HONE_FARM_BLOB_MISSING), 1);
        assert_int_equal(remote_count_of(&w, HONE_FARM_BLOB_CHUNK), 0);
    }
    remote_close(&w);
}

static void repeats_what_is_not_answered(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    w.is_mute = true;
    hone_ticket ticket = remote_submit(&w, NULL);
    remote_run_for(&w, 4 * REMOTE_HEARTBEAT_NS);
    int count = remote_count_of(&w, HONE_FARM_SUBMIT);
    assert_true(count >= 2 && count <= 4); /* ever later */
    w.is_mute = false;
    remote_run_for(&w, 8 * REMOTE_HEARTBEAT_NS);
    remote_forget(&w);
    remote_run_for(&w, 20 * REMOTE_HEARTBEAT_NS);
    assert_int_equal(remote_count_of(&w, HONE_FARM_SUBMIT), 0);
    assert_true(remote_count_of(&w, HONE_FARM_PING) >= 10); /* it is alive */
    remote_tell_outcome(&w, ticket, 10);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), ticket);
    remote_close(&w);
}

static void survives_the_tracker(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    hone_ticket first = remote_submit(&w, NULL), second = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_farm_instance instance = remote_last_of(&w, HONE_FARM_HELLO)->u.hello.instance;
    remote_tell_outcome(&w, first, 10);
    remote_run_for(&w, 10 * REMOTE_MS);
    remote_stop_tracker(&w);
    remote_run_for(&w, 5 * HONE_NS_PER_S);
    assert_string_equal(hone_runner_note(w.runner), "no tracker");
    remote_forget(&w);
    remote_start_tracker(&w);
    remote_run_for(&w, 10 * HONE_NS_PER_S);
    assert_true(
        hone_hash128_equal(remote_last_of(&w, HONE_FARM_HELLO)->u.hello.instance, instance));
    assert_int_equal(remote_count_of(&w, HONE_FARM_SUBMIT), 1); /* what has no outcome */
    assert_int_equal(remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit.trial, second);
    remote_tell_outcome(&w, second, 20);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), first);
    assert_int_equal(remote_take(&w, &result), second);
    /* a tracker that does not know the connection is greeted again, and told everything */
    hone_ticket third = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    remote_forget(&w);
    hone_farm_message m = {.kind = HONE_FARM_REFUSED};
    m.u.refused.code = HONE_FARM_REFUSAL_HELLO;
    remote_tell(&w, &m);
    remote_run_for(&w, REMOTE_HEARTBEAT_NS);
    assert_int_equal(remote_last_of(&w, HONE_FARM_SUBMIT)->u.submit.trial, third);
    remote_close(&w);
}

static void a_silent_tracker_is_left(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    hone_simnet_cut(w.simnet, w.server, true);
    remote_run_for(&w, 2 * REMOTE_EXPIRY_NS);
    assert_string_equal(hone_runner_note(w.runner), "no tracker");
    assert_int_equal(hone_runner_slots(w.runner), 0); /* or a tune that stops would wait for it */
    hone_simnet_cut(w.simnet, w.server, false);
    remote_run_for(&w, 30 * HONE_NS_PER_S);
    assert_string_equal(hone_runner_note(w.runner), "1 device");
    assert_int_equal(hone_runner_slots(w.runner), 2);
    remote_close(&w);
}

static void cancels_at_once(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    hone_ticket first = remote_submit(&w, NULL), second = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    remote_tell_outcome(&w, first, 10);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_runner_cancel_all(w.runner);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), first);
    assert_int_equal(result.failure, HONE_FAILURE_NONE); /* it was done */
    assert_int_equal(remote_take(&w, &result), second);
    assert_int_equal(result.failure, HONE_FAILURE_CANCELLED);
    remote_run_for(&w, 10 * REMOTE_HEARTBEAT_NS);
    assert_int_equal(remote_count_of(&w, HONE_FARM_CANCEL), 1);
    assert_int_equal(remote_last_of(&w, HONE_FARM_CANCEL)->u.cancel.trial, second);
    remote_tell_outcome(&w, second, 10);
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_int_equal(remote_last_of(&w, HONE_FARM_OUTCOME_ACK)->u.outcome_ack.trial, second);
    assert_int_equal(hone_runner_in_flight(w.runner), 0);
    remote_close(&w);
}

static void refusals_of_a_trial(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    w.is_mute = true;
    hone_ticket ticket = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_farm_message m = {.kind = HONE_FARM_REFUSED};
    m.u.refused = (hone_farm_refused){HONE_FARM_REFUSAL_BUSY, "later", HONE_FARM_SUBMIT, ticket};
    remote_tell(&w, &m);
    remote_run_for(&w, 2 * REMOTE_HEARTBEAT_NS);
    assert_true(remote_count_of(&w, HONE_FARM_SUBMIT) >= 2);
    m.u.refused =
        (hone_farm_refused){HONE_FARM_REFUSAL_INVALID, "too large", HONE_FARM_SUBMIT, ticket};
    remote_tell(&w, &m);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_LOAD_ERROR);
    assert_string_equal(result.message, "too large");
    remote_close(&w);
}

static void refusals_for_good(void **state) {
    (void)state;
    static const hone_farm_refusal codes[] = {HONE_FARM_REFUSAL_VERSION, HONE_FARM_REFUSAL_ROLE,
                                              HONE_FARM_REFUSAL_KEY};
    for (size_t i = 0; i < 3; i++) {
        remote_world w;
        remote_open(&w);
        remote_submit(&w, NULL);
        hone_farm_message m = {.kind = HONE_FARM_REFUSED};
        m.u.refused = (hone_farm_refused){codes[i], "not you", HONE_FARM_HELLO, 0};
        remote_tell(&w, &m);
        assert_int_equal(remote_run_for(&w, 10 * REMOTE_MS), HONE_CODE_UNAVAILABLE);
        hone_ticket ticket;
        hone_run_result result;
        HONE_ASSERT_ERROR(hone_runner_next_result(w.runner, HONE_DEADLINE_NEVER, &ticket, &result),
                          HONE_CODE_UNAVAILABLE, "not you");
        hone_runner_cancel_all(w.runner); /* what is in flight is still answered */
        assert_int_equal(remote_take(&w, &result), 1);
        remote_close(&w);
    }
}

static void bad_results_and_files(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    hone_ticket ticket = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_farm_message m = {.kind = HONE_FARM_OUTCOME};
    m.u.outcome = (hone_farm_outcome){
        .trial = ticket, .result = {(const uint8_t *)"\x01garbage", 8},
             .runner = "liar"
    };
    remote_tell(&w, &m);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
    HONE_ASSERT_OK(hone_fs_remove_file(w.artifact));
    ticket = remote_submit(&w, NULL);
    assert_int_equal(remote_take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_LOAD_ERROR);
    HONE_ASSERT_OK(hone_fs_write_atomic(w.artifact, "", 0));
    ticket = remote_submit(&w, NULL);
    assert_int_equal(remote_take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_LOAD_ERROR);
    remote_close(&w);
}

/* Frames that make no sense are answered or dropped, and change nothing. */
static void garbage_from_the_tracker(void **state) {
    (void)state;
    remote_world w;
    remote_open(&w);
    hone_ticket ticket = remote_submit(&w, NULL);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_rng rng = hone_test_rng(5);
    for (int i = 0; i < 200; i++) {
        uint8_t bytes[64];
        size_t count = 1 + (size_t)hone_rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < count; k++)
            bytes[k] = (uint8_t)hone_rng_next(&rng);
        hone_status_free(hone_net_send(w.server, w.peer, bytes, count));
        remote_run_for(&w, REMOTE_MS);
    }
    hone_farm_message m = {.kind = HONE_FARM_ASSIGN};
    m.u.assign.timeout_ns = 1;
    remote_tell(&w, &m);
    remote_run_for(&w, 10 * REMOTE_MS);
    assert_int_equal(remote_last_of(&w, HONE_FARM_REFUSED)->u.refused.about, HONE_FARM_ASSIGN);
    remote_tell_outcome(&w, ticket, 10);
    remote_run_for(&w, 10 * REMOTE_MS);
    hone_run_result result;
    assert_int_equal(remote_take(&w, &result), ticket);
    remote_close(&w);
}

static void waits_for_devices_or_not(void **state) {
    (void)state;
    for (int stops = 0; stops < 2; stops++) {
        remote_world w = {.devices = 1};
        remote_open_with(&w, stops);
        remote_change_devices(&w, 0);
        remote_tell_devices(&w, NULL);
        assert_int_equal(remote_run_for(&w, 4 * HONE_NS_PER_S), HONE_CODE_OK); /* it has patience */
        remote_change_devices(&w, 1);
        remote_tell_devices(&w, NULL);
        remote_run_for(&w, 10 * REMOTE_MS);
        remote_change_devices(&w, 0);
        remote_tell_devices(&w, NULL);
        assert_int_equal(remote_run_for(&w, 4 * HONE_NS_PER_S), HONE_CODE_OK);
        hone_code want = stops ? HONE_CODE_UNAVAILABLE : HONE_CODE_OK;
        assert_int_equal(remote_run_for(&w, 2 * HONE_NS_PER_S), want);
        remote_close(&w);
    }
    remote_world w = {.devices = 1}; /* a tracker that is gone takes its devices with it */
    remote_open_with(&w, true);
    remote_stop_tracker(&w);
    assert_int_equal(remote_run_for(&w, 20 * HONE_NS_PER_S), HONE_CODE_UNAVAILABLE);
    remote_close(&w);
}

/* Messages are lost, doubled and overtake each other, connections end: each trial is answered once.
 */
static void faults(void **state) {
    (void)state;
    enum { TRIALS = 60 };
    for (uint64_t seed = 0; seed < 5; seed++) {
        remote_world w;
        remote_open(&w);
        hone_simnet_set_faults(w.simnet, &(hone_simnet_faults){.delay_min_ns = REMOTE_MS,
                                                               .delay_max_ns = 50 * REMOTE_MS,
                                                               .drop = 0.1,
                                                               .duplicate = 0.1,
                                                               .reorder = 0.2,
                                                               .lose = 0.01});
        int answered = 0, submitted = 0;
        bool seen[TRIALS + 1] = {false};
        for (int round = 0; answered < TRIALS && round < 2000; round++) {
            while (submitted < TRIALS && hone_runner_in_flight(w.runner) < 4) {
                remote_submit(&w, NULL);
                submitted++;
            }
            remote_run_for(&w, 300 * REMOTE_MS);
            for (size_t i = 0; i < w.heard.count; i++) { /* what it was asked, it answers */
                if (w.heard.data[i].kind == HONE_FARM_SUBMIT && w.peer) {
                    remote_tell_outcome(&w, w.heard.data[i].u.submit.trial, 10);
                }
            }
            hone_run_result result;
            for (hone_ticket t; (t = remote_take(&w, &result)); answered++) {
                assert_false(seen[t]);
                seen[t] = true;
                assert_int_equal(result.failure, HONE_FAILURE_NONE);
            }
            if (round % 20 == 19) remote_forget(&w);
        }
        assert_int_equal(answered, TRIALS);
        remote_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_devices_and_target),
        cmocka_unit_test(devices_that_differ_are_groups),
        cmocka_unit_test(chooses_what_fits),
        cmocka_unit_test(refuses_what_fits_nowhere),
        cmocka_unit_test(impossible_answers_are_the_devices),
        cmocka_unit_test(a_trial_goes_there_and_back),
        cmocka_unit_test(names_one_device),
        cmocka_unit_test(gives_files_in_parts),
        cmocka_unit_test(repeats_what_is_not_answered),
        cmocka_unit_test(survives_the_tracker),
        cmocka_unit_test(a_silent_tracker_is_left),
        cmocka_unit_test(cancels_at_once),
        cmocka_unit_test(refusals_of_a_trial),
        cmocka_unit_test(refusals_for_good),
        cmocka_unit_test(bad_results_and_files),
        cmocka_unit_test(garbage_from_the_tracker),
        cmocka_unit_test(waits_for_devices_or_not),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests_name("runner/remote", tests, NULL, NULL);
}
