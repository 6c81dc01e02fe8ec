/* tests/runtime/cuda/fake_cuda/fake_cuda.c - the driver: see fake_cuda.h. Kernels run when they are
 * launched; what they do wrong is found when somebody waits, and from then on by every call, as on
 * a card. One thread at a time. */
#include "tests/runtime/cuda/fake_cuda/fake_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/model/device/cuda_driver.h"
#include "tests/runtime/cuda/fake_cuda/fake_kernels.h"

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    NOT_FOUND = 500,
    TOO_MANY_RESOURCES = 701,
    CARDS = 2,
    MAX_FUNCTIONS = 64,
    MAX_NOTED = 256,
    MAX_PLANNED = 8,
    SHARED_BYTES = 232448,
    FREE_SHARED = 49152 - 8192, /* dynamic, without being asked: kernels have arrays of their own */
};

/* Kernels that the fake does not know do nothing: the other library, for dry runs. */
#ifdef FAKE_CUDA_ANY
enum { TAKES_ANY = 1 };
#else
enum { TAKES_ANY = 0 };
#endif

#define CARD_BYTES ((size_t)1 << 30)
#define NS_PER_LAUNCH 1000

struct CUfunc_st {
    char symbol[FAKE_CUDA_SYMBOL];
    uint32_t shared_bytes; /* that it may have */
    int param_count;       /* as its text has */
};

struct CUmod_st {
    char *text;
    struct CUfunc_st functions[MAX_FUNCTIONS];
    int count;
};

struct CUstream_st {
    int unused;
};

struct CUevent_st {
    int64_t at; /* launches until then */
};

struct CUctx_st {
    int unused;
};

struct CUgraph_st {
    fake_cuda_launch launches[MAX_NOTED];
    int count;
};

typedef struct planned {
    char symbol[FAKE_CUDA_SYMBOL];
    int after;
    unsigned int code;
} planned;

static struct {
    struct CUctx_st context;
    int entered;         /* contexts that are current, one upon the other */
    unsigned int broken; /* what every call says from now on */
    bool is_hanging;
    size_t used;
    struct CUgraph_st *capture;
    planned plans[MAX_PLANNED];
    fake_cuda_record record;
} fake;

/* ---- steering ---- */

__attribute__((visibility("default"))) void fake_cuda_fail(const char *symbol, int after,
                                                           unsigned int code) {
    for (int i = 0; i < MAX_PLANNED; i++) {
        planned *p = &fake.plans[i];
        if (p->symbol[0] && strcmp(p->symbol, symbol) != 0) continue;
        snprintf(p->symbol, sizeof p->symbol, "%s", code ? symbol : "");
        p->after = after;
        p->code = code;
        return;
    }
    abort(); /* more plans than the table holds */
}

__attribute__((visibility("default"))) void fake_cuda_look(fake_cuda_record *out_record) {
    *out_record = fake.record;
}

/* A planned failure of this call, and what a broken context says. */
static unsigned int refused(const char *symbol) {
    for (int i = 0; i < MAX_PLANNED; i++) {
        planned *p = &fake.plans[i];
        if (strcmp(p->symbol, symbol) != 0 || p->after-- > 0) continue;
        p->symbol[0] = 0;
        return p->code;
    }
    return 0;
}

#define BEGIN()                                                                                    \
    do {                                                                                           \
        unsigned int code_ = refused(__func__);                                                    \
        if (code_) return code_;                                                                   \
    } while (0)
#define BEGIN_IN_CONTEXT()                                                                         \
    do {                                                                                           \
        BEGIN();                                                                                   \
        if (fake.broken) return fake.broken;                                                       \
        if (!fake.entered) return INVALID_CONTEXT;                                                 \
    } while (0)

/* The declarations that the product has of the functions are those that the fake implements. */
#define HONE_CU(member, symbol, parameters)                                                        \
    __attribute__((visibility("default"))) unsigned int symbol parameters;
