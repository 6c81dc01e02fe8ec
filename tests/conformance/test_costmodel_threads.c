/* tests/conformance/test_costmodel_threads.c - every cost model scores on some threads while
 * another one updates it. */
#include "tests/support/hone_test.h"

#include <math.h>

#include "costmodel/costmodel.h"
#include "support/core/alloc.h"
#include "support/os/thread.h"
#include "tests/costmodel/rank_problem.h"

static const struct row { const char *backend; } rows[] = {{"null"}, {"random"}, {"xgboost"}};

typedef struct scorer {
    hone_costmodel *model;
    const rank_problem *p;
} scorer;

static void score_often(void *ctx) {
    const scorer *s = ctx;
    float *scores = hone_calloc(s->p->count, sizeof *scores);
    hone_hash128 group = rank_problem_group(0);
    for (int i = 0; i < 50; i++) {
        HONE_ASSERT_OK(hone_costmodel_score(s->model, &group, s->p->rows, s->p->count, scores));
        for (size_t k = 0; k < s->p->count; k++)
            assert_true(isfinite(scores[k]));
    }
    hone_free(scores);
}

static void scores_during_updates(void **state) {
    const struct row *row = *state;
    hone_costmodel_options options = {.feature_count = PROBLEM_COLUMNS, .seed = hone_test_seed(5)};
    hone_costmodel *model = NULL;
    HONE_ASSERT_OK(hone_costmodel_create(row->backend, &options, &model));
    rank_problem p = rank_problem_make(150, 3, 0.1, 0);
    scorer s = {model, &p};
    hone_thread threads[3];
    for (int i = 0; i < 3; i++) {
        HONE_ASSERT_OK(hone_thread_start(&threads[i], "score", score_often, &s));
    }
    for (size_t at = 0; at < p.count; at += 30) {
        HONE_ASSERT_OK(hone_costmodel_update(model, p.samples + at, 30));
    }
    for (int i = 0; i < 3; i++)
        hone_thread_join(&threads[i]);
    rank_problem_destroy(&p);
    hone_costmodel_destroy(model);
}

int main(void) {
    return HONE_RUN_ROWS("costmodel/threads", rows, scores_during_updates);
}
