/* tests/support_room/test_dtype.c - names, sizes and ranges of element types. */

#include "support/data/dtype.h"
#include "support/data/dtype_dlpack.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *in;
    const char *want; /* the canonical name; NULL: not a type */
    size_t bytes;
} rows[] = {
    {"float32",               "float32",               4        },
    {"float64",               "float64",               8        },
    {"float16",               "float16",               2        },
    {"bfloat16",              "bfloat16",              2        },
    {"float8_e4m3fn",         "float8_e4m3fn",         1        },
    {"float8_e4m3",           "float8_e4m3",           1        },
    {"e4m3_float8",           "float8_e4m3fn",         1        },
    {"float8_e4m3b11fnuzx16", "float8_e4m3b11fnuzx16", 16       },
    {"float8_e8m0fnu",        "float8_e8m0fnu",        1        },
    {"float4_e2m1fnx2",       "float4_e2m1fnx2",       2        },
    {"float8_e5m2",           "float8_e5m2",           1        },
    {"float8_e5m2x8",         "float8_e5m2x8",         8        },
    {"int32x4",               "int32x4",               16       },
    {"int8",                  "int8",                  1        },
    {"uint64",                "uint64",                8        },
    {"int4",                  "int4",                  1        },
    {"uint2",                 "uint2",                 1        },
    {"bool",                  "bool",                  1        },
    {"boolx16",               "boolx16",               16       },
    {"handle",                "handle",                8        },
    {"void",                  "void",                  0        },
    {"",                      "void",                  0        },
    {"float32x32767",         "float32x32767",         4 * 32767},
    {"float32x1",             "float32",               4        },
    {"float32x32768",         NULL,                    0        },
    {"float32xvscalex4",      "float32xvscalex4",      0        },
    {"boolxvscalex1",         "boolxvscalex1",         0        },
    {"float32xvscale",        NULL,                    0        },
    {"float32xvscalex0",      NULL,                    0        },
    {"float32x0",             NULL,                    0        },
    {"float32x04",            NULL,                    0        },
    {"float32x",              NULL,                    0        },
    {"float32 ",              NULL,                    0        },
    {"float",                 NULL,                    0        },
    {"float33",               NULL,                    0        },
    {"int32x4x4",             NULL,                    0        },
    {"voidx2",                NULL,                    0        },
    {"int32x-1",              NULL,                    0        },
    {"Float32",               NULL,                    0        },
};

static void parses(void **state) {
    const struct row *row = *state;
    hone_dtype dtype = HONE_DTYPE_F32, again = HONE_DTYPE_F32;
    bool ok = hone_dtype_parse(row->in, &dtype);
    assert_int_equal(ok, row->want != NULL);
    if (!ok) {
        assert_true(hone_dtype_is_void(dtype));
        return;
    }
    assert_string_equal(HONE_DTYPE_NAME(dtype), row->want);
    assert_int_equal(hone_dtype_bytes(dtype), row->bytes);
    assert_true(hone_dtype_parse(HONE_DTYPE_NAME(dtype), &again));
    assert_true(hone_dtype_equal(dtype, again));
}

static void has_ranges(void **state) {
    (void)state;
    assert_int_equal(hone_dtype_min_int(HONE_DTYPE_I8), -128);
    assert_int_equal(hone_dtype_max_int(HONE_DTYPE_I8), 127);
    assert_int_equal(hone_dtype_min_int(HONE_DTYPE_I64), INT64_MIN);
    assert_int_equal(hone_dtype_max_int(HONE_DTYPE_I64), INT64_MAX);
    assert_int_equal(hone_dtype_min_int(HONE_DTYPE_U8), 0);
    assert_int_equal(hone_dtype_max_int(HONE_DTYPE_U8), 255);
    assert_int_equal(hone_dtype_max_int(HONE_DTYPE_U64), INT64_MAX);
    assert_int_equal(hone_dtype_max_int(HONE_DTYPE_BOOL), 1);
    assert_true(hone_dtype_epsilon(HONE_DTYPE_F32) == 0x1p-23);
    assert_true(hone_dtype_epsilon(HONE_DTYPE_BF16) == 0x1p-7);
    assert_true(hone_dtype_max_float(HONE_DTYPE_F8_E4M3) == 448.0);
    assert_true(hone_dtype_epsilon(HONE_DTYPE_I32) == 0);
}

