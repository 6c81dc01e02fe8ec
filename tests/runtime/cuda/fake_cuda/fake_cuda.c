/* tests/runtime/cuda/fake_cuda/fake_cuda.c - the driver's cards, contexts, memory and code: see
 * fake_cuda.h. */
#include "tests/runtime/cuda/fake_cuda/fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/cuda/fake_cuda/fake_impl.h"

enum {
    CARDS = 2,
    MAX_FUNCTIONS = 64,
    MAX_PLANNED = 8,
    MAX_CURRENT = 16,           /* contexts of a thread, one upon the other */
    FREE_SHARED = 49152 - 8192, /* dynamic, without being asked: kernels have arrays of their own */
};

#define CARD_BYTES ((size_t)1 << 30)

struct CUmod_st {
    struct CUctx_st *context;
    struct CUfunc_st functions[MAX_FUNCTIONS];
    int count;
};

typedef struct planned {
    char symbol[FAKE_CUDA_SYMBOL];
    int after;
    unsigned int code;
} planned;

static struct {
    pthread_mutex_t lock;
    struct CUctx_st contexts[CARDS];
    size_t used[CARDS];
    planned plans[MAX_PLANNED];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

fake_cuda_record fake_record;

static _Thread_local struct {
    struct CUctx_st *stack[MAX_CURRENT];
    int depth;
} here;

int fake_lock(void) {
    return pthread_mutex_lock(&fake.lock);
}

void fake_unlock(const int *lock) {
    (void)lock;
    (void)pthread_mutex_unlock(&fake.lock);
}

struct CUctx_st *fake_current(void) {
    return here.depth ? here.stack[here.depth - 1] : NULL;
}

/* ---- steering ---- */

__attribute__((visibility("default"))) void fake_cuda_fail(const char *symbol, int after,
                                                           unsigned int code) {
    __attribute__((cleanup(fake_unlock))) const int lock = fake_lock();
    (void)lock;
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
    __attribute__((cleanup(fake_unlock))) const int lock = fake_lock();
    (void)lock;
    *out_record = fake_record;
}

unsigned int fake_refused(const char *symbol) {
    for (int i = 0; i < MAX_PLANNED; i++) {
        planned *p = &fake.plans[i];
        if (strcmp(p->symbol, symbol) != 0 || p->after-- > 0) continue;
        p->symbol[0] = 0;
        return p->code;
    }
    return 0;
}

/* ---- cards ---- */

unsigned int cuInit(unsigned int flags) {
    FAKE_BEGIN();
    return flags ? FAKE_INVALID_VALUE : 0;
}

unsigned int cuDriverGetVersion(int *version) {
    FAKE_BEGIN();
    *version = 13000;
    return 0;
}

unsigned int cuGetErrorName(unsigned int code, const char **name) {
    static _Thread_local char text[32]; /* names are for people: the number is enough */
    snprintf(text, sizeof text, "FAKE_ERROR_%u", code);
    *name = text;
    return 0;
}

unsigned int cuGetErrorString(unsigned int code, const char **text) {
    *text = code == FAKE_OUT_OF_MEMORY ? "out of memory" : "an error of the fake";
    return 0;
}

unsigned int cuDeviceGetCount(int *count) {
    FAKE_BEGIN();
    *count = CARDS;
    return 0;
}

unsigned int cuDeviceGet(int *device, int ordinal) {
    FAKE_BEGIN();
    if (ordinal < 0 || ordinal >= CARDS) return FAKE_INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

unsigned int cuDeviceGetName(char *name, int capacity, int device) {
    FAKE_BEGIN();
    snprintf(name, (size_t)capacity, "Fake Card %d", device);
    return 0;
}

unsigned int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    FAKE_BEGIN();
    (void)device;
    *bytes = CARD_BYTES;
    return 0;
}

unsigned int cuDeviceGetAttribute(int *value, unsigned int attribute, int device) {
    static const struct {
        unsigned int attribute;
        int value;
    } facts[] = {
        {1,  1024             },
        {10, 32               },
        {12, 65536            },
        {16, 4                },
        {33, 7                },
        {34, 0                },
        {38, 65536            },
        {50, 0                },
        {75, 9                },
        {76, 0                },
        {97, FAKE_SHARED_BYTES},
    };
    FAKE_BEGIN();
    (void)device;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].attribute != attribute) continue;
        *value = facts[i].value;
        return 0;
    }
    return FAKE_INVALID_VALUE;
}

/* ---- contexts ---- */

unsigned int cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device) {
    FAKE_BEGIN();
    if (device < 0 || device >= CARDS) return FAKE_INVALID_DEVICE;
    *context = &fake.contexts[device];
    (*context)->retained++;
    return 0;
}

/* The last one ends it, and what was wrong with it. */
unsigned int cuDevicePrimaryCtxRelease_v2(int device) {
    FAKE_BEGIN();
    if (device < 0 || device >= CARDS) return FAKE_INVALID_DEVICE;
    struct CUctx_st *context = &fake.contexts[device];
    if (!context->retained) return FAKE_INVALID_CONTEXT;
    if (--context->retained) return 0;
    fake_end_streams(context);
    context->broken = 0;
    context->is_hanging = false;
    return 0;
}

