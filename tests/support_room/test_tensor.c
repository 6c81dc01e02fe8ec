/* tests/support_room/test_tensor.c - element access, conversion, comparison. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/data/tensor.h"
#include "tests/support/hone_test.h"

/* What becomes of a double that is stored in a type and read back, both ways. */
static const struct row {
    const char *name;
    hone_dtype dtype;
    double in, want_f64;
    int64_t want_i64;
} rows[] = {
    {"f32 rounds",          HONE_DTYPE_INIT(FLOAT,       32, 1), 0.1,         (double)0.1f, 0        },
    {"f64 keeps",           HONE_DTYPE_INIT(FLOAT,       64, 1), -2.75,       -2.75,        -2       },
    {"f16 rounds",          HONE_DTYPE_INIT(FLOAT,       16, 1), 2049.0,      2048.0,       2048     },
    {"bf16 rounds",         HONE_DTYPE_INIT(BFLOAT,      16, 1), 257.0,       256.0,        256      },
    {"e4m3 holds",          HONE_DTYPE_INIT(FLOAT8_E4M3, 8,  1), 448.0,       448.0,        448      },
    {"e5m2 rounds",         HONE_DTYPE_INIT(FLOAT8_E5M2, 8,  1), 9.0,         8.0,          8        },
    {"int truncates",       HONE_DTYPE_INIT(INT,         32, 1), -3.9,        -3.0,         -3       },
    {"int8 saturates",      HONE_DTYPE_INIT(INT,         8,  1), 1e9,         127.0,        127      },
    {"int8 low",            HONE_DTYPE_INIT(INT,         8,  1), -1e9,        -128.0,       -128     },
    {"uint8 saturates",     HONE_DTYPE_INIT(UINT,        8,  1), 300.0,       255.0,        255      },
    {"uint16 not negative", HONE_DTYPE_INIT(UINT,        16, 1), -5.0,        0.0,          0        },
    {"int64 high",          HONE_DTYPE_INIT(INT,         64, 1), 1e30,        0x1p63,       INT64_MAX},
    {"uint64 wide",         HONE_DTYPE_INIT(UINT,        64, 1), 0x1p63,      0x1p63,       INT64_MIN},
    {"nan to int",          HONE_DTYPE_INIT(INT,         16, 1), (double)NAN, 0.0,          0        },
    {"bool is not zero",    HONE_DTYPE_INIT(BOOL,        8,  1), 0.25,        1.0,          1        },
    {"bool zero",           HONE_DTYPE_INIT(BOOL,        8,  1), 0.0,         0.0,          0        },
};

static void stores(void **state) {
    const struct row *row = *state;
    unsigned char element[8] = {0};
    hone_element_set_f64(row->dtype, element, row->in);
    assert_true(hone_element_get_f64(row->dtype, element) == row->want_f64);
    assert_int_equal(hone_element_get_i64(row->dtype, element), row->want_i64);
}

/* The data goes with the last that has it, in whatever order they end. */
static void shares(void **state) {
    (void)state;
    hone_tensor *first, *second, *third;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I32, 1, (int64_t[]){6}, &first));
    hone_tensor_set_i64(first, 5, 41);
    HONE_ASSERT_OK(hone_tensor_share(first, &second));
    HONE_ASSERT_OK(hone_tensor_share(second, &third));
    assert_ptr_equal(second->data, first->data);
    second->rank = 2;
    second->shape[0] = 2;
    second->shape[1] = 3;
    hone_tensor_destroy(first);
    hone_tensor_destroy(second);
    assert_int_equal(hone_tensor_get_i64(third, 5), 41);
    assert_int_equal(third->rank, 1);
    hone_tensor_destroy(third);
}

