/* tests/support_room/test_json.c - parse, print, build, typed members. */
#include <math.h>
#include <string.h>

#include "support/text/json.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *in;
    const char *want; /* printed again on one line; NULL: the message holds `part` */
    const char *part;
} rows[] = {
    {"{\"b\": 1, \"a\": [true, false, null]}", "{\"b\": 1, \"a\": [true, false, null]}", NULL                        },
    {" [ ] ",                                  "[]",                                     NULL                        },
    {"{}",                                     "{}",                                     NULL                        },
    {"0.1",                                    "0.1",                                    NULL                        },
    {"1.0",                                    "1.0",                                    NULL                        },
    {"1e300",                                  "1e+300",                                 NULL                        },
    {"0.30000000000000004",                    "0.30000000000000004",                    NULL                        },
    {"-0.0",                                   "-0.0",                                   NULL                        },
    {"9223372036854775807",                    "9223372036854775807",                    NULL                        },
    {"-9223372036854775808",                   "-9223372036854775808",                   NULL                        },
    {"\"a\\u0001\\n\\\"\\\\/\"",               "\"a\\u0001\\n\\\"\\\\/\"",               NULL                        },
    {"\"\xc3\xa9\\u00e9\"",                    "\"\xc3\xa9\xc3\xa9\"",                   NULL                        },
    {"9223372036854775808",                    NULL,                                     "too big integer"           },
    {"1e999",                                  NULL,                                     "real number overflow"      },
    {"{\"a\": 1, \"a\": 2}",                   NULL,                                     "duplicate object key"      },
    {"[1,\n 2,]",                              NULL,                                     "2:4: "                     },
    {"[1] x",                                  NULL,                                     "end of file expected"      },
    {"",                                       NULL,                                     "1:0: "                     },
    {"\"\\u0000\"",                            NULL,                                     "\\u0000"                   },
    {"\"\xff\"",                               NULL,                                     "unable to decode byte 0xff"},
    {"nul",                                    NULL,                                     "invalid token"             },
};

static void parses(void **state) {
    const struct row *row = *state;
    hone_json *json = NULL, *again = NULL;
    hone_status st = hone_json_parse(row->in, strlen(row->in), &json);
    if (!row->want) {
        assert_null(json);
        HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, row->part);
        return;
    }
    HONE_ASSERT_OK(st);
    hone_str text = {0};
    hone_json_print(json, NULL, &text);
    HONE_ASSERT_OK(hone_json_parse(text.data, text.length, &again));
    assert_true(hone_json_equal(json, again));
    assert_string_equal(text.data, row->want);
    hone_str_deinit(&text);
    hone_json_destroy(json);
    hone_json_destroy(again);
}

static hone_json *sample(void) {
    hone_json *list = hone_json_make_array();
    assert_true(hone_json_append(list, hone_json_make_i64(3)));
    assert_true(hone_json_append(list, hone_json_make_f64(0.5)));
    assert_true(hone_json_append(list, hone_json_make_f64((double)NAN)));
    hone_json *object = hone_json_make_object();
    assert_true(hone_json_set_text(object, "name", "x"));
    assert_true(hone_json_set_bool(object, "good", true));
    assert_true(hone_json_set(object, "list", list));
    assert_true(hone_json_set_i64(object, "count", -7));
    assert_true(hone_json_set_f64(object, "ratio", 2));
    assert_true(hone_json_set_text(object, "none", NULL));
    return object;
}

static void prints_in_styles(void **state) {
    (void)state;
    static const struct {
        hone_json_style style;
        const char *want;
    } styles[] = {
        {{.is_compact = true, .is_sorted = true},
         "{\"count\":-7,\"good\":true,\"list\":[3,0.5,null],\"name\":\"x\",\"none\":null,"
         "\"ratio\":2.0}"                                                },
        {{.indent = 2},
         "{\n  \"name\": \"x\",\n  \"good\": true,\n  \"list\": [\n    3,\n    0.5,\n    null\n"
         "  ],\n  \"count\": -7,\n  \"ratio\": 2.0,\n  \"none\": null\n}"},
    };
    hone_json *object = sample();
    for (size_t i = 0; i < HONE_COUNT(styles); i++) {
        hone_str text = {0};
        hone_json_print(object, &styles[i].style, &text);
        assert_string_equal(text.data, styles[i].want);
        hone_str_deinit(&text);
    }
    hone_json_destroy(object);
}

