/* support/os/fs.c - see fs.h. */
#include "support/os/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/data/vec.h"

/* The status for errno `error` about a path. */
static hone_status path_error(int error, const char *path, const char *what) {
    if (error == ENAMETOOLONG) HONE_TRY(hone_fs_check_names(path, 0));
    hone_code code = error == ENOENT || error == ENOTDIR ? HONE_CODE_NOT_FOUND
                     : error == ENOMEM                   ? HONE_CODE_NO_MEMORY
                                                         : HONE_CODE_IO;
    return HONE_ERROR(code, "%s: cannot %s: %s", path, what, strerror(error));
}

/* A place that cannot be written is the world's fault, also when its directory is not there. */
static hone_status write_error(int error, const char *path) {
    if (error == ENAMETOOLONG) HONE_TRY(hone_fs_check_names(path, 0));
    return HONE_ERROR(error == ENOMEM ? HONE_CODE_NO_MEMORY : HONE_CODE_IO, "%s: cannot write: %s",
                      path, strerror(error));
}

static hone_status no_memory(const char *path) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s: out of memory", path);
}

/* ---- descriptors ---- */

hone_status hone_fd_write_full(int fd, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t n = write(fd, next, count);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return HONE_ERROR(HONE_CODE_IO, "cannot write: %s", strerror(errno));
        next += n;
        count -= (size_t)n;
    }
    return HONE_OK;
}

hone_status hone_fd_read_full(int fd, void *bytes, size_t count, size_t *out_count) {
    size_t done = 0;
    *out_count = 0;
    while (done < count) {
        ssize_t n = read(fd, (char *)bytes + done, count - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return HONE_ERROR(HONE_CODE_IO, "cannot read: %s", strerror(errno));
        if (n == 0) break;
        done += (size_t)n;
    }
    *out_count = done;
    return HONE_OK;
}

/* ---- whole files ---- */

/* Reads to the end; sizes of pipes and of /proc files are not known beforehand. */
static hone_status read_all(int fd, size_t max_bytes, size_t guess, hone_str *out) {
    if (!hone_str_reserve(out, guess)) return hone_str_check(out);
    for (;;) {
        if (!hone_str_reserve(out, 4096)) return hone_str_check(out);
        size_t room = out->capacity - out->length - 1, got = 0;
        HONE_TRY(hone_fd_read_full(fd, out->data + out->length, room, &got));
        out->length += got;
        out->data[out->length] = '\0';
        if (out->length > max_bytes) {
            return HONE_ERROR(HONE_CODE_INVALID, "file has more than %zu bytes", max_bytes);
        }
        if (got < room) return HONE_OK;
    }
}

static hone_status check_readable(int fd, const char *path, size_t *out_guess) {
    struct stat info;
    *out_guess = 0;
    if (fstat(fd, &info) != 0) return path_error(errno, path, "read");
    if (S_ISDIR(info.st_mode)) return HONE_ERROR(HONE_CODE_INVALID, "%s: is a directory", path);
    if (S_ISREG(info.st_mode) && info.st_size > 0) *out_guess = (size_t)info.st_size + 1;
    return HONE_OK;
}

static hone_status read_fd(int fd, const char *path, size_t max_bytes, hone_str *out) {
    size_t guess = 0;
    HONE_TRY(check_readable(fd, path, &guess));
    guess = guess > max_bytes ? 0 : guess;
    return hone_status_annotate(read_all(fd, max_bytes, guess, out), "%s", path);
}

hone_status hone_fs_read(const char *path, size_t max_bytes, char **out_bytes, size_t *out_count) {
    bool is_stdin = strcmp(path, "-") == 0;
    hone_str text = {0};
    *out_bytes = NULL;
    *out_count = 0;
    if (!*path) return HONE_ERROR(HONE_CODE_NOT_FOUND, "the name of a file is empty");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return path_error(errno, path, "open");
    hone_status st = read_fd(fd, is_stdin ? "standard input" : path, max_bytes, &text);
    if (!is_stdin) close(fd);
    if (st) {
        hone_str_deinit(&text);
        return st;
    }
    *out_count = text.length;
    *out_bytes = hone_str_take(&text);
    return *out_bytes ? HONE_OK : no_memory(path);
}

static hone_status read_part(int fd, const char *path, uint64_t offset, uint64_t count,
                             void *out_bytes) {
    struct stat info;
    size_t got;
    if (fstat(fd, &info) != 0) return path_error(errno, path, "read");
    if (!S_ISREG(info.st_mode))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s: is no regular file", path);
    uint64_t size = (uint64_t)info.st_size;
    if (offset > size || count > size - offset) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "'%s' has %" PRIu64 " bytes, %" PRIu64 " from %" PRIu64 " are wanted",
                          path, size, count, offset);
    }
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0) return path_error(errno, path, "read");
    HONE_TRY(hone_status_annotate(hone_fd_read_full(fd, out_bytes, count, &got), "%s", path));
    return got == count ? HONE_OK
                        : HONE_ERROR(HONE_CODE_IO, "%s: became shorter while it was read", path);
}

