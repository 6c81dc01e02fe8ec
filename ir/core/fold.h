/* ir/core/fold.h - operators applied to integers, and what sizes come to. */
#ifndef HONE_IR_CORE_FOLD_H
#define HONE_IR_CORE_FOLD_H

#include "ir/core/expr.h"

/* Rounds down; b is not 0, and not -1 for the smallest a. */
static inline int64_t hone_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
/* The greatest common divisor. Non-negative; of 0 and x it is |x|; INT64_MIN counts as 1, the
 * divisor that is always right. */
int64_t hone_gcd(int64_t a, int64_t b);
/* Of two 64-bit constants; false where there is no result that fits. */
bool hone_fold_ints(hone_op op, int64_t x, int64_t y, int64_t *out);
/* Of an expression over sizes: sizes[] by variable, a negative one is not known; so is the result
 * when this returns false. */
bool hone_fold_sizes(const hone_expr *e, const int64_t *sizes, uint32_t count, int64_t *out);

#endif
