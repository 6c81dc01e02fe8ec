/* runtime/model/device/model_opencl.c - an OpenCL device as models use it (model_device.h). Parts
 * of memory are sub-buffers; a kernel's arguments are set anew at each launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/device/opencl_driver.h"
#include "runtime/model/driver_impl.h"
#include "runtime/model/model_device.h"

/* Numbers of cl.h. */
enum {
    DEVICE_NOT_AVAILABLE = -2,
    MEM_OBJECT_ALLOCATION_FAILURE = -4,
    OUT_OF_HOST_MEMORY = -6,
    CONTEXT_DEVICES = 0x1081,
    MEM_CONTEXT = 0x1106,
    PROGRAM_BUILD_LOG = 0x1183,
    PART_REGION = 0x1220,
    READ_WRITE = 1,
    MAX_DEVICES = 64,
    LOG_BYTES = 4096,
};
#define DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

typedef struct opencl_device {
    hone_mt_device base; /* first: an opencl_device * is a hone_mt_device * */
    hone_opencl_driver cl;
    void *device, *context, *queue;
} opencl_device;

static opencl_device *as_opencl(hone_mt_device *device) {
    return (opencl_device *)device;
}

static void *as_memory(hone_mt_memory memory) {
    return (void *)(uintptr_t)memory;
}

static int32_t failed(int32_t code, const char *what) {
    if (code == 0) return HONE_MODEL_OK;
    bool is_memory = code == MEM_OBJECT_ALLOCATION_FAILURE || code == OUT_OF_HOST_MEMORY;
    return hone_mt_fail(is_memory ? HONE_MODEL_NO_MEMORY : HONE_MODEL_FAILED,
                        "%s: OpenCL's error %d", what, (int)code);
}

static int32_t not_there(int32_t code, const char *what) {
    if (code == 0) return HONE_MODEL_OK;
    return hone_mt_fail(HONE_MODEL_NO_DEVICE, "%s: OpenCL's error %d", what, (int)code);
}

/* ---- opening ---- */

static int32_t open_driver(hone_opencl_driver *out_cl) {
    char why[256];
    if (hone_opencl_driver_open(out_cl, why, sizeof why)) return HONE_MODEL_OK;
    return hone_mt_fail(HONE_MODEL_NO_DEVICE, "%s", why);
}

static int32_t opencl_choose(const DLTensor *tensor, hone_mt_device_choice *out_choice) {
    hone_opencl_driver cl;
    int32_t code = open_driver(&cl);
    out_choice->ordinal = tensor->device.device_id;
    if (code) return code;
    return not_there(cl.memory_fact(tensor->data, MEM_CONTEXT, sizeof out_choice->context,
                                    &out_choice->context, NULL),
                     "finding the context of a tensor");
}

/* Platform by platform; one that fails is left out. */
static void list_devices(const hone_opencl_driver *cl, void **out_devices, uint32_t *out_count) {
    void *platforms[MAX_DEVICES];
    uint32_t platform_count = 0;
    *out_count = 0;
    if (cl->platforms(MAX_DEVICES, platforms, &platform_count) != 0) return;
    for (uint32_t i = 0; i < platform_count && i < MAX_DEVICES; i++) {
        uint32_t most = MAX_DEVICES - *out_count, count = 0;
        if (most == 0) return;
        int32_t code =
            cl->devices(platforms[i], DEVICE_TYPE_ALL, most, &out_devices[*out_count], &count);
        if (code == 0) *out_count += count < most ? count : most;
    }
}

static void list_of_context(const hone_opencl_driver *cl, void *context, void **out_devices,
                            uint32_t *out_count) {
    size_t bytes = 0;
    int32_t code = cl->context_fact(context, CONTEXT_DEVICES, MAX_DEVICES * sizeof *out_devices,
                                    out_devices, &bytes);
    *out_count = code ? 0 : (uint32_t)(bytes / sizeof *out_devices);
}

static int32_t find_device(opencl_device *self, const hone_mt_device_choice *choice) {
    void *devices[MAX_DEVICES];
    uint32_t count;
    if (choice->context) {
        list_of_context(&self->cl, choice->context, devices, &count);
    } else {
        list_devices(&self->cl, devices, &count);
    }
    if (choice->ordinal < 0 || (uint32_t)choice->ordinal >= count) {
        return hone_mt_fail(HONE_MODEL_NO_DEVICE, "there is no OpenCL device %d: %u found",
                            (int)choice->ordinal, (unsigned)count);
    }
    self->device = devices[choice->ordinal];
    return HONE_MODEL_OK;
}

