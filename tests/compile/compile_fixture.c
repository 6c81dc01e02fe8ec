/* tests/compile/compile_fixture.c - compiles, loads and runs modules beside the interpreter. */
#include "tests/compile/compile_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "graph/passes/prepare.h"
#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "measure/bound.h"
#include "runtime/model_load_impl.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

int fixture_begin(fixture *f) {
    memset(f, 0, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/hone-test-compile-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker"),
                                          .workers = 2};
    return hone_status_consume(hone_builder_create_local(&options, &f->builder)) ? -1 : 0;
}

void fixture_end(fixture *f) {
    hone_builder_release(f->builder);
    hone_status_free(hone_fs_remove_tree(f->dir));
}

hone_compile_options fixture_options(fixture *f, const char *name) {
    static char path[160];
    hone_compile_options options = {.output = path, .builder = f->builder};
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    hone_status_free(hone_target_detect(&options.target));
    options.target.num_threads = 2;
    return options;
}

hone_status fixture_module(const char *text_or_path, hone_module **out_module) {
    const char *end = text_or_path + strlen(text_or_path);
    bool is_text = strchr(text_or_path, '\n') != NULL;
    if (is_text) {
        HONE_TRY(hone_script_parse(text_or_path, (size_t)(end - text_or_path), "test", out_module));
    } else if (strcmp(hone_path_extension(text_or_path), ".onnx") == 0) {
        HONE_TRY(hone_onnx_load(hone_test_source_path(text_or_path), NULL, out_module));
    } else {
        HONE_TRY(hone_script_load(hone_test_source_path(text_or_path), out_module));
    }
    hone_module_freeze(*out_module);
    return HONE_OK;
}

hone_status fixture_compile(const hone_module *module, const hone_compile_options *options,
                            hone_compile_result *out_result, hone_loaded_model **out_model) {
    hone_compile_result own = {0}, *result = out_result ? out_result : &own;
    char path[200];
    hone_status st = hone_compile_module(module, options, result);
    snprintf(path, sizeof path, "%s.so", options->output);
    if (!st && out_model) st = hone_loaded_model_open(path, 0, out_model);
    if (result == &own && own.arena) hone_compile_result_deinit(&own);
    return st;
}

/* ---- inputs ---- */

void fixture_free_inputs(const hone_model_entry *entry, hone_tensor **inputs) {
    for (int32_t i = 0; inputs && i < entry->input_count; i++)
        hone_tensor_destroy(inputs[i]);
    hone_free(inputs);
}

hone_status fixture_inputs(const hone_model_entry *entry, int64_t size, uint64_t seed,
                           hone_tensor ***out_inputs) {
    hone_tensor **inputs = hone_calloc((size_t)entry->input_count + 1, sizeof *inputs);
    hone_rng rng = hone_rng_from_seed(seed);
    hone_status st = inputs ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "inputs");
    for (int32_t i = 0; i < entry->input_count && !st; i++) {
        const hone_model_port *port = &entry->inputs[i];
        hone_dtype dtype = hone_model_port_dtype(port);
        int64_t shape[HONE_MAX_RANK] = {0};
        for (int32_t d = 0; d < port->ndim; d++)
            shape[d] = port->shape[d] < 0 ? size : port->shape[d];
        st = hone_tensor_create(dtype, port->ndim, shape, &inputs[i]);
        bool is_float = hone_dtype_is_float(dtype);
        if (!st) hone_tensor_fill_random(inputs[i], &rng, is_float ? -1 : -8, is_float ? 1 : 8);
    }
    *out_inputs = inputs;
    if (!st) return HONE_OK;
    fixture_free_inputs(entry, inputs);
    *out_inputs = NULL;
    return st;
}

/* ---- the interpreter ---- */

typedef struct results {
    hone_tensor **items; /* owned */
    size_t count;
} results;

static void free_results(results *r) {
    for (size_t i = 0; i < r->count; i++)
        hone_tensor_destroy(r->items[i]);
    hone_free(r->items);
}

static hone_status interpret_graph(const hone_module *module, const hone_model_entry *entry,
                                   hone_tensor *const *inputs, bool widen, results *out) {
    hone_module *plain;
    HONE_TRY(hone_graph_prepare_plain(module, NULL, &plain));
    hone_interp_options how = {.widen_f64 = widen};
    hone_status st = hone_interp_graph(plain, entry->name, inputs, (size_t)entry->input_count, &how,
                                       &out->items, &out->count);
    hone_module_release(plain);
    return st;
}

static int32_t port_index(const hone_model_port *ports, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(ports[i].name, name) == 0) return i;
    }
    return -1;
}

