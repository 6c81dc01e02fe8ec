/* ir/python/python_place.c - lines and columns of a text, and messages that point at them. */
#include <string.h>

#include "ir/python/python_lex.h"
#include "support/core/strbuf.h"

/* ---- places ---- */

enum { BYTES_PER_MARK = 128 };

/* A byte-order mark has no column. */
static py_place first_place(const py_source *source) {
    bool has_mark = source->length >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0;
    return (py_place){.line = 1, .column = has_mark ? 0 : 1};
}

/* From one byte to another one behind it. */
static py_place walk(const py_source *source, py_place place, size_t from, size_t to) {
    for (size_t i = from; i < to && i < source->length; i++) {
        if (source->text[i] == '\n') {
            place = (py_place){.line = place.line + 1, .column = 1};
        } else if (((unsigned char)source->text[i] & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

hone_status py_places_init(py_places *out, const py_source *source, hone_arena *arena) {
    size_t count = source->length / BYTES_PER_MARK + 1;
    py_place *marks = hone_arena_alloc(arena, count * sizeof *marks);
    *out = (py_places){.source = source, .marks = marks};
    if (!marks) return HONE_ERROR(HONE_CODE_NO_MEMORY, "program text");
    marks[0] = first_place(source);
    for (size_t i = 1; i < count; i++)
        marks[i] = walk(source, marks[i - 1], (i - 1) * BYTES_PER_MARK, i * BYTES_PER_MARK);
    return HONE_OK;
}

py_place py_place_of(const py_places *places, uint32_t at) {
    if (!places->marks) return walk(places->source, first_place(places->source), 0, at);
    size_t last = places->source->length / BYTES_PER_MARK, mark = at / BYTES_PER_MARK;
    if (mark > last) mark = last;
    return walk(places->source, places->marks[mark], mark * BYTES_PER_MARK, at);
}

/* ---- messages ---- */

static size_t line_begin(const py_source *source, uint32_t line) {
    size_t at = 0;
    for (uint32_t now = 1; now < line && at < source->length; at++) {
        if (source->text[at] == '\n') now++;
    }
    return at;
}

static void append_caret(hone_str *out, const char *text, size_t length, uint32_t column) {
    uint32_t now = 1;
    for (size_t i = 0; i < length && now < column; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c & 0xC0) == 0x80) continue; /* the rest of a character */
        hone_str_append_char(out, c == '\t' ? '\t' : ' ');
        now++;
    }
    hone_str_append_char(out, '^');
}

hone_status py_error_at(const py_source *source, hone_code code, uint32_t line, uint32_t column,
                        const char *message) {
    size_t begin = line_begin(source, line), end = begin;
    while (end < source->length && source->text[end] != '\n' && source->text[end] != '\r')
        end++;
    size_t shown = end - begin < 400 ? end - begin : 400;
    hone_str where = {0};
    if (!shown) return HONE_ERROR(code, "%s:%u:%u: %s", source->name, line, column, message);
    for (size_t i = 0; i < shown; i++) {
        char c = source->text[begin + i];
        hone_str_append_char(
            &where, c && (unsigned char)c != 0x7f && (c == '\t' || c < 0 || c >= ' ') ? c : '?');
    }
    hone_str_append_char(&where, '\n');
    append_caret(&where, source->text + begin, shown, column);
    hone_status st = HONE_ERROR(code, "%s:%u:%u: %s\n%s", source->name, line, column, message,
                                hone_str_text(&where));
    hone_str_deinit(&where);
    return st;
}

hone_status py_error_at_byte(const py_source *source, hone_code code, uint32_t at,
                             const char *message) {
    py_place place = walk(source, first_place(source), 0, at);
    return py_error_at(source, code, place.line, place.column, message);
}
