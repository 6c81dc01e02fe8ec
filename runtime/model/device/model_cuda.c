/* runtime/model/device/model_cuda.c - an NVIDIA card as models use it (model_device.h): the
 * driver's primary context, shared with other libraries of the process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/device/cuda_driver.h"
#include "runtime/model/driver_impl.h"
#include "runtime/model/model_device.h"

enum { OUT_OF_MEMORY = 2, LOG_BYTES = 2048 };

typedef struct cuda_device {
    hone_mt_device base; /* first: a cuda_device * is a hone_mt_device * */
    hone_cuda_driver cu;
    struct CUctx_st *context;
    struct CUstream_st *stream; /* on which all runs */
    struct CUstream_st *notes;  /* of graphs: one that nobody else's work has to do with */
    struct CUstream_st *now;    /* one of the two */
    int number;                 /* the driver's, of the card */
} cuda_device;

static cuda_device *as_cuda(hone_mt_device *device) {
    return (cuda_device *)device;
}

/* ---- errors ---- */

static const char *error_name(const cuda_device *self, unsigned int code) {
    const char *name = NULL;
    return self->cu.error_name(code, &name) || !name ? "an unknown error" : name;
}

static const char *error_text(const cuda_device *self, unsigned int code) {
    const char *text = NULL;
    return self->cu.error_text(code, &text) || !text ? "" : text;
}

/* A context that has ended says so to everybody who waits; while a graph is noted nobody may. */
static int32_t failed(cuda_device *self, unsigned int code, const char *what) {
    if (!code) return HONE_MODEL_OK;
    bool may_wait = self->stream && self->now == self->stream;
    if (code != OUT_OF_MEMORY && may_wait && self->cu.stream_wait(self->stream))
        self->base.is_lost = true;
    return hone_mt_fail(code == OUT_OF_MEMORY ? HONE_MODEL_NO_MEMORY : HONE_MODEL_FAILED,
                        "%s: %s, %s%s", what, error_name(self, code), error_text(self, code),
                        self->base.is_lost ? ": the context on the card has ended" : "");
}

static int32_t not_there(const cuda_device *self, unsigned int code, const char *what) {
    if (!code) return HONE_MODEL_OK;
    return hone_mt_fail(HONE_MODEL_NO_DEVICE, "%s: %s, %s", what, error_name(self, code),
                        error_text(self, code));
}

/* ---- opening ---- */

static int32_t cuda_choose(const DLTensor *tensor, hone_mt_device_choice *out_choice) {
    out_choice->ordinal = tensor->device.device_id;
    return HONE_MODEL_OK;
}

static int32_t find_card(cuda_device *self, int32_t ordinal) {
    int count = 0;
    int32_t code = not_there(self, self->cu.init(0), "the CUDA driver does not start");
    if (!code) code = not_there(self, self->cu.device_count(&count), "counting NVIDIA cards");
    if (code) return code;
    if (ordinal < 0 || ordinal >= count) {
        return hone_mt_fail(HONE_MODEL_NO_DEVICE, "there is no NVIDIA card %d: %d found",
                            (int)ordinal, count);
    }
    return not_there(self, self->cu.device_get(&self->number, ordinal), "finding the NVIDIA card");
}

static int32_t cuda_enter(hone_mt_device *device) {
    cuda_device *self = as_cuda(device);
    return not_there(self, self->cu.context_push(self->context), "entering the card's context");
}

static void cuda_leave(hone_mt_device *device) {
    struct CUctx_st *left = NULL;
    (void)as_cuda(device)->cu.context_pop(&left);
}

/* Not "non-blocking": it waits for what others began on the default stream. */
static int32_t make_stream(cuda_device *self) {
    int32_t code = not_there(self, self->cu.context_retain(&self->context, self->number),
                             "making a context on the card");
    if (code) {
        self->context = NULL;
        return code;
    }
    code = cuda_enter(&self->base);
    if (code) return code;
    code = not_there(self, self->cu.stream_create(&self->stream, 0), "making a stream");
    if (code) self->stream = NULL;
    if (!code) {
        code = not_there(self, self->cu.stream_create(&self->notes, HONE_CU_STREAM_NON_BLOCKING),
                         "making a stream");
        if (code) self->notes = NULL;
    }
    self->now = self->stream;
    cuda_leave(&self->base);
    return code;
}

static void cuda_close(hone_mt_device *device) {
    cuda_device *self = as_cuda(device);
    if (self->stream && self->cu.context_push(self->context) == 0) {
        (void)self->cu.stream_destroy(self->stream);
        if (self->notes) (void)self->cu.stream_destroy(self->notes);
        cuda_leave(device);
    }
    if (self->context) (void)self->cu.context_release(self->number);
    free(self);
}

