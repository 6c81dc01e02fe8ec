/* ir/core/graph_copy.c - deep copies of graph functions: nothing of the original is referred to
 * afterwards. */
#include <string.h>

#include "ir/core/graph_func.h"
#include "ir/core/value.h"

static void *room(hone_ir *ir, size_t count, size_t bytes) {
    void *memory = hone_arena_zalloc(ir->arena, (count + 1) * bytes);
    if (!memory) hone_ir_fail(ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "copy of a graph"));
    return memory;
}

static const char *text(hone_ir *ir, const char *s) {
    if (!s) return NULL;
    const char *copy = hone_arena_strdup(ir->arena, s);
    if (!copy) hone_ir_fail(ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "copy of a graph"));
    return copy;
}

static const hone_expr *expr(hone_ir *ir, const hone_expr *e) {
    return e ? hone_expr_copy(ir, e, NULL, NULL) : NULL;
}

static const hone_expr *const *exprs(hone_ir *ir, const hone_expr *const *list, uint32_t count) {
    if (!list) return NULL;
    const hone_expr **copy = room(ir, count, sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = expr(ir, list[i]);
    return copy;
}

static const hone_sinfo *sinfo(hone_ir *ir, const hone_sinfo *info) {
    if (!info) return NULL;
    hone_sinfo *copy = room(ir, 1, sizeof *copy);
    if (!copy) return NULL;
    *copy = *info;
    copy->shape = exprs(ir, info->shape, info->rank > 0 ? (uint32_t)info->rank : 0);
    if (info->field_count) {
        const hone_sinfo **fields = room(ir, info->field_count, sizeof *fields);
        for (uint32_t i = 0; fields && i < info->field_count; i++) {
            fields[i] = sinfo(ir, info->fields[i]);
        }
        copy->fields = fields;
    }
    return copy;
}

static hone_garg garg(hone_ir *ir, hone_garg arg) {
    switch (arg.kind) {
    case HONE_GARG_SHAPE:
        arg.u.exprs = exprs(ir, arg.u.exprs, arg.count);
        break;
    case HONE_GARG_PRIM:
        arg.u.expr = expr(ir, arg.u.expr);
        break;
    case HONE_GARG_STRING:
    case HONE_GARG_GLOBAL:
    case HONE_GARG_EXTERN:
        arg.u.s = text(ir, arg.u.s);
        break;
    case HONE_GARG_TUPLE: {
        hone_garg *items = room(ir, arg.count, sizeof *items);
        for (uint32_t i = 0; items && i < arg.count; i++)
            items[i] = garg(ir, arg.u.items[i]);
        arg.u.items = items;
        break;
    }
    case HONE_GARG_VALUE:
    case HONE_GARG_CONSTANT:
    case HONE_GARG_DTYPE:
    case HONE_GARG_NONE:
        break;
    }
    return arg;
}

static hone_attrs attributes(hone_ir *ir, hone_attrs attrs);

static const hone_lambda *lambda_of(hone_ir *ir, const hone_lambda *lambda) {
    hone_lambda *copy = room(ir, 1, sizeof *copy);
    hone_var *params = room(ir, lambda->param_count, sizeof *params);
    if (!copy || !params) return NULL;
    *copy = *lambda;
    memcpy(params, lambda->params, lambda->param_count * sizeof *params);
    copy->params = params;
    copy->bodies = exprs(ir, lambda->bodies, lambda->body_count);
    copy->identities = exprs(ir, lambda->identities, lambda->identity_count);
    return copy;
}

static hone_value value_of(hone_ir *ir, hone_value value) {
    if (value.kind == HONE_VALUE_STRING) value.u.s = text(ir, value.u.s);
    if (value.kind == HONE_VALUE_EXPR) value.u.expr = expr(ir, value.u.expr);
    if (value.kind == HONE_VALUE_LAMBDA) value.u.lambda = lambda_of(ir, value.u.lambda);
    if (value.kind == HONE_VALUE_MAP) {
        value.u.attrs = attributes(ir, (hone_attrs){value.count, value.u.attrs}).items;
    }
    if (value.kind == HONE_VALUE_LIST) {
        hone_value *items = room(ir, value.count, sizeof *items);
        for (uint32_t i = 0; items && i < value.count; i++) {
            items[i] = value_of(ir, value.u.items[i]);
        }
        value.u.items = items;
    }
    return value;
}

static hone_attrs attributes(hone_ir *ir, hone_attrs attrs) {
    hone_attr *items = room(ir, attrs.count, sizeof *items);
    for (uint32_t i = 0; items && i < attrs.count; i++) {
        items[i] = (hone_attr){text(ir, attrs.items[i].key), value_of(ir, attrs.items[i].value)};
    }
    attrs.items = items;
    return attrs;
}

static void binding(hone_ir *ir, hone_gbind *bind) {
    hone_garg *args = room(ir, bind->arg_count, sizeof *args);
    for (uint32_t i = 0; args && i < bind->arg_count; i++)
        args[i] = garg(ir, bind->args[i]);
    bind->args = args;
    bind->callee = text(ir, bind->callee);
    bind->symbolic = exprs(ir, bind->symbolic, bind->symbolic_count);
    bind->attrs = attributes(ir, bind->attrs);
}

static void *table(hone_ir *ir, const void *from, size_t count, size_t bytes) {
    void *copy = room(ir, count, bytes);
    if (copy && count) memcpy(copy, from, count * bytes);
    return copy;
}

hone_graph_func *hone_graph_func_copy_deep(hone_arena *arena, const hone_graph_func *graph) {
    hone_ir ir = {.arena = arena};
    hone_graph_func *copy = table(&ir, graph, 1, sizeof *graph);
    if (copy) {
        copy->arena = arena;
        copy->name = text(&ir, graph->name);
        copy->vars = table(&ir, graph->vars, graph->var_count, sizeof *graph->vars);
        copy->values = table(&ir, graph->values, graph->value_count, sizeof *graph->values);
        copy->bindings = table(&ir, graph->bindings, graph->bind_count, sizeof *graph->bindings);
        copy->var_capacity = graph->var_count;
        copy->value_capacity = graph->value_count;
        copy->bind_capacity = graph->bind_count;
        for (uint32_t i = 0; copy->vars && i < graph->var_count; i++) {
            copy->vars[i].name = text(&ir, graph->vars[i].name);
        }
        for (uint32_t i = 0; copy->values && i < graph->value_count; i++) {
            copy->values[i].name = text(&ir, graph->values[i].name);
            copy->values[i].sinfo = sinfo(&ir, graph->values[i].sinfo);
        }
        for (uint32_t i = 0; copy->bindings && i < graph->bind_count; i++) {
            binding(&ir, &copy->bindings[i]);
        }
        copy->result = garg(&ir, graph->result);
        copy->result_sinfo = sinfo(&ir, graph->result_sinfo);
        copy->attrs = attributes(&ir, graph->attrs);
    }
    hone_status st = hone_ir_finish(&ir);
    if (!st) return copy;
    hone_status_free(st);
    return NULL;
}
