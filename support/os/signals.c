/* support/os/signals.c - see signals.h. */
#include "support/os/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

hone_status hone_signals_take(const int *signals, size_t count, int *out_fd) {
    sigset_t set;
    *out_fd = -1;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        sigaddset(&set, signals[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        *out_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return *out_fd >= 0 ? HONE_OK : HONE_ERROR(HONE_CODE_IO, "signals: %s", strerror(errno));
}

int hone_signals_next(int fd) {
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}
