/* tests/runtime/cuda/fake_cuda/fake_kernels.h - what the kernels of device_kernels.c do, in C. */
#ifndef HONE_TESTS_RUNTIME_FAKE_KERNELS_H
#define HONE_TESTS_RUNTIME_FAKE_KERNELS_H

#include "tests/runtime/cuda/fake_cuda/fake_cuda.h"

enum { FAKE_PARAM_COUNT_MAX = FAKE_CUDA_PARAMS };

/* Parameters of a kernel; -1: there is none of that name. */
int fake_kernel_params(const char *symbol);
/* Runs one; the error that the card would find, 0: none. FAKE_HANGS: it never ends. */
enum { FAKE_HANGS = 0x7fffffff };
unsigned int fake_kernel_run(const fake_cuda_launch *launch);

#endif
