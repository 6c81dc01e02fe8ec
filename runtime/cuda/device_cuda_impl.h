/* runtime/cuda/device_cuda_impl.h - shared by device_cuda.c and cuda_module.c. */
#ifndef HONE_RUNTIME_CUDA_DEVICE_CUDA_IMPL_H
#define HONE_RUNTIME_CUDA_DEVICE_CUDA_IMPL_H

#include "runtime/cuda/cuda_api.h"
#include "runtime/far/far_module.h"

typedef struct device_cuda {
    far_device far;  /* first: a device_cuda * is an hone_device * */
    hone_cuda *cuda; /* owned */
    hone_cuda_facts facts;
    int32_t ordinal;
    struct CUevent_st *from, *to;
    hone_cuda_address flush; /* as large as the last cache, written over before cold runs */
    hone_failure fault;      /* of the last run */
    bool is_dead;            /* its context */
} device_cuda;

typedef struct cuda_memory {
    hone_cuda_address base, data; /* of the zone before it; of the first byte */
    size_t bytes;
} cuda_memory;

/* Allocates memory with a zone of the pattern on either side. NO_MEMORY, IO. */
HONE_NODISCARD hone_status cuda_memory_create(device_cuda *device, size_t bytes,
                                              cuda_memory *out_memory);
void cuda_memory_destroy(device_cuda *device, cuda_memory *memory); /* also one that is all 0 */
/* hone_device_buffer_damage of such memory. */
int64_t cuda_memory_damage(device_cuda *device, const cuda_memory *memory);

/* A pointer to the address of the buffer's data, as a launch takes arguments. */
void *cuda_buffer_param(hone_device_buffer *buffer);

extern const far_loader cuda_loader;
/* Begins all launches of one run, in order, on the manifest's arguments. */
hone_cuda_code cuda_module_launch(device_cuda *device, hone_device_module *module,
                                  hone_device_buffer *const *buffers);

#endif
