/* runtime/roofline.h - what this machine can do at most: arithmetic and memory.
 *
 * Measured, in some 50 ms: multiply-adds of float32 in registers, by the widest vectors that there
 * are, and sums over more memory than caches hold. What lies in caches comes faster than that.
 */
#ifndef HONE_RUNTIME_ROOFLINE_H
#define HONE_RUNTIME_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"

typedef struct hone_roofline {
    double flops_per_ns; /* GFLOPS, all threads together */
    double bytes_per_ns; /* GB/s, all threads together */
} hone_roofline;

/* NO_MEMORY; UNAVAILABLE: threads cannot be started. */
HONE_NODISCARD hone_status hone_roofline_measure(int32_t threads, hone_roofline *out);

/* The least time that so much work takes. *out_by_memory: because of the bytes. */
double hone_roofline_ns(const hone_roofline *roofline, double flops, double bytes,
                        bool *out_by_memory);

#endif
