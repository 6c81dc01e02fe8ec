/* graph/frontend/nodes/microsoft/onnx_matrices.c - matrices as com.microsoft has them: inverses,
 * those of few elements (SparseToDenseMatMul), and those of four bits in one blob (MatMulFpQ4). */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

static hone_status convert_inverse(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_make_square(r, &r->inputs[0]));
    return onnx_emit1(r, "inverse", r->inputs[0], out);
}

static hone_status convert_same(onnx_reader *r, hone_garg *out) {
    *out = r->inputs[0];
    return HONE_OK;
}

/* ---- few elements ---- */

/* The elements of a matrix that are not 0, in their order: rows, columns, values. */
typedef struct elements {
    int64_t count, rows, columns; /* of the matrix */
    hone_tensor *at[2], *values;
} elements;

static bool is_element(const hone_tensor *t, int64_t i) {
    return hone_dtype_is_float(t->dtype) ? hone_tensor_get_f64(t, i) != 0
                                         : hone_tensor_get_i64(t, i) != 0;
}

/* Takes the tensors where all is well. */
static hone_status add_elements(onnx_reader *r, elements *e, hone_garg out[3]) {
    hone_tensor *all[] = {e->at[0], e->at[1], e->values};
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < 3; i++) {
        if (st && all[i]) hone_tensor_destroy(all[i]);
        if (!st) st = onnx_add_constant(r, all[i], &out[i]);
    }
    return st;
}

static hone_status list_elements(onnx_reader *r, const hone_tensor *matrix, elements *e,
                                 hone_garg out[3]) {
    const size_t size = hone_dtype_bytes(matrix->dtype);
    const int64_t all = hone_tensor_count(matrix);
    int64_t place[] = {0, 1}, next = 0;
    for (int64_t i = 0; i < all; i++)
        place[0] += is_element(matrix, i);
    e->count = place[0];
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < 2 && !st; i++)
        st = hone_tensor_create(HONE_DTYPE_I64, i == 0 ? 2 : 1, place, &e->at[i]);
    if (!st) st = hone_tensor_create(matrix->dtype, 2, place, &e->values);
    for (int64_t i = 0; i < all && !st; i++) {
        if (!is_element(matrix, i)) continue;
        hone_tensor_set_i64(e->at[0], next, i / e->columns);
        hone_tensor_set_i64(e->at[1], next, i % e->columns);
        memcpy((char *)e->values->data + (size_t)next++ * size,
               (const char *)matrix->data + (size_t)i * size, size);
    }
    if (!st) return add_elements(r, e, out);
    for (uint32_t i = 0; i < 2; i++)
        if (e->at[i]) hone_tensor_destroy(e->at[i]);
    return st;
}

/* Each element times the row of b that it meets, added up where its own row is. Zeros of the matrix
 * meet nothing: infinity times them is nothing. */
static hone_status sum_elements(onnx_reader *r, const elements *e, bool is_turned,
                                const hone_garg parts[3], hone_garg b, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg rows = parts[0], columns = parts[1], args[3], target[2];
    const hone_expr *flat[] = {hone_extent_int(&r->ir, e->count)};
    const hone_expr *apart[] = {flat[0], hone_extent_int(&r->ir, 1)};
    if (is_turned) {
        HONE_TRY(onnx_emit_reshape(r, parts[1], 2, apart, &rows));
        HONE_TRY(onnx_emit_reshape(r, parts[0], 1, flat, &columns));
    }
    HONE_TRY(onnx_info(r, &b, &info));
    const hone_expr *shape[] = {hone_extent_int(&r->ir, is_turned ? e->columns : e->rows),
                                info->shape[1]};
    HONE_TRY(onnx_emit_take(r, b, columns, 0, &args[2]));
    HONE_TRY(onnx_emit2(r, "multiply", parts[2], args[2], &args[2]));
    HONE_TRY(onnx_scalar(r, info->dtype, 0, &target[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[0]));
    if (e->count == 0) {
        *out = args[0];
        return HONE_OK;
    }
    args[1] = rows;
    hone_attr attr = {"reduction", onnx_text_value(r, "add")};
    return onnx_emit(r, "scatter_nd", 3, args, 1, &attr, out);
}

static hone_status convert_sparse_product(onnx_reader *r, hone_garg *out) {
    static const int64_t axes[] = {1, 0};
    const hone_tensor *matrix = onnx_constant_of(r, &r->inputs[0]);
    const hone_sinfo *info;
    int64_t turns[2];
    double alpha;
    elements e = {0};
    hone_garg parts[3], b = r->inputs[1];
    HONE_TRY(onnx_attr_int(r, "transA", 0, &turns[0]));
    HONE_TRY(onnx_attr_int(r, "transB", 0, &turns[1]));
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_info(r, &b, &info));
    if (!matrix)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a sparse matrix (input 0) that is not constant");
    if (matrix->rank != 2 || info->rank != 2 || hone_dtypes_differ(matrix->dtype, info->dtype))
        return HONE_ERROR(HONE_CODE_INVALID, "matrices of %d and %d dimensions, or of two types",
                          (int)matrix->rank, (int)info->rank);
    e.rows = matrix->shape[0];
    e.columns = matrix->shape[1];
    if (turns[1]) HONE_TRY(onnx_emit_permute(r, b, 2, axes, &b));
    HONE_TRY(onnx_demand_size(r, &b, 0, turns[0] ? e.rows : e.columns));
    HONE_TRY(list_elements(r, matrix, &e, parts));
    if (alpha != 1 && hone_dtype_equal(info->dtype, HONE_DTYPE_F32)) /* as in onnxruntime */
        HONE_TRY(onnx_with_scalar(r, "multiply", parts[2], alpha, &parts[2]));
    return sum_elements(r, &e, turns[0] != 0, parts, b, out);
}

