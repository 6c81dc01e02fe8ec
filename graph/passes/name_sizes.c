/* graph/passes/name_sizes.c - sizes that a text leaves open.
 *
 * open_sizes, before types are inferred:
 *   x: R.Tensor(ndim=2)                 → x: R.Tensor((x_dim0, x_dim1)), or as the R.match_cast of
 * x says add(x [n, 4], y [m, 4])             → add(x, match_cast(y, [n, 4])), checked in each call
 *   p: R.Tuple(a, b)                    → p_0: a, p_1: b
 *   a result that is a shape or a size  → a tensor of int64
 * name_casts, when they are known:
 *   y = match_cast(x [n * 2], [k])      → n * 2 for k, everywhere
 *
 * needs: link_calls; infer, compose
 * keeps: everything else
 */
#include <string.h>

#include "graph/compose/compose.h"
#include "graph/passes/graph_passes.h"
#include "ir/core/grow.h"
#include "ir/ops/graph_infer.h"

static hone_status no_memory(void) {
    return HONE_NO_MEMORY("sizes");
}

/* ---- inputs ---- */

static bool is_open(const hone_sinfo *info) {
    bool is_tensor = info && info->kind == HONE_SINFO_TENSOR;
    return is_tensor &&
           (info->rank < 0 || (info->rank > 0 && !info->shape) || hone_dtype_is_void(info->dtype));
}

/* Names and numbers alone, which an input gives. */
static bool says_all(const hone_sinfo *info) {
    if (is_open(info) || info->kind != HONE_SINFO_TENSOR) return false;
    for (int32_t d = 0; d < info->rank; d++) {
        if (info->shape[d]->kind != HONE_EXPR_VAR && !hone_expr_is_int(info->shape[d]))
            return false;
    }
    return true;
}

/* What the first cast of a parameter says of it, or NULL. */
static const hone_sinfo *cast_of(const hone_graph_func *graph, hone_gvalue param) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        bool is_it = bind->kind == HONE_GBIND_MATCH_CAST && bind->arg_count &&
                     bind->args[0].kind == HONE_GARG_VALUE && bind->args[0].u.value == param;
        if (is_it) return graph->values[bind->value].sinfo;
    }
    return NULL;
}

static bool is_taken(const hone_graph_func *graph, const char *name) {
    for (uint32_t v = 0; v < graph->var_count; v++)
        if (strcmp(graph->vars[v].name, name) == 0) return true;
    return false;
}

static hone_status new_size(hone_graph_func *graph, const char *stem, int32_t d,
                            const hone_expr **out) {
    const char *name = hone_arena_printf(graph->arena, "%s_dim%d", stem, (int)d);
    for (int more = 1; name && is_taken(graph, name); more++)
        name = hone_arena_printf(graph->arena, "%s_dim%d_%d", stem, (int)d, more);
    hone_var var = name ? hone_graph_add_var(graph, name) : HONE_NO_ID;
    if (var == HONE_NO_ID) return no_memory();
    hone_ir ir = {.arena = graph->arena};
    *out = hone_expr_var(&ir, HONE_DTYPE_I64, var);
    return hone_ir_finish(&ir);
}

static hone_status name_dims(hone_graph_func *graph, const char *stem, const hone_sinfo *info,
                             const hone_sinfo **out) {
    const hone_expr **shape =
        hone_arena_alloc(graph->arena, ((size_t)info->rank + 1) * sizeof *shape);
    if (!shape) return no_memory();
    for (int32_t d = 0; d < info->rank; d++)
        HONE_TRY(new_size(graph, stem, d, &shape[d]));
    *out = hone_sinfo_tensor(graph->arena, info->dtype, info->rank, shape);
    return *out ? HONE_OK : no_memory();
}

