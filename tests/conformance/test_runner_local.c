/* tests/conformance/test_runner_local.c - what the local runner does beyond the common suite:
 * outputs, inputs, roles, external functions, loading, isolation, early stops, accounting. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "support/data/hash.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/quiet.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

static runner_fixture fixture;

static int begin(void **state) {
    *state = runner_fixture_local(&fixture, 1);
    return 0;
}

static int end(void **state) {
    hone_runner_destroy(*state);
    return 0;
}

static void run(hone_runner *runner, const hone_run_request *request, hone_run_result *result,
                hone_failure want, const char *message) {
    runner_fixture_run(runner, request, result);
    if (result->failure != want || !strstr(result->message, message)) {
        fail_msg("got %s (%s), want %s (%s)", hone_failure_name(result->failure), result->message,
                 hone_failure_name(want), message);
    }
}

static void gives_outputs(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    float a[FIXTURE_COUNT], c[FIXTURE_COUNT];
    hone_generator g = hone_generator_default(HONE_DTYPE_F32);
    request.want_outputs = true;
    request.check_path = NULL;
    request.seed = 99;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.output_bytes, sizeof c);
    assert_int_equal(result.sample_count, 0);
    assert_false(result.checked);
    HONE_ASSERT_OK(hone_generate(&g, 99, 0, HONE_DTYPE_F32, FIXTURE_COUNT, a));
    memcpy(c, result.outputs, sizeof c);
    for (int i = 0; i < FIXTURE_COUNT; i++)
        assert_true(c[i] == 2 * a[i] + 1);
    hone_run_result_deinit(&result);
}

/* C += A: the check sees the first run, the outputs are those of one run. */
static void refills_what_is_in_and_out(void **state) {
    hone_arg args[2] = {fixture.args[0], fixture.args[1]};
    hone_run_request request = runner_fixture_request(&fixture, "accumulate");
    hone_run_result result;
    float a[FIXTURE_COUNT], c[FIXTURE_COUNT], got[FIXTURE_COUNT];
    hone_generator g = hone_generator_default(HONE_DTYPE_F32);
    args[1].role = HONE_ARG_INOUT;
    request.manifest.args = args;
    request.check_path = NULL;
    run(*state, &request, &result, HONE_FAILURE_NONE, ""); /* changes C many times */
    assert_true(result.sample_count > 0);
    request.want_outputs = true;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    HONE_ASSERT_OK(hone_generate(&g, 0, 0, HONE_DTYPE_F32, FIXTURE_COUNT, a));
    HONE_ASSERT_OK(hone_generate(&g, 0, 1, HONE_DTYPE_F32, FIXTURE_COUNT, c));
    memcpy(got, result.outputs, sizeof got);
    for (int i = 0; i < FIXTURE_COUNT; i++)
        assert_true(got[i] == c[i] + a[i]);
    hone_run_result_deinit(&result);
}

/* What is in and out is filled again behind the timed runs, and checked. */
static void checks_in_and_out_again(void **state) {
    hone_arg args[2] = {fixture.args[0], fixture.args[1]};
    hone_run_result result;
    float a[FIXTURE_COUNT], before[FIXTURE_COUNT];
    double want[FIXTURE_COUNT];
    hone_generator g = hone_generator_default(HONE_DTYPE_F32);
    HONE_ASSERT_OK(hone_generate(&g, 0, 0, HONE_DTYPE_F32, FIXTURE_COUNT, a));
    HONE_ASSERT_OK(hone_generate(&g, 0, 1, HONE_DTYPE_F32, FIXTURE_COUNT, before));
    for (int i = 0; i < FIXTURE_COUNT; i++)
        want[i] = (double)(before[i] + a[i]);
    hone_check_tensor tensors[2] = {
        {.dtype = HONE_DTYPE_F32, .role = HONE_ARG_IN, .count = FIXTURE_COUNT, .generator = g},
        { .dtype = HONE_DTYPE_F32,
         .role = HONE_ARG_INOUT,
         .count = FIXTURE_COUNT,
         .generator = g,
         .reference_dtype = HONE_DTYPE_F64,
         .reference = want,
         .bound = 1e-6}
    };
    hone_check_bundle bundle = {.count = 2, .tensors = tensors};
    char *path = hone_path_join(fixture.dir, "in_and_out.check");
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
    args[1].role = HONE_ARG_INOUT;
    hone_run_request request = runner_fixture_request(&fixture, "accumulate");
    request.manifest.args = args;
    request.check_path = path;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.checked);
    request.manifest.entry = "accumulate_once";
    run(*state, &request, &result, HONE_FAILURE_WRONG_RESULT, "elements are wrong");
    hone_free(path);
}

