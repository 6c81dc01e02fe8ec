/* tests/support_room/test_utf8.c - what is UTF-8, and what becomes of bytes that are not. */
#include "support/text/utf8.h"

#include <string.h>

#include "support/core/attributes.h"
#include "tests/support/hone_test.h"

#define LOST "\xef\xbf\xbd"

static const struct row {
    const char *text, *clean; /* clean NULL: it is UTF-8 as it is */
} rows[] = {
    {"",                     NULL                 },
    {"plain",                NULL                 },
    {"\x7f\xc2\x80",         NULL                 },
    {"\xdf\xbf\xe0\xa0\x80", NULL                 },
    {"\xed\x9f\xbf",         NULL                 },
    {"\xef\xbf\xbf",         NULL                 },
    {"\xf0\x90\x80\x80",     NULL                 },
    {"\xf4\x8f\xbf\xbf",     NULL                 },
    {"caf\xe9.py",           "caf" LOST ".py"     },
    {"\x80",                 LOST                 }, /* the middle of a character */
    {"\xc0\xaf",             LOST LOST            }, /* '/' in two bytes */
    {"\xe0\x9f\xbf",         LOST LOST LOST       },
    {"\xed\xa0\x80",         LOST LOST LOST       }, /* a surrogate */
    {"\xf0\x8f\xbf\xbf",     LOST LOST LOST LOST  },
    {"\xf4\x90\x80\x80",     LOST LOST LOST LOST  }, /* beyond U+10FFFF */
    {"\xf5\x80\x80\x80",     LOST LOST LOST LOST  },
    {"a\xe2\x82",            "a" LOST LOST        }, /* cut off */
    {"\xe2\x82z\xc3\xa9",    LOST LOST "z\xc3\xa9"},
    {"\xc3\xc3\xa9",         LOST "\xc3\xa9"      },
    {"\xe2\x82\xc3\xa9",     LOST LOST "\xc3\xa9" },
};

static void cleans(void **state) {
    const struct row *row = *state;
    size_t count = strlen(row->text);
    hone_str clean = {0};
    hone_utf8_append_clean(&clean, row->text, count);
    bool is_right = strcmp(hone_str_text(&clean), row->clean ? row->clean : row->text) == 0;
    is_right &= (hone_utf8_valid_bytes(row->text, count) == count) == !row->clean;
    is_right &= hone_utf8_valid_bytes(hone_str_text(&clean), clean.length) == clean.length;
    hone_str_deinit(&clean);
    assert_true(is_right);
}

/* What turns a line around, hides or moves the cursor is spelled. */
static void controls_are_spelled(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
    } all[] = {
        {"a\tb\n",                   "a\tb\n"             }, /* lines are kept */
        {"\x1b[2J\r",                "\\x1b[2J\\x0d"      },
        {"\xc2\x85",                 "\\u0085"            },
        {"\xe2\x80\xa7\xe2\x80\xa8", "\xe2\x80\xa7\\u2028"},
        {"\xe2\x80\xae\xe2\x80\xaf", "\\u202e\xe2\x80\xaf"},
        {"\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069"     },
    };
    for (size_t i = 0; i < HONE_COUNT(all); i++) {
        hone_str out = {0};
        hone_utf8_append_shown(&out, all[i].text, strlen(all[i].text), true);
        assert_string_equal(hone_str_text(&out), all[i].shown);
        hone_str_deinit(&out);
    }
}

static void ends_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
        size_t columns;
    } all[] = {
        {"matmul",                                    "matmul",                     6},
        {"matmul_relu",                               "mat..lu",                    7},
        {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f",          "\xc3\xa4..",                 3},
        {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9fx\xc3\xa4", "\xc3\xa4\xc3\xb6..\xc3\xa4", 5},
    };
    for (size_t i = 0; i < HONE_COUNT(all); i++) {
        hone_str out = {0};
        hone_utf8_append_short(&out, all[i].text, all[i].columns);
        assert_string_equal(hone_str_text(&out), all[i].shown);
        hone_str_deinit(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(controls_are_spelled),
                                       cmocka_unit_test(ends_are_kept)};
    return HONE_RUN_ROWS("support/utf8", rows, cleans) +
           cmocka_run_group_tests_name("support/utf8 shown", tests, NULL, NULL);
}