#include "runtime/model/device/cuda_driver.def"
#undef HONE_CU

/* ---- cards ---- */

unsigned int cuInit(unsigned int flags) {
    BEGIN();
    return flags ? INVALID_VALUE : 0;
}

unsigned int cuDriverGetVersion(int *version) {
    BEGIN();
    *version = 13000;
    return 0;
}

unsigned int cuGetErrorName(unsigned int code, const char **name) {
    static char text[32]; /* names are for people: the number is enough */
    snprintf(text, sizeof text, "FAKE_ERROR_%u", code);
    *name = text;
    return 0;
}

unsigned int cuGetErrorString(unsigned int code, const char **text) {
    *text = code == OUT_OF_MEMORY ? "out of memory" : "an error of the fake";
    return 0;
}

unsigned int cuDeviceGetCount(int *count) {
    BEGIN();
    *count = CARDS;
    return 0;
}

unsigned int cuDeviceGet(int *device, int ordinal) {
    BEGIN();
    if (ordinal < 0 || ordinal >= CARDS) return INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

unsigned int cuDeviceGetName(char *name, int capacity, int device) {
    BEGIN();
    snprintf(name, (size_t)capacity, "Fake Card %d", device);
    return 0;
}

unsigned int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    BEGIN();
    (void)device;
    *bytes = CARD_BYTES;
    return 0;
}

unsigned int cuDeviceGetAttribute(int *value, unsigned int attribute, int device) {
    static const struct {
        unsigned int attribute;
        int value;
    } facts[] = {
        {1,  1024        },
        {10, 32          },
        {12, 65536       },
        {16, 4           },
        {33, 7           },
        {34, 0           },
        {38, 65536       },
        {50, 0           },
        {75, 9           },
        {76, 0           },
        {97, SHARED_BYTES},
    };
    BEGIN();
    (void)device;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].attribute != attribute) continue;
        *value = facts[i].value;
        return 0;
    }
    return INVALID_VALUE;
}

/* ---- context ---- */

unsigned int cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device) {
    BEGIN();
    (void)device;
    *context = &fake.context;
    return 0;
}

/* The last one ends it, and what was wrong with it. */
unsigned int cuDevicePrimaryCtxRelease_v2(int device) {
    BEGIN();
    (void)device;
    if (!fake.entered) fake.broken = 0;
    return 0;
}

unsigned int cuCtxPushCurrent_v2(struct CUctx_st *context) {
    BEGIN();
    if (context != &fake.context) return INVALID_CONTEXT;
    fake.entered++;
    return 0;
}

unsigned int cuCtxPopCurrent_v2(struct CUctx_st **context) {
    BEGIN();
    if (!fake.entered) return INVALID_CONTEXT;
    fake.entered--;
    *context = &fake.context;
    return 0;
}

/* ---- memory ---- */

typedef struct block {
    size_t bytes;
    char pad[256 - sizeof(size_t)]; /* cards align to this */
} block;

unsigned int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
    BEGIN_IN_CONTEXT();
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > CARD_BYTES - fake.used) return OUT_OF_MEMORY;
    block *b = aligned_alloc(256, (sizeof(block) + bytes + 255) / 256 * 256);
    if (!b) return OUT_OF_MEMORY;
    b->bytes = bytes;
    fake.used += bytes;
    fake.record.allocations++;
    memset(b + 1, 0x55, bytes); /* nobody may count on zeros */
    *address = (uintptr_t)(b + 1);
    return 0;
}

/* Also in a broken context, so that sanitizers see what was forgotten. */
unsigned int cuMemFree_v2(unsigned long long address) {
    BEGIN();
    block *b = (block *)(uintptr_t)address - 1;
    fake.used -= b->bytes;
    fake.record.allocations--;
    free(b);
    return fake.broken;
}

unsigned int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                                  struct CUstream_st *stream) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    fake.record.copies++;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

unsigned int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                                  struct CUstream_st *stream) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    fake.record.copies++;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

