/* tests/support_room/test_vec.c - growing arrays. */

#include "support/core/alloc.h"
#include "support/data/vec.h"
#include "tests/support/hone_test.h"

typedef struct pair {
    int32_t a;
    double b;
} pair;

static void pushes_and_pops(void **state) {
    (void)state;
    HONE_VEC(pair) v = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(hone_vec_push(&v, (pair){.a = i, .b = i * 0.5}));
    assert_int_equal(v.count, 1000);
    assert_int_equal(hone_vec_last(&v).a, 999);
    for (int i = 999; i >= 500; i--)
        assert_int_equal(hone_vec_pop(&v).a, i);
    assert_int_equal(v.data[499].a, 499);
    hone_vec_clear(&v);
    assert_int_equal(v.count, 0);
    hone_vec_deinit(&v);
    assert_null(v.data);
    assert_int_equal(v.capacity, 0);
}

static void appends_and_resizes(void **state) {
    (void)state;
    HONE_VEC(int64_t) v = {0};
    const int64_t more[] = {1, 2, 3};
    assert_true(hone_vec_append(&v, more, 3));
    assert_true(hone_vec_append(&v, more, 0));
    assert_true(hone_vec_resize(&v, 20));
    assert_int_equal(v.data[2], 3);
    assert_int_equal(v.data[19], 0);
    assert_true(hone_vec_resize(&v, 1));
    assert_int_equal(v.count, 1);
    assert_true(hone_vec_reserve(&v, 1000));
    assert_true(v.capacity >= 1001);
    assert_false(hone_vec_reserve(&v, SIZE_MAX / 4));
    assert_int_equal(v.data[0], 1);
    hone_vec_deinit(&v);
}

static void keeps_its_elements_without_memory(void **state) {
    (void)state;
    HONE_VEC(int) v = {0};
    hone_alloc_fail_nth(2, true);
    int pushed = 0;
    while (hone_vec_push(&v, pushed))
        pushed++;
    hone_alloc_fail_nth(0, false);
    assert_int_equal(pushed, 8);
    assert_int_equal(v.count, 8);
    assert_int_equal(v.data[7], 7);
    hone_vec_deinit(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_and_pops),
        cmocka_unit_test(appends_and_resizes),
        cmocka_unit_test(keeps_its_elements_without_memory),
    };
    return cmocka_run_group_tests_name("support/vec", tests, NULL, NULL);
}
