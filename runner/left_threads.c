/* runner/left_threads.c - see left_threads.h. */
#include "runner/left_threads.h"

#include <time.h>

#include "support/os/clock.h"

#define LITTLE_NS (200 * HONE_NS_PER_US) /* what a thread uses to fall asleep */
#define NAP_NS (10 * HONE_NS_PER_MS) /* in which they do, and then in which who computes shows */

static int64_t read_clock(clockid_t id) {
    struct timespec t = {0};
    return clock_gettime(id, &t) ? 0 : (int64_t)t.tv_sec * HONE_NS_PER_S + t.tv_nsec;
}

int64_t hone_other_threads_ns(void) {
    int64_t own = read_clock(CLOCK_THREAD_CPUTIME_ID);
    return read_clock(CLOCK_PROCESS_CPUTIME_ID) - own;
}

static void nap(void) {
    const struct timespec t = {0, NAP_NS};
    (void)nanosleep(&t, NULL);
}

bool hone_threads_were_left(int64_t since_ns, int32_t threads) {
    if (hone_other_threads_ns() - since_ns < LITTLE_NS * (threads > 1 ? threads : 1)) return false;
    nap();
    int64_t before = hone_other_threads_ns();
    nap();
    return hone_other_threads_ns() - before >= LITTLE_NS;
}