/* ---- four bits ---- */

/* A block of a column: its scale as a float32, perhaps a zero point, then numbers of four bits. In
 * each 32 of them the first 16 are the low bits of 16 bytes. */
typedef struct blob {
    int64_t k, n, block, blocks; /* numbers of a block, blocks of a column */
    size_t bytes;                /* of a block */
    bool has_zero;
} blob;

static hone_status read_blob(onnx_reader *r, const hone_tensor *bytes, blob *b) {
    int64_t type, shape[2];
    uint32_t count;
    HONE_TRY(onnx_attr_int(r, "blk_quant_type", 1, &type));
    HONE_TRY(onnx_const_ints(r, 2, "the shape of the weight", 2, shape, &count));
    /* As in onnxruntime: what is not type 0 is type 1. */
    b->block = 32;
    b->has_zero = type != 0;
    b->k = count == 2 ? shape[0] : 0;
    b->n = count == 2 ? shape[1] : 0;
    if (b->k < 1 || b->n < 1 || b->n > INT32_MAX || b->k > INT32_MAX)
        return HONE_ERROR(HONE_CODE_INVALID, "a weight of %lld x %lld", (long long)b->k,
                          (long long)b->n);
    b->blocks = (b->k + b->block - 1) / b->block;
    b->bytes = sizeof(float) + b->has_zero + (size_t)b->block / 2;
    int64_t all;
    bool is_long = __builtin_mul_overflow(b->blocks * b->n, (int64_t)b->bytes, &all);
    if (!is_long && bytes->rank == 1 && bytes->shape[0] == all &&
        hone_dtype_equal(bytes->dtype, HONE_DTYPE_U8))
        return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the blob (input 1) must be %lld bytes of a vector",
                      (long long)all);
}

/* Numbers of a block, less its zero point, go to a column. */
static void unpack_block(const blob *b, const uint8_t *at, int64_t first, int64_t column,
                         hone_tensor *numbers) {
    const int zero = b->has_zero ? at[sizeof(float)] : 8;
    const uint8_t *bits = at + sizeof(float) + b->has_zero;
    for (int64_t i = 0; i < b->block && first + i < b->k; i++) {
        const uint8_t both = bits[i / 32 * 16 + i % 16];
        const int number = i % 32 < 16 ? both & 15 : both >> 4;
        ((int16_t *)numbers->data)[column * b->k + first + i] = (int16_t)(number - zero);
    }
}

/* [n, k] of whole numbers, and the scales [n, blocks]. */
static void unpack_blob(const blob *b, const hone_tensor *bytes, hone_tensor *numbers,
                        hone_tensor *scales) {
    const uint8_t *at = bytes->data;
    for (int64_t column = 0; column < b->n; column++) {
        for (int64_t i = 0; i < b->blocks; i++, at += b->bytes) {
            memcpy((char *)scales->data + (size_t)(column * b->blocks + i) * sizeof(float), at,
                   sizeof(float));
            unpack_block(b, at, i * b->block, column, numbers);
        }
    }
}

static hone_status weight_of_blob(onnx_reader *r, const blob *b, const hone_tensor *bytes,
                                  hone_garg *out_numbers, hone_garg *out_scales) {
    const int64_t shape[] = {b->n, b->k}, blocks[] = {b->n, b->blocks};
    hone_tensor *numbers, *scales;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I16, 2, shape, &numbers));
    hone_status st = hone_tensor_create(HONE_DTYPE_F32, 2, blocks, &scales);
    if (st) {
        hone_tensor_destroy(numbers);
        return st;
    }
    unpack_blob(b, bytes, numbers, scales);
    st = onnx_add_constant(r, numbers, out_numbers);
    if (!st) return onnx_add_constant(r, scales, out_scales);
    hone_tensor_destroy(scales);
    return st;
}

static hone_status convert_blob_product(onnx_reader *r, hone_garg *out) {
    const hone_tensor *bytes = onnx_constant_of(r, &r->inputs[1]);
    hone_garg sides[2] = {r->inputs[0]}, scales, indices;
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)};
    blob b = {0};
    if (!bytes) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a blob (input 1) that is not constant");
    HONE_TRY(read_blob(r, bytes, &b));
    HONE_TRY(weight_of_blob(r, &b, bytes, &sides[1], &scales));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, b.k), 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", indices, (double)b.block, &indices));
    HONE_TRY(onnx_emit_take(r, scales, indices, 1, &scales));
    HONE_TRY(onnx_emit_cast(r, sides[1], HONE_DTYPE_F32, &sides[1]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[1], scales, &sides[1]));
    return onnx_emit(r, "matmul", 2, sides, 1, &turn, out);
}

const onnx_converter onnx_matrices_converters[] = {
    {"Inverse",  convert_inverse, 1, 1, 1, "", NULL},
    {"SampleOp",         convert_same, 1, 1, 1, "", NULL},
    {"SparseToDenseMatMul",         convert_sparse_product, 2, 2, 1, "alpha transA transB", NULL},
    {"MatMulFpQ4",      convert_blob_product, 3, 3, 1, "blk_quant_type", NULL},
    {0},
};
