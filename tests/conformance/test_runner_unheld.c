/* tests/conformance/test_runner_unheld.c - where candidates cannot be held, nothing is run, and it
 * is said why; unless that is asked for. This process takes the kernel's filters away from itself
 * and what it starts. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support/core/attributes.h"
#include "support/os/clock.h"
#include "support/os/proc.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

static runner_fixture fixture;

/* seccomp(2), and prctl(2) by which it can be had, too, are as in a kernel without. */
static bool lose_filters(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {HONE_COUNT(code), code};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static hone_runner *make_runner(bool unsandboxed) {
    hone_runner *runner = NULL;
    const hone_runner_local_options options = {.executor_path = fixture.executor,
                                               .unsandboxed = unsandboxed};
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    return runner;
}

static void says_why_nothing_holds(void **state) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    hone_runner *runner = make_runner(false);
    (void)state;
    hone_status st = hone_runner_local_layers(runner, layers);
    hone_runner_destroy(runner);
    HONE_ASSERT_ERROR(st, HONE_CODE_UNAVAILABLE, "does not filter system calls");
}

static void runs_nothing(void **state) {
    const hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    hone_runner *runner = make_runner(false);
    (void)state;
    runner_fixture_run(runner, &request, &result);
    hone_runner_destroy(runner);
    assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
    assert_non_null(strstr(result.message, "does not filter system calls"));
}

static void runs_when_told_to(void **state) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    const hone_run_request request = runner_fixture_request(&fixture, "ok");
    hone_run_result result;
    hone_runner *runner = make_runner(true);
    (void)state;
    HONE_ASSERT_OK(hone_runner_local_layers(runner, layers));
    runner_fixture_run(runner, &request, &result);
    hone_runner_destroy(runner);
    assert_int_equal(result.failure, HONE_FAILURE_NONE);
    assert_string_equal(layers, "limits");
}

/* The program refuses before it says hello to anybody: that address has no tracker. */
static void serves_nobody(void **state) {
    const char *argv[] = {fixture.executor, "--tracker", "tcp://127.0.0.1:1",
                          "--insecure",     "--cache",   fixture.dir,
                          "--quiet",        "none",      NULL};
    const hone_clock *clock = hone_clock_system();
    hone_str out = {0}, err = {0};
    hone_proc proc;
    (void)state;
    HONE_ASSERT_OK(hone_proc_run(argv, 65536, clock, hone_deadline_after(clock, 60 * HONE_NS_PER_S),
                                 &out, &err, &proc));
    assert_int_equal(proc.exit_code, 3);
    assert_non_null(strstr(hone_str_text(&err), "does not filter system calls"));
    assert_non_null(strstr(hone_str_text(&err), "--unsandboxed"));
    hone_proc_deinit(&proc);
    hone_str_deinit(&out);
    hone_str_deinit(&err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_nothing_holds),
        cmocka_unit_test(runs_nothing),
        cmocka_unit_test(runs_when_told_to),
        cmocka_unit_test(serves_nobody),
    };
    if (runner_fixture_is_emulated()) hone_test_skip_all("an emulator has no filter anyway");
    if (!lose_filters()) hone_test_skip_all("this kernel has no filters to lose");
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* of an executor that gave up half held */
    runner_fixture_init(&fixture);
    int failed = cmocka_run_group_tests_name("runner/unheld", tests, NULL, NULL);
    runner_fixture_deinit(&fixture);
    return failed;
}
