/* support/os/scratch.h - private folders for temporary files that do not outlive their owner for
 * long.
 *
 * A folder TMPDIR/PREFIX.XXXXXX is locked (flock(2)) while its owner has it. Whoever makes one
 * removes those of the same prefix and user whose lock is free: their owners were killed.
 *
 *     open ──► locked ──close──► removed
 *                 └──(killed)──► lock free ──(next open of that prefix)──► removed
 *
 * Lifetime: a value in the caller's storage from _open to _close. Threads: thread-compatible.
 */
#ifndef HONE_SUPPORT_OS_SCRATCH_H
#define HONE_SUPPORT_OS_SCRATCH_H

#include "support/core/attributes.h"
#include "support/core/status.h"

typedef struct hone_scratch {
    char *path; /* owned; NULL: none */
    int lock_fd;
} hone_scratch;

/* Makes one (0700) under $TMPDIR or /tmp; errors as for hone_fs_temp_dir. Folders of that one with
 * the same prefix would be taken for left. */
HONE_NODISCARD hone_status hone_scratch_open(const char *prefix, hone_scratch *out_scratch);

/* Removes it with what is in it; fine for one without a path, which it leaves. */
HONE_NODISCARD hone_status hone_scratch_close(hone_scratch *scratch);

#endif
