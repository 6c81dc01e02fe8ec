/* support/text/json.c - see json.h. Trees are jansson's; printing is ours, for the shortest
 * doubles.
 *
 * A hone_json * is a json_t *. Every tree has one owner, so reference counts are 1 throughout.
 */
#include "support/text/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/core/alloc.h"
#include "support/core/number.h"
#include "support/text/utf8.h"

static json_t *of(hone_json *json) {
    return (json_t *)(void *)json;
}

/* jansson's getters take const json_t * or, without changing anything, json_t *. */
static json_t *peek(const hone_json *json) {
    return (json_t *)(uintptr_t)json;
}

static hone_json *to(json_t *json) {
    return (hone_json *)(void *)json;
}

/* What Python writes and JSON does not. */
static const char *hint_of(const char *error) {
    static const char *const rows[][2] = {
        {"'None'",                          "; JSON writes null"                       },
        {"'True'",                          "; JSON writes true"                       },
        {"'False'",                         "; JSON writes false"                      },
        {"near '\''",                       "; JSON has strings in double quotes only" },
        {"unexpected token near ']'",       "; JSON has no comma behind the last item" },
        {"string or '}' expected near '}'", "; JSON has no comma behind the last item" },
        {"end of file expected near ']'",   "; a bracket is closed that was not opened"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strstr(error, rows[i][0])) return rows[i][1];
    }
    return "";
}

hone_status hone_json_parse(const char *text, size_t count, hone_json **out_json) {
    json_error_t error;
    *out_json = NULL;
    json_t *json = json_loadb(text, count, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (!json && json_error_code(&error) == json_error_out_of_memory) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "json of %zu bytes", count);
    }
    if (!json) {
        return HONE_ERROR(HONE_CODE_INVALID, "%d:%d: %s%s", error.line, error.column, error.text,
                          hint_of(error.text));
    }
    *out_json = to(json);
    return HONE_OK;
}

void hone_json_destroy(hone_json *json) {
    json_decref(of(json));
}

/* ---- look ---- */

hone_json_kind hone_json_get_kind(const hone_json *json) {
    if (!json) return HONE_JSON_NULL;
    switch (json_typeof(peek(json))) {
    case JSON_OBJECT:
        return HONE_JSON_OBJECT;
    case JSON_ARRAY:
        return HONE_JSON_ARRAY;
    case JSON_STRING:
        return HONE_JSON_TEXT;
    case JSON_INTEGER:
        return HONE_JSON_INT;
    case JSON_REAL:
        return HONE_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return HONE_JSON_BOOL;
    case JSON_NULL:
        return HONE_JSON_NULL;
    }
    return HONE_JSON_NULL;
}

const char *hone_json_kind_name(hone_json_kind kind) {
    static const char *const names[] = {
        [HONE_JSON_NULL] = "null",       [HONE_JSON_BOOL] = "a boolean",
        [HONE_JSON_INT] = "an integer",  [HONE_JSON_REAL] = "a number",
        [HONE_JSON_TEXT] = "text",       [HONE_JSON_ARRAY] = "an array",
        [HONE_JSON_OBJECT] = "an object"};
    return names[kind];
}

bool hone_json_is(const hone_json *json, hone_json_kind kind) {
    return json && hone_json_get_kind(json) == kind;
}

bool hone_json_bool(const hone_json *json) {
    assert(hone_json_is(json, HONE_JSON_BOOL));
    return json_is_true(peek(json));
}

int64_t hone_json_i64(const hone_json *json) {
    assert(hone_json_is(json, HONE_JSON_INT));
    return (int64_t)json_integer_value(peek(json));
}

double hone_json_f64(const hone_json *json) {
    assert(hone_json_is(json, HONE_JSON_INT) || hone_json_is(json, HONE_JSON_REAL));
    return json_number_value(peek(json));
}

const char *hone_json_text(const hone_json *json) {
    assert(hone_json_is(json, HONE_JSON_TEXT));
    return json_string_value(peek(json));
}

size_t hone_json_count(const hone_json *json) {
    if (hone_json_is(json, HONE_JSON_ARRAY)) return json_array_size(peek(json));
    return hone_json_is(json, HONE_JSON_OBJECT) ? json_object_size(peek(json)) : 0;
}

const hone_json *hone_json_at(const hone_json *array, size_t index) {
    return to(json_array_get(peek(array), index));
}

const hone_json *hone_json_find(const hone_json *object, const char *key) {
    return to(json_object_get(peek(object), key));
}

bool hone_json_next(const hone_json *object, void **cursor, const char **out_key,
                    const hone_json **out_value) {
    json_t *json = peek(object);
    *cursor = *cursor ? json_object_iter_next(json, *cursor) : json_object_iter(json);
    if (out_key) *out_key = *cursor ? json_object_iter_key(*cursor) : NULL;
    if (out_value) *out_value = *cursor ? to(json_object_iter_value(*cursor)) : NULL;
    return *cursor != NULL;
}

