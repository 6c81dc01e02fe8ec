/* tensorfile/npy.c - NumPy's .npy, format versions 1.0 to 3.0 (NEP 1).
 *
 *   \x93NUMPY  major minor  header length (2 bytes; 4 from version 2)  header  data
 *   header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  spaces  \n
 *
 * Strings ('|S5', '<U5') are uint8[..., width]: bytes (UTF-8), and zeros up to the longest.
 */
#include <inttypes.h>
#include <string.h>

#include "tensorfile/tensorfile.h"

enum { MAGIC_BYTES = 6, HEADER_ALIGNMENT = 64, MAX_HEADER_BYTES = 1 << 20 };

static const char magic[] = "\x93NUMPY";

typedef struct npy_header {
    hone_dtype dtype;
    bool is_swapped, is_column_major, has_dtype, has_order, has_shape;
    int32_t rank;
    int64_t shape[HONE_MAX_RANK];
    int64_t string_width; /* of elements that are strings, in bytes or (wide) code points; else 0 */
    bool is_wide;
} npy_header;

/* The text of the header while it is read. */
typedef struct scanner {
    const char *at, *end;
} scanner;

static bool machine_is_big(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* ---- the header's Python literal ---- */

static void skip_space(scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n'))
        s->at++;
}

/* Steps over `text` when it stands here. */
static bool eat(scanner *s, const char *text) {
    size_t length = strlen(text);
    skip_space(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0) return false;
    s->at += length;
    return true;
}

static hone_status bad_header(const scanner *s, const char *wanted) {
    int shown = s->end - s->at > 20 ? 20 : (int)(s->end - s->at);
    return HONE_ERROR(HONE_CODE_INVALID, "npy header has '%.*s' where %s is expected", shown, s->at,
                      wanted);
}

/* A quoted string without escapes; the text is not terminated. */
static hone_status scan_string(scanner *s, const char **out_text, size_t *out_length) {
    skip_space(s);
    char quote = s->at < s->end ? *s->at : '\0';
    if (quote != '\'' && quote != '"') return bad_header(s, "a string");
    const char *from = s->at + 1;
    const char *to = memchr(from, quote, (size_t)(s->end - from));
    if (!to) return bad_header(s, "a string that ends");
    *out_text = from;
    *out_length = (size_t)(to - from);
    s->at = to + 1;
    return HONE_OK;
}

static hone_status scan_size(scanner *s, int64_t *out_size) {
    skip_space(s);
    const char *from = s->at;
    *out_size = 0;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        if (__builtin_mul_overflow(*out_size, 10, out_size) ||
            __builtin_add_overflow(*out_size, *s->at - '0', out_size)) {
            return HONE_ERROR(HONE_CODE_INVALID, "npy header has a size that is too large");
        }
        s->at++;
    }
    if (s->at == from) return bad_header(s, "a size");
    eat(s, "L"); /* Python 2 */
    return HONE_OK;
}

static hone_status scan_shape(scanner *s, npy_header *header) {
    if (!eat(s, "(")) return bad_header(s, "'('");
    while (!eat(s, ")")) {
        if (header->rank == HONE_MAX_RANK) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "npy tensor has more than %d axes",
                              HONE_MAX_RANK);
        }
        HONE_TRY(scan_size(s, &header->shape[header->rank]));
        header->rank++;
        if (eat(s, ",")) continue;
        if (!eat(s, ")")) return bad_header(s, "',' or ')'");
        break;
    }
    header->has_shape = true;
    return HONE_OK;
}

static hone_dtype_code code_of_letter(char letter) {
    switch (letter) {
    case 'f':
        return HONE_DTYPE_CODE_FLOAT;
    case 'i':
        return HONE_DTYPE_CODE_INT;
    case 'u':
        return HONE_DTYPE_CODE_UINT;
    case 'b':
        return HONE_DTYPE_CODE_BOOL;
    default:
        return HONE_DTYPE_CODE_VOID;
    }
}

/* "|S5" or "<U5": bytes or code points, and zeros behind them. */
static bool scan_strings(const char *text, size_t length, npy_header *header) {
    int64_t width = 0;
    if (length < 3 || length > 11 || !strchr("<>|=", text[0]) || !strchr("SU", text[1]))
        return false;
    for (size_t i = 2; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        width = 10 * width + (text[i] - '0');
    }
    header->is_wide = text[1] == 'U';
    header->dtype = header->is_wide ? HONE_DTYPE_U32 : HONE_DTYPE_U8;
    header->is_swapped = header->is_wide && text[0] == (machine_is_big() ? '<' : '>');
    header->string_width = width;
    return width > 0;
}

