/* runtime/far/far_module.c - see far_module.h. */
#include "runtime/far/far_module.h"

#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

#define MAX_IMAGE_BYTES ((size_t)256 << 20)

/* ---- is it for this device? ---- */

static hone_status check(const hone_device *device, const far_loader *loader,
                         const hone_manifest *manifest) {
    hone_target target;
    if (manifest->launch_count == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact is a kernel of the host: its manifest "
                                             "has no launches");
    }
    if (!manifest->target || !manifest->target[0]) return HONE_OK;
    HONE_TRY(hone_target_parse(manifest->target, &target));
    if (target.kind != loader->kind) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "built for the target '%s', this is %s",
                          hone_target_kind_name(target.kind), loader->what);
    }
    return loader->check ? loader->check(device, &target) : HONE_OK;
}

/* ---- loading ---- */

static hone_status load_code(hone_device *device, const far_loader *loader,
                             const hone_device_artifact *artifact, void **out_code) {
    char *image = NULL;
    size_t count = artifact->byte_count;
    if (artifact->path) {
        HONE_TRY(hone_fs_read(artifact->path, MAX_IMAGE_BYTES, &image, &count));
    } else {
        image = hone_malloc(count + 1);
        if (!image) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code of %zu bytes", count);
        memcpy(image, artifact->bytes, count);
        image[count] = 0;
    }
    hone_status st = loader->load_code(device, image, count, out_code);
    hone_free(image);
    return st;
}

static hone_status make_launch(hone_device *device, const far_loader *loader,
                               const hone_device_module *module, const hone_launch *from,
                               far_launch *to) {
    for (int d = 0; d < 3; d++) {
        to->grid[d] = (uint32_t)module->values[from->grid[d]];
        to->block[d] = (uint32_t)module->values[from->block[d]];
        to->is_empty |= to->grid[d] == 0;
    }
    to->shared_bytes = module->values[from->dynamic_shared];
    return loader->find_kernel(device, module->code, from->symbol, to);
}

static hone_status make_launches(hone_device *device, const far_loader *loader,
                                 const hone_manifest *manifest, hone_device_module *module) {
    hone_launch_arg *args = module->args;
    for (size_t i = 0; i < manifest->launch_count; i++) {
        const hone_launch *from = &manifest->launches[i];
        far_launch *to = &module->launches[i];
        if (from->arg_count) memcpy(args, from->args, from->arg_count * sizeof *args);
        to->arg_count = from->arg_count;
        to->args = args;
        args += from->arg_count;
        module->launch_count = i + 1;
        HONE_TRY(make_launch(device, loader, module, from, to));
    }
    return HONE_OK;
}

/* What nobody wrote is no number. */
static hone_status make_scratch(hone_device *device, const hone_manifest *manifest,
                                hone_device_module *module) {
    int64_t limit = ((const far_device *)device)->limit_bytes;
    for (size_t i = 0; i < manifest->scratch_count; i++) {
        int64_t bytes = module->values[manifest->scratch[i]];
        if (bytes > limit) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "scratch buffer %zu takes %lld bytes, the device has %lld", i,
                              (long long)bytes, (long long)limit);
        }
        hone_device_buffer **buffer = &module->scratch[i];
        HONE_TRY(hone_device_buffer_create(device, (size_t)bytes, i, buffer));
        module->scratch_count = i + 1;
        HONE_TRY(hone_device_buffer_poison(device, *buffer));
    }
    return HONE_OK;
}

static void *array(size_t count, size_t bytes) {
    return hone_calloc(count ? count : 1, bytes);
}

static hone_status make_lists(const hone_manifest *manifest, hone_device_module *module) {
    size_t args = 0;
    for (size_t i = 0; i < manifest->launch_count; i++)
        args += manifest->launches[i].arg_count;
    module->scratch = array(manifest->scratch_count, sizeof *module->scratch);
    module->values = array(manifest->value_count, sizeof *module->values);
    module->launches = array(manifest->launch_count, sizeof *module->launches);
    module->args = array(args, sizeof *module->args);
    bool ok = module->scratch && module->values && module->launches && module->args;
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
}

static hone_status load(hone_device *device, const far_loader *loader,
                        const hone_device_artifact *artifact, const hone_manifest *manifest,
                        hone_device_module *module) {
    HONE_TRY(check(device, loader, manifest));
    HONE_TRY(make_lists(manifest, module));
    HONE_TRY(hone_launch_values(manifest, manifest->sizes, module->values));
    HONE_TRY(load_code(device, loader, artifact, &module->code));
    HONE_TRY(make_launches(device, loader, manifest, module));
    return make_scratch(device, manifest, module);
}

hone_status far_module_load(hone_device *device, const far_loader *loader,
                            const hone_device_artifact *artifact, const hone_manifest *manifest,
                            hone_device_module **out_module) {
    hone_device_module *module = hone_calloc(1, sizeof *module);
    if (!module) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    hone_status st = load(device, loader, artifact, manifest, module);
    if (st) {
        far_module_unload(device, loader, module);
        return st;
    }
    *out_module = module;
    return HONE_OK;
}

void far_module_unload(hone_device *device, const far_loader *loader, hone_device_module *module) {
    for (size_t i = 0; loader->drop_kernel && i < module->launch_count; i++) {
        if (module->launches[i].kernel) loader->drop_kernel(device, module->launches[i].kernel);
    }
    for (size_t i = 0; i < module->scratch_count; i++)
        hone_device_buffer_destroy(device, module->scratch[i]);
    if (module->code) loader->unload_code(device, module->code);
    hone_free(module->scratch);
    hone_free(module->values);
    hone_free(module->launches);
    hone_free(module->args);
    hone_free(module);
}

/* ---- running ---- */

hone_device_buffer *far_arg_buffer(const hone_device_module *module, const hone_launch_arg *arg,
                                   hone_device_buffer *const *buffers) {
    switch (arg->kind) {
    case HONE_LAUNCH_ARG_BUFFER:
        return buffers[arg->index];
    case HONE_LAUNCH_ARG_SCRATCH:
        return module->scratch[arg->index];
    case HONE_LAUNCH_ARG_VALUE:
        break;
    }
    return NULL;
}

bool far_module_is_damaged(hone_device *device, const hone_device_module *module) {
    far_device *self = (far_device *)device;
    for (size_t i = 0; i < module->scratch_count; i++) {
        int64_t at = hone_device_buffer_damage(device, module->scratch[i]);
        if (at == INT64_MIN) continue;
        snprintf(self->message, sizeof self->message,
                 "wrote beside scratch buffer %zu, at byte %lld", i, (long long)at);
        return true;
    }
    return false;
}