static int32_t take_context(opencl_device *self, void *context) {
    int32_t code = 0;
    if (!context) {
        context = self->cl.context_create(NULL, 1, &self->device, NULL, NULL, &code);
    } else {
        code = self->cl.context_retain(context);
    }
    if (code == 0) self->context = context;
    return not_there(code, "making an OpenCL context");
}

static int32_t make_queue(opencl_device *self) {
    int32_t code = 0;
    self->queue = self->cl.queue_create(self->context, self->device, 0, &code);
    if (code) self->queue = NULL;
    return not_there(code, "making an OpenCL queue");
}

static void opencl_close(hone_mt_device *device) {
    opencl_device *self = as_opencl(device);
    if (self->queue) (void)self->cl.queue_release(self->queue);
    if (self->context) (void)self->cl.context_release(self->context);
    free(self);
}

static int32_t opencl_open(const hone_mt_device_choice *choice, hone_mt_device **out_device) {
    opencl_device *self = calloc(1, sizeof *self);
    if (!self) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    self->base.table = &hone_mt_opencl_table;
    int32_t code = open_driver(&self->cl);
    if (!code) code = find_device(self, choice);
    if (!code) code = take_context(self, choice->context);
    if (!code) code = make_queue(self);
    if (code) {
        opencl_close(&self->base);
        return code;
    }
    *out_device = &self->base;
    return HONE_MODEL_OK;
}

static int32_t opencl_enter(hone_mt_device *device) {
    (void)device;
    return HONE_MODEL_OK;
}

static void opencl_leave(hone_mt_device *device) {
    (void)device;
}

/* ---- memory ---- */

static int32_t opencl_alloc(hone_mt_device *device, int64_t bytes, hone_mt_memory *out_memory) {
    opencl_device *self = as_opencl(device);
    int32_t code = 0;
    char what[64];
    void *memory = self->cl.memory_create(self->context, READ_WRITE, (size_t)bytes, NULL, &code);
    *out_memory = code ? 0 : (uintptr_t)memory;
    snprintf(what, sizeof what, "%lld bytes on the OpenCL device", (long long)bytes);
    return failed(code, what);
}

static void opencl_release(hone_mt_device *device, hone_mt_memory memory) {
    (void)as_opencl(device)->cl.memory_release(as_memory(memory));
}

static int32_t opencl_part(hone_mt_device *device, hone_mt_memory whole, int64_t offset,
                           int64_t bytes, hone_mt_memory *out_part) {
    opencl_device *self = as_opencl(device);
    const size_t region[2] = {(size_t)offset, (size_t)bytes};
    int32_t code = 0;
    void *part = self->cl.memory_part(as_memory(whole), READ_WRITE, PART_REGION, region, &code);
    *out_part = code ? 0 : (uintptr_t)part;
    return failed(code, "a part of a buffer");
}

static bool opencl_is_fit(const DLTensor *tensor, hone_mt_memory *out_memory) {
    *out_memory = (uintptr_t)tensor->data;
    return tensor->byte_offset == 0;
}

static int32_t opencl_copy_in(hone_mt_device *device, hone_mt_memory to, const void *from,
                              int64_t bytes) {
    opencl_device *self = as_opencl(device);
    if (bytes == 0) return HONE_MODEL_OK;
    return failed(
        self->cl.copy_in(self->queue, as_memory(to), 1, 0, (size_t)bytes, from, 0, NULL, NULL),
        "copying to the OpenCL device");
}

static int32_t opencl_copy_out(hone_mt_device *device, void *to, hone_mt_memory from,
                               int64_t bytes) {
    opencl_device *self = as_opencl(device);
    if (bytes == 0) return HONE_MODEL_OK;
    return failed(
        self->cl.copy_out(self->queue, as_memory(from), 1, 0, (size_t)bytes, to, 0, NULL, NULL),
        "copying from the OpenCL device");
}

