/* lower/dot/widen_pairs.h - packed pairs of bytes become 16-bit numbers (lower_widen.c): the first
 * pass of lowering, and needed before what depends on constants is split off. */
#ifndef HONE_LOWER_DOT_WIDEN_PAIRS_H
#define HONE_LOWER_DOT_WIDEN_PAIRS_H

#include "ir/core/func.h"

/* Changes func in place. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_widen_pairs(hone_func *func);

#endif
