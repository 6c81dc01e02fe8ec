/* tests/conformance/test_runner_card.c - candidates for a card, in executors that are held: right
 * and wrong ones, what they may do wrong, and that nobody pays for it but their executor.
 *
 * On the fake driver, which executors find by LD_LIBRARY_PATH; "card" as the argument: on the card
 * of this machine; words behind it are layers of the sandbox that are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/self_test.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/quiet.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/runtime/device_manifest.h"
#include "tests/support/hone_test.h"

enum { SHORT_NS = 1500 * HONE_NS_PER_MS };

static runner_fixture fixture;
static const char *without; /* layers */
static hone_runner *runner;
static bool is_card;

static hone_runner *make_runner(const hone_runner_local_options *given) {
    hone_runner_local_options options = *given;
    hone_runner *made = NULL;
    options.executor_path = fixture.executor;
    if (!options.device) options.device = "cuda";
    options.without = without;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &made));
    return made;
}

/* The bundle of the fixture fits: B = 2 A + 1 of as many elements. *m is what the request points
 * to. */
static hone_run_request request_of(const char *symbol, device_manifest *m) {
    const hone_device_artifact code = device_artifact();
    hone_run_request request = runner_fixture_request(&fixture, symbol);
    device_manifest_init(m, symbol, FIXTURE_COUNT);
    request.artifact_path = NULL;
    request.artifact_bytes = code.bytes;
    request.artifact_byte_count = code.byte_count;
    request.manifest = m->manifest;
    if (strcmp(symbol, "hang") == 0) request.timeout_ns = SHORT_NS;
    return request;
}

static void run(hone_runner *on, const char *symbol, hone_run_result *out) {
    device_manifest m;
    const hone_run_request request = request_of(symbol, &m);
    runner_fixture_run(on, &request, out);
}

static void next_result(hone_runner *on, hone_run_result *out) {
    hone_ticket ticket;
    HONE_ASSERT_OK(hone_runner_next_result(
        on, hone_deadline_after(hone_clock_system(), 100 * HONE_NS_PER_S), &ticket, out));
}

static const struct row {
    const char *symbol;
    hone_failure failure;
    const char *message;
} rows[] = {
    {"self_test",   HONE_FAILURE_NONE,         ""                            },
    {"step_double", HONE_FAILURE_WRONG_RESULT, "argument 1"                  },
    {"behind",      HONE_FAILURE_RUN_CRASH,    "0 bytes behind the end"      },
    {"before",      HONE_FAILURE_RUN_CRASH,    "1 bytes before the beginning"},
    {"into_input",  HONE_FAILURE_RUN_CRASH,    "'A', which is read-only"     },
    {"stray",       HONE_FAILURE_RUN_CRASH,    "outside of all memory"       },
    {"crooked",     HONE_FAILURE_RUN_CRASH,    "not aligned"                 },
    {"trap",        HONE_FAILURE_RUN_CRASH,    "the kernel returned 7"       },
    {"hang",        HONE_FAILURE_RUN_TIMEOUT,  "still running after 1.5 s"   },
    {"not_there",   HONE_FAILURE_LOAD_ERROR,   "has no kernel 'not_there'"   },
};

/* The next one is right, in the same runner. */
static void check_row(void **state) {
    const struct row *row = *state;
    hone_run_result result;
    run(runner, row->symbol, &result);
    if (result.failure != row->failure || !strstr(result.message, row->message)) {
        fail_msg("got %s (%s), want %s (%s)", hone_failure_name(result.failure), result.message,
                 hone_failure_name(row->failure), row->message);
    }
    hone_run_result_deinit(&result);
    run(runner, "self_test", &result);
    if (result.failure != HONE_FAILURE_NONE) fail_msg("the next one: %s", result.message);
    assert_true(result.checked && result.error_ratio <= 1);
    assert_true(result.sample_count > 0 && result.median_ns > 0);
    hone_run_result_deinit(&result);
}

