/* tuner/loop/tune_promote.h - which of several candidates is to be used, by times taken in turns.
 *
 * The incumbent stays unless another one is surely faster: by at least HONE_LEAST_GAIN in the
 * median over rounds, and so that such rounds would come about in less than HONE_FALSE_PROMOTIONS
 * of all confirmations if nobody was any faster (measure/paired.h; Bonferroni over those that try
 * and the two verdicts that there may be).
 */
#ifndef HONE_TUNER_TUNE_PROMOTE_H
#define HONE_TUNER_TUNE_PROMOTE_H

#include <stdbool.h>
#include <stdint.h>

#define HONE_FALSE_PROMOTIONS 0.01
#define HONE_LEAST_GAIN 0.01

enum {
    HONE_TRIAL_ROUNDS = 4,  /* then those that are not ahead give up */
    HONE_LEAST_ROUNDS = 10, /* a first verdict: fewer cannot be sure of one among four */
    HONE_CONFIRM_ROUNDS = 18
};

/* The one to use, 0 … count - 1: the incumbent, or the fastest of those that are surely faster.
 * times_ns[i]: of one that was timed once in each round; NULL = it gave up, but it has tried. */
uint32_t hone_promote(const double *const *times_ns, uint32_t count, uint32_t incumbent,
                      uint32_t rounds);

/* Whether it is worth going on with one after a few rounds: it is ahead in the median. */
bool hone_may_be_promoted(const double *incumbent_ns, const double *times_ns, uint32_t rounds);

#endif