/* A part of a file, kept by a share of it, and parts that the file has not. */
static void maps_files(void **state) {
    (void)state;
    char path[] = "hone_test_tensor_XXXXXX";
    hone_tensor *mapped, *share;
    float numbers[48];
    for (int i = 0; i < 48; i++)
        numbers[i] = (float)i;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, numbers, sizeof numbers), sizeof numbers);
    close(fd);
    HONE_ASSERT_OK(hone_tensor_map(path, 64, HONE_DTYPE_F32, 1, (int64_t[]){32}, &mapped));
    HONE_ASSERT_OK(hone_tensor_share(mapped, &share));
    hone_tensor_destroy(mapped);
    assert_true(hone_tensor_get_f64(share, 31) == 47);
    hone_tensor_destroy(share);
    HONE_ASSERT_ERROR(hone_tensor_map(path, 64, HONE_DTYPE_F32, 1, (int64_t[]){33}, &mapped),
                      HONE_CODE_INVALID, "no 132 bytes at 64");
    HONE_ASSERT_ERROR(hone_tensor_map(path, 4, HONE_DTYPE_F32, 1, (int64_t[]){1}, &mapped),
                      HONE_CODE_INVALID, "at 4");
    unlink(path);
    HONE_ASSERT_ERROR(hone_tensor_map(path, 0, HONE_DTYPE_F32, 1, (int64_t[]){1}, &mapped),
                      HONE_CODE_IO, "cannot open");
    HONE_ASSERT_ERROR(hone_tensor_map(".", 0, HONE_DTYPE_F32, 1, (int64_t[]){1}, &mapped),
                      HONE_CODE_UNSUPPORTED, "no regular file");
}

static void creates_and_clones(void **state) {
    (void)state;
    hone_tensor *tensor = NULL, *copy = NULL;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, (int64_t[]){3, 5}, &tensor));
    assert_int_equal((uintptr_t)tensor->data % 64, 0);
    assert_int_equal(hone_tensor_count(tensor), 15);
    assert_int_equal(hone_tensor_bytes(tensor), 60);
    assert_true(hone_tensor_get_f64(tensor, 14) == 0);
    hone_tensor_set_f64(tensor, 14, 2.5);
    HONE_ASSERT_OK(hone_tensor_clone(tensor, &copy));
    assert_true(copy->data != tensor->data);
    assert_true(hone_tensor_get_f64(copy, 14) == 2.5);
    hone_str text = {0};
    hone_tensor_print_type(copy, &text);
    assert_string_equal(text.data, "float32[3, 5]");
    hone_str_deinit(&text);
    hone_tensor_destroy(tensor);
    hone_tensor_destroy(copy);
    hone_tensor_destroy(NULL);
}

static void refuses_bad_shapes(void **state) {
    (void)state;
    hone_tensor *tensor = NULL;
    const int64_t huge[] = {INT64_MAX, INT64_MAX}, empty_huge[] = {0, INT64_MAX, INT64_MAX};
    const int64_t negative[] = {2, -1}, ones[HONE_MAX_RANK + 1] = {1};
    HONE_ASSERT_ERROR(hone_tensor_create(HONE_DTYPE_F32, 2, huge, &tensor), HONE_CODE_INVALID,
                      "more bytes");
    HONE_ASSERT_ERROR(hone_tensor_create(HONE_DTYPE_F32, 2, negative, &tensor), HONE_CODE_INVALID,
                      "axis 1 is -1");
    HONE_ASSERT_ERROR(hone_tensor_create(HONE_DTYPE_F32, HONE_MAX_RANK + 1, ones, &tensor),
                      HONE_CODE_INVALID, "rank is 13");
    HONE_ASSERT_ERROR(hone_tensor_create(HONE_DTYPE_VOID, 0, NULL, &tensor), HONE_CODE_INVALID,
                      "'void'");
    assert_null(tensor);
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 3, empty_huge, &tensor));
    assert_int_equal(hone_tensor_count(tensor), 0);
    hone_tensor_destroy(tensor);
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I64, 0, NULL, &tensor));
    assert_int_equal(hone_tensor_count(tensor), 1);
    hone_tensor_destroy(tensor);
}

static void counts_lanes(void **state) {
    (void)state;
    float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    hone_dtype four = hone_dtype_with_lanes(HONE_DTYPE_F32, 4);
    hone_tensor view = hone_tensor_view(data, four, 1, (int64_t[]){2});
    assert_int_equal(hone_tensor_bytes(&view), sizeof data);
    assert_true(hone_tensor_get_f64(&view, 7) == 7);
}