static void asks_for_kinds(void **state) {
    (void)state;
    assert_true(hone_dtype_is_float(HONE_DTYPE_BF16));
    assert_true(hone_dtype_is_float(HONE_DTYPE_F8_E5M2));
    assert_false(hone_dtype_is_float(HONE_DTYPE_BOOL));
    assert_true(hone_dtype_is_integer(HONE_DTYPE_U8));
    assert_false(hone_dtype_is_int(HONE_DTYPE_U8));
    assert_false(hone_dtype_is_integer(HONE_DTYPE_BOOL));
    assert_true(hone_dtype_is_storable(HONE_DTYPE_BOOL));
    assert_false(hone_dtype_is_storable(HONE_DTYPE_VOID));
    assert_false(hone_dtype_is_storable((hone_dtype){0}));
    hone_dtype int1, int2, int4; /* the others in a byte */
    assert_true(hone_dtype_parse("int1", &int1));
    assert_true(hone_dtype_parse("int4", &int4));
    assert_true(hone_dtype_parse("int2", &int2));
    assert_true(hone_dtype_is_storable(int4) && !hone_dtype_is_storable(int1));
    assert_true(hone_dtype_is_storable(int2) && hone_dtype_min_int(int2) == -2);
    hone_dtype four = hone_dtype_with_lanes(HONE_DTYPE_F32, 4);
    assert_true(hone_dtype_is_vector(four));
    assert_true(hone_dtype_equal(hone_dtype_element(four), HONE_DTYPE_F32));
    assert_true(hone_dtype_same_element(four, HONE_DTYPE_F32));
}

static void prints_what_has_no_name(void **state) {
    (void)state;
    assert_string_equal(HONE_DTYPE_NAME(((hone_dtype){HONE_DTYPE_CODE_INT, 24, 2})), "int24x2");
    assert_string_equal(HONE_DTYPE_NAME(((hone_dtype){200, 8, 1})), "dtype?200");
    char small[4];
    assert_string_equal(hone_dtype_print(HONE_DTYPE_F32, small, sizeof small), "flo");
}

/* The codes of DLPack 1.1. */
static void has_codes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int code;
    } codes[] = {
        {"int8",               0 },
        {"uint64",             1 },
        {"float16",            2 },
        {"handle",             3 },
        {"bfloat16",           4 },
        {"bool",               6 },
        {"float8_e3m4",        7 },
        {"float8_e4m3",        8 },
        {"float8_e4m3b11fnuz", 9 },
        {"float8_e4m3fn",      10},
        {"float8_e4m3fnuz",    11},
        {"float8_e5m2",        12},
        {"float8_e5m2fnuz",    13},
        {"float8_e8m0fnu",     14},
        {"float6_e2m3fn",      15},
        {"float6_e3m2fn",      16},
        {"float4_e2m1fn",      17},
    };
    for (size_t i = 0; i < HONE_COUNT(codes); i++) {
        hone_dtype dtype;
        assert_true(hone_dtype_parse(codes[i].name, &dtype));
        assert_int_equal(hone_dtype_dlpack_code(dtype), codes[i].code);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_codes),
        cmocka_unit_test(has_ranges),
        cmocka_unit_test(asks_for_kinds),
        cmocka_unit_test(prints_what_has_no_name),
    };
    return HONE_RUN_ROWS("support/dtype parse", rows, parses) +
           cmocka_run_group_tests_name("support/dtype", tests, NULL, NULL);
}
