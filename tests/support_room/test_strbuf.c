/* tests/support_room/test_strbuf.c - growing strings. */
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *name, *in, *want;
    size_t count;
} rows[] = {
    {"plain",        "abc",           "\"abc\"",                  3},
    {"escapes",      "a\"b\\c\n\t\r", "\"a\\\"b\\\\c\\n\\t\\r\"", 8},
    {"control",      "\x01\x7f",      "\"\\x01\\x7f\"",           2},
    {"nul inside",   "a\0b",          "\"a\\x00b\"",              3},
    {"utf-8 passes", "\xc3\xa9",      "\"\xc3\xa9\"",             2},
    {"empty",        "",              "\"\"",                     0},
};

static void quotes(void **state) {
    const struct row *row = *state;
    hone_str text = {0};
    hone_str_append_quoted(&text, row->in, row->count);
    char *got = hone_str_take(&text);
    assert_non_null(got);
    assert_string_equal(got, row->want);
    hone_free(got);
}

static void grows(void **state) {
    (void)state;
    hone_str text = {0};
    for (int i = 0; i < 1000; i++)
        hone_str_printf(&text, "%d,", i);
    hone_str_append_repeat(&text, '=', 100);
    hone_str_append_char(&text, '\n');
    HONE_ASSERT_OK(hone_str_check(&text));
    assert_int_equal(text.length, 3890 + 100 + 1);
    assert_int_equal(strlen(text.data), text.length);
    assert_memory_equal(text.data, "0,1,2,", 6);
    hone_str_truncate(&text, 3);
    assert_string_equal(hone_str_text(&text), "0,1");
    hone_str_clear(&text);
    assert_string_equal(hone_str_text(&text), "");
    hone_str_deinit(&text);
    assert_string_equal(hone_str_text(&text), "");
}

/* One that fills what there is to the last byte, and those around it. */
static void formats_to_the_end(void **state) {
    (void)state;
    char words[200];
    memset(words, 'x', sizeof words);
    for (int length = 0; length < 200; length++) {
        hone_str text = {0};
        hone_str_printf(&text, "%.*s", length, words);
        assert_int_equal(text.length, length);
        assert_int_equal(strlen(hone_str_text(&text)), length);
        hone_str_deinit(&text);
    }
}

static void formats_longer_than_capacity(void **state) {
    (void)state;
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    hone_str text = {0};
    hone_str_append(&text, "a");
    hone_str_printf(&text, "<%s>", big);
    assert_int_equal(text.length, 1 + 2 + 2999);
    assert_int_equal(text.data[text.length - 1], '>');
    hone_str_deinit(&text);
}

static void takes_empty(void **state) {
    (void)state;
    hone_str text = {0};
    char *got = hone_str_take(&text);
    assert_non_null(got);
    assert_string_equal(got, "");
    hone_free(got);
}

static hone_status build(void *context) {
    (void)context;
    hone_str text = {0};
    hone_str_append(&text, "start ");
    hone_str_printf(&text, "%0200d", 7);
    hone_str_append_repeat(&text, '-', 500);
    hone_status st = hone_str_check(&text);
    hone_str_deinit(&text);
    return st;
}

static void fails_once_and_stays_failed(void **state) {
    (void)state;
    hone_test_sweep_allocs(build, NULL);
    hone_str text = {0};
    hone_str_append(&text, "kept");
    hone_alloc_fail_nth(1, false);
    hone_str_append_repeat(&text, '-', 500);
    hone_str_append(&text, "lost");
    hone_alloc_fail_nth(0, false);
    assert_true(text.failed);
    assert_string_equal(hone_str_text(&text), "kept");
    HONE_ASSERT_CODE(hone_str_check(&text), HONE_CODE_NO_MEMORY);
    assert_null(hone_str_take(&text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),
        cmocka_unit_test(formats_to_the_end),
        cmocka_unit_test(formats_longer_than_capacity),
        cmocka_unit_test(takes_empty),
        cmocka_unit_test(fails_once_and_stays_failed),
    };
    return HONE_RUN_ROWS("support/strbuf quoted", rows, quotes) +
           cmocka_run_group_tests_name("support/strbuf", tests, NULL, NULL);
}
