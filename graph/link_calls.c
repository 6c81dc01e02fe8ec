#include <string.h>

#include "graph/graph_passes.h"
#include "ir/module.h"

/* Finds out who is called, so that later passes see one function with calls of programs:
 *   call_dps_packed of a name that is a PrimFunc of the module → call_tir of it
 *   a call of another graph function                          → what that function does
 *   bindings without effect that nobody uses                  → nothing
 * A graph function stays a call when it has symbolic sizes of its own, or calls itself on the way.
 * Private functions that were called go away; others stay, for callers outside.
 * needs: nothing
 * keeps: names, order */

enum { MAX_DEPTH = 64 };

/* ---- names ---- */

static bool has_symbol(const hone_func *func, const char *symbol) {
    const hone_value *value = hone_attrs_find(&func->attrs, "global_symbol");
    return value && value->kind == HONE_VALUE_STRING && strcmp(value->u.s, symbol) == 0;
}

static const char *find_program(const hone_module *module, const char *name) {
    const hone_member *member = hone_module_find(module, name);
    if (member) return member->kind == HONE_MEMBER_FUNC ? member->name : NULL;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_func *func = module->members[i].func;
        if (func && has_symbol(func, name)) return module->members[i].name;
    }
    return NULL;
}

static void link_names(const hone_module *module, hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        hone_gbind *bind = &graph->bindings[i];
        if (bind->kind != HONE_GBIND_CALL_DPS) continue;
        const char *name = find_program(module, bind->callee);
        if (!name) continue;
        bind->kind = HONE_GBIND_CALL_TIR;
        bind->callee = name;
    }
}

/* ---- what nobody uses ---- */

static void mark(bool *used, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE) used[arg->u.value] = true;
    if (arg->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < arg->count; i++)
            mark(used, &arg->u.items[i]);
    }
}

static bool may_go(const hone_gbind *bind) {
    return bind->kind == HONE_GBIND_CALL || bind->kind == HONE_GBIND_ARG ||
           bind->kind == HONE_GBIND_TUPLE_GET;
}

static hone_status drop_unused(hone_graph_func *graph) {
    bool *used = hone_arena_zalloc(graph->arena, graph->value_count + 1);
    bool *keep = hone_arena_zalloc(graph->arena, graph->bind_count + 1);
    if (!used || !keep) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    mark(used, &graph->result);
    for (uint32_t i = graph->bind_count; i-- > 0;) {
        const hone_gbind *bind = &graph->bindings[i];
        keep[i] = used[bind->value] || !may_go(bind);
        for (uint32_t a = 0; keep[i] && a < bind->arg_count; a++)
            mark(used, &bind->args[a]);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        if (keep[i]) graph->bindings[count++] = graph->bindings[i];
    }
    graph->bind_count = count;
    return HONE_OK;
}

/* ---- calls of graph functions ---- */

static const hone_graph_func *callee_of(const hone_module *module, const hone_gbind *bind) {
    if (bind->kind != HONE_GBIND_CALL_FUNC) return NULL;
    const hone_member *member = hone_module_find(module, bind->callee);
    return member && member->kind == HONE_MEMBER_GRAPH ? member->graph : NULL;
}

static bool calls_others(const hone_module *module, const hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        if (callee_of(module, &graph->bindings[i])) return true;
    }
    return false;
}

/* A leaf: without calls that would have to be put in first, and without sizes of its own. */
static bool can_put_in(const hone_module *module, const hone_gbind *bind) {
    const hone_graph_func *callee = callee_of(module, bind);
    return callee && callee->var_count == 0 && callee->param_count == bind->arg_count &&
           !calls_others(module, callee);
}

/* An argument of the callee in terms of the caller. */
static hone_status translate(hone_graph_func *to, const hone_garg *map, hone_garg arg,
                             hone_garg *out) {
    *out = arg;
    if (arg.kind == HONE_GARG_VALUE) {
        *out = map[arg.u.value];
    } else if (arg.kind == HONE_GARG_TUPLE) {
        hone_garg *items = hone_arena_zalloc(to->arena, (arg.count + 1) * sizeof *items);
        if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
        for (uint32_t i = 0; i < arg.count; i++)
            HONE_TRY(translate(to, map, arg.u.items[i], &items[i]));
        out->u.items = items;
    }
    return HONE_OK;
}