static int32_t cuda_open(const hone_mt_device_choice *choice, hone_mt_device **out_device) {
    char why[256];
    cuda_device *self = calloc(1, sizeof *self);
    if (!self) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    self->base.table = &hone_mt_cuda_table;
    int32_t code = HONE_MODEL_OK;
    if (!hone_cuda_driver_open(NULL, &self->cu, why, sizeof why))
        code = hone_mt_fail(HONE_MODEL_NO_DEVICE, "%s", why);
    if (!code) code = find_card(self, choice->ordinal);
    if (!code) code = make_stream(self);
    if (code) {
        cuda_close(&self->base);
        return code;
    }
    *out_device = &self->base;
    return HONE_MODEL_OK;
}

/* ---- memory ---- */

static int32_t cuda_alloc(hone_mt_device *device, int64_t bytes, hone_mt_memory *out_memory) {
    cuda_device *self = as_cuda(device);
    unsigned long long address = 0;
    unsigned int code = self->cu.memory_alloc(&address, (size_t)bytes);
    char what[64];
    *out_memory = code ? 0 : address;
    snprintf(what, sizeof what, "%lld bytes on the card", (long long)bytes);
    return failed(self, code, what);
}

static void cuda_release(hone_mt_device *device, hone_mt_memory memory) {
    (void)as_cuda(device)->cu.memory_free(memory);
}

static int32_t cuda_part(hone_mt_device *device, hone_mt_memory whole, int64_t offset,
                         int64_t bytes, hone_mt_memory *out_part) {
    (void)device;
    (void)bytes;
    *out_part = whole + (uint64_t)offset;
    return HONE_MODEL_OK;
}

static void cuda_drop(hone_mt_device *device, hone_mt_memory part) {
    (void)device;
    (void)part;
}

static bool cuda_is_fit(const DLTensor *tensor, hone_mt_memory *out_memory) {
    *out_memory = (uintptr_t)tensor->data + tensor->byte_offset;
    return *out_memory % HONE_MT_ALIGNMENT == 0;
}

static int32_t cuda_wait(hone_mt_device *device) {
    cuda_device *self = as_cuda(device);
    return failed(self, self->cu.stream_wait(self->stream), "waiting for the card");
}

/* Of pageable memory the driver has a copy when it returns. */
static int32_t cuda_copy_in(hone_mt_device *device, hone_mt_memory to, const void *from,
                            int64_t bytes) {
    cuda_device *self = as_cuda(device);
    unsigned int code = bytes ? self->cu.copy_in(to, from, (size_t)bytes, self->now) : 0;
    return failed(self, code, "copying to the card");
}

static int32_t cuda_copy_out(hone_mt_device *device, void *to, hone_mt_memory from, int64_t bytes) {
    cuda_device *self = as_cuda(device);
    if (bytes == 0) return HONE_MODEL_OK;
    int32_t code = failed(self, self->cu.copy_out(to, from, (size_t)bytes, self->now),
                          "copying from the card");
    return code ? code : cuda_wait(device);
}

static int32_t cuda_copy_within(hone_mt_device *device, hone_mt_memory to, int64_t to_offset,
                                hone_mt_memory from, int64_t from_offset, int64_t bytes) {
    cuda_device *self = as_cuda(device);
    if (bytes == 0) return HONE_MODEL_OK;
    return failed(self,
                  self->cu.copy_within(to + (uint64_t)to_offset, from + (uint64_t)from_offset,
                                       (size_t)bytes, self->now),
                  "copying on the card");
}

/* ---- code ---- */

static int32_t cuda_load(hone_mt_device *device, const hone_mt_program *program,
                         void **out_module) {
    cuda_device *self = as_cuda(device);
    char log[LOG_BYTES] = "";
    unsigned int options[] = {HONE_CU_JIT_ERROR_LOG_BUFFER, HONE_CU_JIT_ERROR_LOG_BUFFER_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log}; /* a number where one is asked for */
    struct CUmod_st *module = NULL;
    unsigned int code = self->cu.module_load(&module, program->code, 2, options, values);
    *out_module = module;
    if (!code) return HONE_MODEL_OK;
    *out_module = NULL;
    return hone_mt_fail(code == OUT_OF_MEMORY ? HONE_MODEL_NO_MEMORY : HONE_MODEL_NO_DEVICE,
                        "this card does not take the kernels of '%s': %s%s%.*s", program->name,
                        error_name(self, code), log[0] ? ": " : "", (int)strcspn(log, "\r\n"), log);
}

static void cuda_unload(hone_mt_device *device, void *module) {
    (void)as_cuda(device)->cu.module_unload(module);
}