/* A good one after a good one stays in its executor. */
static void executors_are_used_again(void **state) {
    (void)state;
    hone_run_result first, second;
    run(runner, "self_test", &first);
    run(runner, "self_test", &second);
    assert_int_equal(first.failure, HONE_FAILURE_NONE);
    assert_int_equal(first.executor, second.executor);
    hone_run_result_deinit(&first);
    hone_run_result_deinit(&second);
}

static void are_held(void **state) {
    (void)state;
    char layers[HONE_RUNNER_LAYERS_BYTES];
    HONE_ASSERT_OK(hone_runner_local_layers(runner, layers));
    print_message("held by %s\n", layers);
    assert_memory_equal(layers, "filter, limits", 14);
}

/* As the tuner has them: the warden hands it out. */
static void artifacts_may_be_files(void **state) {
    (void)state;
    device_manifest m;
    hone_run_result result;
    const hone_device_artifact code = device_artifact();
    char *path = hone_path_join(fixture.dir, "kernel.ptx");
    HONE_ASSERT_OK(hone_fs_write_atomic(path, code.bytes, code.byte_count));
    hone_run_request request = runner_fixture_request(&fixture, "self_test");
    device_manifest_init(&m, "self_test", FIXTURE_COUNT);
    request.artifact_path = path;
    request.manifest = m.manifest;
    runner_fixture_run(runner, &request, &result);
    assert_int_equal(result.failure, HONE_FAILURE_NONE);
    hone_run_result_deinit(&result);
    hone_free(path);
}

/* What a farm's runner asks of each slot. */
static void passes_the_self_test(void **state) {
    (void)state;
    hone_self_test test;
    hone_run_request request;
    hone_run_result result;
    HONE_ASSERT_OK(hone_self_test_init(fixture.dir, "cuda -arch=sm_75", &test));
    HONE_ASSERT_OK(hone_self_test_make(&test, &request));
    runner_fixture_run(runner, &request, &result);
    assert_string_equal(result.message, "");
    assert_true(result.checked && !hone_run_result_problem(&result, true));
    hone_run_result_deinit(&result);
    hone_self_test_deinit(&test);
}

/* Nothing is the candidate's fault. */
static void memory_has_a_limit(void **state) {
    (void)state;
    hone_run_result result;
    const hone_runner_local_options options = {.memory_bytes = 40000};
    hone_runner *small = make_runner(&options);
    run(small, "self_test", &result);
    assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
    assert_non_null(strstr(result.message, "in use"));
    hone_run_result_deinit(&result);
    hone_runner_destroy(small);
}

static void a_card_that_lacks_is_lost(void **state) {
    (void)state;
    hone_run_result result;
    const hone_runner_local_options options = {.device = "cuda:63"};
    hone_runner *none = make_runner(&options);
    run(none, "self_test", &result);
    assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
    assert_non_null(strstr(result.message, "no NVIDIA card 63"));
    hone_run_result_deinit(&result);
    hone_runner_destroy(none);
}

/* The fake has two: the requests of two slots are run on both. */
static void slots_have_cards_of_their_own(void **state) {
    (void)state;
    if (is_card) skip();
    const hone_runner_local_options options = {.slots = 3};
    hone_runner *many = make_runner(&options);
    device_manifest m;
    const hone_run_request request = request_of("self_test", &m);
    int lost = 0;
    for (int i = 0; i < 3; i++) {
        hone_ticket ticket;
        HONE_ASSERT_OK(hone_runner_submit(many, &request, &ticket));
    }
    for (int i = 0; i < 3; i++) {
        hone_run_result result;
        next_result(many, &result);
        lost += result.failure == HONE_FAILURE_DEVICE_LOST;
        hone_run_result_deinit(&result);
    }
    assert_int_equal(lost, 1); /* there is no third */
    hone_runner_destroy(many);
}

