/* tuner/loop/tune_promote.c - see tune_promote.h. */
#include "tuner/loop/tune_promote.h"

#include "measure/paired.h"

enum { VERDICTS = 2 };

uint32_t hone_promote(const double *const *times_ns, uint32_t count, uint32_t incumbent,
                      uint32_t rounds) {
    uint32_t winner = incumbent;
    double best = 1 - HONE_LEAST_GAIN;
    double chance = HONE_FALSE_PROMOTIONS / VERDICTS / (count > 1 ? count - 1 : 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i == incumbent || !times_ns[i]) continue;
        hone_paired paired = hone_compare_pairs(times_ns[incumbent], times_ns[i], rounds);
        if (paired.chance > chance || paired.ratio > best) continue;
        winner = i;
        best = paired.ratio;
    }
    return winner;
}

bool hone_may_be_promoted(const double *incumbent_ns, const double *times_ns, uint32_t rounds) {
    return hone_compare_pairs(incumbent_ns, times_ns, rounds).ratio < 1;
}
