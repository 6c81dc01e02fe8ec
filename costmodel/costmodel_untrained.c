/* costmodel/costmodel_untrained.c - the models that learn nothing: null likes every candidate
 * equally, random has an order that knows nothing (what learning is compared with). They count
 * their samples and differ in how they score. */
#include <assert.h>

#include "costmodel/costmodel_impl.h"
#include "support/core/alloc.h"

typedef struct untrained {
    hone_costmodel base; /* first: an untrained * is an hone_costmodel * */
    int64_t samples;
} untrained;

static void destroy(hone_costmodel *base) {
    hone_free(base);
}

static hone_status add(hone_costmodel *base, const hone_costmodel_sample *samples, size_t count) {
    (void)samples;
    ((untrained *)base)->samples += (int64_t)count;
    return HONE_OK;
}

static bool is_due(const hone_costmodel *base) {
    (void)base;
    return false;
}

static hone_status train(hone_costmodel *base) {
    (void)base;
    return HONE_OK;
}

static hone_status score_null(hone_costmodel *base, const hone_hash128 *group,
                              const hone_costmodel_rows *candidates, size_t count,
                              float *out_scores) {
    (void)base, (void)group, (void)candidates;
    for (size_t i = 0; i < count; i++)
        out_scores[i] = 0;
    return HONE_OK;
}

static hone_status score_random(hone_costmodel *base, const hone_hash128 *group,
                                const hone_costmodel_rows *candidates, size_t count,
                                float *out_scores) {
    (void)group;
    const hone_costmodel_options *o = &base->options;
    for (size_t i = 0; i < count; i++) {
        out_scores[i] = hone_costmodel_random_score(o->seed, o->feature_count, &candidates[i]);
    }
    return HONE_OK;
}

static void quality(hone_costmodel *base, hone_costmodel_quality *out) {
    out->samples = ((untrained *)base)->samples;
}

#define UNTRAINED(model_name, how)                                                                 \
    {                                                                                              \
        .name = (model_name), .destroy = destroy, .add = add, .is_due = is_due, .train = train,    \
        .score = (how), .quality = quality,                                                        \
    }
static const hone_costmodel_vtable null_vtable = UNTRAINED("null", score_null);
static const hone_costmodel_vtable random_vtable = UNTRAINED("random", score_random);

static hone_status create(const hone_costmodel_vtable *vtable,
                          const hone_costmodel_options *options, hone_costmodel **out_model) {
    assert(options && out_model);
    *out_model = NULL;
    untrained *model = hone_calloc(1, sizeof *model);
    if (!model) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s cost model", vtable->name);
    hone_status st = hone_costmodel_init(&model->base, vtable, options);
    if (st) {
        hone_costmodel_destroy(&model->base);
        return st;
    }
    *out_model = &model->base;
    return HONE_OK;
}

hone_status hone_costmodel_create_null(const hone_costmodel_options *options,
                                       hone_costmodel **out_model) {
    return create(&null_vtable, options, out_model);
}

hone_status hone_costmodel_create_random(const hone_costmodel_options *options,
                                         hone_costmodel **out_model) {
    return create(&random_vtable, options, out_model);
}
