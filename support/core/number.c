/* support/core/number.c - the C locale for one conversion, where the thread has another one. */
#include "support/core/number.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- locales ---- */

/* The locale to go back to; 0: numbers have points already, or memory is short. */
static locale_t enter(void) {
    if (strcmp(nl_langinfo(RADIXCHAR), ".") == 0) return (locale_t)0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

static void leave(locale_t before) {
    if (before) freelocale(uselocale(before));
}

/* ---- numbers ---- */

double hone_number_parse(const char *text, char **end) {
    locale_t before = enter();
    double value = strtod(text, end); /* allow strtod: with points */
    leave(before);
    return value;
}

float hone_number_parse_f32(const char *text, char **end) {
    locale_t before = enter();
    float value = strtof(text, end); /* allow strtof: with points */
    leave(before);
    return value;
}

char *hone_number_print(double value, int fewest, char out[HONE_NUMBER_BYTES]) {
    locale_t before = enter();
    for (int digits = fewest; digits <= 17; digits++) {
        snprintf(out, HONE_NUMBER_BYTES, "%.*g", digits, value); /* allow snprintf: with points */
        if (strtod(out, NULL) == value) break;                   /* allow strtod: with points */
    }
    leave(before);
    return out;
}

int hone_vsnprintf(char *out, size_t bytes, const char *format, va_list args) {
    locale_t before = enter();
    int length = vsnprintf(out, bytes, format, args);
    leave(before);
    return length;
}

int hone_snprintf(char *out, size_t bytes, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = hone_vsnprintf(out, bytes, format, args);
    va_end(args);
    return length;
}

/* ---- letters ---- */

char hone_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

char hone_upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}
