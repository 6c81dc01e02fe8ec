/* support/data/hash.c - see hash.h; XXH3 of the xxHash library, version 0.8 or later (stable
 * output). */
#include "support/data/hash.h"

#include <string.h>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(hone_hasher), "hone_hasher must hold the state");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(hone_hasher), "hone_hasher must be aligned");

static hone_hash128 from_xxh(XXH128_hash_t hash) {
    return (hone_hash128){.lo = hash.low64, .hi = hash.high64};
}

uint64_t hone_hash64(const void *bytes, size_t count) {
    return XXH3_64bits(bytes, count);
}

hone_hash128 hone_hash128_bytes(const void *bytes, size_t count) {
    return from_xxh(XXH3_128bits(bytes, count));
}

hone_hash128 hone_hash128_text(const char *text) {
    return hone_hash128_bytes(text, strlen(text));
}

int hone_hash128_compare(hone_hash128 a, hone_hash128 b) {
    if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
    return (a.lo > b.lo) - (a.lo < b.lo);
}

char *hone_hash128_print(hone_hash128 hash, char out[HONE_HASH_HEX_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[i] = digits[(hash.hi >> (60 - 4 * i)) & 15];
        out[16 + i] = digits[(hash.lo >> (60 - 4 * i)) & 15];
    }
    out[32] = '\0';
    return out;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool hone_hash128_parse(const char *text, hone_hash128 *out_hash) {
    hone_hash128 hash = {0, 0};
    *out_hash = hash;
    for (int i = 0; i < 32; i++) {
        int digit = digit_value(text[i]);
        if (digit < 0) return false; /* also at an early NUL */
        hash.hi = hash.hi << 4 | hash.lo >> 60;
        hash.lo = hash.lo << 4 | (uint64_t)digit;
    }
    if (text[32] != '\0') return false;
    *out_hash = hash;
    return true;
}

static XXH3_state_t *state_of(hone_hasher *hasher) {
    return (XXH3_state_t *)(void *)hasher->state;
}

void hone_hasher_init(hone_hasher *hasher, uint64_t seed) {
    XXH3_INITSTATE(state_of(hasher));
    XXH3_128bits_reset_withSeed(state_of(hasher), seed);
}

void hone_hasher_bytes(hone_hasher *hasher, const void *bytes, size_t count) {
    if (count) XXH3_128bits_update(state_of(hasher), bytes, count);
}

void hone_hasher_u8(hone_hasher *hasher, uint8_t value) {
    hone_hasher_bytes(hasher, &value, 1);
}

void hone_hasher_u32(hone_hasher *hasher, uint32_t value) {
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    hone_hasher_bytes(hasher, bytes, sizeof bytes);
}

void hone_hasher_u64(hone_hasher *hasher, uint64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    hone_hasher_bytes(hasher, bytes, sizeof bytes);
}

void hone_hasher_i64(hone_hasher *hasher, int64_t value) {
    hone_hasher_u64(hasher, (uint64_t)value);
}

void hone_hasher_f64(hone_hasher *hasher, double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    hone_hasher_u64(hasher, bits);
}

void hone_hasher_text(hone_hasher *hasher, const char *text) {
    if (!text) {
        hone_hasher_u64(hasher, UINT64_MAX); /* no text has this length */
        return;
    }
    size_t length = strlen(text);
    hone_hasher_u64(hasher, length);
    hone_hasher_bytes(hasher, text, length);
}

void hone_hasher_hash(hone_hasher *hasher, hone_hash128 hash) {
    hone_hasher_u64(hasher, hash.lo);
    hone_hasher_u64(hasher, hash.hi);
}

hone_hash128 hone_hasher_finish(const hone_hasher *hasher) {
    return from_xxh(XXH3_128bits_digest((const XXH3_state_t *)(const void *)hasher->state));
}
