/* runtime/model_load.c - the library of a model, and hone_tensor to DLTensor. */
#include "runtime/model_load_impl.h"

#include <dlfcn.h>
#include <string.h>

#include "runtime/library.h"
#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/data/dtype_dlpack.h"
#include "support/os/clock.h"

/* A table like another one, which knows who looks on. */
typedef struct observed_rt {
    hone_rt table; /* first: the model has a pointer to it */
    const hone_rt *base;
    const hone_clock *clock;
    hone_see_kernel see; /* NULL = nobody looks on */
    void *ctx;
    int64_t begun_ns; /* the kernel that runs */
} observed_rt;

struct hone_loaded_model {
    void *library;
    const hone_model_info *info;
    hone_rt *rt; /* of the number of threads that was asked for, or NULL */
    observed_rt observed;
};

static hone_status open_library(const char *path, hone_loaded_model *model) {
    HONE_TRY(hone_library_open(path, &model->library));
    void *symbol = dlsym(model->library, HONE_MODEL_SYMBOL);
    if (!symbol) return HONE_ERROR(HONE_CODE_INVALID, "is a library, but no compiled model");
    hone_model_get get;
    memcpy(&get, &symbol, sizeof get); /* ISO C has no cast for this */
    model->info = get();
    if (model->info->version != HONE_MODEL_VERSION) {
        return HONE_ERROR(HONE_CODE_VERSION, "was compiled by another version of hone (%u, not %u)",
                          (unsigned)model->info->version, (unsigned)HONE_MODEL_VERSION);
    }
    return HONE_OK;
}

/* ---- looking on ---- */

static void see_step(const hone_rt *rt, const hone_seen_step *step) {
    observed_rt *observed = (observed_rt *)(uintptr_t)rt;
    int64_t now = hone_clock_now(observed->clock);
    if (step->is_over) {
        int64_t ns = step->is_over == 2 ? step->ns : now - observed->begun_ns;
        hone_kernel_seen seen = {step->name,  step->workload, step->origin,
                                 step->flops, step->bytes,    ns};
        observed->see(observed->ctx, &seen);
        now = hone_clock_now(observed->clock);
    }
    observed->begun_ns = now;
}

static void *find_observer(const hone_rt *rt, const char *name) {
    const observed_rt *observed = (const observed_rt *)rt;
    const hone_observer observer = see_step;
    void *found;
    if (strcmp(name, HONE_OBSERVER) != 0) return observed->base->find_extern(observed->base, name);
    memcpy(&found, &observer, sizeof found); /* ISO C has no cast for this */
    return found;
}

hone_status hone_loaded_model_observe(hone_loaded_model *model, const hone_clock *clock,
                                      hone_see_kernel see, void *ctx) {
    const hone_model_info *info = model->info;
    if (see && !model->rt && info->rt_create(info->threads, &model->rt) != HONE_MODEL_OK)
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", info->last_error());
    model->observed = (observed_rt){.base = model->rt, .clock = clock, .see = see, .ctx = ctx};
    if (!see) return HONE_OK;
    model->observed.table = *model->rt;
    model->observed.table.find_extern = find_observer;
    return HONE_OK;
}

static const hone_rt *rt_of(const hone_loaded_model *model) {
    return model->observed.see ? &model->observed.table : model->rt;
}

int32_t hone_loaded_model_call(const hone_loaded_model *model, const hone_model_entry *entry,
                               DLTensor *const *inputs, DLTensor *const *outputs) {
    return entry->run(rt_of(model), inputs, outputs);
}

hone_status hone_loaded_model_open(const char *path, int32_t threads,
                                   hone_loaded_model **out_model) {
    *out_model = NULL;
    hone_loaded_model *model = hone_calloc(1, sizeof *model);
    if (!model) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    hone_status st = open_library(path, model);
    if (!st && threads > 0 && model->info->rt_create(threads, &model->rt) != HONE_MODEL_OK) {
        st = HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", model->info->last_error());
    }
    if (st) {
        hone_loaded_model_close(model);
        return hone_status_annotate(st, "%s", path);
    }
    *out_model = model;
    return HONE_OK;
}