/* A bundle may hold the inputs themselves, and nothing to compare with. */
static void takes_inputs_from_the_bundle(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    float given[FIXTURE_COUNT], c[FIXTURE_COUNT];
    hone_generator g = hone_generator_default(HONE_DTYPE_F32);
    for (int i = 0; i < FIXTURE_COUNT; i++)
        given[i] = (float)(i * i);
    hone_check_tensor tensors[2] = {
        {.dtype = HONE_DTYPE_F32,
         .role = HONE_ARG_IN,
         .count = FIXTURE_COUNT,
         .generator = g,
         .values = given},
        {.dtype = HONE_DTYPE_F32,
         .role = HONE_ARG_OUT,
         .count = FIXTURE_COUNT,
         .reference_dtype = HONE_DTYPE_F32}
    };
    hone_check_bundle bundle = {.count = 2, .tensors = tensors};
    char *path = hone_path_join(fixture.dir, "inputs.check");
    HONE_ASSERT_OK(hone_check_bundle_write(&bundle, path));
    request.check_path = path;
    request.want_outputs = true;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_false(result.checked);
    memcpy(c, result.outputs, sizeof c);
    for (int i = 0; i < FIXTURE_COUNT; i++)
        assert_true(c[i] == 2 * given[i] + 1);
    hone_run_result_deinit(&result);
    hone_free(path);
}

/* It says nothing of the candidate that this runner is too old for its bundle. */
static void a_later_bundle_is_the_machines_fault(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    char *bytes = NULL, *path = hone_path_join(fixture.dir, "later.check");
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(fixture.bundle_path, 1 << 20, &bytes, &count));
    bytes[8] = 99;
    HONE_ASSERT_OK(hone_fs_write_atomic(path, bytes, count));
    request.check_path = path;
    run(*state, &request, &result, HONE_FAILURE_DEVICE_LOST, "check bundle has format 99");
    hone_free(bytes);
    hone_free(path);
}

static void passes_sizes(void **state) {
    const int64_t sizes[] = {2, 1};
    hone_run_request request = runner_fixture_request(&fixture, "with_sizes");
    hone_run_result result;
    request.manifest.sizes = sizes;
    request.manifest.size_count = 2;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    request.manifest.size_count = 0;
    run(*state, &request, &result, HONE_FAILURE_RUN_CRASH, "returned -3");
    assert_int_equal(result.return_code, -3);
}

/* All on one CPU, on which others work as well: it has a quarter of a second to compute, and nearly
 * as long to take that. */
static void waiting_for_a_processor_does_not_count(void **state) {
    enum { OTHERS = 3 };
    cpu_set_t all, one;
    pid_t others[OTHERS];
    hone_runner *here;
    hone_run_result result;
    (void)state;
    if (runner_fixture_is_emulated()) skip();
    FILE *counted = fopen("/proc/self/schedstat", "re");
    if (!counted) skip();
    fclose(counted);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < OTHERS; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            for (volatile int k = 0;; k = 0)
                (void)k;
        }
    }
    here = runner_fixture_local(&fixture, 1);
    hone_run_request request = runner_fixture_request(&fixture, "long_work");
    request.timeout_ns = 400 * HONE_NS_PER_MS;
    request.skip_timing = true;
    runner_fixture_run(here, &request, &result);
    hone_failure failure = result.failure;
    hone_run_result_deinit(&result);
    request = runner_fixture_request(&fixture, "hang");
    request.timeout_ns = 400 * HONE_NS_PER_MS;
    runner_fixture_run(here, &request, &result);
    for (int i = 0; i < OTHERS; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    hone_runner_destroy(here);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(failure, HONE_FAILURE_NONE);
    assert_int_equal(result.failure, HONE_FAILURE_RUN_TIMEOUT);
    hone_run_result_deinit(&result);
}

static void finds_external_functions(void **state) {
    static const char *const names[] = {"double_and_add"}, *const missing[] = {"treble"};
    hone_run_request request = runner_fixture_request(&fixture, "with_extern");
    hone_run_result result;
    request.manifest.extern_count = 1;
    request.manifest.externs = names;
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "no library was given");
    request.extern_path = fixture.externs;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    request.manifest.externs = missing;
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "'treble' is not in");
    request.extern_path = "/nonexistent/lib.so";
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "/nonexistent/lib.so");
}

