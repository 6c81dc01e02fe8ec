/* graph/passes/bind.c - numbers for symbolic sizes, tensors for parameters.
 * needs: nothing
 * keeps: everything else; a size that no function has is an error
 */
#include <string.h>

#include "graph/passes/graph_passes.h"
#include "graph/passes/specialize.h"
#include "ir/ops/graph_op.h"

/* ---- sizes ---- */

typedef struct size_map {
    const hone_expr *const *values; /* by variable; NULL = stays */
    uint32_t count;
} size_map;

static const hone_expr *const *bind_shape(hone_ir *ir, const size_map *map, uint32_t count,
                                          const hone_expr *const *shape) {
    const hone_expr **copy = hone_arena_alloc(ir->arena, ((size_t)count + 1) * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++) {
        copy[i] = hone_sizes_substitute(ir, shape[i], map->values, map->count);
    }
    return copy;
}

static const hone_sinfo *bind_info(hone_ir *ir, const size_map *map, const hone_sinfo *info) {
    if (!info) return NULL;
    hone_sinfo *copy = hone_arena_copy(ir->arena, info, sizeof *info);
    if (!copy) return NULL;
    if (info->shape && info->rank > 0) {
        copy->shape = bind_shape(ir, map, (uint32_t)info->rank, info->shape);
    }
    if (info->field_count) {
        const hone_sinfo **fields =
            hone_arena_zalloc(ir->arena, info->field_count * sizeof *fields);
        for (uint32_t i = 0; fields && i < info->field_count; i++) {
            fields[i] = bind_info(ir, map, info->fields[i]);
        }
        copy->fields = fields;
    }
    return copy;
}

static hone_garg bind_arg(hone_ir *ir, const size_map *map, hone_garg arg) {
    if (arg.kind == HONE_GARG_SHAPE) {
        arg.u.exprs = bind_shape(ir, map, arg.count, arg.u.exprs);
    } else if (arg.kind == HONE_GARG_PRIM) {
        arg.u.expr = hone_sizes_substitute(ir, arg.u.expr, map->values, map->count);
    } else if (arg.kind == HONE_GARG_TUPLE) {
        hone_garg *items = hone_arena_zalloc(ir->arena, (arg.count + 1) * sizeof *items);
        for (uint32_t i = 0; items && i < arg.count; i++) {
            items[i] = bind_arg(ir, map, arg.u.items[i]);
        }
        arg.u.items = items;
    }
    return arg;
}

static void bind_binding(hone_ir *ir, const size_map *map, hone_gbind *bind) {
    hone_garg *args = hone_arena_zalloc(ir->arena, (bind->arg_count + 1) * sizeof *args);
    for (uint32_t i = 0; args && i < bind->arg_count; i++) {
        args[i] = bind_arg(ir, map, bind->args[i]);
    }
    bind->args = args;
    bind->symbolic = bind_shape(ir, map, bind->symbolic_count, bind->symbolic);
}

/* The number for a size, or NULL. */
static const hone_graph_dim *find_dim(const hone_graph_options *options, const char *name,
                                      bool *used) {
    for (size_t i = 0; i < options->dim_count; i++) {
        if (strcmp(options->dims[i].name, name) == 0) {
            used[i] = true;
            return &options->dims[i];
        }
    }
    return NULL;
}

/* The sizes that a weight's shape gives: w of ("n", 8) that is 4 x 8 makes n = 4. */
static void sizes_of_weights(hone_ir *ir, const hone_graph_func *graph,
                             const hone_graph_options *options, const hone_expr **values) {
    for (size_t w = 0; w < options->weight_count; w++) {
        const hone_tensor *tensor = options->weights[w].tensor;
        for (uint32_t i = 0; i < graph->param_count; i++) {
            const hone_sinfo *info = graph->values[i].sinfo;
            if (strcmp(graph->values[i].name, options->weights[w].name) != 0 || !info ||
                info->kind != HONE_SINFO_TENSOR || !info->shape || info->rank != tensor->rank)
                continue;
            for (int32_t d = 0; d < info->rank; d++) {
                const hone_expr *size = info->shape[d];
                if (size->kind != HONE_EXPR_VAR || values[size->u.var]) continue;
                values[size->u.var] = hone_expr_int(ir, size->dtype, tensor->shape[d]);
            }
        }
    }
}

