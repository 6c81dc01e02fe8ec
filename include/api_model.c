/* include/api_model.c - hone_model: runs compiled models. */
#include <hone/model.h>

#include "include/api.h"
#include "runtime/model_load.h"

/* A hone_model is a hone_loaded_model under another name. */
static const hone_loaded_model *loaded(const hone_model *model) {
    return (const hone_loaded_model *)model;
}

hone_error *hone_model_open(const char *path, hone_model **out_model) {
    HONE_API_NEED(out_model);
    *out_model = NULL;
    HONE_API_NEED(path);
    hone_loaded_model *model = NULL;
    hone_status st = hone_loaded_model_open(path, 0, &model);
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

hone_error *hone_model_run(const hone_model *model, const hone_model_entry *entry,
                           DLTensor *const *inputs, DLTensor *const *outputs) {
    HONE_API_NEED(model);
    HONE_API_NEED(entry);
    if (entry->input_count) HONE_API_NEED(inputs);
    if (entry->output_count) HONE_API_NEED(outputs);
    hone_status st =
        hone_model_status(hone_model_describe(model), entry->run(NULL, inputs, outputs));
    return st ? hone_api_error(st) : NULL;
}
