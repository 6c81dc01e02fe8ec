/* support/os/quiet.h - the quiet gate: one lock per machine and user between work and timing.
 *
 * Whoever loads the machine (builds, search, training) may hold the gate shared; a batch of
 * timings holds it alone. Tunes and runners in different processes use the same lock file. Who
 * waits to be alone keeps new sharers out (a turnstile), so timing is never starved:
 *
 *     byte 0, turnstile: held for a moment by sharers, for the whole wait by who wants to be alone
 *     byte 1, gate:      shared or exclusive
 *
 * Locks belong to the open file and vanish with the process, also by SIGKILL. A stopped process
 * (SIGSTOP) keeps its lock: stop only what holds none.
 * Lifetime: open/close. Threads: one gate handle per thread.
 */
#ifndef HONE_SUPPORT_OS_QUIET_H
#define HONE_SUPPORT_OS_QUIET_H

#include <stdbool.h>
#include <stdint.h>

#include "support/core/attributes.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"

typedef enum hone_quiet_mode { HONE_QUIET_SHARED, HONE_QUIET_ALONE } hone_quiet_mode;

typedef struct hone_quiet_gate {
    int fd; /* -1: closed */
    bool is_held;
} hone_quiet_gate;

/* Appends the path that NULL stands for below (for child processes that are told where the gate
 * is), and makes its directory. */
HONE_NODISCARD hone_status hone_quiet_default_path(hone_str *path);

/* Opens the lock file; `path` NULL: "hone/quiet.lock" under XDG_RUNTIME_DIR, else a directory of
 * this user under /tmp that nobody else can write. IO; INVALID: that directory is not ours. */
HONE_NODISCARD hone_status hone_quiet_open(const char *path, hone_quiet_gate *out_gate);
void hone_quiet_close(hone_quiet_gate *gate); /* also lets go */

/* Takes the gate, which is not held. TIMEOUT: the deadline passed, nothing is held. */
HONE_NODISCARD hone_status hone_quiet_begin(hone_quiet_gate *gate, hone_quiet_mode mode,
                                            const hone_clock *clock, int64_t deadline_ns);
void hone_quiet_end(hone_quiet_gate *gate);

/* True when somebody else waits to be alone or is: sharers should let go soon. */
bool hone_quiet_is_wanted(const hone_quiet_gate *gate);

#endif
