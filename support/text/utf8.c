/* support/text/utf8.c - see utf8.h. */
#include "support/text/utf8.h"

#include <string.h>

#include "support/core/attributes.h"

/* Bytes of the character that the text begins with, 1 to 4; 0 when it begins with none (count 0,
 * a stray or missing byte). */
static size_t character(const char *text, size_t count) {
    /* Table 3-7 of the Unicode standard: the range of the second byte depends on the first. */
    static const struct {
        unsigned char first, last, second_min, second_max, bytes;
    } rows[] = {
        {0x00, 0x7f, 0,    0,    1},
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *at = (const unsigned char *)text;
    if (!count) return 0;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (*at < rows[i].first || *at > rows[i].last) continue;
        if (count < rows[i].bytes) return 0;
        if (rows[i].bytes == 1) return 1;
        if (at[1] < rows[i].second_min || at[1] > rows[i].second_max) return 0;
        for (size_t k = 2; k < rows[i].bytes; k++) {
            if ((at[k] & 0xc0) != 0x80) return 0;
        }
        return rows[i].bytes;
    }
    return 0;
}

size_t hone_utf8_valid_bytes(const char *text, size_t count) {
    size_t at = 0;
    for (size_t bytes; at < count && (bytes = character(text + at, count - at));)
        at += bytes;
    return at;
}

void hone_utf8_append_clean(hone_str *out, const char *text, size_t count) {
    for (size_t at = 0; at < count;) {
        size_t valid = hone_utf8_valid_bytes(text + at, count - at);
        hone_str_append_n(out, text + at, valid);
        at += valid;
        if (at == count) return;
        hone_str_append(out, "\xef\xbf\xbd");
        at++;
    }
}

/* The number of a character of two or three bytes. */
static unsigned code_of(const unsigned char *at, size_t bytes) {
    if (bytes == 2) return (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
    return (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
}

/* C1 controls; line and paragraph separators; bidirectional marks, embeddings and isolates. */
static bool is_unseen(unsigned code) {
    return (code >= 0x80 && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* next: the byte behind it, or 0. */
static bool is_plain_byte(unsigned char c, char next, bool keeps_lines) {
    if (c >= 0x20 && c < 0x7f) return true;
    return keeps_lines && (c == '\n' || c == '\t' || (c == '\r' && next == '\n'));
}

/* Bytes from here on that are shown as they are. */
static size_t plain_bytes(const char *text, size_t count, bool keeps_lines) {
    for (size_t at = 0, bytes; at < count; at += bytes) {
        const unsigned char *here = (const unsigned char *)text + at;
        bytes = character(text + at, count - at);
        bool is_plain =
            bytes == 1  ? is_plain_byte(*here, at + 1 < count ? text[at + 1] : '\0', keeps_lines)
            : bytes < 4 ? bytes && !is_unseen(code_of(here, bytes))
                        : true;
        if (!is_plain) return at;
    }
    return count;
}

void hone_utf8_append_shown(hone_str *out, const char *text, size_t count, bool keeps_lines) {
    for (size_t at = 0; at < count;) {
        size_t plain = plain_bytes(text + at, count - at, keeps_lines);
        hone_str_append_n(out, text + at, plain);
        at += plain;
        if (at == count) return;
        size_t bytes = character(text + at, count - at);
        const unsigned char *here = (const unsigned char *)text + at;
        if (bytes > 1) {
            hone_str_printf(out, "\\u%04x", code_of(here, bytes));
            at += bytes;
        } else {
            hone_str_printf(out, "\\x%02x", *here);
            at++;
        }
    }
}

size_t hone_utf8_columns(const char *text) {
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

size_t hone_utf8_prefix(const char *text, size_t columns) {
    size_t bytes = 0;
    for (; text[bytes]; bytes++) {
        bool begins = ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (begins && columns-- == 0) break;
    }
    return bytes;
}

void hone_utf8_append_short(hone_str *out, const char *text, size_t columns) {
    size_t all = hone_utf8_columns(text);
    if (all <= columns) {
        hone_str_append(out, text);
        return;
    }
    size_t shown = columns > 2 ? columns - 2 : 1, right = shown / 2;
    hone_str_append_n(out, text, hone_utf8_prefix(text, shown - right));
    hone_str_append(out, "..");
    hone_str_append(out, text + hone_utf8_prefix(text, all - right));
}

void hone_utf8_put_shown(FILE *to, const char *text, bool keeps_lines) {
    hone_str shown = {0};
    hone_utf8_append_shown(&shown, text, strlen(text), keeps_lines);
    fputs(hone_str_text(&shown), to);
    hone_str_deinit(&shown);
}
