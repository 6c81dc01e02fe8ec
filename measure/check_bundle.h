/* measure/check_bundle.h - what a workload's candidates are checked against: how to make the
 * inputs, the reference outputs, the error bounds. Made once per workload by the tuner, cached by
 * runners.
 *
 * A bundle is a file: "HONEBNDL", format version, CBOR head, reference tensors at multiples of 64
 * bytes. Opening maps the file; the bundle points into the mapping until it is closed. Its identity
 * is the 128-bit hash of the whole file, as 32 hex digits.
 */
#ifndef HONE_MEASURE_CHECK_BUNDLE_H
#define HONE_MEASURE_CHECK_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "measure/bound.h"
#include "measure/generator.h"
#include "measure/manifest.h"
#include "support/status.h"

#define HONE_CHECK_BUNDLE_SUFFIX ".check"

/* One argument, in the order of the manifest. */
typedef struct hone_check_tensor {
    hone_dtype dtype;
    hone_arg_role role;
    int64_t count;              /* elements */
    hone_generator generator;   /* IN and INOUT */
    hone_dtype reference_dtype; /* OUT and INOUT: what `reference` holds */
    const void *reference;      /* `count` elements; NULL for IN */
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
 * a tensor is not sane, IO. */
HONE_NODISCARD hone_status hone_check_bundle_write(hone_check_bundle *bundle, const char *path);

/* Maps and checks a bundle file; nothing in it is believed. INVALID: not a bundle or damaged;
 * VERSION: of a later format; NOT_FOUND, IO. */
HONE_NODISCARD hone_status hone_check_bundle_open(const char *path, hone_check_bundle *out_bundle);
/* The same over bytes that the caller keeps alive. */
HONE_NODISCARD hone_status hone_check_bundle_parse(const void *bytes, size_t byte_count,
                                                   hone_check_bundle *out_bundle);
void hone_check_bundle_close(hone_check_bundle *bundle); /* {0} is allowed */

/* INVALID with the reason unless the bundle's tensors are those of the manifest. */
HONE_NODISCARD hone_status hone_check_bundle_fits(const hone_check_bundle *bundle,
                                                  const hone_manifest *manifest);

/* Fills the input data of argument `index` (IN and INOUT). */
HONE_NODISCARD hone_status hone_check_bundle_fill(const hone_check_bundle *bundle, size_t index,
                                                  void *data);

#endif
