/* sandbox/file_policy.c - judging a path, then opening it. */
#include "sandbox/file_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"

enum { MAX_GRANTS = 16 };

#define HARMLESS_FLAGS                                                                             \
    (O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_LARGEFILE_BIT)
#define WRITING_FLAGS (O_WRONLY | O_RDWR | O_CREAT | O_EXCL | O_TRUNC | O_APPEND)
/* O_LARGEFILE is 0 in the headers of 64-bit systems, but callers may still pass the bit */
#if defined(__aarch64__)
#define O_LARGEFILE_BIT 0400000
#else
#define O_LARGEFILE_BIT 0100000
#endif

typedef struct grant {
    hone_file_grant_kind kind;
    char *path; /* absolute, plain; owned */
} grant;

struct hone_file_policy {
    hone_sandbox_profile profile;
    hone_loader_dirs loader;
    const hone_loader_dirs *toolchain; /* borrowed, or NULL */
    hone_loader_dirs beside;           /* the folders of granted libraries */
    grant grants[MAX_GRANTS];
    size_t grant_count;
};

/* ---- paths ---- */

static bool is_below(const char *path, const char *dir) {
    size_t length = strlen(dir);
    return strncmp(path, dir, length) == 0 && path[length] == '/';
}

static bool is_below_any(const char *path, const hone_loader_dirs *dirs) {
    for (size_t i = 0; i < dirs->count; i++) {
        if (is_below(path, dirs->data[i])) return true;
    }
    return false;
}

/* Without "//", "." and "..", as text; symbolic links are found out about when it is open. */
static bool make_plain(const char *base, const char *path, char out[PATH_MAX]) {
    char whole[2 * PATH_MAX];
    size_t used = 0;
    int count = snprintf(whole, sizeof whole, "%s/%s", path[0] == '/' ? "" : base, path);
    if (count < 0 || (size_t)count >= sizeof whole) return false;
    for (const char *at = whole; *at;) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            while (used > 0 && out[--used] != '/') {
            }
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            if (used + length + 2 > PATH_MAX) return false;
            out[used++] = '/';
            memcpy(out + used, at, length);
            used += length;
        }
        at += length;
    }
    if (used == 0) out[used++] = '/';
    out[used] = 0;
    return true;
}

static bool read_link(const char *link, char out[PATH_MAX]) {
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length < 0) return false;
    out[length] = 0;
    return true;
}

static bool real_path(int fd, char out[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return read_link(link, out);
}

/* As the thread means it, with its own /proc/self. */
static bool absolute(pid_t tid, const char *path, char out[PATH_MAX]) {
    static const char *const selves[] = {"/proc/self/", "/proc/thread-self/"};
    char plain[PATH_MAX];
    if (path[0] != '/' || !make_plain("", path, plain)) return false;
    for (size_t i = 0; i < HONE_COUNT(selves); i++) {
        size_t length = strlen(selves[i]);
        if (strncmp(plain, selves[i], length) != 0) continue;
        int count = snprintf(out, PATH_MAX, "/proc/%d/%s", (int)tid, plain + length);
        return count > 0 && count < PATH_MAX;
    }
    memcpy(out, plain, strlen(plain) + 1);
    return true;
}

/* ---- what is in which list ---- */

static bool is_for_reading(const grant *g) {
    return g->kind == HONE_FILE_READ || g->kind == HONE_FILE_LIBRARY;
}

static const grant *granted(const hone_file_policy *policy, const char *path, bool is_writing) {
    for (size_t i = 0; i < policy->grant_count; i++) {
        const grant *g = &policy->grants[i];
        size_t length = strlen(g->path);
        bool is_same = strcmp(path, g->path) == 0;
        bool is_draft = strncmp(path, g->path, length) == 0 && path[length] == '.' &&
                        !strchr(path + length, '/');
        if (is_for_reading(g) && is_same && !is_writing) return g;
        if (g->kind == HONE_FILE_WRITE && (is_same || is_draft)) return g;
        if (g->kind == HONE_FILE_FOLDER && (is_below(path, g->path) || (is_same && !is_writing)))
            return g;
    }
    return NULL;
}

bool hone_file_policy_owns(const hone_file_policy *policy, const char *path) {
    return granted(policy, path, true) != NULL;
}

/* "name" or "task", "task/12", "task/12/name" behind /proc/TID/. */
static bool is_own_fact(pid_t tid, const char *path) {
    static const char *const names[] = {"maps", "status", "stat", "statm", "cgroup", "task"};
    char own[32];
    int length = snprintf(own, sizeof own, "/proc/%d/", (int)tid);
    if (strncmp(path, own, (size_t)length) != 0) return false;
    path += length;
    if (strncmp(path, "task/", 5) == 0) {
        path += 5;
        size_t digits = strspn(path, "0123456789");
        if (digits == 0) return false;
        path += digits;
        if (*path == 0) return true;
        path++;
    }
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strcmp(path, names[i]) == 0) return true;
    }
    return false;
}

