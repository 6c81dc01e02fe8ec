/* runner/sandbox.h - what an executor may not do, before it lets a candidate run.
 *
 * Resource limits bound memory, core dumps and file sizes; a seccomp filter refuses (with EPERM)
 * new processes, other programs, sockets, signals to others, tracing, and opening files for
 * writing. Threads are allowed. Where the kernel has no seccomp, limits alone hold.
 * Layer: support/ only.
 */
#ifndef HONE_RUNNER_SANDBOX_H
#define HONE_RUNNER_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "support/status.h"

typedef struct hone_sandbox_options {
    int64_t memory_bytes; /* address space; 0 = no limit */
    int64_t file_bytes;   /* that a candidate can write to any file, its own output included */
    bool filter;          /* install the seccomp filter */
} hone_sandbox_options;

/* Cannot be undone. IO when a limit cannot be set. *out_filtered (may be NULL): the filter is on.
 */
HONE_NODISCARD hone_status hone_sandbox_enter(const hone_sandbox_options *options,
                                              bool *out_filtered);

#endif
