/* runner/farm/daemon_run.c - a daemon over real descriptors: step, then wait for what comes first.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "runner/farm/daemon_impl.h"

enum { SIGNAL_BYTES = 128 }; /* struct signalfd_siginfo */

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

hone_status hone_daemon_run(hone_daemon *d, int stop_fd) {
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
        char told[SIGNAL_BYTES];
        if (ready > 0 && stop_fd >= 0 && w.fds[0].revents) {
            if (read(stop_fd, told, sizeof told) <= 0) stop_fd = -1;
            hone_daemon_stop(d, d->is_stopping);
        }
    }
    return HONE_OK;
}
