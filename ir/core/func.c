/* ir/core/func.c - tables of a function: making, growing, cloning. */
#include "ir/core/func.h"

#include <string.h>

#include "ir/core/grow.h"

hone_func *hone_func_create(hone_arena *arena, const char *name) {
    hone_func *func = hone_arena_zalloc(arena, sizeof *func);
    if (!func) return NULL;
    func->arena = arena;
    func->name = hone_arena_strdup(arena, name);
    if (!func->name || hone_func_add_node(func, HONE_NODE_TOP) == HONE_NO_ID) return NULL;
    return func;
}

/* Room for what the first steps of a schedule add, so that they do not copy the arrays again. */
enum { CLONE_SLACK = 24 };

static void *copy_array(hone_arena *arena, const void *items, uint32_t count, size_t item_bytes) {
    void *copy = hone_arena_alloc(arena, (count + CLONE_SLACK) * item_bytes);
    if (copy && count) memcpy(copy, items, count * item_bytes);
    return copy;
}

hone_func *hone_func_clone(hone_arena *arena, const hone_func *func) {
    hone_func *copy = hone_arena_alloc(arena, sizeof *copy);
    if (!copy) return NULL;
    *copy = *func;
    copy->arena = arena;
    copy->vars = copy_array(arena, func->vars, func->var_count, sizeof *func->vars);
    copy->buffers = copy_array(arena, func->buffers, func->buffer_count, sizeof *func->buffers);
    copy->nodes = copy_array(arena, func->nodes, func->node_count, sizeof *func->nodes);
    if (!copy->vars || !copy->buffers || !copy->nodes) return NULL;
    copy->var_capacity = func->var_count + CLONE_SLACK;
    copy->buffer_capacity = func->buffer_count + CLONE_SLACK;
    copy->node_capacity = func->node_count + CLONE_SLACK;
    return copy;
}

hone_var hone_func_add_named_var(hone_func *func, const char *name, hone_dtype dtype) {
    if (!hone_grow(func->arena, (void **)&func->vars, &func->var_capacity, func->var_count,
                   sizeof *func->vars)) {
        return HONE_NO_ID;
    }
    func->vars[func->var_count] = (hone_var_info){.name = name, .dtype = dtype};
    return func->var_count++;
}

hone_var hone_func_add_var(hone_func *func, const char *name, hone_dtype dtype) {
    const char *copy = hone_arena_strdup(func->arena, name);
    return copy ? hone_func_add_named_var(func, copy, dtype) : HONE_NO_ID;
}

hone_buffer hone_func_add_buffer(hone_func *func, const hone_buffer_info *info) {
    if (!hone_grow(func->arena, (void **)&func->buffers, &func->buffer_capacity, func->buffer_count,
                   sizeof *func->buffers)) {
        return HONE_NO_ID;
    }
    hone_buffer_info copy = *info;
    copy.name = hone_arena_strdup(func->arena, info->name);
    copy.scope = hone_arena_strdup(func->arena, info->scope ? info->scope : "global");
    if (!copy.name || !copy.scope) return HONE_NO_ID;
    func->buffers[func->buffer_count] = copy;
    return func->buffer_count++;
}

hone_buffer hone_func_add_dense(hone_func *func, const char *name, hone_dtype dtype, size_t rank,
                                const int64_t *shape, const char *scope) {
    hone_ir ir = {.arena = func->arena};
    const hone_expr **extents = hone_arena_alloc(func->arena, (rank + 1) * sizeof *extents);
    if (!extents) return HONE_NO_ID;
    for (size_t i = 0; i < rank; i++) {
        hone_dtype index = shape[i] > INT32_MAX ? HONE_DTYPE_I64 : HONE_DTYPE_I32;
        extents[i] = hone_expr_int(&ir, index, shape[i]);
        if (!extents[i]) {
            hone_status_free(hone_ir_finish(&ir));
            return HONE_NO_ID;
        }
    }
    hone_buffer_info info = {.name = name,
                             .dtype = dtype,
                             .rank = (uint32_t)rank,
                             .shape = extents,
                             .scope = scope,
                             .data = HONE_NO_ID,
                             .alias_of = HONE_NO_ID,
                             .matched_handle = HONE_NO_ID};
    return hone_func_add_buffer(func, &info);
}

hone_node_id hone_func_add_node(hone_func *func, hone_node_kind kind) {
    if (!hone_grow(func->arena, (void **)&func->nodes, &func->node_capacity, func->node_count,
                   sizeof *func->nodes)) {
        return HONE_NO_ID;
    }
    hone_node *node = &func->nodes[func->node_count];
    memset(node, 0, sizeof *node);
    node->kind = (uint8_t)kind;
    node->parent = node->first = node->last = node->prev = node->next = HONE_NO_ID;
    return func->node_count++;
}

hone_node_id hone_func_add_loop(hone_func *func, hone_var var, hone_loop_kind kind,
                                hone_range range) {
    hone_node_id id = hone_func_add_node(func, HONE_NODE_FOR);
    if (id == HONE_NO_ID) return id;
    hone_node *node = hone_func_node(func, id);
    node->loop_kind = (uint8_t)kind;
    node->u.loop.var = var;
    node->u.loop.range = range;
    return id;
}

hone_node_id hone_func_add_store(hone_func *func, hone_buffer buffer, uint32_t rank,
                                 const hone_expr *const *indices, const hone_expr *value) {
    hone_node_id id = value ? hone_func_add_node(func, HONE_NODE_STORE) : HONE_NO_ID;
    if (id == HONE_NO_ID) return id;
    hone_node *node = hone_func_node(func, id);
    node->u.store.buffer = buffer;
    node->u.store.rank = rank;
    node->u.store.indices = indices;
    node->u.store.value = value;
    return id;
}

hone_buffer hone_func_storage(const hone_func *func, hone_buffer buffer) {
    for (uint32_t steps = 0; steps < func->buffer_count && buffer < func->buffer_count &&
                             func->buffers[buffer].alias_of != HONE_NO_ID;
         steps++) {
        buffer = func->buffers[buffer].alias_of;
    }
    return buffer;
}

bool hone_func_is_parameter(const hone_func *func, hone_buffer buffer) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == buffer) return true;
    }
    return false;
}

bool hone_func_takes(const hone_func *func, hone_var var) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].var == var) return true;
    }
    return false;
}

const hone_expr *hone_func_var_expr(hone_ir *ir, const hone_func *func, hone_var var) {
    assert(var < func->var_count);
    return hone_expr_var(ir, func->vars[var].dtype, var);
}

const hone_expr *hone_func_load(hone_ir *ir, const hone_func *func, hone_buffer buffer,
                                const hone_expr *const *indices) {
    const hone_buffer_info *info = hone_func_buffer(func, buffer);
    return hone_expr_load(ir, info->dtype, buffer, info->rank, indices);
}

hone_block *hone_block_copy(hone_arena *arena, const hone_block *block) {
    hone_block *copy = hone_arena_alloc(arena, sizeof *copy);
    if (copy) *copy = *block;
    return copy;
}

int64_t hone_expr_const(const hone_expr *e) {
    return e && e->kind == HONE_EXPR_INT ? e->u.i : -1;
}

int64_t hone_buffer_elements(const hone_buffer_info *buffer) {
    int64_t elements = 1;
    for (uint32_t i = 0; i < buffer->rank; i++) {
        int64_t extent = hone_expr_const(buffer->shape[i]);
        if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) return -1;
    }
    return elements;
}