void hone_loaded_model_close(hone_loaded_model *model) {
    if (!model) return;
    if (model->rt) model->info->rt_destroy(model->rt);
    if (model->library) dlclose(model->library);
    hone_free(model);
}

const hone_model_info *hone_loaded_model_info(const hone_loaded_model *model) {
    return model->info;
}

static hone_status no_entry(const hone_model_info *info, const char *name) {
    hone_str names = {0};
    for (int32_t i = 0; i < info->entry_count; i++)
        hone_str_printf(&names, "%s'%s'", i ? ", " : "", info->entries[i].name);
    hone_status st = HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no function '%s'; there is %s", name,
                                hone_str_text(&names));
    hone_str_deinit(&names);
    return st;
}

hone_status hone_loaded_model_entry(const hone_loaded_model *model, const char *name_or_null,
                                    const hone_model_entry **out_entry) {
    const hone_model_info *info = model->info;
    *out_entry = name_or_null ? NULL : &info->entries[0];
    const char *name = name_or_null ? name_or_null : "main";
    for (int32_t i = 0; i < info->entry_count; i++) {
        if (strcmp(info->entries[i].name, name) == 0) *out_entry = &info->entries[i];
    }
    return *out_entry ? HONE_OK : no_entry(info, name);
}

hone_dtype hone_model_port_dtype(const hone_model_port *port) {
    hone_dtype dtype = HONE_DTYPE_VOID;
    if (!hone_dtype_parse(port->dtype_name, &dtype)) return HONE_DTYPE_VOID;
    return dtype;
}

/* ---- tensors ---- */

DLDataType hone_dl_type(hone_dtype dtype) {
    return (DLDataType){hone_dtype_dlpack_code(dtype), dtype.bits, dtype.lanes};
}

static void fill(DLTensor *out, hone_tensor *tensor) {
    *out = (DLTensor){
        .data = tensor->data,
        .device = {1, 0},
        .ndim = tensor->rank,
        .dtype = hone_dl_type(tensor->dtype),
        .shape = tensor->shape
    };
}

static hone_status create_call(const hone_loaded_model *model, const hone_model_entry *entry,
                               hone_model_call **out_call) {
    size_t inputs = (size_t)entry->input_count, count = inputs + (size_t)entry->output_count;
    hone_model_call *call = hone_calloc(1, sizeof *call + count * sizeof *call->tensors);
    DLTensor **pointers = hone_calloc(count + 1, sizeof *pointers);
    hone_tensor **given = hone_calloc(count + 1, sizeof *given);
    if (!call || !pointers || !given) {
        hone_free(call);
        hone_free(pointers);
        hone_free(given);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "call of '%s'", entry->name);
    }
    for (size_t i = 0; i < count; i++)
        pointers[i] = &call->tensors[i].dl_tensor;
    call->given = given;
    call->model = model;
    call->entry = entry;
    call->inputs = pointers;
    call->outputs = pointers + inputs;
    *out_call = call;
    return HONE_OK;
}

hone_status hone_model_call_create(const hone_loaded_model *model, const hone_model_entry *entry,
                                   hone_tensor *const *inputs, hone_tensor *const *outputs,
                                   hone_model_call **out_call) {
    *out_call = NULL;
    HONE_TRY(create_call(model, entry, out_call));
    for (int32_t i = 0; i < entry->input_count; i++)
        fill((*out_call)->inputs[i], inputs[i]);
    for (int32_t i = 0; i < entry->output_count; i++) {
        (*out_call)->given[i] = outputs[i];
        fill((*out_call)->outputs[i], outputs[i]);
    }
    return HONE_OK;
}

static void free_made(const hone_model_call *call) {
    for (int32_t i = 0; i < call->entry->output_count; i++) {
        DLManagedTensor *tensor = hone_model_call_made(call, i);
        if (tensor && tensor->deleter) tensor->deleter(tensor);
    }
}