/* Finds a member of one kind (HONE_JSON_REAL: also an integer). */
static hone_status get(const hone_json *object, const char *key, hone_json_kind want,
                       const hone_json **out_value) {
    const hone_json *value = hone_json_find(object, key);
    hone_json_kind kind = hone_json_get_kind(value);
    *out_value = NULL;
    if (!value) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is missing, must be %s", key,
                          hone_json_kind_name(want));
    }
    if (kind != want && !(want == HONE_JSON_REAL && kind == HONE_JSON_INT)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is %s, must be %s", key,
                          hone_json_kind_name(kind), hone_json_kind_name(want));
    }
    *out_value = value;
    return HONE_OK;
}

hone_status hone_json_get_i64(const hone_json *object, const char *key, int64_t *out_value) {
    const hone_json *value = NULL;
    *out_value = 0;
    HONE_TRY(get(object, key, HONE_JSON_INT, &value));
    *out_value = hone_json_i64(value);
    return HONE_OK;
}

hone_status hone_json_get_f64(const hone_json *object, const char *key, double *out_value) {
    const hone_json *value = NULL;
    *out_value = 0;
    HONE_TRY(get(object, key, HONE_JSON_REAL, &value));
    *out_value = hone_json_f64(value);
    return HONE_OK;
}

hone_status hone_json_get_text(const hone_json *object, const char *key, const char **out_value) {
    const hone_json *value = NULL;
    *out_value = NULL;
    HONE_TRY(get(object, key, HONE_JSON_TEXT, &value));
    *out_value = hone_json_text(value);
    return HONE_OK;
}

hone_status hone_json_get_array(const hone_json *object, const char *key,
                                const hone_json **out_value) {
    return get(object, key, HONE_JSON_ARRAY, out_value);
}

/* ---- build ---- */

hone_json *hone_json_make_null(void) {
    return to(json_null());
}

static hone_json *make_bool(bool value) {
    return to(json_boolean(value));
}

hone_json *hone_json_make_i64(int64_t value) {
    return to(json_integer((json_int_t)value));
}

hone_json *hone_json_make_f64(double value) {
    return isfinite(value) ? to(json_real(value)) : hone_json_make_null();
}

hone_json *hone_json_make_text(const char *value) {
    return value ? hone_json_make_text_n(value, strlen(value)) : hone_json_make_null();
}

hone_json *hone_json_make_text_n(const char *value, size_t count) {
    if (memchr(value, '\0', count)) return NULL;
    if (hone_utf8_valid_bytes(value, count) == count) return to(json_stringn(value, count));
    hone_str clean = {0};
    hone_utf8_append_clean(&clean, value, count);
    hone_json *json = clean.failed ? NULL : to(json_stringn(clean.data, clean.length));
    hone_str_deinit(&clean);
    return json;
}

hone_json *hone_json_make_array(void) {
    return to(json_array());
}

hone_json *hone_json_make_object(void) {
    return to(json_object());
}

bool hone_json_append(hone_json *array, hone_json *value) {
    return json_array_append_new(of(array), of(value)) == 0; /* takes value also when it fails */
}

bool hone_json_set(hone_json *object, const char *key, hone_json *value) {
    size_t count = strlen(key);
    if (hone_utf8_valid_bytes(key, count) == count) {
        return json_object_set_new(of(object), key, of(value)) == 0;
    }
    hone_str clean = {0};
    hone_utf8_append_clean(&clean, key, count);
    /* A NULL key is refused, and the value taken all the same. */
    bool ok = json_object_set_new(of(object), clean.failed ? NULL : clean.data, of(value)) == 0;
    hone_str_deinit(&clean);
    return ok;
}

bool hone_json_set_bool(hone_json *object, const char *key, bool value) {
    return hone_json_set(object, key, make_bool(value));
}

bool hone_json_set_i64(hone_json *object, const char *key, int64_t value) {
    return hone_json_set(object, key, hone_json_make_i64(value));
}

bool hone_json_set_f64(hone_json *object, const char *key, double value) {
    return hone_json_set(object, key, hone_json_make_f64(value));
}

bool hone_json_set_text(hone_json *object, const char *key, const char *value) {
    return hone_json_set(object, key, hone_json_make_text(value));
}

/* ---- print ---- */

