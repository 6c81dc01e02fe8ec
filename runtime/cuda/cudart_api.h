/* runtime/cuda/cudart_api.h - what is used of the CUDA runtime; compared with NVIDIA's declarations
 * by tests/runtime/cuda/test_cuda_declared.c where those are installed. */
#ifndef HONE_RUNTIME_CUDA_CUDART_API_H
#define HONE_RUNTIME_CUDA_CUDART_API_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/model/device/cuda_driver.h"

struct CUlib_st;
struct CUkern_st;
struct cudaDeviceProp;
struct cudaLaunchConfig_st;

typedef struct hone_cudart {
#define HONE_CUDART(member, symbol, parameters) unsigned int(*member) parameters;
#include "runtime/cuda/cudart.def"
#undef HONE_CUDART
    const char *(*error_name)(unsigned int code);
    const char *(*error_text)(unsigned int code);
} hone_cudart;

/* struct cudaDeviceProp: its beginning, and room for the rest of today's and tomorrow's. */
typedef struct hone_cudart_facts {
    char name[256];
    char identity[32];
    size_t memory_bytes;
    char rest[4096];
} hone_cudart_facts;

/* struct cudaLaunchConfig_st */
typedef struct hone_cudart_launch {
    uint32_t grid[3], block[3];
    size_t shared_bytes;
    struct CUstream_st *stream;
    void *attributes;
    uint32_t attribute_count;
} hone_cudart_launch;

#endif
