/* schedule/primitive/choose/sample.c - draws and repairs tile factors. */
#include "schedule/primitive/choose/sample.h"

#include <assert.h>

enum { MAX_TRIAL = 1 << 22, MAX_DIVISORS = 256 };

uint32_t hone_factorize(int64_t n, int64_t primes[HONE_MAX_PRIMES],
                        int32_t powers[HONE_MAX_PRIMES]) {
    assert(n >= 1);
    uint32_t count = 0;
    /* what is left beyond the limit counts as one prime: no loop of a program is that long */
    for (int64_t p = 2; p <= n / p && p < MAX_TRIAL; p += p == 2 ? 1 : 2) {
        if (n % p) continue;
        primes[count] = p;
        powers[count] = 0;
        for (; n % p == 0; n /= p)
            powers[count]++;
        count++;
    }
    if (n > 1) {
        primes[count] = n;
        powers[count++] = 1;
    }
    return count;
}

uint32_t hone_divisors(int64_t n, uint32_t capacity, int64_t *out) {
    uint32_t count = 0;
    for (int64_t d = 1; d <= n / d && d < MAX_TRIAL && count < capacity; d++) {
        if (n % d == 0) out[count++] = d;
    }
    for (uint32_t i = count; i-- > 0 && count < capacity;) {
        if (n / out[i] != out[i]) out[count++] = n / out[i];
    }
    return count;
}

/* The largest that is no larger than `most`; at least 1. */
static int64_t largest_divisor(int64_t n, int64_t most) {
    int64_t divisors[MAX_DIVISORS];
    uint32_t count = hone_divisors(n, MAX_DIVISORS, divisors);
    while (count > 1 && divisors[count - 1] > most)
        count--;
    return divisors[count - 1];
}

/* A uniform composition of total into parts non-negative numbers, by stars and bars: the gaps
 * between parts - 1 bars chosen among total + parts - 1 places. */
static void sample_composition(hone_rng *rng, int32_t total, uint32_t parts, int32_t *out) {
    uint32_t places = (uint32_t)total + parts - 1, bars = parts - 1;
    int32_t gap = 0;
    uint32_t part = 0;
    for (uint32_t place = 0; place < places; place++) {
        /* selection sampling: this place is a bar with probability (bars left) / (places left) */
        if (hone_rng_below(rng, places - place) < bars) {
            out[part++] = gap;
            gap = 0;
            bars--;
        } else {
            gap++;
        }
    }
    out[part] = gap;
}

static void draw(hone_rng *rng, uint32_t prime_count, const int64_t *primes, const int32_t *powers,
                 uint32_t parts, int64_t *out) {
    int32_t exponents[HONE_MAX_TILE_PARTS];
    for (uint32_t i = 0; i < parts; i++)
        out[i] = 1;
    for (uint32_t p = 0; p < prime_count; p++) {
        sample_composition(rng, powers[p], parts, exponents);
        for (uint32_t i = 0; i < parts; i++) {
            for (int32_t k = 0; k < exponents[i]; k++)
                out[i] *= primes[p];
        }
    }
}

enum { MAX_REJECTIONS = 200 };

void hone_sample_perfect_tile(hone_rng *rng, int64_t extent, uint32_t parts, int64_t max_innermost,
                              int64_t *out) {
    assert(parts >= 1 && parts <= HONE_MAX_TILE_PARTS && extent >= 1);
    int64_t primes[HONE_MAX_PRIMES];
    int32_t powers[HONE_MAX_PRIMES];
    uint32_t count = hone_factorize(extent, primes, powers);
    for (int i = 0; i < MAX_REJECTIONS; i++) {
        draw(rng, count, primes, powers, parts, out);
        if (max_innermost < 0 || out[parts - 1] <= max_innermost || parts == 1) return;
    }
    out[0] *= out[parts - 1];
    out[parts - 1] = 1;
}

bool hone_repair_perfect_tile(int64_t extent, uint32_t parts, int64_t *io) {
    int64_t rest = extent;
    bool changed = false;
    for (uint32_t i = parts; i-- > 1;) {
        if (io[i] < 1 || rest % io[i]) {
            io[i] = rest;
            changed = true;
        }
        rest /= io[i];
    }
    changed = changed || io[0] != rest;
    io[0] = rest;
    return changed;
}

void hone_fit_perfect_tile(int64_t extent, uint32_t parts, int64_t limit, int64_t *io) {
    for (uint32_t i = parts; i-- > 1;) {
        bool is_limited = i + 1 == parts && limit > 0 && io[i] > limit;
        io[i] = largest_divisor(extent, is_limited ? limit : io[i]);
        extent /= io[i];
    }
    io[0] = extent;
}

/* ---- partitioned ---- */

static bool is_partitioned(uint32_t parts, uint32_t pos, int64_t inner, const int64_t *tile) {
    int64_t rest = inner; /* what is left of inner when common factors are taken out */
    for (uint32_t i = pos; i < parts && rest > 1; i++) {
        int64_t a = rest, b = tile[i];
        while (b) {
            int64_t t = a % b;
            a = b;
            b = t;
        }
        rest /= a;
    }
    return rest == 1;
}

static void partition_plainly(int64_t extent, uint32_t parts, uint32_t pos, int64_t inner,
                              int64_t *out) {
    for (uint32_t i = 0; i < parts; i++)
        out[i] = 1;
    out[0] = extent / inner;
    out[pos] *= inner;
}

void hone_sample_partitioned_tile(hone_rng *rng, int64_t extent, uint32_t parts, uint32_t pos,
                                  int64_t inner, int64_t *out) {
    assert(parts >= 1 && parts <= HONE_MAX_TILE_PARTS && pos < parts && extent >= 1);
    assert(inner >= 1 && extent % inner == 0);
    int64_t primes[HONE_MAX_PRIMES];
    int32_t powers[HONE_MAX_PRIMES];
    uint32_t count = hone_factorize(extent, primes, powers);
    for (int i = 0; i < MAX_REJECTIONS; i++) {
        draw(rng, count, primes, powers, parts, out);
        if (is_partitioned(parts, pos, inner, out)) return;
    }
    partition_plainly(extent, parts, pos, inner, out);
}

bool hone_repair_partitioned_tile(int64_t extent, uint32_t parts, uint32_t pos, int64_t inner,
                                  int64_t *io) {
    bool changed = hone_repair_perfect_tile(extent, parts, io);
    if (is_partitioned(parts, pos, inner, io)) return changed;
    partition_plainly(extent, parts, pos, inner, io);
    return true;
}
