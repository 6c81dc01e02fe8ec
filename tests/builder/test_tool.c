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

#define LIMIT (INT64_C(4) << 30)

/* clang-format off */
static const struct row {
    const char *name, *script;
    bool is_trusted;
    int64_t address_bytes;
    hone_code code;
} rows[] = {
    {"a wrong text", "echo 'x.c:1: error: no'; exit 1", false, LIMIT, HONE_CODE_INVALID},
    {"killed", "kill -KILL $$", false, LIMIT, HONE_CODE_IO},
    {"a crash", "kill -SEGV $$", false, LIMIT, HONE_CODE_INVALID},
    {"its part killed", "echo 'cc: fatal error: Killed signal terminated program cc1'; echo 'compilation terminated.'; exit 1", false, LIMIT, HONE_CODE_IO},
    {"its part crashed", "echo 'cc: internal compiler error: Segmentation fault signal terminated program cc1'; exit 4", false, LIMIT, HONE_CODE_INVALID},
    {"a text that calls itself so", "echo 'cc: fatal error: Killed signal terminated program cc1:1:2: error: #error'; exit 1", false, LIMIT, HONE_CODE_INVALID},
    {"a little memory", "echo; echo 'cc1: out of memory allocating 65536 bytes after a total of 1000 bytes'; exit 1", false, LIMIT, HONE_CODE_IO},
    {"a little memory, without a limit", "echo 'cc1: out of memory allocating 65536 bytes after a total of 1000 bytes'; exit 1", false, 0, HONE_CODE_IO},
    {"much memory", "echo 'cc1: out of memory allocating 4000000000 bytes after a total of 1000 bytes'; exit 1", false, LIMIT, HONE_CODE_INVALID},
    {"a text about memory", "echo 'cc1: out of memory allocating 8 bytes after a total of 1000 bytes:1:2: error: #error'; exit 1", false, LIMIT, HONE_CODE_INVALID},
    {"a linker's memory", "echo 'ld: memory exhausted'; exit 1", false, LIMIT, HONE_CODE_IO},
    {"no room", "echo 'ld: final link failed: No space left on device'; exit 1", true, 0, HONE_CODE_IO},
    {"words about room", "echo 'x.c:1: error: No space left on device'; exit 1", false, LIMIT, HONE_CODE_INVALID},
};
/* clang-format on */

/* Whose fault it is. */
static void check_row(void **state) {
    const struct row *row = *state;
    const char *const argv[] = {"sh", "-c", row->script, NULL};
    const hone_proc_options options = {.argv = argv, .address_bytes = row->address_bytes};
    HONE_ASSERT_CODE(hone_tool_run(&options, "the tool", row->is_trusted), row->code);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_failed),
        cmocka_unit_test(says_that_it_took_too_long),
    };
    int failed = cmocka_run_group_tests_name("builder/tool", tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("builder/tool whose fault", rows, check_row);
}
