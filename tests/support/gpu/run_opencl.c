/* tests/support/gpu/run_opencl.c - see run_opencl.h. */
#include "tests/support/gpu/run_opencl.h"

#include <stdio.h>
#include <stdlib.h>

#include "codegen/codegen.h"
#include "lower/ground/lower.h"
#include "runtime/device.h"
#include "runtime/model/abi.h"
#include "tests/support/gpu/run_launches.h"
#include "tests/support/hone_test.h"

enum { MOST = 31 };

static hone_device *device; /* opened once: it has threads */

void hone_test_need_opencl(void) {
    hone_status st = device ? HONE_OK : hone_device_open("opencl", 0, &device);
    if (!st) return;
    print_message("%s\n", hone_status_message(st));
    hone_status_free(st);
    skip();
}

static hone_status lower(const hone_func *func, const char *symbol, hone_target *target,
                         hone_arena *arena, hone_launches *out_launches) {
    hone_func *lowered;
    hone_lower_options options = {.target = target};
    HONE_TRY(hone_lower_func(func, &options, arena, &lowered));
    return hone_lower_launches(lowered, symbol, target, arena, out_launches);
}

static hone_status print(const hone_launches *launches, const hone_target *target, const char *emit,
                         hone_str *out) {
    const hone_backend *backend;
    HONE_TRY(hone_backend_find(emit, target, &backend));
    hone_codegen_options options = {.target = target, .form = backend->form};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < launches->kernel_count && !st; i++) {
        const hone_codegen_kernel kernel = {.func = launches->kernels[i].func,
                                            .symbol = launches->kernels[i].symbol};
        st = backend->generate(&kernel, 1, &options, out);
    }
    return st;
}

hone_status hone_test_print_launches(const hone_func *func, const char *target_text,
                                     const char *emit, const char *symbol, hone_str *out) {
    hone_target target;
    hone_launches launches;
    hone_arena *arena = hone_arena_create(1 << 16);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    hone_status st = hone_target_parse(target_text, &target);
    if (!st) st = lower(func, symbol, &target, arena, &launches);
    if (!st) st = print(&launches, &target, emit, out);
    hone_arena_destroy(arena);
    return st;
}

/* ---- running ---- */

typedef struct run {
    const hone_func *func;
    hone_tensor *const *args;
    hone_device_buffer *buffers[MOST];
    uint32_t count;
} run;

static hone_status make_buffers(run *r) {
    for (uint32_t p = 0; p < r->func->param_count; p++) {
        if (r->func->params[p].buffer == HONE_NO_ID) continue;
        HONE_TRY(hone_device_buffer_create(device, hone_tensor_bytes(r->args[p]), r->count,
                                           &r->buffers[r->count]));
        HONE_TRY(hone_device_buffer_write(device, r->buffers[r->count++], r->args[p]->data));
    }
    return HONE_OK;
}

static hone_status read_back(run *r) {
    for (uint32_t p = 0, b = 0; p < r->func->param_count; p++) {
        if (r->func->params[p].buffer == HONE_NO_ID) continue;
        int64_t damage = hone_device_buffer_damage(device, r->buffers[b]);
        if (damage != INT64_MIN) {
            return HONE_ERROR(HONE_CODE_INVALID, "buffer %u is written at byte %lld of %zu",
                              (unsigned)b, (long long)damage, hone_tensor_bytes(r->args[p]));
        }
        HONE_TRY(hone_device_buffer_read(device, r->buffers[b++], r->args[p]->data));
    }
    return HONE_OK;
}

static hone_status launch(run *r, hone_device_module *module) {
    char message[256];
    int64_t ns;
    HONE_TRY(make_buffers(r));
    const hone_device_launch once = {
        .module = module, .buffers = r->buffers, .count = 1, .cache = HONE_CACHE_HOT};
    int32_t code = hone_device_run(device, &once, &ns);
    hone_device_take_error(device, message, sizeof message);
    if (code != 0) return HONE_ERROR(HONE_CODE_INVALID, "the device says %d: %s", code, message);
    return read_back(r);
}

static hone_status load_and_run(const hone_func *func, const hone_launches *launches,
                                const hone_str *text, hone_tensor *const *args, hone_arena *arena) {
    run r = {.func = func, .args = args};
    hone_device_module *module = NULL;
    hone_manifest manifest;
    const hone_device_artifact artifact = {.bytes = (const uint8_t *)text->data,
                                           .byte_count = text->length};
    HONE_TRY(hone_test_launch_manifest(func, launches, args, arena, &manifest));
    manifest.abi_version = HONE_ABI_VERSION;
    hone_status st = hone_device_load(device, &artifact, &manifest, &module);
    if (!st) st = launch(&r, module);
    for (uint32_t i = 0; i < r.count; i++)
        hone_device_buffer_destroy(device, r.buffers[i]);
    hone_device_unload(device, module);
    return st;
}

hone_status hone_test_run_opencl(const hone_func *func, hone_tensor *const *args) {
    hone_target target;
    hone_launches launches;
    hone_str text = {0};
    hone_arena *arena = hone_arena_create(1 << 16);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "test");
    hone_status st = hone_target_parse("opencl", &target);
    if (!st) st = lower(func, "kernel_of_test", &target, arena, &launches);
    if (!st) st = print(&launches, &target, "cl", &text);
    if (!st) st = load_and_run(func, &launches, &text, args, arena);
    if (getenv("HONE_SHOW") && text.length) fputs(hone_str_text(&text), stderr);
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
    return st;
}
