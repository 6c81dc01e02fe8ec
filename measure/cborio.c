/* measure/cborio.c - one CBOR item at a time, over libcbor's stateless encoder and decoder. */
#include "measure/cborio.h"

#include <cbor.h>
#include <string.h>

#define MAX_DEPTH 32
#define MAX_HEAD 9 /* bytes of the longest item head */

void hone_cbor_put_uint(hone_str *out, uint64_t value) {
    unsigned char head[MAX_HEAD];
    hone_str_append_n(out, (const char *)head, cbor_encode_uint(value, head, sizeof head));
}

void hone_cbor_put_int(hone_str *out, int64_t value) {
    if (value >= 0) {
        hone_cbor_put_uint(out, (uint64_t)value);
        return;
    }
    unsigned char head[MAX_HEAD];
    uint64_t magnitude = ~(uint64_t)value; /* CBOR holds -1 - n */
    hone_str_append_n(out, (const char *)head, cbor_encode_negint(magnitude, head, sizeof head));
}

void hone_cbor_put_double(hone_str *out, double value) {
    unsigned char head[MAX_HEAD];
    hone_str_append_n(out, (const char *)head, cbor_encode_double(value, head, sizeof head));
}

void hone_cbor_put_bool(hone_str *out, bool value) {
    unsigned char head[MAX_HEAD];
    hone_str_append_n(out, (const char *)head, cbor_encode_bool(value, head, sizeof head));
}

void hone_cbor_put_text(hone_str *out, const char *text) {
    unsigned char head[MAX_HEAD];
    if (!text) {
        hone_str_append_n(out, (const char *)head, cbor_encode_null(head, sizeof head));
        return;
    }
    size_t count = strlen(text);
    hone_str_append_n(out, (const char *)head, cbor_encode_string_start(count, head, sizeof head));
    hone_str_append_n(out, text, count);
}

void hone_cbor_put_bytes(hone_str *out, const void *bytes, size_t count) {
    unsigned char head[MAX_HEAD];
    hone_str_append_n(out, (const char *)head,
                      cbor_encode_bytestring_start(count, head, sizeof head));
    if (count) hone_str_append_n(out, bytes, count);
}

void hone_cbor_put_array(hone_str *out, size_t count) {
    unsigned char head[MAX_HEAD];
    hone_str_append_n(out, (const char *)head, cbor_encode_array_start(count, head, sizeof head));
}

void hone_cbor_put_map(hone_str *out, size_t count) {
    unsigned char head[MAX_HEAD];
    hone_str_append_n(out, (const char *)head, cbor_encode_map_start(count, head, sizeof head));
}

/* ---- reading ---- */

typedef enum token_kind {
    TOKEN_NONE, /* something that is not of our subset */
    TOKEN_UINT,
    TOKEN_NEGINT, /* -1 - u */
    TOKEN_BYTES,
    TOKEN_TEXT,
    TOKEN_ARRAY,
    TOKEN_MAP,
    TOKEN_BOOL,
    TOKEN_NULL,
    TOKEN_FLOAT,
} token_kind;

typedef struct token {
    token_kind kind;
    uint64_t u; /* value or count */
    double f;
    const uint8_t *data;
} token;

static void set(void *ctx, token_kind kind, uint64_t u) {
    token *t = ctx;
    t->kind = kind;
    t->u = u;
}