static hone_status scan_descr(scanner *s, npy_header *header) {
    const char *text;
    size_t length;
    skip_space(s);
    if (s->at < s->end && *s->at == '[') {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "npy tensor has a structured element type, which is not read; save "
                          "each field by itself");
    }
    HONE_TRY(scan_string(s, &text, &length));
    bool are_strings = scan_strings(text, length, header);
    bool fits = are_strings || (length == 3 && strchr("<>|=", text[0]) && text[0] &&
                                text[2] >= '1' && text[2] <= '8');
    if (fits && !are_strings) {
        header->dtype.code = (uint8_t)code_of_letter(text[1]);
        header->dtype.bits = (uint8_t)(8 * (text[2] - '0'));
        header->dtype.lanes = 1;
        header->is_swapped = text[0] == (machine_is_big() ? '<' : '>');
    }
    if (!fits || !hone_dtype_is_storable(header->dtype)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "npy tensor has elements of type '%.*s', which are not read; there are "
                          "bool, whole numbers, floats and strings, as x.astype('float32') makes",
                          length > 40 ? 40 : (int)length, text);
    }
    header->has_dtype = true;
    return HONE_OK;
}

static hone_status scan_order(scanner *s, npy_header *header) {
    header->is_column_major = eat(s, "True");
    if (!header->is_column_major && !eat(s, "False")) return bad_header(s, "True or False");
    header->has_order = true;
    return HONE_OK;
}

static hone_status scan_member(scanner *s, npy_header *header) {
    const char *key;
    size_t length;
    HONE_TRY(scan_string(s, &key, &length));
    if (!eat(s, ":")) return bad_header(s, "':'");
    if (length == 5 && memcmp(key, "descr", 5) == 0 && !header->has_dtype) {
        return scan_descr(s, header);
    }
    if (length == 13 && memcmp(key, "fortran_order", 13) == 0 && !header->has_order) {
        return scan_order(s, header);
    }
    if (length == 5 && memcmp(key, "shape", 5) == 0 && !header->has_shape) {
        return scan_shape(s, header);
    }
    return HONE_ERROR(HONE_CODE_INVALID, "npy header has the key '%.*s', unknown or twice",
                      length > 40 ? 40 : (int)length, key);
}

static hone_status scan_header(scanner *s, npy_header *header) {
    if (!eat(s, "{")) return bad_header(s, "'{'");
    while (!eat(s, "}")) {
        HONE_TRY(scan_member(s, header));
        if (eat(s, ",")) continue;
        if (!eat(s, "}")) return bad_header(s, "',' or '}'");
        break;
    }
    skip_space(s);
    if (s->at != s->end) return bad_header(s, "the end");
    if (header->has_dtype && header->has_order && header->has_shape) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "npy header lacks '%s'",
                      !header->has_dtype   ? "descr"
                      : !header->has_order ? "fortran_order"
                                           : "shape");
}

/* The places in a string are one more dimension. */
static hone_status add_string_width(npy_header *header) {
    if (!header->string_width) return HONE_OK;
    if (header->rank == HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "npy strings in %d dimensions, at most %d",
                          header->rank, HONE_MAX_RANK - 1);
    if (header->is_column_major && header->rank > 1)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "npy strings in Fortran's order are not read");
    header->is_column_major = false;
    header->shape[header->rank++] = header->string_width;
    return HONE_OK;
}

/* Finds the header and where the data begins. */
static hone_status read_header(const unsigned char *bytes, size_t count, npy_header *header,
                               size_t *out_begin) {
    *header = (npy_header){0};
    if (count < MAGIC_BYTES + 4 || memcmp(bytes, magic, MAGIC_BYTES) != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "these %zu bytes are no npy file", count);
    }
    unsigned major = bytes[MAGIC_BYTES];
    size_t width = major == 1 ? 2 : 4, at = MAGIC_BYTES + 2, length = 0;
    if (major < 1 || major > 3) {
        return HONE_ERROR(HONE_CODE_VERSION, "npy format version %u, known are 1 to 3", major);
    }
    for (size_t i = 0; i < width && at + i < count; i++)
        length |= (size_t)bytes[at + i] << (8 * i);
    at += width;
    if (at > count || length > count - at || length > MAX_HEADER_BYTES) {
        return HONE_ERROR(HONE_CODE_INVALID, "npy header of %zu bytes in a file of %zu", length,
                          count);
    }
    scanner s = {(const char *)bytes + at, (const char *)bytes + at + length};
    *out_begin = at + length;
    HONE_TRY(scan_header(&s, header));
    return add_string_width(header);
}

