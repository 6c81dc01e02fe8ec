/* ir/core/graph_func.c - graph functions: making and growing them, struct info. */
#include "ir/core/graph_func.h"

#include <string.h>

#include "ir/core/grow.h"

hone_graph_func *hone_graph_func_create(hone_arena *arena, const char *name) {
    hone_graph_func *graph = hone_arena_zalloc(arena, sizeof *graph);
    if (!graph) return NULL;
    graph->arena = arena;
    graph->is_pure = true;
    graph->result.kind = HONE_GARG_NONE;
    graph->name = hone_arena_strdup(arena, name);
    return graph->name ? graph : NULL;
}

hone_gvalue hone_graph_add_value(hone_graph_func *graph, const char *name, const hone_sinfo *info) {
    if (!hone_grow(graph->arena, (void **)&graph->values, &graph->value_capacity,
                   graph->value_count, sizeof *graph->values)) {
        return HONE_NO_ID;
    }
    const char *copy = hone_arena_strdup(graph->arena, name);
    if (!copy) return HONE_NO_ID;
    graph->values[graph->value_count] = (hone_gvalue_info){.name = copy, .sinfo = info};
    return graph->value_count++;
}

hone_gvalue hone_graph_add_param(hone_graph_func *graph, const char *name, const hone_sinfo *info) {
    assert(graph->param_count == graph->value_count);
    hone_gvalue value = hone_graph_add_value(graph, name, info);
    if (value != HONE_NO_ID) graph->param_count++;
    return value;
}

hone_var hone_graph_add_var(hone_graph_func *graph, const char *name) {
    if (!hone_grow(graph->arena, (void **)&graph->vars, &graph->var_capacity, graph->var_count,
                   sizeof *graph->vars)) {
        return HONE_NO_ID;
    }
    const char *copy = hone_arena_strdup(graph->arena, name);
    if (!copy) return HONE_NO_ID;
    graph->vars[graph->var_count] =
        (hone_var_info){.name = copy, .dtype = HONE_DTYPE_I64, .is_size = true};
    return graph->var_count++;
}

hone_gbind *hone_graph_add_bind(hone_graph_func *graph, hone_gbind_kind kind, hone_gvalue value) {
    if (!hone_grow(graph->arena, (void **)&graph->bindings, &graph->bind_capacity,
                   graph->bind_count, sizeof *graph->bindings)) {
        return NULL;
    }
    hone_gbind *bind = &graph->bindings[graph->bind_count++];
    memset(bind, 0, sizeof *bind);
    bind->kind = kind;
    bind->value = value;
    return bind;
}

hone_gvalue hone_graph_add_call(hone_graph_func *graph, const char *op, size_t arg_count,
                                const hone_garg *args, hone_attrs attrs, const hone_sinfo *info) {
    hone_gvalue value = hone_graph_add_value(graph, "lv", info);
    if (value == HONE_NO_ID) return value;
    hone_gbind *bind = hone_graph_add_bind(graph, HONE_GBIND_CALL, value);
    hone_garg *copy = hone_arena_alloc(graph->arena, (arg_count + 1) * sizeof *copy);
    if (!bind || !copy) return HONE_NO_ID;
    if (arg_count) memcpy(copy, args, arg_count * sizeof *copy);
    bind->callee = hone_arena_strdup(graph->arena, op);
    bind->args = copy;
    bind->arg_count = (uint32_t)arg_count;
    bind->attrs = attrs;
    return bind->callee ? value : HONE_NO_ID;
}

const hone_sinfo *hone_sinfo_tensor(hone_arena *arena, hone_dtype dtype, int32_t rank,
                                    const hone_expr *const *shape) {
    hone_sinfo *info = hone_arena_zalloc(arena, sizeof *info);
    if (!info) return NULL;
    info->kind = HONE_SINFO_TENSOR;
    info->dtype = dtype;
    info->rank = rank;
    info->shape = shape;
    return info;
}

const hone_sinfo *hone_sinfo_static(hone_arena *arena, hone_dtype dtype, int32_t rank,
                                    const int64_t *shape) {
    hone_ir ir = {.arena = arena};
    const hone_expr **extents = hone_arena_alloc(arena, ((size_t)rank + 1) * sizeof *extents);
    if (!extents) return NULL;
    for (int32_t i = 0; i < rank; i++) {
        extents[i] = hone_expr_int(&ir, HONE_DTYPE_I64, shape[i]);
    }
    hone_status st = hone_ir_finish(&ir);
    if (st) {
        hone_status_free(st);
        return NULL;
    }
    return hone_sinfo_tensor(arena, dtype, rank, extents);
}

const hone_sinfo *hone_sinfo_tuple(hone_arena *arena, uint32_t count,
                                   const hone_sinfo *const *fields) {
    hone_sinfo *info = hone_arena_zalloc(arena, sizeof *info);
    const hone_sinfo **copy = hone_arena_alloc(arena, (count + 1) * sizeof *copy);
    if (!info || !copy) return NULL;
    if (count) memcpy(copy, fields, count * sizeof *copy);
    info->kind = HONE_SINFO_TUPLE;
    info->rank = -1;
    info->field_count = count;
    info->fields = copy;
    return info;
}

