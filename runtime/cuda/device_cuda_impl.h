/* runtime/cuda/device_cuda_impl.h - shared by device_cuda.c and cuda_module.c. */
#ifndef HONE_RUNTIME_CUDA_DEVICE_CUDA_IMPL_H
#define HONE_RUNTIME_CUDA_DEVICE_CUDA_IMPL_H

#include "runtime/cuda/cuda_api.h"
#include "runtime/device_impl.h"

typedef struct device_cuda {
    hone_device base; /* first: a device_cuda * is an hone_device * */
    hone_cuda *cuda;  /* owned */
    hone_cuda_facts facts;
    int64_t limit_bytes, used_bytes; /* of the card's memory */
    struct CUevent_st *from, *to;
    hone_cuda_address flush; /* as large as the last cache, written over before cold runs */
    hone_failure fault;      /* of the last run */
    bool is_dead;            /* its context */
    char message[256];       /* what the last failing run says */
} device_cuda;

typedef struct cuda_memory {
    hone_cuda_address base, data; /* of the zone before it; of the first byte */
    size_t bytes;
} cuda_memory;

/* Between two zones of the pattern. NO_MEMORY, IO. */
HONE_NODISCARD hone_status cuda_memory_create(device_cuda *device, size_t bytes,
                                              cuda_memory *out_memory);
void cuda_memory_destroy(device_cuda *device, cuda_memory *memory); /* also one that is all 0 */
/* As hone_device_buffer_damage. */
int64_t cuda_memory_damage(device_cuda *device, const cuda_memory *memory);

HONE_NODISCARD hone_status cuda_module_load(device_cuda *device,
                                            const hone_device_artifact *artifact,
                                            const hone_manifest *manifest,
                                            hone_device_module **out_module);
void cuda_module_unload(device_cuda *device, hone_device_module *module);

/* The device's addresses of the manifest's arguments, for all launches to come. */
void cuda_module_bind(hone_device_module *module, const hone_cuda_address *arguments);
size_t cuda_module_arg_count(const hone_device_module *module);
/* Begins all launches of one run, in order. */
hone_cuda_code cuda_module_launch(device_cuda *device, hone_device_module *module);
/* Number of a scratch buffer beside which was written, with where; -1: none. */
int32_t cuda_module_damage(device_cuda *device, const hone_device_module *module, int64_t *out_at);

#endif
