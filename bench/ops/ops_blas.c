/* bench/ops/ops_blas.c - OpenBLAS, found at run time. It packs its operands at each call, also
 * constant ones; bias and relu follow as a loop. */
#include <dlfcn.h>
#include <string.h>

#include "bench/ops/ops.h"
#include "support/core/alloc.h"

typedef void (*gemm_fn)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*set_threads_fn)(int threads);

typedef struct blas {
    gemm_fn gemm;
    const ops_work *work;
    const float *x, *w, *bias;
    float *y;
} blas;

/* ISO C has no cast from an object pointer to a function. */
static bool find(void *library, const char *name, void *out_fn) {
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(out_fn, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void *blas_open(const ops_setup *setup, const char **out_reason) {
    gemm_fn gemm;
    set_threads_fn set_threads;
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!find(library, "cblas_sgemm", &gemm) ||
        !find(library, "openblas_set_num_threads", &set_threads)) {
        *out_reason = "libopenblas.so.0 is not installed (scripts/setup)";
        return NULL;
    }
    set_threads(setup->threads);
    blas *self = hone_calloc(1, sizeof *self);
    if (!self) return NULL;
    const ops_data *data = setup->data;
    *self = (blas){gemm,
                   setup->work,
                   data->inputs[0]->data,
                   data->inputs[1]->data,
                   data->input_count > 2 ? data->inputs[2]->data : NULL,
                   data->outputs[0]->data};
    return self;
}

static void finish(const blas *self, int64_t m, int64_t n) {
    for (int64_t i = 0; i < m; i++) {
        float *row = self->y + i * n;
        for (int64_t k = 0; k < n; k++) {
            float v = row[k] + self->bias[k];
            row[k] = v > 0 ? v : 0;
        }
    }
}

static void blas_run(void *peer) {
    const blas *self = peer;
    const int64_t *dims = self->work->dims;
    int m = (int)dims[1], n = (int)dims[2], k = (int)dims[3];
    for (int64_t i = 0; i < dims[0]; i++) {
        self->gemm(101, 111, 111, m, n, k, 1, self->x + i * m * k, k, self->w + i * k * n, n, 0,
                   self->y + i * m * n, n);
    }
    if (self->bias) finish(self, m, n);
}

static void blas_close(void *peer) {
    hone_free(peer);
}

const ops_peer ops_blas_matmul = {
    .name = "OpenBLAS", .open = blas_open, .run = blas_run, .close = blas_close};
