/* ir/values/span.h - the numbers from low to high, whole or real: what a value may be.
 *
 * Unlike the bounds of ir/arith/arith.h, which are of indices alone, spans are of every type: they
 * follow what is loaded through casts, floats and integers that wrap. A span has all values and may
 * have more; one with low > high has none (nothing is known to reach it yet). Ends beyond 2^53 are
 * rounded. Plain values.
 */
#ifndef HONE_IR_VALUES_SPAN_H
#define HONE_IR_VALUES_SPAN_H

#include "ir/core/expr.h"

typedef struct hone_span {
    double low, high; /* both are reached */
} hone_span;

static inline hone_span hone_span_at(double value) {
    return (hone_span){value, value};
}
static inline bool hone_span_is_empty(hone_span s) {
    return s.low > s.high;
}
static inline bool hone_span_has(hone_span s, double value) {
    return s.low <= value && value <= s.high;
}
static inline bool hone_span_within(hone_span s, hone_span in) {
    return hone_span_is_empty(s) || (s.low >= in.low && s.high <= in.high);
}
hone_span hone_span_none(void);
hone_span hone_span_of_type(hone_dtype dtype); /* everything it can be */
hone_span hone_span_join(hone_span a, hone_span b);
hone_span hone_span_meet(hone_span a, hone_span b);

/* The result of an operator or call over spans, of type `dtype` where it wraps or saturates as the
 * interpreter does. Nothing in gives nothing out. */
hone_span hone_span_binary(hone_op op, hone_dtype dtype, hone_dtype operands, hone_span x,
                           hone_span y);
hone_span hone_span_cast(hone_dtype to, hone_dtype from, hone_span x);
hone_span hone_span_call(hone_intrin intrin, hone_dtype dtype, size_t count, const hone_span *args);

#endif
