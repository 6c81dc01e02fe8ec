/* measure/wire_fields.c - walks tables of fields. */
#include "measure/wire_fields.h"

#include <limits.h>
#include <string.h>

_Static_assert(sizeof(hone_cbor_reader *) && sizeof(unsigned) == 4, "enums are 32 bits wide");

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
    case WIRE_CUSTOM:
        f->put(out, record);
        break;
    }
}

void hone_wire_put(hone_str *out, const wire_table *table, const void *record) {
    hone_cbor_put_map(out, table->count);
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
    case WIRE_CUSTOM:
        f->get(reader, record);
        break;
    }
}

static const wire_field *find(const wire_table *table, uint64_t key) {
    for (size_t i = 0; i < table->count; i++) {
        if (table->fields[i].key == key) return &table->fields[i];
    }
    return NULL;
}

void hone_wire_get(wire_reader *reader, const wire_table *table, void *record) {
    size_t pairs = hone_cbor_get_map(reader->cbor);
    for (size_t i = 0; i < pairs && hone_cbor_reader_ok(reader->cbor); i++) {
        const wire_field *f = find(table, hone_cbor_get_uint(reader->cbor));
        if (f) {
            get_field(reader, f, record);
        } else {
            hone_cbor_skip(reader->cbor);
        }
    }
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
