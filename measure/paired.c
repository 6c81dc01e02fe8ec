/* measure/paired.c - see paired.h. */
#include "measure/paired.h"

#include <math.h>
#include <stdlib.h>

#include "measure/run.h"

enum { MOST_RANKS = HONE_MAX_PAIRS * (HONE_MAX_PAIRS + 1) }; /* the sum of all doubled ranks */

static int by_size(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Twice the ranks by size, so that ties share a whole number. Sorts the differences. */
static void rank(double *differences, size_t count, size_t *out_ranks) {
    qsort(differences, count, sizeof *differences, by_size);
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = begin + 1;
        while (end < count && fabs(differences[end]) <= fabs(differences[begin]))
            end++;
        for (size_t i = begin; i < end; i++)
            out_ranks[i] = begin + 1 + end;
    }
}

/* The share of all 2^count choices of signs under which the losses weigh at most `losses`. */
static double share_below(const size_t *ranks, size_t count, size_t losses) {
    double ways[MOST_RANKS + 1] = {1}, below = 0;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        most += ranks[i];
        for (size_t sum = most; sum >= ranks[i]; sum--)
            ways[sum] = (ways[sum] + ways[sum - ranks[i]]) / 2;
        for (size_t sum = 0; sum < ranks[i]; sum++)
            ways[sum] /= 2;
    }
    for (size_t sum = 0; sum <= losses; sum++)
        below += ways[sum];
    return below;
}

hone_paired hone_compare_pairs(const double *before, const double *after, size_t count) {
    double ratios[HONE_MAX_PAIRS], differences[HONE_MAX_PAIRS];
    size_t ranks[HONE_MAX_PAIRS], unlike = 0, losses = 0;
    if (count > HONE_MAX_PAIRS) count = HONE_MAX_PAIRS;
    for (size_t i = 0; i < count; i++) {
        ratios[i] = after[i] / before[i];
        double difference = log(ratios[i]);
        if (fabs(difference) > 0) differences[unlike++] = difference;
    }
    hone_paired paired = {hone_stat_median(ratios, count), 1};
    rank(differences, unlike, ranks);
    for (size_t i = 0; i < unlike; i++)
        losses += differences[i] > 0 ? ranks[i] : 0;
    if (unlike) paired.chance = share_below(ranks, unlike, losses);
    return paired;
}
