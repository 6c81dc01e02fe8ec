/* lower/vectors/lane_nest.h - a vectorized loop with those around it, as one count of iterations
 * whose digits are their variables; inside lower/ only.
 *
 *   for i in 40: for c in vectorized(3): S        i, c = f // 3, f % 3 of f in 120
 */
#ifndef HONE_LOWER_VECTORS_LANE_NEST_H
#define HONE_LOWER_VECTORS_LANE_NEST_H

#include "lower/ground/passes.h"

enum { LOWER_MAX_NEST = 4 };

typedef struct lower_nest {
    hone_lower *lower;
    uint32_t depth;
    hone_node_id loops[LOWER_MAX_NEST]; /* innermost first: the vectorized one */
    hone_var vars[LOWER_MAX_NEST];
    int64_t extents[LOWER_MAX_NEST];
    int64_t strides[LOWER_MAX_NEST]; /* iterations of the nest in one of this loop */
    int64_t count;                   /* iterations of the nest */
} lower_nest;

/* Begins with a vectorized loop; false when that is not a plain one. */
bool lower_nest_begin(lower_nest *nest, hone_lower *lower, hone_node_id vector);
/* The loop around the nest when that is a plain one that counts with the same type, in order or in
 * parallel; HONE_NO_ID otherwise, and when there is no more room. */
hone_node_id lower_nest_around(const lower_nest *nest);
/* Takes that loop in; false when there are too many iterations. */
bool lower_nest_grow(lower_nest *nest, hone_node_id loop);
/* None of the loops is parallel, or `parts` iterations are enough to keep all threads busy. */
bool lower_nest_is_fed(const lower_nest *nest, int64_t parts);
/* The loops' variables as digits of the number of an iteration, by variable; NULL when memory is
 * short. */
const hone_expr **lower_nest_digits(const lower_nest *nest, hone_ir *ir, const hone_expr *number);
/* Two loops in the place of all: over parts and over lanes, with these variables. */
HONE_NODISCARD hone_status lower_nest_replace(lower_nest *nest, hone_var part, int64_t parts,
                                              hone_var lane, int64_t lanes);

/* Whether this node of an expression can be computed once per lane, any number of times: a number,
 * not a vector, handle, LET or call with an effect. Its children are not looked at. */
bool lower_is_lane_part(const hone_expr *e);
/* Whether a load may see what the STORE writes. */
bool lower_sees_store(const hone_func *func, const hone_node *store, const hone_expr *load);

#endif