static void says_why_it_cannot_load(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    request.artifact_path = "/nonexistent/kernel.so";
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "/nonexistent/kernel.so");
    request.artifact_path = fixture.bundle_path;
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "cannot be loaded");
    request = runner_fixture_request(&fixture, "ok");
    request.manifest.abi_version = HONE_ABI_VERSION + 1;
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "ABI version");
    request = runner_fixture_request(&fixture, "ok");
    request.manifest.target = /* a board is not what this was compiled for */
        getenv("HONE_TEST_BOARD") ? "x86_64-linux-gnu" : HONE_TEST_ELSEWHERE;
    run(*state, &request, &result, HONE_FAILURE_DEVICE_LOST, "code for");
    request.manifest.target = "host";
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    request = runner_fixture_request(&fixture, "ok");
    request.artifact_path = fixture.die_at_load;
    run(*state, &request, &result, HONE_FAILURE_RUN_CRASH, "SIGABRT");
}

static void says_what_is_wrong_with_the_bundle(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    hone_arg args[2] = {fixture.args[0], fixture.args[1]};
    request.check_path = "/nonexistent/x.check";
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "/nonexistent/x.check");
    request.check_path = fixture.candidates;
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "not a check bundle");
    request.check_path = fixture.bundle_path;
    args[1].shape[0] = 65;
    request.manifest.args = args;
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "65");
}

static void takes_bytes(void **state) {
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(fixture.candidates, 1 << 26, &bytes, &count));
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    request.artifact_path = NULL;
    request.artifact_bytes = (const uint8_t *)bytes;
    request.artifact_byte_count = count;
    for (int i = 0; i < 3; i++)
        run(*state, &request, &result, HONE_FAILURE_NONE, "");
    request.artifact_byte_count = 40; /* not even a whole ELF head */
    run(*state, &request, &result, HONE_FAILURE_LOAD_ERROR, "cannot be loaded");
    hone_free(bytes);
}

static void stops_early_for_losers(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "slow");
    hone_run_result result;
    request.timing.min_repeat_ns = 60 * HONE_NS_PER_MS;
    request.timing.incumbent_ns = 1000;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.stopped_early);
    assert_int_equal(result.sample_count, 1); /* thousands of times slower: one look is enough */
    request.timing.incumbent_ns = 1e9;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_false(result.stopped_early);
    assert_true(result.sample_count >= 3);
}

/* Of one thread; several wait for each other, and that is what they take. */
static void waits_take_no_time(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "waits");
    hone_run_result result;
    const hone_cache_state caches[] = {HONE_CACHE_HOT, HONE_CACHE_COLD};
    for (size_t i = 0; i < HONE_COUNT(caches); i++) {
        request.threads = 1;
        request.cache = caches[i];
        run(*state, &request, &result, HONE_FAILURE_NONE, "");
        assert_true(result.best_ns < 2e6);
    }
    request.threads = 2;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.best_ns >= 3e6);
}

static void runs_cold(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    request.cache = HONE_CACHE_COLD;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.batch, 1);
    assert_true(result.sample_count >= 3);
}

/* An argument takes turns at as many places as its distance asks for; all hold the same. */
static void runs_as_in_a_model(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "wants_turns");
    hone_run_result result;
    int64_t distances[2] = {8 * 64 * (int64_t)sizeof(float), 0};
    request.cache = HONE_CACHE_MODEL;
    request.distance_count = 2;
    request.distances = distances;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.checked && result.sample_count >= 3);
    distances[0] = 64; /* less than a run touches: nothing is far */
    run(*state, &request, &result, HONE_FAILURE_RUN_CRASH, "the kernel returned 7");
    distances[0] = 0; /* another argument's turns are not this one's */
    distances[1] = 1 << 20;
    run(*state, &request, &result, HONE_FAILURE_RUN_CRASH, "the kernel returned 7");
    request.manifest.entry = "wants_places";
    run(*state, &request, &result, HONE_FAILURE_NONE, ""); /* and is compared at its own place */
    assert_true(result.checked && result.sample_count >= 3);
    distances[1] = 0;
    run(*state, &request, &result, HONE_FAILURE_RUN_CRASH, "the kernel returned 7");
    distances[1] = -1;
    hone_ticket ticket;
    HONE_ASSERT_CODE(hone_runner_submit(*state, &request, &ticket), HONE_CODE_INVALID);
}

