/* graph/passes/begin_results.c - what call_tir makes begins as zeros, where its program does not
 * surely write all of it, or reads of it before.
 *
 * needs: programs that calls mean. keeps: what the interpreter computes. Memory of other values
 * would show through otherwise. Programs on threads of a GPU stay as they are. */
#include "graph/passes/graph_passes.h"
#include "graph/passes/out_of_place.h"
#include "support/core/alloc.h"

static bool is_on_threads(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD) return true;
    }
    return false;
}

static uint32_t result_count(const hone_graph_func *graph, const hone_gbind *bind) {
    const hone_sinfo *info = graph->values[bind->value].sinfo;
    return info && info->kind == HONE_SINFO_TUPLE ? info->field_count : 1;
}

static hone_status begin(const hone_graph_options *options, hone_func *func, uint32_t param) {
    bool is_written = false;
    if (param >= func->param_count || func->params[param].buffer == HONE_NO_ID) return HONE_OK;
    HONE_TRY(options->writes_whole(func, param, &is_written));
    return is_written ? HONE_OK : hone_func_begin_as_zeros(func, func->params[param].buffer);
}

static hone_status begin_all(const hone_module *module, const hone_graph_options *options,
                             const hone_graph_func *graph, bool *is_done) {
    for (uint32_t b = 0; b < graph->bind_count; b++) {
        const hone_gbind *bind = &graph->bindings[b];
        if (bind->kind != HONE_GBIND_CALL_TIR || !bind->callee) continue;
        const hone_member *member = hone_module_find(module, bind->callee);
        if (!member || !member->func || is_done[member - module->members]) continue;
        is_done[member - module->members] = true;
        if (is_on_threads(member->func)) continue;
        uint32_t count = result_count(graph, bind);
        for (uint32_t i = 0; i < count; i++)
            HONE_TRY(begin(options, member->func, bind->arg_count + i));
    }
    return HONE_OK;
}

hone_status hone_pass_begin_results(hone_module *module, const hone_graph_options *options) {
    if (!options->writes_whole) return HONE_OK;
    bool *is_done = hone_calloc((size_t)module->member_count + 1, sizeof *is_done);
    hone_status st = is_done ? HONE_OK : HONE_NO_MEMORY("results");
    for (uint32_t i = 0; i < module->member_count && !st; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        if (graph) st = begin_all(module, options, graph, is_done);
    }
    hone_free(is_done);
    return st;
}
