/* bench/ops/ops_matmul.c - matrix products. dims: batch, m, n, k.
 *
 * Kinds: "matmul" Y = X W; "dense" Y = relu(X W + B); "batch_matmul" Y[b] = X[b] W[b]. */
#include "bench/ops/ops.h"

#define PEERS                                                                                      \
    { &ops_blas_matmul, &ops_onednn_matmul, &ops_onnxruntime }
#define FLOPS(b, m, n, k) (2.0 * (b) * (m) * (n) * (k))
#define MATMUL(name, m, n, k)                                                                      \
    { name, NULL, "matmul", {1, m, n, k}, 2, FLOPS(1, m, n, k), 0, PEERS }
#define DENSE(name, m, n, k)                                                                       \
    { name, NULL, "dense", {1, m, n, k}, 2, FLOPS(1, m, n, k), 0, PEERS }

static const ops_work works[] = {
    MATMUL("matmul_128", 128, 128, 128),
    MATMUL("matmul_512", 512, 512, 512),
    MATMUL("matmul_1024", 1024, 1024, 1024),
    MATMUL("matmul_2048", 2048, 2048, 2048),
    DENSE("dense_64x1024x1024", 64, 1024, 1024),
    DENSE("dense_1x784x128", 1, 128, 784),
    {"batch_matmul_12x128x64x128",
                                      NULL, "batch_matmul",
                                      {12, 128, 128, 64},
                                      0, FLOPS(12, 128, 128, 64),
                                      0, PEERS},
};

const ops_family ops_matmul = {"matmul", works, sizeof works / sizeof *works};
