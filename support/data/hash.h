/* support/data/hash.h - 64 and 128 bit hashes of bytes (XXH3), streaming and at once.
 *
 * Hashes are part of file and wire forms: the streaming functions feed integers in little-endian
 * order and strings with their length, so the result is the same on every machine. Not
 * cryptographic. Values in the caller's storage; thread-compatible.
 */
#ifndef HONE_SUPPORT_DATA_HASH_H
#define HONE_SUPPORT_DATA_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"

typedef struct hone_hash128 {
    uint64_t lo, hi;
} hone_hash128;

enum { HONE_HASH_HEX_BYTES = 33 }; /* 32 digits and the NUL */

uint64_t hone_hash64(const void *bytes, size_t count);
hone_hash128 hone_hash128_bytes(const void *bytes, size_t count);
hone_hash128 hone_hash128_text(const char *text);

static inline bool hone_hash128_equal(hone_hash128 a, hone_hash128 b) {
    return a.lo == b.lo && a.hi == b.hi;
}

static inline bool hone_hash128_is_zero(hone_hash128 hash) {
    return (hash.lo | hash.hi) == 0;
}

/* Order of the hex form: negative, zero or positive. */
int hone_hash128_compare(hone_hash128 a, hone_hash128 b);

/* Writes 32 lower-case digits, `hi` first, and NUL; returns `out`. */
char *hone_hash128_print(hone_hash128 hash, char out[HONE_HASH_HEX_BYTES]);

/* Reads exactly 32 hex digits that end the text; false (and zero) when it is anything else. */
HONE_NODISCARD bool hone_hash128_parse(const char *text, hone_hash128 *out_hash);

/* Scrambles 64 bits (SplitMix64 finaliser): for hash tables, not for identity. */
static inline uint64_t hone_hash_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A running hash; about 600 bytes, no heap. init, feed, finish (which may be called repeatedly). */
typedef struct hone_hasher {
    _Alignas(64) unsigned char state[576];
} hone_hasher;

void hone_hasher_init(hone_hasher *hasher, uint64_t seed);
void hone_hasher_bytes(hone_hasher *hasher, const void *bytes, size_t count);
void hone_hasher_u8(hone_hasher *hasher, uint8_t value);
void hone_hasher_u32(hone_hasher *hasher, uint32_t value);
void hone_hasher_u64(hone_hasher *hasher, uint64_t value);
void hone_hasher_i64(hone_hasher *hasher, int64_t value);
void hone_hasher_f64(hone_hasher *hasher, double value); /* its bits */
void hone_hasher_text(hone_hasher *hasher,
                      const char *text); /* length, bytes; NULL differs from "" */
void hone_hasher_hash(hone_hasher *hasher, hone_hash128 hash);
hone_hash128 hone_hasher_finish(const hone_hasher *hasher);

#endif