static hone_status append(hone_graph_func *to, const hone_gbind *like, hone_gvalue value,
                          const hone_garg *map) {
    hone_garg *args = hone_arena_zalloc(to->arena, (like->arg_count + 1) * sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    for (uint32_t a = 0; a < like->arg_count; a++) {
        if (map)
            HONE_TRY(translate(to, map, like->args[a], &args[a]));
        else
            args[a] = like->args[a];
    }
    hone_gbind *bind = hone_graph_add_bind(to, like->kind, value);
    if (!bind) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    *bind = *like;
    bind->value = value;
    bind->args = args;
    return HONE_OK;
}

/* The callee's bindings, then the call's own value as another name of its result. */
static hone_status put_in(hone_graph_func *to, const hone_graph_func *from,
                          const hone_gbind *call) {
    hone_garg *map = hone_arena_zalloc(to->arena, (from->value_count + 1) * sizeof *map);
    if (!map) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    for (uint32_t i = 0; i < from->param_count; i++)
        map[i] = call->args[i];
    for (uint32_t i = 0; i < from->bind_count; i++) {
        const hone_gbind *bind = &from->bindings[i];
        const hone_gvalue_info *info = &from->values[bind->value];
        hone_gvalue value = hone_graph_add_value(to, info->name, info->sinfo);
        if (value == HONE_NO_ID) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
        map[bind->value] = HONE_GARG_OF_VALUE(value);
        HONE_TRY(append(to, bind, value, map));
        to->bindings[to->bind_count - 1].in_dataflow = call->in_dataflow;
        to->bindings[to->bind_count - 1].dataflow_block = call->dataflow_block;
    }
    hone_garg *result = hone_arena_zalloc(to->arena, sizeof *result);
    if (!result) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    HONE_TRY(translate(to, map, from->result, result));
    hone_gbind *alias = hone_graph_add_bind(to, HONE_GBIND_ARG, call->value);
    if (!alias) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    alias->args = result;
    alias->arg_count = 1;
    alias->in_dataflow = call->in_dataflow;
    alias->dataflow_block = call->dataflow_block;
    return HONE_OK;
}

static hone_status put_in_calls(hone_module *module, hone_graph_func *graph, bool *out_changed) {
    bool any = false;
    for (uint32_t i = 0; i < graph->bind_count; i++)
        any |= can_put_in(module, &graph->bindings[i]);
    if (!any) return HONE_OK;
    *out_changed = true;
    hone_gbind *old = graph->bindings;
    uint32_t count = graph->bind_count;
    graph->bindings = NULL;
    graph->bind_count = graph->bind_capacity = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (can_put_in(module, &old[i])) {
            HONE_TRY(put_in(graph, callee_of(module, &old[i]), &old[i]));
        } else {
            HONE_TRY(append(graph, &old[i], old[i].value, NULL));
        }
    }
    return HONE_OK;
}

static bool is_called(const hone_module *module, const char *name) {
    for (uint32_t m = 0; m < module->member_count; m++) {
        const hone_graph_func *graph = module->members[m].graph;
        for (uint32_t i = 0; graph && i < graph->bind_count; i++) {
            const hone_gbind *bind = &graph->bindings[i];
            if (bind->kind == HONE_GBIND_CALL_FUNC && strcmp(bind->callee, name) == 0) return true;
        }
    }
    return false;
}

static void drop_private(hone_module *module) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (member->graph && member->graph->is_private && !is_called(module, member->name))
            continue;
        module->members[count++] = *member;
    }
    module->member_count = count;
}

/* ---- the pass ---- */

hone_status hone_pass_link_calls(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_graph_func *graph = module->members[i].graph;
        if (!graph) continue;
        HONE_TRY(drop_unused(graph));
        link_names(module, graph);
    }
    bool changed = true, any = false;
    for (int depth = 0; changed && depth < MAX_DEPTH; depth++) {
        changed = false;
        for (uint32_t i = 0; i < module->member_count; i++) {
            if (module->members[i].graph)
                HONE_TRY(put_in_calls(module, module->members[i].graph, &changed));
        }
        any |= changed;
    }
    if (any) drop_private(module);
    return HONE_OK;
}
