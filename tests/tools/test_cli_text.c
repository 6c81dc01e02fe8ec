/* tests/tools/test_cli_text.c - what the verbs share that is text in, text out: times, suggestions,
 * numbers for people, tables, and the exit code of every status code. */
#include <math.h>

#include "support/text/duration.h"
#include "tests/support/hone_test.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_table.h"

/* ---- times ---- */

static const struct time_row {
    const char *text;
    int64_t ns; /* -1: not a time */
} times[] = {
    {"90",      INT64_C(90000000000)    },
    {"90s",     INT64_C(90000000000)    },
    {"10m",     INT64_C(600000000000)   },
    {"1h30m",   INT64_C(5400000000000)  },
    {"500ms",   INT64_C(500000000)      },
    {"1.5h",    INT64_C(5400000000000)  },
    {"2d",      INT64_C(172800000000000)},
    {"0",       0                       },
    {"",        -1                      },
    {"m",       -1                      },
    {"10x",     -1                      },
    {"-5",      -1                      },
    {"+5",      -1                      },
    {"10 m",    -1                      },
    {"nan",     -1                      },
    {"inf",     -1                      },
    {"1e400",   -1                      },
    {"999999d", -1                      },
    {".",       -1                      },
    {"10m?",    -1                      },
};

static void reads_times(void **state) {
    const struct time_row *row = *state;
    int64_t got;
    bool is_time = hone_duration_parse(row->text, &got);
    assert_int_equal(is_time, row->ns >= 0);
    if (is_time) assert_int_equal(got, row->ns);
}

/* ---- suggestions ---- */

static const struct suggest_row {
    const char *text, *meant;
} suggestions[] = {
    {"hsah",                                              "hash"    },
    {"hash",                                              "hash"    },
    {"schedul",                                           "schedule"},
    {"sched",                                             "schedule"},
    {"tuen",                                              "tune"    },
    {"equals",                                            "equal"   },
    {"frobnicate",                                        NULL      },
    {"x",                                                 NULL      },
    {"",                                                  NULL      },
    {"a word that is much longer than any that is known", NULL      },
};

static void suggests(void **state) {
    static const char *const known[] = {"hash", "schedule", "tune", "equal", "db"};
    const struct suggest_row *row = *state;
    const char *got = hone_name_suggest(row->text, known, HONE_COUNT(known), sizeof known[0]);
    if (row->meant) {
        assert_non_null(got);
        assert_string_equal(got, row->meant);
    } else {
        assert_null(got);
    }
}

/* ---- numbers ---- */

static const struct number_row {
    const char *want;
    double value;
    char kind; /* n: nanoseconds, c: count */
} numbers[] = {
    {"850 ns",  850,      'n'},
    {"1.00 us", 999.7,    'n'},
    {"1.23 us", 1234,     'n'},
    {"12.3 ms", 12.34e6,  'n'},
    {"123 ms",  123.4e6,  'n'},
    {"100 us",  99.96e3,  'n'},
    {"7.00 s",  7e9,      'n'},
    {"0.00 ns", 0,        'n'},
    {"-",       NAN,      'n'},
    {"-",       INFINITY, 'n'},
    {"-",       -1,       'n'},
    {"37",      37,       'c'},
    {"512 k",   512e3,    'c'},
    {"2.10 G",  2.1e9,    'c'},
    {"99.0 M",  99e6,     'c'},
    {"1.00 k",  999.6,    'c'},
    {"-",       NAN,      'c'},
};

static void prints_numbers(void **state) {
    const struct number_row *row = *state;
    hone_arena *arena = hone_arena_create(1024);
    char got[32];
    snprintf(got, sizeof got, "%s",
             row->kind == 'n' ? hone_text_of_ns(arena, row->value)
                              : hone_text_of_count(arena, row->value));
    hone_arena_destroy(arena);
    assert_string_equal(got, row->want);
}

/* ---- tables, exit codes ---- */

static void aligns_columns(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    hone_table table;
    hone_str out = {0};
    char got[256];
    hone_table_init(&table, arena, "name|>count|last");
    hone_table_add(&table, "größe");
    hone_table_add(&table, "%d", 7);
    hone_table_add(&table, "x");
    hone_table_add(&table, "b");
    hone_table_add(&table, "%d", 12345678);
    hone_table_add(&table, "%s", "");
    hone_table_print(&table, 0, &out);
    snprintf(got, sizeof got, "%s", hone_str_text(&out));
    hone_str_deinit(&out);
    hone_arena_destroy(arena);
    assert_string_equal(got, "name      count  last\n"
                             "größe         7  x\n"
                             "b      12345678\n");
}

