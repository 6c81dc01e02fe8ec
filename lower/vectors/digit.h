/* lower/vectors/digit.h - how an index moves from lane to lane: evenly, or as a digit (a quotient,
 * a remainder) of a number that does; inside lower/ only. */
#ifndef HONE_LOWER_VECTORS_DIGIT_H
#define HONE_LOWER_VECTORS_DIGIT_H

#include "lower/ground/passes.h"

/* start + step * i in iteration i of a loop */
typedef struct lower_move {
    const hone_expr *start; /* may hold other variables */
    int64_t step;
} lower_move;

/* How e moves over a loop that begins at min; false when it is not linear in its variable. */
bool lower_move_of(hone_arith *arith, const hone_expr *e, hone_var var, const hone_expr *min,
                   lower_move *out);

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
