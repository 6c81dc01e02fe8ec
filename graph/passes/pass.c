/* graph/passes/pass.c - the table of passes, the pipelines, and running them. */
#include "graph/passes/pass.h"

#include <string.h>

#include "graph/module/module_parts.h"
#include "graph/passes/graph_passes.h"
#include "support/core/strbuf.h"
#include "support/text/nearest.h"

static const hone_graph_pass passes[] = {
#define HONE_GRAPH_PASS(name, run, tvm_names, help) {name, help, run, tvm_names},
#include "graph/passes/graph_passes.def"
#undef HONE_GRAPH_PASS
};

/* Constants are folded before batch norms, whose statistics may be computed, and again after what
 * those leave behind. */
static const char *const prepare[] = {"link_memory",    "choose",
                                      "link_calls",     "begin_results",
                                      "open_sizes",     "bind",
                                      "infer",          "compose",
                                      "name_casts",     "normalize",
                                      "fold_constants", "fold_batch_norm",
                                      "decompose",      "channels_last",
                                      "fold_transpose", "fold_constants",
                                      "normalize",      "stack_products",
                                      "fuse_attention", "cut_scans",
                                      "share_repeated", "legalize",
                                      "fuse",           "specialize",
                                      "prune",          NULL};
static const char *const interpret[] = {"link_memory", "link_calls", "open_sizes", "bind",
                                        "infer",       "compose",    "name_casts", "normalize",
                                        "decompose",   "legalize",   "prune",      NULL};
static const char *const zero[] = {"link_memory",    "choose",         "link_calls", "open_sizes",
                                   "bind",           "infer",          "compose",    "name_casts",
                                   "normalize",      "fold_constants", "decompose",  "legalize_all",
                                   "fold_constants", "fuse",           "prune",      NULL};

size_t hone_graph_pass_count(void) {
    return HONE_COUNT(passes);
}

const hone_graph_pass *hone_graph_pass_at(size_t index) {
    assert(index < HONE_COUNT(passes));
    return &passes[index];
}

const hone_graph_pass *hone_graph_pass_find(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(passes); i++) {
        if (strcmp(passes[i].name, name) == 0) return &passes[i];
        if (hone_name_is_listed(passes[i].tvm_names, name)) return &passes[i];
    }
    return NULL;
}

const char *const *hone_graph_pipeline(const char *name) {
    if (strcmp(name, "prepare") == 0) return prepare;
    if (strcmp(name, "interpret") == 0) return interpret;
    if (strcmp(name, "zero") == 0) return zero;
    return NULL;
}

static hone_status unknown_pass(const char *name) {
    hone_str names = {0};
    for (size_t i = 0; i < HONE_COUNT(passes); i++) {
        hone_str_printf(&names, "%s%s", i ? ", " : "", passes[i].name);
    }
    hone_status st = HONE_ERROR(HONE_CODE_NOT_FOUND, "no graph pass '%s'; there are %s", name,
                                hone_str_text(&names));
    hone_str_deinit(&names);
    return st;
}

/* ---- copies ---- */

static hone_status copy_member(hone_module *to, const hone_member *member) {
    switch (member->kind) {
    case HONE_MEMBER_FUNC: {
        hone_func *func = hone_func_copy_deep(to->arena, member->func);
        return func ? hone_module_add_func(to, func) : HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    }
    case HONE_MEMBER_GRAPH: {
        hone_graph_func *graph = hone_graph_func_copy_deep(to->arena, member->graph);
        return graph ? hone_module_add_graph(to, graph) : HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    }
    case HONE_MEMBER_EXTERN:
        return hone_module_add_extern(to, member->name);
    }
    return HONE_OK;
}

static hone_status copy_into(hone_module *to, const hone_module *from) {
    for (uint32_t i = 0; i < from->member_count; i++) {
        HONE_TRY(copy_member(to, &from->members[i]));
    }
    for (uint32_t i = 0; i < from->constant_count; i++) {
        hone_tensor *tensor;
        uint32_t index;
        HONE_TRY(hone_tensor_share(from->constants[i], &tensor));
        HONE_TRY(hone_module_add_constant(to, tensor, &index));
    }
    for (uint32_t i = 0; i < from->attrs.count; i++) {
        /* values are copied by way of a function's attributes: one deep copy in the tree */
        if (!hone_attrs_with(to->arena, &to->attrs, from->attrs.items[i].key,
                             from->attrs.items[i].value, &to->attrs)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
        }
    }
    return HONE_OK;
}

hone_status hone_module_copy(const hone_module *module, hone_module **out_module) {
    HONE_TRY(hone_module_create(out_module));
    hone_status st = copy_into(*out_module, module);
    if (st) {
        hone_module_release(*out_module);
        *out_module = NULL;
    }
    return st;
}

hone_status hone_graph_run_passes(const hone_module *module, const char *const *names, size_t count,
                                  const hone_graph_options *options, hone_module **out_module) {
    static const hone_graph_options defaults = {0};
    *out_module = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!hone_graph_pass_find(names[i])) return unknown_pass(names[i]);
    }
    hone_module *copy;
    HONE_TRY(hone_module_copy(module, &copy));
    if (!options) options = &defaults;
    const hone_left_out *left_out = options->left_out;
    if (left_out) hone_module_drop(copy, left_out->names, left_out->count);
    hone_status st = options->only ? hone_module_keep(copy, options->only) : HONE_OK;
    for (size_t i = 0; i < count && !st; i++)
        st = hone_graph_pass_find(names[i])->run(copy, options);
    if (st) {
        hone_module_release(copy);
        return st;
    }
    hone_module_freeze(copy);
    *out_module = copy;
    return HONE_OK;
}
