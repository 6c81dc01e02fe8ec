/* costmodel/train_pairs.c - see train_pairs.h. */
#include "costmodel/train_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "support/core/alloc.h"

enum { PARTNERS = 16 };

/* Less than this between two times is noise. */
#define UNLIKE 1.03

typedef struct place {
    hone_hash128 group;
    uint32_t sample;
} place;

static int by_group(const void *a, const void *b) {
    const place *x = a, *y = b;
    int order = hone_hash128_compare(x->group, y->group);
    return order ? order : (x->sample > y->sample) - (x->sample < y->sample);
}

/* Adds the pair, the faster first, unless the times are too near to each other. */
static bool add(const train_history *history, uint32_t a, uint32_t b, train_pairs *io) {
    double x = history->samples.data[a].time_ns, y = history->samples.data[b].time_ns;
    bool is_first = isnan(y) ? !isnan(x) : x * UNLIKE <= y;
    bool is_second = isnan(x) ? !isnan(y) : y * UNLIKE <= x;
    if (!is_first && !is_second) return true;
    train_pair pair = {is_first ? a : b, is_first ? b : a, 0};
    return hone_vec_push(io, pair);
}

/* With the samples behind it, some of them where there are many. */
static bool pair_up(const train_history *history, const place *group, size_t count, size_t at,
                    uint64_t seed, train_pairs *io) {
    uint32_t self = group[at].sample;
    if (count <= 2 * PARTNERS) {
        for (size_t i = at + 1; i < count; i++) {
            if (!add(history, self, group[i].sample, io)) return false;
        }
        return true;
    }
    for (uint64_t k = 0; k < PARTNERS; k++) {
        uint64_t lot = hone_hash_mix(seed ^ hone_hash_mix(self * (uint64_t)PARTNERS + k + 1));
        size_t other = (at + 1 + lot % (count - 1)) % count;
        if (!add(history, self, group[other].sample, io)) return false;
    }
    return true;
}

static bool pair_group(const train_history *history, const place *group, size_t count,
                       uint64_t seed, train_pairs *io) {
    size_t first = io->count;
    for (size_t i = 0; i < count; i++) {
        if (!pair_up(history, group, count, i, seed, io)) return false;
    }
    for (size_t i = first; i < io->count; i++)
        io->data[i].weight = (float)count / (float)(io->count - first);
    return true;
}

hone_status train_pairs_make(const train_history *history, uint64_t seed, train_pairs *out_pairs) {
    size_t count = history->samples.count;
    *out_pairs = (train_pairs){0};
    place *places = hone_calloc(count + 1, sizeof *places);
    bool ok = places != NULL;
    for (size_t i = 0; i < count && ok; i++)
        places[i] = (place){history->samples.data[i].group, (uint32_t)i};
    if (ok) qsort(places, count, sizeof *places, by_group);
    for (size_t begin = 0, end; begin < count && ok; begin = end) {
        for (end = begin + 1;
             end < count && hone_hash128_equal(places[end].group, places[begin].group);)
            end++;
        ok = pair_group(history, places + begin, end - begin, seed, out_pairs);
    }
    hone_free(places);
    if (ok) return HONE_OK;
    hone_vec_deinit(out_pairs);
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "training of the cost model");
}