/* Three at a time: each is answered, and who has the gate of the card shuts the others out. */
static void executors_share_a_card(void **state) {
    (void)state;
    enum { EXECUTORS = 3, REQUESTS = 12 };
    uint32_t seen[REQUESTS], count = 0;
    char *path = hone_path_join(fixture.dir, "quiet.lock");
    const hone_runner_local_options options = {
        .slots = EXECUTORS, .per_card = EXECUTORS, .queue_depth = REQUESTS, .quiet_path = path};
    hone_runner *many = make_runner(&options);
    device_manifest m;
    const hone_run_request request = request_of("self_test", &m);
    assert_false(hone_runner_times_here(many));
    for (int i = 0; i < REQUESTS; i++) {
        hone_ticket ticket;
        HONE_ASSERT_OK(hone_runner_submit(many, &request, &ticket));
    }
    for (int i = 0; i < REQUESTS; i++) {
        hone_run_result result;
        next_result(many, &result);
        assert_string_equal(result.message, "");
        assert_true(result.checked && result.sample_count > 0 && !result.drift_flagged);
        uint32_t k = 0;
        while (k < count && seen[k] != result.executor)
            k++;
        if (k == count) seen[count++] = result.executor;
        hone_run_result_deinit(&result);
    }
    assert_int_equal(count, EXECUTORS);
    hone_runner_destroy(many);
    hone_free(path);
}

/* Whoever has the gate of the card keeps a trial waiting, and whoever has the machine's does not.
 */
static void a_card_has_a_gate_of_its_own(void **state) {
    (void)state;
    char *machines = hone_path_join(fixture.dir, "quiet.lock");
    char *cards = hone_path_join(fixture.dir, "quiet.lock-cuda:0");
    const hone_runner_local_options options = {.quiet_path = machines};
    hone_runner *one = make_runner(&options);
    hone_quiet_gate machine, card;
    hone_run_result result;
    HONE_ASSERT_OK(hone_quiet_open(machines, &machine));
    HONE_ASSERT_OK(hone_quiet_open(cards, &card));
    HONE_ASSERT_OK(hone_quiet_begin(&machine, HONE_QUIET_ALONE, hone_clock_system(), INT64_MAX));
    run(one, "self_test", &result);
    assert_string_equal(result.message, "");
    hone_run_result_deinit(&result);
    HONE_ASSERT_OK(hone_quiet_begin(&card, HONE_QUIET_SHARED, hone_clock_system(), INT64_MAX));
    device_manifest m;
    const hone_run_request request = request_of("self_test", &m);
    hone_ticket ticket;
    HONE_ASSERT_OK(hone_runner_submit(one, &request, &ticket));
    while (!hone_quiet_is_wanted(&card))
        HONE_ASSERT_OK(hone_runner_tend(one));
    hone_quiet_end(&card);
    next_result(one, &result);
    assert_string_equal(result.message, "");
    assert_true(result.times.wait_ns > 0);
    hone_run_result_deinit(&result);
    hone_quiet_close(&machine);
    hone_quiet_close(&card);
    hone_runner_destroy(one);
    hone_free(machines);
    hone_free(cards);
}

static void find_driver(void) {
    char *dir = hone_path_dirname(hone_test_build_path("tests/fake_cuda/libcuda.so.1"));
    if (!is_card) assert_int_equal(setenv("LD_LIBRARY_PATH", dir, 1), 0);
    hone_free(dir);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_held),
                                       cmocka_unit_test(artifacts_may_be_files),
                                       cmocka_unit_test(passes_the_self_test),
                                       cmocka_unit_test(executors_are_used_again),
                                       cmocka_unit_test(memory_has_a_limit),
                                       cmocka_unit_test(a_card_that_lacks_is_lost),
                                       cmocka_unit_test(slots_have_cards_of_their_own),
                                       cmocka_unit_test(executors_share_a_card),
                                       cmocka_unit_test(a_card_has_a_gate_of_its_own)};
    const hone_runner_local_options options = {.slots = 1};
    is_card = argc > 1 && strcmp(argv[1], "card") == 0;
    if (is_card && argc > 2) without = argv[2];
    if (runner_fixture_is_emulated()) hone_test_skip_all("the fake is for this machine");
    runner_fixture_init(&fixture);
    find_driver();
    runner = make_runner(&options);
    int failed = HONE_RUN_ROWS("runner/card", rows, check_row) +
                 cmocka_run_group_tests_name("runner/card", tests, NULL, NULL);
    hone_runner_destroy(runner);
    runner_fixture_deinit(&fixture);
    return failed;
}
