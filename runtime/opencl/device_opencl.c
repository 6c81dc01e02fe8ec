/* runtime/opencl/device_opencl.c - what the ICD loader finds as a device, PoCL on a CPU too.
 *
 * Memory lies between zones of a known pattern, which are looked at after a run; what kernels may
 * only read is known by its hash. An artifact is OpenCL C, compiled where it is loaded: drivers
 * keep what they make of it in a form of their own, for one device, and compile the rest when they
 * know the launch.
 */
#include "runtime/opencl/device_opencl_impl.h"

#include <stdio.h>

#include "support/core/alloc.h"

enum { EVENT_START = 0x1282, EVENT_END = 0x1283, READ_WRITE = 1 };

typedef struct opencl_buffer {
    far_buffer far;
    opencl_memory memory;
} opencl_buffer;

static device_opencl *as_opencl(hone_device *base) {
    return (device_opencl *)base;
}

static opencl_buffer *as_buffer(hone_device_buffer *base) {
    return (opencl_buffer *)base;
}

const opencl_memory *opencl_buffer_memory(const hone_device_buffer *buffer) {
    return &((const opencl_buffer *)buffer)->memory;
}

static void opencl_destroy(hone_device *base) {
    device_opencl *self = as_opencl(base);
    if (self->flush) (void)self->cl->memory_release(self->flush);
    hone_opencl_close(self->cl);
    hone_free(self);
}

/* ---- buffers ---- */

static hone_status opencl_buffer_create(hone_device *base, size_t bytes, size_t index,
                                        hone_device_buffer **out_buffer) {
    (void)index; /* zones lie on both sides */
    opencl_buffer *b = hone_calloc(1, sizeof *b);
    if (!b) return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer");
    b->far.base.bytes = bytes;
    hone_status st = opencl_memory_create(as_opencl(base), bytes, &b->memory);
    if (st) {
        hone_free(b);
        return st;
    }
    *out_buffer = &b->far.base;
    return HONE_OK;
}

static void opencl_buffer_destroy(hone_device *base, hone_device_buffer *buffer) {
    opencl_memory_destroy(as_opencl(base), &as_buffer(buffer)->memory);
    hone_free(buffer);
}

static hone_status opencl_buffer_write(hone_device *base, hone_device_buffer *buffer,
                                       const void *data) {
    hone_opencl *cl = as_opencl(base)->cl;
    if (buffer->bytes == 0) return HONE_OK;
    return hone_opencl_error(cl->copy_in(cl->queue, as_buffer(buffer)->memory.data, 1, 0,
                                         buffer->bytes, data, 0, NULL, NULL),
                             "copying to the OpenCL device");
}

static hone_status read_part(hone_device *base, const hone_device_buffer *buffer, size_t offset,
                             size_t bytes, void *out) {
    hone_opencl *cl = as_opencl(base)->cl;
    return hone_opencl_error(cl->copy_out(cl->queue, opencl_buffer_memory(buffer)->data, 1, offset,
                                          bytes, out, 0, NULL, NULL),
                             "copying from the OpenCL device");
}

static hone_status opencl_buffer_read(hone_device *base, const hone_device_buffer *buffer,
                                      void *data) {
    return buffer->bytes ? read_part(base, buffer, 0, buffer->bytes, data) : HONE_OK;
}

static hone_status opencl_buffer_poison(hone_device *base, hone_device_buffer *buffer) {
    return opencl_memory_fill(as_opencl(base), &as_buffer(buffer)->memory, 0xFF);
}

static hone_status opencl_buffer_protect(hone_device *base, hone_device_buffer *buffer,
                                         bool writable) {
    return far_protect(base, buffer, writable, read_part);
}

/* In what is protected: at 0, wherever it was. */
static int64_t opencl_buffer_damage(hone_device *base, hone_device_buffer *buffer) {
    int64_t at = opencl_memory_damage(as_opencl(base), &as_buffer(buffer)->memory);
    if (at != INT64_MIN) return at;
    return far_is_changed(base, buffer, read_part) ? 0 : INT64_MIN;
}

/* The only device of its context. */
static hone_device_place opencl_buffer_place(const hone_device *base,
                                             const hone_device_buffer *buffer) {
    (void)base;
    return (hone_device_place){.type = 4 /* kDLOpenCL */,
                               .data = opencl_buffer_memory(buffer)->data};
}

/* ---- kernels ---- */

static hone_status opencl_load(hone_device *base, const hone_device_artifact *artifact,
                               const hone_manifest *manifest, hone_device_module **out_module) {
    return far_module_load(base, &opencl_loader, artifact, manifest, out_module);
}

