/* runtime/cuda/cudart_api.c - the table by the CUDA runtime, which finds the driver itself. */
#include "runtime/cuda/cudart_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cuda/cuda_api.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"

#define OLDEST 12080 /* 12.8: cudaLibraryLoadData */

/* clang-format off */
static const struct row {
    const char *symbol;
    size_t offset;
} rows[] = {
#define HONE_CUDART(member, symbol, parameters) {#symbol, offsetof(hone_cudart, member)},
#include "runtime/cuda/cudart.def"
#undef HONE_CUDART
    {"cudaGetErrorName",   offsetof(hone_cudart, error_name)},
    {"cudaGetErrorString", offsetof(hone_cudart, error_text)},
};
/* clang-format on */

typedef struct runtime_api {
    hone_cuda base; /* first: a runtime_api * is a hone_cuda * */
    hone_cudart rt;
    void *library; /* owned */
    int ordinal;   /* whose context is current; -1: none */
    struct CUstream_st *stream;
} runtime_api;

enum { COPY_IN = 1, COPY_OUT = 2 };

static runtime_api *as_runtime(hone_cuda *base) {
    return (runtime_api *)base;
}

#define RT(self) (&as_runtime(self)->rt)
#define STREAM(self) (as_runtime(self)->stream)

/* A failure is also kept for whoever asks for the last one: nobody else shall find it. */
static hone_cuda_code told(hone_cuda *self, unsigned int code) {
    if (code) (void)RT(self)->last_error();
    return (hone_cuda_code)code;
}

#define RETURN_IF(self, expr)                                                                      \
    do {                                                                                           \
        hone_cuda_code code_ = told(self, expr);                                                   \
        if (code_) return code_;                                                                   \
    } while (0)

static void *pointer(hone_cuda_address address) {
    return (void *)(uintptr_t)address;
}

static hone_cuda_code runtime_device_count(hone_cuda *self, int *out_count) {
    return told(self, RT(self)->device_count(out_count));
}

static hone_cuda_code ask(hone_cuda *self, int ordinal, int attribute, int *value) {
    return told(self, RT(self)->device_fact(value, (unsigned)attribute, ordinal));
}

static hone_cuda_code runtime_describe(hone_cuda *self, int ordinal, hone_cuda_facts *out_facts) {
    hone_cudart_facts facts = {.name = {0}};
    RETURN_IF(self, RT(self)->device_describe((struct cudaDeviceProp *)&facts, ordinal));
    snprintf(out_facts->name, sizeof out_facts->name, "%.*s", (int)sizeof out_facts->name - 1,
             facts.name);
    out_facts->memory_bytes = (int64_t)facts.memory_bytes;
    return hone_cuda_facts_ask(self, ordinal, ask, out_facts);
}

/* The context stays: it is the process's, and others may use it. */
static void runtime_leave(hone_cuda *self) {
    runtime_api *api = as_runtime(self);
    if (api->stream) (void)told(self, api->rt.stream_destroy(api->stream));
    api->stream = NULL;
    api->ordinal = -1;
}

static hone_cuda_code runtime_enter(hone_cuda *self, int ordinal) {
    runtime_api *api = as_runtime(self);
    RETURN_IF(self, api->rt.device_use(ordinal));
    RETURN_IF(self, api->rt.stream_create(&api->stream, HONE_CU_STREAM_NON_BLOCKING));
    api->ordinal = ordinal;
    return 0;
}

static hone_cuda_code runtime_alloc(hone_cuda *self, size_t bytes, hone_cuda_address *out_address) {
    void *memory = NULL;
    hone_cuda_code code = told(self, RT(self)->memory_alloc(&memory, bytes));
    *out_address = (uintptr_t)memory;
    return code;
}

static hone_cuda_code runtime_release(hone_cuda *self, hone_cuda_address address) {
    return told(self, RT(self)->memory_free(pointer(address)));
}

static hone_cuda_code runtime_wait(hone_cuda *self) {
    return told(self, RT(self)->stream_wait(STREAM(self)));
}

