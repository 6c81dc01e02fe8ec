/* runtime/far/far_memory.h - what devices have in common whose memory the host does not see.
 *
 * A buffer lies between two zones of a known pattern, which tell of writes beside it; what kernels
 * must not change is known by its hash. For backends only. Threads: those of the device.
 */
#ifndef HONE_RUNTIME_FAR_FAR_MEMORY_H
#define HONE_RUNTIME_FAR_FAR_MEMORY_H

#include "runtime/device_impl.h"
#include "support/data/hash.h"

enum { FAR_ZONE_BYTES = 16384, FAR_PATTERN = 0xA5 };

/* A backend's device begins with this. */
typedef struct far_device {
    hone_device base;
    int64_t limit_bytes, used_bytes; /* of its memory: what may be used, what is */
    char message[256];               /* what the last failing run says */
} far_device;

/* A backend's buffer begins with this; base.host is NULL. */
typedef struct far_buffer {
    hone_device_buffer base;
    bool is_protected;
    hone_hash128 content; /* of one that is protected */
} far_buffer;

/* Copies `bytes` bytes of a buffer, from `offset` on, to the host. */
typedef hone_status (*far_read)(hone_device *device, const hone_device_buffer *buffer,
                                size_t offset, size_t bytes, void *out);

/* The buffer as it is now is what it has to be from now on, or it may be written again. */
HONE_NODISCARD hone_status far_protect(hone_device *device, hone_device_buffer *buffer,
                                       bool writable, far_read read);
/* Is the buffer protected and something else by now? Of a device that does not answer: no, that is
 * found out elsewhere. */
bool far_is_changed(hone_device *device, const hone_device_buffer *buffer, far_read read);

/* How much of a device's memory may be used: `wanted` (0: all), at most what it has. */
int64_t far_limit(int64_t wanted, int64_t has);

/* How far from the data the nearest byte of a zone that is not the pattern is; -1: there is none.
 * `is_before`: the zone lies in front of the data. */
int64_t far_find_written(const uint8_t zone[FAR_ZONE_BYTES], bool is_before);

/* ---- functions of a backend's table ---- */

/* Threads of the host: kernels have their own. */
HONE_NODISCARD hone_status far_set_threads(hone_device *device, int32_t threads);
void far_take_error(hone_device *device, char *message, size_t capacity);
/* No address of the device means anything to the host. */
bool far_contains(const hone_device *device, const hone_device_buffer *buffer, const void *address,
                  int64_t *out_offset);

#endif
