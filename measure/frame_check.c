/* measure/frame_check.c - see frame_check.h. */
#include "measure/frame_check.h"

#include <stdint.h>
#include <string.h>

#include "support/data/hash.h"

/* The key "honechec" as a number, and the head of 8 bytes. It is long so that a seal is known as
 * one though bits of it changed, and nothing else is taken for it. */
static const uint8_t mark[] = {0x1b, 'h', 'o', 'n', 'e', 'c', 'h', 'e', 'c', 0x48};

enum { HASH_BYTES = 8, MOST_CHANGED_BITS = 12 };

static void put_hash(const void *bytes, size_t count, uint8_t out[HASH_BYTES]) {
    uint64_t hash = hone_hash64(bytes, count);
    for (int i = 0; i < HASH_BYTES; i++)
        out[i] = (uint8_t)(hash >> 8 * i);
}

void hone_frame_seal(hone_str *out, size_t at) {
    uint8_t hash[HASH_BYTES];
    hone_str_append_n(out, (const char *)mark, sizeof mark);
    if (out->failed) return;
    put_hash(out->data + at, out->length - at, hash);
    hone_str_append_n(out, (const char *)hash, HASH_BYTES);
}

static int changed_bits(const uint8_t *found) {
    int changed = 0;
    for (size_t i = 0; i < sizeof mark; i++)
        changed += __builtin_popcount((unsigned)(found[i] ^ mark[i]));
    return changed;
}

bool hone_frame_is_whole(const void *bytes, size_t count) {
    uint8_t hash[HASH_BYTES];
    if (count < sizeof mark + HASH_BYTES) return true;
    const uint8_t *end = (const uint8_t *)bytes + count - HASH_BYTES;
    if (changed_bits(end - sizeof mark) > MOST_CHANGED_BITS) return true; /* not sealed */
    put_hash(bytes, count - HASH_BYTES, hash);
    return memcmp(end, hash, HASH_BYTES) == 0;
}
