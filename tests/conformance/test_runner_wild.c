/* tests/conformance/test_runner_wild.c - kernels that do anything (candidates/wild.c), one per
 * seed: each is told by its class, as its own fault, the next one runs as if nothing had been, and
 * what is outside stays as it was. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

#define MARK "the seed is here"
#define SECRET "nobody changes this"
#define TIMEOUT_NS (200 * HONE_NS_PER_MS)

enum { KERNELS = 300, MAX_LIBRARY = 1 << 20 };

static runner_fixture fixture;
static hone_runner *runner;
static char *copy_path, *victim_path;
static char *library; /* its bytes */
static size_t library_bytes, seed_at;
static pid_t victim;

static size_t find_seed(void) {
    for (size_t i = 0; i + sizeof MARK + 7 <= library_bytes; i++)
        if (!memcmp(library + i, MARK, sizeof MARK - 1)) return i + sizeof MARK - 1;
    fail_msg("wild.so has no mark");
    return 0;
}

static void start_victim(void) {
    victim = fork();
    assert_true(victim >= 0);
    if (victim == 0) {
        for (;;)
            pause();
    }
}

static void assert_outside_is_well(uint64_t seed) {
    char *text;
    size_t count;
    int status;
    HONE_ASSERT_OK(hone_fs_read(victim_path, 1000, &text, &count));
    if (count != strlen(SECRET) || memcmp(text, SECRET, count))
        fail_msg("kernel %llu changed a file", (unsigned long long)seed);
    hone_free(text);
    if (waitpid(victim, &status, WNOHANG) != 0)
        fail_msg("kernel %llu killed a process", (unsigned long long)seed);
}

static void assert_next_is_fine(uint64_t seed) {
    hone_run_result result;
    const hone_run_request request = runner_fixture_request(&fixture, "ok");
    runner_fixture_run(runner, &request, &result);
    if (result.failure != HONE_FAILURE_NONE)
        fail_msg("after kernel %llu: %s", (unsigned long long)seed, result.message);
    hone_run_result_deinit(&result);
}

static hone_failure run_wild(uint64_t seed) {
    hone_run_request request = runner_fixture_request(&fixture, "wild_kernel");
    hone_run_result result;
    memcpy(library + seed_at, &seed, sizeof seed);
    HONE_ASSERT_OK(hone_fs_write_atomic(copy_path, library, library_bytes));
    request.artifact_path = copy_path;
    request.timeout_ns = TIMEOUT_NS;
    runner_fixture_run(runner, &request, &result);
    hone_failure failure = result.failure;
    if (failure == HONE_FAILURE_NONE && !(result.median_ns > 0 && result.median_ns < TIMEOUT_NS))
        fail_msg("kernel %llu takes %g ns", (unsigned long long)seed, result.median_ns);
    if (failure != HONE_FAILURE_NONE && hone_failure_fault(failure) != HONE_FAULT_CANDIDATE) {
        fail_msg("kernel %llu: %s (%s)", (unsigned long long)seed, hone_failure_name(failure),
                 result.message);
    }
    hone_run_result_deinit(&result);
    return failure;
}

static void the_tool_stays_as_it_was(void **unused) {
    uint64_t count = hone_test_count(KERNELS), begin = hone_test_seed(1);
    uint64_t seen[HONE_FAILURE_COUNT] = {0};
    (void)unused;
    for (uint64_t i = 0; i < count; i++) {
        seen[run_wild(begin + i)]++;
        assert_outside_is_well(begin + i);
        if (i % 4 == 3) assert_next_is_fine(begin + i);
    }
    for (int i = 0; i < HONE_FAILURE_COUNT; i++)
        if (seen[i])
            printf("%6llu %s\n", (unsigned long long)seen[i], hone_failure_name((hone_failure)i));
    assert_true(seen[HONE_FAILURE_RUN_CRASH] >= count / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_tool_stays_as_it_was)};
    if (runner_fixture_is_emulated()) hone_test_skip_all("an emulator has no filter");
    runner_fixture_init(&fixture);
    copy_path = hone_path_join(fixture.dir, "wild.so");
    victim_path = hone_path_join(fixture.dir, "victim");
    HONE_ASSERT_OK(
        hone_fs_read(hone_test_build_path("tests/wild.so"), MAX_LIBRARY, &library, &library_bytes));
    HONE_ASSERT_OK(hone_fs_write_atomic(victim_path, SECRET, strlen(SECRET)));
    seed_at = find_seed();
    start_victim();
    const hone_runner_local_options options = {.executor_path = fixture.executor,
                                               .memory_bytes = INT64_C(1) << 30};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    int failed = cmocka_run_group_tests_name("runner/wild", tests, NULL, NULL);
    hone_runner_destroy(runner);
    kill(victim, SIGKILL);
    hone_free(copy_path);
    hone_free(victim_path);
    hone_free(library);
    runner_fixture_deinit(&fixture);
    return failed;
}
