/* tests/support_room/test_base64.c - bytes to text and back, the examples of RFC 4648, and what is
 * no base64. */
#include "support/text/base64.h"

#include <string.h>

#include "tests/support/hone_test.h"

static const struct row {
    const char *text, *bytes; /* bytes NULL: none */
} rows[] = {
    {"",         ""            },
    {"Zg==",     "f"           },
    {"Zm8=",     "fo"          },
    {"Zm9v",     "foo"         },
    {"Zm9vYmFy", "foobar"      },
    {"+/++",     "\xfb\xff\xbe"},
    {"Zg=",      NULL          },
    {"Zg==Zg==", NULL          },
    {"Z===",     NULL          },
    {"Zm 9v",    NULL          },
    {"Zm9-",     NULL          },
    {"====",     NULL          },
};

static void goes_both_ways(void **state) {
    const struct row *row = *state;
    hone_str bytes = {0}, again = {0};
    bool is_base64 = hone_base64_decode(row->text, strlen(row->text), &bytes);
    bool is_right = is_base64 == (row->bytes != NULL);
    if (is_base64 && row->bytes) {
        hone_base64_encode(hone_str_text(&bytes), bytes.length, &again);
        is_right = strcmp(hone_str_text(&bytes), row->bytes) == 0 &&
                   strcmp(hone_str_text(&again), row->text) == 0;
    }
    hone_str_deinit(&bytes);
    hone_str_deinit(&again);
    assert_true(is_right);
}

int main(void) {
    return HONE_RUN_ROWS("support/base64", rows, goes_both_ways);
}
