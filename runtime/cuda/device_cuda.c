/* runtime/cuda/device_cuda.c - see device_cuda.h; memory is cuda_memory.c, kernels are
 * cuda_module.c. */
#include "runtime/cuda/device_cuda.h"

#include <stdio.h>
#include <string.h>

#include "runtime/cuda/cuda_fault.h"
#include "runtime/cuda/device_cuda_impl.h"
#include "support/core/alloc.h"

#define NS_PER_MS 1e6

typedef struct cuda_buffer {
    far_buffer far;
    cuda_memory memory;
} cuda_buffer;

static device_cuda *as_cuda(hone_device *base) {
    return (device_cuda *)base;
}

static cuda_buffer *as_buffer(hone_device_buffer *base) {
    return (cuda_buffer *)base;
}

void *cuda_buffer_param(hone_device_buffer *buffer) {
    return &as_buffer(buffer)->memory.data;
}

static void cuda_destroy(hone_device *base) {
    device_cuda *self = as_cuda(base);
    hone_cuda *cuda = self->cuda;
    if (self->from) cuda->table->event_destroy(cuda, self->from);
    if (self->to) cuda->table->event_destroy(cuda, self->to);
    if (self->flush) (void)cuda->table->release(cuda, self->flush);
    hone_cuda_close(cuda);
    hone_free(self);
}

/* ---- buffers ---- */

static hone_status cuda_buffer_create(hone_device *base, size_t bytes, size_t index,
                                      hone_device_buffer **out_buffer) {
    (void)index; /* zones lie on both sides */
    cuda_buffer *b = hone_calloc(1, sizeof *b);
    if (!b) return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer");
    b->far.base.bytes = bytes;
    hone_status st = cuda_memory_create(as_cuda(base), bytes, &b->memory);
    if (st) {
        hone_free(b);
        return st;
    }
    *out_buffer = &b->far.base;
    return HONE_OK;
}

static void cuda_buffer_destroy(hone_device *base, hone_device_buffer *buffer) {
    cuda_memory_destroy(as_cuda(base), &as_buffer(buffer)->memory);
    hone_free(buffer);
}

static hone_status cuda_buffer_write(hone_device *base, hone_device_buffer *buffer,
                                     const void *data) {
    hone_cuda *cuda = as_cuda(base)->cuda;
    if (buffer->bytes == 0) return HONE_OK;
    return hone_cuda_error(
        cuda, cuda->table->copy_in(cuda, as_buffer(buffer)->memory.data, data, buffer->bytes),
        "copying to the card");
}

static hone_status read_part(hone_device *base, const hone_device_buffer *buffer, size_t offset,
                             size_t bytes, void *out) {
    hone_cuda *cuda = as_cuda(base)->cuda;
    const cuda_memory *memory = &((const cuda_buffer *)buffer)->memory;
    return hone_cuda_error(cuda, cuda->table->copy_out(cuda, out, memory->data + offset, bytes),
                           "copying from the card");
}

static hone_status cuda_buffer_read(hone_device *base, const hone_device_buffer *buffer,
                                    void *data) {
    return buffer->bytes ? read_part(base, buffer, 0, buffer->bytes, data) : HONE_OK;
}

static hone_status cuda_buffer_poison(hone_device *base, hone_device_buffer *buffer) {
    hone_cuda *cuda = as_cuda(base)->cuda;
    if (buffer->bytes == 0) return HONE_OK;
    return hone_cuda_error(
        cuda, cuda->table->fill(cuda, as_buffer(buffer)->memory.data, 0xFF, buffer->bytes),
        "filling memory of the card");
}

static hone_status cuda_buffer_protect(hone_device *base, hone_device_buffer *buffer,
                                       bool writable) {
    return far_protect(base, buffer, writable, read_part);
}

/* In what is protected: at 0, wherever it was. */
static int64_t cuda_buffer_damage(hone_device *base, hone_device_buffer *buffer) {
    int64_t at = cuda_memory_damage(as_cuda(base), &as_buffer(buffer)->memory);
    if (at != INT64_MIN) return at;
    return far_is_changed(base, buffer, read_part) ? 0 : INT64_MIN;
}

static hone_device_place cuda_buffer_place(const hone_device *base,
                                           const hone_device_buffer *buffer) {
    return (hone_device_place){.type = 2, /* kDLCUDA */
                               .number = ((const device_cuda *)base)->ordinal,
                               .data =
                                   (void *)(uintptr_t)((const cuda_buffer *)buffer)->memory.data};
}

/* ---- kernels ---- */

static hone_status cuda_load(hone_device *base, const hone_device_artifact *artifact,
                             const hone_manifest *manifest, hone_device_module **out_module) {
    return far_module_load(base, &cuda_loader, artifact, manifest, out_module);
}

static void cuda_unload(hone_device *base, hone_device_module *module) {
    far_module_unload(base, &cuda_loader, module);
}

/* More than the cache holds is written, so that nothing of the arguments is left in it. */
static hone_cuda_code flush(device_cuda *self) {
    size_t bytes = 2 * (size_t)self->facts.l2_bytes;
    hone_cuda *cuda = self->cuda;
    if (bytes == 0) return 0;
    hone_cuda_code code = 0;
    if (!self->flush) code = cuda->table->alloc(cuda, bytes, &self->flush);
    return code ? code : cuda->table->fill(cuda, self->flush, 0, bytes);
}