static hone_cuda_code runtime_copy_in(hone_cuda *self, hone_cuda_address to, const void *from,
                                      size_t bytes) {
    RETURN_IF(self, RT(self)->copy(pointer(to), from, bytes, COPY_IN, STREAM(self)));
    return runtime_wait(self);
}

static hone_cuda_code runtime_copy_out(hone_cuda *self, void *to, hone_cuda_address from,
                                       size_t bytes) {
    RETURN_IF(self, RT(self)->copy(to, pointer(from), bytes, COPY_OUT, STREAM(self)));
    return runtime_wait(self);
}

static hone_cuda_code runtime_fill(hone_cuda *self, hone_cuda_address to, uint8_t byte,
                                   size_t bytes) {
    return told(self, RT(self)->fill(pointer(to), byte, bytes, STREAM(self)));
}

static hone_cuda_code runtime_event_create(hone_cuda *self, struct CUevent_st **out_event) {
    return told(self, RT(self)->event_create(out_event, 0));
}

static void runtime_event_destroy(hone_cuda *self, struct CUevent_st *event) {
    (void)told(self, RT(self)->event_destroy(event));
}

static hone_cuda_code runtime_event_record(hone_cuda *self, struct CUevent_st *event) {
    return told(self, RT(self)->event_record(event, STREAM(self)));
}

static hone_cuda_code runtime_event_elapsed(hone_cuda *self, struct CUevent_st *from,
                                            struct CUevent_st *to, float *out_ms) {
    return told(self, RT(self)->event_elapsed(out_ms, from, to));
}

static hone_cuda_code runtime_load(hone_cuda *self, const void *image, char *log,
                                   size_t log_capacity, void **out_module) {
    unsigned int options[] = {HONE_CU_JIT_ERROR_LOG_BUFFER, HONE_CU_JIT_ERROR_LOG_BUFFER_BYTES};
    void *values[] = {log, pointer(log_capacity)}; /* a number where one is asked for */
    struct CUlib_st *library = NULL;
    log[0] = 0;
    hone_cuda_code code =
        told(self, RT(self)->module_load(&library, image, options, values, 2, NULL, NULL, 0));
    *out_module = library;
    return code;
}

static void runtime_unload(hone_cuda *self, void *module) {
    (void)told(self, RT(self)->module_unload(module));
}

static hone_cuda_code runtime_find(hone_cuda *self, void *module, const char *symbol,
                                   void **out_function) {
    struct CUkern_st *kernel = NULL;
    hone_cuda_code code = told(self, RT(self)->module_find(&kernel, module, symbol));
    *out_function = kernel;
    return code;
}

static hone_cuda_code runtime_allow_shared(hone_cuda *self, void *function, int32_t bytes) {
    return told(self, RT(self)->function_set(function, HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED, bytes,
                                             as_runtime(self)->ordinal));
}

static hone_cuda_code runtime_launch(hone_cuda *self, void *function, const hone_cuda_dims *dims,
                                     void **params) {
    hone_cudart_launch how = {.shared_bytes = dims->shared_bytes, .stream = STREAM(self)};
    memcpy(how.grid, dims->grid, sizeof how.grid);
    memcpy(how.block, dims->block, sizeof how.block);
    return told(self, RT(self)->launch((const struct cudaLaunchConfig_st *)&how, function, params));
}

static hone_cuda_code runtime_capture_begin(hone_cuda *self) {
    return told(self, RT(self)->capture_begin(STREAM(self), HONE_CU_CAPTURE_THREAD_LOCAL));
}

static hone_cuda_code runtime_capture_end(hone_cuda *self, struct CUgraphExec_st **out_graph) {
    struct CUgraph_st *graph = NULL;
    RETURN_IF(self, RT(self)->capture_end(STREAM(self), &graph));
    hone_cuda_code code = told(self, RT(self)->graph_prepare(out_graph, graph, 0));
    (void)told(self, RT(self)->graph_destroy(graph));
    return code;
}

