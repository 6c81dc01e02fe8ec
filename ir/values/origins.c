/* ir/values/origins.c - marks the buffers that a value was computed from. */
#include "ir/values/origins.h"

typedef struct origins {
    const hone_func *func;
    bool *buffers, *vars;
    bool is_new; /* something was marked */
} origins;

static bool mark(void *ctx, const hone_expr *e) {
    origins *o = ctx;
    bool *at = e->kind == HONE_EXPR_LOAD  ? &o->buffers[e->u.buffer]
               : e->kind == HONE_EXPR_VAR ? &o->vars[e->u.var]
                                          : NULL;
    if (at && !*at) *at = o->is_new = true;
    return true;
}

static void mark_all(origins *o, uint32_t count, const hone_expr *const *list) {
    for (uint32_t i = 0; i < count; i++)
        hone_expr_walk(list[i], mark, o);
}

static void mark_block(origins *o, const hone_node *node) {
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (o->vars[block->axes[i].var]) hone_expr_walk(node->u.block.bindings[i], mark, o);
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        hone_buffer of = block->matches[i].source.buffer;
        if (!o->buffers[block->matches[i].buffer] || o->buffers[of]) continue;
        o->buffers[of] = o->is_new = true;
    }
}

/* What makes something that is marked already. */
static void mark_makers(origins *o, const hone_node *node) {
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        if (!o->vars[node->u.loop.var]) break;
        hone_expr_walk(node->u.loop.range.min, mark, o);
        hone_expr_walk(node->u.loop.range.extent, mark, o);
        break;
    case HONE_NODE_BLOCK:
        mark_block(o, node);
        break;
    case HONE_NODE_LET:
        if (o->vars[node->u.let.var]) hone_expr_walk(node->u.let.value, mark, o);
        break;
    case HONE_NODE_STORE:
        if (!o->buffers[node->u.store.buffer]) break;
        hone_expr_walk(node->u.store.value, mark, o);
        mark_all(o, node->u.store.rank, node->u.store.indices);
        break;
    default:
        break;
    }
}

bool hone_origins_of(const hone_func *func, hone_arena *arena, const hone_expr *value,
                     bool *by_buffer) {
    origins o = {.func = func, .buffers = by_buffer};
    o.vars = hone_arena_zalloc(arena, (size_t)func->var_count + 1);
    if (!o.vars) return false;
    hone_expr_walk(value, mark, &o);
    while (o.is_new) {
        o.is_new = false;
        for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n))
            mark_makers(&o, hone_func_node(func, n));
        for (hone_buffer b = 0; b < func->buffer_count; b++) {
            hone_buffer of = func->buffers[b].alias_of;
            if (by_buffer[b] && of != HONE_NO_ID && !by_buffer[of]) by_buffer[of] = o.is_new = true;
        }
    }
    return true;
}