static void only_checks_when_asked_to(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    request.skip_timing = true;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.checked && result.sample_count == 0);
    assert_true(result.max_error >= 0 && result.error_ratio <= 1);
}

static void accounts_for_its_time(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "slow");
    hone_run_result result;
    request.threads = 2;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.times.load_ns > 0);
    assert_true(result.times.check_ns > 3000000);
    assert_true(result.times.measure_ns > 3000000);
    assert_true(result.times.queue_ns >= 0);
    assert_true(result.reference_ns > 0 && result.drift > 0);
    /* NAN with one CPU, or when the other one is busy */
    assert_true(isnan(result.round_trip_ns) || result.round_trip_ns > 0);
    assert_true(result.executor >= 1);
}

static void keeps_healthy_executors(void **state) {
    hone_run_request good = runner_fixture_request(&fixture, "ok");
    hone_run_request bad = runner_fixture_request(&fixture, "segfault");
    hone_run_result result;
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    uint32_t first = result.executor;
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.executor, first);
    assert_false(result.retried);
    run(*state, &bad, &result, HONE_FAILURE_RUN_CRASH, "SIGSEGV");
    assert_true(result.retried); /* in a process that nobody had used */
    assert_int_equal(result.executor, first + 1);
    run(*state, &bad, &result, HONE_FAILURE_RUN_CRASH, "SIGSEGV");
    assert_false(result.retried);
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    assert_true(result.executor > first + 1);
}

/* What is wrong is judged again as well, and its process, which lives on, is not used any more. */
static void replaces_executors_of_wrong_results(void **state) {
    hone_run_request good = runner_fixture_request(&fixture, "ok");
    hone_run_request bad = runner_fixture_request(&fixture, "wrong");
    hone_run_result result;
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    uint32_t first = result.executor;
    run(*state, &bad, &result, HONE_FAILURE_WRONG_RESULT, "");
    assert_true(result.retried);
    assert_int_equal(result.executor, first + 1);
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.executor, first + 2);
}

/* So is what could not be loaded: an earlier candidate may have been in its way. Its process is as
 * it was. */
static void loads_again_in_a_fresh_executor(void **state) {
    hone_run_request good = runner_fixture_request(&fixture, "ok");
    hone_run_request bad = runner_fixture_request(&fixture, "no_such_name");
    hone_run_result result;
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    uint32_t first = result.executor;
    run(*state, &bad, &result, HONE_FAILURE_LOAD_ERROR, "no_such_name");
    assert_true(result.retried);
    assert_int_equal(result.executor, first + 1);
    run(*state, &good, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.executor, first + 1);
}

/* What one tuner's candidate left behind is nothing that another one's meets. */
static void owners_do_not_mix(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    request.owner = hone_hash128_text("alice");
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    const uint32_t of_alice = result.executor;
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.executor, of_alice);
    request.owner = hone_hash128_text("bob");
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.executor, of_alice + 1);
    request.owner = hone_hash128_text("alice");
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_int_equal(result.executor, of_alice + 2);
}

/* The process ids of our children; the kernel lists them. */
static int children(long *out_pids, int capacity) {
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    while (count < capacity && fscanf(file, "%ld", &out_pids[count]) == 1)
        count++;
    fclose(file);
    return count;
}

/* The last one of a row of children: a warden has one, and that may have one. */
static long last_of_row(long pid) {
    for (;;) {
        char path[64];
        long child = 0;
        snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
        FILE *file = fopen(path, "r");
        bool has_one = file && fscanf(file, "%ld", &child) == 1;
        if (file) fclose(file);
        if (!has_one) return pid;
        pid = child;
    }
}

/* What a process has used of the CPU, in clock ticks. */
static unsigned long ticks_of(long pid) {
    char path[64], line[512] = "";
    unsigned long user = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    const char *at = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (at) sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &user);
    if (file) fclose(file);
    return user;
}

/* Who ends a candidate's process from outside, as the system does for want of memory, says nothing
 * about the candidate: it is judged again, also where the process was a fresh one. */
