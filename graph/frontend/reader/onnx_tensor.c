/* graph/frontend/reader/onnx_tensor.c - TensorProto → hone_tensor: raw bytes, typed fields or an
 * external file, all sizes checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

static const struct {
    Onnx__TensorProto__DataType type;
    hone_dtype dtype;
} types[] = {
#define TYPE(onnx, ...)                                                                            \
    { ONNX__TENSOR_PROTO__DATA_TYPE__##onnx, HONE_DTYPE_INIT(__VA_ARGS__, 1) }
    TYPE(FLOAT, FLOAT, 32),
    TYPE(DOUBLE, FLOAT, 64),
    TYPE(FLOAT16, FLOAT, 16),
    TYPE(BFLOAT16, BFLOAT, 16),
    TYPE(INT8, INT, 8),
    TYPE(INT16, INT, 16),
    TYPE(INT32, INT, 32),
    TYPE(INT64, INT, 64),
    TYPE(UINT8, UINT, 8),
    TYPE(UINT16, UINT, 16),
    TYPE(UINT32, UINT, 32),
    TYPE(UINT64, UINT, 64),
    TYPE(BOOL, BOOL, 8),
    TYPE(FLOAT8E4M3FN, FLOAT8_E4M3, 8),
    TYPE(FLOAT8E4M3FNUZ, FLOAT8_E4M3FNUZ, 8),
    TYPE(FLOAT8E5M2, FLOAT8_E5M2, 8),
    TYPE(FLOAT8E5M2FNUZ, FLOAT8_E5M2FNUZ, 8),
    TYPE(FLOAT8E8M0, FLOAT8_E8M0FNU, 8),
    TYPE(UINT4, UINT, 4),
    TYPE(INT4, INT, 4),
    TYPE(UINT2, UINT, 2),
    TYPE(INT2, INT, 2),
    TYPE(FLOAT4E2M1, FLOAT4_E2M1FN, 4),
#undef TYPE
};

bool onnx_is_string_type(int32_t type) {
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
}

hone_status onnx_dtype(int32_t type, hone_dtype *out_dtype) {
    *out_dtype = HONE_DTYPE_VOID;
    for (size_t i = 0; i < HONE_COUNT(types); i++) {
        if ((int32_t)types[i].type != type) continue;
        *out_dtype = types[i].dtype;
        return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "element type %d is not implemented%s", type,
                      onnx_is_string_type(type) ? " (strings)" : "");
}

/* How many lie in a byte of the file, the first one in its low bits; here each has its own. */
static size_t per_byte(hone_dtype dtype) {
    return dtype.bits == 4 || dtype.bits == 2 ? 8u / dtype.bits : 1;
}

static bool is_packed(hone_dtype dtype) {
    return per_byte(dtype) > 1;
}

static size_t file_bytes(hone_dtype dtype, size_t count) {
    size_t per = per_byte(dtype);
    return is_packed(dtype) ? count / per + (count % per != 0) : count * hone_dtype_bytes(dtype);
}

static void unpack(hone_tensor *tensor, size_t at, unsigned byte) {
    hone_dtype dtype = tensor->dtype;
    unsigned all = (1u << dtype.bits) - 1, bits = byte >> at % per_byte(dtype) * dtype.bits & all;
    if (hone_dtype_is_int(dtype) && bits > all / 2) bits |= ~all; /* the sign */
    ((uint8_t *)tensor->data)[at] = (uint8_t)bits;
}

static hone_status wrong_count(const char *field, size_t have, size_t want) {
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' holds %zu items, the shape wants %zu", field, have,
                      want);
}