static hone_status name_type(hone_graph_func *graph, const char *stem, const hone_sinfo *info,
                             const hone_sinfo **out) {
    *out = info;
    if (!info) return HONE_OK;
    if (info->kind == HONE_SINFO_TENSOR)
        return info->rank > 0 && !info->shape ? name_dims(graph, stem, info, out) : HONE_OK;
    if (info->kind != HONE_SINFO_TUPLE) return HONE_OK;
    const hone_sinfo **fields =
        hone_arena_alloc(graph->arena, ((size_t)info->field_count + 1) * sizeof *fields);
    if (!fields) return no_memory();
    for (uint32_t i = 0; i < info->field_count; i++) {
        const char *name = hone_arena_printf(graph->arena, "%s_%u", stem, i);
        if (!name) return no_memory();
        HONE_TRY(name_type(graph, name, info->fields[i], &fields[i]));
    }
    *out = hone_sinfo_tuple(graph->arena, info->field_count, fields);
    return *out ? HONE_OK : no_memory();
}

static hone_status name_inputs(hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->param_count; i++) {
        hone_gvalue_info *param = &graph->values[i];
        const hone_sinfo *cast = is_open(param->sinfo) ? cast_of(graph, i) : NULL;
        bool is_said = cast && says_all(cast) && !hone_sinfo_contradicts(param->sinfo, cast);
        if (is_said)
            param->sinfo = cast;
        else
            HONE_TRY(name_type(graph, param->name, param->sinfo, &param->sinfo));
    }
    return HONE_OK;
}

/* ---- tuples ---- */

typedef struct flat {
    hone_graph_func *graph;
    hone_gvalue_info *values; /* renumbered: parameters come first */
    uint32_t count, capacity;
} flat;

static hone_status add_leaves(flat *f, const char *name, const hone_sinfo *info, hone_garg *out) {
    hone_arena *arena = f->graph->arena;
    if (!info || info->kind != HONE_SINFO_TUPLE) {
        if (!hone_grow(arena, (void **)&f->values, &f->capacity, f->count, sizeof *f->values))
            return no_memory();
        f->values[f->count] = (hone_gvalue_info){.name = name, .sinfo = info};
        *out = HONE_GARG_OF_VALUE(f->count++);
        return HONE_OK;
    }
    hone_garg *items = hone_arena_alloc(arena, ((size_t)info->field_count + 1) * sizeof *items);
    if (!items) return no_memory();
    for (uint32_t i = 0; i < info->field_count; i++) {
        const char *item = hone_arena_printf(arena, "%s_%u", name, i);
        if (!item) return no_memory();
        HONE_TRY(add_leaves(f, item, info->fields[i], &items[i]));
    }
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = info->field_count, .u.items = items};
    return HONE_OK;
}

static bool has_tuples(const hone_graph_func *graph) {
    bool has = false;
    for (uint32_t i = 0; i < graph->param_count; i++) {
        const hone_sinfo *info = graph->values[i].sinfo;
        has |= info && info->kind == HONE_SINFO_TUPLE;
    }
    return has;
}

/* Each tensor in them is an input of its own. */
static hone_status flatten_inputs(hone_graph_func *graph) {
    flat f = {.graph = graph};
    const int64_t before = hone_attrs_int(&graph->attrs, "num_input", -1);
    int64_t inputs = before;
    hone_garg *map = hone_arena_alloc(graph->arena, ((size_t)graph->value_count + 1) * sizeof *map);
    if (!map) return no_memory();
    if (!has_tuples(graph)) return HONE_OK;
    uint32_t params = 0;
    for (uint32_t i = 0; i < graph->value_count; i++) {
        const hone_gvalue_info *value = &graph->values[i];
        const hone_sinfo *info = value->sinfo;
        bool is_param = i < graph->param_count;
        bool is_tuple = is_param && info && info->kind == HONE_SINFO_TUPLE;
        HONE_TRY(add_leaves(&f, value->name, is_tuple ? info : NULL, &map[i]));
        if (!is_tuple) f.values[f.count - 1] = *value;
        if (is_param) params = f.count;
        if (i + 1 == before) inputs = f.count;
    }
    graph->values = f.values;
    graph->value_count = f.count;
    graph->value_capacity = f.capacity;
    graph->param_count = params;
    HONE_TRY(hone_graph_put_args(graph, map));
    if (inputs < 0) return HONE_OK;
    return hone_attrs_with(graph->arena, &graph->attrs, "num_input", HONE_VALUE_OF_INT(inputs),
                           &graph->attrs)
               ? HONE_OK
               : no_memory();
}

