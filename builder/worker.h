/* builder/worker.h - what hone-worker does, and how the builder talks to it.
 *
 * Requests and results are framed messages (support/os/proc.h) of the wire form (measure/wire.h) on
 * one socket, descriptor HONE_WORKER_FD. The worker answers them one after the other and ends when
 * the other side is gone.
 */
#ifndef HONE_BUILDER_WORKER_H
#define HONE_BUILDER_WORKER_H

#include "support/core/status.h"

enum { HONE_WORKER_FD = 3 };

/* Returns when the socket has ended, HONE_OK, or with what went wrong on it. */
HONE_NODISCARD hone_status hone_worker_serve(int fd);

#endif
