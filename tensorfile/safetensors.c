/* tensorfile/safetensors.c - the safetensors format: 8 bytes header length (little-endian), a JSON
 * header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": …}, raw data.
 *
 * Read strictly: offsets inside of the data, sizes that fit the shape, no overlap, no holes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/text/json.h"
#include "tensorfile/tensorfile.h"

enum { LENGTH_BYTES = 8, ALIGNMENT = 8, MAX_HEADER_BYTES = 100000000 };

static const struct {
    const char *name;
    hone_dtype dtype;
} types[] = {
    {"BOOL",    HONE_DTYPE_INIT(BOOL,        8,  1)},
    {"U8",      HONE_DTYPE_INIT(UINT,        8,  1)},
    {"I8",      HONE_DTYPE_INIT(INT,         8,  1)},
    {"U16",     HONE_DTYPE_INIT(UINT,        16, 1)},
    {"I16",     HONE_DTYPE_INIT(INT,         16, 1)},
    {"U32",     HONE_DTYPE_INIT(UINT,        32, 1)},
    {"I32",     HONE_DTYPE_INIT(INT,         32, 1)},
    {"U64",     HONE_DTYPE_INIT(UINT,        64, 1)},
    {"I64",     HONE_DTYPE_INIT(INT,         64, 1)},
    {"F16",     HONE_DTYPE_INIT(FLOAT,       16, 1)},
    {"BF16",    HONE_DTYPE_INIT(BFLOAT,      16, 1)},
    {"F32",     HONE_DTYPE_INIT(FLOAT,       32, 1)},
    {"F64",     HONE_DTYPE_INIT(FLOAT,       64, 1)},
    {"F8_E4M3", HONE_DTYPE_INIT(FLOAT8_E4M3, 8,  1)},
    {"F8_E5M2", HONE_DTYPE_INIT(FLOAT8_E5M2, 8,  1)},
};

/* Where one tensor's bytes stand; collected to find overlaps and holes. */
typedef struct extent {
    uint64_t begin, end;
} extent;

/* ---- reading ---- */

static hone_status find_type(const char *text, hone_dtype *out_dtype) {
    for (size_t i = 0; i < HONE_COUNT(types); i++) {
        *out_dtype = types[i].dtype;
        if (strcmp(types[i].name, text) == 0) return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "dtype is '%s'", text);
}

static hone_status read_shape(const hone_json *entry, int32_t *out_rank,
                              int64_t shape[HONE_MAX_RANK]) {
    const hone_json *list;
    HONE_TRY(hone_json_get_array(entry, "shape", &list));
    size_t rank = hone_json_count(list);
    if (rank > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "shape has more than %d axes", HONE_MAX_RANK);
    }
    for (size_t d = 0; d < rank; d++) {
        const hone_json *size = hone_json_at(list, d);
        if (!hone_json_is(size, HONE_JSON_INT) || hone_json_i64(size) < 0) {
            return HONE_ERROR(HONE_CODE_INVALID, "size of axis %zu is no number of at least 0", d);
        }
        shape[d] = hone_json_i64(size);
    }
    *out_rank = (int32_t)rank;
    return HONE_OK;
}

static hone_status read_extent(const hone_json *entry, size_t data_bytes, extent *out) {
    const hone_json *list;
    HONE_TRY(hone_json_get_array(entry, "data_offsets", &list));
    const hone_json *begin = hone_json_at(list, 0), *end = hone_json_at(list, 1);
    bool fits = hone_json_count(list) == 2 && hone_json_is(begin, HONE_JSON_INT) &&
                hone_json_is(end, HONE_JSON_INT) && hone_json_i64(begin) >= 0 &&
                hone_json_i64(begin) <= hone_json_i64(end) &&
                (uint64_t)hone_json_i64(end) <= data_bytes;
    if (!fits) {
        return HONE_ERROR(HONE_CODE_INVALID, "data_offsets are no range within %zu bytes",
                          data_bytes);
    }
    *out = (extent){(uint64_t)hone_json_i64(begin), (uint64_t)hone_json_i64(end)};
    return HONE_OK;
}

static bool shape_bytes(hone_dtype dtype, int32_t rank, const int64_t *shape, uint64_t *out) {
    *out = hone_dtype_bytes(dtype);
    for (int32_t d = 0; d < rank; d++) {
        if (shape[d] == 0) {
            *out = 0;
            return true;
        }
    }
    for (int32_t d = 0; d < rank; d++) {
        if (__builtin_mul_overflow(*out, (uint64_t)shape[d], out)) return false;
    }
    return true;
}

static hone_status read_tensor(const hone_json *entry, const unsigned char *data, size_t data_bytes,
                               extent *out_extent, hone_tensor **out_tensor) {
    const char *type;
    hone_dtype dtype;
    int32_t rank;
    int64_t shape[HONE_MAX_RANK];
    uint64_t want;
    HONE_TRY(hone_json_get_text(entry, "dtype", &type));
    HONE_TRY(find_type(type, &dtype));
    HONE_TRY(read_shape(entry, &rank, shape));
    HONE_TRY(read_extent(entry, data_bytes, out_extent));
    uint64_t have = out_extent->end - out_extent->begin;
    if (!shape_bytes(dtype, rank, shape, &want) || want != have) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "data_offsets hold %" PRIu64 " bytes, which is not what the shape asks",
                          have);
    }
    HONE_TRY(hone_tensor_create(dtype, rank, shape, out_tensor));
    if (want) memcpy((*out_tensor)->data, data + out_extent->begin, want);
    return HONE_OK;
}

