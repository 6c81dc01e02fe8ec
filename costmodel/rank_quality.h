/* costmodel/rank_quality.h - how well scores order times: pairs in the right order, and Spearman's
 * rank correlation. */
#ifndef HONE_COSTMODEL_RANK_QUALITY_H
#define HONE_COSTMODEL_RANK_QUALITY_H

#include <stddef.h>
#include <stdint.h>

#include "support/data/hash.h"

typedef struct rank_item {
    hone_hash128 group;
    double time_ns; /* NAN = failed: slower than all that did not fail */
    float score;
} rank_item;

typedef struct rank_quality {
    double pairs, right;        /* right counts a tie of scores as a half */
    double correlation, weight; /* weighted sum over groups, and the sum of the weights */
} rank_quality;

/* Judges pairs of one group whose times differ by more than 2 %. O(n²) in the size of a group;
 * sorts the items. */
rank_quality rank_quality_of(rank_item *items, size_t count);

/* quality = quality × keep + latest: old judgements fade. */
void rank_quality_fold(rank_quality *quality, const rank_quality *latest, double keep);

double rank_quality_accuracy(const rank_quality *quality);    /* NAN without pairs */
double rank_quality_correlation(const rank_quality *quality); /* NAN without groups */

#endif
