/* support/utf8.c - see utf8.h. */
#include "support/utf8.h"

#include "support/attributes.h"

size_t hone_utf8_character(const char *text, size_t count) {
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
    for (size_t bytes; at < count && (bytes = hone_utf8_character(text + at, count - at));)
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