/* All parameters of the function are ports by name; outputs have the shapes of `like`. */
static hone_status interpret_func(const hone_func *func, const hone_model_entry *entry,
                                  hone_tensor *const *inputs, hone_tensor *const *like, bool widen,
                                  results *out) {
    hone_tensor *args[32] = {NULL};
    out->items = hone_calloc((size_t)entry->output_count + 1, sizeof *out->items);
    if (!out->items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "results");
    for (int32_t i = 0; i < entry->output_count; i++) {
        hone_dtype dtype = like[i]->dtype;
        if (widen && hone_dtype_is_float(dtype)) dtype = HONE_DTYPE_F64;
        HONE_TRY(hone_tensor_create(dtype, like[i]->rank, like[i]->shape, &out->items[i]));
        out->count++;
    }
    for (uint32_t i = 0; i < func->param_count; i++) {
        const hone_param *param = &func->params[i];
        const char *name = param->buffer != HONE_NO_ID ? func->buffers[param->buffer].name
                                                       : func->vars[param->var].name;
        int32_t at = port_index(entry->inputs, entry->input_count, name);
        args[i] = at >= 0 ? inputs[at]
                          : out->items[port_index(entry->outputs, entry->output_count, name)];
    }
    hone_interp_options how = {.widen_f64 = widen};
    return hone_interp_func(func, args, func->param_count, &how);
}

static hone_status interpret(const hone_module *module, const hone_model_entry *entry,
                             hone_tensor *const *inputs, hone_tensor *const *like, bool widen,
                             results *out) {
    const hone_member *member = hone_module_find(module, entry->name);
    if (!member) return HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is not in the module", entry->name);
    if (member->kind == HONE_MEMBER_GRAPH) {
        return interpret_graph(module, entry, inputs, widen, out);
    }
    return interpret_func(member->func, entry, inputs, like, widen, out);
}

static hone_status compare(const char *name, const hone_tensor *got, const hone_tensor *plain,
                           const hone_tensor *reference) {
    hone_tensor_difference d;
    int64_t count = hone_tensor_count(got);
    if (!hone_tensor_same_shape(got, reference)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' has another shape", name);
    }
    HONE_TRY(hone_tensor_compare(plain->dtype, plain->data, reference->dtype, reference->data,
                                 count, INFINITY, &d));
    double bound = hone_error_bound(got->dtype, d.max_error, d.reference_max);
    HONE_TRY(hone_tensor_compare(got->dtype, got->data, reference->dtype, reference->data, count,
                                 bound, &d));
    if (d.wrong_count == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s'[%lld] is %g, should be %g (bound %g, %lld wrong)",
                      name, (long long)d.max_index, d.got, d.want, bound, (long long)d.wrong_count);
}

static hone_status keep_made(hone_tensor **io_tensor) {
    hone_tensor *copy;
    HONE_TRY(hone_tensor_clone(*io_tensor, &copy));
    hone_tensor_destroy(*io_tensor);
    *io_tensor = copy;
    return HONE_OK;
}

hone_status fixture_run(const hone_loaded_model *model, const hone_model_entry *entry,
                        hone_tensor *const *inputs, hone_tensor **outputs) {
    hone_model_call *call;
    HONE_TRY(hone_model_call_create(model, entry, inputs, outputs, &call));
    hone_status st = hone_model_call_status(call, hone_model_call_run(call));
    for (int32_t i = 0; !st && i < entry->output_count; i++) {
        if (hone_model_call_made(call, i)) st = keep_made(&outputs[i]);
    }
    hone_model_call_destroy(call);
    return st;
}

static hone_status agree(const hone_module *module, const hone_loaded_model *model,
                         const hone_model_entry *entry, int64_t size, uint64_t seed) {
    hone_tensor **inputs, **outputs = NULL;
    results plain = {0}, reference = {0};
    HONE_TRY(fixture_inputs(entry, size, seed, &inputs));
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_loaded_model_make_outputs(model, entry, inputs, &outputs), end);
    for (int32_t i = 0; i < entry->output_count; i++) { /* nothing may be left as it was */
        memset(outputs[i]->data, 0x5a, hone_tensor_bytes(outputs[i]));
    }
    HONE_TRY_GOTO(st, interpret(module, entry, inputs, outputs, true, &reference), end);
    HONE_TRY_GOTO(st, interpret(module, entry, inputs, outputs, false, &plain), end);
    HONE_TRY_GOTO(st, fixture_run(model, entry, inputs, outputs), end);
    if (reference.count != (size_t)entry->output_count) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%zu results, the model has %d outputs", reference.count,
                        (int)entry->output_count);
    }
    for (int32_t i = 0; i < entry->output_count && !st; i++) {
        st = compare(entry->outputs[i].name, outputs[i], plain.items[i], reference.items[i]);
    }
end:
    free_results(&plain);
    free_results(&reference);
    hone_model_free_outputs(entry, outputs);
    fixture_free_inputs(entry, inputs);
    return st;
}

hone_status fixture_agree(const hone_module *module, const hone_loaded_model *model, int64_t size,
                          uint64_t seed) {
    const hone_model_info *info = hone_loaded_model_info(model);
    for (int32_t i = 0; i < info->entry_count; i++) {
        hone_status st = agree(module, model, &info->entries[i], size, seed);
        if (st) return hone_status_annotate(st, "'%s'", info->entries[i].name);
    }
    return HONE_OK;
}
