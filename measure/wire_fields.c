/* measure/wire_fields.c - walks tables of fields. */
#include "measure/wire_fields.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "support/data/hash.h"

_Static_assert(sizeof(hone_cbor_reader *) && sizeof(unsigned) == 4, "enums are 32 bits wide");

static void put_hash(hone_str *out, const hone_hash128 *hash) {
    uint8_t bytes[16];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(hash->lo >> (8 * i));
        bytes[8 + i] = (uint8_t)(hash->hi >> (8 * i));
    }
    hone_cbor_put_bytes(out, bytes, sizeof bytes);
}

/* The struct with the member has a name and a pointer type of its own: copied, not cast. */
static void put_list(hone_str *out, const wire_field *f, const void *at) {
    wire_list list;
    memcpy(&list, at, sizeof list);
    hone_cbor_put_array(out, list.count);
    for (size_t i = 0; i < list.count; i++)
        hone_wire_put(out, f->sub, (const char *)list.items + i * f->stride);
}

static void put_field(hone_str *out, const wire_field *f, const void *record) {
    const void *at = (const char *)record + f->offset;
    switch ((wire_kind)f->kind) {
    case WIRE_BOOL:
        hone_cbor_put_bool(out, *(const bool *)at);
        break;
    case WIRE_INT32:
        hone_cbor_put_int(out, *(const int32_t *)at);
        break;
    case WIRE_UINT32:
        hone_cbor_put_uint(out, *(const uint32_t *)at);
        break;
    case WIRE_INT64:
        hone_cbor_put_int(out, *(const int64_t *)at);
        break;
    case WIRE_UINT64:
        hone_cbor_put_uint(out, *(const uint64_t *)at);
        break;
    case WIRE_DOUBLE:
        hone_cbor_put_double(out, *(const double *)at);
        break;
    case WIRE_ENUM:
        hone_cbor_put_uint(out, *(const unsigned *)at);
        break;
    case WIRE_TEXT:
        hone_cbor_put_text(out, *(const char *const *)at);
        break;
    case WIRE_STRUCT:
        hone_wire_put(out, f->sub, at);
        break;
    case WIRE_NAME:
    case WIRE_NOTE:
        hone_cbor_put_text(out, at);
        break;
    case WIRE_FIXED:
        hone_cbor_put_bytes(out, at, f->limit);
        break;
    case WIRE_HASH:
        put_hash(out, at);
        break;
    case WIRE_BYTES: {
        wire_bytes view;
        memcpy(&view, at, sizeof view);
        hone_cbor_put_bytes(out, view.data, view.count);
        break;
    }
    case WIRE_LIST:
        put_list(out, f, at);
        break;
    case WIRE_CUSTOM:
        f->put(out, record);
        break;
    }
}

void hone_wire_put(hone_str *out, const wire_table *table, const void *record) {
    hone_cbor_put_map(out, table->count);
    hone_wire_put_pairs(out, table, record);
}

void hone_wire_put_pairs(hone_str *out, const wire_table *table, const void *record) {
    for (size_t i = 0; i < table->count; i++) {
        hone_cbor_put_uint(out, table->fields[i].key);
        put_field(out, &table->fields[i], record);
    }
}

static int64_t get_between(hone_cbor_reader *cbor, int64_t low, int64_t high) {
    int64_t value = hone_cbor_get_int(cbor);
    if (value >= low && value <= high) return value;
    hone_cbor_reader_fail(cbor, "has a number that is out of range");
    return 0;
}

static bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

static void get_name(hone_cbor_reader *cbor, size_t limit, char *out) {
    const char *text = NULL;
    size_t count = 0;
    hone_cbor_get_text(cbor, &text, &count);
    if (count >= limit) {
        hone_cbor_reader_fail(cbor, "has a name that is too long");
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_printable(text[i])) hone_cbor_reader_fail(cbor, "has an odd character in a name");
        out[i] = text[i];
    }
    memset(out + count, 0, limit - count);
}

static void get_note(hone_cbor_reader *cbor, size_t limit, char *out) {
    const char *text = NULL;
    size_t count = 0;
    hone_cbor_get_text(cbor, &text, &count);
    if (count >= limit) count = limit - 1;
    for (size_t i = 0; i < count; i++)
        out[i] = is_printable(text[i]) ? text[i] : '?';
    memset(out + count, 0, limit - count);
}

static void get_fixed(hone_cbor_reader *cbor, size_t limit, uint8_t *out) {
    const uint8_t *bytes = NULL;
    size_t count = 0;
    hone_cbor_get_bytes(cbor, &bytes, &count);
    if (count == limit) {
        memcpy(out, bytes, count);
    } else {
        hone_cbor_reader_fail(cbor, "has a number of bytes that does not fit");
    }
}

static void get_hash(hone_cbor_reader *cbor, hone_hash128 *out) {
    uint8_t bytes[16] = {0};
    get_fixed(cbor, sizeof bytes, bytes);
    *out = (hone_hash128){0, 0};
    for (int i = 0; i < 8; i++) {
        out->lo |= (uint64_t)bytes[i] << (8 * i);
        out->hi |= (uint64_t)bytes[8 + i] << (8 * i);
    }
}

