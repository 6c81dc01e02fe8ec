/* runtime/manners.h - what a function that is called must leave as it was: how its caller's
 * floating numbers are computed, and the flags of the processor that the calling convention fixes.
 *
 * Exceptions that a computation has raised are no part of it. Threads: of the calling thread.
 */
#ifndef HONE_RUNTIME_MANNERS_H
#define HONE_RUNTIME_MANNERS_H

#include <fenv.h>
#include <stdbool.h>

typedef struct hone_manners {
    fenv_t floats; /* rounding, subnormal numbers, which exceptions trap */
} hone_manners;

void hone_manners_note(hone_manners *out_now);

/* Puts back what is otherwise now. False: something was. */
bool hone_manners_restore(const hone_manners *wanted);

#endif
