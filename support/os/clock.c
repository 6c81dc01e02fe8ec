/* support/os/clock.c - see clock.h. */
#include "support/os/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "support/core/number.h"

static int64_t read_ns(clockid_t id) {
    struct timespec ts = {0, 0};
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * HONE_NS_PER_S + ts.tv_nsec;
}

static int64_t system_now(const hone_clock *clock) {
    (void)clock;
    return read_ns(CLOCK_MONOTONIC);
}

static void system_sleep(const hone_clock *clock, int64_t deadline_ns) {
    (void)clock;
    if (deadline_ns <= 0) return;
    struct timespec ts = {.tv_sec = (time_t)(deadline_ns / HONE_NS_PER_S),
                          .tv_nsec = (long)(deadline_ns % HONE_NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR) {
    }
}

const hone_clock *hone_clock_system(void) {
    static const hone_clock clock = {.now_ns = system_now, .sleep_until = system_sleep};
    return &clock;
}

static int64_t thread_now(const hone_clock *clock) {
    (void)clock;
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* That a thread waits takes none of its time. */
static void thread_sleep(const hone_clock *clock, int64_t deadline_ns) {
    (void)clock;
    (void)deadline_ns;
}

const hone_clock *hone_clock_thread(void) {
    static const hone_clock clock = {.now_ns = thread_now, .sleep_until = thread_sleep};
    static _Atomic int known; /* 0: not yet, 1: it is fine, -1: it is not */
    if (!known) known = hone_clock_is_fine(&clock) ? 1 : -1;
    return known > 0 ? &clock : hone_clock_system();
}

int64_t hone_deadline_after(const hone_clock *clock, int64_t duration_ns) {
    int64_t deadline = 0;
    if (duration_ns < 0) return HONE_DEADLINE_NEVER;
    if (__builtin_add_overflow(hone_clock_now(clock), duration_ns, &deadline)) {
        return HONE_DEADLINE_NEVER;
    }
    return deadline;
}

int hone_deadline_poll_ms(const hone_clock *clock, int64_t deadline_ns) {
    if (deadline_ns == HONE_DEADLINE_NEVER) return -1;
    if (deadline_ns <= 0) return 0;
    int64_t left = deadline_ns - hone_clock_now(clock);
    if (left <= 0) return 0;
    int64_t ms = (left - 1) / HONE_NS_PER_MS + 1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* hone_virtual_clock begins with its hone_clock. */
static hone_virtual_clock *as_virtual(const hone_clock *clock) {
    return (hone_virtual_clock *)(uintptr_t)clock;
}

static int64_t virtual_now(const hone_clock *clock) {
    return atomic_load(&as_virtual(clock)->now_ns);
}

static void virtual_sleep(const hone_clock *clock, int64_t deadline_ns) {
    hone_virtual_clock *self = as_virtual(clock);
    int64_t now = atomic_load(&self->now_ns);
    while (now < deadline_ns && !atomic_compare_exchange_weak(&self->now_ns, &now, deadline_ns)) {
    }
}

void hone_virtual_clock_init(hone_virtual_clock *clock, int64_t start_ns) {
    clock->clock = (hone_clock){.now_ns = virtual_now, .sleep_until = virtual_sleep};
    atomic_init(&clock->now_ns, start_ns);
}

void hone_virtual_clock_advance(hone_virtual_clock *clock, int64_t duration_ns) {
    atomic_fetch_add(&clock->now_ns, duration_ns);
}

int64_t hone_wall_time_ns(void) {
    return read_ns(CLOCK_REALTIME);
}

char *hone_wall_time_print(int64_t wall_ns, char out[HONE_WALL_TIME_BYTES]) {
    time_t seconds = (time_t)(wall_ns / HONE_NS_PER_S - (wall_ns % HONE_NS_PER_S < 0));
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) ||
        strftime(out, HONE_WALL_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        out[0] = '\0';
    }
    return out;
}

char *hone_duration_print(int64_t ns, char out[HONE_DURATION_BYTES]) {
    const char *sign = ns < 0 ? "-" : "";
    double value = ns < 0 ? -(double)ns : (double)ns;
    if (value < 1e3) {
        hone_snprintf(out, HONE_DURATION_BYTES, "%s%.0f ns", sign, value);
    } else if (value < 999.5e3) {
        hone_snprintf(out, HONE_DURATION_BYTES, "%s%.3g us", sign, value / 1e3);
    } else if (value < 999.5e6) {
        hone_snprintf(out, HONE_DURATION_BYTES, "%s%.3g ms", sign, value / 1e6);
    } else if (value < 59.95e9) {
        hone_snprintf(out, HONE_DURATION_BYTES, "%s%.3g s", sign, value / 1e9);
    } else {
        int64_t seconds = (int64_t)(value / 1e9 + 0.5);
        if (seconds < 3600) {
            snprintf(out, HONE_DURATION_BYTES, "%s%dm %02ds", sign, (int)(seconds / 60),
                     (int)(seconds % 60));
        } else {
            snprintf(out, HONE_DURATION_BYTES, "%s%lldh %02dm", sign, (long long)(seconds / 3600),
                     (int)(seconds / 60 % 60));
        }
    }
    return out;
}
