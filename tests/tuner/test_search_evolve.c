/* tests/tuner/test_search_evolve.c - what the evolutionary search spends its proposals on: few of
 * them look like others, some are neighbours of what was fastest, and some where little is known.
 */
#include <string.h>

#include "costmodel/costmodel_impl.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"
#include "tests/tuner/tune_world.h"
#include "tuner/search/search.h"

enum { BATCH = 8, ROUNDS = 6, MOST = BATCH * ROUNDS, MOST_ALIKE = 2, NEAR = 2 };

typedef struct world {
    tune_world tuning;
    hone_tune_task *task;
    hone_costmodel *model; /* ranks by looks alone, and knows nothing of times */
    hone_candidate found[MOST];
    uint32_t count;
} world;

static void open_world(world *w) {
    *w = (world){0};
    tune_world_open(&w->tuning);
    hone_costmodel_options options = {.feature_count = hone_feature_count(), .seed = 3};
    HONE_ASSERT_OK(hone_costmodel_create("random", &options, &w->model));
    HONE_ASSERT_OK(hone_tune_task_create(&w->tuning.tasks.items[0], &w->tuning.options.target,
                                         &(hone_tune_task_options){0}, &w->task));
    w->task->evaluations = 512;
}

static void close_world(world *w) {
    hone_tune_task_destroy(w->task);
    hone_costmodel_destroy(w->model);
    tune_world_close(&w->tuning);
}

/* One batch, as the loop enters it. */
static void propose(world *w, uint64_t seed) {
    uint32_t count;
    assert_true(w->count + BATCH <= MOST);
    HONE_ASSERT_OK(hone_strategy_evolutionary.propose(w->task, w->model, hone_test_rng(seed), BATCH,
                                                      w->found + w->count, &count));
    assert_int_equal(count, BATCH);
    for (uint32_t i = w->count; i < w->count + count; i++)
        HONE_ASSERT_OK(hone_tune_task_note_looks(w->task, w->found[i].looks, 1));
    w->count += count;
    w->task->proposals += count;
}

static void few_proposals_look_alike(void **state) {
    (void)state;
    world w;
    open_world(&w);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint32_t from = w.count;
        propose(&w, round);
        for (uint32_t i = from; i < w.count; i++)
            hone_tune_task_fold(w.task, &w.found[i], 100 + i);
    }
    for (uint32_t i = 0; i < w.count; i++)
        assert_in_range(hone_tune_task_alike(w.task, w.found[i].looks), 1, MOST_ALIKE);
    close_world(&w);
}

/* Who was dropped leaves room for another one. */
static void looks_are_counted(void **state) {
    (void)state;
    world w;
    open_world(&w);
    propose(&w, 1);
    hone_hash128 looks = w.found[0].looks;
    uint64_t count = hone_tune_task_alike(w.task, looks);
    HONE_ASSERT_OK(hone_tune_task_note_looks(w.task, looks, -1));
    assert_int_equal(hone_tune_task_alike(w.task, looks), count - 1);
    HONE_ASSERT_OK(hone_tune_task_note_looks(w.task, (hone_hash128){1, 2}, -1));
    assert_int_equal(hone_tune_task_alike(w.task, (hone_hash128){1, 2}), 0);
    close_world(&w);
}

/* How many decisions differ; UINT32_MAX: it is of another sketch. */
static uint32_t distance(const world *w, const hone_candidate *a, const hone_candidate *b) {
    uint32_t count = 0;
    if (a->sketch != b->sketch) return UINT32_MAX;
    for (uint32_t i = 0; i < w->task->space.sketches[a->sketch].count; i++) {
        const hone_decision *x = &a->decisions[i], *y = &b->decisions[i];
        count += x->count != y->count ||
                 (x->count && memcmp(x->values, y->values, x->count * sizeof *x->values) != 0);
    }
    return count;
}

/* The model thinks nothing of the fastest; all the others are about as bad. */
static void some_proposals_are_near_the_fastest(void **state) {
    (void)state;
    uint32_t near = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        world w;
        open_world(&w);
        propose(&w, seed);
        const hone_candidate *best = &w.found[seed];
        hone_tune_task_fold(w.task, best, 1);
        propose(&w, seed + 10);
        for (uint32_t i = BATCH; i < w.count; i++)
            near += distance(&w, best, &w.found[i]) <= NEAR;
        close_world(&w);
    }
    assert_true(near >= 4);
}

/* ---- a model to which all are alike, and some doubtful ---- */

static void doubting_destroy(hone_costmodel *model) {
    hone_free(model);
}

static hone_status doubting_score(hone_costmodel *model, const hone_hash128 *group,
                                  const hone_costmodel_rows *candidates, size_t count,
                                  float *out_scores) {
    (void)model, (void)group, (void)candidates;
    for (size_t i = 0; i < count; i++)
        out_scores[i] = 0;
    return HONE_OK;
}

static hone_status doubting_doubt(hone_costmodel *model, const hone_hash128 *group,
                                  const hone_costmodel_rows *candidates, size_t count,
                                  float *out_doubts) {
    (void)group;
    for (size_t i = 0; i < count; i++) {
        out_doubts[i] = hone_costmodel_random_score(model->options.seed,
                                                    model->options.feature_count, &candidates[i]);
    }
    return HONE_OK;
}

static hone_costmodel *doubting(uint64_t seed) {
    static const hone_costmodel_vtable vtable = {.name = "doubting",
                                                 .destroy = doubting_destroy,
                                                 .score = doubting_score,
                                                 .doubt = doubting_doubt};
    const hone_costmodel_options options = {.feature_count = hone_feature_count(), .seed = seed};
    hone_costmodel *model = hone_calloc(1, sizeof *model);
    assert_non_null(model);
    HONE_ASSERT_OK(hone_costmodel_init(model, &vtable, &options));
    return model;
}

/* A quarter of each batch is what the model doubts most, of some hundred that look unlike. */
static void some_proposals_are_where_little_is_known(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        world w;
        uint32_t doubtful = 0;
        open_world(&w);
        hone_costmodel_destroy(w.model);
        w.model = doubting(seed);
        propose(&w, seed);
        for (uint32_t i = 0; i < BATCH; i++) {
            float doubt;
            const hone_costmodel_rows rows = {w.found[i].features, w.found[i].row_count};
            HONE_ASSERT_OK(hone_costmodel_doubt(w.model, &w.task->task->hash, &rows, 1, &doubt));
            doubtful += doubt > 0.97F;
        }
        assert_in_range(doubtful, 2, 4);
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_proposals_look_alike),
        cmocka_unit_test(looks_are_counted),
        cmocka_unit_test(some_proposals_are_near_the_fastest),
        cmocka_unit_test(some_proposals_are_where_little_is_known),
    };
    return cmocka_run_group_tests_name("tuner/search_evolve", tests, NULL, NULL);
}
