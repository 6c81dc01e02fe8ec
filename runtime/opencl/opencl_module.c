/* runtime/opencl/opencl_module.c - a program on an OpenCL device, and the launches that a manifest
 * asks for. */
#include <string.h>

#include "runtime/opencl/device_opencl_impl.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "target/target.h"

#define MAX_ARTIFACT_BYTES ((size_t)256 << 20)

typedef struct launch {
    void *kernel;
    size_t global[3], local[3];
    size_t arg_count;
    const hone_launch_arg *args; /* into the module's copy */
    bool is_empty;               /* a grid of nothing */
} launch;

struct hone_device_module {
    void *program;
    size_t arg_count, scratch_count, launch_count;
    opencl_memory *scratch;
    int64_t *values;
    launch *launches;
    hone_launch_arg *args; /* of all launches */
};

/* ---- loading ---- */

static hone_status check_target(const hone_manifest *manifest) {
    hone_target target;
    if (!manifest->target || !manifest->target[0]) return HONE_OK;
    HONE_TRY(hone_target_parse(manifest->target, &target));
    if (target.kind == HONE_TARGET_OPENCL) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "built for the target '%s', this is an OpenCL device",
                      hone_target_kind_name(target.kind));
}

static hone_status load_program(device_opencl *device, const hone_device_artifact *artifact,
                                hone_device_module *module) {
    if (!artifact->path) {
        return hone_opencl_compile(device->cl, (const char *)artifact->bytes, artifact->byte_count,
                                   &module->program);
    }
    char *text = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(artifact->path, MAX_ARTIFACT_BYTES, &text, &count));
    hone_status st = hone_opencl_compile(device->cl, text, count, &module->program);
    hone_free(text);
    return st;
}

static hone_status make_scratch(device_opencl *device, const hone_manifest *manifest,
                                hone_device_module *module) {
    for (size_t i = 0; i < manifest->scratch_count; i++) {
        int64_t bytes = module->values[manifest->scratch[i]];
        HONE_TRY(opencl_memory_create(device, (size_t)bytes, &module->scratch[i]));
        module->scratch_count = i + 1;
        /* what nobody wrote is no number */
        HONE_TRY(opencl_memory_fill(device, &module->scratch[i], 0xFF));
    }
    return HONE_OK;
}

/* No kernel of this room asks for local memory at its launch: its size stands in the text. */
static hone_status make_launch(device_opencl *device, hone_device_module *module,
                               const hone_launch *from, launch *to) {
    int32_t code = 0;
    to->kernel = device->cl->kernel_create(module->program, from->symbol, &code);
    if (code != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact has no kernel '%s': %s", from->symbol,
                          hone_opencl_code_name(code));
    }
    size_t threads = 1;
    for (int d = 0; d < 3; d++) {
        to->local[d] = (size_t)module->values[from->block[d]];
        to->global[d] = (size_t)module->values[from->grid[d]] * to->local[d];
        to->is_empty |= to->global[d] == 0;
        threads *= to->local[d];
    }
    to->arg_count = from->arg_count;
    if (threads <= (size_t)device->cl->facts.max_threads) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "kernel '%s' has %zu threads in a block, the device %d",
                      from->symbol, threads, device->cl->facts.max_threads);
}

static hone_status make_launches(device_opencl *device, const hone_manifest *manifest,
                                 hone_device_module *module) {
    hone_launch_arg *args = module->args;
    for (size_t i = 0; i < manifest->launch_count; i++) {
        const hone_launch *from = &manifest->launches[i];
        module->launch_count = i + 1;
        HONE_TRY(make_launch(device, module, from, &module->launches[i]));
        if (from->arg_count) memcpy(args, from->args, from->arg_count * sizeof *args);
        module->launches[i].args = args;
        args += from->arg_count;
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
    module->arg_count = manifest->arg_count;
    module->scratch = array(manifest->scratch_count, sizeof *module->scratch);
    module->values = array(manifest->value_count, sizeof *module->values);
    module->launches = array(manifest->launch_count, sizeof *module->launches);
    module->args = array(args, sizeof *module->args);
    bool ok = module->scratch && module->values && module->launches && module->args;
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
}

static hone_status load(device_opencl *device, const hone_device_artifact *artifact,
                        const hone_manifest *manifest, hone_device_module *module) {
    if (manifest->launch_count == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact is a kernel of the host: its manifest "
                                             "has no launches");
    }
    HONE_TRY(check_target(manifest));
    HONE_TRY(make_lists(manifest, module));
    HONE_TRY(hone_launch_values(manifest, manifest->sizes, module->values));
    HONE_TRY(load_program(device, artifact, module));
    HONE_TRY(make_launches(device, manifest, module));
    return make_scratch(device, manifest, module);
}

