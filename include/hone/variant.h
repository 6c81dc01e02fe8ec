/* hone/variant.h - other algorithms for what a kernel computes, its variants (Winograd's for a
 * convolution, say; docs/tuning.md): which of them a tune searches and which a compilation takes,
 * of records or as default schedules. Both want the same options.
 */
#ifndef HONE_VARIANT_H
#define HONE_VARIANT_H

#include <stddef.h>

#include <hone/error.h>

HONE_BEGIN_DECLS

/* Members that are 0 or NULL have the default. Texts live until the call returns. It may get more
 * members. */
typedef struct hone_variant_options {
    size_t size;             /* sizeof(hone_variant_options) */
    const char *variants;    /* "none", "exact" (default: no more rounding than other orders of sums
                                have; subnormal bfloat16 may be 0), "all" (default with max_error: all
                                that declare an error of 1e-3 at most) */
    const double *max_error; /* the largest error that one may declare, relative to the largest
                                output; for "all" alone; at least 0 */
    size_t variant_count;    /* programs of yours that compute what a task computes, at most 16 */
    const char *const *variant; /* their paths, TVMScript; the attribute "error" of one is what it
                                   declares, which must be allowed */
} hone_variant_options;

HONE_END_DECLS

#endif
