/* tests/conformance/test_runner_unruly.c - candidates that lie, use everything up or leave threads
 * behind: each is told by its class, the next one runs as if nothing had been, the quiet gate is
 * free, and nothing stays. */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/quiet.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"
#include "tests/support/sanitizer.h"

#define PATIENCE_NS (60 * HONE_NS_PER_S)
#define SLOW_NS (600 * HONE_NS_PER_S) /* thousands of questions, on an emulated machine */
#define SHORT_NS (300 * HONE_NS_PER_MS)
#define MEMORY_BYTES (INT64_C(1) << 30)

static runner_fixture fixture;
static char *unruly, *quiet_path;
static hone_runner *runner; /* one for all rows: what a row leaves behind hits the next */

static const struct row {
    const char *entry;
    int64_t timeout_ns;
    hone_failure want;
    const char *message; /* a part of it */
} rows[] = {
    {"flush_subnormals",        PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "subnormal"     },
    {"round_upward",            PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "rounding"      },
    {"round_upward_for_itself", PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"trap_floats",             PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "traps"         },
    {"copy_backwards",          PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   ""              },
    {"trap_unaligned",          PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   ""              },
    {"forget_registers",        PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "SIG"           },
    {"move_to_one_cpu",         PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"call_as_i386",            PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "SIG"           },
    {"call_as_x32",             PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "SIGSYS"        },
    {"call_probes",             PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"stop_itself",             SHORT_NS,    HONE_FAILURE_RUN_TIMEOUT, "still running" },
    {"exhaust_descriptors",     PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"leave_threads",           PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
#ifndef UNDER_SANITIZER  /* which needs all addresses, so that there is no limit */
    {"eat_memory",              PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
#endif
    {"write_10_gigabytes",      PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"say_waiting",             SHORT_NS,    HONE_FAILURE_RUN_CRASH,   "was not asked" },
    {"say_started",             SHORT_NS,    HONE_FAILURE_RUN_CRASH,   "was not asked" },
    {"say_hello",               SHORT_NS,    HONE_FAILURE_RUN_CRASH,   "was not asked" },
    {"answer_another",          PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "was not asked" },
    {"answer_gigabytes",        PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "was written to"},
    {"keep_gate",               PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"garble_channel",          PATIENCE_NS, HONE_FAILURE_RUN_CRASH,   "SIGKILL"       },
    {"leave_taker",             PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"flip_paths",              SLOW_NS,     HONE_FAILURE_NONE,        ""              },
    {"leave_asker",             PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
    {"leave_vandal",            PATIENCE_NS, HONE_FAILURE_NONE,        ""              },
};

static hone_run_request request_of(const char *library, const char *entry, int64_t timeout_ns) {
    hone_run_request request = runner_fixture_request(&fixture, entry);
    request.artifact_path = library;
    request.timeout_ns = timeout_ns;
    return request;
}

static void assert_gate_is_free(const char *after) {
    hone_quiet_gate gate;
    const hone_clock *clock = hone_clock_system();
    HONE_ASSERT_OK(hone_quiet_open(quiet_path, &gate));
    hone_status st = hone_quiet_begin(&gate, HONE_QUIET_ALONE, clock,
                                      hone_deadline_after(clock, 5 * HONE_NS_PER_S));
    hone_quiet_close(&gate);
    if (hone_status_consume(st) != HONE_CODE_OK) fail_msg("%s keeps the quiet gate", after);
}

/* Says whether the candidate was judged in a fresh executor after it had failed in this one. */
static bool assert_is_fine(const char *library, const char *entry, const char *after) {
    hone_run_result result;
    const hone_run_request request = request_of(library, entry, PATIENCE_NS);
    runner_fixture_run(runner, &request, &result);
    if (result.failure != HONE_FAILURE_NONE)
        fail_msg("%s after %s: %s", entry, after, result.message);
    bool was_retried = result.retried;
    hone_run_result_deinit(&result);
    return was_retried;
}

static void assert_next_is_fine(const char *after) {
    assert_is_fine(fixture.candidates, "ok", after);
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_run_result result;
    const hone_run_request request = request_of(unruly, row->entry, row->timeout_ns);
    runner_fixture_run(runner, &request, &result);
    if (result.failure != row->want || !strstr(result.message, row->message)) {
        fail_msg("%s: got %s (%s), want %s (%s)", row->entry, hone_failure_name(result.failure),
                 result.message, hone_failure_name(row->want), row->message);
    }
    hone_run_result_deinit(&result);
    assert_gate_is_free(row->entry);
    for (int i = 0; i < 3; i++)
        assert_next_is_fine(row->entry);
    assert_gate_is_free(row->entry);
}

/* ---- what is left when nothing is asked for ---- */

static int count_children(void) {
    int count = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char path[300], line[512], *behind_name = NULL;
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (!file) continue;
        if (fgets(line, sizeof line, file)) behind_name = strrchr(line, ')');
        if (behind_name && sscanf(behind_name + 1, " %*c %d", &parent) == 1)
            count += parent == getpid();
        fclose(file);
    }
    closedir(dir);
    return count;
}

/* A thread that a candidate left burns no more than what it is left alone for, and the runner,
 * which has nothing to do, does not spin meanwhile. */
static void idle_executors_end(void **state) {
    hone_run_result result;
    const hone_run_request request = request_of(unruly, "leave_burner", PATIENCE_NS);
    const hone_clock *clock = hone_clock_system();
    int turns = 0;
    (void)state;
    runner_fixture_run(runner, &request, &result);
    assert_int_equal(result.failure, HONE_FAILURE_NONE);
    hone_run_result_deinit(&result);
    assert_int_equal(count_children(), 1);
    const int64_t until = hone_deadline_after(clock, 60 * HONE_NS_PER_S);
    while (count_children() > 0 && hone_clock_now(clock) < until) {
        struct pollfd wait = {.fd = hone_runner_fd(runner), .events = POLLIN};
        (void)poll(&wait, 1, hone_deadline_poll_ms(clock, until));
        HONE_ASSERT_OK(hone_runner_tend(runner));
        turns++;
    }
    assert_int_equal(count_children(), 0);
    assert_in_range(turns, 1, 100);
}

/* A thread that computes on would make the next candidate slower: that is judged elsewhere. */
static void candidates_are_alone(void **state) {
    const hone_runner_local_options options = {.executor_path = fixture.executor};
    hone_runner *usual = runner;
    (void)state;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    assert_is_fine(unruly, "leave_burner", "the start");
    bool was_retried = false;
    for (int i = 0; i < 200 && !was_retried; i++) /* one that got no processor is not seen */
        was_retried = assert_is_fine(fixture.candidates, "ok", "leave_burner");
    assert_true(was_retried);
    for (int i = 0; i < 3; i++)
        assert_false(assert_is_fine(fixture.candidates, "in_parallel", "in_parallel"));
    hone_runner_destroy(runner);
    runner = usual;
}

/* A library that changes how numbers are computed as it is loaded, or a kernel that chooses its
 * CPU, changes nothing for the next one in the same executor. */
static void executors_stay_as_they_are(void **state) {
    static const char *const entries[] = {"move_to_one_cpu", "round_upward_for_itself"};
    const hone_runner_local_options options = {.executor_path = fixture.executor};
    char *library = hone_strdup(hone_test_build_path("tests/fast_math.so"));
    hone_runner *usual = runner;
    (void)state;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    for (int i = 0; i < 2; i++) {
        assert_false(assert_is_fine(library, "keeps_subnormals", "loading"));
        assert_is_fine(unruly, entries[i], "fast_math.so");
        assert_false(assert_is_fine(unruly, "expect_manners", entries[i]));
    }
    hone_runner_destroy(runner);
    runner = usual;
    hone_free(library);
}

/* What other threads of the candidate leave is seen, whichever of them was asked last. */
static void threads_stay_as_they_are(void **state) {
    const hone_runner_local_options options = {.executor_path = fixture.executor};
    hone_run_request request = request_of(unruly, "flush_in_threads", PATIENCE_NS);
    hone_runner *own = NULL;
    (void)state;
    request.threads = 3;
    HONE_ASSERT_OK(hone_runner_create_local(&options, &own));
    for (int i = 0; i < 8; i++) {
        hone_run_result result;
        runner_fixture_run(own, &request, &result);
        assert_int_equal(result.failure, HONE_FAILURE_RUN_CRASH);
        assert_non_null(strstr(result.message, "subnormal"));
        hone_run_result_deinit(&result);
    }
    hone_runner_destroy(own);
}

/* Where the user cannot be changed, no limit of the kernel counts them. */
static void threads_have_a_limit_as_root(void **state) {
    const hone_runner_local_options options = {.executor_path = fixture.executor,
                                               .memory_bytes = MEMORY_BYTES,
                                               .without = "user,namespaces,landlock"};
    const hone_run_request request = request_of(unruly, "count_threads", PATIENCE_NS);
    hone_runner *as_root = NULL;
    hone_run_result result;
    (void)state;
#ifdef UNDER_SANITIZER
    skip(); /* each thread takes a megabyte more */
#endif
    HONE_ASSERT_OK(hone_runner_create_local(&options, &as_root));
    runner_fixture_run(as_root, &request, &result);
    hone_runner_destroy(as_root);
    if (result.failure != HONE_FAILURE_NONE) {
        fail_msg("%s: %s", hone_failure_name(result.failure), result.message);
    }
    hone_run_result_deinit(&result);
}

int main(void) {
    const struct CMUnitTest idle[] = {
        cmocka_unit_test(executors_stay_as_they_are), cmocka_unit_test(threads_stay_as_they_are),
        cmocka_unit_test(candidates_are_alone), cmocka_unit_test(idle_executors_end),
        cmocka_unit_test(threads_have_a_limit_as_root)};
    if (runner_fixture_is_emulated()) hone_test_skip_all("an emulator has no filter");
    runner_fixture_init(&fixture);
    unruly = hone_strdup(hone_test_build_path("tests/unruly.so"));
    quiet_path = hone_path_join(fixture.dir, "quiet.lock");
    const hone_runner_local_options options = {
        .executor_path = fixture.executor, .quiet_path = quiet_path, .memory_bytes = MEMORY_BYTES};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    int failed = HONE_RUN_ROWS("runner/unruly", rows, check_row);
    failed += cmocka_run_group_tests_name("runner/unruly, left alone", idle, NULL, NULL);
    hone_runner_destroy(runner);
    hone_free(unruly);
    hone_free(quiet_path);
    runner_fixture_deinit(&fixture);
    return failed;
}