/* ---- data ---- */

static void copy_element(unsigned char *to, const unsigned char *from, size_t bytes,
                         bool is_swapped) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[is_swapped ? bytes - 1 - i : i];
}

/* Walks the tensor in row-major order while `offset` follows in the column-major file. */
static void copy_columns(hone_tensor *tensor, const unsigned char *from, const npy_header *header) {
    int64_t index[HONE_MAX_RANK] = {0}, stride[HONE_MAX_RANK], step = 1, offset = 0;
    size_t bytes = hone_dtype_bytes(tensor->dtype);
    int64_t total = hone_tensor_count(tensor);
    unsigned char *to = tensor->data;
    for (int32_t d = 0; d < tensor->rank; d++) {
        stride[d] = step;
        step *= tensor->shape[d];
    }
    for (int64_t i = 0; i < total; i++, to += bytes) {
        copy_element(to, from + (size_t)offset * bytes, bytes, header->is_swapped);
        for (int32_t d = tensor->rank - 1; d >= 0; d--) {
            offset += stride[d];
            if (++index[d] < tensor->shape[d]) break;
            offset -= stride[d] * tensor->shape[d];
            index[d] = 0;
        }
    }
}

static void copy_rows(hone_tensor *tensor, const unsigned char *from, const npy_header *header) {
    size_t bytes = hone_dtype_bytes(tensor->dtype), total = hone_tensor_bytes(tensor);
    unsigned char *to = tensor->data;
    if (!header->is_swapped) {
        if (total) memcpy(to, from, total);
        return;
    }
    for (size_t at = 0; at < total; at += bytes)
        copy_element(to + at, from + at, bytes, true);
}

/* A byte that is not 0 is true; our bools are 0 or 1. */
static void clean_bools(hone_tensor *tensor) {
    if (!hone_dtype_is_bool(tensor->dtype)) return;
    unsigned char *data = tensor->data;
    for (size_t i = 0; i < hone_tensor_bytes(tensor); i++)
        data[i] = data[i] != 0;
}

/* ---- strings of code points, as the bytes of UTF-8 ---- */

/* How many bytes it takes; `to` may be NULL. */
static size_t put_code_point(uint32_t code, unsigned char *to) {
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = bytes; to && i-- > 1; code >>= 6)
        to[i] = (unsigned char)(0x80 | (code & 0x3f));
    if (to) to[0] = (unsigned char)(leads[bytes == 1 ? 0 : bytes] | code);
    return bytes;
}

/* Of one string of `width` code points; what comes behind the last that is not 0 is no part. */
static hone_status put_string(const uint32_t *codes, int64_t width, unsigned char *to,
                              size_t *out_bytes) {
    *out_bytes = 0;
    while (width && codes[width - 1] == 0)
        width--;
    for (int64_t i = 0; i < width; i++) {
        if (codes[i] == 0 || codes[i] > 0x10ffff)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "npy string with the code point %lu",
                              (unsigned long)codes[i]);
        *out_bytes += put_code_point(codes[i], to ? to + *out_bytes : NULL);
    }
    return HONE_OK;
}

/* Each string as many bytes as the longest takes, at least 1. */
static hone_status to_bytes(const hone_tensor *wide, hone_tensor **out_tensor) {
    int64_t shape[HONE_MAX_RANK], width = wide->shape[wide->rank - 1];
    int64_t count = hone_tensor_count(wide) / width;
    const uint32_t *codes = wide->data;
    size_t longest = 1, bytes;
    for (int64_t i = 0; i < count; i++) {
        HONE_TRY(put_string(codes + i * width, width, NULL, &bytes));
        if (bytes > longest) longest = bytes;
    }
    memcpy(shape, wide->shape, (size_t)wide->rank * sizeof *shape);
    shape[wide->rank - 1] = (int64_t)longest;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_U8, wide->rank, shape, out_tensor));
    unsigned char *to = (*out_tensor)->data;
    if (count) memset(to, 0, hone_tensor_bytes(*out_tensor));
    for (int64_t i = 0; i < count; i++, to += longest)
        hone_status_free(put_string(codes + i * width, width, to, &bytes)); /* was right above */
    return HONE_OK;
}

