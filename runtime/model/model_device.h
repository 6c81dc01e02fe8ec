/* runtime/model/model_device.h - a GPU as models use it: one table, two fillings (model_cuda.c,
 * model_opencl.c), so that device_steps.c knows neither.
 *
 * A device is a context and one stream on it: what is begun runs in order. Functions return 0, or a
 * code of model_abi.h with the words kept (hone_mt_fail). After an error that ended the context
 * `is_lost` is set, and nothing works any more. Memory is 64 bits that a kernel gets for a pointer:
 * an address of CUDA's, a cl_mem of OpenCL's; 0 is none. Threads: one thread at a time.
 */
#ifndef HONE_RUNTIME_MODEL_MODEL_DEVICE_H
#define HONE_RUNTIME_MODEL_MODEL_DEVICE_H

#include <stdbool.h>

#include "runtime/model/model_table.h"

/* Bytes at whose multiples tensors lie in the memory of a device: what its parts may begin at, for
 * any OpenCL. compile/ plans with it. */
#define HONE_MT_DEVICE_ALIGNMENT 512

typedef uint64_t hone_mt_memory;

typedef struct hone_mt_device_table hone_mt_device_table;
typedef struct hone_mt_device {
    const hone_mt_device_table *table;
    bool is_lost;
} hone_mt_device;

typedef struct hone_mt_dims {
    uint32_t grid[3], block[3], shared_bytes;
} hone_mt_dims;

/* Which device: number `ordinal` of those that the driver counts; of OpenCL: of a context of the
 * caller's, where that is not NULL. */
typedef struct hone_mt_device_choice {
    int32_t ordinal;
    void *context;
} hone_mt_device_choice;

struct hone_mt_device_table {
    const char *name;   /* "CUDA" */
    int32_t types[2];   /* DLPack's, whose tensors can be used in place */
    bool has_addresses; /* memory is an address that can be counted with */
    int32_t (*choose)(const DLTensor *tensor, hone_mt_device_choice *out_choice);
    int32_t (*open)(const hone_mt_device_choice *choice, hone_mt_device **out_device);
    void (*close)(hone_mt_device *device);
    /* Around all that follows, in the thread that calls. */
    int32_t (*enter)(hone_mt_device *device);
    void (*leave)(hone_mt_device *device);
    int32_t (*alloc)(hone_mt_device *device, int64_t bytes, hone_mt_memory *out_memory);
    void (*release)(hone_mt_device *device, hone_mt_memory memory);
    /* A part of a piece of memory, from a multiple of HONE_MT_DEVICE_ALIGNMENT on; bytes > 0. It is
     * to be dropped, before or after the whole. */
    int32_t (*part)(hone_mt_device *device, hone_mt_memory whole, int64_t offset, int64_t bytes,
                    hone_mt_memory *out_part);
    void (*drop)(hone_mt_device *device, hone_mt_memory part);
    /* Has the data of the tensor where kernels may use it. */
    bool (*is_fit)(const DLTensor *tensor, hone_mt_memory *out_memory);
    /* What is copied from may change when the function returns; out: is there then. */
    int32_t (*copy_in)(hone_mt_device *device, hone_mt_memory to, const void *from, int64_t bytes);
    int32_t (*copy_out)(hone_mt_device *device, void *to, hone_mt_memory from, int64_t bytes);
    int32_t (*copy_within)(hone_mt_device *device, hone_mt_memory to, int64_t to_offset,
                           hone_mt_memory from, int64_t from_offset, int64_t bytes);
    int32_t (*load)(hone_mt_device *device, const hone_mt_program *program, void **out_module);
    void (*unload)(hone_mt_device *device, void *module);
    /* A kernel of a module, which may be launched with so many bytes of shared memory. */
    int32_t (*find)(hone_mt_device *device, void *module, const char *symbol, int64_t shared_bytes,
                    void **out_function);
    void (*forget)(hone_mt_device *device, void *function);
    int32_t (*launch)(hone_mt_device *device, void *function, const hone_mt_dims *dims,
                      uint64_t *params, int32_t param_count);
    int32_t (*wait)(hone_mt_device *device);
    /* Marks between what is begun, and how long the device took from one to another, once it has
     * come to both. All NULL where it has no clock. */
    int32_t (*mark)(hone_mt_device *device, void **out_mark);
    int32_t (*elapsed)(hone_mt_device *device, void *from, void *to, int64_t *out_ns);
    void (*unmark)(hone_mt_device *device, void *mark);
    /* Graphs: what is begun between the two is noted, not run. All NULL where there are none. */
    int32_t (*capture_begin)(hone_mt_device *device);
    int32_t (*capture_end)(hone_mt_device *device, void **out_graph);
    int32_t (*graph_launch)(hone_mt_device *device, void *graph);
    void (*graph_destroy)(hone_mt_device *device, void *graph);
};

extern const hone_mt_device_table hone_mt_cuda_table, hone_mt_opencl_table;

/* Most parameters of a kernel. */
enum { HONE_MT_MAX_PARAMS = 512 };

#endif
