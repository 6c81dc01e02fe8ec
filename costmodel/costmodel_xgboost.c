/* costmodel/costmodel_xgboost.c - gradient-boosted trees over the rows of a candidate, and what was
 * measured near it.
 *
 *   add ─► judge what is known now on the new samples ─► history
 *   train ─► history ─► tree_train ─► new forest ─► nearby_make ─► both swapped in
 *   score ─► the trees and what is near when they are trusted, else the random order
 *
 * Trees and what is near are trusted when there are trees, enough samples were seen, and they do
 * not rank unseen samples worse than chance. Distrusted trees are judged and trained on, and may
 * win trust back.
 */
#include <assert.h>

#include "costmodel/costmodel_impl.h"
#include "costmodel/feature.h"
#include "costmodel/nearby.h"
#include "costmodel/prior.h"
#include "costmodel/rank_quality.h"
#include "costmodel/train_history.h"
#include "costmodel/tree_company.h"
#include "costmodel/tree_forest.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"

#define KEEP_JUDGEMENT 0.7 /* how much an older judgement counts when the next one comes */

enum { MIN_NEW_SAMPLES = 16, MIN_JUDGED_PAIRS = 30, MAX_JUDGED = 512 };

typedef struct xgboost_model {
    hone_costmodel base; /* first: an xgboost_model * is an hone_costmodel * */
    train_history history;
    uint64_t trained_at, trained_samples; /* history.seen and samples.count when last trained */
    rank_quality judged;
    int64_t last_train_ns;
    tree_forest *prior;  /* what is known before; NULL = nothing */
    hone_mutex swap;     /* guards what is below, which score reads */
    tree_forest *forest; /* NULL = not trained */
    nearby *near;        /* NULL = too little was measured of any group */
    bool trusted;
} xgboost_model;

static xgboost_model *as_xgboost(hone_costmodel *base) {
    return (xgboost_model *)base;
}

static void destroy(hone_costmodel *base) {
    xgboost_model *self = as_xgboost(base);
    train_history_deinit(&self->history);
    tree_forest_release(self->forest);
    tree_forest_release(self->prior);
    nearby_release(self->near);
    hone_mutex_deinit(&self->swap);
    hone_free(self);
}

/* forest, near NULL: not trained yet. */
static double rate(const xgboost_model *self, const tree_forest *forest, const nearby *near,
                   const hone_hash128 *group, const hone_costmodel_rows *rows) {
    uint32_t columns = self->base.options.feature_count;
    double before = tree_forest_rows(self->prior, rows->data, rows->row_count, columns);
    double own = tree_forest_rows(forest, rows->data, rows->row_count, columns);
    return nearby_score(near, group, rows, columns, before, own);
}

/* ---- learning ---- */

static void update_trust(xgboost_model *self) {
    bool is_worse_than_chance =
        self->judged.pairs >= MIN_JUDGED_PAIRS && rank_quality_accuracy(&self->judged) < 0.5;
    bool has_enough = self->history.seen >= (uint64_t)self->base.options.min_samples;
    hone_mutex_lock(&self->swap);
    self->trusted = (self->prior || (self->forest && has_enough)) && !is_worse_than_chance;
    hone_mutex_unlock(&self->swap);
}

/* Scores samples that were not learned from and compares with their times. */
static hone_status judge(xgboost_model *self, const hone_costmodel_sample *samples, size_t count) {
    if (!self->forest && !self->prior) return HONE_OK;
    if (count > MAX_JUDGED) count = MAX_JUDGED;
    rank_item *items = hone_calloc(count + 1, sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "judging the cost model");
    for (size_t i = 0; i < count; i++) {
        double score = rate(self, self->forest, self->near, &samples[i].group, &samples[i].rows);
        bool failed = hone_costmodel_failed(samples[i].time_ns);
        items[i] =
            (rank_item){samples[i].group, failed ? (double)NAN : samples[i].time_ns, (float)score};
    }
    rank_quality latest = rank_quality_of(items, count);
    hone_free(items);
    if (latest.pairs > 0) rank_quality_fold(&self->judged, &latest, KEEP_JUDGEMENT);
    return HONE_OK;
}

static hone_status add(hone_costmodel *base, const hone_costmodel_sample *samples, size_t count) {
    xgboost_model *self = as_xgboost(base);
    HONE_TRY(train_history_add(&self->history, base->options.feature_count, samples, count));
    HONE_TRY(judge(self, samples, count));
    train_history_trim(&self->history, (size_t)base->options.max_train_samples);
    update_trust(self);
    return HONE_OK;
}