static void on_uint8(void *ctx, uint8_t v) {
    set(ctx, TOKEN_UINT, v);
}
static void on_uint16(void *ctx, uint16_t v) {
    set(ctx, TOKEN_UINT, v);
}
static void on_uint32(void *ctx, uint32_t v) {
    set(ctx, TOKEN_UINT, v);
}
static void on_uint64(void *ctx, uint64_t v) {
    set(ctx, TOKEN_UINT, v);
}
static void on_neg8(void *ctx, uint8_t v) {
    set(ctx, TOKEN_NEGINT, v);
}
static void on_neg16(void *ctx, uint16_t v) {
    set(ctx, TOKEN_NEGINT, v);
}
static void on_neg32(void *ctx, uint32_t v) {
    set(ctx, TOKEN_NEGINT, v);
}
static void on_neg64(void *ctx, uint64_t v) {
    set(ctx, TOKEN_NEGINT, v);
}
static void on_array(void *ctx, size_t v) {
    set(ctx, TOKEN_ARRAY, v);
}
static void on_map(void *ctx, size_t v) {
    set(ctx, TOKEN_MAP, v);
}
static void on_bool(void *ctx, bool v) {
    set(ctx, TOKEN_BOOL, v);
}
static void on_null(void *ctx) {
    set(ctx, TOKEN_NULL, 0);
}
static void on_bytes(void *ctx, cbor_data data, size_t count) {
    set(ctx, TOKEN_BYTES, count);
    ((token *)ctx)->data = data;
}
static void on_text(void *ctx, cbor_data data, size_t count) {
    set(ctx, TOKEN_TEXT, count);
    ((token *)ctx)->data = data;
}
static void on_double(void *ctx, double v) {
    set(ctx, TOKEN_FLOAT, 0);
    ((token *)ctx)->f = v;
}
static void on_float(void *ctx, float v) {
    on_double(ctx, (double)v);
}

/* What has a null callback leaves TOKEN_NONE. */
static const struct cbor_callbacks callbacks = {
    .uint8 = on_uint8,
    .uint16 = on_uint16,
    .uint32 = on_uint32,
    .uint64 = on_uint64,
    .negint8 = on_neg8,
    .negint16 = on_neg16,
    .negint32 = on_neg32,
    .negint64 = on_neg64,
    .byte_string = on_bytes,
    .byte_string_start = cbor_null_byte_string_start_callback,
    .string = on_text,
    .string_start = cbor_null_string_start_callback,
    .array_start = on_array,
    .indef_array_start = cbor_null_indef_array_start_callback,
    .map_start = on_map,
    .indef_map_start = cbor_null_indef_map_start_callback,
    .tag = cbor_null_tag_callback,
    .boolean = on_bool,
    .null = on_null,
    .undefined = cbor_null_undefined_callback,
    .float2 = on_float,
    .float4 = on_float,
    .float8 = on_double,
    .indef_break = cbor_null_indef_break_callback,
};

void hone_cbor_reader_init(hone_cbor_reader *reader, const void *bytes, size_t count) {
    *reader = (hone_cbor_reader){.bytes = bytes, .count = count};
}

bool hone_cbor_reader_ok(const hone_cbor_reader *reader) {
    return !reader->problem;
}

void hone_cbor_reader_fail(hone_cbor_reader *reader, const char *problem) {
    if (!reader->problem) reader->problem = problem;
}

void hone_cbor_reader_fail_memory(hone_cbor_reader *reader) {
    if (!reader->problem) reader->is_out_of_memory = true;
    hone_cbor_reader_fail(reader, "is larger than the memory at hand");
}

static token next(hone_cbor_reader *reader) {
    token t = {.kind = TOKEN_NONE};
    if (reader->problem) return t;
    if (reader->at >= reader->count) {
        hone_cbor_reader_fail(reader, "ends too early");
        return t;
    }
    struct cbor_decoder_result got =
        cbor_stream_decode(reader->bytes + reader->at, reader->count - reader->at, &callbacks, &t);
    if (got.status == CBOR_DECODER_NEDATA) {
        hone_cbor_reader_fail(reader, "ends too early");
    } else if (got.status != CBOR_DECODER_FINISHED || t.kind == TOKEN_NONE) {
        hone_cbor_reader_fail(reader, "is not CBOR of the expected form");
    } else {
        reader->at += got.read;
        return t;
    }
    return (token){.kind = TOKEN_NONE};
}

/* The next token when it has this kind; else a failure and a token of zeros. */
static token expect(hone_cbor_reader *reader, token_kind kind, const char *problem) {
    token t = next(reader);
    if (t.kind == kind) return t;
    hone_cbor_reader_fail(reader, problem);
    return (token){.kind = TOKEN_NONE};
}

