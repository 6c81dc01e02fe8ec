/* tests/schedule/primitive/test_sample.c - drawing: tiles are uniform over all ordered
 * factorizations that the limit allows, repairs keep what still fits, and candidates come as often
 * as their weights say. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <string.h>

#include "schedule/primitive/choose/sample.h"

enum { MAX_TILES = 600, DRAWS_PER_TILE = 200 };

static const struct row {
    const char *name;
    int64_t extent;
    uint32_t parts;
    int64_t limit;
    uint32_t tiles; /* ordered factorizations within the limit, counted by hand or formula */
} rows[] = {
    {"one in four parts",           1,   4, -1, 1 },
    {"a prime in two",              97,  2, -1, 2 },
    {"a prime in three, limited",   97,  3, 16, 2 },
    {"12 in two",                   12,  2, -1, 6 },
    {"12 in three",                 12,  3, -1, 18}, /* C(4,2) * C(3,2) */
    {"36 in three",                 36,  3, -1, 36},
    {"64 in four",                  64,  4, -1, 84}, /* C(9,3) */
    {"64 in two, limited",          64,  2, 8,  4 },
    {"30 in four",                  30,  4, -1, 64}, /* 4^3 */
    {"128 in four, innermost to 4", 128, 4, 4,  85}, /* C(9,2) + C(8,2) + C(7,2) */
    {"one part",                    12,  1, 4,  1 },
};

typedef struct tally {
    int64_t tiles[MAX_TILES][4];
    uint32_t seen[MAX_TILES], count;
} tally;

static void note(tally *t, const int64_t *tile, uint32_t parts) {
    for (uint32_t i = 0; i < t->count; i++) {
        if (memcmp(t->tiles[i], tile, parts * sizeof *tile) != 0) continue;
        t->seen[i]++;
        return;
    }
    assert_true(t->count < MAX_TILES);
    memcpy(t->tiles[t->count], tile, parts * sizeof *tile);
    t->seen[t->count++] = 1;
}

static void is_uniform(void **state) {
    const struct row *row = *state;
    static tally t;
    memset(&t, 0, sizeof t);
    hone_rng rng = hone_rng_from_seed(11); /* allow hone_rng_from_seed: others fail by chance */
    uint32_t draws = row->tiles * DRAWS_PER_TILE;
    for (uint32_t i = 0; i < draws; i++) {
        int64_t tile[4], product = 1;
        hone_sample_perfect_tile(&rng, row->extent, row->parts, row->limit, tile);
        for (uint32_t k = 0; k < row->parts; k++)
            product *= tile[k];
        assert_int_equal(product, row->extent);
        if (row->limit > 0 && row->parts > 1) assert_true(tile[row->parts - 1] <= row->limit);
        note(&t, tile, row->parts);
    }
    assert_int_equal(t.count, row->tiles);
    double chi = 0;
    for (uint32_t i = 0; i < t.count; i++) {
        double off = (double)t.seen[i] - DRAWS_PER_TILE;
        chi += off * off / DRAWS_PER_TILE;
    }
    double freedom = row->tiles - 1; /* mean of chi square; its deviation is sqrt(2 * freedom) */
    assert_true(chi <= freedom + 5 * sqrt(2 * freedom));
}

static void repairs_keep_what_fits(void **state) {
    (void)state;
    static const struct {
        int64_t extent;
        uint32_t parts;
        int64_t in[4], out[4];
        bool changed;
    } cases[] = {
        {24, 3, {2, 3, 4},              {2, 3, 4},    false},
        {24, 3, {9, 3, 4},              {2, 3, 4},    true }, /* the outermost takes the rest */
        {24, 3, {2, 5, 4},              {1, 6, 4},    true }, /* what does not divide takes all */
        {24, 3, {2, 3, 5},              {1, 1, 24},   true },
        {24, 2, {0, 0},                 {1, 24},      true },
        {24, 2, {-1, -3},               {1, 24},      true },
        {24, 2, {INT64_MIN, INT64_MIN}, {1, 24},      true },
        {24, 2, {INT64_MAX, INT64_MAX}, {1, 24},      true },
        {1,  4, {3, 3, 3, 3},           {1, 1, 1, 1}, true },
        {7,  1, {3},                    {7},          true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t io[4];
        memcpy(io, cases[i].in, sizeof io);
        bool changed = hone_repair_perfect_tile(cases[i].extent, cases[i].parts, io);
        assert_int_equal(changed, cases[i].changed);
        assert_memory_equal(io, cases[i].out, cases[i].parts * sizeof *io);
    }
}

static void fits_what_was_good_elsewhere(void **state) {
    (void)state;
    static const struct {
        int64_t extent, limit;
        uint32_t parts;
        int64_t in[4], out[4];
    } cases[] = {
        {24, -1, 3, {2, 3, 4},      {2, 3, 4}   },
        {48, -1, 3, {2, 3, 4},      {4, 3, 4}   }, /* the first takes the rest */
        {30, -1, 3, {2, 4, 4},      {5, 2, 3}   },
        {24, 8,  2, {1, 24},        {3, 8}      },
        {24, -1, 2, {0, INT64_MIN}, {24, 1}     },
        {24, -1, 2, {1, INT64_MAX}, {1, 24}     },
        {1,  -1, 4, {3, 3, 3, 3},   {1, 1, 1, 1}},
        {7,  -1, 1, {3},            {7}         },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t io[4];
        memcpy(io, cases[i].in, sizeof io);
        hone_fit_perfect_tile(cases[i].extent, cases[i].parts, cases[i].limit, io);
        assert_memory_equal(io, cases[i].out, cases[i].parts * sizeof *io);
    }
}

static void factors_and_divisors(void **state) {
    (void)state;
    for (int64_t n = 1; n < 3000; n++) {
        int64_t primes[HONE_MAX_PRIMES], divisors[64], product = 1, last = 0;
        int32_t powers[HONE_MAX_PRIMES];
        uint32_t count = hone_factorize(n, primes, powers), expected = 1;
        for (uint32_t i = 0; i < count; i++) {
            expected *= (uint32_t)powers[i] + 1;
            for (int32_t k = 0; k < powers[i]; k++)
                product *= primes[i];
        }
        assert_int_equal(product, n);
        assert_int_equal(hone_divisors(n, 64, divisors), expected);
        for (uint32_t i = 0; i < expected; i++) {
            assert_true(divisors[i] > last && n % divisors[i] == 0);
            last = divisors[i];
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repairs_keep_what_fits),
        cmocka_unit_test(fits_what_was_good_elsewhere),
        cmocka_unit_test(factors_and_divisors),
    };
    int failed = HONE_RUN_ROWS("schedule/sample_uniform", rows, is_uniform);
    return failed + cmocka_run_group_tests_name("schedule/sample", tests, NULL, NULL);
}