static void gets_typed_members(void **state) {
    (void)state;
    hone_json *object = sample();
    int64_t i = 1;
    double f = 1;
    const char *text = NULL;
    const hone_json *array = NULL;
    HONE_ASSERT_OK(hone_json_get_i64(object, "count", &i));
    HONE_ASSERT_OK(hone_json_get_f64(object, "count", &f)); /* an integer is a number */
    HONE_ASSERT_OK(hone_json_get_text(object, "name", &text));
    HONE_ASSERT_OK(hone_json_get_array(object, "list", &array));
    assert_int_equal(i, -7);
    assert_true(f == -7.0);
    assert_string_equal(text, "x");
    assert_int_equal(hone_json_count(array), 3);
    assert_int_equal(hone_json_i64(hone_json_at(array, 0)), 3);
    assert_null(hone_json_at(array, 3));
    HONE_ASSERT_ERROR(hone_json_get_i64(object, "ratio", &i), HONE_CODE_INVALID,
                      "'ratio' is a number, must be an integer");
    assert_int_equal(i, 0);
    HONE_ASSERT_ERROR(hone_json_get_text(object, "gone", &text), HONE_CODE_INVALID,
                      "'gone' is missing, must be text");
    HONE_ASSERT_CODE(hone_json_get_array(object, "count", &array), HONE_CODE_INVALID);
    assert_null(array);
    hone_json_destroy(object);
}

static void walks_objects(void **state) {
    (void)state;
    hone_json *object = sample();
    hone_str keys = {0};
    const char *key = NULL;
    const hone_json *value = NULL;
    for (void *cursor = NULL; hone_json_next(object, &cursor, &key, &value);) {
        hone_str_printf(&keys, "%s(%s) ", key, hone_json_kind_name(hone_json_get_kind(value)));
    }
    assert_string_equal(keys.data, "name(text) good(a boolean) list(an array) count(an integer) "
                                   "ratio(a number) none(null) ");
    hone_str_deinit(&keys);
    hone_json *copy = sample();
    assert_true(hone_json_equal(object, copy));
    assert_true(hone_json_set_i64(copy, "count", 8));
    assert_false(hone_json_equal(object, copy));
    hone_json_destroy(object);
    hone_json_destroy(copy);
}

static void null_poisons(void **state) {
    (void)state;
    assert_false(hone_json_set(NULL, "a", hone_json_make_i64(1))); /* takes it all the same */
    hone_json *array = hone_json_make_array();
    assert_false(hone_json_append(array, NULL));
    assert_null(hone_json_make_text_n("a\0b", 3));
    assert_int_equal(hone_json_count(array), 0);
    assert_null(hone_json_find(array, "key"));
    hone_json_destroy(array);
    hone_json_destroy(NULL);
}

/* What is printed is JSON whatever the text is. */
static void replaces_what_is_not_utf8(void **state) {
    (void)state;
    static const char want[] = "{\"k\xef\xbf\xbd\": \"a\\n\xef\xbf\xbd\"}";
    hone_json *object = hone_json_make_object(), *again = NULL;
    hone_str text = {0};
    bool is_set = hone_json_set_text(object, "k\xff", "a\n\xe9");
    hone_json_print(object, NULL, &text);
    hone_status st = hone_json_parse(hone_str_text(&text), text.length, &again);
    bool is_equal = !st && hone_json_equal(object, again);
    hone_status_free(st);
    hone_json_destroy(again);
    hone_json_destroy(object);
    bool is_right = is_set && is_equal && strcmp(hone_str_text(&text), want) == 0;
    hone_str_clear(&text);
    hone_json_print_text("\xe9\"\x80", 3, &text);
    is_right &= strcmp(hone_str_text(&text), "\"\xef\xbf\xbd\\\"\xef\xbf\xbd\"") == 0;
    hone_str_deinit(&text);
    assert_true(is_right);
}

static void refuses_deep_nesting(void **state) {
    (void)state;
    hone_str text = {0};
    hone_json *json = NULL;
    hone_str_append_repeat(&text, '[', 100000);
    HONE_ASSERT_CODE(hone_json_parse(text.data, text.length, &json), HONE_CODE_INVALID);
    hone_str_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_in_styles),     cmocka_unit_test(gets_typed_members),
        cmocka_unit_test(walks_objects),        cmocka_unit_test(null_poisons),
        cmocka_unit_test(refuses_deep_nesting), cmocka_unit_test(replaces_what_is_not_utf8),
    };
    return HONE_RUN_ROWS("support/json parse", rows, parses) +
           cmocka_run_group_tests_name("support/json", tests, NULL, NULL);
}
