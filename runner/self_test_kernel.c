/* runner/self_test_kernel.c - what a device runs to see that it can: B = 2 A + 1. Built as a shared
 * object, as a candidate is, and carried by hone-runner as bytes.
 */
#include "runtime/model/abi.h"

int32_t self_test(const hone_rt *rt, void *const *buffers, const int64_t *sizes);

int32_t self_test(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    const float *a = buffers[0];
    float *b = buffers[1];
    (void)rt, (void)sizes;
    for (int i = 0; i < 1 << 16; i++)
        b[i] = 2 * a[i] + 1;
    return 0;
}
