/* runtime/opencl/opencl_module.c - a program on an OpenCL device, and the launches that a manifest
 * asks for. */
#include "runtime/opencl/device_opencl_impl.h"

/* ---- loading ---- */

static hone_status load_code(hone_device *base, const char *image, size_t bytes, void **out_code) {
    return hone_opencl_compile(((device_opencl *)base)->cl, image, bytes, out_code);
}

static void unload_code(hone_device *base, void *code) {
    (void)((device_opencl *)base)->cl->program_release(code);
}

/* No kernel of this room asks for local memory at its launch: its size stands in the text. */
static hone_status find_kernel(hone_device *base, void *program, const char *symbol,
                               far_launch *io_launch) {
    const hone_opencl *cl = ((device_opencl *)base)->cl;
    int32_t code = 0;
    io_launch->kernel = cl->kernel_create(program, symbol, &code);
    if (code != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact has no kernel '%s': %s", symbol,
                          hone_opencl_code_name(code));
    }
    size_t threads = (size_t)io_launch->block[0] * io_launch->block[1] * io_launch->block[2];
    if (threads <= (size_t)cl->facts.max_threads) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "kernel '%s' has %zu threads in a block, the device %d",
                      symbol, threads, cl->facts.max_threads);
}

static void drop_kernel(hone_device *base, void *kernel) {
    (void)((device_opencl *)base)->cl->kernel_release(kernel);
}

const far_loader opencl_loader = {
    .kind = HONE_TARGET_OPENCL,
    .what = "an OpenCL device",
    .load_code = load_code,
    .unload_code = unload_code,
    .find_kernel = find_kernel,
    .drop_kernel = drop_kernel,
};

/* ---- running ---- */

static int32_t set_arg(const hone_opencl *cl, const hone_device_module *module, void *kernel,
                       uint32_t number, const hone_launch_arg *arg,
                       hone_device_buffer *const *buffers) {
    hone_device_buffer *buffer = far_arg_buffer(module, arg, buffers);
    if (!buffer)
        return cl->kernel_set(kernel, number, sizeof *module->values, &module->values[arg->index]);
    const void *memory = opencl_buffer_memory(buffer)->data;
    return cl->kernel_set(kernel, number, sizeof memory, &memory);
}

int32_t opencl_module_bind(device_opencl *device, hone_device_module *module,
                           hone_device_buffer *const *buffers) {
    int32_t code = 0;
    for (size_t i = 0; i < module->launch_count; i++) {
        const far_launch *to = &module->launches[i];
        for (size_t a = 0; a < to->arg_count && code == 0; a++)
            code = set_arg(device->cl, module, to->kernel, (uint32_t)a, &to->args[a], buffers);
    }
    return code;
}

static int32_t start(const hone_opencl *cl, const far_launch *launch, void **out_event) {
    size_t global[3], local[3];
    for (int d = 0; d < 3; d++) {
        local[d] = launch->block[d];
        global[d] = launch->grid[d] * local[d];
    }
    return cl->launch(cl->queue, launch->kernel, 3, NULL, global, local, 0, NULL, out_event);
}

int32_t opencl_module_launch(device_opencl *device, hone_device_module *module, void **out_first,
                             void **out_last) {
    const hone_opencl *cl = device->cl;
    int32_t code = 0;
    for (size_t i = 0; i < module->launch_count && code == 0; i++) {
        void *event = NULL;
        if (module->launches[i].is_empty) continue;
        code = start(cl, &module->launches[i], &event);
        if (!*out_first) {
            *out_first = event;
            continue;
        }
        if (*out_last) (void)cl->event_release(*out_last);
        *out_last = event;
    }
    return code;
}
