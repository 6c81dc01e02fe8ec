/* tests/support/gpu/gpu_check.h - is a program that was scheduled for a GPU right there? */
#ifndef HONE_TESTS_SUPPORT_GPU_GPU_CHECK_H
#define HONE_TESTS_SUPPORT_GPU_GPU_CHECK_H

#include "ir/core/func.h"
#include "support/core/strbuf.h"
#include "target/target.h"

/* Well formed, within the limits of the target, every store in blocks of threads; computes what
 * `before` does without races, and still does so lowered. False with the reason. */
bool hone_test_gpu_is_right(const hone_func *before, const hone_func *scheduled,
                            const hone_target *target, uint64_t seed, hone_str *out_why);

#endif
