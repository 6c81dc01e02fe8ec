/* sandbox/warden.c - one loop over the outside, the held process and what it asks for.
 *
 * It is trusted by the outside, and trusts nothing that the held process says: that can ask, and
 * hold the gate while a request of its own is served, and no more.
 */
#include "sandbox/warden.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/asked.h"
#include "sandbox/channel.h"
#include "sandbox/control.h"
#include "sandbox/file_policy.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/proc.h"
#include "support/os/quiet.h"

#define GATE_SLICE_NS (20 * HONE_NS_PER_MS) /* how long it is deaf while it waits for the gate */

struct hone_warden {
    int control_fd, channel_fd, end_fd, listener_fd;
    hone_asked_facts facts;
    hone_file_policy *policy;
    hone_quiet_gate gate;
    bool has_gate, is_serving, is_over;
};

hone_status hone_warden_create(const hone_sandbox_options *options,
                               const hone_loader_dirs *toolchain, hone_warden **out_warden) {
    *out_warden = NULL;
    hone_warden *w = hone_calloc(1, sizeof *w);
    if (!w) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sandbox");
    w->control_fd = options->control_fd;
    w->channel_fd = w->end_fd = w->listener_fd = w->facts.held_pidfd = w->gate.fd = -1;
    hone_status st = hone_file_policy_create(options->profile, toolchain, &w->policy);
    if (!st && options->quiet_path) {
        st = hone_quiet_open(options->quiet_path, &w->gate);
        w->has_gate = !st;
    }
    if (st) {
        hone_warden_destroy(w);
        return st;
    }
    w->facts.policy = w->policy;
    *out_warden = w;
    return HONE_OK;
}

void hone_warden_destroy(hone_warden *w) {
    if (!w) return;
    hone_file_policy_destroy(w->policy);
    if (w->has_gate) hone_quiet_close(&w->gate);
    hone_fd_close(&w->listener_fd);
    hone_fd_close(&w->facts.held_pidfd);
    hone_free(w);
}

/* ---- the outside ---- */

static void tell(const hone_warden *w, char what, int number) {
    char packet[1 + sizeof number];
    packet[0] = what;
    memcpy(packet + 1, &number, sizeof number);
    (void)send(w->control_fd, packet, sizeof packet, MSG_NOSIGNAL);
}

static void drop_gate(hone_warden *w) {
    if (w->has_gate && w->gate.is_held) hone_quiet_end(&w->gate);
}

/* A request without what it needs fails by itself: the file is not to be had. */
static void serve(hone_warden *w, const char *grants, size_t bytes) {
    const char *path;
    hone_file_grant_kind kind;
    drop_gate(w);
    hone_file_policy_revoke(w->policy);
    while (hone_control_next(&grants, &bytes, &kind, &path))
        hone_status_free(hone_file_policy_grant(w->policy, kind, path));
    w->facts.started = 0;
    w->is_serving = true;
}

/* False when there is nothing more for now. */
static bool hear_control(hone_warden *w) {
    static const char none[1];
    char packet[HONE_CONTROL_BYTES];
    ssize_t got = recv(w->control_fd, packet, sizeof packet, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        w->is_over = true;
        return false;
    }
    switch (packet[0]) {
    case HONE_CONTROL_PING:
        tell(w, HONE_CONTROL_PONG, 0);
        return true;
    case HONE_CONTROL_SERVE:
        serve(w, packet + 1, (size_t)got - 1);
        return true;
    default:
        serve(w, none, 0);
        w->is_serving = false;
        return true;
    }
}

/* ---- the held process ---- */

static void say(const hone_warden *w, bool is_given) {
    const hone_channel_packet answer = {.word =
                                            is_given ? HONE_CHANNEL_GIVEN : HONE_CHANNEL_DENIED};
    (void)hone_channel_send(w->channel_fd, &answer);
}

