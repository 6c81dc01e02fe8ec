/* costmodel/rank_quality.c - see rank_quality.h. */
#include "costmodel/rank_quality.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NEAR_TIE 1.02 /* times closer than this are noise, not an order */

static int by_group(const void *a, const void *b) {
    const rank_item *x = a, *y = b;
    return hone_hash128_compare(x->group, y->group);
}

/* 1: a is clearly faster, -1: b is, 0: nobody can tell. */
static int faster(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(b) - isnan(a);
    if (a * NEAR_TIE < b) return 1;
    return b * NEAR_TIE < a ? -1 : 0;
}

static void judge_pairs(const rank_item *items, size_t count, rank_quality *out) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            int order = faster(items[i].time_ns, items[j].time_ns);
            if (!order) continue;
            int said = (items[i].score > items[j].score) - (items[i].score < items[j].score);
            out->pairs += 1;
            out->right += said == 0 ? 0.5 : said == order;
        }
    }
}

/* Twice the rank of item i among all (ties share a rank): by time, best first, or by score. */
static double rank_of(const rank_item *items, size_t count, size_t i, bool by_time) {
    double rank = 0;
    for (size_t j = 0; j < count; j++) {
        int order = by_time ? faster(items[i].time_ns, items[j].time_ns)
                            : (items[i].score > items[j].score) - (items[i].score < items[j].score);
        rank += 1 - order; /* 0: before j, 1: level, 2: behind */
    }
    return rank;
}

static void judge_correlation(const rank_item *items, size_t count, rank_quality *out) {
    double mean = (double)count, xy = 0, xx = 0, yy = 0; /* the mean of these ranks is count */
    if (count < 3) return;
    for (size_t i = 0; i < count; i++) {
        double x = rank_of(items, count, i, true) - mean;
        double y = rank_of(items, count, i, false) - mean;
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    if (xx <= 0) return; /* all times alike: nothing to order */
    out->correlation += yy > 0 ? (double)count * xy / sqrt(xx * yy) : 0;
    out->weight += (double)count;
}

rank_quality rank_quality_of(rank_item *items, size_t count) {
    rank_quality quality = {0};
    if (count) qsort(items, count, sizeof *items, by_group);
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = begin + 1;
        while (end < count && hone_hash128_equal(items[begin].group, items[end].group))
            end++;
        judge_pairs(items + begin, end - begin, &quality);
        judge_correlation(items + begin, end - begin, &quality);
    }
    return quality;
}

void rank_quality_fold(rank_quality *quality, const rank_quality *latest, double keep) {
    quality->pairs = quality->pairs * keep + latest->pairs;
    quality->right = quality->right * keep + latest->right;
    quality->correlation = quality->correlation * keep + latest->correlation;
    quality->weight = quality->weight * keep + latest->weight;
}

double rank_quality_accuracy(const rank_quality *quality) {
    return quality->pairs > 0 ? quality->right / quality->pairs : (double)NAN;
}

double rank_quality_correlation(const rank_quality *quality) {
    return quality->weight > 0 ? quality->correlation / quality->weight : (double)NAN;
}
