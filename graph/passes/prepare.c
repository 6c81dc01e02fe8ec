/* graph/passes/prepare.c - the passes from a model as read to kernels and calls, in order. */
#include "graph/passes/prepare.h"

#include "graph/module/module_parts.h"
#include "graph/passes/left_out.h"
#include "graph/passes/pass.h"
#include "ir/ops/missing_op.h"

static hone_status find_missing(const hone_module *module, const hone_graph_options *options,
                                hone_arena *arena, hone_missing_ops *out) {
    bool *is_needed = NULL;
    if (options->only) HONE_TRY(hone_module_find_needed(module, options->only, arena, &is_needed));
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        if (!graph || (is_needed && !is_needed[i])) continue;
        if (hone_graph_is_left_out(options->left_out, graph->name)) continue;
        HONE_TRY(hone_missing_ops_find(graph, out));
    }
    return HONE_OK;
}

/* Before functions are put into each other: each call is named where it stands. */
static hone_status check_operators(const hone_module *module, const hone_graph_options *options) {
    hone_missing_ops missing = {0};
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operators");
    hone_status st = find_missing(module, options, arena, &missing);
    if (!st) st = hone_missing_ops_refuse(&missing);
    hone_vec_deinit(&missing);
    hone_arena_destroy(arena);
    return st;
}

static hone_status run_pipeline(const hone_module *module, const char *name,
                                const hone_graph_options *options, hone_module **out_module) {
    static const hone_graph_options defaults = {0};
    const char *const *names = hone_graph_pipeline(name);
    size_t count = 0;
    if (!options) options = &defaults;
    HONE_TRY(check_operators(module, options));
    while (names[count])
        count++;
    return hone_graph_run_passes(module, names, count, options, out_module);
}

hone_status hone_graph_prepare(const hone_module *module, const hone_graph_options *options,
                               hone_module **out_module) {
    return run_pipeline(module, "prepare", options, out_module);
}

hone_status hone_graph_prepare_plain(const hone_module *module, const hone_graph_options *options,
                                     hone_module **out_module) {
    return run_pipeline(module, "interpret", options, out_module);
}
