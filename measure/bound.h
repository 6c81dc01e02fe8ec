/* measure/bound.h - when is an output right? The one error bound of the project.
 *
 *   |got − reference| <= 16 × (the largest deviation of the plainly compiled, unwidened program
 *                              from the reference)
 *                        + 8 × eps(output dtype) × (the largest |reference|)
 *
 * Integers and booleans are exact. The reference is the unscheduled program widened to f64. NaN
 * where the reference is NaN and an infinity where it is the same infinity are right; everything
 * else that is not finite is an infinite error. Elements that are not finite in the reference
 * count neither for the deviation nor for the largest |reference|.
 */
#ifndef HONE_MEASURE_BOUND_H
#define HONE_MEASURE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/data/dtype.h"

#define HONE_BOUND_DEVIATIONS 16.0
#define HONE_BOUND_ROUNDINGS 8.0

/* The bound itself, from the two measured facts. 0 for dtypes that are exact. */
double hone_error_bound(hone_dtype dtype, double plain_deviation, double reference_max);

/* The largest error that rounding explains in an output of this type, each of whose elements is
 * made of `terms` operations, where the largest number is `largest`: 8 errors of rounding for each
 * square root of a term, as random ones add up. */
double hone_rounding_bound(hone_dtype dtype, double terms, double largest);

typedef struct hone_tensor_difference {
    double max_error;     /* infinite when a NaN or infinity is on one side only */
    int64_t max_index;    /* flat index where it is, -1 when there are no elements */
    double got, want;     /* there */
    double reference_max; /* largest finite |reference| */
    int64_t wrong_count;  /* elements beyond the bound that was passed */
} hone_tensor_difference;

/* Compares `count` elements. The reference has its own dtype: float64 for a floating output (or
 * the output's dtype), the output's dtype for integers, which are compared exactly. UNSUPPORTED
 * for dtypes without numbers or pairs that cannot be compared. Data need not be aligned. */
HONE_NODISCARD hone_status hone_tensor_compare(hone_dtype dtype, const void *got,
                                               hone_dtype reference_dtype, const void *reference,
                                               int64_t count, double bound,
                                               hone_tensor_difference *out_difference);

#endif
