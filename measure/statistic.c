/* measure/statistic.c - the robust statistics that timings are told by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/run.h"
#include "support/core/alloc.h"

#define SMALL 64 /* values that are sorted without an allocation */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at `share` of the sorted order, between neighbours by their distance. */
static double quantile(const double *sorted, size_t count, double share) {
    double place = share * (double)(count - 1);
    size_t low = (size_t)place;
    if (low + 1 >= count) return sorted[count - 1];
    return sorted[low] + (place - (double)low) * (sorted[low + 1] - sorted[low]);
}

/* Sorts a copy and asks it; NAN when there is no memory for a long one. */
static bool quartiles(const double *values, size_t count, double out_quartile[3]) {
    double small[SMALL], *sorted = small;
    if (count == 0) return false;
    if (count > SMALL && !(sorted = hone_malloc(count * sizeof *sorted))) return false;
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    for (int i = 0; i < 3; i++)
        out_quartile[i] = quantile(sorted, count, 0.25 * (i + 1));
    if (sorted != small) hone_free(sorted);
    return true;
}

double hone_stat_median(const double *values, size_t count) {
    double q[3];
    return quartiles(values, count, q) ? q[1] : (double)NAN;
}

double hone_stat_spread(const double *values, size_t count) {
    double q[3];
    if (count < 2 || !quartiles(values, count, q)) return (double)NAN;
    return q[1] > 0 ? (q[2] - q[0]) / q[1] : 0;
}
