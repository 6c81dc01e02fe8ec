/* graph/passes/out_of_place.c - see out_of_place.h. */
#include "graph/passes/out_of_place.h"

uint32_t hone_func_tensor_count(const hone_func *func) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < func->param_count; i++)
        count += func->params[i].buffer != HONE_NO_ID;
    return count;
}

static const hone_param *tensor_at(const hone_func *func, uint32_t number) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        if (number-- == 0) return &func->params[i];
    }
    return NULL;
}

bool hone_func_changes(const hone_func *func, uint32_t tensor) {
    hone_buffer buffer = tensor_at(func, tensor)->buffer;
    for (hone_node_id id = 0; id != HONE_NO_ID; id = hone_tree_next(func, 0, id)) {
        const hone_node *node = hone_func_node(func, id);
        bool is_store = node->kind == HONE_NODE_STORE;
        if (is_store && hone_func_storage(func, node->u.store.buffer) == buffer) return true;
    }
    return false;
}

static const hone_expr *zero_of(hone_ir *ir, hone_dtype dtype) {
    if (hone_dtype_is_bool(dtype)) return hone_expr_bool(ir, false);
    return hone_dtype_is_float(dtype) ? hone_expr_float(ir, dtype, 0) : hone_expr_int(ir, dtype, 0);
}

/* for i, j, ...: to[i, j, ...] = from[i, j, ...], or 0; the outermost loop, or the store. */
static hone_node_id copy_nest(hone_func *func, hone_ir *ir, hone_buffer to, hone_buffer from) {
    const hone_buffer_info info = *hone_func_buffer(func, to);
    const hone_expr **at = hone_arena_zalloc(func->arena, (info.rank + 1) * sizeof *at);
    hone_node_id outer = HONE_NO_ID, inner = HONE_NO_ID;
    for (uint32_t d = 0; at && d < info.rank; d++) {
        hone_dtype dtype = info.shape[d]->dtype;
        hone_var var = hone_func_add_var(func, "c", dtype);
        hone_range range = {hone_expr_int(ir, dtype, 0), info.shape[d]};
        hone_node_id loop = hone_func_add_loop(func, var, HONE_LOOP_SERIAL, range);
        if (var == HONE_NO_ID || loop == HONE_NO_ID) return HONE_NO_ID;
        at[d] = hone_func_var_expr(ir, func, var);
        if (d) hone_tree_append(func, inner, loop);
        if (!d) outer = loop;
        inner = loop;
    }
    const hone_expr *value = !at                  ? NULL
                             : from == HONE_NO_ID ? zero_of(ir, info.dtype)
                                                  : hone_func_load(ir, func, from, at);
    hone_node_id store = hone_func_add_store(func, to, info.rank, at, value);
    if (store == HONE_NO_ID) return HONE_NO_ID;
    if (outer == HONE_NO_ID) return store;
    hone_tree_append(func, inner, store);
    return outer;
}

/* copy_nest in front of all that the program does. */
static hone_status begin_with(hone_func *func, hone_ir *ir, hone_buffer to, hone_buffer from) {
    hone_node_id root = func->is_scheduled_form ? hone_func_root_block(func) : 0;
    hone_node_id nest = copy_nest(func, ir, to, from);
    if (nest == HONE_NO_ID) return HONE_NO_MEMORY("program");
    hone_tree_prepend(func, root == HONE_NO_ID ? 0 : root, nest);
    return HONE_OK;
}

hone_status hone_func_begin_as_zeros(hone_func *func, hone_buffer buffer) {
    hone_ir ir = {.arena = func->arena};
    hone_status st = begin_with(func, &ir, buffer, HONE_NO_ID);
    return hone_status_join(st, hone_ir_finish(&ir));
}

/* Another parameter like this one, which is copied into it. */
static hone_status add_source(hone_func *func, hone_ir *ir, hone_buffer to, hone_param *out) {
    hone_buffer_info info = *hone_func_buffer(func, to);
    info.name = hone_arena_printf(func->arena, "%s_before", info.name);
    info.data = info.matched_handle = HONE_NO_ID;
    info.line = info.column = 0;
    *out = (hone_param){.var = HONE_NO_ID, .buffer = hone_func_add_buffer(func, &info)};
    if (!info.name || out->buffer == HONE_NO_ID) return HONE_NO_MEMORY("program");
    return begin_with(func, ir, to, out->buffer);
}

static bool is_result(const hone_param_use *use, uint32_t tensor) {
    for (uint32_t i = 0; i < use->result_count; i++) {
        if (use->results[i] == tensor) return true;
    }
    return false;
}

static hone_status make_params(hone_func *func, hone_ir *ir, const hone_param_use *use) {
    uint32_t count = 0;
    size_t room = (size_t)func->param_count + use->result_count + 1;
    hone_param *params = hone_arena_zalloc(func->arena, room * sizeof *params);
    if (!params) return HONE_NO_MEMORY("program");
    for (uint32_t i = 0; i < use->input_count; i++) {
        const hone_param *param = tensor_at(func, use->inputs[i]);
        params[count] = *param;
        if (is_result(use, use->inputs[i]))
            HONE_TRY(add_source(func, ir, param->buffer, &params[count]));
        count++;
    }
    for (uint32_t i = 0; i < use->result_count; i++)
        params[count++] = *tensor_at(func, use->results[i]);
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) params[count++] = func->params[i];
    }
    func->params = params;
    func->param_count = count;
    return hone_ir_finish(ir);
}

hone_status hone_func_out_of_place(const hone_func *func, const hone_param_use *use,
                                   hone_arena *arena, const char *name, hone_func **out_func) {
    hone_func *copy = hone_func_copy_deep(arena, func);
    if (!copy) return HONE_NO_MEMORY("program");
    hone_ir ir = {.arena = arena};
    copy->name = name;
    bool has_symbol = hone_attrs_find(&copy->attrs, "global_symbol") != NULL;
    if (has_symbol && !hone_attrs_with(arena, &copy->attrs, "global_symbol",
                                       HONE_VALUE_OF_STRING(name), &copy->attrs)) {
        return HONE_NO_MEMORY("program");
    }
    *out_func = copy;
    return make_params(copy, &ir, use);
}
