/* tests/conformance/test_costmodel_conformance.c - what every cost model must do; each case runs on
 * each backend. */
#include <math.h>
#include <stdio.h>

#include "costmodel/costmodel.h"
#include "support/core/alloc.h"
#include "tests/costmodel/rank_problem.h"
#include "tests/support/hone_test.h"

static const char *const backends[] = {"null", "random", "xgboost"};

static hone_costmodel *make_seeded(const char *name, uint64_t seed) {
    hone_costmodel_options options = {.feature_count = PROBLEM_COLUMNS, .seed = seed};
    hone_costmodel *model = NULL;
    HONE_ASSERT_OK(hone_costmodel_create(name, &options, &model));
    return model;
}

static hone_costmodel *make(const char *name) {
    return make_seeded(name, 5);
}

static void score_all(hone_costmodel *model, const rank_problem *p, float *scores) {
    hone_hash128 group = rank_problem_group(0);
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, p->rows, p->count, scores));
}

/* ---- cases ---- */

static void scores_are_finite_and_repeat(const char *name) {
    hone_costmodel *model = make(name);
    rank_problem p = rank_problem_make(100, 1, 0, 0);
    float first[100], second[100];
    for (int round = 0; round < 3; round++) {
        score_all(model, &p, first);
        score_all(model, &p, second);
        assert_memory_equal(first, second, sizeof first);
        for (int i = 0; i < 100; i++)
            assert_true(isfinite(first[i]));
        HONE_ASSERT_OK(hone_costmodel_update(model, p.samples, p.count));
    }
    rank_problem_destroy(&p);
    hone_costmodel_destroy(model);
}

static void a_score_does_not_depend_on_its_neighbours(const char *name) {
    hone_costmodel *model = make(name);
    rank_problem p = rank_problem_make(80, 1, 0, 0);
    const hone_hash128 group = rank_problem_group(0);
    float together[80];
    HONE_ASSERT_OK(hone_costmodel_update(model, p.samples, p.count));
    score_all(model, &p, together);
    for (size_t i = 80; i-- > 0;) {
        float alone = -1;
        HONE_ASSERT_OK(hone_costmodel_score(model, &group, &p.rows[i], 1, &alone));
        assert_true(alone == together[i]);
    }
    rank_problem_destroy(&p);
    hone_costmodel_destroy(model);
}

static void same_history_same_model(const char *name) {
    hone_costmodel *models[2] = {make(name), make(name)};
    rank_problem p = rank_problem_make(200, 3, 0.1, 0), q = rank_problem_make(50, 4, 0.1, 0);
    float scores[2][50];
    for (int m = 0; m < 2; m++) {
        for (size_t at = 0; at < p.count; at += 40) {
            HONE_ASSERT_OK(hone_costmodel_update(models[m], p.samples + at, 40));
            if (m) score_all(models[m], &q, scores[m]); /* looking changes nothing */
        }
        score_all(models[m], &q, scores[m]);
    }
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    for (int m = 0; m < 2; m++)
        hone_costmodel_destroy(models[m]);
    rank_problem_destroy(&p);
    rank_problem_destroy(&q);
}

static void accepts_little_and_nothing(const char *name) {
    hone_costmodel *model = make(name);
    hone_costmodel_quality quality;
    hone_costmodel_rows empty = {0};
    hone_hash128 group = rank_problem_group(1);
    hone_costmodel_sample samples[40];
    float score = 1;
    hone_costmodel_get_quality(model, &quality);
    assert_int_equal(quality.samples, 0);
    assert_true(isnan(quality.pair_accuracy) && !quality.trusted);
    HONE_ASSERT_OK(hone_costmodel_update(model, NULL, 0));
    HONE_ASSERT_OK(hone_costmodel_train(model));
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, NULL, 0, NULL));
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, &empty, 1, &score));
    assert_true(isfinite(score));
    for (int i = 0; i < 40; i++)
        samples[i] = (hone_costmodel_sample){group, empty, NAN};
    HONE_ASSERT_OK(hone_costmodel_update(model, samples, 40)); /* only failures, no features */
    HONE_ASSERT_OK(hone_costmodel_train(model));
    HONE_ASSERT_OK(hone_costmodel_score(model, &group, &empty, 1, &score));
    hone_costmodel_get_quality(model, &quality);
    assert_int_equal(quality.samples, 40);
    hone_costmodel_destroy(model);
}