static hone_cuda_code runtime_graph_launch(hone_cuda *self, struct CUgraphExec_st *graph) {
    return told(self, RT(self)->graph_launch(graph, STREAM(self)));
}

static void runtime_graph_destroy(hone_cuda *self, struct CUgraphExec_st *graph) {
    (void)told(self, RT(self)->graph_end(graph));
}

static const char *runtime_error_name(hone_cuda *self, hone_cuda_code code) {
    return RT(self)->error_name((unsigned)code);
}

static const char *runtime_error_text(hone_cuda *self, hone_cuda_code code) {
    return RT(self)->error_text((unsigned)code);
}

static void runtime_destroy(hone_cuda *self) {
    runtime_leave(self);
    dlclose(as_runtime(self)->library);
    hone_free(self);
}

static const hone_cuda_table runtime_table = {
    .name = "runtime",
    .device_count = runtime_device_count,
    .describe = runtime_describe,
    .enter = runtime_enter,
    .leave = runtime_leave,
    .alloc = runtime_alloc,
    .release = runtime_release,
    .copy_in = runtime_copy_in,
    .copy_out = runtime_copy_out,
    .fill = runtime_fill,
    .wait = runtime_wait,
    .event_create = runtime_event_create,
    .event_destroy = runtime_event_destroy,
    .event_record = runtime_event_record,
    .event_elapsed = runtime_event_elapsed,
    .load = runtime_load,
    .unload = runtime_unload,
    .find = runtime_find,
    .allow_shared = runtime_allow_shared,
    .launch = runtime_launch,
    .capture_begin = runtime_capture_begin,
    .capture_end = runtime_capture_end,
    .graph_launch = runtime_graph_launch,
    .graph_destroy = runtime_graph_destroy,
    .error_name = runtime_error_name,
    .error_text = runtime_error_text,
    .destroy = runtime_destroy,
};

/* ---- opening ---- */

static void *open_library(const char *path) {
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so",
                                        "/usr/local/cuda/lib64/libcudart.so"};
    void *library = NULL;
    if (path) return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    for (size_t i = 0; i < HONE_COUNT(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library;
}

/* It is what it says it is before its functions are looked for. */
static hone_status check_version(void *library) {
    unsigned int (*ask_version)(int *version);
    void *symbol = dlsym(library, "cudaRuntimeGetVersion");
    int version = 0;
    if (symbol) {
        memcpy(&ask_version, &symbol, sizeof symbol); /* ISO C has no cast for this */
        (void)ask_version(&version);
    }
    if (version >= OLDEST) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the CUDA runtime is version %d.%d, 12.8 is needed",
                      version / 1000, version % 1000 / 10);
}

static hone_status find_all(void *library, hone_cudart *out) {
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        if (!symbol) {
            return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the CUDA runtime has no %s", rows[i].symbol);
        }
        memcpy((char *)out + rows[i].offset, &symbol, sizeof symbol);
    }
    return HONE_OK;
}

/* Without a driver it says so at the first call. */
static hone_status check_cards(hone_cuda *self) {
    int count = 0;
    hone_cuda_code code = runtime_device_count(self, &count);
    if (!code) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the CUDA runtime does not start: %s, %s",
                      runtime_error_name(self, code), runtime_error_text(self, code));
}

hone_status hone_cuda_open_runtime(const char *path, hone_cuda **out_cuda) {
    *out_cuda = NULL;
    void *library = open_library(path);
    if (!library) {
        const char *why = dlerror();
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "no CUDA runtime: %s", why ? why : "");
    }
    runtime_api *api = hone_calloc(1, sizeof *api);
    hone_status st = api ? check_version(library) : HONE_ERROR(HONE_CODE_NO_MEMORY, "CUDA runtime");
    if (!st) st = find_all(library, &api->rt);
    if (!st) st = check_cards(&api->base);
    if (st) {
        dlclose(library);
        hone_free(api);
        return st;
    }
    api->base.table = &runtime_table;
    api->library = library;
    api->ordinal = -1;
    *out_cuda = &api->base;
    return HONE_OK;
}
