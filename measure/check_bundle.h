/* measure/check_bundle.h - what a workload's candidates are checked against: the inputs or how to
 * make them, the reference outputs, the error bounds. Made once per workload by the tuner, cached
 * by runners.
 *
 * A bundle is a file: "HONEBNDL", format version, CBOR head, tensors at multiples of 64 bytes:
 * references, and inputs that no generator makes. Opening maps the file; the bundle points into the
 * mapping until it is closed. Its identity is the 128-bit hash of the whole file, as 32 hex digits.
 * The format is 1 unless it holds inputs or lacks references: then it is 2, which older builds
 * refuse.
 */
#ifndef HONE_MEASURE_CHECK_BUNDLE_H
#define HONE_MEASURE_CHECK_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "measure/bound.h"
#include "measure/generator.h"
#include "measure/manifest.h"
#include "support/core/status.h"

#define HONE_CHECK_BUNDLE_SUFFIX ".check"

/* One argument, in the order of the manifest. */
typedef struct hone_check_tensor {
    hone_dtype dtype;
    hone_arg_role role;
    int64_t count;              /* elements */
    hone_generator generator;   /* IN and INOUT */
    const void *values;         /* the same: `count` elements in place of those of the generator;
                                   NULL = there are none */
    hone_dtype reference_dtype; /* OUT and INOUT: what `reference` holds */
    const void *reference;      /* `count` elements; NULL for IN, and where nothing is compared */
    double bound;               /* OUT and INOUT: hone_error_bound of this output */
    double plain_deviation;     /* what the bound was made from, for reports */
    double reference_max;
} hone_check_tensor;

typedef struct hone_check_bundle {
    uint64_t seed;
    size_t count;
    hone_check_tensor *tensors;
    char id[33];   /* set by _open and by _write */
    void *mapping; /* set by _open */
    size_t map_bytes;
} hone_check_bundle;

/* Writes a bundle to a temporary name and renames it to `path`; fills bundle->id. INVALID when
 * a tensor is not sane, or not all or none of its outputs have references; IO. */
HONE_NODISCARD hone_status hone_check_bundle_write(hone_check_bundle *bundle, const char *path);

/* Maps and checks a bundle file; nothing in it is believed. INVALID: not a bundle or damaged;
 * VERSION: of a later format; NOT_FOUND, IO. */
HONE_NODISCARD hone_status hone_check_bundle_open(const char *path, hone_check_bundle *out_bundle);
/* hone_check_bundle_open over bytes that the caller keeps alive. */
HONE_NODISCARD hone_status hone_check_bundle_parse(const void *bytes, size_t byte_count,
                                                   hone_check_bundle *out_bundle);
void hone_check_bundle_close(hone_check_bundle *bundle); /* {0} is allowed */

/* Has every output a reference? Else the bundle says no more than what the inputs are. */
bool hone_check_bundle_is_complete(const hone_check_bundle *bundle);

/* INVALID with the reason unless the bundle's tensors are those of the manifest. */
HONE_NODISCARD hone_status hone_check_bundle_fits(const hone_check_bundle *bundle,
                                                  const hone_manifest *manifest);

/* Fills the input data of argument `index` (IN and INOUT). */
HONE_NODISCARD hone_status hone_check_bundle_fill(const hone_check_bundle *bundle, size_t index,
                                                  void *data);

#endif
