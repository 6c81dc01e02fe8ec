/* tests/schedule/variant/variant_difference.c - see variant_difference.h. */
#include "tests/schedule/variant/variant_difference.h"

#include <math.h>
#include <stdio.h>

#include "ir/interp/interp.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

double variant_difference(const hone_func *want, const hone_func *got, uint64_t seed) {
    hone_tensor **a = hone_test_make_args(want, seed), **b = hone_test_make_args(want, seed);
    const hone_interp_options options = {0};
    assert_non_null(a);
    assert_non_null(b);
    hone_status st = hone_interp_func(want, a, want->param_count, &options);
    if (!st) st = hone_interp_func(got, b, got->param_count, &options);
    double most = 0, largest = 0;
    uint32_t out = want->param_count - 1;
    for (int64_t i = 0; i < hone_tensor_count(a[out]) && !st; i++) {
        double x = hone_tensor_get_f64(a[out], i), y = hone_tensor_get_f64(b[out], i);
        most = fmax(most, isfinite(y) ? fabs(x - y) : INFINITY);
        largest = fmax(largest, fabs(x));
    }
    if (st) fprintf(stderr, "%s\n", hone_status_message(st));
    if (st) most = INFINITY;
    hone_status_free(st);
    hone_test_free_args(want, a);
    hone_test_free_args(want, b);
    return most / fmax(largest, 1e-30);
}
