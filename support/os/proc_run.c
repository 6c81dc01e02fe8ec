/* support/os/proc_run.c - hone_proc_run of proc.h: a program run to its end, its output collected.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "support/data/vec.h"
#include "support/os/proc.h"

extern char **environ;

/* One stream of the child: bytes beyond max_bytes are read and dropped. */
typedef struct stream {
    int read_fd, write_fd; /* -1: closed */
    size_t max_bytes;
    hone_str *out; /* NULL: drop everything */
} stream;

static hone_status stream_open(stream *s) {
    int fds[2];
    HONE_TRY(hone_pipe_open(fds));
    s->read_fd = fds[0];
    s->write_fd = fds[1];
    (void)fcntl(s->read_fd, F_SETFL, O_NONBLOCK);
    return HONE_OK;
}

static void stream_close(stream *s) {
    hone_fd_close(&s->read_fd);
    hone_fd_close(&s->write_fd);
}

static void stream_keep(stream *s, const char *bytes, size_t count) {
    if (!s->out) return;
    size_t room = s->out->length < s->max_bytes ? s->max_bytes - s->out->length : 0;
    hone_str_append_n(s->out, bytes, count < room ? count : room);
}

/* Reads what is there now; closes at the end. */
static void stream_drain(stream *s) {
    char bytes[4096];
    while (s->read_fd >= 0) {
        ssize_t n = read(s->read_fd, bytes, sizeof bytes);
        if (n > 0) {
            stream_keep(s, bytes, (size_t)n);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            hone_fd_close(&s->read_fd);
        }
    }
}

/* Until the child has ended: who it left behind may hold the pipes open, they do not count. */
static hone_status collect(hone_proc *proc, stream streams[2], const hone_clock *clock,
                           int64_t deadline_ns) {
    for (;;) {
        bool is_ended = hone_proc_poll(proc);
        stream_drain(&streams[0]);
        stream_drain(&streams[1]);
        if (is_ended) return HONE_OK;
        int timeout_ms = hone_deadline_poll_ms(clock, deadline_ns);
        if (timeout_ms == 0) {
            hone_proc_kill(proc);
            return HONE_ERROR(HONE_CODE_TIMEOUT, "did not end before the deadline");
        }
        if (proc->pid_fd < 0) timeout_ms = 1;
        struct pollfd waits[] = {
            {proc->pid_fd,       POLLIN, 0},
            {streams[0].read_fd, POLLIN, 0},
            {streams[1].read_fd, POLLIN, 0},
        };
        (void)poll(waits, 3, timeout_ms);
    }
}

typedef HONE_VEC(const char *) word_list;

/* The environment, but what programs say is read here, and not in a language of the user's. */
static hone_status speak_c(word_list *out) {
    static const char own[] = "LC_ALL=C";
    bool ok = hone_vec_push(out, own);
    for (char **at = environ; *at && ok; at++)
        if (strncmp(*at, "LC_ALL=", 7) != 0) ok = hone_vec_push(out, *at);
    return ok && hone_vec_push(out, NULL) ? HONE_OK : HONE_NO_MEMORY("environment of a program");
}

static hone_status run(const char *const *argv, stream streams[2], const hone_clock *clock,
                       int64_t deadline_ns, hone_proc *out_proc) {
    HONE_TRY(stream_open(&streams[0]));
    HONE_TRY(stream_open(&streams[1]));
    const hone_fd_map fds[] = {
        {-1,                  0},
        {streams[0].write_fd, 1},
        {streams[1].write_fd, 2},
    };
    word_list words = {0};
    hone_status st = speak_c(&words);
    hone_proc_options options = {.argv = argv, .env = words.data, .fds = fds, .fd_count = 3};
    if (!st) st = hone_proc_spawn(&options, out_proc);
    hone_vec_deinit(&words);
    HONE_TRY(st);
    hone_fd_close(&streams[0].write_fd);
    hone_fd_close(&streams[1].write_fd);
    return collect(out_proc, streams, clock, deadline_ns);
}

hone_status hone_proc_run(const char *const *argv, size_t max_bytes, const hone_clock *clock,
                          int64_t deadline_ns, hone_str *out_stdout, hone_str *out_stderr,
                          hone_proc *out_proc) {
    stream streams[2] = {
        {-1, -1, max_bytes, out_stdout},
        {-1, -1, max_bytes, out_stderr},
    };
    hone_proc proc = {.pid_fd = -1};
    hone_status st = run(argv, streams, clock, deadline_ns, &proc);
    stream_close(&streams[0]);
    stream_close(&streams[1]);
    if (!st && out_stdout) st = hone_str_check(out_stdout);
    if (!st && out_stderr) st = hone_status_join(st, hone_str_check(out_stderr));
    hone_proc end = proc;
    hone_proc_deinit(&proc);
    end.pid_fd = -1;
    *out_proc = st ? (hone_proc){.pid_fd = -1} : end;
    return hone_status_annotate(st, "%s", argv[0]);
}
