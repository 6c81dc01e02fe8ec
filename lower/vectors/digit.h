/* lower/vectors/digit.h - digits of numbers that go on evenly: their quotients and remainders;
 * inside lower/ only. */
#ifndef HONE_LOWER_VECTORS_DIGIT_H
#define HONE_LOWER_VECTORS_DIGIT_H

#include "lower/ground/passes.h"

/* x // n or x % n, where x goes on by `step` with each iteration of a loop. */
typedef struct lower_digit {
    const hone_expr *number; /* x */
    int64_t divisor, step;
} lower_digit;

/* The digit that e is, n being a constant above 0; false when it is none. */
bool lower_digit_of(hone_arith *arith, const hone_expr *e, hone_var var, lower_digit *out);
/* Whether below root something that holds the variable is divided by a constant. */
bool lower_has_digit(const hone_func *func, hone_node_id root, hone_var var);

#endif