static void judges_again_what_was_killed(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "stubborn");
    hone_run_result result;
    hone_ticket ticket;
    hone_runner *runner = *state;
    long child = 0;
    if (runner_fixture_is_emulated()) skip(); /* an emulator's processes are others */
    request.timeout_ns = 2 * HONE_NS_PER_S;
    HONE_ASSERT_OK(hone_runner_submit(runner, &request, &ticket));
    if (children(&child, 1) == 0) skip(); /* a kernel without that file */
    int64_t patience = hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S), later;
    do {
        later = hone_deadline_after(hone_clock_system(), 10 * HONE_NS_PER_MS);
        HONE_ASSERT_CODE(hone_runner_next_result(runner, later, &ticket, &result),
                         HONE_CODE_TIMEOUT);
        assert_true(later < patience);
    } while (ticks_of(last_of_row(child)) < 30); /* it spins for ever */
    assert_int_equal(kill((pid_t)last_of_row(child), SIGKILL), 0);
    later = hone_deadline_after(hone_clock_system(), 120 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_runner_next_result(runner, later, &ticket, &result));
    assert_int_equal(result.failure, HONE_FAILURE_RUN_TIMEOUT);
    assert_true(result.retried);
    hone_run_result_deinit(&result);
}

static void outlives_a_killed_executor(void **state) {
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    long pids[8];
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    int count = children(pids, 8);
    if (count == 0) skip(); /* a kernel without that file */
    for (int i = 0; i < count; i++)
        assert_int_equal(kill((pid_t)pids[i], SIGKILL), 0);
    run(*state, &request, &result, HONE_FAILURE_NONE, "");
    assert_true(result.executor > 1);
}

static void takes_the_gate(void **state) {
    (void)state;
    char *path = hone_path_join(fixture.dir, "quiet.lock");
    const hone_runner_local_options options = {.executor_path = fixture.executor,
                                               .launcher =
                                                   fixture.launcher[0] ? fixture.launcher : NULL,
                                               .quiet_path = path,
                                               .unsandboxed = runner_fixture_is_emulated()};
    hone_runner *runner = NULL;
    hone_quiet_gate gate;
    hone_ticket ticket;
    hone_run_result result;
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    request.timeout_ns = HONE_NS_PER_S;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    HONE_ASSERT_OK(hone_quiet_open(path, &gate));
    HONE_ASSERT_OK(
        hone_quiet_begin(&gate, HONE_QUIET_SHARED, hone_clock_system(), HONE_DEADLINE_NEVER));
    HONE_ASSERT_OK(hone_runner_submit(runner, &request, &ticket));
    int64_t patience = hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S), later;
    do {
        later = hone_deadline_after(hone_clock_system(), 10 * HONE_NS_PER_MS);
        HONE_ASSERT_CODE(hone_runner_next_result(runner, later, &ticket, &result),
                         HONE_CODE_TIMEOUT);
        assert_true(later < patience);
    } while (!hone_quiet_is_wanted(&gate));
    /* longer than the timeout: waiting for the gate does not count */
    later = hone_deadline_after(hone_clock_system(), 1200 * HONE_NS_PER_MS);
    HONE_ASSERT_CODE(hone_runner_next_result(runner, later, &ticket, &result), HONE_CODE_TIMEOUT);
    hone_quiet_end(&gate);
    later = hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_runner_next_result(runner, later, &ticket, &result));
    assert_int_equal(result.failure, HONE_FAILURE_NONE);
    assert_true(result.times.wait_ns > HONE_NS_PER_S);
    hone_quiet_close(&gate);
    hone_runner_destroy(runner);
    hone_free(path);
}

static void needs_an_executor(void **state) {
    (void)state;
    hone_runner *runner = NULL;
    hone_runner_local_options options = {.executor_path = "/nonexistent/hone-runner"};
    HONE_ASSERT_ERROR(hone_runner_create_local(&options, &runner), HONE_CODE_NOT_FOUND,
                      "/nonexistent/hone-runner");
    assert_null(runner);
    options = (hone_runner_local_options){.executor_path = fixture.executor, .slots = 100000};
    HONE_ASSERT_CODE(hone_runner_create_local(&options, &runner), HONE_CODE_INVALID);
    /* a program that is no executor: each trial is lost, the runner is not */
    options = (hone_runner_local_options){.executor_path = "/bin/false"};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    run(runner, &request, &result, HONE_FAILURE_DEVICE_LOST, "did not start");
    run(runner, &request, &result, HONE_FAILURE_DEVICE_LOST, "did not start");
    hone_runner_destroy(runner);
}

/* A launcher that never starts what it should: no candidate was in its process, so none is blamed.
 */
