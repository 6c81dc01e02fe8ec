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

hone_blob_hash hone_blob_hash_of(const void *bytes, size_t count) {
    hone_blob_hash hash;
    int rc = crypto_generichash(hash.bytes, HONE_BLOB_HASH_BYTES, bytes, count, NULL, 0);
    assert(rc == 0);
    (void)rc;
    return hash;
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
    crypto_generichash_state hasher;
    crypto_generichash_init(&hasher, NULL, 0, HONE_BLOB_HASH_BYTES);
    uint64_t total = 0;
    size_t count = READ_BYTES;
    char *buffer = hone_malloc(READ_BYTES);
    if (!buffer) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer");
    while (!st && count == READ_BYTES) {
        st = hone_fd_read_full(fd, buffer, READ_BYTES, &count);
        if (!st) crypto_generichash_update(&hasher, (const unsigned char *)buffer, count);
        if (!st) total += count;
    }
    hone_free(buffer);
    close(fd);
    if (st) return hone_status_annotate(st, "%s", path);
    crypto_generichash_final(&hasher, out_hash->bytes, HONE_BLOB_HASH_BYTES);
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
