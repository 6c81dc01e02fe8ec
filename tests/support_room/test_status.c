/* tests/support_room/test_status.c - making, joining and printing failures. */
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "tests/support/hone_test.h"

static hone_status fail_inner(int n) {
    if (n < 0) return HONE_ERROR(HONE_CODE_INVALID, "n is %d, must be at least 0", n);
    return HONE_OK;
}

static hone_status fail_outer(int n) {
    HONE_TRY(fail_inner(n));
    return HONE_OK;
}

static hone_status fail_cleanup(int n, int *cleaned) {
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, fail_outer(n), done);
done:
    *cleaned = 1;
    return st;
}

static void carries_message_and_trail(void **state) {
    (void)state;
    int cleaned = 0;
    hone_status st = fail_cleanup(-3, &cleaned);
    hone_str text = {0};
    hone_status_print(st, &text);
    assert_int_equal(cleaned, 1);
    assert_int_equal(hone_status_code(st), HONE_CODE_INVALID);
    assert_string_equal(hone_status_message(st), "n is -3, must be at least 0");
    assert_non_null(strstr(text.data, "invalid: n is -3, must be at least 0\n  at tests/"));
    assert_non_null(strstr(text.data, "test_status.c:"));
    const char *trail = strstr(text.data, "  by ");
    assert_non_null(trail);
    assert_non_null(strstr(trail + 1, "  by "));
    hone_str_deinit(&text);
    hone_status_free(st);
}

static void success_is_null(void **state) {
    (void)state;
    int cleaned = 0;
    HONE_ASSERT_OK(fail_cleanup(1, &cleaned));
    assert_int_equal(hone_status_code(HONE_OK), HONE_CODE_OK);
    assert_string_equal(hone_status_message(HONE_OK), "");
    hone_status_free(HONE_OK);
    assert_null(hone_status_annotate(HONE_OK, "x"));
    assert_null(hone_status_join(HONE_OK, HONE_OK));
}

static void joins_and_annotates(void **state) {
    (void)state;
    hone_status a = HONE_ERROR(HONE_CODE_IO, "first");
    hone_status b = HONE_ERROR(HONE_CODE_TIMEOUT, "second");
    hone_status st = hone_status_annotate(hone_status_join(a, b), "%s:%d", "f.onnx", 3);
    assert_string_equal(hone_status_message(st), "f.onnx:3: first; and then: second");
    HONE_ASSERT_CODE(st, HONE_CODE_IO);
    st = hone_status_join(HONE_OK, HONE_ERROR(HONE_CODE_TYPE, "only"));
    HONE_ASSERT_ERROR(st, HONE_CODE_TYPE, "only");
}

static void keeps_a_long_trail_bounded(void **state) {
    (void)state;
    hone_status st = HONE_ERROR(HONE_CODE_INTERNAL, "deep");
    for (int i = 0; i < 100; i++)
        st = hone_status_trail(st, "f.c", i);
    assert_int_equal(hone_status_consume(st), HONE_CODE_INTERNAL);
}

static void survives_without_memory(void **state) {
    (void)state;
    hone_alloc_fail_nth(1, true);
    hone_status a = fail_outer(-1);
    hone_status b = fail_outer(-2);
    hone_status st = hone_status_annotate(hone_status_join(a, b), "note");
    hone_alloc_fail_nth(0, false);
    assert_int_equal(hone_status_code(st), HONE_CODE_NO_MEMORY);
    assert_string_equal(hone_status_message(st), "out of memory");
    hone_status_free(st);
}

static hone_status sweep(void *context) {
    (void)context;
    hone_status st = hone_status_annotate(fail_outer(-1), "note");
    hone_code code = hone_status_consume(hone_status_join(st, fail_outer(-2)));
    bool is_known = code == HONE_CODE_INVALID || code == HONE_CODE_NO_MEMORY;
    return is_known ? HONE_OK : HONE_ERROR(HONE_CODE_INTERNAL, "code %d", (int)code);
}

static void sweeps(void **state) {
    (void)state;
    hone_test_sweep_allocs(sweep, NULL);
}

static void names_codes(void **state) {
    (void)state;
    for (int i = 0; i < HONE_CODE_COUNT; i++) {
        for (int k = 0; k < i; k++)
            assert_string_not_equal(hone_code_name((hone_code)i), hone_code_name((hone_code)k));
    }
    assert_string_equal(hone_code_name((hone_code)999), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_message_and_trail),
        cmocka_unit_test(success_is_null),
        cmocka_unit_test(joins_and_annotates),
        cmocka_unit_test(keeps_a_long_trail_bounded),
        cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(names_codes),
    };
    return cmocka_run_group_tests_name("support/status", tests, NULL, NULL);
}
