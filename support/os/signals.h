/* support/os/signals.h - signals as something to poll, for programs that serve.
 *
 * Threads: _take before any is started, so that all of them leave the signals to the descriptor.
 */
#ifndef HONE_SUPPORT_OS_SIGNALS_H
#define HONE_SUPPORT_OS_SIGNALS_H

#include <signal.h>
#include <stddef.h>

#include "support/core/status.h"

/* Blocks the signals and gives a descriptor that is readable when one has come; the caller closes
 * it. SIGPIPE is ignored from now on. IO; *out_fd is -1 then. */
HONE_NODISCARD hone_status hone_signals_take(const int *signals, size_t count, int *out_fd);

/* The next one that has come; 0 when there is none, or the descriptor gives something else. */
int hone_signals_next(int fd);

#endif
