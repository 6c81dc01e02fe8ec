/* tests/costmodel/test_costmodel_learning.c - does the trained model learn, and does it step back
 * when it does not? */
#include <math.h>

#include "costmodel/costmodel.h"
#include "tests/costmodel/rank_problem.h"
#include "tests/support/hone_test.h"

static hone_costmodel *make(const char *name) {
    hone_costmodel_options options = {.feature_count = PROBLEM_COLUMNS, .seed = 5};
    hone_costmodel *model = NULL;
    HONE_ASSERT_OK(hone_costmodel_create(name, &options, &model));
    return model;
}

static void learn_in_batches(hone_costmodel *model, const rank_problem *p, size_t batch) {
    for (size_t at = 0; at < p->count; at += batch) {
        size_t count = p->count - at < batch ? p->count - at : batch;
        HONE_ASSERT_OK(hone_costmodel_update(model, p->samples + at, count));
    }
}

static const struct row {
    const char *name;
    size_t samples;
    double noise, at_least; /* pair accuracy on candidates that were not trained on */
} rows[] = {
    {"128 samples",        128,  0,    0.60},
    {"256 samples",        256,  0,    0.70},
    {"1024 samples",       1024, 0,    0.88},
    {"1024 noisy samples", 1024, 0.15, 0.85},
};

static void learns(void **state) {
    const struct row *row = *state;
    hone_costmodel *model = make("xgboost");
    rank_problem p = rank_problem_make(row->samples, 11, row->noise, 0);
    rank_problem unseen = rank_problem_make(300, 12, 0, 0);
    learn_in_batches(model, &p, 32);
    hone_costmodel_quality quality;
    hone_costmodel_get_quality(model, &quality);
    double accuracy[2];
    for (int g = 0; g < 2; g++)
        accuracy[g] = rank_problem_accuracy(model, &unseen, g);
    print_message("%s: %d trees, last training %.0f ms, accuracy %.3f %.3f, own judgement %.3f, "
                  "rank correlation %.3f\n",
                  row->name, quality.trees, (double)quality.last_train_ns / 1e6, accuracy[0],
                  accuracy[1], quality.pair_accuracy, quality.rank_correlation);
    rank_problem_destroy(&p);
    rank_problem_destroy(&unseen);
    hone_costmodel_destroy(model);
    assert_true(quality.trusted && quality.trees > 0);
    assert_true(quality.rank_correlation > 0);
    for (int g = 0; g < 2; g++)
        assert_true(accuracy[g] > row->at_least);
    /* What it says of itself is about right; with few samples it lags behind what it has learned.
     */
    double own_gap = fabs(quality.pair_accuracy - (accuracy[0] + accuracy[1]) / 2);
    assert_true(own_gap < (row->samples < 256 ? 0.25 : 0.1));
}

/* Before min_samples the order is that of the random model with the same seed. */
static void begins_with_the_random_order(void **state) {
    (void)state;
    hone_costmodel *model = make("xgboost"), *random = make("random");
    rank_problem p = rank_problem_make(40, 1, 0, 0);
    hone_hash128 group = rank_problem_group(0);
    float scores[40], want[40];
    HONE_ASSERT_OK(hone_costmodel_update(model, p.samples, 23));
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, p.rows, 40, scores));
    HONE_ASSERT_OK(hone_costmodel_score(random, &group, p.rows, 40, want));
    assert_memory_equal(scores, want, sizeof want);
    HONE_ASSERT_OK(hone_costmodel_update(model, p.samples + 23, 1));
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, p.rows, 40, scores));
    assert_memory_not_equal(scores, want, sizeof want);
    hone_costmodel_destroy(model);
    hone_costmodel_destroy(random);
    rank_problem_destroy(&p);
}

/* The world turns upside down: the model notices that it is worse than chance, steps back to the
 * random order, and wins trust again when it has learned the new world. */
static void steps_back_and_recovers(void **state) {
    (void)state;
    hone_costmodel_options options = {
        .feature_count = PROBLEM_COLUMNS, .seed = 5, .max_train_samples = 256};
    hone_costmodel *model = NULL, *random = make("random");
    HONE_ASSERT_OK(hone_costmodel_create_xgboost(&options, &model));
    rank_problem before = rank_problem_make(256, 21, 0, 0),
                 after = rank_problem_make(800, 22, 0, 1);
    hone_hash128 group = rank_problem_group(0);
    hone_costmodel_quality quality;
    float scores[64], want[64];
    learn_in_batches(model, &before, 64);
    hone_costmodel_get_quality(model, &quality);
    assert_true(quality.trusted);
    bool stepped_back = false;
    for (size_t at = 0; at + 64 <= after.count; at += 64) {
        HONE_ASSERT_OK(hone_costmodel_add(model, after.samples + at, 64));
        hone_costmodel_get_quality(model, &quality);
        if (!quality.trusted) {
            stepped_back = true;
            HONE_ASSERT_OK(hone_costmodel_score(model, &group, after.rows, 64, scores));
            HONE_ASSERT_OK(hone_costmodel_score(random, &group, after.rows, 64, want));
            assert_memory_equal(scores, want, sizeof want);
        }
        HONE_ASSERT_OK(hone_costmodel_train(model));
    }
    hone_costmodel_get_quality(model, &quality);
    rank_problem_destroy(&before);
    rank_problem_destroy(&after);
    hone_costmodel_destroy(model);
    hone_costmodel_destroy(random);
    assert_true(stepped_back);
    assert_true(quality.trusted);
}

/* Failed candidates are learned: what fails scores lower than what runs. */
static void learns_what_fails(void **state) {
    (void)state;
    hone_costmodel *model = make("xgboost");
    rank_problem p = rank_problem_make(600, 31, 0, 0), unseen = rank_problem_make(300, 32, 0, 0);
    learn_in_batches(model, &p, 100);
    float scores[300];
    double sum[2] = {0}, count[2] = {0};
    hone_hash128 group = rank_problem_group(0);
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, unseen.rows, 300, scores));
    for (int i = 0; i < 300; i++) {
        int ok = !isnan(unseen.samples[i].time_ns);
        sum[ok] += (double)scores[i];
        count[ok] += 1;
    }
    rank_problem_destroy(&p);
    rank_problem_destroy(&unseen);
    hone_costmodel_destroy(model);
    print_message("mean score: %.3f failed, %.3f ok\n", sum[0] / count[0], sum[1] / count[1]);
    assert_true(count[0] > 5);
    assert_true(sum[0] / count[0] < 0.75 * sum[1] / count[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_the_random_order),
        cmocka_unit_test(steps_back_and_recovers),
        cmocka_unit_test(learns_what_fails),
    };
    int failed = HONE_RUN_ROWS("costmodel/learning", rows, learns);
    return failed + cmocka_run_group_tests_name("costmodel/trust", tests, NULL, NULL);
}
