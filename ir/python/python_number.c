/* ir/python/python_number.c - numbers as Python writes them: 1_000, 0x10, 0b1, 1e-3. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/python/python_lex.h"
#include "support/core/number.h"

enum { MAX_DIGITS = 1100 };

/* Its characters without '_'; false when there are too many. */
static bool copy_digits(const py_source *source, size_t from, size_t to, char *out) {
    size_t used = 0;
    for (size_t at = from; at < to; at++) {
        if (source->text[at] == '_') continue;
        if (used + 1 == MAX_DIGITS) return false;
        out[used++] = source->text[at];
    }
    out[used] = '\0';
    return true;
}

const char py_number_too_large[] = "this number does not fit 64 bits";
static const char malformed[] = "this number is malformed";

const char *py_int_of(const py_source *source, size_t from, size_t to, int64_t *out,
                      bool *out_is_huge) {
    char text[MAX_DIGITS], *start = text, *end;
    int base = 10;
    *out = 0;
    *out_is_huge = false;
    if (!copy_digits(source, from, to, text)) return py_number_too_large;
    if (text[0] == '0' && text[1] && strchr("xXoObB", text[1])) {
        base = strchr("xX", text[1]) ? 16 : strchr("oO", text[1]) ? 8 : 2;
        start += 2;
    }
    errno = 0;
    *out = strtoll(start, &end, base);
    if (errno) {
        errno = 0;
        *out_is_huge = true;
        *out = (int64_t)strtoull(start, &end, base);
    }
    if (end == start || *end) return malformed;
    return errno ? py_number_too_large : NULL;
}

const char *py_float_of(const py_source *source, size_t from, size_t to, double *out) {
    char text[MAX_DIGITS], *end;
    *out = 0;
    if (!copy_digits(source, from, to, text)) return malformed;
    *out = hone_number_parse(text, &end);
    return *end ? malformed : NULL;
}