/* Takes the tensor, as the file has it. */
static hone_status finish_strings(const npy_header *header, hone_tensor **io_tensor) {
    hone_tensor *wide = *io_tensor;
    if (!header->is_wide) return HONE_OK;
    *io_tensor = NULL;
    hone_status st = to_bytes(wide, io_tensor);
    hone_tensor_destroy(wide);
    return st;
}

/* The bytes that a tensor of this shape has; false when they are more than can be. */
static bool data_bytes(const npy_header *header, size_t *out_bytes) {
    *out_bytes = hone_dtype_bytes(header->dtype);
    for (int32_t d = 0; d < header->rank; d++) {
        if (header->shape[d] == 0) {
            *out_bytes = 0;
            return true;
        }
    }
    for (int32_t d = 0; d < header->rank; d++) {
        if (__builtin_mul_overflow(*out_bytes, (size_t)header->shape[d], out_bytes)) return false;
    }
    return true;
}

hone_status hone_npy_read(const void *bytes, size_t count, hone_tensor **out_tensor) {
    *out_tensor = NULL;
    npy_header header;
    size_t begin = 0, want = 0;
    HONE_TRY(read_header(bytes, count, &header, &begin));
    if (!data_bytes(&header, &want)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "npy data has %zu bytes, its header asks for more than a file can have",
                          count - begin);
    }
    if (want != count - begin) {
        return HONE_ERROR(HONE_CODE_INVALID, "npy data has %zu bytes, its header asks for %zu",
                          count - begin, want);
    }
    hone_tensor *tensor = NULL;
    HONE_TRY(hone_tensor_create(header.dtype, header.rank, header.shape, &tensor));
    const unsigned char *from = (const unsigned char *)bytes + begin;
    if (header.is_column_major && want) {
        copy_columns(tensor, from, &header);
    } else {
        copy_rows(tensor, from, &header);
    }
    clean_bools(tensor);
    HONE_TRY(finish_strings(&header, &tensor));
    *out_tensor = tensor;
    return HONE_OK;
}

/* ---- writing ---- */

static char letter_of_code(hone_dtype dtype) {
    switch (dtype.code) {
    case HONE_DTYPE_CODE_FLOAT:
        return 'f';
    case HONE_DTYPE_CODE_INT:
        return 'i';
    case HONE_DTYPE_CODE_UINT:
        return 'u';
    case HONE_DTYPE_CODE_BOOL:
        return 'b';
    default:
        return '\0';
    }
}

hone_status hone_npy_write(const hone_tensor *tensor, hone_str *out) {
    char letter = letter_of_code(tensor->dtype);
    if (!letter || tensor->dtype.lanes != 1) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "npy cannot hold elements of type '%s'; .safetensors can",
                          HONE_DTYPE_NAME(tensor->dtype));
    }
    size_t bytes = hone_dtype_bytes(tensor->dtype);
    char order = bytes == 1 ? '|' : machine_is_big() ? '>' : '<';
    hone_str header = {0};
    hone_str_printf(&header, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", order,
                    letter, bytes);
    for (int32_t d = 0; d < tensor->rank; d++) {
        hone_str_printf(&header, "%s%" PRId64, d ? ", " : "", tensor->shape[d]);
    }
    hone_str_append(&header, tensor->rank == 1 ? ",), }" : "), }");
    size_t used = MAGIC_BYTES + 4 + header.length + 1;
    size_t padding = (HEADER_ALIGNMENT - used % HEADER_ALIGNMENT) % HEADER_ALIGNMENT;
    hone_str_append_repeat(&header, ' ', padding);
    hone_str_append_char(&header, '\n');
    const char prefix[4] = {1, 0, (char)(header.length & 0xff), (char)(header.length >> 8)};
    hone_str_append_n(out, magic, MAGIC_BYTES);
    hone_str_append_n(out, prefix, sizeof prefix);
    hone_str_append_n(out, hone_str_text(&header), header.length);
    if (hone_tensor_bytes(tensor)) hone_str_append_n(out, tensor->data, hone_tensor_bytes(tensor));
    hone_status st = hone_str_check(&header);
    hone_str_deinit(&header);
    return st ? st : hone_str_check(out);
}
