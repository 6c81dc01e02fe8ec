/* measure/bound.c - the error bound, and comparing a tensor with its reference. */
#include "measure/bound.h"

#include <math.h>
#include <string.h>

#include "measure/manifest.h"
#include "support/data/tensor.h"

double hone_rounding_bound(hone_dtype dtype, double terms, double largest) {
    return HONE_BOUND_ROUNDINGS * hone_dtype_epsilon(dtype) * sqrt(fmax(terms, 1)) * largest;
}

double hone_error_bound(hone_dtype dtype, double plain_deviation, double reference_max) {
    if (!hone_dtype_is_float(dtype)) return 0;
    return HONE_BOUND_DEVIATIONS * plain_deviation +
           HONE_BOUND_ROUNDINGS * hone_dtype_epsilon(dtype) * reference_max;
}

/* |got - want|, with the rules for numbers that are not finite. */
static double error_of(double got, double want) {
    if (got == want || (isnan(got) && isnan(want))) return 0;
    double error = fabs(got - want);
    return isnan(error) ? (double)INFINITY : error;
}

static void note(hone_tensor_difference *d, int64_t index, double got, double want, double error,
                 double bound) {
    if (isfinite(want) && fabs(want) > d->reference_max) d->reference_max = fabs(want);
    if (error > bound) d->wrong_count++;
    if (error > d->max_error || d->max_index < 0) {
        d->max_error = error;
        d->max_index = index;
        d->got = got;
        d->want = want;
    }
}

/* The pairs that nearly every comparison is made of, without a call per element. */
#define COMPARE_LOOP(got_type, want_type)                                                          \
    for (int64_t i = 0; i < count; i++) {                                                          \
        got_type g;                                                                                \
        want_type w;                                                                               \
        memcpy(&g, (const uint8_t *)got + (size_t)i * sizeof g, sizeof g);                         \
        memcpy(&w, (const uint8_t *)want + (size_t)i * sizeof w, sizeof w);                        \
        double error = fabs((double)g - (double)w);                                                \
        double size = fabs((double)w);                                                             \
        if (error <= bound && error <= d->max_error && size <= d->reference_max) continue;         \
        note(d, i, (double)g, (double)w, error_of((double)g, (double)w), bound);                   \
    }

static void compare_floats(hone_dtype got_type, const void *got, hone_dtype want_type,
                           const void *want, int64_t count, double bound,
                           hone_tensor_difference *d) {
    const bool want_f64 = hone_dtype_equal(want_type, HONE_DTYPE_F64);
    if (hone_dtype_equal(got_type, HONE_DTYPE_F32) && want_f64) {
        COMPARE_LOOP(float, double)
        return;
    }
    if (hone_dtype_equal(got_type, HONE_DTYPE_F64) && want_f64) {
        COMPARE_LOOP(double, double)
        return;
    }
    const size_t got_bytes = hone_dtype_bytes(got_type), want_bytes = hone_dtype_bytes(want_type);
    for (int64_t i = 0; i < count; i++) {
        uint64_t g = 0, w = 0; /* aligned copies */
        memcpy(&g, (const uint8_t *)got + (size_t)i * got_bytes, got_bytes);
        memcpy(&w, (const uint8_t *)want + (size_t)i * want_bytes, want_bytes);
        double gv = hone_element_get_f64(got_type, &g), wv = hone_element_get_f64(want_type, &w);
        note(d, i, gv, wv, error_of(gv, wv), bound);
    }
}

/* Exact: two 64-bit integers may differ and be the same double. */
static void compare_exactly(hone_dtype dtype, const void *got, const void *want, int64_t count,
                            hone_tensor_difference *d) {
    const size_t each = hone_dtype_bytes(dtype);
    for (int64_t i = 0; i < count; i++) {
        uint64_t g = 0, w = 0;
        memcpy(&g, (const uint8_t *)got + (size_t)i * each, each);
        memcpy(&w, (const uint8_t *)want + (size_t)i * each, each);
        if (hone_dtype_is_bool(dtype)) { /* any byte that is not 0 is true */
            g = g != 0;
            w = w != 0;
        }
        double gv = hone_element_get_f64(dtype, &g), wv = hone_element_get_f64(dtype, &w);
        double error = fabs(gv - wv);
        if (g != w && error < 1) error = 1;
        note(d, i, gv, wv, error, 0);
    }
}

hone_status hone_tensor_compare(hone_dtype dtype, const void *got, hone_dtype reference_dtype,
                                const void *reference, int64_t count, double bound,
                                hone_tensor_difference *out_difference) {
    *out_difference = (hone_tensor_difference){.max_index = -1};
    const bool known = hone_dtype_is_measurable(dtype) && hone_dtype_is_measurable(reference_dtype);
    if (known && hone_dtype_is_float(dtype) && hone_dtype_is_float(reference_dtype)) {
        compare_floats(dtype, got, reference_dtype, reference, count, bound, out_difference);
        return HONE_OK;
    }
    if (known && !hone_dtype_is_float(dtype) && hone_dtype_equal(dtype, reference_dtype)) {
        compare_exactly(dtype, got, reference, count, out_difference);
        return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tensor of '%s' cannot be compared with one of '%s'",
                      HONE_DTYPE_NAME(dtype), HONE_DTYPE_NAME(reference_dtype));
}
