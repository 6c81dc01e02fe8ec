/* tests/conformance/candidates/libraries.c - kernels that compute C[i] = 2 A[i] + 1 with the
 * libraries that people bring. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/model/abi.h"

#define COUNT 64
#define KERNEL(name)                                                                               \
    __attribute__((visibility("default"))) int32_t name(const hone_rt *rt, void *const *buffers,   \
                                                        const int64_t *sizes);                     \
    int32_t name(const hone_rt *rt, void *const *buffers, const int64_t *sizes)
#define UNUSED (void)rt, (void)buffers, (void)sizes

#ifdef _OPENMP
#include <omp.h>

KERNEL(with_openmp) {
    UNUSED;
    const float *a = buffers[0];
    float *c = buffers[1];
    int seen = 0;
#pragma omp parallel num_threads(2) reduction(max : seen)
    seen = omp_get_num_threads();
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < COUNT; i++)
        c[i] = 2 * a[i] + 1;
    return seen == 2 ? 0 : -1;
}
#endif

#ifdef WITH_BLAS
/* As CBLAS has it. */
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

KERNEL(with_blas) {
    UNUSED;
    enum { ROW_MAJOR = 101, PLAIN = 111, SIDE = 8 };
    float identity[SIDE * SIDE] = {0}, *c = buffers[1];
    for (int i = 0; i < SIDE; i++)
        identity[i * SIDE + i] = 1;
    for (int i = 0; i < COUNT; i++)
        c[i] = 1;
    cblas_sgemm(ROW_MAJOR, PLAIN, PLAIN, SIDE, SIDE, SIDE, 2, buffers[0], SIDE, identity, SIDE, 1,
                c, SIDE);
    return 0;
}
#endif

/* Of two libraries: one that is there in every process, one that is not. */
KERNEL(with_dlopen) {
    UNUSED;
    static const char *const names[] = {"libm.so.6", "libresolv.so.2"};
    const float *a = buffers[0];
    float *c = buffers[1];
    float (*fma_of)(float, float, float);
    if (!dlopen(names[1], RTLD_NOW)) return -1;
    void *libm = dlopen(names[0], RTLD_NOW | RTLD_LOCAL),
         *symbol = libm ? dlsym(libm, "fmaf") : NULL;
    if (!symbol) return -2;
    memcpy(&fma_of, &symbol, sizeof fma_of);
    for (int i = 0; i < COUNT; i++)
        c[i] = fma_of(2, a[i], 1);
    return 0;
}