hone_status hone_fs_read_part(const char *path, uint64_t offset, uint64_t count, void *out_bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return path_error(errno, path, "open");
    hone_status st = read_part(fd, path, offset, count, out_bytes);
    close(fd);
    return st;
}

int hone_fs_own_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0) continue;
        size_t digits = strspn(path + length, "0123456789");
        if (digits > 0 && digits < 7 && !path[length + digits])
            return (int)strtol(path + length, NULL, 10);
    }
    return -1;
}

/* Pipes, terminals and devices are written to as they are: a rename would replace them. */
static hone_status open_special(const char *path, hone_fs_draft *out_draft) {
    char *copy = hone_strdup(path);
    if (!copy) return no_memory(path);
    int own = hone_fs_own_descriptor(path);
    int fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        hone_free(copy);
        return write_error(errno, path);
    }
    *out_draft = (hone_fs_draft){.fd = fd, .path = copy};
    return HONE_OK;
}

/* Beside the file, under its name and some letters; of a name that is nearly as long as names may
 * be, a part. */
static void append_temporary(hone_str *out, const char *path) {
    enum { MOST = 235 };
    const char *base = hone_path_basename(path);
    size_t length = strlen(base);
    hone_str_append_n(out, path, (size_t)(base - path) + (length < MOST ? length : MOST));
    hone_str_append(out, ".");
}

static hone_status open_named(char *copy, hone_fs_draft *out_draft) {
    hone_str name = {0};
    append_temporary(&name, copy);
    hone_str_append(&name, "XXXXXX");
    char *temporary = hone_str_take(&name);
    if (!temporary) return no_memory(copy);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        hone_status st = write_error(errno, copy);
        hone_free(temporary);
        return st;
    }
    *out_draft = (hone_fs_draft){.fd = fd, .path = copy, .temporary = temporary};
    return HONE_OK;
}

/* -1 where there are no such files, or no way to name them later. */
static int open_nameless(const char *path) {
    char *dir = hone_path_dirname(path);
    bool can_name = access("/proc/self/fd", X_OK) == 0;
    int fd = dir && can_name ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    hone_free(dir);
    return fd;
}

hone_status hone_fs_draft_open(const char *path, hone_fs_draft *out_draft) {
    struct stat info;
    *out_draft = (hone_fs_draft){.fd = -1};
    bool is_special = stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
    if (is_special || hone_fs_own_descriptor(path) >= 0) return open_special(path, out_draft);
    char *copy = hone_strdup(path);
    if (!copy) return no_memory(path);
    int fd = open_nameless(path);
    if (fd >= 0) {
        *out_draft = (hone_fs_draft){.fd = fd, .path = copy, .is_nameless = true};
        return HONE_OK;
    }
    hone_status st = open_named(copy, out_draft);
    if (st) hone_free(copy);
    return st;
}

/* It was made with 0600; give what open(…, 0666) would, or what the replaced file has. */
static void copy_mode(const hone_fs_draft *draft) {
    struct stat info;
    mode_t mode;
    if (stat(draft->path, &info) == 0) {
        mode = info.st_mode & 0777;
    } else {
        char line[256];
        unsigned mask = 022;
        FILE *file = fopen("/proc/self/status", "re"); /* umask(2) would change it to read it */
        while (file && fgets(line, sizeof line, file)) {
            if (sscanf(line, "Umask: %o", &mask) == 1) break;
        }
        if (file) fclose(file);
        mode = 0666 & ~(mode_t)mask;
    }
    (void)!fchmod(draft->fd, mode);
}

/* The rename is durable when the directory is synced; a file system that cannot is no failure. */
static void sync_directory_of(const char *path) {
    char *dir = hone_path_dirname(path);
    int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    hone_free(dir);
}

static void draft_free(hone_fs_draft *draft) {
    hone_free(draft->path);
    hone_free(draft->temporary);
    *draft = (hone_fs_draft){.fd = -1};
}

