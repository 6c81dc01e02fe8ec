/* tests/runtime/test_roofline.c - what a machine can do is a number, and bounds work by the larger
 * of its two parts. */
#include "tests/support/hone_test.h"

#include <math.h>

#include "runtime/roofline.h"

static void machines_do_something(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= 2; threads++) {
        hone_roofline r;
        HONE_ASSERT_OK(hone_roofline_measure(threads, &r));
        assert_true(isfinite(r.flops_per_ns) && r.flops_per_ns > 0);
        assert_true(isfinite(r.bytes_per_ns) && r.bytes_per_ns > 0);
    }
}

static void the_larger_part_bounds(void **state) {
    (void)state;
    const hone_roofline r = {.flops_per_ns = 100, .bytes_per_ns = 10};
    bool by_memory = false;
    assert_true(fabs(hone_roofline_ns(&r, 1000, 50, &by_memory) - 10) < 1e-12);
    assert_false(by_memory);
    assert_true(fabs(hone_roofline_ns(&r, 1000, 200, &by_memory) - 20) < 1e-12);
    assert_true(by_memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_do_something),
        cmocka_unit_test(the_larger_part_bounds),
    };
    return cmocka_run_group_tests_name("runtime/roofline", tests, NULL, NULL);
}
