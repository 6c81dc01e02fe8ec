/* tests/conformance/test_runner_hostile.c - each kind of bad candidate is told by its class, and
 * the next good one runs as if nothing had been. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/os/clock.h"
#include "tests/conformance/loopback_farm.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"
#include "tests/support/sanitizer.h"

#define PATIENCE_NS (60 * HONE_NS_PER_S)

static runner_fixture fixture;
static hone_runner *runner; /* one for all rows: what a row leaves behind hits the next */

/* clang-format off */
static const struct row {
    const char *entry;
    hone_failure want;
    const char *message; /* a part of it */
} rows[] = {
    {"ok", HONE_FAILURE_NONE, ""},
    {"slow", HONE_FAILURE_NONE, ""},
    {"chatty", HONE_FAILURE_NONE, ""},
    {"in_parallel", HONE_FAILURE_NONE, ""},
    {"hang", HONE_FAILURE_RUN_TIMEOUT, "still running after 0.3 s"},
    {"hang_later", HONE_FAILURE_RUN_TIMEOUT, "still running"},
    {"stubborn", HONE_FAILURE_RUN_TIMEOUT, "still running"},
    {"endless_output", HONE_FAILURE_RUN_TIMEOUT, "last words: "},
    {"call_abort", HONE_FAILURE_RUN_CRASH, "SIGABRT"},
    {"segfault", HONE_FAILURE_RUN_CRASH, "killed by SIGSEGV: memory access at address 0x40"},
    {"stack_overflow", HONE_FAILURE_RUN_CRASH, "SIGSEGV"},
    {"exit_zero", HONE_FAILURE_RUN_CRASH, "exit "},
    {"exit_three", HONE_FAILURE_RUN_CRASH, "exit 3"},
    {"kill_itself", HONE_FAILURE_RUN_CRASH, "SIGKILL"},
    {"crash_in_thread", HONE_FAILURE_RUN_CRASH, "SIGSEGV"},
    {"wrong", HONE_FAILURE_WRONG_RESULT, "'C': element 17"},
    {"nan_result", HONE_FAILURE_WRONG_RESULT, "element 3 is"},
    {"forgetful", HONE_FAILURE_WRONG_RESULT, "element 63"},
    {"wrong_later", HONE_FAILURE_WRONG_RESULT, "element 0 is 99"},
    {"done_once", HONE_FAILURE_WRONG_RESULT, "64 of 64 elements are wrong"},
    {"write_behind", HONE_FAILURE_RUN_CRASH, "0 bytes behind the end of argument 1 'C'"},
    {"write_far_behind", HONE_FAILURE_RUN_CRASH, "behind the end of argument"},
    {"write_before", HONE_FAILURE_RUN_CRASH, "4 bytes before the beginning of argument 1 'C'"},
    {"read_behind", HONE_FAILURE_RUN_CRASH, "0 bytes behind the end of argument 0 'A'"},
    {"write_input", HONE_FAILURE_RUN_CRASH, "argument 0 'A', which is read-only"},
#ifndef UNDER_SANITIZER /* whose heap notices only what it has instrumented */
    {"corrupt_heap", HONE_FAILURE_RUN_CRASH, ""},
#endif
    {"fork_bomb", HONE_FAILURE_NONE, ""}, /* it cannot, and goes on */
    {"connect_out", HONE_FAILURE_NONE, ""},
    {"write_file", HONE_FAILURE_NONE, ""},
    {"kill_parent", HONE_FAILURE_NONE, ""},
    {"scribble_on_descriptors", HONE_FAILURE_RUN_CRASH, "socket was written to"},
    {"close_descriptors", HONE_FAILURE_RUN_CRASH, ""},
    {"error_code", HONE_FAILURE_RUN_CRASH, "returned -7: the kernel is not in the mood"},
    {"no_such_entry", HONE_FAILURE_LOAD_ERROR, "'no_such_entry'"},
};
/* clang-format on */

/* Only what is to run out of time gets little of it: the others must end on a busy machine too. */
static void run_entry(const char *entry, int64_t timeout_ns, hone_run_result *result) {
    hone_run_request request = runner_fixture_request(&fixture, entry);
    request.timeout_ns = timeout_ns;
    if (strstr(entry, "parallel") || strstr(entry, "thread")) request.threads = 2;
    runner_fixture_run(runner, &request, result);
}

/* Only the seccomp filter stops these. */
static bool needs_filter(const char *entry) {
    static const char *const entries[] = {"fork_bomb", "connect_out", "write_file", "kill_parent"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entry, entries[i]) == 0) return true;
    }
    return false;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_run_result result;
    if (needs_filter(row->entry) && runner_fixture_is_emulated()) skip();
    bool hangs = row->want == HONE_FAILURE_RUN_TIMEOUT;
    run_entry(row->entry, hangs ? 300 * HONE_NS_PER_MS : PATIENCE_NS, &result);
    if (result.failure != row->want || !strstr(result.message, row->message)) {
        fail_msg("%s: got %s (%s), want %s (%s)", row->entry, hone_failure_name(result.failure),
                 result.message, hone_failure_name(row->want), row->message);
    }
    if (result.failure == HONE_FAILURE_NONE) {
        assert_true(result.sample_count > 0 && result.median_ns > 0 && result.checked);
    } else {
        assert_int_equal(result.sample_count, 0);
        assert_true(isnan(result.median_ns));
    }
    hone_run_result_deinit(&result);
    run_entry("ok", PATIENCE_NS, &result);
    if (result.failure != HONE_FAILURE_NONE) fail_msg("after %s: %s", row->entry, result.message);
    hone_run_result_deinit(&result);
}

int main(void) {
    runner_fixture_init(&fixture);
    runner = runner_fixture_local(&fixture, 1);
    int failed = HONE_RUN_ROWS("runner/hostile", rows, check_row);
    hone_runner_destroy(runner);
#ifndef HONE_TEST_WITHOUT_FARM
    loopback_farm *farm = loopback_farm_start(&fixture, 1);
    runner = loopback_farm_connect(farm);
    failed += HONE_RUN_ROWS("runner/hostile over a farm", rows, check_row);
    hone_runner_destroy(runner);
    loopback_farm_stop(farm);
#endif
    runner_fixture_deinit(&fixture);
    return failed;
}
