/* runner/executor.h - the child process that candidates run in: `hone-runner --executor`.
 *
 *     HELLO ─► ( REQUEST ─► STARTED | WAITING … ─► RESULT )* ─► end of input
 *
 * It trusts the runner and nothing that a candidate leaves behind: when in doubt it dies, and the
 * runner starts another one. HELLO says which layers of the sandbox hold it.
 * Layer: support/, sandbox/, measure/, runtime/.
 */
#ifndef HONE_RUNNER_EXECUTOR_H
#define HONE_RUNNER_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/status.h"

#define HONE_EXECUTOR_FD 3                   /* the socket to the runner, when it starts */
#define HONE_EXECUTOR_OUTPUT_BYTES (1 << 20) /* of a candidate's own output that are kept */

typedef struct hone_executor_options {
    int fd;                 /* socket to the runner */
    int control_fd;         /* of its warden, to the runner */
    const char *quiet_path; /* lock file of the quiet gate, or NULL */
    const char *device;     /* that candidates run on (runtime/device.h); NULL: "cpu" */
    int64_t memory_bytes;   /* address space limit, on devices apart: of their memory; 0 = none */
    bool unsandboxed;
    unsigned without; /* layers of the sandbox, hone_sandbox_layer */
} hone_executor_options;

/* Serves until the runner goes away; then HONE_OK. To be called
 * once, by a process that does nothing else: it forks, changes limits, signal handlers,
 * descriptors. UNAVAILABLE: candidates cannot be held here. */
HONE_NODISCARD hone_status hone_executor_serve(const hone_executor_options *options);

#endif
