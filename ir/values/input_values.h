/* ir/values/input_values.h - which values of its inputs suit a program, so that made-up ones can be
 * run.
 *
 * Each input begins with a span that somebody would make up without looking, and keeps it unless
 * the program demands something else (ir/values/demands.h): indices come to lie in all of their
 * dimension, divisors are positive, shifts below the width, offsets rise. Whole numbers that bound
 * nothing keep their span; floats change only where roots, logarithms and quotients want it.
 */
#ifndef HONE_IR_VALUES_INPUT_VALUES_H
#define HONE_IR_VALUES_INPUT_VALUES_H

#include "ir/core/func.h"
#include "ir/values/span.h"

/* Which values one buffer parameter gets. */
typedef struct hone_input_values {
    hone_span span;   /* in: what would be made up, or what is there; out: what suits */
    bool is_input;    /* in: what it holds beforehand matters */
    bool is_given;    /* in: the span is what is there, and stays */
    bool is_sorted;   /* out: neighbours are ends of loops: rising from the low to the high end */
    bool is_distinct; /* out: says where something is stored: no value twice, if there are enough */
} hone_input_values;

/* values: by parameter of func; those of scalar parameters are left alone. out_problem: NULL, or
 * what no span was found for and the inputs that it comes from: "a divisor comes from 'B'", in the
 * arena. The same program gives the same values. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_func_suit_inputs(const hone_func *func, hone_arena *arena,
                                                 hone_input_values *values,
                                                 const char **out_problem);

#endif
