/* bench/farm_kernels.c - kernels for bench_farm: one that sleeps, one that computes for about a
 * millisecond, one that does nothing. Built as a library of its own, as a builder would. */
#include <time.h>

#include "runtime/model/abi.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int32_t sleep_50ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
EXPORT int32_t compute_1ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
EXPORT int32_t nothing(const hone_rt *rt, void *const *buffers, const int64_t *sizes);

int32_t sleep_50ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    const struct timespec time = {.tv_nsec = 50000000};
    (void)rt;
    (void)buffers;
    (void)sizes;
    nanosleep(&time, NULL);
    return 0;
}

/* A chain of dependent multiplications and additions: 4 + 4 cycles each on most CPUs. */
int32_t compute_1ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    float *out = buffers[0], x = 1;
    (void)rt;
    (void)sizes;
    for (int i = 0; i < 400000; i++)
        x = x * 0.999f + 0.5f;
    out[0] = x;
    return 0;
}

int32_t nothing(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    (void)rt;
    (void)buffers;
    (void)sizes;
    return 0;
}