unsigned int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                                  struct CUstream_st *stream) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    fake.record.copies++;
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

unsigned int cuMemsetD8Async(unsigned long long to, unsigned char byte, size_t bytes,
                             struct CUstream_st *stream) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    memset((void *)(uintptr_t)to, byte, bytes);
    return 0;
}

/* ---- streams and events ---- */

unsigned int cuStreamCreate(struct CUstream_st **stream, unsigned int flags) {
    BEGIN_IN_CONTEXT();
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    return *stream ? 0 : OUT_OF_MEMORY;
}

unsigned int cuStreamDestroy_v2(struct CUstream_st *stream) {
    BEGIN();
    free(stream);
    return fake.broken;
}

unsigned int cuStreamSynchronize(struct CUstream_st *stream) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    while (fake.is_hanging)
        pause();
    return 0;
}

unsigned int cuEventCreate(struct CUevent_st **event, unsigned int flags) {
    BEGIN_IN_CONTEXT();
    (void)flags;
    *event = calloc(1, sizeof **event);
    fake.record.events += *event != NULL;
    return *event ? 0 : OUT_OF_MEMORY;
}

unsigned int cuEventDestroy_v2(struct CUevent_st *event) {
    BEGIN();
    fake.record.events -= event != NULL;
    free(event);
    return fake.broken;
}

unsigned int cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    event->at = fake.record.launches;
    return 0;
}

/* Each launch takes the same time. */
unsigned int cuEventElapsedTime(float *ms, struct CUevent_st *from, struct CUevent_st *to) {
    BEGIN_IN_CONTEXT();
    *ms = (float)(to->at - from->at) * (float)NS_PER_LAUNCH / 1e6F;
    return 0;
}

/* ---- code ---- */

static int count_params(const char *at) {
    const char *end = strchr(at, ')');
    int count = 0;
    while (end && (at = strstr(at, ".param")) != NULL && at++ < end)
        count++;
    return count;
}

static bool add_function(struct CUmod_st *module, const char *at) {
    size_t length = strcspn(at, "( \n");
    struct CUfunc_st *f = &module->functions[module->count];
    if (module->count == MAX_FUNCTIONS || length >= sizeof f->symbol) return false;
    memcpy(f->symbol, at, length);
    f->param_count = count_params(at);
    f->shared_bytes = FREE_SHARED;
    module->count++;
    return true;
}

unsigned int cuModuleLoadDataEx(struct CUmod_st **module, const void *image, unsigned int count,
                                unsigned int *options, void **values) {
    static const char entry[] = ".entry ";
    BEGIN_IN_CONTEXT();
    const char *text = image;
    if (!strstr(text, ".version")) {
        for (unsigned int i = 0; i + 1 < count; i++) {
            if (options[i] != HONE_CU_JIT_ERROR_LOG_BUFFER) continue;
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1],
                     "ptxas fatal : not a module of the fake's\nsecond line");
        }
        return INVALID_PTX;
    }
    *module = calloc(1, sizeof **module);
    if (!*module) return OUT_OF_MEMORY;
    for (const char *at = text; (at = strstr(at, entry)) != NULL;) {
        at += sizeof entry - 1;
        if (!add_function(*module, at)) return INVALID_IMAGE;
    }
    return 0;
}

unsigned int cuModuleUnload(struct CUmod_st *module) {
    BEGIN();
    free(module);
    return fake.broken;
}

unsigned int cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module,
                                 const char *symbol) {
    BEGIN_IN_CONTEXT();
    for (int i = 0; i < module->count; i++) {
        if (strcmp(module->functions[i].symbol, symbol) != 0) continue;
        *function = &module->functions[i];
        return 0;
    }
    return NOT_FOUND;
}

unsigned int cuFuncSetAttribute(struct CUfunc_st *function, unsigned int attribute, int value) {
    BEGIN_IN_CONTEXT();
    if (attribute != HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED || value > SHARED_BYTES)
        return INVALID_VALUE;
    function->shared_bytes = (uint32_t)value;
    return 0;
}