/* What was made is what the caller's tensors show, until the next run. */
static void show_made(const hone_model_call *call) {
    for (int32_t i = 0; i < call->entry->output_count; i++) {
        const DLManagedTensor *tensor = hone_model_call_made(call, i);
        hone_tensor *given = call->given[i];
        if (!tensor || !given) continue;
        *given = hone_tensor_view(tensor->dl_tensor.data, given->dtype, given->rank,
                                  tensor->dl_tensor.shape);
    }
}

int32_t hone_model_call_run(const hone_model_call *call) {
    free_made(call);
    int32_t code = call->entry->run(rt_of(call->model), call->inputs, call->outputs);
    if (code == HONE_MODEL_OK) show_made(call);
    return code;
}

void hone_model_call_destroy(hone_model_call *call) {
    if (!call) return;
    free_made(call);
    hone_model_call_unplace(call);
    hone_free(call->given);
    hone_free(call->inputs);
    hone_free(call);
}

static hone_code code_of(int32_t code) {
    switch (code) {
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
    case HONE_MODEL_EXTERN_FAILED:
        return HONE_CODE_EXTERNAL;
    default:
        return HONE_CODE_ILLEGAL;
    }
}

hone_status hone_model_status(const hone_model_info *info, int32_t code) {
    return code == HONE_MODEL_OK ? HONE_OK : HONE_ERROR(code_of(code), "%s", info->last_error());
}

hone_status hone_model_call_status(const hone_model_call *call, int32_t code) {
    return hone_model_status(call->model->info, code);
}

/* A copy that stays when the call ends. */
/* ---- outputs ---- */

void hone_model_free_outputs(const hone_model_entry *entry, hone_tensor **outputs) {
    for (int32_t i = 0; outputs && i < entry->output_count; i++)
        hone_tensor_destroy(outputs[i]);
    hone_free(outputs);
}

static hone_status make_outputs(hone_model_call *call, const hone_model_entry *entry,
                                hone_tensor **outputs, int64_t *shapes) {
    for (int32_t i = 0; i < entry->output_count; i++) {
        call->outputs[i]->shape = shapes + (size_t)i * HONE_MAX_RANK;
        if (entry->outputs[i].ndim > HONE_MAX_RANK) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "output '%s' has %d dimensions",
                              entry->outputs[i].name, (int)entry->outputs[i].ndim);
        }
    }
    HONE_TRY(hone_model_call_status(call, entry->output_shapes(call->inputs, call->outputs)));
    for (int32_t i = 0; i < entry->output_count; i++) {
        hone_dtype dtype = hone_model_port_dtype(&entry->outputs[i]);
        for (int32_t d = 0; d < entry->outputs[i].ndim; d++) {
            int64_t *size = &call->outputs[i]->shape[d];
            if (*size < 0) *size = 0; /* the call makes it */
        }
        HONE_TRY(hone_tensor_create(dtype, entry->outputs[i].ndim, call->outputs[i]->shape,
                                    &outputs[i]));
    }
    return HONE_OK;
}

hone_status hone_loaded_model_make_outputs(const hone_loaded_model *model,
                                           const hone_model_entry *entry,
                                           hone_tensor *const *inputs, hone_tensor ***out_outputs) {
    *out_outputs = NULL;
    hone_model_call *call;
    HONE_TRY(create_call(model, entry, &call));
    for (int32_t i = 0; i < entry->input_count; i++)
        fill(call->inputs[i], inputs[i]);
    size_t count = (size_t)entry->output_count;
    hone_tensor **outputs = hone_calloc(count + 1, sizeof *outputs);
    int64_t *shapes = hone_calloc(count + 1, HONE_MAX_RANK * sizeof *shapes);
    hone_status st = outputs && shapes ? make_outputs(call, entry, outputs, shapes)
                                       : HONE_ERROR(HONE_CODE_NO_MEMORY, "outputs");
    hone_free(shapes);
    hone_model_call_destroy(call);
    if (st) {
        hone_model_free_outputs(entry, outputs);
        return st;
    }
    *out_outputs = outputs;
    return HONE_OK;
}
