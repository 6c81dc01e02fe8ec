/* runtime/device.h - where kernels run: buffers, modules, launches, behind one table of functions.
 *
 * Backends, by their rows of devices.def: cpu (shared objects in this process), null (nothing runs,
 * outputs are zero), cuda and opencl (memory that the host does not see).
 *
 * Lifetime: open/destroy by one owner; buffers and modules end before their device.
 * Threads:  one thread at a time uses a device.
 * Layer:    may include support/, target/, measure/, runtime/model/.
 */
#ifndef HONE_RUNTIME_DEVICE_H
#define HONE_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/failure.h"
#include "measure/manifest.h"
#include "measure/run.h"
#include "support/core/status.h"

typedef struct hone_device hone_device;

/* A backend's buffer begins with this. */
typedef struct hone_device_buffer {
    size_t bytes;
    void *host; /* its data for the host; NULL when the host does not see this memory */
} hone_device_buffer;

typedef struct hone_device_module hone_device_module; /* a loaded artifact */

/* An artifact to load: a file, or bytes when path is NULL. */
typedef struct hone_device_artifact {
    const char *path;
    const uint8_t *bytes;
    size_t byte_count;
    const char *extern_path; /* library with external functions, or NULL */
} hone_device_artifact;

/* A device by its name: "cpu" (kernels run in this process, on one thread to begin with), "null",
 * "opencl", "cuda", "cuda:1" (the second card). memory_bytes: of its own memory that may be used;
 * 0: all. INVALID: no such name; UNAVAILABLE: no such device here. */
HONE_NODISCARD hone_status hone_device_open(const char *name, int64_t memory_bytes,
                                            hone_device **out_device);
void hone_device_destroy(hone_device *device); /* NULL is allowed */
/* INVALID, "nothing runs kernels for 'metal'", unless there is such a kind of device. */
HONE_NODISCARD hone_status hone_device_name_check(const char *name);
/* Whether a device of this name runs kernels in this process's memory, as the host's code. */
bool hone_device_name_is_host(const char *name);
/* Whether a device of this name starts compilers in this process when it loads an artifact. */
bool hone_device_name_compiles(const char *name);
/* Whether a device of this name computes and times by itself, whatever this machine's CPUs do. */
bool hone_device_name_is_alone(const char *name);

/* How many threads kernels may use from now on. UNAVAILABLE when they cannot be started. */
HONE_NODISCARD hone_status hone_device_set_threads(hone_device *device, int32_t threads);

/* ---- buffers ---- */

/* `index` is the number of the argument: it decides on which side of its guard the buffer lies.
 * NO_MEMORY. */
HONE_NODISCARD hone_status hone_device_buffer_create(hone_device *device, size_t bytes,
                                                     size_t index, hone_device_buffer **out_buffer);
void hone_device_buffer_destroy(hone_device *device, hone_device_buffer *buffer); /* NULL is ok */
HONE_NODISCARD hone_status hone_device_buffer_write(hone_device *device, hone_device_buffer *buffer,
                                                    const void *data);
HONE_NODISCARD hone_status hone_device_buffer_read(hone_device *device,
                                                   const hone_device_buffer *buffer, void *data);
/* Fills with what is a NaN in every float type. */
HONE_NODISCARD hone_status hone_device_buffer_poison(hone_device *device,
                                                     hone_device_buffer *buffer);
/* Read-only for kernels from now on, or writable again; a device that cannot protect does not. */
HONE_NODISCARD hone_status hone_device_buffer_protect(hone_device *device,
                                                      hone_device_buffer *buffer, bool writable);
/* Bytes relative to the data where somebody wrote beside it, or into what is protected; INT64_MIN:
 * nobody did. */
int64_t hone_device_buffer_damage(hone_device *device, hone_device_buffer *buffer);
/* Whether an address is in or just beside a buffer, and how far from its beginning. Safe in a
 * signal handler. */
bool hone_device_buffer_contains(const hone_device *device, const hone_device_buffer *buffer,
                                 const void *address, int64_t *out_offset);

/* Where a buffer's data lies, in DLPack's words. */
typedef struct hone_device_place {
    int32_t type, number; /* of DLDevice */
    void *data;           /* an address of that device; of OpenCL a cl_mem */
} hone_device_place;
hone_device_place hone_device_buffer_place(const hone_device *device,
                                           const hone_device_buffer *buffer);

/* ---- kernels ---- */

/* INVALID: not an artifact, or without the entry; ILLEGAL: text that the device's compiler refuses;
 * UNSUPPORTED: for another machine or with CPU features that this one lacks; NOT_FOUND: an external
 * function; VERSION: another ABI. */
HONE_NODISCARD hone_status hone_device_load(hone_device *device,
                                            const hone_device_artifact *artifact,
                                            const hone_manifest *manifest,
                                            hone_device_module **out_module);
void hone_device_unload(hone_device *device, hone_device_module *module); /* NULL is allowed */

/* What others do with an argument between two runs. */
typedef enum hone_device_touch {
    HONE_TOUCH_NONE,
    HONE_TOUCH_MAKE, /* it is made in front of each run; its memory is writable */
    HONE_TOUCH_USE   /* it is used behind each run, and others' values lie in its memory then */
} hone_device_touch;

/* Places that an argument lies at in turn, run after run. */
typedef struct hone_device_places {
    hone_device_touch touch;
    size_t count, next;           /* 0: it stays where it is */
    hone_device_buffer **buffers; /* as many */
} hone_device_places;

typedef struct hone_device_turns {
    size_t count; /* of arguments */
    hone_device_places *args;
} hone_device_turns;

typedef struct hone_device_launch {
    hone_device_module *module;
    hone_device_buffer *const *buffers; /* as many as the manifest has arguments */
    int64_t count;                      /* runs, one after the other */
    hone_cache_state cache;
    hone_device_turns
        *turns; /* NULL = none; devices that have no caches of the host's do without */
} hone_device_launch;

/* A code that no kernel returns: it came back, but with rounding, the handling of subnormal numbers
 * or traps of the processor otherwise than it found them. They have been put back. */
#define HONE_DEVICE_LEFT_CHANGED INT32_MIN

/* Runs and waits; *out_ns is the time of all runs (flushing not counted). Returns 0, the code of
 * the first run that failed, or HONE_DEVICE_LEFT_CHANGED. */
int32_t hone_device_run(hone_device *device, const hone_device_launch *launch, int64_t *out_ns);
/* What the last failing kernel said; "" when nothing. */
void hone_device_take_error(hone_device *device, char *message, size_t capacity);
/* What the last run that failed is to a trial: RUN_CRASH, RUN_TIMEOUT, or DEVICE_LOST when no
 * kernel can be blamed. Whatever follows on a device that is lost to a kernel is not that kernel's.
 */
hone_failure hone_device_fault(const hone_device *device);

#endif
