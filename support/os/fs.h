/* support/os/fs.h - files, directories and paths.
 *
 * Paths are byte strings with '/'. Returned strings are owned by the caller (hone_free). Messages
 * of failures begin with the path. Thread-safe (no state).
 */
#ifndef HONE_SUPPORT_OS_FS_H
#define HONE_SUPPORT_OS_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"

/* Reads a whole file ("-": standard input); a NUL follows the bytes. NOT_FOUND, IO, INVALID when it
 * has more than `max_bytes` or is a directory, NO_MEMORY. */
HONE_NODISCARD hone_status hone_fs_read(const char *path, size_t max_bytes, char **out_bytes,
                                        size_t *out_count);

/* Reads `count` bytes from `offset` on of a file that has a size, and nothing else of it.
 * NOT_FOUND, IO, INVALID when they are beyond its end, UNSUPPORTED for what is no regular file (a
 * pipe is not waited for). */
HONE_NODISCARD hone_status hone_fs_read_part(const char *path, uint64_t offset, uint64_t count,
                                             void *out_bytes);

/* Writes to a file without a name in the same directory, syncs and names it: readers see the old
 * file or the new one, never a part, and a writer that is killed leaves nothing. Where a file
 * system has no such files, it has a temporary name. "-" writes to standard output; a pipe or
 * device is written to as it is. IO (also when there is no such directory), NO_MEMORY. */
HONE_NODISCARD hone_status hone_fs_write_atomic(const char *path, const void *bytes, size_t count);

/* As hone_fs_write_atomic, but never over a file: one that is there, or that another process makes
 * meanwhile, stays as it is, which is no failure; nor is a file system that cannot do this. */
HONE_NODISCARD hone_status hone_fs_write_new(const char *path, const void *bytes, size_t count);

/* hone_fs_write_atomic in steps, for writers that stream: open, write to `fd`, then commit or
 * abandon. */
typedef struct hone_fs_draft {
    int fd;
    char *path, *temporary; /* owned; temporary NULL: it has none */
    bool is_nameless;       /* until it is committed; else without a temporary: a pipe or device */
} hone_fs_draft;
HONE_NODISCARD hone_status hone_fs_draft_open(const char *path, hone_fs_draft *out_draft);
HONE_NODISCARD hone_status hone_fs_draft_commit(hone_fs_draft *draft); /* ends the draft always */
void hone_fs_draft_abandon(hone_fs_draft *draft);                      /* {0} is allowed */

/* The descriptor of this process that a path is another name of, as /dev/stdout; -1: of none. It
 * is written to from where it stands: its name in /dev is not replaced by a file. */
int hone_fs_own_descriptor(const char *path);
bool hone_fs_exists(const char *path);
bool hone_fs_is_dir(const char *path);
bool hone_fs_is_file(const char *path); /* a regular one: no device, pipe or terminal */
bool hone_fs_is_same(const char *path, const char *other); /* both exist, and are one file */
HONE_NODISCARD hone_status hone_fs_size(const char *path, int64_t *out_bytes);

/* May a file be made there (or replaced), as far as can be told without trying? Its name and that
 * name with an ending of so many bytes more are not too long (INVALID), the directory is there and
 * open to writers (IO). _new_dir: a directory, with those above it that are not there. _names:
 * lengths alone; its message names the part that is too long, not the path. */
HONE_NODISCARD hone_status hone_fs_check_place(const char *path, size_t ending);
HONE_NODISCARD hone_status hone_fs_check_new_dir(const char *path);
HONE_NODISCARD hone_status hone_fs_check_names(const char *path, size_t ending);

/* Makes a directory and those above it; fine when it is there. */
HONE_NODISCARD hone_status hone_fs_mkdirs(const char *path);

/* Makes a private directory (0700) under $TMPDIR or /tmp; returns its path, owned by the caller. */
HONE_NODISCARD hone_status hone_fs_temp_dir(const char *prefix, char **out_path);

/* Removes a file, or a directory with what is in it; does not follow links; fine when absent. */
HONE_NODISCARD hone_status hone_fs_remove_tree(const char *path);
HONE_NODISCARD hone_status hone_fs_remove_file(const char *path); /* fine when absent */

/* Calls back with each name (not "." and ".."), in byte order; false stops. */
HONE_NODISCARD hone_status hone_fs_list(const char *path,
                                        bool (*visit)(void *context, const char *name),
                                        void *context);

/* `a`/`b`; `b` alone when it is absolute or `a` is empty. NULL only when memory runs out. */
char *hone_path_join(const char *a, const char *b);
/* The path without its last part: "a/b" → "a", "a" → ".", "/a" → "/". */
char *hone_path_dirname(const char *path);
/* The last part, inside of `path`: "a/b.c" → "b.c". */
const char *hone_path_basename(const char *path);
/* From the last dot of the basename, inside of `path`: "a/b.c" → ".c"; "" when there is none. */
const char *hone_path_extension(const char *path);

/* A name as that of a file with a short ending: itself, or when it is too long for that its begin
 * and a hash of all of it. NULL only when memory runs out. */
char *hone_path_short_name(const char *name);

/* The directory of the running program; IO, NO_MEMORY. */
HONE_NODISCARD hone_status hone_fs_program_dir(char **out_path);

/* Whole transfers on a descriptor, over interrupts and short counts. _read_full stops early at the
 * end of the file: *out_count says where. */
HONE_NODISCARD hone_status hone_fd_write_full(int fd, const void *bytes, size_t count);
HONE_NODISCARD hone_status hone_fd_read_full(int fd, void *bytes, size_t count, size_t *out_count);

#endif