static void blames_nobody_for_a_hanging_launcher(void **state) {
    (void)state;
    char *script = hone_path_join(fixture.dir, "hang.sh"),
         *mark = hone_path_join(fixture.dir, "hangs");
    hone_str text = {0};
    hone_str_printf(&text, "#!/bin/sh\n[ -e '%s' ] && exec sleep 60\nexec %s \"$@\"\n", mark,
                    fixture.launcher[0] ? fixture.launcher[0] : "");
    HONE_ASSERT_OK(hone_fs_write_atomic(script, text.data, text.length));
    const char *const launcher[] = {"/bin/sh", script, NULL};
    hone_runner_local_options options = {
        .executor_path = fixture.executor, .launcher = launcher, .unsandboxed = true};
    hone_runner *runner = NULL;
    hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    run(runner, &request, &result, HONE_FAILURE_NONE, "");
    hone_runner_destroy(runner);
    HONE_ASSERT_OK(hone_fs_write_atomic(mark, "", 0));
    options.start_timeout_ns = 200 * HONE_NS_PER_MS;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    run(runner, &request, &result, HONE_FAILURE_DEVICE_LOST, "the executor did not start after");
    hone_runner_destroy(runner);
    hone_str_deinit(&text);
    hone_free(mark);
    hone_free(script);
}

/* Bad and good candidates side by side: a verdict belongs to its own ticket. */
static void slots_do_not_mix(void **state) {
    (void)state;
    static const char *const entries[] = {"ok", "segfault", "ok", "wrong", "exit_three", "ok"};
    enum { ROUNDS = 8, KINDS = 6 };
    hone_runner *runner = runner_fixture_local(&fixture, 3);
    hone_ticket ticket;
    int sent = 0, answered = 0;
    while (answered < ROUNDS * KINDS) {
        while (sent < ROUNDS * KINDS && hone_runner_in_flight(runner) < 6) {
            hone_run_request request = runner_fixture_request(&fixture, entries[sent % KINDS]);
            HONE_ASSERT_OK(hone_runner_submit(runner, &request, &ticket));
            sent++;
        }
        hone_run_result result;
        int64_t limit = hone_deadline_after(hone_clock_system(), 60 * HONE_NS_PER_S);
        HONE_ASSERT_OK(hone_runner_next_result(runner, limit, &ticket, &result));
        const char *entry = entries[(ticket - 1) % KINDS];
        hone_failure want = !strcmp(entry, "ok")      ? HONE_FAILURE_NONE
                            : !strcmp(entry, "wrong") ? HONE_FAILURE_WRONG_RESULT
                                                      : HONE_FAILURE_RUN_CRASH;
        if (result.failure != want) fail_msg("%s: %s", entry, result.message);
        hone_run_result_deinit(&result);
        answered++;
    }
    hone_runner_destroy(runner);
}

#define LOCAL_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        LOCAL_TEST(gives_outputs),
        LOCAL_TEST(refills_what_is_in_and_out),
        LOCAL_TEST(checks_in_and_out_again),
        LOCAL_TEST(takes_inputs_from_the_bundle),
        LOCAL_TEST(a_later_bundle_is_the_machines_fault),
        LOCAL_TEST(passes_sizes),
        LOCAL_TEST(finds_external_functions),
        LOCAL_TEST(waiting_for_a_processor_does_not_count),
        LOCAL_TEST(says_why_it_cannot_load),
        LOCAL_TEST(says_what_is_wrong_with_the_bundle),
        LOCAL_TEST(takes_bytes),
        LOCAL_TEST(stops_early_for_losers),
        LOCAL_TEST(waits_take_no_time),
        LOCAL_TEST(runs_cold),
        LOCAL_TEST(runs_as_in_a_model),
        LOCAL_TEST(only_checks_when_asked_to),
        LOCAL_TEST(accounts_for_its_time),
        LOCAL_TEST(keeps_healthy_executors),
        LOCAL_TEST(replaces_executors_of_wrong_results),
        LOCAL_TEST(loads_again_in_a_fresh_executor),
        LOCAL_TEST(owners_do_not_mix),
        LOCAL_TEST(judges_again_what_was_killed),
        LOCAL_TEST(outlives_a_killed_executor),
        cmocka_unit_test(takes_the_gate),
        cmocka_unit_test(needs_an_executor),
        cmocka_unit_test(blames_nobody_for_a_hanging_launcher),
        cmocka_unit_test(slots_do_not_mix),
    };
    runner_fixture_init(&fixture);
    int failed = cmocka_run_group_tests_name("runner/local", tests, NULL, NULL);
    runner_fixture_deinit(&fixture);
    return failed;
}
