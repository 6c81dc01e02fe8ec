/* sandbox/held.c - see held.h. */
#include "sandbox/held.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/control.h"
#include "support/core/attributes.h"
#include "support/data/vec.h"

extern char **environ;

enum { MAX_FDS = 12 };
#define PING_PATIENCE_NS (2 * HONE_NS_PER_S)

typedef HONE_VEC(const char *) word_list;

void hone_held_init(hone_held *held) {
    *held = (hone_held){.control_fd = -1};
}

void hone_held_end(hone_held *held) {
    hone_fd_close(&held->control_fd);
    if (held->proc.pid) hone_proc_deinit(&held->proc);
    hone_held_init(held);
}

/* ---- the environment ---- */

/* A name, or the beginning of one. Whatever else is set is nobody's business but the user's. */
static bool is_handed_on(const char *variable) {
    static const char *const names[] = {"PATH=",       "LD_LIBRARY_PATH=",
                                        "LD_PRELOAD=", "LANG=",
                                        "LC_",         "TZ=",
                                        "OMP_",        "GOMP_",
                                        "KMP_",        "OPENBLAS_",
                                        "GOTO_",       "BLIS_",
                                        "MKL_",        "DNNL_",
                                        "ONEDNN_",     "MALLOC_",
                                        "QEMU_",       "GLIBC_TUNABLES=",
                                        "ASAN_",       "UBSAN_",
                                        "LSAN_",       "TSAN_",
                                        "CPATH=",      "C_INCLUDE_PATH=",
                                        "COMPILER_",   "LIBRARY_PATH=",
                                        "GCC_",        "SOURCE_DATE_EPOCH=",
                                        "CUDA_",       "NVIDIA_"};
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0) return true;
    }
    return false;
}

static bool choose_environment(word_list *out, const char *const *extra) {
    bool ok = true;
    for (; extra && *extra && ok; extra++) /* first: of two of a name, that one counts */
        ok = hone_vec_push(out, *extra);
    for (char **at = environ; *at && ok; at++) {
        if (is_handed_on(*at)) ok = hone_vec_push(out, *at);
    }
    return ok && hone_vec_push(out, NULL);
}

/* ---- starting ---- */

static hone_status open_control(int pair[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "control socket: %s", strerror(errno));
}

static hone_status spawn(hone_held *held, const hone_proc_options *options, int control,
                         const char *const *env) {
    hone_fd_map fds[MAX_FDS];
    hone_proc_options with = *options;
    assert(options->fd_count < MAX_FDS);
    memcpy(fds, options->fds, options->fd_count * sizeof *fds);
    fds[options->fd_count] = (hone_fd_map){control, HONE_HELD_CONTROL_FD};
    with.fds = fds;
    with.fd_count = options->fd_count + 1;
    with.env = env;
    return hone_proc_spawn(&with, &held->proc);
}

hone_status hone_held_start(hone_held *held, const hone_proc_options *options,
                            const char *const *extra) {
    word_list env = {0};
    int pair[2] = {-1, -1};
    hone_held_end(held);
    hone_status st = choose_environment(&env, extra)
                         ? open_control(pair)
                         : HONE_ERROR(HONE_CODE_NO_MEMORY, "environment of a process");
    if (!st) st = spawn(held, options, pair[1], env.data);
    held->control_fd = pair[0];
    hone_fd_close(&pair[1]);
    hone_vec_deinit(&env);
    if (st) hone_held_end(held);
    return st;
}

/* ---- requests ---- */

static hone_status send_control(const hone_held *held, const char *packet, size_t bytes) {
    if (send(held->control_fd, packet, bytes, MSG_NOSIGNAL) == (ssize_t)bytes) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the warden is gone: %s", strerror(errno));
}

