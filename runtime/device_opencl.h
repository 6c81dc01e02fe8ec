/* runtime/device_opencl.h - an OpenCL device: whatever the ICD loader finds, PoCL on a CPU too.
 *
 * Memory lies between zones of a known pattern, which are looked at after a run; what kernels may
 * only read is known by its hash. An artifact is OpenCL C, compiled where it is loaded: drivers
 * keep what they make of it in a form of their own, for one device, and compile the rest when they
 * know the launch.
 */
#ifndef HONE_RUNTIME_DEVICE_OPENCL_H
#define HONE_RUNTIME_DEVICE_OPENCL_H

#include "runtime/device.h"

/* number: of the device, as hone_opencl_list counts; memory_bytes: of its memory that may be used,
 * 0: all. UNAVAILABLE: no OpenCL, no such device. */
HONE_NODISCARD hone_status hone_device_create_opencl(int32_t number, int64_t memory_bytes,
                                                     hone_device **out_device);

#endif
