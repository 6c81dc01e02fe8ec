/* tests/conformance/test_runner_opencl.c - candidates for an OpenCL device, in executors that are
 * held as compilers are: the driver compiles them there, by programs that it starts, in a folder of
 * its own. Right and wrong ones, and that nobody pays for these but their executor. */
#include <string.h>

#include "runtime/opencl/opencl_api.h"
#include "support/os/clock.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/runtime/device_manifest.h"
#include "tests/support/hone_test.h"

#define SHORT_NS (3 * HONE_NS_PER_S)

static runner_fixture fixture;
static hone_runner *runner;

/* clang-format off */
static const struct row {
    const char *name, *rest; /* B = 2 A + 1, and that */
    hone_failure failure;
    const char *message;
    bool has_next; /* what comes behind it is looked at */
} rows[] = {
    {"right", "", HONE_FAILURE_NONE, "", false},
    {"wrong", "if (i == 3) B[i] = 7;", HONE_FAILURE_WRONG_RESULT, "argument 1", false},
    {"behind", "if (i == 0) B[n] = 7;", HONE_FAILURE_RUN_CRASH, "0 bytes behind the end", false},
    {"stray", "*(volatile __global int *)8 = 7;", HONE_FAILURE_RUN_CRASH, "SIGSEGV", true},
    {"hang", "while (*(volatile __global float *)A == *A);", HONE_FAILURE_RUN_TIMEOUT,
     "still running", true},
    {"broken", "if (", HONE_FAILURE_BUILD_ERROR, "does not build", false},
};
/* clang-format on */

static void run(const struct row *row, hone_run_result *out) {
    device_manifest m;
    hone_str text = {0};
    hone_str_printf(&text,

                    "__kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\n"
                    "void kernel_of_test(__global float *A, __global float *B, const long n) {\n"
                    "  long i = get_global_id(0);\n  if (i < n) B[i] = 2 * A[i] + 1;\n  %s\n}\n",
                    DEVICE_BLOCK, row->rest);
    hone_run_request request = runner_fixture_request(&fixture, "kernel_of_test");
    device_manifest_init(&m, "kernel_of_test", FIXTURE_COUNT);
    request.artifact_path = NULL;
    request.artifact_bytes = (const uint8_t *)text.data;
    request.artifact_byte_count = text.length;
    request.manifest = m.manifest;
    request.manifest.target = NULL;
    if (row->failure == HONE_FAILURE_RUN_TIMEOUT) request.timeout_ns = SHORT_NS;
    runner_fixture_run(runner, &request, out);
    hone_str_deinit(&text);
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_run_result result;
    run(row, &result);
    if (result.failure != row->failure || !strstr(result.message, row->message)) {
        fail_msg("got %s (%s), want %s (%s)", hone_failure_name(result.failure), result.message,
                 hone_failure_name(row->failure), row->message);
    }
    hone_run_result_deinit(&result);
    if (!row->has_next) return;
    run(&rows[0], &result);
    if (result.failure != HONE_FAILURE_NONE) fail_msg("the next one: %s", result.message);
    assert_true(result.checked && result.error_ratio <= 1);
    assert_true(result.sample_count > 0 && result.median_ns > 0);
    hone_run_result_deinit(&result);
}

static void are_held(void **state) {
    (void)state;
    char layers[HONE_RUNNER_LAYERS_BYTES];
    HONE_ASSERT_OK(hone_runner_local_layers(runner, layers));
    print_message("held by %s\n", layers);
    assert_memory_equal(layers, "filter, limits", 14);
}

/* Whether there is a device, asked without opening it: its threads would be in this process. */
static bool has_device(void) {
    hone_opencl *cl = NULL;
    void *devices[HONE_OPENCL_MAX_DEVICES];
    int32_t count = 0;
    hone_status st = hone_opencl_open(&cl);
    if (!st) hone_opencl_list(cl, devices, &count);
    hone_opencl_close(cl);
    hone_status_free(st);
    return count > 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_held)};
    hone_runner_local_options options = {.slots = 1, .device = "opencl"};
    if (runner_fixture_is_emulated() || !has_device()) hone_test_skip_all("no OpenCL device");
    runner_fixture_init(&fixture);
    options.executor_path = fixture.executor;
    hone_status st = hone_runner_create_local(&options, &runner);
    int failed = st ? 1 : 0;
    hone_status_free(st);
    if (runner) {
        failed += HONE_RUN_ROWS("runner/opencl", rows, check_row) +
                  cmocka_run_group_tests_name("runner/opencl", tests, NULL, NULL);
    }
    hone_runner_destroy(runner);
    runner_fixture_deinit(&fixture);
    return failed;
}