/* Comes before a foreign byte runs: the number is that of the listener. */
static void on_hello(hone_warden *w) {
    hone_channel_packet packet;
    pid_t pid = 0;
    if (!hone_channel_receive_first(w->channel_fd, &packet, &pid) || pid <= 0) {
        hone_fd_close(&w->channel_fd); /* the end is on its way */
        return;
    }
    w->facts.held_pid = pid;
    w->facts.held_pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
    if (packet.number >= 0)
        w->listener_fd = hone_pidfd_getfd(w->facts.held_pidfd, (int)packet.number);
    tell(w, HONE_CONTROL_PID, pid);
    say(w, packet.number < 0 || w->listener_fd >= 0);
}

static bool has_ended(const hone_warden *w) {
    struct pollfd wait = {.fd = w->end_fd, .events = POLLIN};
    return poll(&wait, 1, 0) > 0;
}

static bool take_gate(hone_warden *w, int64_t patience_ns) {
    const hone_clock *clock = hone_clock_system();
    const int64_t until = hone_deadline_after(clock, patience_ns);
    while (w->has_gate && w->is_serving && !w->is_over && !has_ended(w)) {
        int64_t now = hone_clock_now(clock);
        if (w->gate.is_held) return true;
        if (now >= until) return false;
        int64_t slice = until - now < GATE_SLICE_NS ? until : now + GATE_SLICE_NS;
        hone_status_free(hone_quiet_begin(&w->gate, HONE_QUIET_ALONE, clock, slice));
        while (!w->gate.is_held && hear_control(w)) {
        }
    }
    return false;
}

/* It has ended, or a stranger speaks in it: then it can take the gate no more, and no request after
 * this one would be timed as it should be. */
static void end_channel(hone_warden *w) {
    (void)syscall(SYS_pidfd_send_signal, w->facts.held_pidfd, SIGKILL, NULL, 0u);
    hone_fd_close(&w->channel_fd);
}

static void on_channel(hone_warden *w) {
    hone_channel_packet packet;
    if (!w->facts.held_pid) {
        on_hello(w);
        return;
    }
    if (!hone_channel_receive(w->channel_fd, &packet)) {
        end_channel(w);
        return;
    }
    if (packet.word == HONE_CHANNEL_DROP) drop_gate(w);
    if (packet.word != HONE_CHANNEL_TAKE) return;
    say(w, take_gate(w, packet.number));
}

static void on_end(hone_warden *w) {
    int status = 0;
    w->is_over = true;
    if (read(w->end_fd, &status, sizeof status) == (ssize_t)sizeof status) {
        tell(w, HONE_CONTROL_END, status);
    }
}

/* ---- the loop ---- */

void hone_warden_watch(hone_warden *w, int channel_fd, int end_fd, bool has_namespaces) {
    w->channel_fd = channel_fd;
    w->end_fd = end_fd;
    w->facts.has_namespaces = has_namespaces;
    while (!w->is_over) {
        enum { CONTROL, END, CHANNEL, LISTENER, COUNT };
        struct pollfd on[COUNT] = {
            [CONTROL] = {.fd = w->control_fd,  .events = POLLIN},
            [END] = {.fd = w->end_fd,      .events = POLLIN},
            [CHANNEL] = {.fd = w->channel_fd,  .events = POLLIN},
            [LISTENER] = {.fd = w->listener_fd, .events = POLLIN},
        };
        if (poll(on, COUNT, -1) < 0) continue;
        while (hear_control(w)) { /* before the question that a request leads to */
        }
        if (on[CHANNEL].revents && !w->is_over) on_channel(w);
        if ((on[LISTENER].revents & POLLIN) && !hone_asked_answer(w->listener_fd, &w->facts)) {
            hone_fd_close(&w->listener_fd);
        } else if (on[LISTENER].revents & (POLLHUP | POLLERR)) {
            hone_fd_close(&w->listener_fd);
        }
        if (on[END].revents && !w->is_over) on_end(w);
    }
    drop_gate(w);
}
