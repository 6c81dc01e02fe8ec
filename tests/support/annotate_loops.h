/* tests/support/annotate_loops.h - random, legal loop kinds on a program, as a schedule gives. */
#ifndef HONE_TESTS_SUPPORT_ANNOTATE_LOOPS_H
#define HONE_TESTS_SUPPORT_ANNOTATE_LOOPS_H

#include "ir/core/func.h"
#include "support/data/rng.h"

/* Marks loops parallel, vectorized or unrolled where the blocks below allow it (a loop that only
 * spatial axes are bound to; any loop may be unrolled), and adds unroll pragmas. Returns how many
 * loops were changed. */
uint32_t test_annotate_loops(hone_func *func, hone_rng *rng);

#endif
