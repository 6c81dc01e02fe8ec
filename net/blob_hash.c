/* net/blob_hash.c - see blob_hash.h. */
#include "net/blob_hash.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { READ_BYTES = 1 << 16 };

/* libsodium wants its state aligned to 64 bytes, which memory from malloc is not: it is copied. */
_Static_assert(sizeof(crypto_generichash_state) == sizeof(hone_blob_hasher), "size of the state");

static void store(hone_blob_hasher *hasher, const crypto_generichash_state *state) {
    memcpy(hasher->state, state, sizeof *state);
}

static void fetch(const hone_blob_hasher *hasher, crypto_generichash_state *out_state) {
    memcpy(out_state, hasher->state, sizeof *out_state);
}

void hone_blob_hasher_init(hone_blob_hasher *hasher) {
    crypto_generichash_state state;
    int rc = crypto_generichash_init(&state, NULL, 0, HONE_BLOB_HASH_BYTES);
    assert(rc == 0);
    (void)rc;
    store(hasher, &state);
}

void hone_blob_hasher_feed(hone_blob_hasher *hasher, const void *bytes, size_t count) {
    crypto_generichash_state state;
    fetch(hasher, &state);
    crypto_generichash_update(&state, bytes, count);
    store(hasher, &state);
}

hone_blob_hash hone_blob_hasher_finish(hone_blob_hasher *hasher) {
    crypto_generichash_state state;
    hone_blob_hash hash;
    fetch(hasher, &state);
    crypto_generichash_final(&state, hash.bytes, HONE_BLOB_HASH_BYTES);
    return hash;
}

hone_blob_hash hone_blob_hash_of(const void *bytes, size_t count) {
    hone_blob_hasher hasher;
    hone_blob_hasher_init(&hasher);
    hone_blob_hasher_feed(&hasher, bytes, count);
    return hone_blob_hasher_finish(&hasher);
}

hone_status hone_blob_hash_file(const char *path, hone_blob_hash *out_hash, uint64_t *out_bytes) {
    *out_hash = (hone_blob_hash){{0}};
    *out_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return HONE_ERROR(errno == ENOENT ? HONE_CODE_NOT_FOUND : HONE_CODE_IO, "%s: %s", path,
                          strerror(errno));
    }
    hone_status st = HONE_OK;
    hone_blob_hasher hasher;
    hone_blob_hasher_init(&hasher);
    uint64_t total = 0;
    size_t count = READ_BYTES;
    char *buffer = hone_malloc(READ_BYTES);
    if (!buffer) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer");
    while (!st && count == READ_BYTES) {
        st = hone_fd_read_full(fd, buffer, READ_BYTES, &count);
        if (!st) hone_blob_hasher_feed(&hasher, buffer, count);
        if (!st) total += count;
    }
    hone_free(buffer);
    close(fd);
    if (st) return hone_status_annotate(st, "%s", path);
    *out_hash = hone_blob_hasher_finish(&hasher);
    *out_bytes = total;
    return HONE_OK;
}

char *hone_blob_hash_print(const hone_blob_hash *hash, char out[HONE_BLOB_HASH_HEX_BYTES]) {
    return sodium_bin2hex(out, HONE_BLOB_HASH_HEX_BYTES, hash->bytes, HONE_BLOB_HASH_BYTES);
}

bool hone_blob_hash_parse(const char *text, hone_blob_hash *out_hash) {
    size_t length = 0;
    bool ok = strlen(text) == HONE_BLOB_HASH_HEX_BYTES - 1 &&
              sodium_hex2bin(out_hash->bytes, HONE_BLOB_HASH_BYTES, text, strlen(text), NULL,
                             &length, NULL) == 0 &&
              length == HONE_BLOB_HASH_BYTES;
    if (!ok) *out_hash = (hone_blob_hash){{0}};
    return ok;
}
