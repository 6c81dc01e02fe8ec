/* runtime/model/device/opencl_driver.h - OpenCL's loader (libOpenCL.so.1), opened at run time.
 *
 * Functions return 0 or a negative number. Lifetime: a value in the caller's storage; the library
 * stays loaded until the process ends. Threads: thread-safe once opened, but for kernels'
 * arguments.
 */
#ifndef HONE_RUNTIME_MODEL_DEVICE_OPENCL_DRIVER_H
#define HONE_RUNTIME_MODEL_DEVICE_OPENCL_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hone_opencl_driver {
#define HONE_OPENCL(member, result, symbol, params) result(*member) params;
#include "runtime/model/device/opencl.def"
#undef HONE_OPENCL
} hone_opencl_driver;

/* Loads libOpenCL.so.1, as the system's loader finds it. false: out_why says what lacks. */
bool hone_opencl_driver_open(hone_opencl_driver *out_driver, char *out_why, size_t why_capacity);

#endif