static bool is_context(const struct CUctx_st *context) {
    for (int i = 0; i < CARDS; i++) {
        if (context == &fake.contexts[i]) return context->retained > 0;
    }
    return false;
}

unsigned int cuCtxPushCurrent_v2(struct CUctx_st *context) {
    FAKE_BEGIN();
    if (!is_context(context) || here.depth == MAX_CURRENT) return FAKE_INVALID_CONTEXT;
    here.stack[here.depth++] = context;
    return 0;
}

unsigned int cuCtxPopCurrent_v2(struct CUctx_st **context) {
    FAKE_BEGIN();
    if (!here.depth) return FAKE_INVALID_CONTEXT;
    *context = here.stack[--here.depth];
    return 0;
}

/* In the place of the one that is current. */
unsigned int cuCtxSetCurrent(struct CUctx_st *context) {
    FAKE_BEGIN();
    if (context && !is_context(context)) return FAKE_INVALID_CONTEXT;
    if (here.depth) here.depth--;
    if (context) here.stack[here.depth++] = context;
    return 0;
}

unsigned int cuCtxGetCurrent(struct CUctx_st **context) {
    FAKE_BEGIN();
    *context = fake_current();
    return 0;
}

/* ---- memory ---- */

typedef struct block {
    size_t bytes;
    struct CUctx_st *context;
    char pad[256 - sizeof(size_t) - sizeof(void *)]; /* cards align to this */
} block;

unsigned int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
    FAKE_BEGIN_APART(context);
    size_t *used = &fake.used[context - fake.contexts];
    if (bytes == 0) return FAKE_INVALID_VALUE;
    if (bytes > CARD_BYTES - *used) return FAKE_OUT_OF_MEMORY;
    block *b = aligned_alloc(256, (sizeof(block) + bytes + 255) / 256 * 256);
    if (!b) return FAKE_OUT_OF_MEMORY;
    b->bytes = bytes;
    b->context = context;
    *used += bytes;
    fake_record.allocations++;
    memset(b + 1, 0x55, bytes); /* nobody may count on zeros */
    *address = (uintptr_t)(b + 1);
    return 0;
}

/* What is ended waits for what may use it. Also in a broken context, so that sanitizers see what
 * was forgotten; and where none is current: the record has how often. */
static unsigned int settle_to_end(struct CUctx_st *context) {
    bool is_current = fake_current() != NULL;
    if (fake_spoils_capture()) return FAKE_CAPTURE_UNSUPPORTED;
    fake_settle(context);
    fake_record.astray += !is_current;
    return is_current ? context->broken : FAKE_INVALID_CONTEXT;
}

unsigned int cuMemFree_v2(unsigned long long address) {
    FAKE_BEGIN();
    block *b = (block *)(uintptr_t)address - 1;
    unsigned int code = settle_to_end(b->context);
    if (code == FAKE_CAPTURE_UNSUPPORTED) return code;
    fake.used[b->context - fake.contexts] -= b->bytes;
    fake_record.allocations--;
    free(b);
    return code;
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
    f->context = module->context;
    f->param_count = count_params(at);
    f->shared_bytes = FREE_SHARED;
    module->count++;
    return true;
}

unsigned int cuModuleLoadDataEx(struct CUmod_st **module, const void *image, unsigned int count,
                                unsigned int *options, void **values) {
    static const char entry[] = ".entry ";
    FAKE_BEGIN_APART(context);
    const char *text = image;
    if (!strstr(text, ".version")) {
        for (unsigned int i = 0; i + 1 < count; i++) {
            if (options[i] != HONE_CU_JIT_ERROR_LOG_BUFFER) continue;
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1],
                     "ptxas fatal : not a module of the fake's\nsecond line");
        }
        return FAKE_INVALID_PTX;
    }
    struct CUmod_st *made = calloc(1, sizeof *made);
    if (!made) return FAKE_OUT_OF_MEMORY;
    made->context = context;
    for (const char *at = text; (at = strstr(at, entry)) != NULL;) {
        at += sizeof entry - 1;
        if (add_function(made, at)) continue;
        free(made);
        return FAKE_INVALID_IMAGE;
    }
    fake_record.modules++;
    *module = made;
    return 0;
}

unsigned int cuModuleUnload(struct CUmod_st *module) {
    FAKE_BEGIN();
    unsigned int code = settle_to_end(module->context);
    if (code == FAKE_CAPTURE_UNSUPPORTED) return code;
    fake_record.modules--;
    free(module);
    return code;
}

unsigned int cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module,
                                 const char *symbol) {
    FAKE_BEGIN_IN(context);
    if (module->context != context) return FAKE_INVALID_HANDLE;
    for (int i = 0; i < module->count; i++) {
        if (strcmp(module->functions[i].symbol, symbol) != 0) continue;
        *function = &module->functions[i];
        return 0;
    }
    return FAKE_NOT_FOUND;
}

unsigned int cuFuncSetAttribute(struct CUfunc_st *function, unsigned int attribute, int value) {
    FAKE_BEGIN_IN(context);
    if (function->context != context) return FAKE_INVALID_HANDLE;
    if (attribute != HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED || value < 0 || value > FAKE_SHARED_BYTES)
        return FAKE_INVALID_VALUE;
    function->shared_bytes = (uint32_t)value;
    return 0;
}
