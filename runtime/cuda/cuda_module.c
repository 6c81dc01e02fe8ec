/* runtime/cuda/cuda_module.c - code on a card, and the launches that a manifest asks for. */
#include <string.h>

#include "runtime/cuda/cuda_fault.h"
#include "runtime/cuda/device_cuda_impl.h"

#define LOG_BYTES 4096

/* ---- loading ---- */

static hone_status check_capability(const hone_device *base, const hone_target *target) {
    int32_t capability = 0, here = ((const device_cuda *)base)->facts.capability;
    const char *at = strncmp(target->cpu, "sm_", 3) == 0 ? target->cpu + 3 : "";
    for (; *at >= '0' && *at <= '9'; at++)
        capability = 10 * capability + (*at - '0');
    bool fits = *at ? capability == here : capability <= here;
    if (fits) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "built for %s, this card is sm_%d", target->cpu, here);
}

/* What is none of these has another error with each library and driver. PTX is text, and ends with
 * a NUL. */
static bool is_code(const char *image, size_t bytes) {
    static const char elf[] = {0x7f, 'E', 'L', 'F'};
    static const unsigned char bundle[] = {0x50, 0xed, 0x55, 0xba}; /* of cubins and PTX */
    if (bytes < sizeof elf) return false;
    return memcmp(image, elf, sizeof elf) == 0 || memcmp(image, bundle, sizeof bundle) == 0 ||
           strstr(image, ".version") != NULL;
}

static hone_status load_code(hone_device *base, const char *image, size_t bytes, void **out_code) {
    char log[LOG_BYTES];
    hone_cuda *cuda = ((device_cuda *)base)->cuda;
    if (!is_code(image, bytes)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "the CUDA %s cannot load it: it is neither PTX nor a cubin",
                          cuda->table->name);
    }
    hone_cuda_code code = cuda->table->load(cuda, image, log, sizeof log, out_code);
    return code ? hone_cuda_load_error(cuda, code, log) : HONE_OK;
}

static void unload_code(hone_device *base, void *code) {
    hone_cuda *cuda = ((device_cuda *)base)->cuda;
    cuda->table->unload(cuda, code);
}

/* Without being asked a card gives 48 KiB, of which a kernel's own arrays take some. */
static hone_status allow_shared(device_cuda *device, const far_launch *launch, const char *symbol) {
    if (launch->shared_bytes <= 0) return HONE_OK;
    if (launch->shared_bytes <= device->facts.shared_bytes) {
        hone_cuda *cuda = device->cuda;
        hone_cuda_code code =
            cuda->table->allow_shared(cuda, launch->kernel, (int32_t)launch->shared_bytes);
        if (!code) return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_INVALID,
                      "kernel '%s' wants %lld bytes of dynamic shared memory, a block may have %d",
                      symbol, (long long)launch->shared_bytes, device->facts.shared_bytes);
}

static hone_status find_kernel(hone_device *base, void *module, const char *symbol,
                               far_launch *io_launch) {
    device_cuda *device = (device_cuda *)base;
    hone_cuda *cuda = device->cuda;
    hone_cuda_code code = cuda->table->find(cuda, module, symbol, &io_launch->kernel);
    if (!code) return allow_shared(device, io_launch, symbol);
    return HONE_ERROR(HONE_CODE_INVALID, "the artifact has no kernel '%s': %s", symbol,
                      cuda->table->error_name(cuda, code));
}

const far_loader cuda_loader = {
    .kind = HONE_TARGET_CUDA,
    .what = "an NVIDIA card",
    .check = check_capability,
    .load_code = load_code,
    .unload_code = unload_code,
    .find_kernel = find_kernel,
};

/* ---- launching ---- */

static hone_cuda_code start(hone_cuda *cuda, hone_device_module *module, const far_launch *launch,
                            hone_device_buffer *const *buffers) {
    const hone_cuda_dims dims = {
        {launch->grid[0],  launch->grid[1],  launch->grid[2] },
        {launch->block[0], launch->block[1], launch->block[2]},
        (uint32_t)launch->shared_bytes
    };
    void *params[HONE_LAUNCH_MAX_ARGS]; /* each points to the value of an argument */
    for (size_t i = 0; i < launch->arg_count; i++) {
        const hone_launch_arg *arg = &launch->args[i];
        hone_device_buffer *buffer = far_arg_buffer(module, arg, buffers);
        params[i] = buffer ? cuda_buffer_param(buffer) : (void *)&module->values[arg->index];
    }
    return cuda->table->launch(cuda, launch->kernel, &dims, params);
}

hone_cuda_code cuda_module_launch(device_cuda *device, hone_device_module *module,
                                  hone_device_buffer *const *buffers) {
    for (size_t i = 0; i < module->launch_count; i++) {
        if (module->launches[i].is_empty) continue;
        hone_cuda_code code = start(device->cuda, module, &module->launches[i], buffers);
        if (code) return code;
    }
    return 0;
}
