/* runtime/cuda/cuda_api.h - what this room does with CUDA, as one table with two fillings: the
 * driver (libcuda.so.1) and the CUDA runtime (libcudart 12.8 or newer). Both are opened at run time
 * and use the device's primary context, which other libraries of the process use, too.
 *
 * Functions return 0, or a number: that of a CUresult, and of a cudaError_t, which are the same.
 *
 * Lifetime: open/close by one owner. Threads: one thread at a time. For device_cuda.c, model_load.c
 * and tests; everybody else includes device.h.
 */
#ifndef HONE_RUNTIME_CUDA_CUDA_API_H
#define HONE_RUNTIME_CUDA_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/model/device/cuda_driver.h"
#include "support/core/status.h"

typedef int32_t hone_cuda_code;
typedef uint64_t hone_cuda_address; /* of device memory */
typedef struct hone_cuda hone_cuda;

typedef enum hone_cuda_library {
    HONE_CUDA_ANY, /* the runtime, or the driver where that is not installed, or too old */
    HONE_CUDA_RUNTIME,
    HONE_CUDA_DRIVER,
} hone_cuda_library;

/* What a card is; read without making a context. */
typedef struct hone_cuda_facts {
    char name[96];
    int64_t memory_bytes;
    int32_t capability; /* 90 for 9.0 */
    int32_t processors, max_threads, warp_size, registers;
    int32_t l2_bytes, shared_bytes; /* shared: per block, opted in to */
    int32_t pci_domain, pci_bus, pci_device;
} hone_cuda_facts;

typedef struct hone_cuda_dims {
    uint32_t grid[3], block[3], shared_bytes;
} hone_cuda_dims;

typedef struct hone_cuda_table {
    const char *name; /* "driver", "runtime" */
    hone_cuda_code (*device_count)(hone_cuda *self, int *out_count);
    hone_cuda_code (*describe)(hone_cuda *self, int ordinal, hone_cuda_facts *out_facts);
    hone_cuda_code (*enter)(hone_cuda *self, int ordinal); /* its primary context is current */
    void (*leave)(hone_cuda *self);
    hone_cuda_code (*alloc)(hone_cuda *self, size_t bytes, hone_cuda_address *out_address);
    hone_cuda_code (*release)(hone_cuda *self, hone_cuda_address address);
    hone_cuda_code (*copy_in)(hone_cuda *self, hone_cuda_address to, const void *from,
                              size_t bytes);
    hone_cuda_code (*copy_out)(hone_cuda *self, void *to, hone_cuda_address from, size_t bytes);
    hone_cuda_code (*fill)(hone_cuda *self, hone_cuda_address to, uint8_t byte, size_t bytes);
    hone_cuda_code (*wait)(hone_cuda *self); /* for all that was begun */
    hone_cuda_code (*event_create)(hone_cuda *self, struct CUevent_st **out_event);
    void (*event_destroy)(hone_cuda *self, struct CUevent_st *event);
    hone_cuda_code (*event_record)(hone_cuda *self, struct CUevent_st *event);
    hone_cuda_code (*event_elapsed)(hone_cuda *self, struct CUevent_st *from, struct CUevent_st *to,
                                    float *out_ms);
    /* `log` gets what the compiler of PTX has to say, "" when nothing. */
    hone_cuda_code (*load)(hone_cuda *self, const void *image, char *log, size_t log_capacity,
                           void **out_module);
    void (*unload)(hone_cuda *self, void *module);
    hone_cuda_code (*find)(hone_cuda *self, void *module, const char *symbol, void **out_function);
    hone_cuda_code (*allow_shared)(hone_cuda *self, void *function, int32_t bytes);
    hone_cuda_code (*launch)(hone_cuda *self, void *function, const hone_cuda_dims *dims,
                             void **params);
    hone_cuda_code (*capture_begin)(hone_cuda *self); /* what is launched is noted, not run … */
    hone_cuda_code (*capture_end)(hone_cuda *self, struct CUgraphExec_st **out_graph);
    hone_cuda_code (*graph_launch)(hone_cuda *self, struct CUgraphExec_st *graph);
    void (*graph_destroy)(hone_cuda *self, struct CUgraphExec_st *graph);
    const char *(*error_name)(hone_cuda *self, hone_cuda_code code); /* "CUDA_ERROR_…" */
    const char *(*error_text)(hone_cuda *self, hone_cuda_code code);
    void (*destroy)(hone_cuda *self);
} hone_cuda_table;

/* A filling begins with this. */
struct hone_cuda {
    const hone_cuda_table *table;
};

/* Opens the library; `path`: which one of that kind, NULL = as the loader finds it. UNAVAILABLE:
 * there is none, it is too old, or it finds no card. */
HONE_NODISCARD hone_status hone_cuda_open(hone_cuda_library library, const char *path,
                                          hone_cuda **out_cuda);
void hone_cuda_close(hone_cuda *cuda); /* NULL is allowed */

/* The two, for hone_cuda_open. */
HONE_NODISCARD hone_status hone_cuda_open_driver(const char *path, hone_cuda **out_cuda);
HONE_NODISCARD hone_status hone_cuda_open_runtime(const char *path, hone_cuda **out_cuda);

/* ---- shared by the two fillings ---- */

/* Numbers of CUdevice_attribute, and of cudaDeviceAttr. */
enum {
    HONE_CUDA_MAX_THREADS_PER_BLOCK = 1,
    HONE_CUDA_WARP_SIZE = 10,
    HONE_CUDA_MAX_REGISTERS_PER_BLOCK = 12,
    HONE_CUDA_MULTIPROCESSOR_COUNT = 16,
    HONE_CUDA_PCI_BUS_ID = 33,
    HONE_CUDA_PCI_DEVICE_ID = 34,
    HONE_CUDA_L2_CACHE_SIZE = 38,
    HONE_CUDA_PCI_DOMAIN_ID = 50,
    HONE_CUDA_COMPUTE_CAPABILITY_MAJOR = 75,
    HONE_CUDA_COMPUTE_CAPABILITY_MINOR = 76,
    HONE_CUDA_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

/* Asks for each number of `facts` that is an attribute. */
typedef hone_cuda_code (*hone_cuda_ask)(hone_cuda *self, int ordinal, int attribute, int *value);
hone_cuda_code hone_cuda_facts_ask(hone_cuda *self, int ordinal, hone_cuda_ask ask,
                                   hone_cuda_facts *facts);

#endif
