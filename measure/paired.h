/* measure/paired.h - whether one thing is faster than another, by times that were taken in turns.
 *
 * What slows a machine down for a while slows both halves of a pair down, so pairs say more than
 * two medians do. No distribution is assumed: the test is Wilcoxon's signed-rank test (Wilcoxon
 * 1945, exact, one-sided) over the logarithms of the ratios.
 * Threads: thread-safe, nothing is kept. Layer: may include support/.
 */
#ifndef HONE_MEASURE_PAIRED_H
#define HONE_MEASURE_PAIRED_H

#include <stddef.h>

enum { HONE_MAX_PAIRS = 64 };

typedef struct hone_paired {
    double ratio;  /* median of after / before: below 1 is a gain; NAN without pairs */
    double chance; /* that pairs look so much like a gain when there is none; 1 without pairs */
} hone_paired;

/* count: at most HONE_MAX_PAIRS, those behind are not looked at. Times are above 0. */
hone_paired hone_compare_pairs(const double *before, const double *after, size_t count);

#endif
