/* runtime/opencl/device_opencl_impl.h - shared by device_opencl.c, opencl_memory.c and
 * opencl_module.c. */
#ifndef HONE_RUNTIME_OPENCL_DEVICE_OPENCL_IMPL_H
#define HONE_RUNTIME_OPENCL_DEVICE_OPENCL_IMPL_H

#include "runtime/far/far_module.h"
#include "runtime/opencl/opencl_api.h"

typedef struct device_opencl {
    far_device far;  /* first: a device_opencl * is an hone_device * */
    hone_opencl *cl; /* owned */
    void *flush;     /* twice as large as the cache, written over before cold runs */
} device_opencl;

typedef struct opencl_memory {
    void *whole, *data; /* with the zones; without */
    size_t bytes;
} opencl_memory;

/* Allocates memory with a zone of the pattern on either side. NO_MEMORY, IO. */
HONE_NODISCARD hone_status opencl_memory_create(device_opencl *device, size_t bytes,
                                                opencl_memory *out_memory);
void opencl_memory_destroy(device_opencl *device, opencl_memory *memory); /* all 0 is allowed */
HONE_NODISCARD hone_status opencl_memory_fill(device_opencl *device, const opencl_memory *memory,
                                              uint8_t byte);
/* hone_device_buffer_damage of such memory. */
int64_t opencl_memory_damage(device_opencl *device, const opencl_memory *memory);

extern const far_loader opencl_loader;
/* The memory of the manifest's arguments (cl_mem), for all launches to come. */
int32_t opencl_module_bind(device_opencl *device, hone_device_module *module,
                           hone_device_buffer *const *buffers);
/* Begins all launches of one run, in order. The first and the last event are the caller's to
 * release; both NULL when nothing was launched. */
int32_t opencl_module_launch(device_opencl *device, hone_device_module *module, void **out_first,
                             void **out_last);
/* device_opencl.c */
const opencl_memory *opencl_buffer_memory(const hone_device_buffer *buffer);

#endif