static bool link_to(const hone_fs_draft *draft, const char *path) {
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", draft->fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* Who was killed in that moment leaves its draft: nobody holds it any more. */
static void remove_left_draft(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    struct stat held, named;
    bool is_left = flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &held) == 0 &&
                   lstat(path, &named) == 0 && held.st_ino == named.st_ino;
    if (is_left) (void)unlink(path);
    close(fd);
}

/* A link never replaces a file: where there is one it gets a name beside it, for a moment. 0, or
 * what errno says. */
static int name_draft(hone_fs_draft *draft) {
    enum { TRIES = 1000 };
    if (link_to(draft, draft->path)) return 0;
    if (errno == EEXIST && flock(draft->fd, LOCK_EX | LOCK_NB) != 0) errno = EEXIST;
    for (unsigned i = 0; errno == EEXIST && i < TRIES; i++) {
        hone_str name = {0};
        append_temporary(&name, draft->path);
        hone_str_printf(&name, "hone-draft-%u", i);
        hone_free(draft->temporary);
        draft->temporary = hone_str_take(&name);
        if (!draft->temporary) return ENOMEM;
        if (link_to(draft, draft->temporary)) return 0;
        if (errno != EEXIST) break;
        remove_left_draft(draft->temporary);
        if (link_to(draft, draft->temporary)) return 0;
    }
    int error = errno;
    hone_free(draft->temporary); /* somebody else's */
    draft->temporary = NULL;
    return error;
}

/* From then on its temporary name may be another's. */
static int take_name(hone_fs_draft *draft) {
    if (rename(draft->temporary, draft->path) != 0) return errno;
    hone_free(draft->temporary);
    draft->temporary = NULL;
    return 0;
}

/* A draft is held until it has its name, or none. */
static int close_held(hone_fs_draft *draft) {
    int fd = draft->fd;
    draft->fd = -1;
    return close(fd);
}

hone_status hone_fs_draft_commit(hone_fs_draft *draft) {
    bool is_file = draft->temporary || draft->is_nameless;
    if (is_file) copy_mode(draft);
    bool is_synced = fsync(draft->fd) == 0 || errno == EINVAL || errno == EROFS;
    int error = is_synced ? 0 : errno;
    if (!error && draft->is_nameless) error = name_draft(draft);
    if (!error && draft->temporary) error = take_name(draft);
    if (!error && close_held(draft) != 0) error = errno;
    if (error) {
        hone_status st = write_error(error, draft->path);
        hone_fs_draft_abandon(draft);
        return st;
    }
    if (is_file) sync_directory_of(draft->path);
    draft_free(draft);
    return HONE_OK;
}

void hone_fs_draft_abandon(hone_fs_draft *draft) {
    if (!draft->path) return;
    if (draft->temporary) unlink(draft->temporary);
    if (draft->fd >= 0) (void)close_held(draft);
    draft_free(draft);
}

/* A draft that holds these bytes; on failure there is none. */
static hone_status draft_of(const char *path, const void *bytes, size_t count,
                            hone_fs_draft *out_draft) {
    HONE_TRY(hone_fs_draft_open(path, out_draft));
    hone_status st = hone_fd_write_full(out_draft->fd, bytes, count);
    if (!st) return HONE_OK;
    hone_fs_draft_abandon(out_draft);
    return hone_status_annotate(st, "%s", path);
}

hone_status hone_fs_write_atomic(const char *path, const void *bytes, size_t count) {
    if (strcmp(path, "-") == 0) {
        return hone_status_annotate(hone_fd_write_full(STDOUT_FILENO, bytes, count),
                                    "standard output");
    }
    hone_fs_draft draft;
    HONE_TRY(draft_of(path, bytes, count, &draft));
    return hone_fs_draft_commit(&draft);
}

/* There is a file, or the file system knows no links. */
static bool leaves_it(int error) {
    return error == EEXIST || error == EPERM || error == ENOTSUP || error == ENOSYS ||
           error == EMLINK;
}

/* Ends the draft. 0, or what errno says. */
static int commit_new(hone_fs_draft *draft) {
    copy_mode(draft);
    bool is_synced = fsync(draft->fd) == 0 || errno == EINVAL || errno == EROFS;
    bool is_named = is_synced && (draft->temporary ? link(draft->temporary, draft->path) == 0
                                                   : link_to(draft, draft->path));
    bool is_left = is_synced && !is_named && leaves_it(errno);
    int error = is_named || is_left ? 0 : errno;
    if (is_named) sync_directory_of(draft->path);
    hone_fs_draft_abandon(draft);
    return error;
}

