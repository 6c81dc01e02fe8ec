/* net/blob_hash.h - the name of a file's content on the network: BLAKE2b with 256 bits.
 *
 * Cryptographic, because who sends a file is not always who runs it: a blob is checked against its
 * hash before it is used. Values in the caller's storage; thread-safe (no state).
 */
#ifndef HONE_NET_BLOB_HASH_H
#define HONE_NET_BLOB_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"
#include "support/core/status.h"

enum {
    HONE_BLOB_HASH_BYTES = 32,
    HONE_BLOB_HASH_HEX_BYTES = 65, /* 64 digits and the NUL */
};

typedef struct hone_blob_hash {
    uint8_t bytes[HONE_BLOB_HASH_BYTES];
} hone_blob_hash;

static inline bool hone_blob_hash_equal(const hone_blob_hash *a, const hone_blob_hash *b) {
    for (int i = 0; i < HONE_BLOB_HASH_BYTES; i++) {
        if (a->bytes[i] != b->bytes[i]) return false;
    }
    return true;
}

hone_blob_hash hone_blob_hash_of(const void *bytes, size_t count);

/* The hash of a file, and how many bytes it has. NOT_FOUND, IO. */
HONE_NODISCARD hone_status hone_blob_hash_file(const char *path, hone_blob_hash *out_hash,
                                               uint64_t *out_bytes);

/* Writes 64 lower-case digits and NUL; returns `out`. */
char *hone_blob_hash_print(const hone_blob_hash *hash, char out[HONE_BLOB_HASH_HEX_BYTES]);

/* Reads exactly 64 hex digits that end the text; false (and zero) when it is anything else. */
HONE_NODISCARD bool hone_blob_hash_parse(const char *text, hone_blob_hash *out_hash);

#endif
