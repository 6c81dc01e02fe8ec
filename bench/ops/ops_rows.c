/* bench/ops/ops_rows.c - operators on rows and elements, and products of bytes.
 *
 * Kinds (dims): "softmax", "layernorm" (rows, columns); "gelu", "chain" (elements); "sum" (rows,
 * columns, what is summed: 1 = each row, 2 = each column, 3 = everything); "transpose", "copy"
 * (rows, columns); "bytes_matmul" (m, n, k, 1 = X is unsigned, 2 = signed),
 * "bf16_matmul" (m, n, k). */
#include "bench/ops/ops.h"

#define PEERS                                                                                      \
    { &ops_onednn_rows, &ops_onnxruntime }
#define ROWS(name, kind, ...)                                                                      \
    { name, NULL, kind, {__VA_ARGS__}, 0, 0, 0, PEERS }
#define BYTES(name, n, is_signed)                                                                  \
    { name, NULL, "bytes_matmul", {n, n, n, is_signed}, 2, 2.0 * (n) * (n) * (n), 0, PEERS }

static const ops_work works[] = {
    ROWS("softmax_256x1024", "softmax", 256, 1024),
    ROWS("layernorm_256x1024", "layernorm", 256, 1024),
    ROWS("gelu_1000000", "gelu", 1000000),
    ROWS("sum_rows_1024x1024", "sum", 1024, 1024, 1),
    ROWS("sum_columns_1024x1024", "sum", 1024, 1024, 2),
    ROWS("sum_all_1024x1024", "sum", 1024, 1024, 3),
    ROWS("transpose_1024x1024", "transpose", 1024, 1024),
    ROWS("chain_1000000", "chain", 1000000),
    ROWS("copy_1000000", "copy", 1000, 1000),
    BYTES("matmul_u8s8_512", 512, 1),
    BYTES("matmul_s8s8_512", 512, 2),
    {"matmul_bf16_512",
                                 NULL, "bf16_matmul",
                                 {512, 512, 512},
                                 2, 2.0 * 512 * 512 * 512,
                                 1e-3, PEERS},
};

const ops_family ops_rows = {"rows", works, sizeof works / sizeof *works};
