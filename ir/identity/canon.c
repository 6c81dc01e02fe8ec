/* ir/identity/canon.c - the canonical serialisation: bytes, numbers of variables, attributes. */
#include "ir/identity/canon_impl.h"

#include <string.h>

#include "ir/core/written_schedule.h"
#include "ir/identity/structural.h"
#include "support/core/alloc.h"

/* ---- bytes ---- */

void canon_init(canon *c, bool keeps_bytes) {
    memset(c, 0, offsetof(canon, small_vars));
    c->heap = NULL;
    c->keeps_bytes = keeps_bytes;
    c->is_short_of_memory = c->leaves_numbers = false;
    c->bytes = keeps_bytes ? NULL : c->chunk;
    c->length = 0;
    c->capacity = keeps_bytes ? 0 : CANON_CHUNK;
    c->marks = NULL;
    c->mark_count = c->mark_capacity = 0;
    c->node = c->bind = HONE_NO_ID;
    if (!keeps_bytes) hone_hasher_init(&c->hasher, HONE_STRUCTURAL_VERSION);
}

void canon_deinit(canon *c) {
    if (c->keeps_bytes) hone_free(c->bytes);
    hone_free(c->marks);
    hone_free(c->heap);
}

hone_hash128 canon_digest(canon *c) {
    assert(!c->keeps_bytes);
    if (c->is_short_of_memory) return (hone_hash128){0};
    hone_hasher_bytes(&c->hasher, c->chunk, c->length);
    return hone_hasher_finish(&c->hasher);
}

bool canon_number_tables(canon *c, uint32_t var_count, uint32_t buffer_count) {
    uint32_t in_heap =
        (var_count > CANON_SMALL ? var_count : 0) + (buffer_count > CANON_SMALL ? buffer_count : 0);
    hone_free(c->heap);
    c->heap = NULL;
    if (in_heap) {
        c->heap = hone_malloc(in_heap * sizeof *c->heap);
        if (!c->heap) {
            c->is_short_of_memory = true;
            return false;
        }
    }
    bool vars_in_heap = var_count > CANON_SMALL;
    c->var_numbers = vars_in_heap ? c->heap : c->small_vars;
    c->buffer_numbers =
        buffer_count > CANON_SMALL ? c->heap + (vars_in_heap ? var_count : 0) : c->small_buffers;
    memset(c->var_numbers, 0, var_count * sizeof *c->var_numbers);
    memset(c->buffer_numbers, 0, buffer_count * sizeof *c->buffer_numbers);
    c->var_count = var_count;
    c->next_var = c->next_buffer = 1;
    return true;
}

static bool make_room(canon *c, size_t count) {
    if (c->length + count <= c->capacity) return true;
    if (!c->keeps_bytes) {
        hone_hasher_bytes(&c->hasher, c->chunk, c->length);
        c->length = 0;
        return true;
    }
    size_t capacity = c->capacity ? c->capacity : 4096;
    while (capacity < c->length + count)
        capacity *= 2;
    uint8_t *bytes = hone_realloc(c->bytes, capacity);
    if (!bytes) {
        c->is_short_of_memory = true;
        return false;
    }
    c->bytes = bytes;
    c->capacity = capacity;
    return true;
}

void canon_byte(canon *c, uint8_t byte) {
    if (make_room(c, 1)) c->bytes[c->length++] = byte;
}

void canon_bytes(canon *c, const void *bytes, size_t count) {
    const uint8_t *from = bytes;
    while (count > 0) {
        size_t piece = count < CANON_CHUNK ? count : CANON_CHUNK;
        if (!make_room(c, piece)) return;
        memcpy(c->bytes + c->length, from, piece);
        c->length += piece;
        from += piece;
        count -= piece;
    }
}

