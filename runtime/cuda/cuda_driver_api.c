/* runtime/cuda/cuda_driver_api.c - the table by the CUDA driver. */
#include <stdio.h>

#include "runtime/cuda/cuda_api.h"
#include "support/core/alloc.h"

typedef struct driver_api {
    hone_cuda base; /* first: a driver_api * is a hone_cuda * */
    hone_cuda_driver cu;
    int device; /* whose context is retained; -1: none */
    struct CUctx_st *context;
    struct CUstream_st *stream;
} driver_api;

static driver_api *as_driver(hone_cuda *base) {
    return (driver_api *)base;
}

#define CU(self) (&as_driver(self)->cu)
#define STREAM(self) (as_driver(self)->stream)
#define RETURN_IF(expr)                                                                            \
    do {                                                                                           \
        hone_cuda_code code_ = (hone_cuda_code)(expr);                                             \
        if (code_) return code_;                                                                   \
    } while (0)

static hone_cuda_code driver_device_count(hone_cuda *self, int *out_count) {
    return (hone_cuda_code)CU(self)->device_count(out_count);
}

static hone_cuda_code ask(hone_cuda *self, int ordinal, int attribute, int *value) {
    int device;
    RETURN_IF(CU(self)->device_get(&device, ordinal));
    return (hone_cuda_code)CU(self)->device_fact(value, (unsigned)attribute, device);
}

static hone_cuda_code driver_describe(hone_cuda *self, int ordinal, hone_cuda_facts *out_facts) {
    int device;
    size_t bytes = 0;
    RETURN_IF(CU(self)->device_get(&device, ordinal));
    RETURN_IF(CU(self)->device_name(out_facts->name, (int)sizeof out_facts->name, device));
    RETURN_IF(CU(self)->device_memory(&bytes, device));
    out_facts->memory_bytes = (int64_t)bytes;
    return hone_cuda_facts_ask(self, ordinal, ask, out_facts);
}

static void driver_leave(hone_cuda *self) {
    driver_api *api = as_driver(self);
    struct CUctx_st *popped = NULL;
    if (api->device < 0) return;
    if (api->stream) (void)api->cu.stream_destroy(api->stream);
    (void)api->cu.context_pop(&popped);
    (void)api->cu.context_release(api->device);
    api->stream = NULL;
    api->device = -1;
}

static hone_cuda_code driver_enter(hone_cuda *self, int ordinal) {
    driver_api *api = as_driver(self);
    int device;
    RETURN_IF(api->cu.device_get(&device, ordinal));
    RETURN_IF(api->cu.context_retain(&api->context, device));
    hone_cuda_code code = (hone_cuda_code)api->cu.context_push(api->context);
    if (code) {
        (void)api->cu.context_release(device);
        return code;
    }
    api->device = device;
    code = (hone_cuda_code)api->cu.stream_create(&api->stream, HONE_CU_STREAM_NON_BLOCKING);
    if (code) driver_leave(self);
    return code;
}

static hone_cuda_code driver_alloc(hone_cuda *self, size_t bytes, hone_cuda_address *out_address) {
    unsigned long long address = 0;
    hone_cuda_code code = (hone_cuda_code)CU(self)->memory_alloc(&address, bytes);
    *out_address = address;
    return code;
}

static hone_cuda_code driver_release(hone_cuda *self, hone_cuda_address address) {
    return (hone_cuda_code)CU(self)->memory_free(address);
}

static hone_cuda_code driver_wait(hone_cuda *self) {
    return (hone_cuda_code)CU(self)->stream_wait(STREAM(self));
}

static hone_cuda_code driver_copy_in(hone_cuda *self, hone_cuda_address to, const void *from,
                                     size_t bytes) {
    RETURN_IF(CU(self)->copy_in(to, from, bytes, STREAM(self)));
    return driver_wait(self);
}

static hone_cuda_code driver_copy_out(hone_cuda *self, void *to, hone_cuda_address from,
                                      size_t bytes) {
    RETURN_IF(CU(self)->copy_out(to, from, bytes, STREAM(self)));
    return driver_wait(self);
}

static hone_cuda_code driver_fill(hone_cuda *self, hone_cuda_address to, uint8_t byte,
                                  size_t bytes) {
    return (hone_cuda_code)CU(self)->fill(to, byte, bytes, STREAM(self));
}

static hone_cuda_code driver_event_create(hone_cuda *self, struct CUevent_st **out_event) {
    return (hone_cuda_code)CU(self)->event_create(out_event, 0);
}

static void driver_event_destroy(hone_cuda *self, struct CUevent_st *event) {
    (void)CU(self)->event_destroy(event);
}

static hone_cuda_code driver_event_record(hone_cuda *self, struct CUevent_st *event) {
    return (hone_cuda_code)CU(self)->event_record(event, STREAM(self));
}

static hone_cuda_code driver_event_elapsed(hone_cuda *self, struct CUevent_st *from,
                                           struct CUevent_st *to, float *out_ms) {
    return (hone_cuda_code)CU(self)->event_elapsed(out_ms, from, to);
}