static bool is_due(const hone_costmodel *base) {
    const xgboost_model *self = (const xgboost_model *)base;
    uint64_t fresh = self->history.seen - self->trained_at;
    uint64_t enough = self->trained_samples / 5;
    if (self->history.seen < (uint64_t)base->options.min_samples) return false;
    if (!self->trained_at) return true;
    return fresh >= (enough > MIN_NEW_SAMPLES ? enough : MIN_NEW_SAMPLES);
}

static hone_status train(hone_costmodel *base) {
    xgboost_model *self = as_xgboost(base);
    const hone_costmodel_options *o = &base->options;
    const tree_train_options options = {.columns = o->feature_count,
                                        .seed = o->seed,
                                        .max_depth = o->max_depth,
                                        .max_rounds = o->max_rounds,
                                        .prior = self->prior};
    int64_t started_ns = hone_clock_now(hone_clock_system());
    tree_forest *fresh = NULL;
    nearby *near = NULL;
    HONE_TRY(tree_company_train(&self->history, &options, &fresh));
    hone_status st = nearby_make(&self->history, o->feature_count, self->prior, fresh, &near);
    if (st) {
        tree_forest_release(fresh);
        return st;
    }
    self->last_train_ns = hone_clock_now(hone_clock_system()) - started_ns;
    self->trained_at = self->history.seen;
    self->trained_samples = self->history.samples.count;
    hone_mutex_lock(&self->swap);
    tree_forest *old = self->forest;
    nearby *old_near = self->near;
    self->forest = fresh;
    self->near = near;
    hone_mutex_unlock(&self->swap);
    tree_forest_release(old);
    nearby_release(old_near);
    update_trust(self);
    return HONE_OK;
}

/* ---- ranking ---- */

static hone_status score(hone_costmodel *base, const hone_hash128 *group,
                         const hone_costmodel_rows *candidates, size_t count, float *out_scores) {
    xgboost_model *self = as_xgboost(base);
    const hone_costmodel_options *o = &base->options;
    hone_mutex_lock(&self->swap);
    bool is_trusted = self->trusted;
    tree_forest *forest = is_trusted ? tree_forest_retain(self->forest) : NULL;
    nearby *near = is_trusted ? nearby_retain(self->near) : NULL;
    hone_mutex_unlock(&self->swap);
    for (size_t i = 0; i < count; i++) {
        out_scores[i] =
            is_trusted ? (float)rate(self, forest, near, group, &candidates[i])
                       : hone_costmodel_random_score(o->seed, o->feature_count, &candidates[i]);
    }
    tree_forest_release(forest);
    nearby_release(near);
    return HONE_OK;
}

/* Of a model that is not trusted everything is doubtful alike. */
static hone_status doubt(hone_costmodel *base, const hone_hash128 *group,
                         const hone_costmodel_rows *candidates, size_t count, float *out_doubts) {
    xgboost_model *self = as_xgboost(base);
    hone_mutex_lock(&self->swap);
    nearby *near = self->trusted ? nearby_retain(self->near) : NULL;
    hone_mutex_unlock(&self->swap);
    for (size_t i = 0; i < count; i++) {
        out_doubts[i] =
            (float)nearby_doubt(near, group, &candidates[i], base->options.feature_count);
    }
    nearby_release(near);
    return HONE_OK;
}

static void quality(hone_costmodel *base, hone_costmodel_quality *out) {
    xgboost_model *self = as_xgboost(base);
    out->samples = (int64_t)self->history.seen;
    out->pair_accuracy = rank_quality_accuracy(&self->judged);
    out->rank_correlation = rank_quality_correlation(&self->judged);
    out->trusted = self->trusted;
    out->last_train_ns = self->last_train_ns;
    out->trees = (int32_t)(tree_forest_count(self->forest) + tree_forest_count(self->prior));
}

static const hone_costmodel_vtable xgboost_vtable = {
    .name = "xgboost",
    .destroy = destroy,
    .add = add,
    .is_due = is_due,
    .train = train,
    .score = score,
    .doubt = doubt,
    .quality = quality,
};

/* Rows of other columns than the features' are nobody's that was trained before. */
static hone_status learn_before(xgboost_model *self) {
    const hone_costmodel_options *o = &self->base.options;
    if (o->begins_untrained || o->feature_count != hone_feature_count()) return HONE_OK;
    HONE_TRY(hone_prior_shipped(&self->prior));
    self->trusted = self->prior != NULL;
    return HONE_OK;
}

hone_status hone_costmodel_create_xgboost(const hone_costmodel_options *options,
                                          hone_costmodel **out_model) {
    assert(options && out_model);
    *out_model = NULL;
    xgboost_model *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "xgboost cost model");
    hone_mutex_init(&self->swap);
    hone_status st = hone_costmodel_init(&self->base, &xgboost_vtable, options);
    if (!st) st = learn_before(self);
    if (st) {
        hone_costmodel_destroy(&self->base);
        return st;
    }
    *out_model = &self->base;
    return HONE_OK;
}
