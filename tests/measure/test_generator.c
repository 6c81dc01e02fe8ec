/* tests/measure/test_generator.c - inputs are the same everywhere, and in their range. */
#include <math.h>
#include <string.h>

#include "measure/generator.h"
#include "support/hash.h"
#include "support/tensor.h"
#include "tests/support/hone_test.h"

static const struct parse_row {
    const char *text, *want; /* want NULL: refused */
} parse_rows[] = {
    {"uniform(-1, 1)",   "uniform(-1, 1)"                    },
    {"uniform(0.1,2e3)", "uniform(0.10000000000000001, 2000)"},
    {"integer(0, 8)",    "integer(0, 8)"                     },
    {"constant(3.5)",    "constant(3.5)"                     },
    {"iota(0)",          "iota(0)"                           },
    {"uniform(1, 1)",    NULL                                },
    {"uniform(nan, 1)",  NULL                                },
    {"uniform(0, inf)",  NULL                                },
    {"uniform(0)",       NULL                                },
    {"constant(1, 2)",   NULL                                },
    {"iota(0",           NULL                                },
    {"iota(0) ",         NULL                                },
    {"normal(0, 1)",     NULL                                },
    {"",                 NULL                                },
};

static void check_parse(void **state) {
    const struct parse_row *row = *state;
    hone_generator g;
    hone_status st = hone_generator_parse(row->text, &g);
    if (!row->want) {
        HONE_ASSERT_CODE(st, HONE_CODE_INVALID);
        return;
    }
    HONE_ASSERT_OK(st);
    hone_str out = {0};
    hone_generator_print(&g, &out);
    assert_string_equal(hone_str_text(&out), row->want);
    hone_generator again;
    HONE_ASSERT_OK(hone_generator_parse(hone_str_text(&out), &again));
    hone_str_deinit(&out);
    assert_true(again.kind == g.kind && again.low == g.low && again.high == g.high);
}

/* Changing how inputs are made would make stored bundles lie: these bytes never change. */
static void golden_bytes(void **state) {
    (void)state;
    float f[16];
    int32_t i[16];
    char text[HONE_HASH_HEX_BYTES];
    hone_generator uniform = {HONE_GENERATOR_UNIFORM, -1, 1},
                   whole = {HONE_GENERATOR_INTEGER, 0, 8};
    HONE_ASSERT_OK(hone_generate(&uniform, 42, 1, HONE_DTYPE_F32, 16, f));
    HONE_ASSERT_OK(hone_generate(&whole, 42, 1, HONE_DTYPE_I32, 16, i));
    assert_string_equal(hone_hash128_print(hone_hash128_bytes(f, sizeof f), text),
                        "1ea2a2013a47edc5e7a18a217fb1e221");
    assert_string_equal(hone_hash128_print(hone_hash128_bytes(i, sizeof i), text),
                        "6a7362164dd1a1d071e564873eef0ff7");
}

static void elements_depend_on_their_place_only(void **state) {
    (void)state;
    float longer[100], shorter[10], other[10];
    hone_generator g = {HONE_GENERATOR_UNIFORM, -1, 1};
    HONE_ASSERT_OK(hone_generate(&g, 7, 0, HONE_DTYPE_F32, 100, longer));
    HONE_ASSERT_OK(hone_generate(&g, 7, 0, HONE_DTYPE_F32, 10, shorter));
    assert_memory_equal(longer, shorter, sizeof shorter);
    HONE_ASSERT_OK(hone_generate(&g, 7, 1, HONE_DTYPE_F32, 10, other));
    assert_memory_not_equal(shorter, other, sizeof other);
    HONE_ASSERT_OK(hone_generate(&g, 8, 0, HONE_DTYPE_F32, 10, other));
    assert_memory_not_equal(shorter, other, sizeof other);
}

static void defaults_are_in_range(void **state) {
    (void)state;
    static const hone_dtype dtypes[] = {
        HONE_DTYPE_INIT(FLOAT, 16, 1), HONE_DTYPE_INIT(FLOAT, 32, 1),
        HONE_DTYPE_INIT(FLOAT, 64, 1), HONE_DTYPE_INIT(BFLOAT, 16, 1),
        HONE_DTYPE_INIT(INT, 8, 1),    HONE_DTYPE_INIT(INT, 32, 1),
        HONE_DTYPE_INIT(INT, 64, 1),   HONE_DTYPE_INIT(UINT, 8, 1),
        HONE_DTYPE_INIT(BOOL, 8, 1),
    };
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        unsigned char data[1000 * 8] = {0};
        hone_generator g = hone_generator_default(dtypes[d]);
        HONE_ASSERT_OK(hone_generate(&g, 3, 0, dtypes[d], 1000, data));
        int64_t shape = 1000;
        hone_tensor t = hone_tensor_view(data, dtypes[d], 1, &shape);
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < 1000; i++) {
            double v = hone_tensor_get_f64(&t, i);
            if (v < low) low = v;
            if (v > high) high = v;
        }
        assert_true(low >= g.low && high <= g.high);
        assert_true(high - low > (g.high - g.low) * 0.49); /* and not all the same */
    }
}

static void special_kinds(void **state) {
    (void)state;
    int8_t small[4];
    double d[3];
    hone_generator big = {HONE_GENERATOR_CONSTANT, 1e6, 0}, from = {HONE_GENERATOR_IOTA, 5, 0};
    HONE_ASSERT_OK(hone_generate(&big, 0, 0, HONE_DTYPE_I8, 4, small));
    assert_int_equal(small[3], 127); /* clamped */
    HONE_ASSERT_OK(hone_generate(&from, 0, 0, HONE_DTYPE_F64, 3, d));
    assert_true(d[0] == 5 && d[2] == 7);
    HONE_ASSERT_CODE(hone_generate(&from, 0, 0, HONE_DTYPE_HANDLE, 0, d), HONE_CODE_UNSUPPORTED);
    hone_generator bad = {(hone_generator_kind)9, 0, 1};
    HONE_ASSERT_CODE(hone_generate(&bad, 0, 0, HONE_DTYPE_F64, 0, d), HONE_CODE_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes), cmocka_unit_test(elements_depend_on_their_place_only),
        cmocka_unit_test(defaults_are_in_range), cmocka_unit_test(special_kinds)};
    return HONE_RUN_ROWS("measure/generator_text", parse_rows, check_parse) +
           cmocka_run_group_tests_name("measure/generator", tests, NULL, NULL);
}