static void opencl_unload(hone_device *base, hone_device_module *module) {
    far_module_unload(base, &opencl_loader, module);
}

/* More than the cache holds is written, so that nothing of the arguments is left in it. */
static int32_t flush(device_opencl *self) {
    hone_opencl *cl = self->cl;
    const uint8_t zero = 0;
    size_t bytes = 2 * (size_t)cl->facts.cache_bytes;
    int32_t code = 0;
    if (bytes == 0) return 0;
    if (!self->flush) self->flush = cl->memory_create(cl->context, READ_WRITE, bytes, NULL, &code);
    if (code == 0) code = cl->fill(cl->queue, self->flush, &zero, 1, 0, bytes, 0, NULL, NULL);
    return code ? code : cl->finish(cl->queue);
}

static int32_t elapsed(const hone_opencl *cl, void *first, void *last, int64_t *out_ns) {
    uint64_t from = 0, to = 0;
    int32_t code = cl->event_time(first, EVENT_START, sizeof from, &from, NULL);
    if (code == 0) code = cl->event_time(last ? last : first, EVENT_END, sizeof to, &to, NULL);
    if (code == 0 && to > from) *out_ns += (int64_t)(to - from);
    return code;
}

/* `count` runs, from the beginning of the first launch to the end of the last one. */
static int32_t time_runs(device_opencl *self, hone_device_module *module, int64_t count,
                         int64_t *out_ns) {
    hone_opencl *cl = self->cl;
    void *first = NULL, *last = NULL;
    int32_t code = 0;
    for (int64_t i = 0; i < count && code == 0; i++)
        code = opencl_module_launch(self, module, &first, &last);
    int32_t after = cl->finish(cl->queue); /* also of what was begun before it failed */
    if (code == 0) code = after;
    if (code == 0 && first) code = elapsed(cl, first, last, out_ns);
    if (first) (void)cl->event_release(first);
    if (last) (void)cl->event_release(last);
    return code;
}

static int32_t run(device_opencl *self, const hone_device_launch *launch, int64_t *out_ns) {
    int32_t code = opencl_module_bind(self, launch->module, launch->buffers);
    if (launch->cache != HONE_CACHE_COLD)
        return code ? code : time_runs(self, launch->module, launch->count, out_ns);
    for (int64_t i = 0; i < launch->count && code == 0; i++) {
        code = flush(self);
        if (code == 0) code = time_runs(self, launch->module, 1, out_ns);
    }
    return code;
}

static int32_t opencl_run(hone_device *base, const hone_device_launch *launch, int64_t *out_ns) {
    device_opencl *self = as_opencl(base);
    int32_t code = run(self, launch, out_ns);
    if (code == 0)
        return launch->count == 1 && far_module_is_damaged(base, launch->module) ? -1 : 0;
    snprintf(self->far.message, sizeof self->far.message, "%s", hone_opencl_code_name(code));
    return code;
}

static hone_failure opencl_fault(const hone_device *base) {
    (void)base;
    return HONE_FAILURE_RUN_CRASH;
}

static const hone_device_vtable opencl_vtable = {
    .name = "opencl",
    .destroy = opencl_destroy,
    .set_threads = far_set_threads,
    .buffer_create = opencl_buffer_create,
    .buffer_destroy = opencl_buffer_destroy,
    .buffer_write = opencl_buffer_write,
    .buffer_read = opencl_buffer_read,
    .buffer_poison = opencl_buffer_poison,
    .buffer_protect = opencl_buffer_protect,
    .buffer_damage = opencl_buffer_damage,
    .buffer_contains = far_contains,
    .buffer_place = opencl_buffer_place,
    .load = opencl_load,
    .unload = opencl_unload,
    .run = opencl_run,
    .take_error = far_take_error,
    .fault = opencl_fault,
};

/* ---- making ---- */

static hone_status set_up(device_opencl *self, int32_t number, int64_t memory_bytes) {
    HONE_TRY(hone_opencl_open(&self->cl));
    HONE_TRY(hone_opencl_enter(self->cl, number));
    self->far.limit_bytes = far_limit(memory_bytes, self->cl->facts.memory_bytes);
    return HONE_OK;
}

hone_status hone_device_open_opencl(int32_t number, int64_t memory_bytes,
                                    hone_device **out_device) {
    *out_device = NULL;
    device_opencl *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "OpenCL device");
    self->far.base.vtable = &opencl_vtable;
    hone_status st = set_up(self, number, memory_bytes);
    if (st) {
        opencl_destroy(&self->far.base);
        return st;
    }
    *out_device = &self->far.base;
    return HONE_OK;
}