static hone_cuda_code driver_load(hone_cuda *self, const void *image, char *log,
                                  size_t log_capacity, void **out_module) {
    unsigned int options[] = {HONE_CU_JIT_ERROR_LOG_BUFFER, HONE_CU_JIT_ERROR_LOG_BUFFER_BYTES};
    void *values[] = {log, (void *)(uintptr_t)log_capacity}; /* a number where one is asked for */
    struct CUmod_st *module = NULL;
    log[0] = 0;
    hone_cuda_code code = (hone_cuda_code)CU(self)->module_load(&module, image, 2, options, values);
    *out_module = module;
    return code;
}

static void driver_unload(hone_cuda *self, void *module) {
    (void)CU(self)->module_unload(module);
}

static hone_cuda_code driver_find(hone_cuda *self, void *module, const char *symbol,
                                  void **out_function) {
    struct CUfunc_st *function = NULL;
    hone_cuda_code code = (hone_cuda_code)CU(self)->module_find(&function, module, symbol);
    *out_function = function;
    return code;
}

static hone_cuda_code driver_allow_shared(hone_cuda *self, void *function, int32_t bytes) {
    return (hone_cuda_code)CU(self)->function_set(function, HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED,
                                                  bytes);
}

static hone_cuda_code driver_launch(hone_cuda *self, void *function, const hone_cuda_dims *dims,
                                    void **params) {
    return (hone_cuda_code)CU(self)->launch(function, dims->grid[0], dims->grid[1], dims->grid[2],
                                            dims->block[0], dims->block[1], dims->block[2],
                                            dims->shared_bytes, STREAM(self), params, NULL);
}

static hone_cuda_code driver_capture_begin(hone_cuda *self) {
    return (hone_cuda_code)CU(self)->capture_begin(STREAM(self), HONE_CU_CAPTURE_THREAD_LOCAL);
}

static hone_cuda_code driver_capture_end(hone_cuda *self, struct CUgraphExec_st **out_graph) {
    struct CUgraph_st *graph = NULL;
    RETURN_IF(CU(self)->capture_end(STREAM(self), &graph));
    hone_cuda_code code = (hone_cuda_code)CU(self)->graph_prepare(out_graph, graph, 0);
    (void)CU(self)->graph_destroy(graph);
    return code;
}

static hone_cuda_code driver_graph_launch(hone_cuda *self, struct CUgraphExec_st *graph) {
    return (hone_cuda_code)CU(self)->graph_launch(graph, STREAM(self));
}

static void driver_graph_destroy(hone_cuda *self, struct CUgraphExec_st *graph) {
    (void)CU(self)->graph_end(graph);
}

static const char *driver_error_name(hone_cuda *self, hone_cuda_code code) {
    const char *name = NULL;
    if (CU(self)->error_name((unsigned)code, &name) || !name) return "an unknown error of CUDA";
    return name;
}

static const char *driver_error_text(hone_cuda *self, hone_cuda_code code) {
    const char *text = NULL;
    if (CU(self)->error_text((unsigned)code, &text) || !text) return "";
    return text;
}

static void driver_destroy(hone_cuda *self) {
    driver_leave(self);
    hone_free(self);
}

static const hone_cuda_table driver_table = {
    .name = "driver",
    .device_count = driver_device_count,
    .describe = driver_describe,
    .enter = driver_enter,
    .leave = driver_leave,
    .alloc = driver_alloc,
    .release = driver_release,
    .copy_in = driver_copy_in,
    .copy_out = driver_copy_out,
    .fill = driver_fill,
    .wait = driver_wait,
    .event_create = driver_event_create,
    .event_destroy = driver_event_destroy,
    .event_record = driver_event_record,
    .event_elapsed = driver_event_elapsed,
    .load = driver_load,
    .unload = driver_unload,
    .find = driver_find,
    .allow_shared = driver_allow_shared,
    .launch = driver_launch,
    .capture_begin = driver_capture_begin,
    .capture_end = driver_capture_end,
    .graph_launch = driver_graph_launch,
    .graph_destroy = driver_graph_destroy,
    .error_name = driver_error_name,
    .error_text = driver_error_text,
    .destroy = driver_destroy,
};

hone_status hone_cuda_open_driver(const char *path, hone_cuda **out_cuda) {
    char why[256];
    *out_cuda = NULL;
    driver_api *api = hone_calloc(1, sizeof *api);
    if (!api) return HONE_ERROR(HONE_CODE_NO_MEMORY, "CUDA driver");
    api->base.table = &driver_table;
    api->device = -1;
    if (!hone_cuda_driver_open(path, &api->cu, why, sizeof why)) {
        hone_free(api);
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", why);
    }
    hone_cuda_code code = (hone_cuda_code)api->cu.init(0);
    if (code) {
        hone_status st =
            HONE_ERROR(HONE_CODE_UNAVAILABLE, "the CUDA driver does not start: %s, %s",
                       driver_error_name(&api->base, code), driver_error_text(&api->base, code));
        hone_free(api);
        return st;
    }
    *out_cuda = &api->base;
    return HONE_OK;
}
