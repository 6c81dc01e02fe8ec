/* runtime/cuda/cuda_memory.c - memory of a card between zones of a known pattern. */
#include <string.h>

#include "runtime/cuda/cuda_fault.h"
#include "runtime/cuda/device_cuda_impl.h"

static size_t whole(size_t bytes) {
    return bytes + 2 * (size_t)FAR_ZONE_BYTES;
}

static hone_cuda_code fill_zones(device_cuda *device, const cuda_memory *memory) {
    hone_cuda *cuda = device->cuda;
    hone_cuda_code code = cuda->table->fill(cuda, memory->base, FAR_PATTERN, FAR_ZONE_BYTES);
    if (code) return code;
    return cuda->table->fill(cuda, memory->data + memory->bytes, FAR_PATTERN, FAR_ZONE_BYTES);
}

hone_status cuda_memory_create(device_cuda *device, size_t bytes, cuda_memory *out_memory) {
    hone_cuda *cuda = device->cuda;
    *out_memory = (cuda_memory){.bytes = bytes};
    if (bytes > (size_t)INT64_MAX / 2 ||
        (int64_t)whole(bytes) > device->far.limit_bytes - device->far.used_bytes) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY,
                          "%zu bytes on the card, where %lld of %lld are in use", bytes,
                          (long long)device->far.used_bytes, (long long)device->far.limit_bytes);
    }
    HONE_TRY(hone_cuda_error(cuda, cuda->table->alloc(cuda, whole(bytes), &out_memory->base),
                             "memory of the card"));
    device->far.used_bytes += (int64_t)whole(bytes);
    out_memory->data = out_memory->base + FAR_ZONE_BYTES;
    hone_status st = hone_cuda_error(cuda, fill_zones(device, out_memory), "guarding memory");
    if (st) cuda_memory_destroy(device, out_memory);
    return st;
}

void cuda_memory_destroy(device_cuda *device, cuda_memory *memory) {
    if (!memory->base) return;
    (void)device->cuda->table->release(device->cuda, memory->base); /* of a dead context: gone */
    device->far.used_bytes -= (int64_t)whole(memory->bytes);
    *memory = (cuda_memory){0};
}

int64_t cuda_memory_damage(device_cuda *device, const cuda_memory *memory) {
    uint8_t zone[FAR_ZONE_BYTES];
    hone_cuda *cuda = device->cuda;
    int64_t found = INT64_MIN, at;
    memset(zone, FAR_PATTERN, sizeof zone); /* a card that does not answer is found out elsewhere */
    (void)cuda->table->copy_out(cuda, zone, memory->data + memory->bytes, sizeof zone);
    at = far_find_written(zone, false);
    if (at >= 0) found = (int64_t)memory->bytes + at;
    if (found == INT64_MIN) {
        (void)cuda->table->copy_out(cuda, zone, memory->base, sizeof zone);
        at = far_find_written(zone, true);
        if (at >= 0) found = -1 - at;
    }
    if (found != INT64_MIN) (void)fill_zones(device, memory);
    return found;
}
