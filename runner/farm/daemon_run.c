/* runner/farm/daemon_run.c - a daemon over real descriptors: step, then wait for what comes first.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "runner/farm/daemon_impl.h"

typedef struct descriptors {
    struct pollfd fds[HONE_FARM_MAX_SLOTS + 2];
    nfds_t count;
} descriptors;

static void watch(descriptors *w, int fd) {
    if (fd >= 0) w->fds[w->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void collect(const hone_daemon *d, int stop_fd, descriptors *out) {
    out->count = 0;
    watch(out, stop_fd);
    watch(out, hone_net_fd(d->link.net));
    for (size_t i = 0; i < d->slot_count; i++)
        watch(out, hone_runner_fd(d->slots[i].runner));
}

/* What a signal, or a byte, calls for: the same or less once more means now. */
static hone_daemon_haste haste_of(const hone_daemon *d, int signal, int drain_signal) {
    bool is_drain = signal > 0 && signal == drain_signal;
    hone_daemon_haste haste = is_drain ? HONE_DAEMON_DRAIN : HONE_DAEMON_STOP;
    return d->is_stopping && haste <= d->haste ? HONE_DAEMON_NOW : haste;
}

/* false: the descriptor gives nothing more. */
static bool take_call(hone_daemon *d, int stop_fd, int drain_signal) {
    struct signalfd_siginfo told;
    ssize_t count = read(stop_fd, &told, sizeof told);
    int signal = count == (ssize_t)sizeof told ? (int)told.ssi_signo : 0;
    hone_daemon_stop(d, haste_of(d, signal, drain_signal));
    return count > 0;
}

hone_status hone_daemon_run(hone_daemon *d, int stop_fd, int drain_signal) {
    while (!hone_daemon_is_over(d)) {
        descriptors w;
        HONE_TRY(hone_daemon_step(d));
        if (hone_daemon_is_over(d)) break;
        collect(d, stop_fd, &w);
        int ready =
            poll(w.fds, w.count, hone_deadline_poll_ms(d->link.clock, hone_daemon_next_ns(d)));
        if (ready < 0 && errno != EINTR) {
            return HONE_ERROR(HONE_CODE_IO, "waiting: %s", strerror(errno));
        }
        if (ready > 0 && stop_fd >= 0 && w.fds[0].revents && !take_call(d, stop_fd, drain_signal)) {
            stop_fd = -1;
        }
    }
    return HONE_OK;
}
