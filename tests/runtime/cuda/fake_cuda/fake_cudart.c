/* tests/runtime/cuda/fake_cuda/fake_cudart.c - the CUDA runtime over the fake driver beside it. */
#include <stdio.h>
#include <string.h>

#include "runtime/cuda/cudart_api.h"
#include "tests/runtime/cuda/fake_cuda/fake_impl.h"

#define HONE_CUDART(member, symbol, parameters)                                                    \
    __attribute__((visibility("default"))) unsigned int symbol parameters;
#include "runtime/cuda/cudart.def"
#undef HONE_CUDART
__attribute__((visibility("default"))) const char *cudaGetErrorName(unsigned int code);
__attribute__((visibility("default"))) const char *cudaGetErrorString(unsigned int code);

unsigned int cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return 0;
}

unsigned int cudaDriverGetVersion(int *version) {
    return cuDriverGetVersion(version);
}

/* Of this thread; asking forgets it. */
static _Thread_local unsigned int last_error;

static unsigned int keep(unsigned int code) {
    if (code) last_error = code;
    return code;
}

unsigned int cudaGetLastError(void) {
    unsigned int code = last_error;
    last_error = 0;
    return code;
}

const char *cudaGetErrorName(unsigned int code) {
    const char *name = NULL;
    (void)cuGetErrorName(code, &name);
    return name;
}

const char *cudaGetErrorString(unsigned int code) {
    const char *text = NULL;
    (void)cuGetErrorString(code, &text);
    return text;
}

unsigned int cudaGetDeviceCount(int *count) {
    return keep(cuDeviceGetCount(count));
}

unsigned int cudaGetDeviceProperties(struct cudaDeviceProp *facts, int ordinal) {
    hone_cudart_facts *f = (hone_cudart_facts *)facts;
    unsigned int code = cuDeviceGetName(f->name, (int)sizeof f->name, ordinal);
    return keep(code ? code : cuDeviceTotalMem_v2(&f->memory_bytes, ordinal));
}

unsigned int cudaDeviceGetAttribute(int *value, unsigned int attribute, int ordinal) {
    return keep(cuDeviceGetAttribute(value, attribute, ordinal));
}

/* The card's context is made once, and is current in the thread from now on. */
unsigned int cudaSetDevice(int ordinal) {
    static struct CUctx_st *contexts[8];
    unsigned int code = 0;
    if (ordinal < 0 || ordinal >= (int)(sizeof contexts / sizeof contexts[0]))
        return keep(FAKE_INVALID_DEVICE);
    if (!contexts[ordinal]) code = cuDevicePrimaryCtxRetain(&contexts[ordinal], ordinal);
    return keep(code ? code : cuCtxSetCurrent(contexts[ordinal]));
}

unsigned int cudaMalloc(void **address, size_t bytes) {
    unsigned long long at = 0;
    unsigned int code = cuMemAlloc_v2(&at, bytes);
    *address = (void *)(uintptr_t)at;
    return keep(code);
}

unsigned int cudaFree(void *address) {
    return keep(cuMemFree_v2((uintptr_t)address));
}

unsigned int cudaMemcpyAsync(void *to, const void *from, size_t bytes, unsigned int kind,
                             struct CUstream_st *stream) {
    if (kind == 1) return keep(cuMemcpyHtoDAsync_v2((uintptr_t)to, from, bytes, stream));
    if (kind == 2) return keep(cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes, stream));
    return keep(cuMemcpyDtoDAsync_v2((uintptr_t)to, (uintptr_t)from, bytes, stream));
}

unsigned int cudaMemsetAsync(void *to, int byte, size_t bytes, struct CUstream_st *stream) {
    return keep(cuMemsetD8Async((uintptr_t)to, (unsigned char)byte, bytes, stream));
}

unsigned int cudaStreamCreateWithFlags(struct CUstream_st **stream, unsigned int flags) {
    return keep(cuStreamCreate(stream, flags));
}

unsigned int cudaStreamDestroy(struct CUstream_st *stream) {
    return keep(cuStreamDestroy_v2(stream));
}

unsigned int cudaStreamSynchronize(struct CUstream_st *stream) {
    return keep(cuStreamSynchronize(stream));
}

unsigned int cudaEventCreateWithFlags(struct CUevent_st **event, unsigned int flags) {
    return keep(cuEventCreate(event, flags));
}

unsigned int cudaEventDestroy(struct CUevent_st *event) {
    return keep(cuEventDestroy_v2(event));
}

unsigned int cudaEventRecord(struct CUevent_st *event, struct CUstream_st *stream) {
    return keep(cuEventRecord(event, stream));
}

unsigned int cudaEventElapsedTime(float *ms, struct CUevent_st *from, struct CUevent_st *to) {
    return keep(cuEventElapsedTime(ms, from, to));
}

unsigned int cudaLibraryLoadData(struct CUlib_st **library, const void *image,
                                 unsigned int *jit_options, void **jit_values,
                                 unsigned int jit_count, unsigned int *options, void **values,
                                 unsigned int count) {
    (void)options;
    (void)values;
    (void)count;
    return keep(
        cuModuleLoadDataEx((struct CUmod_st **)library, image, jit_count, jit_options, jit_values));
}

unsigned int cudaLibraryUnload(struct CUlib_st *library) {
    return keep(cuModuleUnload((struct CUmod_st *)library));
}

unsigned int cudaLibraryGetKernel(struct CUkern_st **kernel, struct CUlib_st *library,
                                  const char *symbol) {
    return keep(
        cuModuleGetFunction((struct CUfunc_st **)kernel, (struct CUmod_st *)library, symbol));
}

unsigned int cudaKernelSetAttributeForDevice(struct CUkern_st *kernel, unsigned int attribute,
                                             int value, int ordinal) {
    (void)ordinal;
    return keep(cuFuncSetAttribute((struct CUfunc_st *)kernel, attribute, value));
}

unsigned int cudaLaunchKernelExC(const struct cudaLaunchConfig_st *how, const void *kernel,
                                 void **params) {
    const hone_cudart_launch *l = (const hone_cudart_launch *)how;
    return keep(cuLaunchKernel((struct CUfunc_st *)(uintptr_t)kernel, l->grid[0], l->grid[1],
                               l->grid[2], l->block[0], l->block[1], l->block[2],
                               (unsigned int)l->shared_bytes, l->stream, params, NULL));
}

unsigned int cudaStreamBeginCapture(struct CUstream_st *stream, unsigned int mode) {
    return keep(cuStreamBeginCapture_v2(stream, mode));
}

unsigned int cudaStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph) {
    return keep(cuStreamEndCapture(stream, graph));
}

unsigned int cudaGraphInstantiateWithFlags(struct CUgraphExec_st **prepared,
                                           struct CUgraph_st *graph, unsigned long long flags) {
    return keep(cuGraphInstantiateWithFlags(prepared, graph, flags));
}

unsigned int cudaGraphLaunch(struct CUgraphExec_st *prepared, struct CUstream_st *stream) {
    return keep(cuGraphLaunch(prepared, stream));
}

unsigned int cudaGraphExecDestroy(struct CUgraphExec_st *prepared) {
    return keep(cuGraphExecDestroy(prepared));
}

unsigned int cudaGraphDestroy(struct CUgraph_st *graph) {
    return keep(cuGraphDestroy(graph));
}
