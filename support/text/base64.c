/* support/text/base64.c - base64, as RFC 4648 has it. */
#include "support/text/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void hone_base64_encode(const void *bytes, size_t count, hone_str *out) {
    const uint8_t *from = bytes;
    for (size_t i = 0; i < count; i += 3) {
        size_t rest = count - i;
        uint32_t group = (uint32_t)from[i] << 16 | (rest > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (rest > 2 ? from[i + 2] : 0);
        char four[] = {digits[group >> 18], digits[group >> 12 & 63],
                       rest > 1 ? digits[group >> 6 & 63] : '=',
                       rest > 2 ? digits[group & 63] : '='};
        hone_str_append_n(out, four, sizeof four);
    }
}

/* 0 to 63, or -1. */
static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool hone_base64_decode(const char *text, size_t length, hone_str *out) {
    if (length % 4 != 0) return false;
    size_t padding = length && text[length - 1] == '=' ? 1 : 0;
    if (padding && text[length - 2] == '=') padding = 2;
    if (!hone_str_reserve(out, length / 4 * 3)) return false;
    for (size_t i = 0; i < length; i += 4) {
        size_t own = i + 4 == length ? 4 - padding : 4;
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            int digit = k < own ? digit_of(text[i + k]) : 0;
            if (digit < 0) return false;
            group = group << 6 | (uint32_t)digit;
        }
        const char three[] = {(char)(group >> 16), (char)(group >> 8), (char)group};
        hone_str_append_n(out, three, own - 1);
    }
    return true;
}
