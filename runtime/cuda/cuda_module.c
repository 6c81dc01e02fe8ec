/* runtime/cuda/cuda_module.c - code on a card, and the launches that a manifest asks for. */
#include <string.h>

#include "runtime/cuda/cuda_fault.h"
#include "runtime/cuda/device_cuda_impl.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "target/target.h"

#define MAX_IMAGE_BYTES ((size_t)256 << 20)
#define LOG_BYTES 4096
#define STATIC_SHARED_BYTES (48 * 1024) /* more than that has to be asked for */

typedef struct launch {
    void *function;
    hone_cuda_dims dims;
    void **params; /* into the module's addresses and values */
    bool is_empty; /* a grid of nothing */
} launch;

struct hone_device_module {
    void *code;
    size_t arg_count, scratch_count, launch_count;
    hone_cuda_address *arguments;
    hone_cuda_address *scratch_addresses;
    cuda_memory *scratch;
    int64_t *values;
    launch *launches;
    void **params; /* of all launches */
};

/* ---- is it for this card? ---- */

static hone_status check_target(const device_cuda *device, const hone_manifest *manifest) {
    hone_target target;
    if (!manifest->target || !manifest->target[0]) return HONE_OK;
    HONE_TRY(hone_target_parse(manifest->target, &target));
    if (target.kind != HONE_TARGET_CUDA) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "built for the target '%s', this is an NVIDIA card",
                          hone_target_kind_name(target.kind));
    }
    int32_t capability = 0;
    const char *at = strncmp(target.cpu, "sm_", 3) == 0 ? target.cpu + 3 : "";
    for (; *at >= '0' && *at <= '9'; at++)
        capability = 10 * capability + (*at - '0');
    bool fits =
        *at ? capability == device->facts.capability : capability <= device->facts.capability;
    if (fits) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "built for %s, this card is sm_%d", target.cpu,
                      device->facts.capability);
}

/* ---- loading ---- */

/* PTX is text, and ends with a NUL for the driver. */
static hone_status copy_image(const hone_device_artifact *artifact, char **out_image) {
    size_t count = artifact->byte_count;
    if (artifact->path) return hone_fs_read(artifact->path, MAX_IMAGE_BYTES, out_image, &count);
    *out_image = hone_malloc(count + 1);
    if (!*out_image) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code of %zu bytes", count);
    memcpy(*out_image, artifact->bytes, count);
    (*out_image)[count] = 0;
    return HONE_OK;
}

static hone_status load_code(device_cuda *device, const hone_device_artifact *artifact,
                             hone_device_module *module) {
    char *image = NULL, log[LOG_BYTES];
    HONE_TRY(copy_image(artifact, &image));
    hone_cuda *cuda = device->cuda;
    hone_cuda_code code = cuda->table->load(cuda, image, log, sizeof log, &module->code);
    hone_free(image);
    return code ? hone_cuda_load_error(cuda, code, log) : HONE_OK;
}

static hone_status make_scratch(device_cuda *device, const hone_manifest *manifest,
                                hone_device_module *module) {
    for (size_t i = 0; i < manifest->scratch_count; i++) {
        int64_t bytes = module->values[manifest->scratch[i]];
        if (bytes > device->limit_bytes) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "scratch buffer %zu takes %lld bytes, the card has %lld", i,
                              (long long)bytes, (long long)device->limit_bytes);
        }
        HONE_TRY(cuda_memory_create(device, (size_t)bytes, &module->scratch[i]));
        module->scratch_count = i + 1;
        module->scratch_addresses[i] = module->scratch[i].data;
        hone_cuda *cuda = device->cuda; /* what nobody wrote is no number */
        HONE_TRY(hone_cuda_error(
            cuda, cuda->table->fill(cuda, module->scratch[i].data, 0xFF, (size_t)bytes),
            "filling memory of the card"));
    }
    return HONE_OK;
}

static void *param_of(hone_device_module *module, const hone_launch_arg *arg) {
    switch (arg->kind) {
    case HONE_LAUNCH_ARG_BUFFER:
        return &module->arguments[arg->index];
    case HONE_LAUNCH_ARG_SCRATCH:
        return &module->scratch_addresses[arg->index];
    case HONE_LAUNCH_ARG_VALUE:
        return &module->values[arg->index];
    }
    return NULL;
}

static hone_status allow_shared(device_cuda *device, const launch *to, const char *symbol) {
    int64_t bytes = to->dims.shared_bytes;
    if (bytes <= STATIC_SHARED_BYTES) return HONE_OK;
    if (bytes <= device->facts.shared_bytes) {
        hone_cuda *cuda = device->cuda;
        hone_cuda_code code = cuda->table->allow_shared(cuda, to->function, (int32_t)bytes);
        if (!code) return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_INVALID,
                      "kernel '%s' wants %lld bytes of dynamic shared memory, a block may have %d",
                      symbol, (long long)bytes, device->facts.shared_bytes);
}