static void get_bytes(hone_cbor_reader *cbor, size_t limit, void *at) {
    wire_bytes view = {NULL, 0};
    hone_cbor_get_bytes(cbor, &view.data, &view.count);
    if (view.count > limit) {
        hone_cbor_reader_fail(cbor, "has more bytes than are allowed");
        view = (wire_bytes){NULL, 0};
    }
    memcpy(at, &view, sizeof view);
}

static void get_list(wire_reader *reader, const wire_field *f, void *at) {
    wire_list list = {.count = hone_wire_get_array(reader, f->limit)};
    if (list.count) list.items = hone_wire_alloc(reader, list.count, f->stride);
    if (!list.items) list.count = 0;
    for (size_t i = 0; i < list.count && hone_cbor_reader_ok(reader->cbor); i++)
        hone_wire_get(reader, f->sub, (char *)list.items + i * f->stride);
    memcpy(at, &list, sizeof list);
}

static void get_field(wire_reader *reader, const wire_field *f, void *record) {
    hone_cbor_reader *cbor = reader->cbor;
    void *at = (char *)record + f->offset;
    switch ((wire_kind)f->kind) {
    case WIRE_BOOL:
        *(bool *)at = hone_cbor_get_bool(cbor);
        break;
    case WIRE_INT32:
        *(int32_t *)at = (int32_t)get_between(cbor, INT32_MIN, INT32_MAX);
        break;
    case WIRE_UINT32:
        *(uint32_t *)at = (uint32_t)get_between(cbor, 0, UINT32_MAX);
        break;
    case WIRE_INT64:
        *(int64_t *)at = hone_cbor_get_int(cbor);
        break;
    case WIRE_UINT64:
        *(uint64_t *)at = hone_cbor_get_uint(cbor);
        break;
    case WIRE_DOUBLE:
        *(double *)at = hone_cbor_get_double(cbor);
        break;
    case WIRE_ENUM:
        *(unsigned *)at = (unsigned)get_between(cbor, 0, (int64_t)f->limit - 1);
        break;
    case WIRE_TEXT:
        *(const char **)at = hone_wire_get_text(reader, f->limit);
        break;
    case WIRE_STRUCT:
        hone_wire_get(reader, f->sub, at);
        break;
    case WIRE_NAME:
        get_name(cbor, f->limit, at);
        break;
    case WIRE_NOTE:
        get_note(cbor, f->limit, at);
        break;
    case WIRE_FIXED:
        get_fixed(cbor, f->limit, at);
        break;
    case WIRE_HASH:
        get_hash(cbor, at);
        break;
    case WIRE_BYTES:
        get_bytes(cbor, f->limit, at);
        break;
    case WIRE_LIST:
        get_list(reader, f, at);
        break;
    case WIRE_CUSTOM:
        f->get(reader, record);
        break;
    }
}

static size_t find(const wire_table *table, uint64_t key) {
    size_t i = 0;
    while (i < table->count && table->fields[i].key != key)
        i++;
    return i;
}

/* A key that comes twice is refused: else a small message could fill the arena many times over. */
void hone_wire_get(wire_reader *reader, const wire_table *table, void *record) {
    assert(table->count <= 64);
    uint64_t seen = 0;
    size_t pairs = hone_cbor_get_map(reader->cbor);
    for (size_t i = 0; i < pairs && hone_cbor_reader_ok(reader->cbor); i++) {
        size_t at = find(table, hone_cbor_get_uint(reader->cbor));
        if (at == table->count) {
            hone_cbor_skip(reader->cbor);
        } else if (seen & UINT64_C(1) << at) {
            hone_cbor_reader_fail(reader->cbor, "has a key twice");
        } else {
            seen |= UINT64_C(1) << at;
            get_field(reader, &table->fields[at], record);
        }
    }
}

hone_status hone_wire_read(const void *bytes, size_t count, hone_arena *arena,
                           const wire_table *table, const char *what, void *record) {
    hone_cbor_reader cbor;
    hone_cbor_reader_init(&cbor, bytes, count);
    wire_reader reader = {&cbor, arena};
    hone_wire_get(&reader, table, record);
    return hone_cbor_reader_check(&cbor, what, true);
}

const char *hone_wire_get_text(wire_reader *reader, size_t limit) {
    const char *text = NULL;
    size_t count = 0;
    hone_cbor_get_text(reader->cbor, &text, &count);
    if (!text) return NULL;
    if (count > limit) {
        hone_cbor_reader_fail(reader->cbor, "has text that is too long");
        return NULL;
    }
    const char *copy = hone_arena_strndup(reader->arena, text, count);
    if (!copy) hone_cbor_reader_fail_memory(reader->cbor);
    return copy;
}

void *hone_wire_alloc(wire_reader *reader, size_t count, size_t bytes) {
    void *memory =
        count <= SIZE_MAX / 2 / bytes ? hone_arena_zalloc(reader->arena, count * bytes) : NULL;
    if (!memory) hone_cbor_reader_fail_memory(reader->cbor);
    return memory;
}

size_t hone_wire_get_array(wire_reader *reader, size_t limit) {
    size_t count = hone_cbor_get_array(reader->cbor);
    if (count <= limit) return count;
    hone_cbor_reader_fail(reader->cbor, "has a list that is too long");
    return 0;
}
