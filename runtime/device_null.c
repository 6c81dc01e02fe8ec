/* runtime/device_null.c - takes everything, runs nothing: outputs become zeros, a run takes 1 us.
 * For tests of what stands above devices, and the skeleton of a new backend. */
#include <string.h>

#include "runtime/device_impl.h"
#include "support/core/alloc.h"

#define RUN_NS 1000

struct hone_device_module {
    size_t arg_count;
    hone_arg_role roles[HONE_MANIFEST_MAX_ARGS];
};

static void null_destroy(hone_device *self) {
    hone_free(self);
}

static hone_status null_set_threads(hone_device *self, int32_t threads) {
    (void)self;
    (void)threads;
    return HONE_OK;
}

static hone_status null_buffer_create(hone_device *self, size_t bytes, size_t index,
                                      hone_device_buffer **out_buffer) {
    (void)self;
    (void)index;
    hone_device_buffer *b = hone_calloc(1, sizeof *b);
    void *data = hone_calloc(1, bytes ? bytes : 1);
    if (!b || !data) {
        hone_free(b);
        hone_free(data);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer of %zu bytes", bytes);
    }
    *b = (hone_device_buffer){bytes, data};
    *out_buffer = b;
    return HONE_OK;
}

static void null_buffer_destroy(hone_device *self, hone_device_buffer *buffer) {
    (void)self;
    hone_free(buffer->host);
    hone_free(buffer);
}

static hone_status null_buffer_write(hone_device *self, hone_device_buffer *buffer,
                                     const void *data) {
    (void)self;
    memcpy(buffer->host, data, buffer->bytes);
    return HONE_OK;
}

static hone_status null_buffer_read(hone_device *self, const hone_device_buffer *buffer,
                                    void *data) {
    (void)self;
    memcpy(data, buffer->host, buffer->bytes);
    return HONE_OK;
}

static hone_status null_buffer_poison(hone_device *self, hone_device_buffer *buffer) {
    (void)self;
    memset(buffer->host, 0xFF, buffer->bytes);
    return HONE_OK;
}

static hone_status null_buffer_protect(hone_device *self, hone_device_buffer *buffer,
                                       bool writable) {
    (void)self;
    (void)buffer;
    (void)writable;
    return HONE_OK;
}

static int64_t null_buffer_damage(hone_device *self, hone_device_buffer *buffer) {
    (void)self;
    (void)buffer;
    return INT64_MIN;
}

static bool null_buffer_contains(const hone_device *self, const hone_device_buffer *buffer,
                                 const void *address, int64_t *out_offset) {
    (void)self;
    const char *p = address, *data = buffer->host;
    if (p < data || p >= data + buffer->bytes) return false;
    *out_offset = p - data;
    return true;
}

static hone_status null_load(hone_device *self, const hone_device_artifact *artifact,
                             const hone_manifest *manifest, hone_device_module **out_module) {
    (void)self;
    (void)artifact;
    hone_device_module *module = hone_calloc(1, sizeof *module);
    if (!module) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    module->arg_count = manifest->arg_count;
    for (size_t i = 0; i < manifest->arg_count; i++)
        module->roles[i] = manifest->args[i].role;
    *out_module = module;
    return HONE_OK;
}

static void null_unload(hone_device *self, hone_device_module *module) {
    (void)self;
    hone_free(module);
}

static int32_t null_run(hone_device *self, const hone_device_launch *launch, int64_t *out_ns) {
    (void)self;
    for (size_t i = 0; i < launch->module->arg_count; i++) {
        if (launch->module->roles[i] != HONE_ARG_OUT) continue;
        memset(launch->buffers[i]->host, 0, launch->buffers[i]->bytes);
    }
    *out_ns = launch->count * RUN_NS;
    return 0;
}

static void null_take_error(hone_device *self, char *message, size_t capacity) {
    (void)self;
    (void)message;
    (void)capacity;
}

/* Nothing ever fails. */
static hone_failure null_fault(const hone_device *self) {
    (void)self;
    return HONE_FAILURE_RUN_CRASH;
}

static const hone_device_vtable null_vtable = {
    .name = "null",
    .destroy = null_destroy,
    .set_threads = null_set_threads,
    .buffer_create = null_buffer_create,
    .buffer_destroy = null_buffer_destroy,
    .buffer_write = null_buffer_write,
    .buffer_read = null_buffer_read,
    .buffer_poison = null_buffer_poison,
    .buffer_protect = null_buffer_protect,
    .buffer_damage = null_buffer_damage,
    .buffer_contains = null_buffer_contains,
    .load = null_load,
    .unload = null_unload,
    .run = null_run,
    .take_error = null_take_error,
    .fault = null_fault,
};

hone_status hone_device_open_null(int32_t number, int64_t memory_bytes, hone_device **out_device) {
    (void)number;
    (void)memory_bytes;
    *out_device = hone_calloc(1, sizeof **out_device);
    if (!*out_device) return HONE_ERROR(HONE_CODE_NO_MEMORY, "null device");
    (*out_device)->vtable = &null_vtable;
    return HONE_OK;
}
