/* tests/builder/test_tool.c - how compilers and linkers end. */
#include "builder/tool.h"
#include "tests/support/hone_test.h"

static void says_what_failed(void **state) {
    (void)state;
    const char *const argv[] = {"sh", "-c", "echo wrong >&2; exit 3", NULL};
    const hone_proc_options options = {.argv = argv};
    hone_status st = hone_tool_run(&options, "the tool", false);
    assert_string_equal(hone_status_message(st), "the tool: wrong");
    assert_int_equal(hone_status_consume(st), HONE_CODE_INVALID);
}

/* The limit of CPU time is the tool's end by a signal, which somebody may send as well. */
static void says_that_it_took_too_long(void **state) {
    (void)state;
    const char *const argv[] = {"sh", "-c", "kill -XCPU $$", NULL};
    const hone_proc_options options = {.argv = argv};
    hone_status st = hone_tool_run(&options, "the tool", true);
    assert_string_equal(hone_status_message(st), "the tool: it took more than 60 s of CPU time");
    assert_int_equal(hone_status_consume(st), HONE_CODE_TIMEOUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_failed),
        cmocka_unit_test(says_that_it_took_too_long),
    };
    return cmocka_run_group_tests_name("builder/tool", tests, NULL, NULL);
}
