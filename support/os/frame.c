/* support/os/frame.c - the pipes and framed messages of proc.h.
 *
 * A blocking descriptor must not block past the deadline: sockets are written with MSG_DONTWAIT,
 * pipes in pieces of at most PIPE_BUF bytes after poll, which POSIX promises not to block.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/os/proc.h"

hone_status hone_pipe_open(int out_fds[2]) {
    out_fds[0] = out_fds[1] = -1;
    if (pipe2(out_fds, O_CLOEXEC) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_IO, "cannot make a pipe: %s", strerror(errno));
}

hone_status hone_socket_pair_open(int out_fds[2]) {
    out_fds[0] = out_fds[1] = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out_fds) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_IO, "cannot make a socket pair: %s", strerror(errno));
}

void hone_fd_close(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Waits for the events, or the end of the other side. */
static hone_status wait_for(int fd, short events, const hone_clock *clock, int64_t deadline_ns) {
    for (;;) {
        int timeout_ms = hone_deadline_poll_ms(clock, deadline_ns);
        struct pollfd wait = {.fd = fd, .events = events};
        int ready = poll(&wait, 1, timeout_ms);
        if (ready > 0) return HONE_OK;
        if (ready < 0 && errno != EINTR) {
            return HONE_ERROR(HONE_CODE_IO, "cannot wait: %s", strerror(errno));
        }
        if (timeout_ms == 0) return HONE_ERROR(HONE_CODE_TIMEOUT, "the deadline passed");
    }
}

hone_status hone_fd_wait_readable(int fd, const hone_clock *clock, int64_t deadline_ns) {
    return wait_for(fd, POLLIN, clock, deadline_ns);
}

/* write(2) to a pipe without the SIGPIPE that a closed reader would raise in this thread. */
static ssize_t write_quietly(int fd, const void *bytes, size_t count) {
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    ssize_t n = write(fd, bytes, count);
    int error = errno;
    if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
        const struct timespec at_once = {0, 0};
        while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

static ssize_t write_some(int fd, const char *bytes, size_t count) {
    ssize_t n = send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0 || errno != ENOTSOCK) return n;
    return write_quietly(fd, bytes, count < PIPE_BUF ? count : PIPE_BUF);
}

static hone_status write_all(int fd, const char *bytes, size_t count, const hone_clock *clock,
                             int64_t deadline_ns) {
    while (count > 0) {
        HONE_TRY(wait_for(fd, POLLOUT, clock, deadline_ns));
        ssize_t n = write_some(fd, bytes, count);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) {
            bool is_gone = errno == EPIPE || errno == ECONNRESET;
            return HONE_ERROR(is_gone ? HONE_CODE_UNAVAILABLE : HONE_CODE_IO, "cannot write: %s",
                              strerror(errno));
        }
        bytes += n;
        count -= (size_t)n;
    }
    return HONE_OK;
}

hone_status hone_frame_write(int fd, const void *bytes, size_t count, const hone_clock *clock,
                             int64_t deadline_ns) {
    char start[PIPE_BUF]; /* the length and, for a short message, all of it: one write */
    if (count > UINT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "message has %zu bytes, at most 2^32 - 1 fit", count);
    }
    for (int i = 0; i < 4; i++)
        start[i] = (char)(unsigned char)(count >> (8 * i));
    size_t head = count < sizeof start - 4 ? count : sizeof start - 4;
    if (head) memcpy(start + 4, bytes, head);
    HONE_TRY(write_all(fd, start, 4 + head, clock, deadline_ns));
    if (head == count) return HONE_OK;
    return write_all(fd, (const char *)bytes + head, count - head, clock, deadline_ns);
}

/* Reads exactly `count` bytes; *out_count says how many came before the other side ended. */
static hone_status read_all(int fd, char *bytes, size_t count, const hone_clock *clock,
                            int64_t deadline_ns, size_t *out_count) {
    *out_count = 0;
    while (*out_count < count) {
        HONE_TRY(wait_for(fd, POLLIN, clock, deadline_ns));
        ssize_t n = read(fd, bytes + *out_count, count - *out_count);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0 && errno != ECONNRESET) {
            return HONE_ERROR(HONE_CODE_IO, "cannot read: %s", strerror(errno));
        }
        if (n <= 0) break;
        *out_count += (size_t)n;
    }
    return HONE_OK;
}

/* Grows with what arrives: a length alone does not make us allocate. */
static hone_status read_body(int fd, size_t count, const hone_clock *clock, int64_t deadline_ns,
                             hone_str *out) {
    enum { STEP = 1 << 20 };
    while (out->length < count) {
        size_t want = count - out->length < STEP ? count - out->length : STEP, got = 0;
        if (!hone_str_reserve(out, want)) return hone_str_check(out);
        HONE_TRY(read_all(fd, out->data + out->length, want, clock, deadline_ns, &got));
        out->length += got;
        out->data[out->length] = '\0';
        if (got < want) {
            return HONE_ERROR(HONE_CODE_INVALID, "message ends after %zu of %zu bytes", out->length,
                              count);
        }
    }
    return hone_str_check(out);
}

hone_status hone_frame_read(int fd, size_t max_bytes, const hone_clock *clock, int64_t deadline_ns,
                            char **out_bytes, size_t *out_count) {
    unsigned char header[4];
    size_t got = 0;
    *out_bytes = NULL;
    *out_count = 0;
    HONE_TRY(read_all(fd, (char *)header, sizeof header, clock, deadline_ns, &got));
    if (got == 0) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the other side has ended");
    if (got < sizeof header) return HONE_ERROR(HONE_CODE_INVALID, "message ends in its length");
    size_t count =
        header[0] | (size_t)header[1] << 8 | (size_t)header[2] << 16 | (size_t)header[3] << 24;
    if (count > max_bytes) {
        return HONE_ERROR(HONE_CODE_INVALID, "message has %zu bytes, at most %zu are accepted",
                          count, max_bytes);
    }
    hone_str body = {0};
    hone_status st = read_body(fd, count, clock, deadline_ns, &body);
    if (st) {
        hone_str_deinit(&body);
        return st;
    }
    *out_bytes = hone_str_take(&body);
    if (!*out_bytes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "message of %zu bytes", count);
    *out_count = count;
    return HONE_OK;
}
