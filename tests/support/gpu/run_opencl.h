/* tests/support/gpu/run_opencl.h - runs programs for GPUs on the OpenCL device that is there. */
#ifndef HONE_TESTS_SUPPORT_GPU_RUN_OPENCL_H
#define HONE_TESTS_SUPPORT_GPU_RUN_OPENCL_H

#include "ir/core/func.h"
#include "support/core/strbuf.h"
#include "support/data/tensor.h"

/* Ends a test as skipped, with the reason, where there is no device. */
void hone_test_need_opencl(void);

/* Lowers for the target and appends the text of its launches in a dialect of emits.def: "cl", "cu",
 * "metal". Kernels are called `symbol`, or begin with it. */
hone_status hone_test_print_launches(const hone_func *func, const char *target_text,
                                     const char *emit, const char *symbol, hone_str *out);

/* Lowers, prints OpenCL C, compiles it and runs it once; args, one per parameter, are read and
 * written.
 * INVALID also where a kernel wrote beside its buffers. */
hone_status hone_test_run_opencl(const hone_func *func, hone_tensor *const *args);

#endif
