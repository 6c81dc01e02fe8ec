/* costmodel/costmodel_null.c - likes every candidate equally; the skeleton of a backend. */
#include <assert.h>

#include "costmodel/costmodel_impl.h"
#include "costmodel/model_bytes.h"
#include "support/alloc.h"

typedef struct null_model {
    hone_costmodel base; /* first: a null_model * is an hone_costmodel * */
    int64_t samples;
} null_model;

static void destroy(hone_costmodel *base) {
    hone_free(base);
}

static hone_status add(hone_costmodel *base, const hone_costmodel_sample *samples, size_t count) {
    (void)samples;
    ((null_model *)base)->samples += (int64_t)count;
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

static hone_status score(hone_costmodel *base, const hone_hash128 *group,
                         const hone_costmodel_rows *candidates, size_t count, float *out_scores) {
    (void)base, (void)group, (void)candidates;
    for (size_t i = 0; i < count; i++)
        out_scores[i] = 0;
    return HONE_OK;
}

static void quality(hone_costmodel *base, hone_costmodel_quality *out) {
    out->samples = ((null_model *)base)->samples;
}

static hone_status save(hone_costmodel *base, hone_str *bytes) {
    model_put_u64(bytes, (uint64_t)((null_model *)base)->samples);
    return HONE_OK;
}

static hone_status load(hone_costmodel *base, const unsigned char *bytes, size_t count) {
    model_reader r = {.next = bytes, .left = count};
    uint64_t samples = model_get_u64(&r);
    if (r.failed || r.left || samples > INT64_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "saved null cost model is damaged");
    }
    ((null_model *)base)->samples = (int64_t)samples;
    return HONE_OK;
}

static const hone_costmodel_vtable null_vtable = {
    .name = "null",
    .destroy = destroy,
    .add = add,
    .is_due = is_due,
    .train = train,
    .score = score,
    .quality = quality,
    .save = save,
    .load = load,
};

hone_status hone_costmodel_create_null(const hone_costmodel_options *options,
                                       hone_costmodel **out_model) {
    assert(options && out_model);
    *out_model = NULL;
    null_model *model = hone_calloc(1, sizeof *model);
    if (!model) return HONE_ERROR(HONE_CODE_NO_MEMORY, "null cost model");
    hone_status st = hone_costmodel_init(&model->base, &null_vtable, options);
    if (st) {
        hone_costmodel_release(&model->base);
        return st;
    }
    *out_model = &model->base;
    return HONE_OK;
}
