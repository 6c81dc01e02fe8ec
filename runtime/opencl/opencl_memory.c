/* runtime/opencl/opencl_memory.c - memory of an OpenCL device between zones of a known pattern: one
 * buffer, of which kernels get the part in the middle. */
#include <string.h>

#include "runtime/opencl/device_opencl_impl.h"

/* A zone is a multiple of every alignment that devices ask of parts. */
enum { PART_REGION = 0x1220, READ_WRITE = 1 };

/* No part is empty. */
static size_t inner(size_t bytes) {
    return bytes ? bytes : 1;
}

static size_t whole(size_t bytes) {
    return inner(bytes) + 2 * (size_t)FAR_ZONE_BYTES;
}

static int32_t fill(device_opencl *device, void *memory, uint8_t byte, size_t offset,
                    size_t bytes) {
    hone_opencl *cl = device->cl;
    return cl->fill(cl->queue, memory, &byte, 1, offset, bytes, 0, NULL, NULL);
}

static int32_t fill_zones(device_opencl *device, const opencl_memory *memory) {
    int32_t code = fill(device, memory->whole, FAR_PATTERN, 0, FAR_ZONE_BYTES);
    if (code) return code;
    return fill(device, memory->whole, FAR_PATTERN, FAR_ZONE_BYTES + memory->bytes,
                whole(memory->bytes) - FAR_ZONE_BYTES - memory->bytes);
}

static hone_status check_room(const device_opencl *device, size_t bytes) {
    int64_t most = device->cl->facts.max_memory_bytes;
    bool is_small = bytes <= (size_t)INT64_MAX / 2 && (int64_t)whole(bytes) <= most;
    if (is_small && (int64_t)whole(bytes) <= device->far.limit_bytes - device->far.used_bytes) {
        return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_NO_MEMORY,
                      "%zu bytes on the OpenCL device, where %lld of %lld are in use and a buffer "
                      "has at most %lld",
                      bytes, (long long)device->far.used_bytes, (long long)device->far.limit_bytes,
                      (long long)most);
}

static hone_status make(device_opencl *device, opencl_memory *memory) {
    hone_opencl *cl = device->cl;
    int32_t code = 0;
    memory->whole = cl->memory_create(cl->context, READ_WRITE, whole(memory->bytes), NULL, &code);
    HONE_TRY(hone_opencl_error(code, "memory of the OpenCL device"));
    device->far.used_bytes += (int64_t)whole(memory->bytes);
    const size_t region[2] = {FAR_ZONE_BYTES, inner(memory->bytes)};
    memory->data = cl->memory_part(memory->whole, READ_WRITE, PART_REGION, region, &code);
    HONE_TRY(hone_opencl_error(code, "part of a buffer"));
    return hone_opencl_error(fill_zones(device, memory), "guarding memory");
}

hone_status opencl_memory_create(device_opencl *device, size_t bytes, opencl_memory *out_memory) {
    *out_memory = (opencl_memory){.bytes = bytes};
    HONE_TRY(check_room(device, bytes));
    hone_status st = make(device, out_memory);
    if (st) opencl_memory_destroy(device, out_memory);
    return st;
}

void opencl_memory_destroy(device_opencl *device, opencl_memory *memory) {
    if (!memory->whole) return;
    if (memory->data) (void)device->cl->memory_release(memory->data);
    (void)device->cl->memory_release(memory->whole);
    device->far.used_bytes -= (int64_t)whole(memory->bytes);
    *memory = (opencl_memory){0};
}

hone_status opencl_memory_fill(device_opencl *device, const opencl_memory *memory, uint8_t byte) {
    if (memory->bytes == 0) return HONE_OK;
    return hone_opencl_error(fill(device, memory->data, byte, 0, memory->bytes),
                             "filling memory of the OpenCL device");
}

/* Where the zone at that offset was written, seen from the data; -1: nowhere. */
static int64_t look_at(device_opencl *device, const opencl_memory *memory, bool is_before) {
    uint8_t zone[FAR_ZONE_BYTES];
    hone_opencl *cl = device->cl;
    size_t offset = is_before ? 0 : FAR_ZONE_BYTES + memory->bytes;
    memset(zone, FAR_PATTERN,
           sizeof zone); /* a device that does not answer is found out elsewhere */
    (void)cl->copy_out(cl->queue, memory->whole, 1, offset, sizeof zone, zone, 0, NULL, NULL);
    return far_find_written(zone, is_before);
}

int64_t opencl_memory_damage(device_opencl *device, const opencl_memory *memory) {
    int64_t behind = look_at(device, memory, false), before = look_at(device, memory, true);
    if (behind < 0 && before < 0) return INT64_MIN;
    (void)fill_zones(device, memory);
    return behind >= 0 ? (int64_t)memory->bytes + behind : -1 - before;
}