hone_status hone_held_serve(hone_held *held, const hone_grant *grants, size_t count) {
    char packet[HONE_CONTROL_BYTES] = {HONE_CONTROL_SERVE};
    size_t used = 1;
    for (size_t i = 0; i < count; i++) {
        if (!grants[i].path) continue;
        size_t length = strlen(grants[i].path) + 1;
        if (length + 1 > sizeof packet - used) {
            return HONE_ERROR(HONE_CODE_INVALID, "the paths of a request are too long");
        }
        packet[used++] = (char)grants[i].kind;
        memcpy(packet + used, grants[i].path, length);
        used += length;
    }
    return send_control(held, packet, used);
}

void hone_held_idle(hone_held *held) {
    const char packet = HONE_CONTROL_IDLE;
    hone_status_free(send_control(held, &packet, 1)); /* gone: it opens nothing more */
}

/* ---- what the warden says ---- */

static void hear_one(hone_held *held, char what, int number) {
    if (what == HONE_CONTROL_PID) held->inner.pid = number;
    if (what == HONE_CONTROL_PONG) held->has_answered = true;
    if (what != HONE_CONTROL_END) return;
    held->inner.is_ended = true;
    held->inner.exit_code = WIFEXITED(number) ? WEXITSTATUS(number) : 0;
    held->inner.term_signal = WIFSIGNALED(number) ? WTERMSIG(number) : 0;
}

static void hear(hone_held *held) {
    int number;
    char packet[1 + sizeof number];
    ssize_t got = 0;
    while (held->control_fd >= 0 && (got = recv(held->control_fd, packet, sizeof packet,
                                                MSG_DONTWAIT)) == (ssize_t)sizeof packet) {
        memcpy(&number, packet + 1, sizeof number);
        hear_one(held, packet[0], number);
    }
    if (held->control_fd < 0 || got == 0) held->is_gone = true;
}

/* Asks: of a process that is being killed, some descriptors close before others do. */
bool hone_held_is_gone(hone_held *held) {
    const char packet = HONE_CONTROL_PING;
    const hone_clock *clock = hone_clock_system();
    const int64_t deadline = hone_deadline_after(clock, PING_PATIENCE_NS);
    held->has_answered = false;
    hone_status st = send_control(held, &packet, 1);
    while (!st && !held->has_answered && !held->is_gone) {
        st = hone_fd_wait_readable(held->control_fd, clock, deadline);
        hear(held);
    }
    hone_status_free(st);
    return !held->has_answered;
}

int64_t hone_held_cpu_ns(hone_held *held) {
    hear(held);
    return hone_proc_cpu_ns(&held->inner);
}

int64_t hone_held_waited_ns(hone_held *held) {
    hear(held);
    return hone_proc_waited_ns(&held->inner);
}

bool hone_held_is_runnable(hone_held *held) {
    hear(held);
    return hone_proc_is_runnable(&held->inner);
}

int64_t hone_held_resident_bytes(hone_held *held) {
    char path[64], line[128];
    long long total = 0, resident = 0;
    hear(held);
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)held->inner.pid);
    FILE *file = held->inner.pid > 0 ? fopen(path, "re") : NULL;
    if (!file) return 0;
    bool ok = fgets(line, sizeof line, file) && sscanf(line, "%lld %lld", &total, &resident) == 2;
    fclose(file);
    return ok ? resident * sysconf(_SC_PAGESIZE) : 0;
}

hone_status hone_held_wait(hone_held *held, const hone_clock *clock, int64_t deadline_ns) {
    hone_status st = hone_proc_wait(&held->proc, clock, deadline_ns);
    hear(held);
    return st;
}

/* A warden that was killed says nothing: then its own end is all that is known. */
static const hone_proc *ended_of(const hone_held *held) {
    return held->inner.is_ended ? &held->inner : &held->proc;
}

void hone_held_print_end(const hone_held *held, hone_str *out) {
    hone_proc_print_end(ended_of(held), out);
}

bool hone_held_was_killed(const hone_held *held) {
    const hone_proc *ended = ended_of(held);
    return ended->is_ended && ended->term_signal == SIGKILL;
}
