/* tests/measure/test_generator.c - inputs are the same everywhere, and in their range. */
#include <math.h>

#include "measure/generator.h"
#include "support/data/hash.h"
#include "support/data/tensor.h"
#include "tests/support/hone_test.h"

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
        assert_true(low >= g.low && high <= g.high && high <= hone_generator_high(&g));
        assert_true(g.kind != HONE_GENERATOR_INTEGER || high == hone_generator_high(&g));
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
}

static void refuses_what_is_no_generator(void **state) {
    (void)state;
    const hone_generator bad[] = {
        {(hone_generator_kind)9, 0,           1               },
        {HONE_GENERATOR_UNIFORM, 1,           1               },
        {HONE_GENERATOR_INTEGER, 2,           1               },
        {HONE_GENERATOR_UNIFORM, (double)NAN, 1               },
        {HONE_GENERATOR_UNIFORM, 0,           (double)INFINITY},
        {HONE_GENERATOR_IOTA,    (double)NAN, 0               },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        HONE_ASSERT_CODE(hone_generate(&bad[i], 0, 0, HONE_DTYPE_F64, 0, NULL), HONE_CODE_INVALID);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes), cmocka_unit_test(elements_depend_on_their_place_only),
        cmocka_unit_test(defaults_are_in_range), cmocka_unit_test(special_kinds),
        cmocka_unit_test(refuses_what_is_no_generator)};
    return cmocka_run_group_tests_name("measure/generator", tests, NULL, NULL);
}