static bool is_own_descriptor(pid_t tid, const char *path) {
    char own[32];
    int length = snprintf(own, sizeof own, "/proc/%d/fd/", (int)tid);
    return strncmp(path, own, (size_t)length) == 0 && path[length] &&
           path[length + (int)strspn(path + length, "0123456789")] == 0;
}

static bool is_machine_fact(const char *path) {
    static const char *const files[] = {"/proc/cpuinfo",
                                        "/proc/meminfo",
                                        "/proc/stat",
                                        "/proc/sys/vm/overcommit_memory",
                                        "/sys/kernel/mm/transparent_hugepage/enabled",
                                        "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"};
    static const char *const dirs[] = {"/sys/devices/system/cpu", "/sys/devices/system/node"};
    for (size_t i = 0; i < HONE_COUNT(files); i++) {
        if (strcmp(path, files[i]) == 0) return true;
    }
    for (size_t i = 0; i < HONE_COUNT(dirs); i++) {
        if (strcmp(path, dirs[i]) == 0 || is_below(path, dirs[i])) return true;
    }
    return false;
}

static bool is_in_any(const char *path, const hone_loader_dirs *dirs) {
    size_t length = (size_t)(hone_path_basename(path) - path);
    for (size_t i = 0; i < dirs->count; i++) {
        if (is_below(path, dirs->data[i]) && strlen(dirs->data[i]) + 1 == length) return true;
    }
    return false;
}

static bool is_library(const hone_file_policy *policy, const char *path) {
    const char *name = hone_path_basename(path), *ending = strstr(name, ".so");
    return ending && (ending[3] == 0 || ending[3] == '.') &&
           (is_below_any(path, &policy->loader) || is_in_any(path, &policy->beside));
}

static bool is_public(const hone_file_policy *policy, const char *path) {
    return strcmp(path, "/etc/ld.so.cache") == 0 || is_machine_fact(path) ||
           is_library(policy, path) || (policy->toolchain && is_below_any(path, policy->toolchain));
}

/* Links of the system may lead through other folders, but must end where one may read: what is
 * found there is judged again. */
static int check_found(const hone_file_policy *policy, int fd) {
    char path[PATH_MAX];
    struct stat info;
    if (fstat(fd, &info) != 0 || !real_path(fd, path)) return -EACCES;
    bool is_kind = S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
    return is_kind && (info.st_mode & S_IROTH) && is_public(policy, path) ? 0 : -EACCES;
}

/* ---- where it is ---- */

/* A name in a folder; AT_FDCWD: the name is the whole path. */
typedef struct place {
    int folder;
    const char *name;
} place;

static void leave(place *p) {
    if (p->folder >= 0) close(p->folder);
}

/* One step down that is no link, or -errno; `folder` is used up. */
static int step_into(int folder, const char *name, size_t length) {
    char one[NAME_MAX + 1];
    int next = -ENAMETOOLONG;
    if (length < sizeof one) {
        memcpy(one, name, length);
        one[length] = 0;
        next = openat(folder, one, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) next = -errno;
    }
    close(folder);
    return next;
}

/* Below a folder that was granted, every step is made from an open folder: a link there, whoever
 * put it there, leads nowhere. The path of the grant itself is the trusted side's, links and all.
 */
static int find_place(const grant *g, const char *path, place *out) {
    *out = (place){AT_FDCWD, path};
    if (!g || g->kind != HONE_FILE_FOLDER || !is_below(path, g->path)) return 0;
    int folder = open(g->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -errno;
    out->name = path + strlen(g->path) + 1;
    for (const char *slash; folder >= 0 && (slash = strchr(out->name, '/')) != NULL;
         out->name = slash + 1)
        folder = step_into(folder, out->name, (size_t)(slash - out->name));
    out->folder = folder;
    return folder < 0 ? folder : 0;
}

/* openat(2) in its place, or -errno. */
static int open_place(const grant *g, const char *path, int flags, mode_t mode) {
    place at;
    int error = find_place(g, path, &at);
    if (error) return error;
    int fd = openat(at.folder, at.name, flags | O_CLOEXEC, mode);
    if (fd < 0) fd = -errno;
    leave(&at);
    return fd;
}

/* ---- opening ---- */

/* Looks without opening: devices and pipes notice nothing. */
static int look(const hone_file_policy *policy, pid_t tid, const char *path) {
    const grant *g = granted(policy, path, false);
    bool is_own = is_own_fact(tid, path) || is_own_descriptor(tid, path);
    if (!g && !is_own && !is_public(policy, path)) return -EACCES;
    int fd = open_place(g, path, O_PATH | (g && !is_for_reading(g) ? O_NOFOLLOW : 0), 0);
    if (fd < 0) return fd;
    int error = g || is_own ? 0 : check_found(policy, fd);
    if (error) close(fd);
    return error ? error : fd;
}

/* Opens a file that was found once more, this time for reading. */
static int reopen(int found, int flags) {
    struct stat info;
    char link[64];
    if (fstat(found, &info) != 0) return -errno;
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return -EACCES;
    snprintf(link, sizeof link, "/proc/self/fd/%d", found);
    int fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | (flags & O_DIRECTORY));
    return fd < 0 ? -errno : fd;
}