void hone_json_print_text(const char *text, size_t count, hone_str *out) {
    hone_str_append_char(out, '"');
    size_t plain = 0; /* start of the run that needs no escape */
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != 0x7f && c != '"' && c != '\\') continue;
        hone_utf8_append_clean(out, text + plain, i - plain);
        plain = i + 1;
        switch (c) {
        case '"':
            hone_str_append(out, "\\\"");
            break;
        case '\\':
            hone_str_append(out, "\\\\");
            break;
        case '\n':
            hone_str_append(out, "\\n");
            break;
        case '\t':
            hone_str_append(out, "\\t");
            break;
        case '\r':
            hone_str_append(out, "\\r");
            break;
        default:
            hone_str_printf(out, "\\u%04x", c);
        }
    }
    hone_utf8_append_clean(out, text + plain, count - plain);
    hone_str_append_char(out, '"');
}

void hone_json_print_f64(double value, hone_str *out) {
    if (!isfinite(value)) {
        hone_str_append(out, "null");
        return;
    }
    char text[HONE_NUMBER_BYTES];
    hone_number_print(value, 15, text);
    hone_str_append(out, text);
    if (!strpbrk(text, ".e")) hone_str_append(out, ".0");
}

static void print_value(const hone_json *json, const hone_json_style *style, int depth,
                        hone_str *out);

static void print_break(const hone_json_style *style, int depth, hone_str *out) {
    if (style->indent == 0) return;
    hone_str_append_char(out, '\n');
    hone_str_append_repeat(out, ' ', (size_t)(style->indent * depth));
}

static void print_separator(const hone_json_style *style, hone_str *out) {
    bool is_tight = style->is_compact || style->indent > 0;
    hone_str_append(out, is_tight ? "," : ", ");
}

static void print_array(const hone_json *json, const hone_json_style *style, int depth,
                        hone_str *out) {
    size_t count = hone_json_count(json);
    hone_str_append_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i) print_separator(style, out);
        print_break(style, depth + 1, out);
        print_value(hone_json_at(json, i), style, depth + 1, out);
    }
    if (count) print_break(style, depth, out);
    hone_str_append_char(out, ']');
}

static int compare_keys(const void *a, const void *b) {
    const char *left = NULL, *right = NULL;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return strcmp(left, right);
}

static void print_member(const char *key, const hone_json *value, const hone_json_style *style,
                         int depth, hone_str *out) {
    print_break(style, depth, out);
    hone_json_print_text(key, strlen(key), out);
    hone_str_append(out, style->is_compact ? ":" : ": ");
    print_value(value, style, depth, out);
}

static void print_sorted(const hone_json *json, const hone_json_style *style, int depth,
                         hone_str *out) {
    size_t count = hone_json_count(json), n = 0;
    const char **keys = hone_calloc(count, sizeof *keys);
    if (!keys) {
        out->failed = true;
        return;
    }
    void *cursor = NULL;
    while (hone_json_next(json, &cursor, &keys[n], NULL) && ++n < count) {
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        if (i) print_separator(style, out);
        print_member(keys[i], hone_json_find(json, keys[i]), style, depth + 1, out);
    }
    hone_free(keys);
}

static void print_object(const hone_json *json, const hone_json_style *style, int depth,
                         hone_str *out) {
    const char *key = NULL;
    const hone_json *value = NULL;
    size_t count = hone_json_count(json);
    hone_str_append_char(out, '{');
    if (style->is_sorted && count) {
        print_sorted(json, style, depth, out);
    } else {
        void *cursor = NULL;
        for (bool is_first = true; hone_json_next(json, &cursor, &key, &value); is_first = false) {
            if (!is_first) print_separator(style, out);
            print_member(key, value, style, depth + 1, out);
        }
    }
    if (count) print_break(style, depth, out);
    hone_str_append_char(out, '}');
}

static void print_value(const hone_json *json, const hone_json_style *style, int depth,
                        hone_str *out) {
    switch (hone_json_get_kind(json)) {
    case HONE_JSON_NULL:
        hone_str_append(out, "null");
        break;
    case HONE_JSON_BOOL:
        hone_str_append(out, hone_json_bool(json) ? "true" : "false");
        break;
    case HONE_JSON_INT:
        hone_str_printf(out, "%lld", (long long)hone_json_i64(json));
        break;
    case HONE_JSON_REAL:
        hone_json_print_f64(hone_json_f64(json), out);
        break;
    case HONE_JSON_TEXT:
        hone_json_print_text(hone_json_text(json), json_string_length(peek(json)), out);
        break;
    case HONE_JSON_ARRAY:
        print_array(json, style, depth, out);
        break;
    case HONE_JSON_OBJECT:
        print_object(json, style, depth, out);
        break;
    }
}

void hone_json_print(const hone_json *json, const hone_json_style *style, hone_str *out) {
    static const hone_json_style one_line = {0};
    print_value(json, style ? style : &one_line, 0, out);
}

bool hone_json_equal(const hone_json *a, const hone_json *b) {
    return a == b || json_equal(peek(a), peek(b));
}
