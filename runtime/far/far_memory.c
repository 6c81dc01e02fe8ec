/* runtime/far/far_memory.c - see far_memory.h. */
#include "runtime/far/far_memory.h"

#include <stdio.h>

#include "support/core/alloc.h"

#define CHUNK_BYTES ((size_t)1 << 20) /* of what is read back to be hashed */

static hone_status hash_content(hone_device *device, const hone_device_buffer *buffer,
                                far_read read, hone_hash128 *out_hash) {
    hone_hasher hasher;
    uint8_t *chunk = hone_malloc(CHUNK_BYTES);
    if (!chunk) return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer");
    hone_status st = HONE_OK;
    hone_hasher_init(&hasher, 0);
    for (size_t at = 0; at < buffer->bytes && !st; at += CHUNK_BYTES) {
        size_t count = buffer->bytes - at < CHUNK_BYTES ? buffer->bytes - at : CHUNK_BYTES;
        st = read(device, buffer, at, count, chunk);
        if (!st) hone_hasher_bytes(&hasher, chunk, count);
    }
    hone_free(chunk);
    *out_hash = hone_hasher_finish(&hasher);
    return st;
}

hone_status far_protect(hone_device *device, hone_device_buffer *buffer, bool writable,
                        far_read read) {
    far_buffer *b = (far_buffer *)buffer;
    b->is_protected = false;
    if (writable) return HONE_OK;
    HONE_TRY(hash_content(device, buffer, read, &b->content));
    b->is_protected = true;
    return HONE_OK;
}

bool far_is_changed(hone_device *device, const hone_device_buffer *buffer, far_read read) {
    const far_buffer *b = (const far_buffer *)buffer;
    hone_hash128 now;
    if (!b->is_protected) return false;
    hone_status st = hash_content(device, buffer, read, &now);
    bool is_changed = !st && !hone_hash128_equal(now, b->content);
    hone_status_free(st);
    return is_changed;
}

int64_t far_find_written(const uint8_t zone[FAR_ZONE_BYTES], bool is_before) {
    for (int64_t i = 0; i < FAR_ZONE_BYTES; i++) {
        if (zone[is_before ? FAR_ZONE_BYTES - 1 - i : i] != FAR_PATTERN) return i;
    }
    return -1;
}

int64_t far_limit(int64_t wanted, int64_t has) {
    return wanted > 0 && wanted < has ? wanted : has;
}

void far_take_error(hone_device *device, char *message, size_t capacity) {
    far_device *self = (far_device *)device;
    snprintf(message, capacity, "%s", self->message);
    self->message[0] = 0;
}

hone_status far_set_threads(hone_device *device, int32_t threads) {
    (void)device;
    (void)threads;
    return HONE_OK;
}

bool far_contains(const hone_device *device, const hone_device_buffer *buffer, const void *address,
                  int64_t *out_offset) {
    (void)device;
    (void)buffer;
    (void)address;
    (void)out_offset;
    return false;
}