static void converts(void **state) {
    (void)state;
    int64_t data[3] = {-1, 300, INT64_C(1) << 40};
    hone_tensor view = hone_tensor_view(data, HONE_DTYPE_I64, 1, (int64_t[]){3});
    hone_tensor *bytes = NULL, *floats = NULL;
    HONE_ASSERT_OK(hone_tensor_convert(&view, HONE_DTYPE_U8, &bytes)); /* integers wrap */
    assert_int_equal(hone_tensor_get_i64(bytes, 0), 255);
    assert_int_equal(hone_tensor_get_i64(bytes, 1), 44);
    assert_int_equal(hone_tensor_get_i64(bytes, 2), 0);
    HONE_ASSERT_OK(hone_tensor_convert(&view, HONE_DTYPE_F32, &floats));
    assert_true(hone_tensor_get_f64(floats, 2) == 0x1p40);
    hone_tensor_destroy(bytes);
    hone_tensor_destroy(floats);
    uint64_t wide = UINT64_MAX;
    view = hone_tensor_view(&wide, HONE_DTYPE_U64, 0, NULL);
    HONE_ASSERT_OK(hone_tensor_convert(&view, HONE_DTYPE_F64, &floats));
    assert_true(hone_tensor_get_f64(floats, 0) == 0x1p64);
    hone_tensor_destroy(floats);
    hone_dtype four = hone_dtype_with_lanes(HONE_DTYPE_F32, 4);
    HONE_ASSERT_CODE(hone_tensor_convert(&view, four, &floats), HONE_CODE_INVALID);
}

static void fills(void **state) {
    (void)state;
    hone_tensor *tensor = NULL;
    hone_rng rng = hone_test_rng(3);
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I8, 1, (int64_t[]){100}, &tensor));
    hone_tensor_fill_random(tensor, &rng, -2, 2);
    for (int64_t i = 0; i < 100; i++)
        assert_in_range(hone_tensor_get_i64(tensor, i) + 2, 0, 4);
    hone_test_fill(tensor, 9);
    assert_int_equal(hone_tensor_get_i64(tensor, 99), 9);
    hone_tensor_destroy(tensor);
}

static void compares(void **state) {
    (void)state;
    double got[4] = {1, 2.001, (double)INFINITY, (double)NAN};
    double want[4] = {1, 2, (double)INFINITY, (double)NAN};
    hone_tensor a = hone_tensor_view(got, HONE_DTYPE_F64, 2, (int64_t[]){2, 2});
    hone_tensor b = hone_tensor_view(want, HONE_DTYPE_F64, 2, (int64_t[]){2, 2});
    assert_true(hone_test_close(&a, &b, 1e-3, 0));
    assert_false(hone_test_close(&a, &b, 1e-4, 0));
    hone_tensor_diff diff = hone_tensor_diff_make(&a, &b, 0, 1e-5);
    assert_int_equal(diff.bad_count, 1);
    assert_int_equal(diff.worst, 1);
    hone_str text = {0};
    hone_tensor_diff_print(&diff, &b, &text);
    assert_string_equal(text.data, "1 of 4 elements differ, worst at [0, 1]: got 2.001, want 2 "
                                   "(max abs 0.001, max rel 0.0005)");
    hone_str_deinit(&text);
    got[0] = (double)NAN;
    got[2] = 1;
    diff = hone_tensor_diff_make(&a, &b, 1, 1);
    assert_int_equal(diff.bad_count, 2); /* no tolerance covers NaN or infinity */
    hone_tensor c = hone_tensor_view(want, HONE_DTYPE_F64, 1, (int64_t[]){4});
    assert_false(hone_tensor_diff_make(&a, &c, 1, 1).is_comparable);
    assert_false(hone_test_close(&a, &c, 1, 1));
}

static void large_integers_differ(void **state) {
    (void)state;
    int64_t got[1] = {(INT64_C(1) << 60) + 1}, want[1] = {INT64_C(1) << 60};
    hone_tensor a = hone_tensor_view(got, HONE_DTYPE_I64, 0, NULL);
    hone_tensor b = hone_tensor_view(want, HONE_DTYPE_I64, 0, NULL);
    assert_false(hone_test_close(&a, &b, 0, 0));
    assert_true(hone_test_close(&a, &a, 0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creates_and_clones),
        cmocka_unit_test(shares),
        cmocka_unit_test(maps_files),
        cmocka_unit_test(refuses_bad_shapes),
        cmocka_unit_test(counts_lanes),
        cmocka_unit_test(converts),
        cmocka_unit_test(fills),
        cmocka_unit_test(compares),
        cmocka_unit_test(large_integers_differ),
    };
    return HONE_RUN_ROWS("support/tensor elements", rows, stores) +
           cmocka_run_group_tests_name("support/tensor", tests, NULL, NULL);
}
