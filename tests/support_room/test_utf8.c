/* tests/support_room/test_utf8.c - what is UTF-8, and what becomes of bytes that are not. */
#include "support/text/utf8.h"

#include <string.h>

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

int main(void) {
    return HONE_RUN_ROWS("support/utf8", rows, cleans);
}