/* One table in less and less room. */
static const struct width_row {
    const char *name;
    size_t width;
    const char *want;
} narrow[] = {
    {"as wide as it is",        59,
     "name                  hash        count  why\n"
     "fused_add_multiply_1  0123456789      7  one two three four\n"},
    {"names lose their middle", 52,
     "name           hash        count  why\n"
     "fused_..ply_1  0123456789      7  one two three four\n"       },
    {"and hashes their end",    49,
     "name          hash      count  why\n"
     "fused..ply_1  01234567      7  one two three four\n"          },
    {"columns follow below",    32,
     "name           hash        count\n"
     "fused_..ply_1  0123456789      7\n\n"
     "name          why\n"
     "fused..ply_1  one two three four\n"                           },
    {"numbers are never cut",   10,
     "name          hash\n"
     "fused..ply_1  01234567\n\n"
     "name          count\n"
     "fused..ply_1      7\n\n"
     "name          why\n"
     "fused..ply_1  one two three four\n"                           },
};

static void fits(void **state) {
    const struct width_row *row = *state;
    hone_arena *arena = hone_arena_create(1024);
    hone_table table;
    hone_str out = {0};
    char got[512];
    hone_table_init(&table, arena, "name|#hash|>count|~why");
    hone_table_add(&table, "fused_add_multiply_1");
    hone_table_add(&table, "0123456789");
    hone_table_add(&table, "%d", 7);
    hone_table_add(&table, "one two three four");
    hone_table_print(&table, row->width, &out);
    snprintf(got, sizeof got, "%s", hone_str_text(&out));
    hone_str_deinit(&out);
    hone_arena_destroy(arena);
    assert_string_equal(got, row->want);
}

static void prose_goes_on_below(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    hone_table table;
    hone_str out = {0};
    char got[512];
    hone_table_init(&table, arena, "~why|>n");
    hone_table_add(&table, "größe one two three four five six seven");
    hone_table_add(&table, "%d", 7);
    hone_table_print(&table, 27, &out);
    snprintf(got, sizeof got, "%s", hone_str_text(&out));
    hone_str_deinit(&out);
    hone_arena_destroy(arena);
    assert_string_equal(got, "why                       n\n"
                             "größe one two three four  7\n"
                             "five six seven\n");
}

static const struct code_row {
    const char *name;
    hone_code code;
    int want;
} codes[] = {
    {"ok",          HONE_CODE_OK,          0  },
    {"invalid",     HONE_CODE_INVALID,     2  },
    {"type",        HONE_CODE_TYPE,        2  },
    {"not_found",   HONE_CODE_NOT_FOUND,   2  },
    {"unsupported", HONE_CODE_UNSUPPORTED, 2  },
    {"illegal",     HONE_CODE_ILLEGAL,     2  },
    {"version",     HONE_CODE_VERSION,     2  },
    {"io",          HONE_CODE_IO,          3  },
    {"unavailable", HONE_CODE_UNAVAILABLE, 3  },
    {"timeout",     HONE_CODE_TIMEOUT,     3  },
    {"no_memory",   HONE_CODE_NO_MEMORY,   3  },
    {"external",    HONE_CODE_EXTERNAL,    3  },
    {"internal",    HONE_CODE_INTERNAL,    4  },
    {"cancelled",   HONE_CODE_CANCELLED,   130},
};

static void maps_codes(void **state) {
    const struct code_row *row = *state;
    assert_int_equal(hone_cli_exit_code(row->code), row->want);
}

static void has_a_row_for_every_code(void **state) {
    (void)state;
    assert_int_equal(HONE_COUNT(codes), HONE_CODE_COUNT);
}

int main(void) {
    const struct CMUnitTest single[] = {
        cmocka_unit_test(aligns_columns),
        cmocka_unit_test(prose_goes_on_below),
        cmocka_unit_test(has_a_row_for_every_code),
    };
    int failed = HONE_RUN_ROWS("tools/time", times, reads_times);
    failed += HONE_RUN_ROWS("tools/suggest", suggestions, suggests);
    failed += HONE_RUN_ROWS("tools/number", numbers, prints_numbers);
    failed += HONE_RUN_ROWS("tools/narrow", narrow, fits);
    failed += HONE_RUN_ROWS("tools/exit_code", codes, maps_codes);
    return failed + cmocka_run_group_tests_name("tools/text", single, NULL, NULL);
}
