/* measure/manifest.h - what an artifact is: its entry point, its arguments, what it needs.
 *
 * The builder writes it, the runner believes it only after hone_manifest_check. Plain values:
 * whoever made it owns what it points to (usually an arena). Layer: support/ only.
 */
#ifndef HONE_MEASURE_MANIFEST_H
#define HONE_MEASURE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/launch.h"
#include "support/core/status.h"
#include "support/data/dtype.h"
#include "support/data/tensor.h"

#define HONE_MANIFEST_MAX_ARGS 256
#define HONE_MANIFEST_MAX_SIZES 64
#define HONE_MANIFEST_MAX_EXTERNS 256
#define HONE_ARG_MAX_BYTES (INT64_C(1) << 38)

typedef enum hone_arg_role {
    HONE_ARG_IN,    /* read only: the runner maps it read-only, a write is a crash */
    HONE_ARG_OUT,   /* every element is written: poisoned before the run, compared after it */
    HONE_ARG_INOUT, /* filled before the run and compared after the first one */
} hone_arg_role;

/* One buffer parameter: dense, row-major, 64-byte aligned, of a static shape. */
typedef struct hone_arg {
    const char *name; /* for messages; "" is allowed */
    hone_dtype dtype; /* one lane */
    hone_arg_role role;
    uint32_t rank;
    int64_t shape[HONE_MAX_RANK];
} hone_arg;

typedef struct hone_manifest {
    uint32_t abi_version; /* HONE_ABI_VERSION of runtime/model/abi.h */
    const char *entry;    /* symbol of the hone_kernel */
    const char *target;   /* canonical target text that it was built for; NULL = not known */
    size_t arg_count;     /* buffers, in the order of the kernel's `buffers` */
    const hone_arg *args;
    size_t size_count; /* the kernel's `sizes`, in order */
    const int64_t *sizes;
    size_t extern_count; /* names the kernel looks up with find_extern */
    const char *const *externs;
    /* A device's kernels instead of a hone_kernel: how they are launched (measure/launch.h).
     * Without launches it is a kernel of the host, and the lists are empty. */
    size_t value_count;
    const hone_launch_value *values;
    size_t scratch_count;   /* memory of the device that lives as long as a call */
    const int32_t *scratch; /* number of the value: bytes */
    size_t launch_count;
    const hone_launch *launches;
} hone_manifest;

/* One lane of something with a value: any integer, float or bool; no handle, no void. */
bool hone_dtype_is_measurable(hone_dtype dtype);

/* Elements and bytes of an argument; -1 when a size is negative or the product overflows or is
 * above HONE_ARG_MAX_BYTES. A rank of 0 is one element; an extent of 0 is none. */
int64_t hone_arg_elements(const hone_arg *arg);
int64_t hone_arg_bytes(const hone_arg *arg);

const char *hone_arg_role_name(hone_arg_role role); /* "in", "out", "inout" */

/* INVALID with the reason: counts within the limits above, names not empty, shapes and launches
 * sane. */
HONE_NODISCARD hone_status hone_manifest_check(const hone_manifest *manifest);

#endif
