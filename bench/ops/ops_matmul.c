/* bench/ops/ops_matmul.c - matrix products. dims: batch, m, n, k.
 *
 * Kinds: "matmul" Y = X W; "dense" Y = relu(X W + B); "batch_matmul" Y[b] = X[b] W[b]. */
#include "bench/ops/ops.h"

#define WORK(work_name, work_kind, w, b, m, n, k)                                                  \
    {                                                                                              \
        .name = work_name, .kind = work_kind, .dims = {b, m, n, k}, .weight = w,                   \
        .flops = 2.0 * (b) * (m) * (n) * (k), .peers = {                                           \
            &ops_blas_matmul,                                                                      \
            &ops_onednn_matmul,                                                                    \
            &ops_onnxruntime                                                                       \
        }                                                                                          \
    }
#define MATMUL(name, m, n, k) WORK(name, "matmul", 2, 1, m, n, k)
#define DENSE(name, m, n, k) WORK(name, "dense", 2, 1, m, n, k)

static const ops_work works[] = {
    MATMUL("matmul_128", 128, 128, 128),
    MATMUL("matmul_500", 500, 500, 500),
    MATMUL("matmul_512", 512, 512, 512),
    MATMUL("matmul_1024", 1024, 1024, 1024),
    MATMUL("matmul_2048", 2048, 2048, 2048),
    DENSE("dense_64x1024x1024", 64, 1024, 1024),
    DENSE("dense_1x784x128", 1, 128, 784),
    WORK("batch_matmul_12x128x64x128", "batch_matmul", 0, 12, 128, 128, 64),
};

const ops_family ops_matmul = {"matmul", works, sizeof works / sizeof *works};