/* ---- results ---- */

static hone_status add_call(hone_graph_func *graph, const char *op, uint32_t count,
                            const hone_garg *args, int32_t rank, int64_t extent, hone_garg *out) {
    const hone_sinfo *info = hone_sinfo_static(graph->arena, HONE_DTYPE_I64, rank, &extent);
    hone_gvalue value =
        info ? hone_graph_add_call(graph, op, count, args, (hone_attrs){0}, info) : HONE_NO_ID;
    if (value == HONE_NO_ID) return no_memory();
    graph->bindings[graph->bind_count - 1].in_dataflow = false;
    *out = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

/* What a value is but for other names. */
static hone_garg meant(const hone_graph_func *graph, hone_garg arg) {
    for (uint32_t i = graph->bind_count; arg.kind == HONE_GARG_VALUE && i-- > 0;) {
        const hone_gbind *bind = &graph->bindings[i];
        bool is_alias = bind->value == arg.u.value && bind->kind == HONE_GBIND_ARG;
        if (is_alias) arg = bind->args[0];
    }
    return arg;
}

static bool is_whole(hone_dtype dtype) {
    return (dtype.code == HONE_DTYPE_CODE_INT || dtype.code == HONE_DTYPE_CODE_UINT) &&
           dtype.lanes == 1;
}

/* The number of a size, or NULL. */
static const hone_expr *size_of(const hone_garg *arg, const hone_sinfo *info) {
    if (arg->kind == HONE_GARG_PRIM) return is_whole(arg->u.expr->dtype) ? arg->u.expr : NULL;
    bool is_known = info && info->kind == HONE_SINFO_PRIM && info->rank == 1 && info->shape;
    return is_known && is_whole(info->dtype) ? info->shape[0] : NULL;
}

/* What R.shape_of makes has no type before it is composed. */
static const hone_sinfo *shape_taken(const hone_module *module, const hone_graph_func *graph,
                                     const hone_garg *arg) {
    for (uint32_t i = graph->bind_count; arg->kind == HONE_GARG_VALUE && i-- > 0;) {
        const hone_gbind *bind = &graph->bindings[i];
        if (bind->value != arg->u.value) continue;
        const hone_sinfo *of = hone_gbind_calls(bind, "shape_of")
                                   ? hone_garg_sinfo(module, graph, &bind->args[0], graph->arena)
                                   : NULL;
        if (!of || of->kind != HONE_SINFO_TENSOR || of->rank < 0) return NULL;
        hone_sinfo *made = hone_arena_copy(graph->arena, of, sizeof *of);
        if (made) made->kind = HONE_SINFO_SHAPE;
        return made;
    }
    return NULL;
}

static hone_status as_tensor(const hone_module *module, hone_graph_func *graph, hone_garg *io) {
    hone_garg arg = meant(graph, *io);
    const hone_sinfo *info = hone_garg_sinfo(module, graph, &arg, graph->arena);
    if (!info || info->kind == HONE_SINFO_OBJECT) info = shape_taken(module, graph, &arg);
    const hone_expr *size = size_of(&arg, info);
    if (size) {
        const hone_garg shape = {.kind = HONE_GARG_SHAPE, .count = 1, .u.exprs = &size};
        const hone_garg none = {.kind = HONE_GARG_SHAPE};
        hone_garg args[2] = {shape, none};
        const hone_expr **kept = hone_arena_copy(graph->arena, &size, sizeof size);
        if (!kept) return no_memory();
        args[0].u.exprs = kept;
        HONE_TRY(add_call(graph, "shape_to_tensor", 1, args, 1, 1, &args[0]));
        return add_call(graph, "reshape", 2, args, 0, 0, io);
    }
    bool is_shape = info && info->kind == HONE_SINFO_SHAPE && info->rank >= 0;
    return is_shape ? add_call(graph, "shape_to_tensor", 1, &arg, 1, info->rank, io) : HONE_OK;
}

static hone_status give_tensors(const hone_module *module, hone_graph_func *graph, hone_garg *io) {
    hone_garg arg = meant(graph, *io);
    if (arg.kind != HONE_GARG_TUPLE) return as_tensor(module, graph, io);
    hone_garg *items = hone_arena_copy(graph->arena, arg.u.items,
                                       ((size_t)arg.count + !arg.count) * sizeof *items);
    if (!items) return no_memory();
    bool is_other = false;
    for (uint32_t i = 0; i < arg.count; i++) {
        HONE_TRY(give_tensors(module, graph, &items[i]));
        is_other |= memcmp(&items[i], &arg.u.items[i], sizeof *items) != 0;
    }
    arg.u.items = items;
    if (is_other) *io = arg;
    return HONE_OK;
}

/* ---- the passes ---- */

hone_status hone_pass_open_sizes(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_graph_func *graph = module->members[i].graph;
        if (!graph) continue;
        if (!graph->is_private) HONE_TRY(flatten_inputs(graph));
        HONE_TRY(name_inputs(graph));
        HONE_TRY(hone_rewrite_member(module, i, hone_compose_agreed, NULL));
        graph = module->members[i].graph;
        const uint32_t before = graph->bind_count;
        if (!graph->is_private) HONE_TRY(give_tensors(module, graph, &graph->result));
        if (graph->bind_count != before) graph->result_sinfo = NULL;
    }
    return HONE_OK;
}

