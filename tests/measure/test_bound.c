/* tests/measure/test_bound.c - the error bound, and comparing with a reference. */
#include <math.h>

#include "measure/bound.h"
#include "tests/support/hone_test.h"

static void bound_formula(void **state) {
    (void)state;
    double eps = ldexp(1, -23);
    assert_true(hone_error_bound(HONE_DTYPE_F32, 0, 2) == 8 * eps * 2);
    assert_true(hone_error_bound(HONE_DTYPE_F32, 0.5, 0) == 8);
    assert_true(hone_error_bound(HONE_DTYPE_F64, 0.25, 1) == 4 + 8 * ldexp(1, -52));
    assert_true(hone_error_bound(HONE_DTYPE_F16, 0, 1) == 8 * ldexp(1, -10));
    assert_true(hone_error_bound(HONE_DTYPE_I32, 100, 100) == 0);
    assert_true(hone_error_bound(HONE_DTYPE_BOOL, 1, 1) == 0);
}

static const struct row {
    const char *name;
    float got[4];
    double want[4];
    double bound, max_error;
    int64_t wrong, index;
} rows[] = {
    {"equal",                 {1, 2, 3, 4},                {1, 2, 3, 4},                0,    0,        0, 0},
    {"within",                {1, 2, 3.5f, 4},             {1, 2, 3, 4},                0.5,  0.5,      0, 2},
    {"beyond",                {1, 2, 3.5f, 5},             {1, 2, 3, 4},                0.25, 1,        2, 3},
    {"nan for a number",      {1, NAN, 3, 4},              {1, 2, 3, 4},                1e30, INFINITY, 1, 1},
    {"a number for nan",      {1, 2, 3, 4},                {1, 2, 3, NAN},              1e30, INFINITY, 1, 3},
    {"nan for nan",           {NAN, 2, 3, 4},              {NAN, 2, 3, 4},              0,    0,        0, 0},
    {"same infinity",         {INFINITY, 2, 3, -INFINITY}, {INFINITY, 2, 3, -INFINITY}, 0,    0,        0, 0},
    {"other infinity",        {INFINITY, 2, 3, 4},         {-INFINITY, 2, 3, 4},        1e30, INFINITY, 1, 0},
    {"infinity for a number", {1, 2, INFINITY, 4},         {1, 2, 3, 4},                1e30, INFINITY, 1, 2},
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_tensor_difference d;
    HONE_ASSERT_OK(hone_tensor_compare(HONE_DTYPE_F32, row->got, HONE_DTYPE_F64, row->want, 4,
                                       row->bound, &d));
    assert_true(d.max_error == row->max_error);
    assert_int_equal(d.wrong_count, row->wrong);
    assert_int_equal(d.max_index, row->index);
    assert_true(isfinite(d.reference_max)); /* errors are told beside it */
    /* the generic path must agree with the fast one */
    double wide[4];
    hone_tensor_difference same;
    for (int i = 0; i < 4; i++)
        wide[i] = (double)row->got[i];
    HONE_ASSERT_OK(
        hone_tensor_compare(HONE_DTYPE_F64, wide, HONE_DTYPE_F64, row->want, 4, row->bound, &same));
    assert_true(same.max_error == d.max_error && same.wrong_count == d.wrong_count);
    assert_true(same.reference_max == d.reference_max);
}

static void integers_are_exact(void) {
    const int64_t got[] = {1, (INT64_C(1) << 60) + 1}, want[] = {1, INT64_C(1) << 60};
    hone_tensor_difference d;
    HONE_ASSERT_OK(hone_tensor_compare(HONE_DTYPE_I64, got, HONE_DTYPE_I64, want, 2, 5, &d));
    assert_int_equal(d.wrong_count, 1); /* though both are the same double */
    assert_int_equal(d.max_index, 1);
    const uint8_t t[] = {1, 0, 1}, f[] = {2, 0, 0};
    HONE_ASSERT_OK(hone_tensor_compare(HONE_DTYPE_BOOL, t, HONE_DTYPE_BOOL, f, 3, 0, &d));
    assert_int_equal(d.wrong_count, 1);
}

static void odd_pairs(void) {
    const uint16_t half[] = {0x3c00, 0x4000}; /* 1, 2 */
    const double want[] = {1, 2.5};
    hone_tensor_difference d;
    HONE_ASSERT_OK(hone_tensor_compare(HONE_DTYPE_F16, half, HONE_DTYPE_F64, want, 2, 0.1, &d));
    assert_true(d.max_error == 0.5 && d.wrong_count == 1 && d.reference_max == 2.5);
    HONE_ASSERT_CODE(hone_tensor_compare(HONE_DTYPE_I32, half, HONE_DTYPE_F64, want, 1, 0, &d),
                     HONE_CODE_UNSUPPORTED);
    HONE_ASSERT_CODE(
        hone_tensor_compare(HONE_DTYPE_HANDLE, half, HONE_DTYPE_HANDLE, want, 0, 0, &d),
        HONE_CODE_UNSUPPORTED);
    HONE_ASSERT_OK(hone_tensor_compare(HONE_DTYPE_F32, half, HONE_DTYPE_F64, want, 0, 0, &d));
    assert_int_equal(d.max_index, -1);
}

static void others(void **state) {
    (void)state;
    integers_are_exact();
    odd_pairs();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bound_formula), cmocka_unit_test(others)};
    return HONE_RUN_ROWS("measure/compare", rows, check_row) +
           cmocka_run_group_tests_name("measure/bound", tests, NULL, NULL);
}