/* int32_data holds every integer of up to 32 bits, and the bits of shorter floats. */
static hone_status from_int32(const Onnx__TensorProto *proto, hone_tensor *tensor, size_t count) {
    bool is_short = is_packed(tensor->dtype);
    size_t want = is_short ? file_bytes(tensor->dtype, count) : count;
    if (proto->n_int32_data != want) return wrong_count("int32_data", proto->n_int32_data, want);
    for (size_t i = 0; i < count; i++) {
        if (is_short) {
            unpack(tensor, i, (unsigned)proto->int32_data[i / per_byte(tensor->dtype)]);
        } else if (hone_dtype_is_float(tensor->dtype) && tensor->dtype.bits == 8) {
            ((uint8_t *)tensor->data)[i] = (uint8_t)proto->int32_data[i];
        } else if (hone_dtype_is_float(tensor->dtype)) {
            uint16_t bits = (uint16_t)proto->int32_data[i];
            memcpy((char *)tensor->data + i * sizeof bits, &bits, sizeof bits);
        } else {
            hone_tensor_set_i64(tensor, (int64_t)i, proto->int32_data[i]);
        }
    }
    return HONE_OK;
}

static hone_status from_typed(const Onnx__TensorProto *proto, hone_tensor *tensor) {
    size_t count = (size_t)hone_tensor_count(tensor);
    hone_dtype dtype = tensor->dtype;
    const void *data = NULL;
    size_t have = 0;
    const char *field = NULL;
    if (hone_dtype_equal(dtype, HONE_DTYPE_F32)) {
        field = "float_data", data = proto->float_data, have = proto->n_float_data;
    } else if (hone_dtype_equal(dtype, HONE_DTYPE_F64)) {
        field = "double_data", data = proto->double_data, have = proto->n_double_data;
    } else if (hone_dtype_equal(dtype, HONE_DTYPE_I64)) {
        field = "int64_data", data = proto->int64_data, have = proto->n_int64_data;
    } else if (hone_dtype_equal(dtype, HONE_DTYPE_U64)) {
        field = "uint64_data", data = proto->uint64_data, have = proto->n_uint64_data;
    } else if (hone_dtype_equal(dtype, HONE_DTYPE_U32)) {
        if (proto->n_uint64_data != count) {
            return wrong_count("uint64_data", proto->n_uint64_data, count);
        }
        for (size_t i = 0; i < count; i++) {
            hone_tensor_set_i64(tensor, (int64_t)i, (int64_t)proto->uint64_data[i]);
        }
        return HONE_OK;
    } else {
        return from_int32(proto, tensor, count);
    }
    if (have != count) return wrong_count(field, have, count);
    if (count) memcpy(tensor->data, data, hone_tensor_bytes(tensor));
    return HONE_OK;
}

static hone_status check_bytes(const hone_tensor *tensor, uint64_t count) {
    size_t want = file_bytes(tensor->dtype, (size_t)hone_tensor_count(tensor));
    if (count == want) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the data has %llu bytes, the shape wants %zu",
                      (unsigned long long)count, want);
}

static hone_status from_bytes(hone_tensor *tensor, const uint8_t *bytes, size_t count) {
    int64_t elements = hone_tensor_count(tensor);
    HONE_TRY(check_bytes(tensor, count));
    for (int64_t i = 0; is_packed(tensor->dtype) && i < elements; i++)
        unpack(tensor, (size_t)i, bytes[(size_t)i / per_byte(tensor->dtype)]);
    if (is_packed(tensor->dtype)) return HONE_OK;
    if (count) memcpy(tensor->data, bytes, count);
    if (hone_dtype_is_bool(tensor->dtype)) { /* any other byte would be no bool */
        for (size_t i = 0; i < count; i++) {
            ((uint8_t *)tensor->data)[i] = ((uint8_t *)tensor->data)[i] != 0;
        }
    }
    return HONE_OK;
}

static const char *external_entry(const Onnx__TensorProto *proto, const char *key) {
    for (size_t i = 0; i < proto->n_external_data; i++) {
        const Onnx__StringStringEntryProto *entry = proto->external_data[i];
        if (entry->key && entry->value && strcmp(entry->key, key) == 0) return entry->value;
    }
    return NULL;
}

static hone_status external_number(const Onnx__TensorProto *proto, const char *key,
                                   uint64_t fallback, uint64_t *out) {
    const char *text = external_entry(proto, key);
    *out = fallback;
    if (!text) return HONE_OK;
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-') {
        return HONE_ERROR(HONE_CODE_INVALID, "external data: %s is '%s', no number", key, text);
    }
    return HONE_OK;
}