/* ---- casts ---- */

typedef struct sizes {
    hone_graph_func *graph;
    const hone_expr **values; /* by variable: what it is, or NULL */
    bool *is_known;           /* an input or a cast before gives it */
    bool has_any;
} sizes;

static void note_known(sizes *s, const hone_sinfo *info) {
    for (int32_t d = 0; info && info->shape && d < info->rank; d++)
        if (info->shape[d]->kind == HONE_EXPR_VAR) s->is_known[info->shape[d]->u.var] = true;
    for (uint32_t i = 0; info && i < info->field_count; i++)
        note_known(s, info->fields[i]);
}

static hone_status read_cast(const hone_module *module, sizes *s, const hone_gbind *bind) {
    hone_ir ir = {.arena = s->graph->arena};
    const hone_sinfo *to = s->graph->values[bind->value].sinfo;
    const hone_sinfo *from = hone_garg_sinfo(module, s->graph, &bind->args[0], ir.arena);
    bool fits = to && from && to->kind == HONE_SINFO_TENSOR && from->kind == HONE_SINFO_TENSOR &&
                to->rank == from->rank && to->shape && from->shape;
    for (int32_t d = 0; fits && d < to->rank; d++) {
        if (to->shape[d]->kind != HONE_EXPR_VAR || s->is_known[to->shape[d]->u.var]) continue;
        hone_var var = to->shape[d]->u.var;
        s->values[var] = hone_expr_substitute(&ir, from->shape[d], s->values, s->graph->var_count);
        s->has_any = true;
        s->is_known[var] = true;
    }
    note_known(s, to);
    return hone_ir_finish(&ir);
}

static hone_status name_casts(const hone_module *module, hone_graph_func *graph) {
    const size_t count = (size_t)graph->var_count + 1;
    sizes s = {.graph = graph,
               .values = hone_arena_zalloc(graph->arena, count * sizeof *s.values),
               .is_known = hone_arena_zalloc(graph->arena, count)};
    if (!s.values || !s.is_known) return no_memory();
    for (uint32_t i = 0; i < graph->param_count; i++)
        note_known(&s, graph->values[i].sinfo);
    for (uint32_t i = 0; i < graph->bind_count; i++)
        if (graph->bindings[i].kind == HONE_GBIND_MATCH_CAST)
            HONE_TRY(read_cast(module, &s, &graph->bindings[i]));
    return s.has_any ? hone_graph_put_sizes(graph, s.values) : HONE_OK;
}

hone_status hone_pass_name_casts(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++)
        if (module->members[i].graph) HONE_TRY(name_casts(module, module->members[i].graph));
    return HONE_OK;
}