hone_status hone_graph_put_sizes(hone_graph_func *graph, const hone_expr *const *values) {
    hone_ir ir = {.arena = graph->arena};
    size_map map = {values, graph->var_count};
    for (uint32_t i = 0; i < graph->value_count; i++) {
        graph->values[i].sinfo = bind_info(&ir, &map, graph->values[i].sinfo);
    }
    for (uint32_t i = 0; i < graph->bind_count; i++)
        bind_binding(&ir, &map, &graph->bindings[i]);
    graph->result = bind_arg(&ir, &map, graph->result);
    graph->result_sinfo = bind_info(&ir, &map, graph->result_sinfo);
    return hone_ir_finish(&ir);
}

static hone_status bind_graph_sizes(hone_graph_func *graph, const hone_graph_options *options,
                                    bool *used) {
    hone_ir ir = {.arena = graph->arena};
    const hone_expr **values = hone_arena_zalloc(ir.arena, (graph->var_count + 1) * sizeof *values);
    if (!values) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes");
    for (uint32_t i = 0; i < graph->var_count; i++) {
        const hone_graph_dim *dim = find_dim(options, graph->vars[i].name, used);
        if (dim) values[i] = hone_expr_int(&ir, graph->vars[i].dtype, dim->size);
    }
    sizes_of_weights(&ir, graph, options, values);
    HONE_TRY(hone_ir_finish(&ir));
    return hone_graph_put_sizes(graph, values);
}

static hone_status bind_func_sizes(hone_func *func, const hone_graph_options *options, bool *used) {
    hone_ir ir = {.arena = func->arena};
    const hone_expr **values = hone_arena_zalloc(ir.arena, (func->var_count + 1) * sizeof *values);
    bool any = false;
    if (!values) return HONE_ERROR(HONE_CODE_NO_MEMORY, "sizes");
    for (uint32_t i = 0; i < func->var_count; i++) {
        if (!func->vars[i].is_size) continue;
        const hone_graph_dim *dim = find_dim(options, func->vars[i].name, used);
        if (!dim) continue;
        values[i] = hone_expr_int(&ir, func->vars[i].dtype, dim->size);
        any = true;
    }
    HONE_TRY(hone_ir_finish(&ir));
    return any ? hone_func_bind_sizes(func, values) : HONE_OK;
}

/* ---- weights ---- */

/* Of a module of PrimFuncs alone: whoever compiles them takes the values; they must fit. */
static hone_status check_func_weights(const hone_func *func, const hone_graph_options *options,
                                      bool *used) {
    for (size_t w = 0; w < options->weight_count; w++) {
        const hone_tensor *tensor = options->weights[w].tensor;
        for (uint32_t i = 0; i < func->param_count; i++) {
            if (func->params[i].buffer == HONE_NO_ID) continue;
            const hone_buffer_info *info = &func->buffers[func->params[i].buffer];
            if (strcmp(info->name, options->weights[w].name) != 0) continue;
            bool fits = hone_dtype_equal(info->dtype, tensor->dtype) &&
                        info->rank == (uint32_t)tensor->rank && !info->strides;
            for (uint32_t d = 0; fits && d < info->rank; d++)
                fits = hone_expr_is_int_value(info->shape[d], tensor->shape[d]);
            if (!fits) {
                hone_str have = {0};
                hone_tensor_print_type(tensor, &have);
                hone_status st = HONE_ERROR(HONE_CODE_TYPE,
                                            "'%s': parameter '%s' does not take the given tensor, "
                                            "which is %s",
                                            func->name, info->name, hone_str_text(&have));
                hone_str_deinit(&have);
                return st;
            }
            used[w] = true;
        }
    }
    return HONE_OK;
}