/* The file must lie in the model's directory or below it. */
static bool is_inside(const char *location) {
    if (location[0] == '/' || location[0] == 0) return false;
    for (const char *at = location; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0)) return false;
    }
    return true;
}

/* Long data stays in the file, where it lies as it does in memory. */
static hone_status map_external(const char *path, uint64_t offset, hone_tensor **io_tensor) {
    hone_tensor *mapped, *before = *io_tensor;
    HONE_TRY(hone_tensor_map(path, offset, before->dtype, before->rank, before->shape, &mapped));
    hone_tensor_destroy(before);
    *io_tensor = mapped;
    return HONE_OK;
}

static hone_status read_external(const char *path, uint64_t offset, uint64_t length,
                                 hone_tensor **io_tensor) {
    enum { LEAST_MAPPED = 1 << 20, ALIGNMENT = 64 };
    hone_dtype dtype = (*io_tensor)->dtype;
    bool is_plain = !is_packed(dtype) && !hone_dtype_is_bool(dtype);
    if (is_plain && length >= LEAST_MAPPED && offset % ALIGNMENT == 0)
        return map_external(path, offset, io_tensor);
    uint8_t *bytes = hone_malloc((size_t)length + 1);
    hone_status st = bytes ? hone_fs_read_part(path, offset, length, bytes)
                           : HONE_ERROR(HONE_CODE_NO_MEMORY, "external data");
    if (!st) st = from_bytes(*io_tensor, bytes, (size_t)length);
    hone_free(bytes);
    return st;
}

static hone_status from_external(const Onnx__TensorProto *proto, const char *directory,
                                 hone_tensor **io_tensor) {
    const char *location = external_entry(proto, "location");
    const hone_tensor *tensor = *io_tensor;
    uint64_t offset, length;
    if (!location) return HONE_ERROR(HONE_CODE_INVALID, "external data without a location");
    if (!directory) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "external data in '%s' of a model that is no file",
                          location);
    }
    if (!is_inside(location)) {
        return HONE_ERROR(HONE_CODE_INVALID, "external data in '%s', outside of the model's folder",
                          location);
    }
    HONE_TRY(external_number(proto, "offset", 0, &offset));
    HONE_TRY(external_number(
        proto, "length", file_bytes(tensor->dtype, (size_t)hone_tensor_count(tensor)), &length));
    HONE_TRY(check_bytes(tensor, length));
    char *path = hone_path_join(directory, location);
    hone_status st = path ? read_external(path, offset, length, io_tensor)
                          : HONE_ERROR(HONE_CODE_NO_MEMORY, "external data");
    hone_free(path);
    return st;
}

static hone_status fill(const Onnx__TensorProto *proto, const char *directory,
                        hone_tensor **io_tensor) {
    hone_tensor *tensor = *io_tensor;
    if (proto->has_data_location &&
        proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
        return from_external(proto, directory, io_tensor);
    }
    if (proto->has_raw_data) return from_bytes(tensor, proto->raw_data.data, proto->raw_data.len);
    return from_typed(proto, tensor);
}

/* Data for which there are no bytes is refused before memory is asked for. */
static hone_status check_size(const Onnx__TensorProto *proto, hone_dtype dtype) {
    uint64_t bytes = hone_dtype_bytes(dtype);
    for (size_t i = 0; i < proto->n_dims; i++) {
        if (proto->dims[i] < 0) {
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %zu is %lld", i,
                              (long long)proto->dims[i]);
        }
        if (__builtin_mul_overflow(bytes, (uint64_t)proto->dims[i], &bytes) ||
            bytes > SIZE_MAX / 4) {
            return HONE_ERROR(HONE_CODE_INVALID, "the tensor is too large");
        }
    }
    size_t count = (size_t)(bytes / hone_dtype_bytes(dtype));
    bytes = file_bytes(dtype, count);
    if (proto->has_raw_data && proto->raw_data.len != bytes) {
        return HONE_ERROR(HONE_CODE_INVALID, "the data has %zu bytes, the shape wants %llu",
                          proto->raw_data.len, (unsigned long long)bytes);
    }
    size_t typed = proto->n_float_data + proto->n_int32_data + proto->n_int64_data +
                   proto->n_double_data + proto->n_uint64_data;
    size_t want = is_packed(dtype) ? (size_t)bytes : count;
    if (!proto->has_raw_data && !proto->has_data_location && typed != want)
        return wrong_count("data", typed, want);
    return HONE_OK;
}

