/* tests/measure/test_paired.c - the signed-rank test: known chances, pairs instead of medians, and
 * how often it is wrong when nobody is faster. */
#include "tests/support/hone_test.h"

#include <math.h>

#include "measure/paired.h"
#include "support/data/rng.h"

typedef struct chance_row {
    const char *name;
    size_t count;
    double before[6], after[6];
    double ratio, chance;
} chance_row;

/* Chances of n pairs: how many of the 2^n choices of signs lose no more, over 2^n. */
static const chance_row chance_rows[] = {
    {"none",                    0, {0},             {0},                    NAN,  1      },
    {"all win",                 5, {1, 1, 1, 1, 1}, {.9, .8, .7, .6, .5},   .7,   1. / 32},
    {"smallest loses",          5, {1, 1, 1, 1, 1}, {1.01, .8, .7, .6, .5}, .7,   2. / 32},
    {"second loses",            5, {1, 1, 1, 1, 1}, {.99, 1.1, .7, .6, .5}, .7,   3. / 32},
    {"all lose",                3, {1, 1, 1},       {2, 3, 4},              3,    1      },
    {"level",                   3, {1, 2, 3},       {1, 2, 3},              1,    1      },
    {"level pairs say nothing", 4, {1, 1, 5, 5},    {.5, .5, 5, 5},         .75,  1. / 4 },
    {"ties share ranks",        2, {1, 1},          {.5, 2},                1.25, 3. / 4 },
    {"one of three ties loses", 3, {1, 1, 1},       {.5, 2, .5},            .5,   1. / 2 },
};

static void chance_is_exact(void **state) {
    const chance_row *row = *state;
    hone_paired got = hone_compare_pairs(row->before, row->after, row->count);
    assert_true(isnan(row->ratio) ? isnan(got.ratio) : fabs(got.ratio - row->ratio) < 1e-12);
    assert_true(fabs(got.chance - row->chance) < 1e-12);
}

/* A machine that is three times as slow in half of the rounds: medians say nothing, pairs do. */
static void pairs_see_what_medians_do_not(void **state) {
    (void)state;
    double before[10], after[10];
    for (int i = 0; i < 10; i++) {
        double slow = i % 2 ? 3 : 1;
        before[i] = slow * (1 + 0.001 * i);
        after[i] = slow * 0.95 * (1 + 0.0012 * i);
    }
    hone_paired got = hone_compare_pairs(before, after, 10);
    assert_true(got.ratio > 0.94 && got.ratio < 0.96);
    assert_true(got.chance < 0.001);
}

/* When nobody is faster a chance of at most c comes about in c of all cases, or less. */
static void chances_hold(void **state) {
    (void)state;
    enum { CASES = 4000, ROUNDS = 12 };
    hone_rng rng = hone_test_rng(1);
    int wrong = 0;
    for (int i = 0; i < CASES; i++) {
        double before[ROUNDS], after[ROUNDS];
        for (int r = 0; r < ROUNDS; r++) {
            before[r] = 1 + hone_rng_uniform(&rng) * (hone_rng_below(&rng, 8) ? 0.1 : 3);
            after[r] = 1 + hone_rng_uniform(&rng) * (hone_rng_below(&rng, 8) ? 0.1 : 3);
        }
        wrong += hone_compare_pairs(before, after, ROUNDS).chance <= 0.05;
    }
    assert_in_range(wrong, CASES / 100, CASES * 65 / 1000);
}

static void long_rows_are_cut(void **state) {
    (void)state;
    double before[HONE_MAX_PAIRS + 1], after[HONE_MAX_PAIRS + 1];
    for (int i = 0; i <= HONE_MAX_PAIRS; i++) {
        before[i] = 2;
        after[i] = 1 + i / 1000.0;
    }
    hone_paired got = hone_compare_pairs(before, after, HONE_MAX_PAIRS + 1);
    assert_true(got.chance > 0 && got.chance < 1e-18);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_see_what_medians_do_not),
        cmocka_unit_test(chances_hold),
        cmocka_unit_test(long_rows_are_cut),
    };
    return HONE_RUN_ROWS("measure/chance", chance_rows, chance_is_exact) +
           cmocka_run_group_tests_name("measure/paired", tests, NULL, NULL);
}