void canon_uint(canon *c, uint64_t value) {
    if (!make_room(c, 10)) return;
    while (value >= 0x80) {
        c->bytes[c->length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    c->bytes[c->length++] = (uint8_t)value;
}

void canon_int(canon *c, int64_t value) {
    canon_uint(c, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void canon_string(canon *c, const char *text) {
    size_t length = text ? strlen(text) : 0;
    canon_uint(c, text ? length + 1 : 0);
    canon_bytes(c, text, length);
}

static uint8_t dtype_letter(hone_dtype dtype) {
    switch ((hone_dtype_code)dtype.code) {
    case HONE_DTYPE_CODE_VOID:
        return 'v';
    case HONE_DTYPE_CODE_INT:
        return 'i';
    case HONE_DTYPE_CODE_UINT:
        return 'u';
    case HONE_DTYPE_CODE_FLOAT:
        return 'f';
    case HONE_DTYPE_CODE_BFLOAT:
        return 'b';
    case HONE_DTYPE_CODE_FLOAT8_E4M3:
        return '4';
    case HONE_DTYPE_CODE_FLOAT8_E5M2:
        return '5';
    case HONE_DTYPE_CODE_FLOAT8_E3M4:
        return '3';
    case HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE:
        return 'e';
    case HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ:
        return 'B';
    case HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ:
        return 'F';
    case HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ:
        return 'G';
    case HONE_DTYPE_CODE_FLOAT8_E8M0FNU:
        return '8';
    case HONE_DTYPE_CODE_FLOAT6_E2M3FN:
        return '2';
    case HONE_DTYPE_CODE_FLOAT6_E3M2FN:
        return '6';
    case HONE_DTYPE_CODE_FLOAT4_E2M1FN:
        return '1';
    case HONE_DTYPE_CODE_BOOL:
        return '?';
    case HONE_DTYPE_CODE_HANDLE:
        return 'h';
    case HONE_DTYPE_CODE_COUNT:
        break;
    }
    return 'z';
}

void canon_dtype(canon *c, hone_dtype dtype) {
    if (!make_room(c, 5)) return;
    c->bytes[c->length++] = dtype_letter(dtype);
    c->bytes[c->length++] = dtype.bits;
    canon_uint(c, hone_dtype_is_void(dtype) ? 0 : dtype.lanes);
}

void canon_mark_at(canon *c, const char *what, const hone_expr *expr, const char *text) {
    if (!c->keeps_bytes) return;
    if (c->mark_count == c->mark_capacity) {
        size_t capacity = c->mark_capacity ? c->mark_capacity * 2 : 256;
        canon_mark *marks = hone_realloc_array(c->marks, capacity, sizeof *marks);
        if (!marks) {
            c->is_short_of_memory = true;
            return;
        }
        c->marks = marks;
        c->mark_capacity = capacity;
    }
    c->marks[c->mark_count++] = (canon_mark){.offset = c->length,
                                             .what = what,
                                             .expr = expr,
                                             .text = text,
                                             .node = c->node,
                                             .bind = c->bind};
}

static canon_mark *last_mark(canon *c) {
    return c->keeps_bytes && c->mark_count ? &c->marks[c->mark_count - 1] : NULL;
}

void canon_mark_count(canon *c, const char *what, uint64_t count) {
    canon_mark_at(c, what, NULL, NULL);
    canon_mark *mark = last_mark(c);
    if (!mark || c->is_short_of_memory) return;
    mark->is_count = true;
    mark->count = count;
}

void canon_count(canon *c, const char *what, uint64_t count) {
    canon_mark_count(c, what, count);
    canon_uint(c, count);
}

void canon_marked_dtype(canon *c, const char *what, hone_dtype dtype) {
    canon_mark_at(c, what, NULL, NULL);
    canon_mark *mark = last_mark(c);
    if (mark && !c->is_short_of_memory) {
        mark->is_dtype = true;
        mark->dtype = dtype;
    }
    canon_dtype(c, dtype);
}

/* ---- attributes ---- */

static void write_attr_value(canon *c, const hone_value *value);

static void write_float(canon *c, double value) {
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    canon_bytes(c, bytes, sizeof bytes);
}

/* A constant expression of the default integer type counts as the integer. */
static hone_value plain_value(const hone_value *value) {
    const hone_expr *e = value->kind == HONE_VALUE_EXPR ? value->u.expr : NULL;
    if (e && e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_I32)) {
        return HONE_VALUE_OF_INT(e->u.i);
    }
    if (e && e->kind == HONE_EXPR_INT && hone_dtype_equal(e->dtype, HONE_DTYPE_BOOL)) {
        return HONE_VALUE_OF_BOOL(e->u.i != 0);
    }
    return *value;
}

static hone_dtype lambda_param_dtype(const canon *c, hone_var var) {
    return c->func ? c->func->vars[var].dtype : c->graph->vars[var].dtype;
}

static void write_lambda(canon *c, const hone_lambda *lambda) {
    canon_byte(c, 'L');
    canon_byte(c, lambda->is_reducer);
    canon_uint(c, lambda->param_count);
    for (uint32_t i = 0; i < lambda->param_count; i++)
        canon_var_definition(c, lambda->params[i], lambda_param_dtype(c, lambda->params[i]));
    canon_uint(c, lambda->body_count);
    for (uint32_t i = 0; i < lambda->body_count; i++)
        canon_expr(c, "body of the lambda", lambda->bodies[i]);
    canon_uint(c, lambda->identity_count);
    for (uint32_t i = 0; i < lambda->identity_count; i++)
        canon_expr(c, "identity of the reducer", lambda->identities[i]);
}

static void write_attr_value(canon *c, const hone_value *written) {
    hone_value value = plain_value(written);
    switch (value.kind) {
    case HONE_VALUE_NONE:
        canon_byte(c, 'N');
        return;
    case HONE_VALUE_BOOL:
        canon_byte(c, 'B');
        canon_byte(c, value.u.i != 0);
        return;
    case HONE_VALUE_INT:
        canon_byte(c, 'I');
        canon_int(c, value.u.i);
        return;
    case HONE_VALUE_FLOAT:
        canon_byte(c, 'F');
        write_float(c, value.u.f);
        return;
    case HONE_VALUE_STRING:
        canon_byte(c, 'S');
        canon_string(c, value.u.s);
        return;
    case HONE_VALUE_EXPR:
        canon_byte(c, 'E');
        canon_expr(c, "attribute", value.u.expr);
        return;
    case HONE_VALUE_LIST:
        canon_byte(c, '[');
        canon_uint(c, value.count);
        for (uint32_t i = 0; i < value.count; i++)
            write_attr_value(c, &value.u.items[i]);
        return;
    case HONE_VALUE_LAMBDA:
        write_lambda(c, value.u.lambda);
        return;
    case HONE_VALUE_MAP: {
        hone_attrs attrs = {value.count, value.u.attrs};
        canon_byte(c, '{');
        canon_attrs(c, &attrs);
        return;
    }
    }
}

/* The smallest key greater than `after`; keys are unique, so this walks them in order. */
static const hone_attr *next_attr(const hone_attrs *attrs, const char *after) {
    const hone_attr *best = NULL;
    for (uint32_t i = 0; i < attrs->count; i++) {
        const hone_attr *attr = &attrs->items[i];
        if (after && strcmp(attr->key, after) <= 0) continue;
        if (!best || strcmp(attr->key, best->key) < 0) best = attr;
    }
    return best;
}

static bool says_nothing(const char *key) {
    return strcmp(key, "global_symbol") == 0 || strcmp(key, HONE_ATTR_IS_SCHEDULED) == 0;
}

static void write_attrs(canon *c, const hone_attrs *attrs, bool is_of_func) {
    const hone_attr *attr = NULL;
    while ((attr = next_attr(attrs, attr ? attr->key : NULL))) {
        if (is_of_func && says_nothing(attr->key)) continue;
        canon_mark_at(c, "attribute", NULL, attr->key);
        if (c->mark_count) c->marks[c->mark_count - 1].value = &attr->value;
        canon_byte(c, 'a');
        canon_string(c, attr->key);
        write_attr_value(c, &attr->value);
    }
    canon_mark_at(c, "end of the attributes", NULL, NULL);
    canon_byte(c, 'e');
}

void canon_attrs(canon *c, const hone_attrs *attrs) {
    write_attrs(c, attrs, false);
}

void canon_func_attrs(canon *c, const hone_attrs *attrs) {
    write_attrs(c, attrs, true);
}