/* `count` runs between two events. */
static hone_cuda_code time_runs(device_cuda *self, const hone_device_launch *launch, int64_t count,
                                int64_t *out_ns) {
    hone_cuda *cuda = self->cuda;
    float ms = 0;
    hone_cuda_code code = cuda->table->event_record(cuda, self->from);
    for (int64_t i = 0; i < count && !code; i++)
        code = cuda_module_launch(self, launch->module, launch->buffers);
    if (!code) code = cuda->table->event_record(cuda, self->to);
    hone_cuda_code after = cuda->table->wait(cuda); /* also of what was begun before it failed */
    if (!code) code = after;
    if (!code) code = cuda->table->event_elapsed(cuda, self->from, self->to, &ms);
    *out_ns += (int64_t)((double)ms * NS_PER_MS);
    return code;
}

static hone_cuda_code run(device_cuda *self, const hone_device_launch *launch, int64_t *out_ns) {
    if (launch->cache != HONE_CACHE_COLD) return time_runs(self, launch, launch->count, out_ns);
    hone_cuda_code code = 0;
    for (int64_t i = 0; i < launch->count && !code; i++) {
        code = flush(self);
        if (!code) code = time_runs(self, launch, 1, out_ns);
    }
    return code;
}

static int32_t blame(device_cuda *self, hone_cuda_code code) {
    hone_cuda_fault fault = hone_cuda_fault_of(code);
    hone_cuda *cuda = self->cuda;
    self->fault = fault.failure;
    self->is_dead = fault.kills;
    snprintf(self->far.message, sizeof self->far.message, "%s, %s",
             cuda->table->error_name(cuda, code),
             fault.meaning[0] ? fault.meaning : cuda->table->error_text(cuda, code));
    return code;
}

/* All that is left is the error of the kernel that killed the context. */
static int32_t blame_nobody(device_cuda *self) {
    self->fault = HONE_FAILURE_DEVICE_LOST;
    snprintf(self->far.message, sizeof self->far.message,
             "the card's context ended with an earlier kernel");
    return -1;
}

static int32_t cuda_run(hone_device *base, const hone_device_launch *launch, int64_t *out_ns) {
    device_cuda *self = as_cuda(base);
    if (self->is_dead) return blame_nobody(self);
    self->fault = HONE_FAILURE_NONE;
    hone_cuda_code code = run(self, launch, out_ns);
    if (code) return blame(self, code);
    if (launch->count != 1 || !far_module_is_damaged(base, launch->module)) return 0;
    self->fault = HONE_FAILURE_RUN_CRASH;
    return -1;
}

static hone_failure cuda_fault(const hone_device *base) {
    return ((const device_cuda *)base)->fault;
}

static const hone_device_vtable cuda_vtable = {
    .name = "cuda",
    .destroy = cuda_destroy,
    .set_threads = far_set_threads,
    .buffer_create = cuda_buffer_create,
    .buffer_destroy = cuda_buffer_destroy,
    .buffer_write = cuda_buffer_write,
    .buffer_read = cuda_buffer_read,
    .buffer_poison = cuda_buffer_poison,
    .buffer_protect = cuda_buffer_protect,
    .buffer_damage = cuda_buffer_damage,
    .buffer_contains = far_contains,
    .buffer_place = cuda_buffer_place,
    .load = cuda_load,
    .unload = cuda_unload,
    .run = cuda_run,
    .take_error = far_take_error,
    .fault = cuda_fault,
};

/* ---- making ---- */

static hone_status check_ordinal(hone_cuda *cuda, int32_t ordinal) {
    int count = 0;
    hone_cuda_code code = cuda->table->device_count(cuda, &count);
    if (!code && ordinal >= 0 && ordinal < count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "there is no NVIDIA card %d: %d found", ordinal,
                      count);
}

/* Whatever fails here, no candidate was there yet. */
static hone_status unavailable(hone_cuda *cuda, hone_cuda_code code, const char *what) {
    if (!code) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s: %s, %s", what,
                      cuda->table->error_name(cuda, code), cuda->table->error_text(cuda, code));
}

/* The driver loads its compiler, and what that needs, with the first PTX: here, where files can
 * still be opened, and at nobody's cost. */
static hone_status warm_up(hone_cuda *cuda) {
    static const char nothing[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry nothing()\n{\nret;\n}\n";
    char log[256];
    void *module = NULL;
    HONE_TRY(unavailable(cuda, cuda->table->load(cuda, nothing, log, sizeof log, &module),
                         "compiling PTX"));
    cuda->table->unload(cuda, module);
    return HONE_OK;
}

static hone_status set_up(device_cuda *self, const hone_device_cuda_options *options) {
    HONE_TRY(hone_cuda_open(options->library, options->library_path, &self->cuda));
    hone_cuda *cuda = self->cuda;
    HONE_TRY(check_ordinal(cuda, options->ordinal));
    self->ordinal = options->ordinal;
    HONE_TRY(unavailable(cuda, cuda->table->describe(cuda, options->ordinal, &self->facts),
                         "asking the card what it is"));
    self->far.limit_bytes = far_limit(options->memory_bytes, self->facts.memory_bytes);
    HONE_TRY(unavailable(cuda, cuda->table->enter(cuda, options->ordinal),
                         "making a context on the card"));
    HONE_TRY(unavailable(cuda, cuda->table->event_create(cuda, &self->from), "making an event"));
    HONE_TRY(unavailable(cuda, cuda->table->event_create(cuda, &self->to), "making an event"));
    return warm_up(cuda);
}

hone_status hone_device_create_cuda(const hone_device_cuda_options *options,
                                    hone_device **out_device) {
    *out_device = NULL;
    device_cuda *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "cuda device");
    self->far.base.vtable = &cuda_vtable;
    hone_status st = set_up(self, options);
    if (st) {
        cuda_destroy(&self->far.base);
        return st;
    }
    *out_device = &self->far.base;
    return HONE_OK;
}
