/* tests/support/compiled.h - compiles a program, loads it, runs it: for tests that compare
 * generated code with the interpreter. */
#ifndef HONE_TESTS_SUPPORT_COMPILED_H
#define HONE_TESTS_SUPPORT_COMPILED_H

#include "ir/core/func.h"
#include "runtime/model/abi.h"
#include "support/data/tensor.h"
#include "target/target.h"

typedef struct test_compiled {
    void *library;
    hone_kernel kernel;
    hone_rt *rt;
} test_compiled;

/* Compiles C text into a shared object, all warnings being errors; calls take turns between gcc and
 * clang, with and without optimisation. */
HONE_NODISCARD hone_status test_compile_c(const char *text, size_t length, const char *path);

/* Lowers, generates (through LLVM, or as C text for a target of kind c), links into a temporary
 * file (removed again), loads. */
HONE_NODISCARD hone_status test_compile(const hone_func *func, const hone_target *target,
                                        test_compiled *out_compiled);
void test_compiled_deinit(test_compiled *compiled);

/* args: one tensor per buffer parameter; sizes as lower/signature/signature.h orders them, or NULL.
 */
int32_t test_compiled_run(const test_compiled *compiled, hone_tensor *const *args,
                          const int64_t *sizes);

/* Compiles func and runs it once, on a target of this machine or one that test_can_run. */
HONE_NODISCARD hone_status test_run(const hone_func *func, const hone_target *target,
                                    hone_tensor *const *args);

/* Compiles func, runs it and the interpreter on the same random inputs, compares all buffers.
 * tolerance: relative to the largest number of a buffer. INVALID with the difference. Constant
 * shapes only. Targets of other CPUs: see elsewhere.h, test_can_run. */
HONE_NODISCARD hone_status test_compare(const hone_func *func, const hone_target *target,
                                        uint64_t seed, double tolerance);

#endif