/* ---- launches ---- */

static void run(const fake_cuda_launch *launch) {
    bool is_known = fake_kernel_params(launch->symbol) >= 0;
    unsigned int error = is_known ? fake_kernel_run(launch) : 0;
    fake.record.last = *launch;
    fake.record.launches++;
    if (error == FAKE_HANGS) {
        fake.is_hanging = true;
    } else if (error) {
        fake.broken = error;
    }
}

static bool fits(const fake_cuda_launch *l, const struct CUfunc_st *function) {
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    bool is_grid =
        l->grid[0] && l->grid[1] && l->grid[2] && l->grid[1] <= 65535 && l->grid[2] <= 65535;
    return is_grid && threads > 0 && threads <= 1024 && l->shared_bytes <= function->shared_bytes;
}

unsigned int cuLaunchKernel(struct CUfunc_st *function, unsigned int grid_x, unsigned int grid_y,
                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                            unsigned int block_z, unsigned int shared_bytes,
                            struct CUstream_st *stream, void **params, void **extra) {
    fake_cuda_launch launch = {
        .grid = {grid_x,  grid_y,  grid_z },
        .block = {block_x, block_y, block_z},
        .shared_bytes = shared_bytes
    };
    BEGIN_IN_CONTEXT();
    (void)stream;
    if (extra || !fits(&launch, function)) return INVALID_VALUE;
    snprintf(launch.symbol, sizeof launch.symbol, "%s", function->symbol);
    int count = fake_kernel_params(function->symbol);
    if (count < 0 && TAKES_ANY) count = function->param_count;
    if (count < 0 || count > FAKE_CUDA_PARAMS)
        return TOO_MANY_RESOURCES; /* no kernel that the fake could run */
    for (int i = 0; i < count; i++)
        memcpy(&launch.params[i], params[i], sizeof launch.params[i]);
    if (fake.capture && fake.capture->count < MAX_NOTED) {
        fake.capture->launches[fake.capture->count++] = launch;
    } else {
        run(&launch);
    }
    return 0;
}

/* ---- graphs ---- */

unsigned int cuStreamBeginCapture_v2(struct CUstream_st *stream, unsigned int mode) {
    BEGIN_IN_CONTEXT();
    (void)stream;
    (void)mode;
    fake.capture = calloc(1, sizeof *fake.capture);
    return fake.capture ? 0 : OUT_OF_MEMORY;
}

/* Notes end, whatever is said. */
unsigned int cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph) {
    struct CUgraph_st *noted = fake.capture;
    unsigned int code = refused(__func__);
    (void)stream;
    fake.capture = NULL;
    *graph = code ? NULL : noted;
    if (code) free(noted);
    return code || noted ? code : INVALID_VALUE;
}

unsigned int cuGraphInstantiateWithFlags(struct CUgraphExec_st **prepared, struct CUgraph_st *graph,
                                         unsigned long long flags) {
    BEGIN_IN_CONTEXT();
    if (flags) return INVALID_VALUE;
    struct CUgraph_st *copy = malloc(sizeof *copy);
    if (!copy) return OUT_OF_MEMORY;
    *copy = *graph;
    *prepared = (struct CUgraphExec_st *)copy;
    return 0;
}

unsigned int cuGraphLaunch(struct CUgraphExec_st *prepared, struct CUstream_st *stream) {
    const struct CUgraph_st *graph = (const struct CUgraph_st *)prepared;
    BEGIN_IN_CONTEXT();
    (void)stream;
    fake.record.graphs++;
    for (int i = 0; i < graph->count; i++)
        run(&graph->launches[i]);
    return 0;
}

unsigned int cuGraphExecDestroy(struct CUgraphExec_st *prepared) {
    BEGIN();
    free(prepared);
    return 0;
}

unsigned int cuGraphDestroy(struct CUgraph_st *graph) {
    BEGIN();
    free(graph);
    return 0;
}
