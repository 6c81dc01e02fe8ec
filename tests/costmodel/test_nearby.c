/* tests/costmodel/test_nearby.c - what the measured samples of a group say of a candidate near
 * them. */
#include <math.h>

#include "costmodel/nearby.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"

enum { COLUMNS = 12, MOST = 400 };

typedef struct world {
    train_history history;
    nearby *near;
    float cells[MOST][COLUMNS];
    hone_costmodel_sample samples[MOST];
    hone_rng rng;
} world;

static const hone_hash128 group_a = {1, 2}, group_b = {3, 4};

/* A structure (column 0) is three times as slow; the others change little, or nothing. */
static double time_of(const float *row) {
    return 1e5 * (row[0] > 0.5F ? 3 : 1) * (1 + 0.2 * (double)row[1]);
}

static void draw(world *w, size_t i, hone_hash128 group) {
    w->cells[i][0] = (float)hone_rng_below(&w->rng, 2);
    for (int c = 1; c < COLUMNS; c++)
        w->cells[i][c] = (float)hone_rng_uniform(&w->rng);
    w->samples[i] = (hone_costmodel_sample){
        .group = group, .rows = {w->cells[i], 1},
             .time_ns = time_of(w->cells[i])
    };
}

static void open_world(world *w, size_t count, uint64_t seed) {
    *w = (world){.rng = hone_test_rng(seed)};
    for (size_t i = 0; i < count; i++)
        draw(w, i, group_a);
    HONE_ASSERT_OK(train_history_add(&w->history, COLUMNS, w->samples, count));
    HONE_ASSERT_OK(nearby_make(&w->history, COLUMNS, NULL, NULL, &w->near));
}

static void close_world(world *w) {
    nearby_release(w->near);
    train_history_deinit(&w->history);
}

static double score(const world *w, const hone_hash128 *group, size_t i) {
    return nearby_score(w->near, group, &w->samples[i].rows, COLUMNS, 0, 0);
}

/* Of fresh candidates, pairs in the right order. */
static double accuracy(world *w) {
    double right = 0, pairs = 0;
    for (size_t i = MOST - 60; i < MOST; i++)
        draw(w, i, group_a);
    for (size_t i = MOST - 60; i < MOST; i++) {
        for (size_t k = MOST - 60; k < MOST; k++) {
            if (w->samples[i].time_ns * 1.05 > w->samples[k].time_ns) continue;
            right += score(w, &group_a, i) > score(w, &group_a, k);
            pairs++;
        }
    }
    return right / pairs;
}

typedef struct row {
    const char *name;
    size_t count;
    double least;
} row;

static const row rows[] = {
    {"a few samples tell structures apart", 16,  0.8 },
    {"so do more",                          64,  0.78},
    {"more than are looked at",             340, 0.85},
};

static void fresh_candidates_are_ranked(void **state) {
    const row *r = *state;
    world w;
    open_world(&w, r->count, 7);
    assert_non_null(w.near);
    double is = accuracy(&w);
    print_message("%zu samples: %.3f\n", r->count, is);
    assert_true(is >= r->least);
    close_world(&w);
}

/* What was known before stays where a group is unknown, or too small to say anything. */
static void others_are_as_before(void **state) {
    (void)state;
    world w;
    open_world(&w, 40, 1);
    assert_true(nearby_score(w.near, &group_b, &w.samples[0].rows, COLUMNS, 2, 3) == 5);
    assert_true(nearby_score(NULL, &group_a, &w.samples[0].rows, COLUMNS, 2, 3) == 5);
    close_world(&w);
    open_world(&w, 11, 1);
    assert_null(w.near);
    close_world(&w);
}

/* What was measured leaves no doubt, what is like it little, what is like nothing the most. */
static void doubt_grows_with_distance(void **state) {
    (void)state;
    world w;
    open_world(&w, 40, 5);
    draw(&w, 50, group_a);
    draw(&w, 51, group_a);
    for (int c = 1; c < COLUMNS; c++)
        w.cells[51][c] = 9;
    const hone_costmodel_rows *of[] = {&w.samples[3].rows, &w.samples[50].rows,
                                       &w.samples[51].rows};
    double doubt[3];
    for (int i = 0; i < 3; i++)
        doubt[i] = nearby_doubt(w.near, &group_a, of[i], COLUMNS);
    assert_true(doubt[0] == 0 && doubt[1] > 0.1 && doubt[2] > doubt[1] + 0.1 && doubt[2] <= 1);
    assert_true(nearby_doubt(w.near, &group_b, of[2], COLUMNS) == 0);
    assert_true(nearby_doubt(NULL, &group_a, of[2], COLUMNS) == 0);
    close_world(&w);
}

/* Failures are as bad as the slowest, whatever else is known; twins are no trouble. */
static void failures_and_twins(void **state) {
    (void)state;
    world w = {.rng = hone_test_rng(3)};
    for (size_t i = 0; i < 60; i++) {
        draw(&w, i, group_a);
        if (w.cells[i][0] > 0.5F) w.samples[i].time_ns = NAN;
        if (i >= 40) w.samples[i].rows = w.samples[i - 20].rows;
        if (i >= 40) w.samples[i].time_ns = w.samples[i - 20].time_ns;
    }
    HONE_ASSERT_OK(train_history_add(&w.history, COLUMNS, w.samples, 60));
    HONE_ASSERT_OK(nearby_make(&w.history, COLUMNS, NULL, NULL, &w.near));
    for (size_t i = 0; i < 40; i++) {
        for (size_t k = 0; k < 40; k++) {
            bool is_worse = isnan(w.samples[i].time_ns) && !isnan(w.samples[k].time_ns);
            if (is_worse) assert_true(score(&w, &group_a, i) < score(&w, &group_a, k));
        }
    }
    close_world(&w);
}

static void all_failed_and_all_alike_are_survived(void **state) {
    (void)state;
    for (int alike = 0; alike < 2; alike++) {
        world w = {.rng = hone_test_rng(3)};
        for (size_t i = 0; i < 30; i++) {
            draw(&w, i, group_a);
            if (!alike) w.samples[i].time_ns = NAN;
            if (alike) w.samples[i].rows.data = w.cells[0];
        }
        HONE_ASSERT_OK(train_history_add(&w.history, COLUMNS, w.samples, 30));
        HONE_ASSERT_OK(nearby_make(&w.history, COLUMNS, NULL, NULL, &w.near));
        for (size_t i = 0; i < 30; i++)
            assert_true(isfinite(score(&w, &group_a, i)));
        close_world(&w);
    }
}

static void the_same_history_says_the_same(void **state) {
    (void)state;
    world a, b;
    open_world(&a, 300, 5);
    open_world(&b, 300, 5);
    for (size_t i = 0; i < 300; i++)
        assert_true(score(&a, &group_a, i) == score(&b, &group_a, i));
    close_world(&a);
    close_world(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_as_before),
        cmocka_unit_test(doubt_grows_with_distance),
        cmocka_unit_test(failures_and_twins),
        cmocka_unit_test(all_failed_and_all_alike_are_survived),
        cmocka_unit_test(the_same_history_says_the_same),
    };
    return HONE_RUN_ROWS("costmodel/nearby", rows, fresh_candidates_are_ranked) +
           cmocka_run_group_tests_name("costmodel/nearby edges", tests, NULL, NULL);
}