/* "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0" … */
static bool is_card(const char *path) {
    static const char head[] = "/dev/nvidia";
    static const char *const rest[] = {"ctl", "-uvm", "-uvm-tools"};
    if (strncmp(path, head, sizeof head - 1) != 0) return false;
    const char *name = path + sizeof head - 1;
    for (size_t i = 0; i < HONE_COUNT(rest); i++) {
        if (strcmp(name, rest[i]) == 0) return true;
    }
    return *name && name[strspn(name, "0123456789")] == 0;
}

/* A driver opens its devices once more for each piece of memory that it maps. */
static int open_card(const char *path, int flags) {
    struct stat info;
    int fd = open(path, (flags & O_ACCMODE) | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    if (fd < 0) return -errno;
    if (fstat(fd, &info) == 0 && S_ISCHR(info.st_mode)) return fd;
    close(fd);
    return -EACCES;
}

/* The standard input of whatever is started. */
static int open_null(int flags) {
    int fd = open("/dev/null", (flags & O_ACCMODE) | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int open_to_write(const hone_file_policy *policy, const char *path, int flags, mode_t mode) {
    const grant *g = granted(policy, path, true);
    if ((flags & ~(HARMLESS_FLAGS | WRITING_FLAGS)) || !g) return -EACCES;
    return open_place(g, path, flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, mode & 0777);
}

int hone_file_policy_look(const hone_file_policy *policy, pid_t tid, const char *path) {
    char whole[PATH_MAX];
    return absolute(tid, path, whole) ? look(policy, tid, whole) : -EACCES;
}

/* A toolchain finds its files from where it is itself, LIBRARY/../../share say, and that may be a
 * link, from whose end the kernel goes up: the path as the kernel takes it, when it leads to one
 * of these files. */
static void go_up_from_ends(const hone_file_policy *policy, const char *path,
                            char whole[PATH_MAX]) {
    char real[PATH_MAX];
    if (!policy->toolchain || path[0] != '/' || !strstr(path, "/../") || !realpath(path, real))
        return;
    if (is_below_any(real, policy->toolchain)) memcpy(whole, real, strlen(real) + 1);
}

int hone_file_policy_open(const hone_file_policy *policy, pid_t tid, const char *path, int flags,
                          mode_t mode) {
    char whole[PATH_MAX];
    if (!absolute(tid, path, whole)) return -EACCES;
    const bool is_compiler = policy->profile == HONE_SANDBOX_COMPILER;
    if (is_compiler && strcmp(whole, "/dev/null") == 0) return open_null(flags);
    const bool has_card = policy->profile == HONE_SANDBOX_CARD;
    if (has_card && is_card(whole) && !(flags & ~(HARMLESS_FLAGS | O_ACCMODE)))
        return open_card(whole, flags);
    if (flags & WRITING_FLAGS) return open_to_write(policy, whole, flags, mode);
    if (flags & ~HARMLESS_FLAGS) return -EACCES;
    go_up_from_ends(policy, path, whole);
    int found = look(policy, tid, whole);
    if (found < 0) return found;
    int fd = reopen(found, flags);
    close(found);
    return fd;
}

/* fchmodat(2) follows links: it is made of what was found not to be one. */
static int change_mode(const place *at, mode_t mode) {
    struct stat info;
    char link[64];
    int fd = openat(at->folder, at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int result = fstat(fd, &info) != 0 || S_ISLNK(info.st_mode) ? -1 : chmod(link, mode);
    if (result && S_ISLNK(info.st_mode)) errno = EACCES;
    close(fd);
    return result;
}

/* 0, or -1 and errno. */
static int change(hone_file_change kind, const place *at, const place *other, mode_t mode) {
    switch (kind) {
    case HONE_FILE_UNLINK:
        return unlinkat(at->folder, at->name, 0);
    case HONE_FILE_RMDIR:
        return unlinkat(at->folder, at->name, AT_REMOVEDIR);
    case HONE_FILE_MKDIR:
        return mkdirat(at->folder, at->name, mode & 0777);
    case HONE_FILE_RENAME:
        return renameat(at->folder, at->name, other->folder, other->name);
    case HONE_FILE_CHMOD:
        return change_mode(at, mode & 0777);
    }
    return -1;
}

static int find_to_change(const hone_file_policy *policy, pid_t tid, const char *path,
                          char whole[PATH_MAX], place *out) {
    const grant *g = absolute(tid, path, whole) ? granted(policy, whole, true) : NULL;
    *out = (place){AT_FDCWD, NULL};
    return g ? find_place(g, whole, out) : -EACCES;
}

/* A folder that was granted is there, and so is each one around it. */
static bool leads_to_own(const hone_file_policy *policy, pid_t tid, const char *path) {
    char whole[PATH_MAX];
    bool leads = false;
    if (!absolute(tid, path, whole)) return false;
    for (size_t i = 0; i < policy->grant_count && !leads; i++) {
        const grant *g = &policy->grants[i];
        leads = g->kind == HONE_FILE_FOLDER &&
                (is_below(g->path, whole) || strcmp(g->path, whole) == 0);
    }
    return leads;
}

int hone_file_policy_change(const hone_file_policy *policy, pid_t tid, hone_file_change kind,
                            const char *path, const char *other, mode_t mode) {
    char whole[PATH_MAX], whole_other[PATH_MAX];
    place at, at_other = {AT_FDCWD, NULL};
    if (kind == HONE_FILE_MKDIR && leads_to_own(policy, tid, path)) return -EEXIST;
    int error = find_to_change(policy, tid, path, whole, &at);
    if (error) return error;
    if (other) error = find_to_change(policy, tid, other, whole_other, &at_other);
    if (!error && change(kind, &at, &at_other, mode) != 0) error = -errno;
    leave(&at);
    leave(&at_other);
    return error;
}

/* ---- the whole ---- */

/* As it is written, and where it really is: links are followed before they are judged. */
static hone_status add_beside(hone_file_policy *policy, const char *path) {
    char *dir = hone_path_dirname(path);
    bool ok = dir && hone_loader_dirs_add(&policy->beside, dir);
    hone_free(dir);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "file policy");
}

static hone_status add_grant(hone_file_policy *policy, hone_file_grant_kind kind,
                             const char *path) {
    if (policy->grant_count == MAX_GRANTS) {
        return HONE_ERROR(HONE_CODE_INVALID, "more than %d files for one request", MAX_GRANTS);
    }
    char *copy = hone_strdup(path);
    if (!copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "file policy");
    policy->grants[policy->grant_count++] = (grant){kind, copy};
    return HONE_OK;
}

/* Whoever works in a folder knows it by what the kernel calls it. */
static hone_status add_real(hone_file_policy *policy, const char *path) {
    char real[PATH_MAX];
    if (!realpath(path, real) || strcmp(path, real) == 0) return HONE_OK;
    return add_grant(policy, HONE_FILE_FOLDER, real);
}

hone_status hone_file_policy_grant(hone_file_policy *policy, hone_file_grant_kind kind,
                                   const char *path) {
    char here[PATH_MAX], plain[PATH_MAX];
    if (!getcwd(here, sizeof here) || !make_plain(here, path, plain)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s': is no path that can be opened", path);
    }
    if (kind == HONE_FILE_LIBRARY) HONE_TRY(add_beside(policy, plain));
    HONE_TRY(add_grant(policy, kind, plain));
    return kind == HONE_FILE_FOLDER ? add_real(policy, plain) : HONE_OK;
}

void hone_file_policy_revoke(hone_file_policy *policy) {
    while (policy->grant_count > 0)
        hone_free(policy->grants[--policy->grant_count].path);
    hone_loader_dirs_deinit(&policy->beside);
    policy->beside = (hone_loader_dirs){0};
}

hone_status hone_file_policy_create(hone_sandbox_profile profile, const hone_loader_dirs *toolchain,
                                    hone_file_policy **out_policy) {
    *out_policy = NULL;
    hone_file_policy *policy = hone_calloc(1, sizeof *policy);
    if (!policy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "file policy");
    policy->profile = profile;
    policy->toolchain = toolchain;
    hone_status st = hone_loader_dirs_find(&policy->loader);
    if (st) {
        hone_file_policy_destroy(policy);
        return st;
    }
    *out_policy = policy;
    return HONE_OK;
}

void hone_file_policy_destroy(hone_file_policy *policy) {
    if (!policy) return;
    hone_file_policy_revoke(policy);
    hone_loader_dirs_deinit(&policy->loader);
    hone_free(policy);
}
