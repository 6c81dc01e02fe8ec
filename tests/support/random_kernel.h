/* tests/support/random_kernel.h - random programs as a schedule leaves them: every element type,
 * sizes known at run time only, loop kinds, splits with a predicate, pragmas, pipelines, prefetch.
 *
 * random_program.h makes chains of operators of two types and constant shapes; this is about what
 * stands on and in the loops. Integers stay small and do not wrap.
 */
#ifndef HONE_TESTS_SUPPORT_RANDOM_KERNEL_H
#define HONE_TESTS_SUPPORT_RANDOM_KERNEL_H

#include "ir/core/func.h"
#include "support/core/strbuf.h"
#include "support/data/tensor.h"

/* The text of the program for a seed. */
void test_random_kernel(uint64_t seed, hone_str *out_text);

/* Random arguments; sizes are drawn from 1 to 37. out_sizes: as lower/signature/signature.h orders
 * them. NULL when memory is short; hone_test_free_args ends them. */
hone_tensor **test_random_kernel_args(const hone_func *func, uint64_t seed, int64_t *out_sizes);

/* How far two results may be apart, relative to the largest number. */
double test_dtype_tolerance(hone_dtype dtype);

#endif
