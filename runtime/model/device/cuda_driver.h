/* runtime/model/device/cuda_driver.h - the CUDA driver, opened at run time: no header of NVIDIA's
 * is needed to build, and no library to start.
 *
 * Handles are pointers to structures that only the driver knows. Functions return 0, or a number
 * that `error_name` and `error_text` have words for; runtime/cuda/cuda_fault.h says whose fault it
 * is. Lifetime: a value in the caller's storage; the library stays loaded until the process ends,
 * since the driver keeps threads. Threads: thread-safe once opened.
 */
#ifndef HONE_RUNTIME_MODEL_DEVICE_CUDA_DRIVER_H
#define HONE_RUNTIME_MODEL_DEVICE_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

typedef struct hone_cuda_driver {
#define HONE_CU(member, symbol, parameters) unsigned int(*member) parameters;
#include "runtime/model/device/cuda_driver.def"
#undef HONE_CU
} hone_cuda_driver;

/* Numbers of the enumerations of cuda.h, by NVIDIA's promise the same for ever. */
enum {
    HONE_CU_STREAM_NON_BLOCKING = 1,
    HONE_CU_CAPTURE_THREAD_LOCAL = 1,
    HONE_CU_JIT_ERROR_LOG_BUFFER = 5,
    HONE_CU_JIT_ERROR_LOG_BUFFER_BYTES = 6,
    HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
};

/* Loads `path` (NULL: libcuda.so.1, as the loader finds it). false: out_why says what lacks. */
bool hone_cuda_driver_open(const char *path, hone_cuda_driver *out_driver, char *out_why,
                           size_t why_capacity);

#endif