typedef struct translation {
    const hone_expr *const *sizes;
    uint32_t count;
} translation;

static bool has_unknown(const hone_expr *e, const translation *t) {
    if (e->kind == HONE_EXPR_VAR) return e->u.var >= t->count || !t->sizes[e->u.var];
    for (uint16_t i = 0; i < e->count; i++) {
        if (has_unknown(e->args[i], t)) return true;
    }
    return false;
}

static const hone_sinfo *no_memory(hone_ir *ir) {
    hone_ir_fail(ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "type"));
    return NULL;
}

static bool translate_shape(hone_ir *ir, const translation *t, hone_sinfo *info) {
    uint32_t rank = info->shape && info->rank > 0 ? (uint32_t)info->rank : 0;
    const hone_expr **shape = hone_arena_alloc(ir->arena, ((size_t)rank + 1) * sizeof *shape);
    if (!shape) return false;
    bool is_known = true;
    for (uint32_t i = 0; i < rank && is_known; i++) {
        is_known = !has_unknown(info->shape[i], t);
        if (is_known) shape[i] = hone_expr_substitute(ir, info->shape[i], t->sizes, t->count);
    }
    if (rank) info->shape = is_known ? shape : NULL;
    if (!is_known && info->kind == HONE_SINFO_PRIM) info->rank = -1;
    return !ir->error;
}

const hone_sinfo *hone_sinfo_in_terms_of(hone_ir *ir, const hone_sinfo *info,
                                         const hone_expr *const *sizes, uint32_t count) {
    if (!info) return NULL;
    const translation t = {sizes, count};
    hone_sinfo *copy = hone_arena_copy(ir->arena, info, sizeof *info);
    const hone_sinfo **fields =
        hone_arena_alloc(ir->arena, ((size_t)info->field_count + 1) * sizeof *fields);
    if (!copy || !fields || !translate_shape(ir, &t, copy)) return no_memory(ir);
    for (uint32_t i = 0; i < info->field_count; i++) {
        fields[i] = hone_sinfo_in_terms_of(ir, info->fields[i], sizes, count);
        if (ir->error) return NULL;
    }
    copy->fields = fields;
    return copy;
}

bool hone_sinfo_is_static(const hone_sinfo *info) {
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank < 0) return false;
    if (info->rank > 0 && !info->shape) return false;
    for (int32_t i = 0; i < info->rank; i++) {
        if (!hone_expr_is_int(info->shape[i])) return false;
    }
    return true;
}

/* ---- what is used ---- */

static void mark(bool *used, uint32_t count, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE && arg->u.value < count) used[arg->u.value] = true;
    for (uint32_t i = 0; arg->kind == HONE_GARG_TUPLE && i < arg->count; i++)
        mark(used, count, &arg->u.items[i]);
}

bool *hone_graph_find_used(const hone_graph_func *graph, hone_arena *arena,
                           bool (*may_go)(const hone_gbind *bind)) {
    uint32_t values = graph->value_count;
    bool *used = hone_arena_zalloc(arena, (size_t)values + 1);
    bool *keep = hone_arena_zalloc(arena, (size_t)graph->bind_count + 1);
    if (!used || !keep) return NULL;
    mark(used, values, &graph->result);
    for (uint32_t i = graph->bind_count; i-- > 0;) {
        const hone_gbind *bind = &graph->bindings[i];
        keep[i] = (bind->value < values && used[bind->value]) || !may_go(bind);
        for (uint32_t a = 0; keep[i] && a < bind->arg_count; a++)
            mark(used, values, &bind->args[a]);
    }
    return keep;
}

bool hone_gbind_calls(const hone_gbind *bind, const char *op) {
    return bind && bind->kind == HONE_GBIND_CALL && strcmp(bind->callee, op) == 0;
}

bool hone_gbind_has_no_effect(const hone_gbind *bind) {
    return bind->kind == HONE_GBIND_CALL || bind->kind == HONE_GBIND_ARG ||
           bind->kind == HONE_GBIND_TUPLE_GET;
}

static const char *name_of_bind(const hone_graph_func *graph, uint32_t index) {
    return graph->values[graph->bindings[index].value].name;
}

/* The first binding behind that has another name than "lv", where no text wrote both; else index.
 */
static uint32_t named_behind(const hone_graph_func *graph, uint32_t index) {
    uint32_t named = index;
    while (named + 1 < graph->bind_count && strcmp(name_of_bind(graph, named), "lv") == 0)
        named++;
    const char *name = name_of_bind(graph, named);
    bool is_of_text = strncmp(name, "lv", 2) == 0 || strncmp(name, "gv", 2) == 0;
    return is_of_text ? index : named;
}

const char *hone_graph_told_name(const hone_graph_func *graph, const hone_gbind *bind) {
    return name_of_bind(graph, named_behind(graph, (uint32_t)(bind - graph->bindings)));
}

hone_status hone_graph_annotate_bind(const hone_graph_func *graph, uint32_t index, hone_status st) {
    const uint32_t named = st ? named_behind(graph, index) : index;
    return hone_status_annotate(st, named == index ? "'%s'" : "on the way to '%s'",
                                name_of_bind(graph, named));
}
