/* ir/values/demands.h - what a program demands of the values that it computes with: an index lies
 * in its dimension, a whole divisor is not 0, a shift is by less than the width, an assertion
 * holds; and what makes numbers worth comparing: floats are divided by what is not 0, roots and
 * logarithms are of what has them.
 *
 * The program is run over spans: every input buffer is "any of these values", and each demand
 * either holds for all of them or is reported. Conditions around (if, where, T.if_then_else, the
 * arms of selects) narrow what stands below. What is computed of loop variables and sizes alone is
 * not looked at. Sound but for buffers that change between a condition and what it guards, external
 * functions and exact sums near 2^53: running the program is the judge (tuner/task/reference.c).
 */
#ifndef HONE_IR_VALUES_DEMANDS_H
#define HONE_IR_VALUES_DEMANDS_H

#include "ir/core/func.h"
#include "ir/values/span.h"

typedef enum hone_demand_kind {
    HONE_DEMAND_INDEX,   /* of dimension `dim` of `buffer` */
    HONE_DEMAND_DIVISOR, /* of whole numbers */
    HONE_DEMAND_SHIFT,
    HONE_DEMAND_ASSERTION, /* or what T.assume states */
    HONE_DEMAND_NUMBER,    /* of a float: else NaN, infinite or huge comes out; no error */
} hone_demand_kind;

typedef struct hone_demand {
    hone_demand_kind kind;
    const hone_expr *value;
    hone_span got, want; /* divisors: anything but 0 */
    hone_buffer buffer;
    uint32_t dim;
} hone_demand;

typedef struct hone_demand_counts {
    uint32_t errors, numbers; /* demands that need not hold */
} hone_demand_counts;

typedef struct hone_demand_check hone_demand_check; /* what is kept between checks */

/* Prepares checks of a function; in the arena, NULL when memory is short. */
hone_demand_check *hone_demand_check_create(const hone_func *func, hone_arena *arena);

/* inputs: by buffer, what it holds when the program begins; none for what is not an input. report
 * (may be NULL) gets each demand that need not hold. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_demands_check(hone_demand_check *check, const hone_span *inputs,
                                              void (*report)(void *ctx, const hone_demand *demand),
                                              void *ctx, hone_demand_counts *out_counts);

#endif
