/* support/os/fs_place.c - may a file be made there? Asked before the work that would fill it. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

static hone_status too_long(const char *name, size_t length, size_t ending) {
    enum { SHOWN = 32 };
    return HONE_ERROR(HONE_CODE_INVALID, "the name '%.*s%s' has %zu bytes, must have %zu at most",
                      SHOWN, name, length > SHOWN ? "..." : "", length, (size_t)NAME_MAX - ending);
}

hone_status hone_fs_check_names(const char *path, size_t ending) {
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/"), more = at[length] ? 0 : ending;
        if (length + more > NAME_MAX) return too_long(at, length, more);
        at += length;
        at += strspn(at, "/");
    }
    size_t bytes = strlen(path);
    if (bytes + ending < PATH_MAX) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the path '%.32s...' has %zu bytes, must have %zu at most",
                      path, bytes, (size_t)PATH_MAX - 1 - ending);
}

/* The directory itself: there, and open to writers. */
static hone_status check_dir(const char *path, const char *dir) {
    bool is_there = hone_fs_exists(dir);
    int reason = access(dir, W_OK | X_OK) == 0 ? 0 : errno;
    if (is_there && !hone_fs_is_dir(dir)) reason = ENOTDIR;
    if (reason == 0) return HONE_OK;
    if (reason != ENOENT && reason != ENOTDIR) {
        return HONE_ERROR(HONE_CODE_IO, "%s: cannot be made there: %s", path, strerror(reason));
    }
    return HONE_ERROR(HONE_CODE_IO, "%s: cannot be made there: %s'%s'%s", path,
                      is_there ? "" : "there is no directory ", dir,
                      is_there ? " is no directory" : "");
}

hone_status hone_fs_check_place(const char *path, size_t ending) {
    struct stat info;
    HONE_TRY(hone_fs_check_names(path, ending));
    /* Pipes and devices are written to as they are. */
    if (hone_fs_own_descriptor(path) >= 0) return HONE_OK;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return HONE_OK;
    char *dir = hone_path_dirname(path);
    if (!dir) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    hone_status st = check_dir(path, dir);
    hone_free(dir);
    return st;
}

hone_status hone_fs_check_new_dir(const char *path) {
    HONE_TRY(hone_fs_check_names(path, 0));
    char *dir = hone_strdup(path);
    while (dir && !hone_fs_exists(dir) && errno == ENOENT) {
        char *above = hone_path_dirname(dir);
        hone_free(dir);
        dir = above;
    }
    if (!dir) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    hone_status st = check_dir(path, dir);
    hone_free(dir);
    return st;
}
