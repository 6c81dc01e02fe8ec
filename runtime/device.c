/* runtime/device.c - checks arguments and clears outputs once, so that no backend has to. */
#include <assert.h>

#include "runtime/device_impl.h"
#include "runtime/model/abi.h"

void hone_device_destroy(hone_device *device) {
    if (device) device->vtable->destroy(device);
}

hone_status hone_device_set_threads(hone_device *device, int32_t threads) {
    assert(device);
    if (threads < 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "threads is %d, must be at least 1", threads);
    }
    return device->vtable->set_threads(device, threads);
}

hone_status hone_device_buffer_create(hone_device *device, size_t bytes, size_t index,
                                      hone_device_buffer **out_buffer) {
    assert(device && out_buffer);
    *out_buffer = NULL;
    return device->vtable->buffer_create(device, bytes, index, out_buffer);
}

void hone_device_buffer_destroy(hone_device *device, hone_device_buffer *buffer) {
    if (buffer) device->vtable->buffer_destroy(device, buffer);
}

hone_status hone_device_buffer_write(hone_device *device, hone_device_buffer *buffer,
                                     const void *data) {
    assert(device && buffer && data);
    return device->vtable->buffer_write(device, buffer, data);
}

hone_status hone_device_buffer_read(hone_device *device, const hone_device_buffer *buffer,
                                    void *data) {
    assert(device && buffer && data);
    return device->vtable->buffer_read(device, buffer, data);
}

hone_status hone_device_buffer_poison(hone_device *device, hone_device_buffer *buffer) {
    assert(device && buffer);
    return device->vtable->buffer_poison(device, buffer);
}

hone_status hone_device_buffer_protect(hone_device *device, hone_device_buffer *buffer,
                                       bool writable) {
    assert(device && buffer);
    return device->vtable->buffer_protect(device, buffer, writable);
}

int64_t hone_device_buffer_damage(hone_device *device, hone_device_buffer *buffer) {
    assert(device && buffer);
    return device->vtable->buffer_damage(device, buffer);
}

bool hone_device_buffer_contains(const hone_device *device, const hone_device_buffer *buffer,
                                 const void *address, int64_t *out_offset) {
    *out_offset = 0;
    return device->vtable->buffer_contains(device, buffer, address, out_offset);
}

hone_device_place hone_device_buffer_place(const hone_device *device,
                                           const hone_device_buffer *buffer) {
    assert(device && buffer);
    if (!device->vtable->buffer_place)
        return (hone_device_place){.type = 1 /* the host */, .data = buffer->host};
    return device->vtable->buffer_place(device, buffer);
}

hone_status hone_device_load(hone_device *device, const hone_device_artifact *artifact,
                             const hone_manifest *manifest, hone_device_module **out_module) {
    assert(device && artifact && manifest && out_module);
    *out_module = NULL;
    HONE_TRY(hone_manifest_check(manifest));
    if (manifest->abi_version != HONE_ABI_VERSION) {
        return HONE_ERROR(HONE_CODE_VERSION, "artifact has ABI version %u, this runtime has %d",
                          manifest->abi_version, HONE_ABI_VERSION);
    }
    if (manifest->launch_count && manifest->arg_count == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "the kernels are those of a program whose sizes are "
                                             "open: they run as a part of a model");
    }
    return device->vtable->load(device, artifact, manifest, out_module);
}

void hone_device_unload(hone_device *device, hone_device_module *module) {
    if (module) device->vtable->unload(device, module);
}

int32_t hone_device_run(hone_device *device, const hone_device_launch *launch, int64_t *out_ns) {
    assert(device && launch && launch->module && launch->count >= 0 && out_ns);
    *out_ns = 0;
    return device->vtable->run(device, launch, out_ns);
}

void hone_device_take_error(hone_device *device, char *message, size_t capacity) {
    assert(device && message && capacity);
    message[0] = 0;
    device->vtable->take_error(device, message, capacity);
}

hone_failure hone_device_fault(const hone_device *device) {
    assert(device);
    return device->vtable->fault(device);
}