static hone_status check_weight(const hone_graph_func *graph, hone_gvalue value,
                                const hone_tensor *tensor) {
    const hone_sinfo *info = graph->values[value].sinfo;
    bool fits =
        !info ||
        (info->kind == HONE_SINFO_TENSOR &&
         (hone_dtype_is_void(info->dtype) || hone_dtype_equal(info->dtype, tensor->dtype)) &&
         (info->rank < 0 || info->rank == tensor->rank));
    for (int32_t i = 0; fits && info && info->shape && i < info->rank; i++) {
        fits = !hone_expr_is_int(info->shape[i]) || info->shape[i]->u.i == tensor->shape[i];
    }
    if (fits) return HONE_OK;
    hone_str want = {0}, have = {0};
    hone_sinfo_describe(graph, info, &want);
    hone_tensor_print_type(tensor, &have);
    hone_status st =
        HONE_ERROR(HONE_CODE_TYPE, "parameter '%s' is %s, the given tensor is %s",
                   graph->values[value].name, hone_str_text(&want), hone_str_text(&have));
    hone_str_deinit(&want);
    hone_str_deinit(&have);
    return st;
}

static hone_status substitute(hone_graph_func *graph, hone_garg *arg, const hone_garg *map) {
    if (arg->kind == HONE_GARG_VALUE) {
        if (map[arg->u.value].kind != HONE_GARG_NONE) *arg = map[arg->u.value];
    } else if (arg->kind == HONE_GARG_TUPLE) {
        hone_garg *items =
            hone_arena_copy(graph->arena, arg->u.items, (arg->count + !arg->count) * sizeof *items);
        if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
        for (uint32_t i = 0; i < arg->count; i++)
            HONE_TRY(substitute(graph, &items[i], map));
        arg->u.items = items;
    }
    return HONE_OK;
}

hone_status hone_graph_put_args(hone_graph_func *graph, const hone_garg *map) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        hone_gbind *bind = &graph->bindings[i];
        hone_garg *args = hone_arena_copy(graph->arena, bind->args,
                                          (bind->arg_count + !bind->arg_count) * sizeof *args);
        if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
        for (uint32_t a = 0; a < bind->arg_count; a++)
            HONE_TRY(substitute(graph, &args[a], map));
        bind->args = args;
        bind->value = map[bind->value].u.value;
    }
    return substitute(graph, &graph->result, map);
}

/* Values are renumbered: the parameters that stay come first. */
static hone_status drop_params(hone_graph_func *graph, hone_garg *map) {
    hone_gvalue_info *values =
        hone_arena_zalloc(graph->arena, (graph->value_count + 1) * sizeof *values);
    if (!values) return HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
    uint32_t count = 0, params = 0;
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (map[i].kind != HONE_GARG_NONE) continue;
        map[i] = HONE_GARG_OF_VALUE(count);
        values[count++] = graph->values[i];
        params += i < graph->param_count;
    }
    HONE_TRY(hone_graph_put_args(graph, map));
    graph->values = values;
    graph->value_count = graph->value_capacity = count;
    graph->param_count = params;
    return hone_attrs_without(graph->arena, &graph->attrs, "num_input", &graph->attrs)
               ? HONE_OK
               : HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
}

static hone_status bind_graph_weights(hone_module *module, hone_graph_func *graph,
                                      const hone_graph_options *options, bool *used) {
    hone_garg *map = hone_arena_zalloc(graph->arena, (graph->value_count + 1) * sizeof *map);
    if (!map) return HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
    for (uint32_t i = 0; i < graph->value_count; i++)
        map[i].kind = HONE_GARG_NONE;
    bool any = false;
    for (size_t w = 0; w < options->weight_count; w++) {
        const hone_graph_weight *weight = &options->weights[w];
        for (uint32_t i = 0; i < graph->param_count; i++) {
            if (strcmp(graph->values[i].name, weight->name) != 0) continue;
            hone_tensor *copy;
            uint32_t index;
            HONE_TRY(check_weight(graph, i, weight->tensor));
            HONE_TRY(hone_tensor_clone(weight->tensor, &copy));
            HONE_TRY(hone_module_add_constant(module, copy, &index));
            map[i] = HONE_GARG_OF_CONSTANT(index);
            any = used[w] = true;
        }
    }
    return any ? drop_params(graph, map) : HONE_OK;
}