static int32_t opencl_copy_within(hone_mt_device *device, hone_mt_memory to, int64_t to_offset,
                                  hone_mt_memory from, int64_t from_offset, int64_t bytes) {
    opencl_device *self = as_opencl(device);
    if (bytes == 0) return HONE_MODEL_OK;
    return failed(self->cl.copy_within(self->queue, as_memory(from), as_memory(to),
                                       (size_t)from_offset, (size_t)to_offset, (size_t)bytes, 0,
                                       NULL, NULL),
                  "copying on the OpenCL device");
}

/* ---- code ---- */

static int32_t build_failed(opencl_device *self, const hone_mt_program *program, void *made,
                            int32_t code) {
    char log[LOG_BYTES] = "";
    (void)self->cl.build_fact(made, self->device, PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    return hone_mt_fail(HONE_MODEL_NO_DEVICE,
                        "this OpenCL device does not take the kernels of '%s': error %d%s%.300s",
                        program->name, (int)code, log[0] ? ": " : "", log);
}

static int32_t opencl_load(hone_mt_device *device, const hone_mt_program *program,
                           void **out_module) {
    opencl_device *self = as_opencl(device);
    const char *text = program->code;
    size_t length = (size_t)program->code_bytes;
    int32_t code = 0;
    *out_module = NULL;
    void *made = self->cl.from_source(self->context, 1, &text, &length, &code);
    if (code) return failed(code, "taking OpenCL C");
    code = self->cl.build(made, 1, &self->device, "", NULL, NULL);
    if (code == 0) {
        *out_module = made;
        return HONE_MODEL_OK;
    }
    int32_t said = build_failed(self, program, made, code);
    (void)self->cl.program_release(made);
    return said;
}

static void opencl_unload(hone_mt_device *device, void *module) {
    (void)as_opencl(device)->cl.program_release(module);
}

/* The size of local memory stands in the text. */
static int32_t opencl_find(hone_mt_device *device, void *module, const char *symbol,
                           int64_t shared_bytes, void **out_function) {
    int32_t code = 0;
    char what[128];
    (void)shared_bytes;
    *out_function = as_opencl(device)->cl.kernel_create(module, symbol, &code);
    if (code) *out_function = NULL;
    snprintf(what, sizeof what, "finding the kernel '%.80s'", symbol);
    return failed(code, what);
}

static void opencl_forget(hone_mt_device *device, void *function) {
    (void)as_opencl(device)->cl.kernel_release(function);
}

static int32_t opencl_launch(hone_mt_device *device, void *function, const hone_mt_dims *dims,
                             uint64_t *params, int32_t param_count) {
    opencl_device *self = as_opencl(device);
    size_t local[3], global[3];
    int32_t code = 0;
    for (int32_t i = 0; i < param_count && code == 0; i++)
        code = self->cl.kernel_set(function, (uint32_t)i, sizeof params[i], &params[i]);
    for (int d = 0; d < 3; d++) {
        local[d] = dims->block[d];
        global[d] = (size_t)dims->grid[d] * dims->block[d];
    }
    if (code == 0) {
        code = self->cl.launch(self->queue, function, 3, NULL, global, local, 0, NULL, NULL);
    }
    return failed(code, "launching a kernel");
}

static int32_t opencl_wait(hone_mt_device *device) {
    opencl_device *self = as_opencl(device);
    int32_t code = self->cl.finish(self->queue);
    if (code == DEVICE_NOT_AVAILABLE) device->is_lost = true;
    return failed(code, "waiting for the OpenCL device");
}

const hone_mt_device_table hone_mt_opencl_table = {
    .name = "OpenCL",
    .types = {4, 4},
    .choose = opencl_choose,
    .open = opencl_open,
    .close = opencl_close,
    .enter = opencl_enter,
    .leave = opencl_leave,
    .alloc = opencl_alloc,
    .release = opencl_release,
    .part = opencl_part,
    .drop = opencl_release,
    .is_fit = opencl_is_fit,
    .copy_in = opencl_copy_in,
    .copy_out = opencl_copy_out,
    .copy_within = opencl_copy_within,
    .load = opencl_load,
    .unload = opencl_unload,
    .find = opencl_find,
    .forget = opencl_forget,
    .launch = opencl_launch,
    .wait = opencl_wait,
};
