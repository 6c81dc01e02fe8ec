/* tests/conformance/runner_fixture.c - see runner_fixture.h. */
#include "tests/conformance/runner_fixture.h"

#include <stdlib.h>

#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

#define SEED 7

static void write_bundle(const char *path) {
    float a[FIXTURE_COUNT];
    double want[FIXTURE_COUNT];
    hone_generator g = hone_generator_default(HONE_DTYPE_F32);
    HONE_ASSERT_OK(hone_generate(&g, SEED, 0, HONE_DTYPE_F32, FIXTURE_COUNT, a));
    for (int i = 0; i < FIXTURE_COUNT; i++)
        want[i] = 2 * (double)a[i] + 1;
    hone_check_tensor tensors[] = {
        {.dtype = HONE_DTYPE_F32, .role = HONE_ARG_IN, .count = FIXTURE_COUNT, .generator = g},
        { .dtype = HONE_DTYPE_F32,
         .role = HONE_ARG_OUT,
         .count = FIXTURE_COUNT,
         .reference_dtype = HONE_DTYPE_F64,
         .reference = want,
         .bound = hone_error_bound(HONE_DTYPE_F32, 0, 3)},
    };
    hone_check_bundle bundle = {.seed = SEED, .count = 2, .tensors = tensors};
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
}

static char *built(const char *relative) {
    const char *board = getenv("HONE_TEST_BOARD");
    return board ? hone_path_join(board, relative) : hone_strdup(hone_test_build_path(relative));
}

bool runner_fixture_is_emulated(void) {
    return getenv("HONE_TEST_LAUNCHER") != NULL;
}

void runner_fixture_init(runner_fixture *fixture) {
    *fixture = (runner_fixture){
        .args = {{"A", HONE_DTYPE_F32, HONE_ARG_IN, 1, {FIXTURE_COUNT}},
                 {"C", HONE_DTYPE_F32, HONE_ARG_OUT, 1, {FIXTURE_COUNT}}}
    };
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-runner-test", &fixture->dir));
    fixture->bundle_path = hone_path_join(fixture->dir, "bundle.check");
    fixture->candidates = built("tests/candidates.so");
    fixture->externs = built("tests/candidate_externs.so");
    fixture->die_at_load = built("tests/candidate_die_at_load.so");
    fixture->executor = built("hone-runner");
    fixture->launcher[0] = getenv("HONE_TEST_LAUNCHER");
    write_bundle(fixture->bundle_path);
}

void runner_fixture_deinit(runner_fixture *fixture) {
    HONE_ASSERT_OK(hone_fs_remove_tree(fixture->dir));
    hone_free(fixture->dir);
    hone_free(fixture->bundle_path);
    hone_free(fixture->candidates);
    hone_free(fixture->externs);
    hone_free(fixture->die_at_load);
    hone_free(fixture->executor);
}

hone_run_request runner_fixture_request(const runner_fixture *fixture, const char *entry) {
    return (hone_run_request){
        .artifact_path = fixture->candidates,
        .manifest = {.abi_version = HONE_ABI_VERSION,
                     .entry = entry,
                     .arg_count = 2,
                     .args = fixture->args},
        .check_path = fixture->bundle_path,
        .threads = 1,
        .timing = {.min_repeat_ns = HONE_NS_PER_MS,                  .min_sample_ns = 100 * HONE_NS_PER_US},
        .timeout_ns = 60 * HONE_NS_PER_S,
        .simulated = {.cost_ns = 1000                              },
    };
}

hone_runner *runner_fixture_local(const runner_fixture *fixture, int32_t slots) {
    hone_runner *runner = NULL;
    const hone_runner_local_options options = {.executor_path = fixture->executor,
                                               .launcher =
                                                   fixture->launcher[0] ? fixture->launcher : NULL,
                                               .slots = slots,
                                               .unsandboxed = runner_fixture_is_emulated()};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    return runner;
}

void runner_fixture_run(hone_runner *runner, const hone_run_request *request,
                        hone_run_result *out_result) {
    hone_ticket sent = 0, got = 0;
    HONE_ASSERT_OK(hone_runner_submit(runner, request, &sent));
    int64_t deadline = hone_deadline_after(hone_clock_system(), 100 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_runner_next_result(runner, deadline, &got, out_result));
    assert_int_equal(sent, got);
}
