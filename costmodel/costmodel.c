/* costmodel/costmodel.c - checks arguments and takes the lock once, so that no backend has to. */
#include "costmodel/costmodel.h"

#include <assert.h>
#include <string.h>

#include "costmodel/costmodel_impl.h"
#include "support/core/attributes.h"

enum { MAX_FEATURES = 1 << 16 };

static int32_t or_default(int32_t value, int32_t fallback) {
    return value ? value : fallback;
}

hone_status hone_costmodel_init(hone_costmodel *model, const hone_costmodel_vtable *vt,
                                const hone_costmodel_options *options) {
    model->vt = vt;
    model->options = *options;
    hone_costmodel_options *o = &model->options;
    o->min_samples = or_default(o->min_samples, 24);
    o->max_depth = or_default(o->max_depth, 5);
    o->max_rounds = or_default(o->max_rounds, 160);
    o->max_train_samples = or_default(o->max_train_samples, 4096);
    hone_mutex_init(&model->lock);
    if (o->feature_count < 1 || o->feature_count > MAX_FEATURES) {
        return HONE_ERROR(HONE_CODE_INVALID, "feature_count is %u, must be 1 to %d",
                          o->feature_count, MAX_FEATURES);
    }
    if (o->min_samples < 0 || o->max_depth < 0 || o->max_rounds < 0 || o->max_train_samples < 0 ||
        o->max_depth > 12) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "min_samples %d, max_depth %d, max_rounds %d, max_train_samples %d: "
                          "must be at least 0, the depth at most 12",
                          o->min_samples, o->max_depth, o->max_rounds, o->max_train_samples);
    }
    return HONE_OK;
}

typedef hone_status (*create_fn)(const hone_costmodel_options *options, hone_costmodel **out_model);

static hone_status find(const char *name, create_fn *out_create) {
    static const struct {
        const char *name;
        create_fn create;
    } models[] = {
        {"xgboost", hone_costmodel_create_xgboost},
        {"random",  hone_costmodel_create_random },
        {"null",    hone_costmodel_create_null   },
        {"none",    hone_costmodel_create_null   },
    };
    for (size_t i = 0; i < HONE_COUNT(models); i++) {
        *out_create = models[i].create;
        if (strcmp(name, models[i].name) == 0) return HONE_OK;
    }
    *out_create = NULL;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "no cost model '%s'; there are 'xgboost', 'random' and 'null'", name);
}

hone_status hone_costmodel_check_name(const char *name) {
    create_fn create;
    return find(name, &create);
}

hone_status hone_costmodel_create(const char *name, const hone_costmodel_options *options,
                                  hone_costmodel **out_model) {
    assert(name && options && out_model);
    create_fn create;
    *out_model = NULL;
    HONE_TRY(find(name, &create));
    return create(options, out_model);
}

void hone_costmodel_destroy(hone_costmodel *model) {
    if (!model) return;
    hone_mutex_deinit(&model->lock);
    model->vt->destroy(model);
}

/* ---- learning ---- */

static hone_status check_rows(const hone_costmodel *model, const hone_costmodel_rows *rows,
                              size_t at) {
    if (rows->row_count && !rows->data) {
        return HONE_ERROR(HONE_CODE_INVALID, "candidate %zu has %u rows, but no features", at,
                          rows->row_count);
    }
    size_t columns = model->options.feature_count;
    for (size_t i = 0; i < rows->row_count * columns; i++) {
        if (isfinite(rows->data[i])) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "feature %zu of row %zu of candidate %zu is %g",
                          i % columns, i / columns, at, (double)rows->data[i]);
    }
    return HONE_OK;
}

static hone_status check_samples(const hone_costmodel *model, const hone_costmodel_sample *samples,
                                 size_t count) {
    for (size_t i = 0; i < count; i++) {
        HONE_TRY(check_rows(model, &samples[i].rows, i));
        if (isinf(samples[i].time_ns)) {
            return HONE_ERROR(HONE_CODE_INVALID, "time of sample %zu is infinite", i);
        }
    }
    return HONE_OK;
}

static hone_status add_and_train(hone_costmodel *model, const hone_costmodel_sample *samples,
                                 size_t count, bool may_train) {
    HONE_TRY(model->vt->add(model, samples, count));
    if (!may_train || !model->vt->is_due(model)) return HONE_OK;
    return model->vt->train(model);
}

static hone_status take(hone_costmodel *model, const hone_costmodel_sample *samples, size_t count,
                        bool may_train) {
    assert(model && (samples || !count));
    HONE_TRY(check_samples(model, samples, count));
    hone_mutex_lock(&model->lock);
    hone_status st = add_and_train(model, samples, count, may_train);
    hone_mutex_unlock(&model->lock);
    return st;
}

hone_status hone_costmodel_update(hone_costmodel *model, const hone_costmodel_sample *samples,
                                  size_t count) {
    HONE_TRY(take(model, samples, count, true));
    return HONE_OK;
}

hone_status hone_costmodel_add(hone_costmodel *model, const hone_costmodel_sample *samples,
                               size_t count) {
    HONE_TRY(take(model, samples, count, false));
    return HONE_OK;
}

hone_status hone_costmodel_train(hone_costmodel *model) {
    assert(model);
    hone_mutex_lock(&model->lock);
    hone_status st = model->vt->train(model);
    hone_mutex_unlock(&model->lock);
    if (st) return hone_status_trail(st, __FILE__, __LINE__);
    return HONE_OK;
}

void hone_costmodel_get_quality(hone_costmodel *model, hone_costmodel_quality *out_quality) {
    assert(model && out_quality);
    *out_quality = (hone_costmodel_quality){.pair_accuracy = NAN, .rank_correlation = NAN};
    hone_mutex_lock(&model->lock);
    model->vt->quality(model, out_quality);
    hone_mutex_unlock(&model->lock);
}

/* ---- ranking ---- */

static hone_status begin_asking(hone_costmodel *model, const hone_costmodel_rows *candidates,
                                size_t count, float *out) {
    assert(model && (candidates || !count) && (out || !count));
    for (size_t i = 0; i < count; i++) {
        out[i] = 0;
        HONE_TRY(check_rows(model, &candidates[i], i));
    }
    return HONE_OK;
}

hone_status hone_costmodel_doubt(hone_costmodel *model, const hone_hash128 *group,
                                 const hone_costmodel_rows *candidates, size_t count,
                                 float *out_doubts) {
    assert(group);
    HONE_TRY(begin_asking(model, candidates, count, out_doubts));
    if (!count || !model->vt->doubt) return HONE_OK;
    return model->vt->doubt(model, group, candidates, count, out_doubts);
}

hone_status hone_costmodel_score(hone_costmodel *model, const hone_hash128 *group,
                                 const hone_costmodel_rows *candidates, size_t count,
                                 float *out_scores) {
    assert(group);
    HONE_TRY(begin_asking(model, candidates, count, out_scores));
    if (!count) return HONE_OK;
    return model->vt->score(model, group, candidates, count, out_scores);
}

float hone_costmodel_random_score(uint64_t seed, uint32_t feature_count,
                                  const hone_costmodel_rows *candidate) {
    size_t bytes = (size_t)candidate->row_count * feature_count * sizeof(float);
    uint64_t hash = bytes ? hone_hash64(candidate->data, bytes) : 0;
    uint64_t mixed = hone_hash_mix(hash ^ hone_hash_mix(seed + UINT64_C(0x9e3779b97f4a7c15)));
    return (float)(mixed >> 40) * 0x1p-24F;
}