/* ---- the pass ---- */

/* A name that nothing has is a slip of the user's. */
static hone_status check_sizes(const hone_module *module, const hone_graph_options *options,
                               const bool *used) {
    for (size_t i = 0; i < options->dim_count; i++) {
        if (!used[i]) return hone_dim_unknown_in(options->dims[i].name, module);
    }
    return HONE_OK;
}

/* "'x', 'w'" */
static void list_inputs(const hone_module *module, hone_str *out) {
    for (uint32_t m = 0; m < module->member_count; m++) {
        const hone_graph_func *graph = module->members[m].graph;
        for (uint32_t i = 0; graph && i < graph->param_count; i++)
            hone_str_printf(out, "%s'%s'", out->length ? ", " : "", graph->values[i].name);
    }
}

static hone_status check_weights(const hone_module *module, const hone_graph_options *options,
                                 const bool *used) {
    for (size_t i = 0; i < options->weight_count; i++) {
        if (used[i]) continue;
        hone_str inputs = {0};
        list_inputs(module, &inputs);
        bool has_inputs = inputs.length > 0;
        hone_status st = HONE_ERROR(
            HONE_CODE_INVALID,
            "there is no parameter '%s' in this module%s%s; only inputs and the "
            "initializers of an ONNX file are given values",
            options->weights[i].name, has_inputs ? ", there is " : "", hone_str_text(&inputs));
        hone_str_deinit(&inputs);
        return st;
    }
    return HONE_OK;
}

/* The reader of models may have bound it already, to the same number. */
static bool was_bound_before(const hone_module *module, const hone_graph_dim *dim) {
    int64_t size;
    return hone_dim_is_bound(module, dim->name, &size) && size == dim->size;
}

/* Or put a value in the place of one that the model has. */
static bool has_replaced(const hone_module *module, const char *name) {
    const hone_value *bound = hone_attrs_find(&module->attrs, "bound_weights");
    if (!bound || bound->kind != HONE_VALUE_LIST) return false;
    for (uint32_t i = 0; i < bound->count; i++) {
        const hone_value *item = &bound->u.items[i];
        if (item->kind == HONE_VALUE_STRING && strcmp(item->u.s, name) == 0) return true;
    }
    return false;
}

hone_status hone_pass_bind(hone_module *module, const hone_graph_options *options) {
    if (options->dim_count == 0 && options->weight_count == 0) return HONE_OK;
    size_t count = options->dim_count + options->weight_count;
    bool *used = hone_arena_zalloc(module->arena, count + 1);
    if (!used) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    bool has_graph = false;
    for (uint32_t i = 0; i < module->member_count; i++)
        has_graph |= module->members[i].kind == HONE_MEMBER_GRAPH;
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_member *member = &module->members[i];
        if (member->kind == HONE_MEMBER_FUNC) {
            HONE_TRY(bind_func_sizes(member->func, options, used));
            if (has_graph) continue;
            HONE_TRY(check_func_weights(member->func, options, used + options->dim_count));
        } else if (member->kind == HONE_MEMBER_GRAPH) {
            HONE_TRY(bind_graph_sizes(member->graph, options, used));
            HONE_TRY(bind_graph_weights(module, member->graph, options, used + options->dim_count));
        }
    }
    for (size_t i = 0; i < options->dim_count; i++) {
        used[i] |= was_bound_before(module, &options->dims[i]);
    }
    for (size_t i = 0; i < options->weight_count; i++)
        used[options->dim_count + i] |= has_replaced(module, options->weights[i].name);
    HONE_TRY(check_sizes(module, options, used));
    return check_weights(module, options, used + options->dim_count);
}
