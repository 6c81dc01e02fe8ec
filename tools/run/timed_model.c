/* tools/run/timed_model.c - see timed_model.h. */
#include "tools/run/timed_model.h"

#include <stdlib.h>
#include <string.h>

#include "measure/run.h"
#include "support/data/rng.h"
#include "support/os/clock.h"

enum { RESAMPLES = 1000 };
#define SHARE_NS (10 * HONE_NS_PER_MS)

/* ---- making ready ---- */

static hone_status make_call(hone_cli *cli, const hone_timed_model_options *o,
                             hone_timed_model *m) {
    hone_cli_want *wants;
    HONE_TRY(hone_loaded_model_entry(m->model, o->func, &m->entry));
    HONE_TRY(hone_cli_load_tensors(o->in, &m->given));
    HONE_TRY(hone_cli_wants_of_entry(cli, m->entry, &wants));
    bool are_made_up = m->given.count == 0;
    HONE_TRY(hone_cli_check_entry_sizes(cli, m->entry, wants, o->shapes));
    HONE_TRY(hone_cli_match_tensors(cli, wants, (size_t)m->entry->input_count, o->shapes, &m->given,
                                    &m->inputs));
    HONE_TRY(
        hone_cli_make_outputs(m->model, m->entry, m->inputs, o->shapes, are_made_up, &m->outputs));
    return hone_model_call_create(m->model, m->entry, m->inputs, m->outputs, &m->call);
}

hone_status hone_timed_model_open(hone_cli *cli, const char *path,
                                  const hone_timed_model_options *options, hone_timed_model *out) {
    *out = (hone_timed_model){.path = path, .clock = hone_clock_system()};
    HONE_TRY(hone_loaded_model_open(path, options->threads, &out->model)); /* says the path */
    return hone_status_annotate(make_call(cli, options, out), "%s", path);
}

void hone_timed_model_close(hone_timed_model *model) {
    hone_model_call_destroy(model->call);
    if (model->entry) hone_model_free_outputs(model->entry, model->outputs);
    hone_cli_tensors_deinit(&model->given);
    hone_loaded_model_close(model->model);
    hone_vec_deinit(&model->times_ns);
    *model = (hone_timed_model){0};
}

hone_status hone_timed_model_run(hone_timed_model *model, int64_t count, double *out_ns) {
    int64_t start = hone_clock_now(model->clock);
    for (int64_t i = 0; i < count; i++) {
        int32_t code = hone_model_call_run(model->call);
        if (!code) continue;
        return hone_status_annotate(hone_model_call_status(model->call, code), "%s", model->path);
    }
    *out_ns = (double)(hone_clock_now(model->clock) - start) / (double)count;
    return HONE_OK;
}

typedef struct all_models {
    hone_timed_model *models;
    size_t count;
} all_models;

static hone_status run_each(void *ctx) {
    all_models *all = ctx;
    for (size_t i = 0; i < all->count; i++) {
        double ns;
        HONE_TRY(hone_timed_model_run(&all->models[i], 1, &ns));
    }
    return HONE_OK;
}

hone_status hone_timed_models_try(hone_timed_model *models, size_t count) {
    hone_cli_tensors given = {0}; /* the models own them */
    all_models all = {models, count};
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; t < models[i].given.count; t++)
            ok &= hone_vec_push(&given, models[i].given.data[t]);
    }
    hone_status st =
        ok ? hone_cli_run_made_up(&given, false, run_each, &all) : HONE_NO_MEMORY("timing models");
    hone_vec_deinit(&given);
    return st;
}

hone_status hone_timed_model_warm_up(hone_timed_model *model) {
    double ns = 0;
    model->batch = 1;
    HONE_TRY(hone_status_annotate(hone_model_call_place(model->call), "%s", model->path));
    HONE_TRY(hone_timed_model_run(model, 1, &ns));
    for (;;) {
        HONE_TRY(hone_timed_model_run(model, model->batch, &ns));
        bool is_enough = ns * (double)model->batch >= (double)SHARE_NS / 2;
        if (is_enough || model->batch >= 1000000) return HONE_OK;
        model->batch *= 2;
    }
}

/* ---- rounds ---- */

hone_status hone_timed_models_round(hone_timed_model *models, size_t count, size_t round) {
    for (size_t i = 0; i < count; i++) {
        size_t at = (i + round) % count;
        if ((round / count) % 2) at = count - 1 - at;
        double ns = 0;
        HONE_TRY(hone_timed_model_run(&models[at], models[at].batch, &ns));
        if (!hone_vec_push(&models[at].times_ns, ns)) return HONE_NO_MEMORY("timing models");
    }
    return HONE_OK;
}

/* ---- statistics ---- */

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

hone_status hone_timed_models_ratio(hone_arena *arena, const hone_timed_model *first,
                                    const hone_timed_model *model, hone_time_ratio *out) {
    size_t count = model->times_ns.count;
    if (first->times_ns.count < count) count = first->times_ns.count;
    double *each = hone_arena_alloc(arena, (count + 1) * sizeof *each);
    double *drawn = hone_arena_alloc(arena, (count + 1) * sizeof *drawn);
    double *medians = hone_arena_alloc(arena, RESAMPLES * sizeof *medians);
    if (!each || !drawn || !medians) return HONE_NO_MEMORY("timing models");
    for (size_t i = 0; i < count; i++)
        each[i] = first->times_ns.data[i] / model->times_ns.data[i];
    hone_rng rng = hone_rng_from_seed(95);
    for (int r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < count; i++)
            drawn[i] = each[hone_rng_below(&rng, count)];
        medians[r] = hone_stat_median(drawn, count);
    }
    out->median = hone_stat_median(each, count);
    qsort(medians, RESAMPLES, sizeof *medians, compare_double);
    out->low = medians[RESAMPLES * 25 / 1000];
    out->high = medians[RESAMPLES * 975 / 1000];
    return HONE_OK;
}