static void accepts_samples_that_are_all_alike(const char *name) {
    hone_costmodel *model = make(name);
    rank_problem p = rank_problem_make(1, 1, 0, 0);
    float score;
    for (int i = 0; i < 60; i++) {
        hone_costmodel_sample sample = p.samples[0];
        sample.time_ns = 100;
        HONE_ASSERT_OK(hone_costmodel_update(model, &sample, 1));
    }
    HONE_ASSERT_OK(hone_costmodel_train(model));
    score_all(model, &p, &score);
    rank_problem_destroy(&p);
    hone_costmodel_destroy(model);
}

static void refuses_what_is_not_finite(const char *name) {
    hone_costmodel *model = make(name);
    hone_costmodel_quality quality;
    rank_problem p = rank_problem_make(3, 1, 0, 0);
    float scores[3];
    p.samples[1].time_ns = INFINITY;
    HONE_ASSERT_ERROR(hone_costmodel_update(model, p.samples, 3), HONE_CODE_INVALID, "sample 1");
    p.samples[1].time_ns = 5;
    p.features[2 * PROBLEM_MAX_ROWS * PROBLEM_COLUMNS + PROBLEM_COLUMNS + 7] = NAN;
    HONE_ASSERT_ERROR(hone_costmodel_update(model, p.samples, 3), HONE_CODE_INVALID,
                      "feature 7 of row 1 of candidate 2");
    HONE_ASSERT_CODE(hone_costmodel_score(model, &p.samples[0].group, p.rows, 3, scores),
                     HONE_CODE_INVALID);
    hone_costmodel_get_quality(model, &quality);
    assert_int_equal(quality.samples, 0);
    rank_problem_destroy(&p);
    hone_costmodel_destroy(model);
}

static void refuses_bad_options(const char *name) {
    static const hone_costmodel_options bad[] = {
        {.feature_count = 0},
        {                  .feature_count = 1u << 30                 },
        { .feature_count = 4,                  .max_depth = 40},
        {                  .feature_count = 4,                  .min_samples = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hone_costmodel *model = (hone_costmodel *)&model;
        HONE_ASSERT_CODE(hone_costmodel_create(name, &bad[i], &model), HONE_CODE_INVALID);
        assert_null(model);
    }
}

static void survives_lack_of_memory(const char *name) {
    hone_costmodel *model = make(name);
    rank_problem p = rank_problem_make(30, 3, 0.1, 0);
    for (uint64_t nth = 1;; nth++) {
        float scores[30];
        hone_alloc_fail_nth(nth, false);
        hone_status st = hone_costmodel_update(model, p.samples, p.count);
        bool failed = hone_alloc_has_failed();
        hone_alloc_fail_nth(0, false);
        hone_code code = hone_status_consume(st);
        assert_true(code == HONE_CODE_OK || (failed && code == HONE_CODE_NO_MEMORY));
        score_all(model, &p, scores);
        if (!failed) break;
        hone_costmodel_destroy(model);
        model = make(name);
    }
    rank_problem_destroy(&p);
    hone_costmodel_destroy(model);
}

/* ---- each case on each backend ---- */

#define CASE(function)                                                                             \
    { #function, function }
static const struct {
    const char *name;
    void (*run)(const char *backend);
} cases[] = {
    CASE(scores_are_finite_and_repeat),
    CASE(a_score_does_not_depend_on_its_neighbours),
    CASE(same_history_same_model),
    CASE(accepts_little_and_nothing),
    CASE(accepts_samples_that_are_all_alike),
    CASE(refuses_what_is_not_finite),
    CASE(refuses_bad_options),
    CASE(survives_lack_of_memory),
};

enum { BACKENDS = sizeof backends / sizeof backends[0], CASES = sizeof cases / sizeof cases[0] };

typedef struct row {
    char name[96];
    int backend, which;
} row;

static void run_case(void **state) {
    const row *r = *state;
    cases[r->which].run(backends[r->backend]);
}

int main(void) {
    static row rows[BACKENDS * CASES];
    struct CMUnitTest tests[BACKENDS * CASES] = {0};
    for (int b = 0; b < BACKENDS; b++) {
        for (int c = 0; c < CASES; c++) {
            row *r = &rows[b * CASES + c];
            *r = (row){.backend = b, .which = c};
            snprintf(r->name, sizeof r->name, "%s: %s", backends[b], cases[c].name);
            tests[b * CASES + c] =
                (struct CMUnitTest){.name = r->name, .test_func = run_case, .initial_state = r};
        }
    }
    return cmocka_run_group_tests_name("cost model conformance", tests, NULL, NULL);
}
