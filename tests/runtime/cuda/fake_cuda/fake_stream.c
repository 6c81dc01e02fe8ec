/* tests/runtime/cuda/fake_cuda/fake_stream.c - what is begun on a card, and graphs of it: see
 * fake_impl.h. What a kernel does wrong is found when it runs, and from then on by every call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/runtime/cuda/fake_cuda/fake_impl.h"
#include "tests/runtime/cuda/fake_cuda/fake_kernels.h"

enum { MAX_THREADS = 1024, MAX_GRID_YZ = 65535 };

/* Kernels that the fake does not know do nothing: the other library, for dry runs. */
#ifdef FAKE_CUDA_ANY
enum { TAKES_ANY = 1 };
#else
enum { TAKES_ANY = 0 };
#endif

#define NS_PER_LAUNCH 1000

typedef enum op_kind { OP_LAUNCH, OP_COPY, OP_FILL, OP_MARK } op_kind;

typedef struct op {
    op_kind kind;
    fake_cuda_launch launch;
    void *to, *staged; /* staged: a copy of what the host had; owned */
    const void *from;
    size_t bytes;
    unsigned char byte;
    struct CUevent_st *event;
} op;

typedef struct ops {
    op *at;
    int count, capacity;
} ops;

struct CUevent_st {
    struct CUctx_st *context;
    int64_t at; /* launches until then; -1: not yet */
    int pending;
    bool is_dropped;
};

struct CUstream_st {
    struct CUstream_st *next;
    struct CUctx_st *context;
    ops begun;
    struct CUgraph_st *notes; /* NULL: what is begun runs */
    bool is_spoiled;
};

struct CUgraph_st {
    ops ops;
};

/* The stream whose graph this thread notes. */
static _Thread_local struct CUstream_st *noting;

bool fake_spoils_capture(void) {
    if (noting) noting->is_spoiled = true;
    return noting != NULL;
}

/* ---- a list of what is to be done ---- */

static unsigned int add(ops *list, const op *one) {
    if (list->count == list->capacity) {
        int capacity = 2 * list->capacity + 8;
        op *at = realloc(list->at, (size_t)capacity * sizeof *at);
        if (!at) return FAKE_OUT_OF_MEMORY;
        list->at = at;
        list->capacity = capacity;
    }
    list->at[list->count++] = *one;
    return 0;
}

static void mark(struct CUevent_st *event, struct CUctx_st *context) {
    event->pending--;
    if (!context->broken) event->at = fake_record.launches;
    if (event->is_dropped && !event->pending) free(event);
}

static void run_launch(const fake_cuda_launch *launch, struct CUctx_st *context) {
    bool is_known = fake_kernel_params(launch->symbol) >= 0;
    unsigned int error = is_known ? fake_kernel_run(launch) : 0;
    fake_record.last = *launch;
    fake_record.launches++;
    if (error == FAKE_HANGS) {
        context->is_hanging = true;
    } else if (error) {
        context->broken = error;
    }
}

static void run_op(const op *o, struct CUctx_st *context) {
    switch (o->kind) {
    case OP_LAUNCH:
        run_launch(&o->launch, context);
        break;
    case OP_COPY:
        memmove(o->to, o->staged ? o->staged : o->from, o->bytes);
        break;
    case OP_FILL:
        memset(o->to, o->byte, o->bytes);
        break;
    case OP_MARK:
        break;
    }
}

static void run_begun(struct CUstream_st *stream) {
    ops list = stream->begun;
    stream->begun = (ops){0};
    for (int i = 0; i < list.count; i++) {
        if (!stream->context->broken) run_op(&list.at[i], stream->context);
        if (list.at[i].kind == OP_MARK) mark(list.at[i].event, stream->context);
        free(list.at[i].staged);
    }
    free(list.at);
}

void fake_settle(struct CUctx_st *context) {
    for (struct CUstream_st *s = context->streams; s; s = s->next)
        run_begun(s);
}

static void free_graph(struct CUgraph_st *graph) {
    if (graph) free(graph->ops.at);
    free(graph);
}

static void free_stream(struct CUstream_st *stream) {
    run_begun(stream);
    if (noting == stream) noting = NULL;
    free_graph(stream->notes);
    free(stream);
}

void fake_end_streams(struct CUctx_st *context) {
    while (context->streams) {
        struct CUstream_st *stream = context->streams;
        context->streams = stream->next;
        free_stream(stream);
    }
    context->plain = NULL;
}

/* ---- streams ---- */

static struct CUstream_st *make_stream(struct CUctx_st *context) {
    struct CUstream_st *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->context = context;
    made->next = context->streams;
    context->streams = made;
    return made;
}

/* The stream as it is meant in this context; NULL: it is one of another. */
static struct CUstream_st *stream_in(struct CUctx_st *context, struct CUstream_st *stream) {
    if (stream) return stream->context == context ? stream : NULL;
    if (!context->plain) context->plain = make_stream(context);
    return context->plain;
}