hone_status opencl_module_load(device_opencl *device, const hone_device_artifact *artifact,
                               const hone_manifest *manifest, hone_device_module **out_module) {
    hone_device_module *module = hone_calloc(1, sizeof *module);
    if (!module) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    hone_status st = load(device, artifact, manifest, module);
    if (st) {
        opencl_module_unload(device, module);
        return st;
    }
    *out_module = module;
    return HONE_OK;
}

void opencl_module_unload(device_opencl *device, hone_device_module *module) {
    for (size_t i = 0; i < module->launch_count; i++) {
        void *kernel = module->launches[i].kernel;
        if (kernel) (void)device->cl->kernel_release(kernel);
    }
    for (size_t i = 0; i < module->scratch_count; i++)
        opencl_memory_destroy(device, &module->scratch[i]);
    if (module->program) (void)device->cl->program_release(module->program);
    hone_free(module->scratch);
    hone_free(module->values);
    hone_free(module->launches);
    hone_free(module->args);
    hone_free(module);
}

/* ---- running ---- */

static int32_t set_arg(device_opencl *device, const hone_device_module *module, void *kernel,
                       uint32_t number, const hone_launch_arg *arg,
                       hone_device_buffer *const *buffers) {
    const hone_opencl *cl = device->cl;
    const void *memory;
    switch (arg->kind) {
    case HONE_LAUNCH_ARG_BUFFER:
        memory = opencl_buffer_memory(buffers[arg->index])->data;
        return cl->kernel_set(kernel, number, sizeof memory, &memory);
    case HONE_LAUNCH_ARG_SCRATCH:
        memory = module->scratch[arg->index].data;
        return cl->kernel_set(kernel, number, sizeof memory, &memory);
    case HONE_LAUNCH_ARG_VALUE:
        return cl->kernel_set(kernel, number, sizeof *module->values, &module->values[arg->index]);
    }
    return 0;
}

int32_t opencl_module_bind(device_opencl *device, hone_device_module *module,
                           hone_device_buffer *const *buffers) {
    int32_t code = 0;
    for (size_t i = 0; i < module->launch_count; i++) {
        const launch *to = &module->launches[i];
        for (size_t a = 0; a < to->arg_count && code == 0; a++)
            code = set_arg(device, module, to->kernel, (uint32_t)a, &to->args[a], buffers);
    }
    return code;
}

int32_t opencl_module_launch(device_opencl *device, hone_device_module *module, void **out_first,
                             void **out_last) {
    hone_opencl *cl = device->cl;
    int32_t code = 0;
    for (size_t i = 0; i < module->launch_count && code == 0; i++) {
        const launch *l = &module->launches[i];
        void *event = NULL;
        if (l->is_empty) continue;
        code = cl->launch(cl->queue, l->kernel, 3, NULL, l->global, l->local, 0, NULL, &event);
        if (!*out_first) {
            *out_first = event;
            continue;
        }
        if (*out_last) (void)cl->event_release(*out_last);
        *out_last = event;
    }
    return code;
}

int32_t opencl_module_damage(device_opencl *device, const hone_device_module *module,
                             int64_t *out_at) {
    for (size_t i = 0; i < module->scratch_count; i++) {
        *out_at = opencl_memory_damage(device, &module->scratch[i]);
        if (*out_at != INT64_MIN) return (int32_t)i;
    }
    return -1;
}
