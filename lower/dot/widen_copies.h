/* lower/dot/widen_copies.h - copies of short numbers that are kept as longer ones: the first passes
 * of lowering, and needed before what depends on constants is split off. */
#ifndef HONE_LOWER_DOT_WIDEN_COPIES_H
#define HONE_LOWER_DOT_WIDEN_COPIES_H

#include "ir/core/func.h"

/* Both change func in place; NO_MEMORY is the only failure. */

/* Packed pairs of bytes become 16-bit numbers (lower_widen.c). */
HONE_NODISCARD hone_status hone_widen_pairs(hone_func *func);
/* Copies of short floats become float32 (lower_widen_floats.c) where they then take no more than
 * so many bytes each. */
HONE_NODISCARD hone_status hone_widen_floats(hone_func *func, double most_bytes);

#endif
