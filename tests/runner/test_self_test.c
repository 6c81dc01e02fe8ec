/* tests/runner/test_self_test.c - the kernel that every device must run, run here. */
#include "runner/runner.h"
#include "runner/self_test.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "target/target.h"
#include "tests/support/hone_test.h"

static hone_run_result run(const char *target, const char *quiet_path) {
    char *dir = NULL;
    hone_self_test test;
    hone_run_request request;
    hone_run_result result;
    hone_runner *runner = NULL;
    hone_ticket ticket, got;
    const hone_runner_local_options options = {.executor_path = hone_test_build_path("hone-runner"),
                                               .quiet_path = quiet_path};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-self-test", &dir));
    HONE_ASSERT_OK(hone_self_test_init(dir, target, &test));
    HONE_ASSERT_OK(hone_self_test_make(&test, &request));
    HONE_ASSERT_OK(hone_runner_create_local(&options, &runner));
    HONE_ASSERT_OK(hone_runner_submit(runner, &request, &ticket));
    HONE_ASSERT_OK(hone_runner_next_result(runner, HONE_DEADLINE_NEVER, &got, &result));
    hone_runner_destroy(runner);
    hone_self_test_deinit(&test);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    return result;
}

static void this_machine_passes(void **state) {
    (void)state;
    hone_target target;
    hone_str text = {0};
    HONE_ASSERT_OK(hone_target_detect(&target));
    hone_target_print(&target, &text);
    hone_run_result r = run(hone_str_text(&text), NULL);
    assert_string_equal(r.message, "");
    assert_true(r.checked);
    assert_null(hone_run_result_problem(&r, true));
    hone_str_deinit(&text);
}

static void another_target_does_not(void **state) {
    (void)state;
    assert_int_not_equal(run("riscv64-linux-gnu", NULL).failure, HONE_FAILURE_NONE);
}

/* A gate that is not there is the machine's fault, not the kernel's. */
static void a_bad_gate_is_the_machines(void **state) {
    (void)state;
    hone_run_result r = run("", "/nonexistent/quiet.lock");
    assert_int_equal(hone_failure_fault(r.failure), HONE_FAULT_MACHINE);
}

static void a_full_disk_is_noticed(void **state) {
    (void)state;
    hone_self_test test;
    hone_run_request request;
    HONE_ASSERT_OK(hone_self_test_init("/nonexistent", "", &test));
    HONE_ASSERT_CODE(hone_self_test_make(&test, &request), HONE_CODE_IO);
    hone_self_test_deinit(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine_passes),
        cmocka_unit_test(another_target_does_not),
        cmocka_unit_test(a_bad_gate_is_the_machines),
        cmocka_unit_test(a_full_disk_is_noticed),
    };
    return cmocka_run_group_tests_name("runner/self_test", tests, NULL, NULL);
}
