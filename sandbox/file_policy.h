/* sandbox/file_policy.h - which files a held process gets, and what it may do with them.
 *
 * The warden opens in place of the process: a path is read from its memory once, judged here, and
 * opened here, so that nothing can change between the two. Refusals are EACCES whether or not
 * there is such a file.
 *
 *     granted    what the trusted side named for this request: files to read, libraries, files to
 *                write (with drafts beside them, PATH.xyz), folders of its own
 *     loader     ld.so.cache, and *.so* in the folders that the loader searches
 *     machine    what thread libraries read: CPUs, caches, NUMA nodes; its own maps, status, tasks
 *     toolchain  (compilers) what lies under the folders of the toolchain, and /dev/null
 *
 * Whatever was not granted must be readable by everybody on this machine, and is given out for
 * reading only.
 * Lifetime: create/destroy by one owner. Threads: thread-compatible.
 */
#ifndef HONE_SANDBOX_FILE_POLICY_H
#define HONE_SANDBOX_FILE_POLICY_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/filter.h"
#include "sandbox/loader_dirs.h"
#include "support/core/status.h"

typedef struct hone_file_policy hone_file_policy;

typedef enum hone_file_grant_kind {
    HONE_FILE_READ = 'r',
    HONE_FILE_LIBRARY = 'l', /* to read, as what it may need is: *.so* beside it */
    HONE_FILE_WRITE = 'w',
    HONE_FILE_FOLDER = 'd', /* what lies below, by ways that lead through no link */
} hone_file_grant_kind;

/* `toolchain`: its folders, for compilers, borrowed; NULL: none. */
HONE_NODISCARD hone_status hone_file_policy_create(hone_sandbox_profile profile,
                                                   const hone_loader_dirs *toolchain,
                                                   hone_file_policy **out_policy);
void hone_file_policy_destroy(hone_file_policy *policy); /* NULL is allowed */

/* Grants end with the next revoke; relative paths are relative to this process's folder. */
HONE_NODISCARD hone_status hone_file_policy_grant(hone_file_policy *policy,
                                                  hone_file_grant_kind kind, const char *path);
void hone_file_policy_revoke(hone_file_policy *policy);

/* The next three answer for thread `tid` of a held process, whose paths are absolute: a descriptor
 * (close-on-exec) or 0, or a negative errno. */
int hone_file_policy_open(const hone_file_policy *policy, pid_t tid, const char *path, int flags,
                          mode_t mode);
/* Opened with O_PATH: for looking at it. */
int hone_file_policy_look(const hone_file_policy *policy, pid_t tid, const char *path);

typedef enum hone_file_change {
    HONE_FILE_UNLINK,
    HONE_FILE_RMDIR,
    HONE_FILE_MKDIR,
    HONE_FILE_RENAME, /* from `path` to `other` */
    HONE_FILE_CHMOD,
} hone_file_change;
int hone_file_policy_change(const hone_file_policy *policy, pid_t tid, hone_file_change change,
                            const char *path, const char *other, mode_t mode);

/* Whether a path, as the kernel prints it, may be changed. */
bool hone_file_policy_owns(const hone_file_policy *policy, const char *path);

#endif
