/* tests/conformance/candidates/fast_math.c - has subnormal numbers count as zero as it is loaded,
 * as what gcc links with -ffast-math does. */
#include "runtime/model/abi.h"
#include "tests/conformance/candidates/flush.h"

__attribute__((constructor)) static void at_load(void) {
    flush();
}

__attribute__((visibility("default"))) int32_t
keeps_subnormals(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
int32_t keeps_subnormals(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    const float *a = buffers[0];
    float *c = buffers[1];
    volatile float least = 2e-45f;
    (void)rt, (void)sizes;
    for (int i = 0; i < 64; i++)
        c[i] = 2 * a[i] + 1;
    return least * 3 == 0 ? -11 : 0;
}
