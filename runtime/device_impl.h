/* runtime/device_impl.h - for backends only; everybody else includes device.h. */
#ifndef HONE_RUNTIME_DEVICE_IMPL_H
#define HONE_RUNTIME_DEVICE_IMPL_H

#include "runtime/device.h"

/* The dispatcher has checked arguments and cleared outputs. */
typedef struct hone_device_vtable {
    const char *name;
    void (*destroy)(hone_device *self);
    hone_status (*set_threads)(hone_device *self, int32_t threads);
    hone_status (*buffer_create)(hone_device *self, size_t bytes, size_t index,
                                 hone_device_buffer **out_buffer);
    void (*buffer_destroy)(hone_device *self, hone_device_buffer *buffer);
    hone_status (*buffer_write)(hone_device *self, hone_device_buffer *buffer, const void *data);
    hone_status (*buffer_read)(hone_device *self, const hone_device_buffer *buffer, void *data);
    hone_status (*buffer_poison)(hone_device *self, hone_device_buffer *buffer);
    hone_status (*buffer_protect)(hone_device *self, hone_device_buffer *buffer, bool writable);
    int64_t (*buffer_damage)(hone_device *self, hone_device_buffer *buffer);
    bool (*buffer_contains)(const hone_device *self, const hone_device_buffer *buffer,
                            const void *address, int64_t *out_offset);
    hone_device_place (*buffer_place)(const hone_device *self,
                                      const hone_device_buffer *buffer); /* NULL: base.host */
    hone_status (*load)(hone_device *self, const hone_device_artifact *artifact,
                        const hone_manifest *manifest, hone_device_module **out_module);
    void (*unload)(hone_device *self, hone_device_module *module);
    int32_t (*run)(hone_device *self, const hone_device_launch *launch, int64_t *out_ns);
    void (*take_error)(hone_device *self, char *message, size_t capacity);
    hone_failure (*fault)(const hone_device *self);
} hone_device_vtable;

/* What hone_device_open calls: a row of devices.def each, made by the device's file. number: of the
 * device, 0 for those of the host; memory_bytes: as of hone_device_open. */
#define HONE_DEVICE(name, is_host, compiles, is_alone)                                             \
    HONE_NODISCARD hone_status hone_device_open_##name(int32_t number, int64_t memory_bytes,       \
                                                       hone_device **out_device);
#include "runtime/devices.def"
#undef HONE_DEVICE

struct hone_device {
    const hone_device_vtable *vtable;
};

#endif
