/* tests/support/random_program.h - random legal tensor programs, and whether two programs agree.
 *
 * A program is a chain of stages (elementwise, broadcast, reduction, window, matmul, convolution,
 * transpose, reshape, padding, strides, selects) over small shapes with ones and primes; some loops
 * are split with a predicate or reordered, as if written by hand. The same seed gives the same
 * program. Values stay small, so float32 results are far from overflow and integers do not wrap.
 */
#ifndef HONE_TESTS_SUPPORT_RANDOM_PROGRAM_H
#define HONE_TESTS_SUPPORT_RANDOM_PROGRAM_H

#include "ir/core/func.h"
#include "support/core/strbuf.h"
#include "support/data/tensor.h"

typedef struct hone_random_options {
    uint32_t max_stages; /* 0 = 4 */
    bool without_splits; /* every block directly below loops that are its axes, in order */
    bool only_float, only_int;
    bool use_int64; /* for shapes and indices */
    bool is_varied; /* float16, float64 and int64 too; every second one as random_script.h has it */
    bool has_sizes; /* of these, some with sizes known at run time */
} hone_random_options;

/* The program for a seed, in the arena; NULL when memory is short. options NULL = defaults. */
hone_func *hone_random_program(hone_arena *arena, uint64_t seed,
                               const hone_random_options *options);

/* Random arguments for all parameters of a function (buffers that it writes hold garbage); sizes
 * that are known at run time are drawn from 1 to 13. NULL on failure; free with
 * hone_test_free_args. */
hone_tensor **hone_test_make_args(const hone_func *func, uint64_t seed);
void hone_test_free_args(const hone_func *func, hone_tensor **args);
/* Is got what func may make of the arguments of this seed, of which it made want? Each element has
 * a bound of its own: how far rounding may move it, by the sizes of the terms that went into it and
 * the types in which they were rounded (out_bounds of ir/interp/interp.h); what was not computed
 * from rounded numbers is the same. out_why (may be NULL) gets the first buffer that differs, and
 * where.
 */
bool hone_test_args_agree(const hone_func *func, uint64_t seed, hone_tensor *const *got,
                          hone_tensor *const *want, hone_str *out_why);
/* hone_test_args_agree for other arguments: fresh ones, which are used up. */
bool hone_test_results_agree(const hone_func *func, hone_tensor **fresh, hone_tensor *const *got,
                             hone_tensor *const *want, hone_str *out_why);

/* Runs both functions on the same random arguments in the interpreter (uninitialised reads are
 * errors) and compares all parameters by the bounds of the first. False with the reason: also when
 * one of them fails. */
bool hone_test_agrees(const hone_func *a, const hone_func *b, uint64_t seed, hone_str *out_why);
/* What became of a function, on stderr: why, one, and then the other. */
void hone_test_show_change(const hone_func *before, const hone_func *after, const char *why);
/* hone_test_args_agree as a status, INTERNAL where they do not; takes st, which comes first, and
 * got. func, which made got, is printed on stderr where there is a failure. */
HONE_NODISCARD hone_status hone_test_compare(const hone_func *base, uint64_t seed,
                                             hone_tensor *const *want, hone_tensor **got,
                                             hone_status st, const hone_func *func);
/* hone_test_agrees as an assertion of cmocka; the message has the seed. */
void hone_test_agree(const hone_func *a, const hone_func *b, uint64_t seed);

#endif
