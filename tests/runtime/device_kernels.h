/* tests/runtime/device_kernels.h - kernels for tests of devices, as PTX that every NVIDIA card
 * since sm_75 takes; the fake driver knows them by their names. Each has the parameters (A, B, n):
 * A and B of n float32, a thread for each element; all but those that fail make B = 2 A + 1. */
#ifndef HONE_TESTS_RUNTIME_DEVICE_KERNELS_H
#define HONE_TESTS_RUNTIME_DEVICE_KERNELS_H

const char *device_kernels_ptx(void); /* valid for ever */

/* Kernels:
 *   self_test      B = 2 A + 1
 *   step_double    B = 2 A          (two launches make the whole)
 *   step_add       B = A + 1
 *   reverse        B = A, each block of threads from its end, through dynamic shared memory
 *   behind         also writes B[n]
 *   before         also writes B[-1]
 *   into_input     also writes A[0]
 *   stray          writes to address 0
 *   crooked        writes to an address that is not aligned
 *   trap           traps
 *   hang           never ends */

#endif