/* Without being asked a card gives 48 KiB, of which a kernel's own arrays take some. */
static int32_t cuda_find(hone_mt_device *device, void *module, const char *symbol,
                         int64_t shared_bytes, void **out_function) {
    cuda_device *self = as_cuda(device);
    struct CUfunc_st *function = NULL;
    char what[160];
    unsigned int code = self->cu.module_find(&function, module, symbol);
    snprintf(what, sizeof what, "finding the kernel '%.80s'", symbol);
    if (!code && shared_bytes > 0) {
        snprintf(what, sizeof what, "%lld bytes of shared memory for '%.80s'",
                 (long long)shared_bytes, symbol);
        code =
            self->cu.function_set(function, HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)shared_bytes);
    }
    *out_function = code ? NULL : function;
    return failed(self, code, what);
}

static void cuda_forget(hone_mt_device *device, void *function) {
    (void)device;
    (void)function;
}

static int32_t cuda_launch(hone_mt_device *device, void *function, const hone_mt_dims *dims,
                           uint64_t *params, int32_t param_count) {
    cuda_device *self = as_cuda(device);
    void *at[HONE_MT_MAX_PARAMS];
    for (int32_t i = 0; i < param_count; i++)
        at[i] = &params[i];
    return failed(self,
                  self->cu.launch(function, dims->grid[0], dims->grid[1], dims->grid[2],
                                  dims->block[0], dims->block[1], dims->block[2],
                                  dims->shared_bytes, self->now, at, NULL),
                  "launching a kernel");
}

/* ---- graphs ---- */

/* ---- marks ---- */

static int32_t cuda_mark(hone_mt_device *device, void **out_mark) {
    cuda_device *self = as_cuda(device);
    struct CUevent_st *event = NULL;
    *out_mark = NULL;
    int32_t code = failed(self, self->cu.event_create(&event, 0), "making an event");
    if (code) return code;
    code = failed(self, self->cu.event_record(event, self->now), "recording an event");
    if (code)
        (void)self->cu.event_destroy(event);
    else
        *out_mark = event;
    return code;
}

static int32_t cuda_elapsed(hone_mt_device *device, void *from, void *to, int64_t *out_ns) {
    cuda_device *self = as_cuda(device);
    float ms = 0;
    int32_t code = failed(self, self->cu.event_elapsed(&ms, from, to), "reading events");
    *out_ns = (int64_t)((double)ms * 1e6);
    return code;
}

static void cuda_unmark(hone_mt_device *device, void *mark) {
    (void)as_cuda(device)->cu.event_destroy(mark);
}

static int32_t cuda_capture_begin(hone_mt_device *device) {
    cuda_device *self = as_cuda(device);
    int32_t code = failed(self, self->cu.capture_begin(self->notes, HONE_CU_CAPTURE_THREAD_LOCAL),
                          "noting a graph");
    if (!code) self->now = self->notes;
    return code;
}

static int32_t cuda_capture_end(hone_mt_device *device, void **out_graph) {
    cuda_device *self = as_cuda(device);
    struct CUgraph_st *graph = NULL;
    struct CUgraphExec_st *prepared = NULL;
    *out_graph = NULL;
    self->now = self->stream;
    int32_t code =
        failed(self, self->cu.capture_end(self->notes, &graph), "ending the notes of a graph");
    if (code || !graph) return code;
    code = failed(self, self->cu.graph_prepare(&prepared, graph, 0), "preparing a graph");
    (void)self->cu.graph_destroy(graph);
    if (!code) *out_graph = prepared;
    return code;
}

static int32_t cuda_graph_launch(hone_mt_device *device, void *graph) {
    cuda_device *self = as_cuda(device);
    return failed(self, self->cu.graph_launch(graph, self->stream), "launching the graph");
}

static void cuda_graph_destroy(hone_mt_device *device, void *graph) {
    (void)as_cuda(device)->cu.graph_end(graph);
}

const hone_mt_device_table hone_mt_cuda_table = {
    .name = "CUDA",
    .types = {2, 13},
    .has_addresses = true,
    .choose = cuda_choose,
    .open = cuda_open,
    .close = cuda_close,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .part = cuda_part,
    .drop = cuda_drop,
    .is_fit = cuda_is_fit,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .copy_within = cuda_copy_within,
    .load = cuda_load,
    .unload = cuda_unload,
    .find = cuda_find,
    .forget = cuda_forget,
    .launch = cuda_launch,
    .wait = cuda_wait,
    .mark = cuda_mark,
    .elapsed = cuda_elapsed,
    .unmark = cuda_unmark,
    .capture_begin = cuda_capture_begin,
    .capture_end = cuda_capture_end,
    .graph_launch = cuda_graph_launch,
    .graph_destroy = cuda_graph_destroy,
};