/* ---- strings: bytes, and zeros up to the longest ---- */

static hone_status check_strings(size_t count, const ProtobufCBinaryData *strings, uint32_t rank,
                                 const int64_t *shape) {
    int64_t want = 1;
    if (rank >= HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "strings in %u dimensions, at most %d", rank,
                          HONE_MAX_RANK - 1);
    for (uint32_t d = 0; d < rank; d++)
        if (shape[d] < 0 || __builtin_mul_overflow(want, shape[d], &want))
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %u is %lld", d, (long long)shape[d]);
    if ((uint64_t)want != count) return wrong_count("string_data", count, (size_t)want);
    for (size_t i = 0; i < count; i++)
        if (strings[i].len && memchr(strings[i].data, 0, strings[i].len))
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "string %zu holds a byte that is 0", i);
    return HONE_OK;
}

/* One long string among many makes all as long: that would fill the memory of a machine unsaid. */
static hone_status check_room(size_t count, int64_t width) {
    const int64_t most = INT64_C(1) << 32;
    if (count == 0 || width <= most / (int64_t)count) return HONE_OK;
    return HONE_ERROR(
        HONE_CODE_UNSUPPORTED,
        "%zu strings, each with room for the longest, %lld bytes, take more than 4 GiB", count,
        (long long)width);
}

hone_status onnx_unpack_strings(size_t count, const ProtobufCBinaryData *strings, uint32_t rank,
                                const int64_t *shape, hone_tensor **out_tensor) {
    int64_t sizes[HONE_MAX_RANK], width = 1;
    *out_tensor = NULL;
    HONE_TRY(check_strings(count, strings, rank, shape));
    for (size_t i = 0; i < count; i++)
        if ((int64_t)strings[i].len > width) width = (int64_t)strings[i].len;
    if (rank) memcpy(sizes, shape, rank * sizeof *sizes);
    sizes[rank] = width;
    HONE_TRY(check_room(count, width));
    HONE_TRY(hone_tensor_create(HONE_DTYPE_U8, (int32_t)rank + 1, sizes, out_tensor));
    uint8_t *at = (*out_tensor)->data;
    if (count) memset(at, 0, hone_tensor_bytes(*out_tensor));
    for (size_t i = 0; i < count; i++, at += width)
        if (strings[i].len) memcpy(at, strings[i].data, strings[i].len);
    return HONE_OK;
}

hone_status onnx_unpack_any(const onnx_reader *r, const Onnx__TensorProto *proto,
                            const char *directory, hone_tensor **out_tensor) {
    if (!onnx_is_string_type(proto->data_type))
        return onnx_unpack_tensor(r, proto, directory, out_tensor);
    uint32_t rank = proto->n_dims > HONE_MAX_RANK ? HONE_MAX_RANK : (uint32_t)proto->n_dims;
    return onnx_unpack_strings(proto->n_string_data, proto->string_data, rank, proto->dims,
                               out_tensor);
}

hone_status onnx_unpack_tensor(const onnx_reader *r, const Onnx__TensorProto *proto,
                               const char *directory, hone_tensor **out_tensor) {
    (void)r;
    *out_tensor = NULL;
    hone_dtype dtype;
    HONE_TRY(onnx_dtype(proto->data_type, &dtype));
    if (proto->segment) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tensor in segments");
    if (proto->n_dims > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tensor of %zu dimensions, at most %d",
                          proto->n_dims, HONE_MAX_RANK);
    }
    HONE_TRY(check_size(proto, dtype));
    HONE_TRY(hone_tensor_create(dtype, (int32_t)proto->n_dims, proto->dims, out_tensor));
    hone_status st = fill(proto, directory, out_tensor);
    if (st) {
        hone_tensor_destroy(*out_tensor);
        *out_tensor = NULL;
    }
    return st;
}
