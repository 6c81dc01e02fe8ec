/* support/os/scratch.c - see scratch.h. */
#include "support/os/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { RANDOM_LETTERS = 6, MAX_TRIES = 8 };

static const char *base_dir(void) {
    const char *base = getenv("TMPDIR");
    return base && base[0] ? base : "/tmp";
}

/* The folder, locked; -1 when somebody has it, or it is not this user's. */
static int lock_folder(const char *path) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

/* ---- what others left ---- */

static void remove_if_left(const char *base, const char *name) {
    char *path = hone_path_join(base, name);
    int fd = path ? lock_folder(path) : -1;
    if (fd >= 0) {
        hone_status_free(hone_fs_remove_tree(path)); /* else the next one tries again */
        close(fd);
    }
    hone_free(path);
}

static void remove_left(const char *prefix) {
    const size_t length = strlen(prefix);
    DIR *dir = opendir(base_dir());
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strncmp(name, prefix, length) == 0 && name[length] == '.' &&
            strlen(name + length + 1) == RANDOM_LETTERS)
            remove_if_left(base_dir(), name);
    }
    if (dir) closedir(dir);
}

/* ---- opening ---- */

/* Whether it is still there: until it was locked, somebody could take it for left. */
static bool is_kept(const hone_scratch *scratch) {
    struct stat here, locked;
    return scratch->lock_fd >= 0 && lstat(scratch->path, &here) == 0 &&
           fstat(scratch->lock_fd, &locked) == 0 && here.st_dev == locked.st_dev &&
           here.st_ino == locked.st_ino;
}

static void forget(hone_scratch *scratch) {
    if (scratch->lock_fd >= 0) close(scratch->lock_fd);
    hone_free(scratch->path);
    *scratch = (hone_scratch){.lock_fd = -1};
}

hone_status hone_scratch_open(const char *prefix, hone_scratch *out_scratch) {
    *out_scratch = (hone_scratch){.lock_fd = -1};
    remove_left(prefix);
    for (int i = 0; i < MAX_TRIES; i++) {
        HONE_TRY(hone_fs_temp_dir(prefix, &out_scratch->path));
        out_scratch->lock_fd = lock_folder(out_scratch->path);
        if (is_kept(out_scratch)) return HONE_OK;
        (void)rmdir(out_scratch->path);
        forget(out_scratch);
    }
    return HONE_ERROR(HONE_CODE_IO, "%s: a temporary folder there cannot be locked", base_dir());
}

hone_status hone_scratch_close(hone_scratch *scratch) {
    if (!scratch->path) return HONE_OK;
    hone_status st = hone_fs_remove_tree(scratch->path);
    forget(scratch);
    return st;
}
