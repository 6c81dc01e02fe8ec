/* support/core/strbuf.c - see strbuf.h. Capacity doubles, so n appends cost O(n). */
#include "support/core/strbuf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/number.h"

void hone_str_deinit(hone_str *str) {
    hone_free(str->data);
    *str = (hone_str){0};
}

void hone_str_clear(hone_str *str) {
    str->length = 0;
    str->failed = false;
    if (str->data) str->data[0] = '\0';
}

bool hone_str_reserve(hone_str *str, size_t extra) {
    if (str->failed) return false;
    if (extra < str->capacity && str->length + extra < str->capacity) return true;
    if (extra > SIZE_MAX / 4 || str->length > SIZE_MAX / 4) {
        str->failed = true;
        return false;
    }
    size_t capacity = str->capacity ? str->capacity : 32;
    while (capacity < str->length + extra + 1)
        capacity *= 2;
    char *data = hone_realloc(str->data, capacity);
    if (!data) {
        str->failed = true;
        return false;
    }
    if (!str->data) data[0] = '\0';
    str->data = data;
    str->capacity = capacity;
    return true;
}

void hone_str_append(hone_str *str, const char *text) {
    hone_str_append_n(str, text, strlen(text));
}

void hone_str_append_n(hone_str *str, const char *bytes, size_t count) {
    if (!hone_str_reserve(str, count)) return;
    if (count) memcpy(str->data + str->length, bytes, count);
    str->length += count;
    str->data[str->length] = '\0';
}

void hone_str_append_char(hone_str *str, char c) {
    hone_str_append_n(str, &c, 1);
}

void hone_str_append_repeat(hone_str *str, char c, size_t count) {
    if (!hone_str_reserve(str, count)) return;
    memset(str->data + str->length, c, count);
    str->length += count;
    str->data[str->length] = '\0';
}

void hone_str_printf(hone_str *str, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hone_str_vprintf(str, format, args);
    va_end(args);
}

void hone_str_vprintf(hone_str *str, const char *format, va_list args) {
    if (!hone_str_reserve(str, 32)) return;
    va_list again;
    va_copy(again, args);
    size_t room = str->capacity - str->length;
    int wanted = hone_vsnprintf(str->data + str->length, room, format, args);
    if (wanted < 0) {
        str->data[str->length] = '\0';
        str->failed = true;
    } else if ((size_t)wanted < room) {
        str->length += (size_t)wanted;
    } else if (hone_str_reserve(str, (size_t)wanted)) {
        hone_vsnprintf(str->data + str->length, (size_t)wanted + 1, format, again);
        str->length += (size_t)wanted;
    } else {
        str->data[str->length] = '\0';
    }
    va_end(again);
}

static void append_escaped(hone_str *str, unsigned char c) {
    switch (c) {
    case '\n':
        hone_str_append(str, "\\n");
        break;
    case '\t':
        hone_str_append(str, "\\t");
        break;
    case '\r':
        hone_str_append(str, "\\r");
        break;
    case '"':
        hone_str_append(str, "\\\"");
        break;
    case '\\':
        hone_str_append(str, "\\\\");
        break;
    default:
        if (c < 0x20 || c == 0x7f) {
            hone_str_printf(str, "\\x%02x", c);
        } else {
            hone_str_append_char(str, (char)c);
        }
    }
}

void hone_str_append_quoted(hone_str *str, const char *text, size_t count) {
    hone_str_append_char(str, '"');
    for (size_t i = 0; i < count; i++)
        append_escaped(str, (unsigned char)text[i]);
    hone_str_append_char(str, '"');
}

void hone_str_truncate(hone_str *str, size_t length) {
    assert(length <= str->length);
    if (!str->data) return;
    str->length = length;
    str->data[length] = '\0';
}

const char *hone_str_text(const hone_str *str) {
    return str->data ? str->data : "";
}

char *hone_str_take(hone_str *str) {
    if (!str->failed && !str->data) (void)hone_str_reserve(str, 0);
    char *data = str->data;
    if (str->failed) {
        hone_free(data);
        data = NULL;
    }
    *str = (hone_str){0};
    return data;
}

hone_status hone_str_check(const hone_str *str) {
    if (str->failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "string of %zu bytes", str->length);
    return HONE_OK;
}