static unsigned int begin(struct CUctx_st *context, struct CUstream_st *given, const op *one) {
    struct CUstream_st *stream = stream_in(context, given);
    if (!stream) return FAKE_INVALID_HANDLE;
    if (!stream->notes) return add(&stream->begun, one);
    if (one->kind != OP_MARK && !one->staged) return add(&stream->notes->ops, one);
    stream->is_spoiled = true;
    return FAKE_CAPTURE_UNSUPPORTED;
}

/* Until all that was begun there has run. */
static unsigned int wait_for(struct CUctx_st *context, struct CUstream_st *given) {
    struct CUstream_st *stream = stream_in(context, given);
    if (!stream) return FAKE_INVALID_HANDLE;
    if (stream->notes || fake_spoils_capture()) return FAKE_CAPTURE_UNSUPPORTED;
    run_begun(stream);
    while (context->is_hanging)
        pause();
    return context->broken;
}

unsigned int cuStreamCreate(struct CUstream_st **stream, unsigned int flags) {
    FAKE_BEGIN_APART(context);
    (void)flags;
    *stream = make_stream(context);
    return *stream ? 0 : FAKE_OUT_OF_MEMORY;
}

unsigned int cuStreamDestroy_v2(struct CUstream_st *stream) {
    FAKE_BEGIN();
    struct CUctx_st *context = stream->context;
    for (struct CUstream_st **at = &context->streams; *at; at = &(*at)->next) {
        if (*at != stream) continue;
        *at = stream->next;
        free_stream(stream);
        return context->broken;
    }
    return FAKE_INVALID_HANDLE;
}

unsigned int cuStreamSynchronize(struct CUstream_st *stream) {
    FAKE_BEGIN_IN(context);
    return wait_for(context, stream);
}

unsigned int cuCtxSynchronize(void) {
    FAKE_BEGIN_APART(context);
    fake_settle(context);
    return wait_for(context, NULL);
}

/* ---- copies ---- */

/* The host may change what it had as soon as this returns. */
unsigned int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                                  struct CUstream_st *stream) {
    FAKE_BEGIN_IN(context);
    op o = {.kind = OP_COPY, .to = (void *)(uintptr_t)to, .staged = malloc(bytes), .bytes = bytes};
    if (!o.staged) return FAKE_OUT_OF_MEMORY;
    memcpy(o.staged, from, bytes);
    fake_record.copies++;
    unsigned int code = begin(context, stream, &o);
    if (code) free(o.staged);
    return code;
}

/* To memory that the driver does not know it is there when this returns. */
unsigned int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                                  struct CUstream_st *stream) {
    FAKE_BEGIN_IN(context);
    unsigned int code = wait_for(context, stream);
    if (code) return code;
    fake_record.copies++;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

unsigned int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                                  struct CUstream_st *stream) {
    FAKE_BEGIN_IN(context);
    const op o = {.kind = OP_COPY,
                  .to = (void *)(uintptr_t)to,
                  .from = (const void *)(uintptr_t)from,
                  .bytes = bytes};
    fake_record.copies++;
    return begin(context, stream, &o);
}

unsigned int cuMemsetD8Async(unsigned long long to, unsigned char byte, size_t bytes,
                             struct CUstream_st *stream) {
    FAKE_BEGIN_IN(context);
    const op o = {.kind = OP_FILL, .to = (void *)(uintptr_t)to, .bytes = bytes, .byte = byte};
    return begin(context, stream, &o);
}

unsigned int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
    FAKE_BEGIN_APART(context);
    fake_settle(context);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return context->broken;
}

unsigned int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
    FAKE_BEGIN_APART(context);
    fake_settle(context);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return context->broken;
}

/* ---- events ---- */

unsigned int cuEventCreate(struct CUevent_st **event, unsigned int flags) {
    FAKE_BEGIN_IN(context);
    (void)flags;
    struct CUevent_st *made = calloc(1, sizeof *made);
    if (!made) return FAKE_OUT_OF_MEMORY;
    made->context = context;
    made->at = -1;
    fake_record.events++;
    *event = made;
    return 0;
}

/* Also while it waits to be recorded. */
unsigned int cuEventDestroy_v2(struct CUevent_st *event) {
    FAKE_BEGIN();
    unsigned int broken = event->context->broken;
    fake_record.events--;
    event->is_dropped = true;
    if (!event->pending) free(event);
    return broken;
}

unsigned int cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream) {
    FAKE_BEGIN_IN(context);
    const op o = {.kind = OP_MARK, .event = event};
    if (event->context != context) return FAKE_INVALID_HANDLE;
    unsigned int code = begin(context, stream, &o);
    if (!code) event->pending++;
    return code;
}

/* Each launch takes the same time. */
unsigned int cuEventElapsedTime(float *ms, struct CUevent_st *from, struct CUevent_st *to) {
    FAKE_BEGIN_IN(context);
    if (from->context != context || to->context != context) return FAKE_INVALID_HANDLE;
    if (from->pending || to->pending) return FAKE_NOT_READY;
    if (from->at < 0 || to->at < 0) return FAKE_INVALID_HANDLE;
    *ms = (float)(to->at - from->at) * (float)NS_PER_LAUNCH / 1e6F;
    return 0;
}