static int by_begin(const void *a, const void *b) {
    const extent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static hone_status check_extents(extent *extents, size_t count, size_t data_bytes) {
    uint64_t at = 0;
    if (count) qsort(extents, count, sizeof *extents, by_begin);
    for (size_t i = 0; i < count; i++) {
        if (extents[i].begin != at) {
            return HONE_ERROR(HONE_CODE_INVALID, "safetensors data %s at byte %" PRIu64,
                              extents[i].begin < at ? "overlap" : "have a hole", at);
        }
        at = extents[i].end;
    }
    if (at == data_bytes) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "safetensors data end at byte %" PRIu64 ", the file at %zu", at, data_bytes);
}

static hone_status read_entries(const hone_json *header, const unsigned char *data,
                                size_t data_bytes, extent *extents, hone_tensor_set *set) {
    void *cursor = NULL;
    const char *name;
    const hone_json *entry;
    while (hone_json_next(header, &cursor, &name, &entry)) {
        if (strcmp(name, "__metadata__") == 0) continue;
        if (!hone_json_is(entry, HONE_JSON_OBJECT)) {
            return HONE_ERROR(HONE_CODE_INVALID, "safetensors entry '%s' is no object", name);
        }
        hone_tensor *tensor = NULL;
        hone_status st = read_tensor(entry, data, data_bytes, &extents[set->count], &tensor);
        if (st) return hone_status_annotate(st, "safetensors entry '%s'", name);
        HONE_TRY(hone_tensor_set_add(set, name, tensor));
    }
    return check_extents(extents, set->count, data_bytes);
}

static hone_status read_header(const hone_json *header, const unsigned char *data,
                               size_t data_bytes, hone_tensor_set *set) {
    if (!hone_json_is(header, HONE_JSON_OBJECT)) {
        return HONE_ERROR(HONE_CODE_INVALID, "safetensors header is no JSON object");
    }
    extent *extents = hone_calloc(hone_json_count(header) + 1, sizeof *extents);
    if (!extents) return HONE_ERROR(HONE_CODE_NO_MEMORY, "safetensors header");
    hone_status st = read_entries(header, data, data_bytes, extents, set);
    hone_free(extents);
    if (st) hone_tensor_set_deinit(set);
    return st;
}

hone_status hone_safetensors_read(const void *bytes, size_t count, hone_tensor_set *out_set) {
    *out_set = (hone_tensor_set){0};
    const unsigned char *at = bytes;
    uint64_t length = 0;
    if (count < LENGTH_BYTES) {
        return HONE_ERROR(HONE_CODE_INVALID, "these %zu bytes are no safetensors file", count);
    }
    for (int i = 0; i < LENGTH_BYTES; i++)
        length |= (uint64_t)at[i] << (8 * i);
    if (length > count - LENGTH_BYTES || length > MAX_HEADER_BYTES) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "safetensors header of %" PRIu64 " bytes in a file of %zu", length,
                          count);
    }
    hone_json *header = NULL;
    hone_status st = hone_json_parse((const char *)at + LENGTH_BYTES, (size_t)length, &header);
    if (st) return hone_status_annotate(st, "safetensors header");
    size_t data_bytes = count - LENGTH_BYTES - (size_t)length;
    st = read_header(header, at + LENGTH_BYTES + length, data_bytes, out_set);
    hone_json_destroy(header);
    return st;
}

/* ---- writing ---- */

static const char *type_name(hone_dtype dtype) {
    for (size_t i = 0; i < HONE_COUNT(types); i++) {
        if (hone_dtype_equal(types[i].dtype, dtype)) return types[i].name;
    }
    return NULL;
}

static hone_status append_entry(const hone_named_tensor *item, uint64_t begin, hone_str *header) {
    const hone_tensor *tensor = item->tensor;
    const char *type = type_name(tensor->dtype);
    if (!type) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s': safetensors cannot hold elements of '%s'",
                          item->name, HONE_DTYPE_NAME(tensor->dtype));
    }
    if (strcmp(item->name, "__metadata__") == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "a tensor cannot be named '__metadata__'");
    }
    hone_json_print_text(item->name, strlen(item->name), header);
    hone_str_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", type);
    for (int32_t d = 0; d < tensor->rank; d++) {
        hone_str_printf(header, "%s%" PRId64, d ? "," : "", tensor->shape[d]);
    }
    hone_str_printf(header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin,
                    begin + hone_tensor_bytes(tensor));
    return HONE_OK;
}

static hone_status make_header(const hone_tensor_set *set, hone_str *header) {
    uint64_t begin = 0;
    hone_str_append(header, "{");
    for (size_t i = 0; i < set->count; i++) {
        if (i) hone_str_append(header, ",");
        HONE_TRY(append_entry(&set->data[i], begin, header));
        begin += hone_tensor_bytes(set->data[i].tensor);
    }
    hone_str_append(header, "}");
    hone_str_append_repeat(header, ' ', (ALIGNMENT - header->length % ALIGNMENT) % ALIGNMENT);
    return hone_str_check(header);
}

hone_status hone_safetensors_write(const hone_tensor_set *set, hone_str *out) {
    hone_str header = {0};
    hone_status st = make_header(set, &header);
    char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++) {
        length[i] = (char)(unsigned char)((uint64_t)header.length >> (8 * i));
    }
    if (!st) {
        hone_str_append_n(out, length, sizeof length);
        hone_str_append_n(out, hone_str_text(&header), header.length);
        for (size_t i = 0; i < set->count; i++) {
            const hone_tensor *tensor = set->data[i].tensor;
            size_t bytes = hone_tensor_bytes(tensor);
            if (bytes) hone_str_append_n(out, tensor->data, bytes);
        }
        st = hone_str_check(out);
    }
    hone_str_deinit(&header);
    return st;
}
