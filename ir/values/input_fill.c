/* ir/values/input_fill.c - see input_fill.h. */
#include "ir/values/input_fill.h"

#include <stdlib.h>

#include "ir/core/fold.h"

static int compare(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Rising numbers, both ends among them, and all between equally likely; strictly: no two alike,
 * where there are enough. */
static bool fill_sorted(hone_arena *arena, hone_tensor *to, hone_span span, bool strictly,
                        hone_rng *rng) {
    int64_t count = hone_tensor_count(to), step = 0;
    if (strictly && count > 1 && span.high - span.low >= (double)count - 1) {
        span.high -= (double)count - 1;
        step = 1;
    }
    int64_t *drawn = hone_arena_alloc(arena, ((size_t)count + 1) * sizeof *drawn);
    if (!drawn) return false;
    for (int64_t i = 0; i < count; i++)
        drawn[i] = hone_rng_between(rng, (int64_t)span.low, (int64_t)span.high);
    if (count > 0) drawn[0] = (int64_t)span.low;
    if (count > 1) drawn[1] = (int64_t)span.high;
    qsort(drawn, (size_t)count, sizeof *drawn, compare);
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(to, i, drawn[i] + i * step);
    return true;
}

/* Any `range` neighbours are distinct: steps of a number without a divisor in common with it. */
static void fill_distinct(hone_tensor *to, hone_span span, hone_rng *rng) {
    int64_t range = (int64_t)(span.high - span.low) + 1, count = hone_tensor_count(to);
    int64_t step = range > 2 ? hone_rng_between(rng, 1, range - 1) : 1;
    int64_t at = hone_rng_between(rng, 0, range - 1);
    while (hone_gcd(range, step) != 1)
        step--;
    for (int64_t i = 0; i < count; i++, at = (at + step) % range)
        hone_tensor_set_i64(to, i, (int64_t)span.low + at);
}

bool hone_input_values_fill(const hone_input_values *values, bool strictly, hone_arena *arena,
                            hone_rng *rng, hone_tensor *to) {
    if (values->is_sorted) return fill_sorted(arena, to, values->span, strictly, rng);
    if (values->is_distinct) {
        fill_distinct(to, values->span, rng);
    } else {
        hone_tensor_fill_random(to, rng, values->span.low, values->span.high);
    }
    return true;
}
