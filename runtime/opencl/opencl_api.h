/* runtime/opencl/opencl_api.h - OpenCL, opened at run time: loader, one device, programs.
 *
 * Declarations are our own. The loader finds the drivers of this machine by itself; whichever they
 * are, the same calls are made. Functions of the table return 0 or a negative number.
 *
 * Lifetime: open/close by one owner. Threads: one thread at a time. For device_opencl.c, the
 * builder's worker and tests; everybody else includes device.h.
 */
#ifndef HONE_RUNTIME_OPENCL_OPENCL_API_H
#define HONE_RUNTIME_OPENCL_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "target/target.h"

/* What a device is. */
typedef struct hone_opencl_facts {
    char platform[96], name[96];
    int64_t memory_bytes, max_memory_bytes; /* in all, of one buffer */
    int64_t cache_bytes;
    int64_t shared_bytes; /* of a block */
    int32_t max_threads;  /* of a block */
} hone_opencl_facts;

typedef struct hone_opencl {
#define HONE_OPENCL(member, result, symbol, params) result(*member) params;
#include "runtime/model/device/opencl.def"
#undef HONE_OPENCL
    void *device, *context, *queue; /* NULL before hone_opencl_enter */
    hone_opencl_facts facts;
} hone_opencl;

enum { HONE_OPENCL_MAX_DEVICES = 64 };

/* Opens the system's loader. UNAVAILABLE: there is none. */
HONE_NODISCARD hone_status hone_opencl_open(hone_opencl **out_opencl);
void hone_opencl_close(hone_opencl *opencl); /* NULL is allowed */

/* The devices of this machine, platform by platform; one platform that fails is left out. */
void hone_opencl_list(const hone_opencl *opencl, void *out_devices[HONE_OPENCL_MAX_DEVICES],
                      int32_t *out_count);
HONE_NODISCARD hone_status hone_opencl_describe(const hone_opencl *opencl, void *device,
                                                hone_opencl_facts *out_facts);
/* The target of the device that is found first, with its limits: threads as many as a launch may
 * have. UNAVAILABLE: there is none. */
HONE_NODISCARD hone_status hone_opencl_first_target(hone_target *out_target);
/* Makes context and queue on the device of that number. UNAVAILABLE: no such device, or it cannot
 * be used. */
HONE_NODISCARD hone_status hone_opencl_enter(hone_opencl *opencl, int32_t number);

/* ---- programs ---- */

/* Text to a program; for clReleaseProgram. ILLEGAL with what the compiler said. */
HONE_NODISCARD hone_status hone_opencl_compile(const hone_opencl *opencl, const char *text,
                                               size_t length, void **out_program);

/* ---- errors ---- */

const char *hone_opencl_code_name(int32_t code); /* "CL_OUT_OF_RESOURCES", or "error -9999" */
/* HONE_OK for 0; NO_MEMORY, IO: "what: NAME". */
HONE_NODISCARD hone_status hone_opencl_error(int32_t code, const char *what);

#endif
