/* ir/core/fold.h - operators applied to integer constants. */
#ifndef HONE_IR_CORE_FOLD_H
#define HONE_IR_CORE_FOLD_H

#include "ir/core/expr.h"

/* a / b rounded down. b is not 0; nor -1 where a is INT64_MIN. */
static inline int64_t hone_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
/* The greatest common divisor, not negative; of 0 and x it is |x|. INT64_MIN counts as 1, the
 * divisor that is always right. */
int64_t hone_gcd(int64_t a, int64_t b);
/* x op y; false where the result is undefined or does not fit. */
bool hone_fold_ints(hone_op op, int64_t x, int64_t y, int64_t *out);
/* x op y of two constants of the type, of which those of uint64 from 2^63 on stand as negative
 * numbers; false where the result is undefined or does not fit. */
bool hone_fold_constants(hone_op op, hone_dtype dtype, int64_t x, int64_t y, int64_t *out);
/* The operation whose operands have these values. False also where its type is unsigned, or shorter
 * than those of indices, and does not hold the result, which wraps around. */
bool hone_fold_operation(const hone_expr *e, int64_t x, int64_t y, int64_t *out);
/* The constant of an integer type as a number of the float type, rounded once where that is float32
 * or float64. */
double hone_fold_to_float(hone_dtype from, int64_t value, hone_dtype to);
/* Of a type of integers: does it hold the number? */
static inline bool hone_dtype_holds(hone_dtype dtype, int64_t value) {
    return value >= hone_dtype_min_int(dtype) && value <= hone_dtype_max_int(dtype);
}
/* x & y, x | y, x ^ y and the shifts; false of other intrinsics, and where the type does not hold
 * the result or the shift moves all bits out. */
bool hone_fold_bits(hone_intrin intrin, hone_dtype dtype, int64_t x, int64_t y, int64_t *out);
/* The value of an expression over sizes: sizes[v] is that of variable v < count, negative: not
 * known. False where the value is not known. */
bool hone_fold_sizes(const hone_expr *e, const int64_t *sizes, uint32_t count, int64_t *out);

#endif