uint64_t hone_cbor_get_uint(hone_cbor_reader *reader) {
    return expect(reader, TOKEN_UINT, "has something else where an unsigned number belongs").u;
}

int64_t hone_cbor_get_int(hone_cbor_reader *reader) {
    token t = next(reader);
    if ((t.kind == TOKEN_UINT || t.kind == TOKEN_NEGINT) && t.u <= (uint64_t)INT64_MAX) {
        return t.kind == TOKEN_UINT ? (int64_t)t.u : -1 - (int64_t)t.u;
    }
    hone_cbor_reader_fail(reader, "has something else where a number belongs");
    return 0;
}

double hone_cbor_get_double(hone_cbor_reader *reader) {
    token t = next(reader);
    if (t.kind == TOKEN_FLOAT) return t.f;
    if (t.kind == TOKEN_UINT) return (double)t.u;
    if (t.kind == TOKEN_NEGINT) return -1.0 - (double)t.u;
    hone_cbor_reader_fail(reader, "has something else where a real number belongs");
    return 0;
}

bool hone_cbor_get_bool(hone_cbor_reader *reader) {
    return expect(reader, TOKEN_BOOL, "has something else where true or false belongs").u != 0;
}

void hone_cbor_get_text(hone_cbor_reader *reader, const char **out_text, size_t *out_count) {
    *out_text = NULL;
    *out_count = 0;
    token t = next(reader);
    if (t.kind == TOKEN_NULL) return;
    if (t.kind != TOKEN_TEXT) {
        hone_cbor_reader_fail(reader, "has something else where text belongs");
    } else if (t.u && memchr(t.data, 0, t.u)) {
        hone_cbor_reader_fail(reader, "has a NUL inside of text");
    } else {
        *out_text = t.u ? (const char *)t.data : "";
        *out_count = t.u;
    }
}

void hone_cbor_get_bytes(hone_cbor_reader *reader, const uint8_t **out_bytes, size_t *out_count) {
    token t = expect(reader, TOKEN_BYTES, "has something else where bytes belong");
    *out_bytes = t.data;
    *out_count = t.u;
}

/* Every item is at least one byte, so a count beyond what is left is a lie. */
static size_t get_count(hone_cbor_reader *reader, token_kind kind, size_t bytes_each) {
    token t = expect(reader, kind, "has something else where a list or map belongs");
    if (t.u <= (reader->count - reader->at) / bytes_each) return t.u;
    hone_cbor_reader_fail(reader, "promises more items than there are bytes");
    return 0;
}

size_t hone_cbor_get_array(hone_cbor_reader *reader) {
    return get_count(reader, TOKEN_ARRAY, 1);
}

size_t hone_cbor_get_map(hone_cbor_reader *reader) {
    return get_count(reader, TOKEN_MAP, 2);
}

void hone_cbor_skip(hone_cbor_reader *reader) {
    uint64_t left[MAX_DEPTH] = {1}; /* items to pass over, per level */
    size_t depth = 0;
    while (!reader->problem) {
        if (left[depth] == 0) {
            if (depth == 0) return;
            depth--;
            continue;
        }
        left[depth]--;
        token t = next(reader);
        if (t.kind != TOKEN_ARRAY && t.kind != TOKEN_MAP) continue;
        if (depth + 1 == MAX_DEPTH) {
            hone_cbor_reader_fail(reader, "is nested too deep");
        } else if (t.u > reader->count) {
            hone_cbor_reader_fail(reader, "promises more items than there are bytes");
        } else {
            left[++depth] = t.kind == TOKEN_MAP ? t.u * 2 : t.u;
        }
    }
}

hone_status hone_cbor_reader_check(const hone_cbor_reader *reader, const char *what, bool at_end) {
    if (reader->problem) {
        hone_code code = reader->is_out_of_memory ? HONE_CODE_NO_MEMORY : HONE_CODE_INVALID;
        return HONE_ERROR(code, "%s: %s at byte %zu", what, reader->problem, reader->at);
    }
    if (at_end && reader->at != reader->count) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: %zu bytes are left over", what,
                          reader->count - reader->at);
    }
    return HONE_OK;
}