hone_status hone_fs_write_new(const char *path, const void *bytes, size_t count) {
    hone_fs_draft draft;
    HONE_TRY(draft_of(path, bytes, count, &draft));
    int error = commit_new(&draft);
    return error ? write_error(error, path) : HONE_OK;
}

/* ---- facts about paths ---- */

bool hone_fs_exists(const char *path) {
    return access(path, F_OK) == 0;
}

bool hone_fs_is_dir(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool hone_fs_is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool hone_fs_is_same(const char *path, const char *other) {
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

hone_status hone_fs_size(const char *path, int64_t *out_bytes) {
    struct stat info;
    *out_bytes = 0;
    if (stat(path, &info) != 0) return path_error(errno, path, "open");
    *out_bytes = (int64_t)info.st_size;
    return HONE_OK;
}

/* ---- directories ---- */

static hone_status make_one(const char *path, const char *whole) {
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && hone_fs_is_dir(path))) return HONE_OK;
    return path_error(errno == EEXIST ? ENOTDIR : errno, whole, "make the directory");
}

hone_status hone_fs_mkdirs(const char *path) {
    char *part = hone_strdup(path);
    if (!part) return no_memory(path);
    hone_status st = HONE_OK;
    for (char *slash = part + (part[0] == '/'); !st && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        st = make_one(part, path);
        *slash = '/';
    }
    if (!st) st = make_one(part, path);
    hone_free(part);
    return st;
}

hone_status hone_fs_temp_dir(const char *prefix, char **out_path) {
    const char *base = getenv("TMPDIR");
    hone_str name = {0};
    hone_str_printf(&name, "%s/%s.XXXXXX", base && base[0] ? base : "/tmp", prefix);
    *out_path = NULL;
    char *path = hone_str_take(&name);
    if (!path) return no_memory(prefix);
    if (!mkdtemp(path)) {
        hone_status st = HONE_ERROR(HONE_CODE_IO, "%s: cannot make the directory%s: %s", path,
                                    base && base[0] ? " (TMPDIR says where)" : "", strerror(errno));
        hone_free(path);
        return st;
    }
    *out_path = path;
    return HONE_OK;
}

hone_status hone_fs_remove_file(const char *path) {
    if (unlink(path) == 0 || errno == ENOENT) return HONE_OK;
    return path_error(errno, path, "remove");
}

/* Works on open directories, so a link swapped in by somebody else is not followed. */
static int remove_at(int dir_fd, const char *name);

static int remove_entries(int fd) {
    DIR *dir = fdopendir(fd); /* takes fd */
    if (!dir) {
        int error = errno;
        close(fd);
        return error;
    }
    int error = 0;
    for (struct dirent *entry; !error && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        error = remove_at(dirfd(dir), entry->d_name);
    }
    closedir(dir);
    return error;
}

static int remove_at(int dir_fd, const char *name) {
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR && errno != EPERM) return errno;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    int error = remove_entries(fd);
    if (error) return error;
    return unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

hone_status hone_fs_remove_tree(const char *path) {
    int error = remove_at(AT_FDCWD, path);
    return error ? path_error(error, path, "remove") : HONE_OK;
}

typedef HONE_VEC(char *) name_vec;

static void free_names(name_vec *names) {
    for (size_t i = 0; i < names->count; i++)
        hone_free(names->data[i]);
    hone_vec_deinit(names);
}

static bool collect_names(DIR *dir, name_vec *names) {
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char *copy = hone_strdup(entry->d_name);
        if (!copy || !hone_vec_push(names, copy)) {
            hone_free(copy);
            return false;
        }
    }
    return true;
}

static int compare_names(const void *a, const void *b) {
    const char *left = NULL, *right = NULL;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return strcmp(left, right);
}

hone_status hone_fs_list(const char *path, bool (*visit)(void *context, const char *name),
                         void *context) {
    DIR *dir = opendir(path);
    if (!dir) return path_error(errno, path, "open");
    name_vec names = {0};
    bool is_complete = collect_names(dir, &names);
    closedir(dir);
    if (is_complete && names.count) {
        qsort(names.data, names.count, sizeof *names.data, compare_names);
        for (size_t i = 0; i < names.count && visit(context, names.data[i]); i++) {
        }
    }
    free_names(&names);
    return is_complete ? HONE_OK : no_memory(path);
}
