/* tests/runtime/cuda/fake_cuda/fake_impl.h - between the halves of the fake driver: fake_cuda.c has
 * cards, contexts, memory and code, fake_stream.c what is begun and what comes of it.
 *
 * As on a card: a context is of one card, and current in threads that made it so; streams, events
 * and kernels belong to a context; what is begun on a stream runs when somebody waits for it, or
 * where the driver waits by itself. Threads: any; one call at a time is inside.
 */
#ifndef HONE_TESTS_RUNTIME_FAKE_IMPL_H
#define HONE_TESTS_RUNTIME_FAKE_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/model/device/cuda_driver.h"
#include "tests/runtime/cuda/fake_cuda/fake_cuda.h"

enum {
    FAKE_INVALID_VALUE = 1,
    FAKE_OUT_OF_MEMORY = 2,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_IMAGE = 200,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_INVALID_PTX = 218,
    FAKE_INVALID_HANDLE = 400,
    FAKE_ILLEGAL_STATE = 401,
    FAKE_NOT_FOUND = 500,
    FAKE_NOT_READY = 600,
    FAKE_TOO_MANY_RESOURCES = 701,
    FAKE_CAPTURE_UNSUPPORTED = 900,
    FAKE_CAPTURE_INVALIDATED = 901,
    FAKE_SHARED_BYTES = 232448,
};

struct CUctx_st {
    int retained;
    unsigned int broken; /* what every call says from now on */
    bool is_hanging;
    struct CUstream_st *streams, *plain; /* all of them; the one that NULL means */
};

struct CUfunc_st {
    char symbol[FAKE_CUDA_SYMBOL];
    struct CUctx_st *context;
    uint32_t shared_bytes; /* that it may have */
    int param_count;       /* as its text has */
};

extern fake_cuda_record fake_record;

/* A planned failure of this call: 0, or its code. */
unsigned int fake_refused(const char *symbol);
/* The calling thread's; NULL: none. */
struct CUctx_st *fake_current(void);
/* Runs what was begun in a context; its streams go with `is_end`. */
void fake_settle(struct CUctx_st *context);
void fake_end_streams(struct CUctx_st *context);
/* Is this thread noting a graph? What may not be called meanwhile spoils it. */
bool fake_spoils_capture(void);

int fake_lock(void);
void fake_unlock(const int *lock);

/* The first lines of every call: one at a time, a planned failure, a context that works. */
#define FAKE_BEGIN()                                                                               \
    __attribute__((cleanup(fake_unlock))) const int lock_ = fake_lock();                           \
    (void)lock_;                                                                                   \
    do {                                                                                           \
        unsigned int code_ = fake_refused(__func__);                                               \
        if (code_) return code_;                                                                   \
    } while (0)
#define FAKE_BEGIN_IN(context)                                                                     \
    FAKE_BEGIN();                                                                                  \
    struct CUctx_st *context = fake_current();                                                     \
    if (!context) return FAKE_INVALID_CONTEXT;                                                     \
    if (context->broken) return context->broken
/* FAKE_BEGIN_IN for what no graph can have in it. */
#define FAKE_BEGIN_APART(context)                                                                  \
    FAKE_BEGIN_IN(context);                                                                        \
    if (fake_spoils_capture()) return FAKE_CAPTURE_UNSUPPORTED

/* The declarations that the product has of the functions are those that the fake implements. */
#define HONE_CU(member, symbol, parameters)                                                        \
    __attribute__((visibility("default"))) unsigned int symbol parameters;
#include "runtime/model/device/cuda_driver.def"
#undef HONE_CU

/* What the product does not call; scripts that run kernels by themselves do. */
#define FAKE_EXTRA(symbol, parameters)                                                             \
    __attribute__((visibility("default"))) unsigned int symbol parameters;
FAKE_EXTRA(cuCtxSetCurrent, (struct CUctx_st * context))
FAKE_EXTRA(cuCtxGetCurrent, (struct CUctx_st * *context))
FAKE_EXTRA(cuCtxSynchronize, (void))
FAKE_EXTRA(cuMemcpyHtoD_v2, (unsigned long long to, const void *from, size_t bytes))
FAKE_EXTRA(cuMemcpyDtoH_v2, (void *to, unsigned long long from, size_t bytes))
#undef FAKE_EXTRA

#endif
