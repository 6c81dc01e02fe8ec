/* lower/signature/plain_form.h - a copy of a program in a form that shows what is written before
 * it is read: calls as the accesses that they stand for, counters as loops; inside lower/ only. */
#ifndef HONE_LOWER_SIGNATURE_PLAIN_FORM_H
#define HONE_LOWER_SIGNATURE_PLAIN_FORM_H

#include "lower/ground/accesses.h"

/* Blocks are there still: calls that get pointers become loads and stores of what their blocks
 * declare. storage: by buffer, the one whose elements it stands for. */
HONE_NODISCARD hone_status lower_show_calls(hone_lower *lower, const hone_buffer *storage);
/* No blocks any more: a `while` that counts is a loop with a variable (counted_loops.c). */
HONE_NODISCARD hone_status lower_show_counters(hone_lower *lower);
/* Likewise: numbers that have a name stand where they are used. */
HONE_NODISCARD hone_status lower_show_numbers(hone_lower *lower);
/* Of that form: whether a buffer is surely written as a whole, and nothing of it is read before it
 * was written. */
HONE_NODISCARD hone_status lower_is_output(hone_lower *lower, hone_buffer buffer,
                                           bool *out_is_output);
/* lower_is_output, of a buffer of constant shape, by running the loops over numbers. False also
 * where something is not known, or that takes too long. */
HONE_NODISCARD hone_status lower_is_filled_by_points(const hone_func *func, hone_buffer buffer,
                                                     const lower_accesses *all,
                                                     bool *out_is_filled);

#endif
