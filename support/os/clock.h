/* support/os/clock.h - time as an explicit argument.
 *
 * A clock counts nanoseconds from an arbitrary point and never goes back. Deadlines are points on
 * such a clock. The system clock is CLOCK_MONOTONIC; the virtual one stands still until somebody
 * sleeps or advances it, so tests and simulations run at full speed. Thread-safe.
 */
#ifndef HONE_SUPPORT_OS_CLOCK_H
#define HONE_SUPPORT_OS_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hone_clock {
    int64_t (*now_ns)(const struct hone_clock *clock);
    void (*sleep_until)(const struct hone_clock *clock, int64_t deadline_ns);
} hone_clock;

#define HONE_NS_PER_US INT64_C(1000)
#define HONE_NS_PER_MS INT64_C(1000000)
#define HONE_NS_PER_S INT64_C(1000000000)
#define HONE_DEADLINE_NEVER INT64_MAX /* a deadline that never comes */
#define HONE_DEADLINE_NOW INT64_C(0)  /* do not wait at all */

/* The monotonic clock of the machine; never NULL. */
const hone_clock *hone_clock_system(void);

/* CPU time of the calling thread: what others run meanwhile does not count, nor do waits. Where the
 * system counts it in ticks, as some sandboxes do, it is the clock of the machine. */
const hone_clock *hone_clock_thread(void);

/* Whether a clock moves between two looks that follow each other, and not by ticks of a millisecond
 * or more; takes up to a thousand looks. */
bool hone_clock_is_fine(const hone_clock *clock);

static inline int64_t hone_clock_now(const hone_clock *clock) {
    return clock->now_ns(clock);
}

static inline void hone_clock_sleep_until(const hone_clock *clock, int64_t deadline_ns) {
    clock->sleep_until(clock, deadline_ns);
}

/* now + duration, without overflow; a negative duration means HONE_DEADLINE_NEVER. */
int64_t hone_deadline_after(const hone_clock *clock, int64_t duration_ns);

/* What is left until the deadline as a timeout for poll(2): -1 = for ever, 0 = over; rounds up. */
int hone_deadline_poll_ms(const hone_clock *clock, int64_t deadline_ns);

/* A clock that only moves when told; sleeping moves it to the deadline. */
typedef struct hone_virtual_clock {
    hone_clock clock; /* first: pass &v.clock */
    _Atomic int64_t now_ns;
} hone_virtual_clock;

void hone_virtual_clock_init(hone_virtual_clock *clock, int64_t start_ns);
void hone_virtual_clock_advance(hone_virtual_clock *clock, int64_t duration_ns);

/* Nanoseconds since 1970 UTC: for display and records only, never for deadlines or decisions. */
int64_t hone_wall_time_ns(void);

enum { HONE_WALL_TIME_BYTES = 32 };
/* "2024-05-01T12:34:56Z"; returns `out`. */
char *hone_wall_time_print(int64_t wall_ns, char out[HONE_WALL_TIME_BYTES]);

enum { HONE_DURATION_BYTES = 32 };
/* "850 ns", "12.3 us", "4.56 ms", "7.89 s", "3m 05s", "2h 03m"; returns `out`. */
char *hone_duration_print(int64_t duration_ns, char out[HONE_DURATION_BYTES]);

#endif