/* ---- launches ---- */

static bool fits(const fake_cuda_launch *l, const struct CUfunc_st *function) {
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    bool is_grid = l->grid[0] && l->grid[0] <= INT32_MAX && l->grid[1] && l->grid[2] &&
                   l->grid[1] <= MAX_GRID_YZ && l->grid[2] <= MAX_GRID_YZ;
    return is_grid && threads > 0 && threads <= MAX_THREADS && l->block[2] <= 64 &&
           l->shared_bytes <= function->shared_bytes;
}

/* -1: no kernel that the fake could run. */
static int params_of(const struct CUfunc_st *function) {
    int count = fake_kernel_params(function->symbol);
    if (count < 0 && TAKES_ANY) count = function->param_count;
    return count > FAKE_CUDA_PARAMS ? -1 : count;
}

unsigned int cuLaunchKernel(struct CUfunc_st *function, unsigned int grid_x, unsigned int grid_y,
                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                            unsigned int block_z, unsigned int shared_bytes,
                            struct CUstream_st *stream, void **params, void **extra) {
    op o = {
        .kind = OP_LAUNCH,
        .launch = {.grid = {grid_x, grid_y, grid_z},
                   .block = {block_x, block_y, block_z},
                   .shared_bytes = shared_bytes},
    };
    FAKE_BEGIN_IN(context);
    if (function->context != context) return FAKE_INVALID_HANDLE;
    if (extra || !fits(&o.launch, function)) return FAKE_INVALID_VALUE;
    snprintf(o.launch.symbol, sizeof o.launch.symbol, "%s", function->symbol);
    int count = params_of(function);
    if (count < 0) return FAKE_TOO_MANY_RESOURCES;
    for (int i = 0; i < count; i++)
        memcpy(&o.launch.params[i], params[i], sizeof o.launch.params[i]);
    return begin(context, stream, &o);
}

/* ---- graphs ---- */

unsigned int cuStreamBeginCapture_v2(struct CUstream_st *given, unsigned int mode) {
    FAKE_BEGIN_IN(context);
    struct CUstream_st *stream = stream_in(context, given);
    if (!given || mode != HONE_CU_CAPTURE_THREAD_LOCAL) return FAKE_INVALID_VALUE;
    if (!stream) return FAKE_INVALID_HANDLE;
    if (stream->notes || noting) return FAKE_ILLEGAL_STATE;
    stream->notes = calloc(1, sizeof *stream->notes);
    if (!stream->notes) return FAKE_OUT_OF_MEMORY;
    stream->is_spoiled = false;
    noting = stream;
    return 0;
}

/* Notes end, whatever is said. */
static unsigned int end_notes(struct CUstream_st *stream, unsigned int code,
                              struct CUgraph_st **graph) {
    struct CUgraph_st *noted = stream->notes;
    stream->notes = NULL;
    *graph = NULL;
    if (noting == stream) noting = NULL;
    if (!noted) return code ? code : FAKE_ILLEGAL_STATE;
    if (!code && stream->is_spoiled) code = FAKE_CAPTURE_INVALIDATED;
    if (code)
        free_graph(noted);
    else
        *graph = noted;
    return code;
}

unsigned int cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph) {
    __attribute__((cleanup(fake_unlock))) const int lock = fake_lock();
    (void)lock;
    return end_notes(stream, fake_refused(__func__), graph);
}

static unsigned int copy_ops(const ops *from, ops *to) {
    unsigned int code = 0;
    for (int i = 0; i < from->count && !code; i++)
        code = add(to, &from->at[i]);
    return code;
}

unsigned int cuGraphInstantiateWithFlags(struct CUgraphExec_st **prepared, struct CUgraph_st *graph,
                                         unsigned long long flags) {
    FAKE_BEGIN_APART(context);
    (void)context;
    if (flags) return FAKE_INVALID_VALUE;
    struct CUgraph_st *copy = calloc(1, sizeof *copy);
    unsigned int code = copy ? copy_ops(&graph->ops, &copy->ops) : FAKE_OUT_OF_MEMORY;
    if (code)
        free_graph(copy);
    else
        *prepared = (struct CUgraphExec_st *)copy;
    fake_record.prepared += !code;
    return code;
}

unsigned int cuGraphLaunch(struct CUgraphExec_st *prepared, struct CUstream_st *given) {
    const struct CUgraph_st *graph = (const struct CUgraph_st *)prepared;
    FAKE_BEGIN_IN(context);
    struct CUstream_st *stream = stream_in(context, given);
    if (!stream) return FAKE_INVALID_HANDLE;
    fake_record.graphs++;
    return copy_ops(&graph->ops, stream->notes ? &stream->notes->ops : &stream->begun);
}

/* While it runs, it ends when it has run. */
unsigned int cuGraphExecDestroy(struct CUgraphExec_st *prepared) {
    FAKE_BEGIN();
    fake_record.prepared--;
    free_graph((struct CUgraph_st *)prepared);
    return 0;
}

unsigned int cuGraphDestroy(struct CUgraph_st *graph) {
    FAKE_BEGIN();
    free_graph(graph);
    return 0;
}
