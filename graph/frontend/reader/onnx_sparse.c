/* graph/frontend/reader/onnx_sparse.c - SparseTensorProto → hone_tensor with all its zeros: a list
 * of values, and where each one stands, as its index along each dimension or in the whole. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

/* With all zeros; a file of few bytes may say any shape. */
static const uint64_t most_bytes = UINT64_C(1) << 31;

static hone_status check_shape(const Onnx__SparseTensorProto *proto, hone_dtype dtype,
                               int64_t *out_count) {
    uint64_t bytes = hone_dtype_bytes(dtype), count = 1;
    if (proto->n_dims < 1 || proto->n_dims > HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a sparse tensor of %zu dimensions, 1 to %d are "
                          "implemented",
                          proto->n_dims, HONE_MAX_RANK);
    for (size_t d = 0; d < proto->n_dims; d++) {
        if (proto->dims[d] < 0)
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %zu is %lld", d,
                              (long long)proto->dims[d]);
        if (__builtin_mul_overflow(count, (uint64_t)proto->dims[d], &count) ||
            count > most_bytes / bytes)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "a sparse tensor that takes more than 2 GiB with its zeros");
    }
    *out_count = (int64_t)count;
    return HONE_OK;
}

/* Where value i stands in the whole. */
static hone_status find_place(const Onnx__SparseTensorProto *proto, const hone_tensor *indices,
                              int64_t count, int64_t i, int64_t *out) {
    const int64_t *given = indices->data;
    int64_t place = 0;
    if (indices->rank == 1) {
        place = given[i];
        if (place < 0 || place >= count)
            return HONE_ERROR(HONE_CODE_INVALID, "index %lld of a sparse tensor of %lld elements",
                              (long long)place, (long long)count);
    }
    for (size_t d = 0; indices->rank == 2 && d < proto->n_dims; d++) {
        int64_t index = given[i * (int64_t)proto->n_dims + (int64_t)d];
        if (index < 0 || index >= proto->dims[d])
            return HONE_ERROR(HONE_CODE_INVALID, "index %lld of a sparse dimension of %lld",
                              (long long)index, (long long)proto->dims[d]);
        place = place * proto->dims[d] + index;
    }
    *out = place;
    return HONE_OK;
}

static hone_status spread(const Onnx__SparseTensorProto *proto, const hone_tensor *values,
                          const hone_tensor *indices, int64_t count, hone_tensor *dense) {
    const size_t size = hone_dtype_bytes(values->dtype);
    int64_t last = -1;
    if (count) memset(dense->data, 0, hone_tensor_bytes(dense));
    for (int64_t i = 0; i < hone_tensor_count(values); i++) {
        int64_t place;
        HONE_TRY(find_place(proto, indices, count, i, &place));
        if (place <= last)
            return HONE_ERROR(HONE_CODE_INVALID, "indices of a sparse tensor do not ascend");
        last = place;
        memcpy((char *)dense->data + (size_t)place * size,
               (const char *)values->data + i * (int64_t)size, size);
    }
    return HONE_OK;
}

static hone_status check_lists(const Onnx__SparseTensorProto *proto, const hone_tensor *values,
                               const hone_tensor *indices) {
    int64_t count = hone_tensor_count(values);
    bool is_flat = indices->rank == 1 && indices->shape[0] == count;
    bool is_apart = indices->rank == 2 && indices->shape[0] == count &&
                    indices->shape[1] == (int64_t)proto->n_dims;
    if (values->rank == 1 && hone_dtype_equal(indices->dtype, HONE_DTYPE_I64) &&
        (is_flat || is_apart))
        return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "a sparse tensor wants a vector of values and an int64 index for each");
}

/* Makes the tensor of what was unpacked. */
static hone_status make_dense(const Onnx__SparseTensorProto *proto, const hone_tensor *values,
                              const hone_tensor *indices, hone_tensor **out_tensor) {
    int64_t count;
    HONE_TRY(check_lists(proto, values, indices));
    HONE_TRY(check_shape(proto, values->dtype, &count));
    HONE_TRY(hone_tensor_create(values->dtype, (int32_t)proto->n_dims, proto->dims, out_tensor));
    hone_status st = spread(proto, values, indices, count, *out_tensor);
    if (st) {
        hone_tensor_destroy(*out_tensor);
        *out_tensor = NULL;
    }
    return st;
}

hone_status onnx_unpack_sparse(const onnx_reader *r, const Onnx__SparseTensorProto *proto,
                               const char *directory, hone_tensor **out_tensor) {
    hone_tensor *values = NULL, *indices = NULL;
    *out_tensor = NULL;
    if (!proto->values || !proto->indices)
        return HONE_ERROR(HONE_CODE_INVALID, "a sparse tensor without values or indices");
    hone_status st = onnx_unpack_tensor(r, proto->values, directory, &values);
    if (!st) st = onnx_unpack_tensor(r, proto->indices, directory, &indices);
    if (!st) st = make_dense(proto, values, indices, out_tensor);
    if (values) hone_tensor_destroy(values);
    if (indices) hone_tensor_destroy(indices);
    return st;
}
