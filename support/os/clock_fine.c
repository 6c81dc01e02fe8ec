/* support/os/clock_fine.c - clocks that move as time goes, and clocks that move by ticks. */
#include "support/os/clock.h"

#define TICK_NS HONE_NS_PER_MS /* at least, of clocks that move by ticks */

enum { LOOKS = 1000 }; /* at such a clock */

bool hone_clock_is_fine(const hone_clock *clock) {
    int64_t before = hone_clock_now(clock);
    for (int i = 0; i < LOOKS; i++) {
        int64_t now = hone_clock_now(clock);
        if (now > before && now - before < TICK_NS) return true;
        before = now;
    }
    return false;
}
