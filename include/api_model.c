/* include/api_model.c - hone_model: runs compiled models. */
#include <hone/model.h>

#include "include/api.h"
#include "runtime/model_load.h"
#include "support/os/fs.h"

/* A hone_model is a hone_loaded_model under another name. */
static const hone_loaded_model *loaded(const hone_model *model) {
    return (const hone_loaded_model *)model;
}

hone_error *hone_model_open(const char *path, hone_model **out_model) {
    HONE_API_NEED(out_model);
    *out_model = NULL;
    HONE_API_NEED(path);
    hone_loaded_model *model = NULL;
    hone_status st = hone_fs_exists(path)
                         ? hone_loaded_model_open(path, 0, &model)
                         : HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: there is no such file", path);
    if (!st) *out_model = (hone_model *)model;
    return hone_api_error(st);
}

void hone_model_close(hone_model *model) {
    hone_loaded_model_close((hone_loaded_model *)model);
}

const hone_model_info *hone_model_describe(const hone_model *model) {
    return model ? hone_loaded_model_info(loaded(model)) : NULL;
}

const hone_model_entry *hone_model_find(const hone_model *model, const char *name) {
    const hone_model_entry *entry = NULL;
    if (!model) return NULL;
    hone_status_free(hone_loaded_model_entry(loaded(model), name, &entry));
    return entry;
}

static hone_error *check_call(const hone_model *model, const hone_model_entry *entry,
                              DLTensor *const *inputs, DLTensor *const *outputs) {
    HONE_API_NEED(model);
    HONE_API_NEED(entry);
    if (entry->input_count) HONE_API_NEED(inputs);
    if (entry->output_count) HONE_API_NEED(outputs);
    return NULL;
}

hone_error *hone_model_run(const hone_model *model, const hone_model_entry *entry,
                           DLTensor *const *inputs, DLTensor *const *outputs) {
    hone_error *wrong = check_call(model, entry, inputs, outputs);
    if (wrong) return wrong;
    hone_status st =
        hone_model_status(hone_model_describe(model), entry->run(NULL, inputs, outputs));
    return st ? hone_api_error(st) : NULL;
}

/* ---- looking on ---- */

typedef struct watch {
    hone_kernel_run_visit visit;
    void *context;
    bool has_seen;
} watch;

static void see(void *ctx, const hone_kernel_seen *kernel) {
    watch *w = ctx;
    const hone_kernel_run run = {.name = kernel->name,
                                 .workload = kernel->workload,
                                 .schedule = kernel->origin,
                                 .flops = kernel->flops,
                                 .bytes = (double)kernel->bytes,
                                 .ns = (double)kernel->ns};
    w->has_seen = true;
    w->visit(w->context, &run);
}

static hone_status profile(hone_loaded_model *model, const hone_model_entry *entry,
                           DLTensor *const *inputs, DLTensor *const *outputs, watch *w) {
    HONE_TRY(hone_loaded_model_observe(model, hone_clock_system(), see, w));
    int32_t code = hone_loaded_model_call(model, entry, inputs, outputs);
    hone_status st = hone_model_status(hone_loaded_model_info(model), code);
    st = hone_status_join(st, hone_loaded_model_observe(model, NULL, NULL, NULL));
    if (st || w->has_seen) return st;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "no kernel ran: the model has none, or an older hone compiled it");
}

hone_error *hone_model_profile(hone_model *model, const hone_model_entry *entry,
                               DLTensor *const *inputs, DLTensor *const *outputs,
                               hone_kernel_run_visit visit, void *context) {
    hone_error *wrong = check_call(model, entry, inputs, outputs);
    if (wrong) return wrong;
    HONE_API_NEED(visit);
    watch w = {.visit = visit, .context = context};
    return hone_api_error(profile((hone_loaded_model *)model, entry, inputs, outputs, &w));
}
