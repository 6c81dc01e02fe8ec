/* tools/programs/hone_runner_status.h - a file by which others see that a daemon lives and serves:
 * `hone-runner --status FILE` writes it every few seconds, `--check FILE` looks at it.
 */
#ifndef HONE_TOOLS_PROGRAMS_HONE_RUNNER_STATUS_H
#define HONE_TOOLS_PROGRAMS_HONE_RUNNER_STATUS_H

#include "runner/farm/daemon.h"

/* Writes what a daemon is. A file that cannot be written is left as it is: it
 * grows old, and that is seen. */
void runner_status_note(const char *path, const hone_daemon_stats *stats);

/* UNAVAILABLE: no daemon wrote the file within the last 30 s, or (must_serve) it was not welcome at
 * a tracker then. */
HONE_NODISCARD hone_status runner_status_check(const char *path, bool must_serve);

#endif
