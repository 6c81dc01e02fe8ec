/* support/os/quiet.c - see quiet.h. Open file description locks (fcntl F_OFD_*): they belong to the
 * handle, so two handles in one process exclude each other too, and end with it. */
#include "support/os/quiet.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/core/strbuf.h"
#include "support/os/fs.h"

enum { TURNSTILE = 0, GATE = 1 };

/* While it waits, a handle looks again after 0.2 ms, then less and less often, up to 5 ms. */
#define FIRST_PAUSE_NS (200 * HONE_NS_PER_US)
#define LAST_PAUSE_NS (5 * HONE_NS_PER_MS)

static hone_status check_owned(const char *dir) {
    struct stat info;
    if (lstat(dir, &info) != 0) {
        return HONE_ERROR(HONE_CODE_IO, "%s: %s", dir, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != getuid() || (info.st_mode & 022)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is not a directory that only this user can write",
                          dir);
    }
    return HONE_OK;
}

/* The default place; `path` is cleared on failure by its owner. */
hone_status hone_quiet_default_path(hone_str *path) {
    const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
    if (runtime_dir && runtime_dir[0] == '/' && access(runtime_dir, W_OK) == 0) {
        hone_str_printf(path, "%s/hone", runtime_dir);
    } else {
        hone_str_printf(path, "/tmp/hone-%lld", (long long)getuid());
    }
    HONE_TRY(hone_str_check(path));
    if (mkdir(path->data, 0700) != 0 && errno != EEXIST) {
        return HONE_ERROR(HONE_CODE_IO, "%s: cannot make the directory: %s", path->data,
                          strerror(errno));
    }
    HONE_TRY(check_owned(path->data));
    hone_str_append(path, "/quiet.lock");
    return hone_str_check(path);
}

static hone_status open_at(const char *path, hone_quiet_gate *out_gate) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return HONE_ERROR(HONE_CODE_IO, "%s: cannot open: %s", path, strerror(errno));
    *out_gate = (hone_quiet_gate){.fd = fd};
    return HONE_OK;
}

hone_status hone_quiet_open(const char *path, hone_quiet_gate *out_gate) {
    *out_gate = (hone_quiet_gate){.fd = -1};
    if (path) return open_at(path, out_gate);
    hone_str usual = {0};
    hone_status st = hone_quiet_default_path(&usual);
    if (!st) st = open_at(usual.data, out_gate);
    hone_str_deinit(&usual);
    return st;
}

void hone_quiet_close(hone_quiet_gate *gate) {
    if (gate->fd >= 0) close(gate->fd);
    *gate = (hone_quiet_gate){.fd = -1};
}

/* One try; false when somebody else is in the way. */
static bool try_lock(int fd, short type, off_t byte, int *out_error) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    *out_error = 0;
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) *out_error = errno;
    return false;
}

static void unlock(int fd, off_t byte) {
    int error = 0;
    (void)try_lock(fd, F_UNLCK, byte, &error);
}

static hone_status lock_until(int fd, short type, off_t byte, const hone_clock *clock,
                              int64_t deadline_ns) {
    int error = 0;
    for (int64_t pause = FIRST_PAUSE_NS; !try_lock(fd, type, byte, &error); pause *= 2) {
        if (error) return HONE_ERROR(HONE_CODE_IO, "quiet gate: %s", strerror(error));
        int64_t now = hone_clock_now(clock);
        if (now >= deadline_ns) {
            return HONE_ERROR(HONE_CODE_TIMEOUT, "quiet gate: still held by another process");
        }
        if (pause > LAST_PAUSE_NS) pause = LAST_PAUSE_NS;
        hone_clock_sleep_until(clock, deadline_ns - now < pause ? deadline_ns : now + pause);
    }
    return HONE_OK;
}

hone_status hone_quiet_begin(hone_quiet_gate *gate, hone_quiet_mode mode, const hone_clock *clock,
                             int64_t deadline_ns) {
    assert(gate->fd >= 0 && !gate->is_held);
    short type = mode == HONE_QUIET_ALONE ? F_WRLCK : F_RDLCK;
    HONE_TRY(lock_until(gate->fd, F_WRLCK, TURNSTILE, clock, deadline_ns));
    hone_status st = lock_until(gate->fd, type, GATE, clock, deadline_ns);
    unlock(gate->fd, TURNSTILE);
    gate->is_held = st == HONE_OK;
    return st;
}

void hone_quiet_end(hone_quiet_gate *gate) {
    assert(gate->is_held);
    unlock(gate->fd, GATE);
    gate->is_held = false;
}

bool hone_quiet_is_wanted(const hone_quiet_gate *gate) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = TURNSTILE, .l_len = 1};
    if (fcntl(gate->fd, F_OFD_GETLK, &lock) != 0) return false;
    if (lock.l_type != F_UNLCK) return true;
    lock = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = GATE, .l_len = 1};
    return fcntl(gate->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
