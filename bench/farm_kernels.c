/* bench/farm_kernels.c - kernels for bench_farm: one that sleeps, one that computes for about a
 * millisecond, one for about 20 us on each thread, one that does nothing. Built as a library of its
 * own, as a builder would. */
#include <time.h>

#include "runtime/model/abi.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int32_t sleep_50ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
EXPORT int32_t compute_1ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
EXPORT int32_t compute_20us(const hone_rt *rt, void *const *buffers, const int64_t *sizes);
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
static float chain(int length) {
    float x = 1;
    for (int i = 0; i < length; i++)
        x = x * 0.999f + 0.5f;
    return x;
}

int32_t compute_1ms(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    float *out = buffers[0];
    (void)rt;
    (void)sizes;
    out[0] = chain(400000);
    return 0;
}

static int32_t share(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    float *out = closure;
    (void)rt;
    for (int64_t i = begin; i < end; i++)
        out[i] = chain(8000);
    return 0;
}

int32_t compute_20us(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    (void)sizes;
    return rt->parallel_for(rt, 0, rt->thread_count, share, buffers[0]);
}

int32_t nothing(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    (void)rt;
    (void)buffers;
    (void)sizes;
    return 0;
}