static hone_status make_launch(device_cuda *device, hone_device_module *module,
                               const hone_launch *from, launch *to) {
    hone_cuda *cuda = device->cuda;
    hone_cuda_code code = cuda->table->find(cuda, module->code, from->symbol, &to->function);
    if (code) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact has no kernel '%s': %s", from->symbol,
                          cuda->table->error_name(cuda, code));
    }
    for (int d = 0; d < 3; d++) {
        to->dims.grid[d] = (uint32_t)module->values[from->grid[d]];
        to->dims.block[d] = (uint32_t)module->values[from->block[d]];
        to->is_empty |= to->dims.grid[d] == 0;
    }
    to->dims.shared_bytes = (uint32_t)module->values[from->dynamic_shared];
    for (size_t i = 0; i < from->arg_count; i++)
        to->params[i] = param_of(module, &from->args[i]);
    return allow_shared(device, to, from->symbol);
}

static hone_status make_launches(device_cuda *device, const hone_manifest *manifest,
                                 hone_device_module *module) {
    void **params = module->params;
    for (size_t i = 0; i < manifest->launch_count; i++) {
        module->launches[i].params = params;
        HONE_TRY(make_launch(device, module, &manifest->launches[i], &module->launches[i]));
        params += manifest->launches[i].arg_count;
    }
    module->launch_count = manifest->launch_count;
    return HONE_OK;
}

static void *array(size_t count, size_t bytes) {
    return hone_calloc(count ? count : 1, bytes);
}

static hone_status make_lists(const hone_manifest *manifest, hone_device_module *module) {
    size_t params = 0;
    for (size_t i = 0; i < manifest->launch_count; i++)
        params += manifest->launches[i].arg_count;
    module->arg_count = manifest->arg_count;
    module->arguments = array(manifest->arg_count, sizeof *module->arguments);
    module->scratch = array(manifest->scratch_count, sizeof *module->scratch);
    module->scratch_addresses = array(manifest->scratch_count, sizeof *module->scratch_addresses);
    module->values = array(manifest->value_count, sizeof *module->values);
    module->launches = array(manifest->launch_count, sizeof *module->launches);
    module->params = array(params, sizeof *module->params);
    bool ok = module->arguments && module->scratch && module->scratch_addresses && module->values &&
              module->launches && module->params;
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
}

static hone_status load(device_cuda *device, const hone_device_artifact *artifact,
                        const hone_manifest *manifest, hone_device_module *module) {
    if (manifest->launch_count == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact is a kernel of the host: its manifest "
                                             "has no launches");
    }
    HONE_TRY(check_target(device, manifest));
    HONE_TRY(make_lists(manifest, module));
    HONE_TRY(hone_launch_values(manifest, manifest->sizes, module->values));
    HONE_TRY(load_code(device, artifact, module));
    HONE_TRY(make_launches(device, manifest, module));
    return make_scratch(device, manifest, module);
}

hone_status cuda_module_load(device_cuda *device, const hone_device_artifact *artifact,
                             const hone_manifest *manifest, hone_device_module **out_module) {
    hone_device_module *module = hone_calloc(1, sizeof *module);
    if (!module) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    hone_status st = load(device, artifact, manifest, module);
    if (st) {
        cuda_module_unload(device, module);
        return st;
    }
    *out_module = module;
    return HONE_OK;
}

void cuda_module_unload(device_cuda *device, hone_device_module *module) {
    for (size_t i = 0; i < module->scratch_count; i++)
        cuda_memory_destroy(device, &module->scratch[i]);
    if (module->code) device->cuda->table->unload(device->cuda, module->code);
    hone_free(module->arguments);
    hone_free(module->scratch);
    hone_free(module->scratch_addresses);
    hone_free(module->values);
    hone_free(module->launches);
    hone_free(module->params);
    hone_free(module);
}

/* ---- launching ---- */

size_t cuda_module_arg_count(const hone_device_module *module) {
    return module->arg_count;
}

void cuda_module_bind(hone_device_module *module, const hone_cuda_address *arguments) {
    memcpy(module->arguments, arguments, module->arg_count * sizeof *arguments);
}

hone_cuda_code cuda_module_launch(device_cuda *device, hone_device_module *module) {
    hone_cuda *cuda = device->cuda;
    for (size_t i = 0; i < module->launch_count; i++) {
        const launch *l = &module->launches[i];
        if (l->is_empty) continue;
        hone_cuda_code code = cuda->table->launch(cuda, l->function, &l->dims, l->params);
        if (code) return code;
    }
    return 0;
}

int32_t cuda_module_damage(device_cuda *device, const hone_device_module *module, int64_t *out_at) {
    for (size_t i = 0; i < module->scratch_count; i++) {
        *out_at = cuda_memory_damage(device, &module->scratch[i]);
        if (*out_at != INT64_MIN) return (int32_t)i;
    }
    return -1;
}
