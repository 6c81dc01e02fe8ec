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

static hone_code code_of(int32_t result) {
    switch (result) {
    case HONE_MODEL_BAD_ARGUMENT:
        return HONE_CODE_INVALID;
    case HONE_MODEL_BAD_CPU:
        return HONE_CODE_UNSUPPORTED;
    case HONE_MODEL_BAD_WEIGHTS:
        return HONE_CODE_IO;
    case HONE_MODEL_NO_MEMORY:
        return HONE_CODE_NO_MEMORY;
    case HONE_MODEL_NO_EXTERN:
        return HONE_CODE_NOT_FOUND;
    case HONE_MODEL_NO_DEVICE:
        return HONE_CODE_UNAVAILABLE;
    default:
        return HONE_CODE_ILLEGAL;
    }
}

hone_error *hone_model_run(const hone_model *model, const hone_model_entry *entry,
                           DLTensor *const *inputs, DLTensor *const *outputs) {
    HONE_API_NEED(model);
    HONE_API_NEED(entry);
    if (entry->input_count) HONE_API_NEED(inputs);
    if (entry->output_count) HONE_API_NEED(outputs);
    int32_t result = entry->run(NULL, inputs, outputs);
    if (result == HONE_MODEL_OK) return NULL;
    const char *words = hone_model_describe(model)->last_error();
    return hone_api_error(HONE_ERROR(code_of(result), "%s", words));
}
