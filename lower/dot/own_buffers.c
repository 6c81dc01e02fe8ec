/* lower/dot/own_buffers.c - which buffers nobody else sees. */
#include "lower/dot/own_buffers.h"

typedef struct search {
    const hone_func *func;
    bool *is_own;
} search;

static void find_allocated(const search *s) {
    const hone_func *func = s->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_ALLOC) s->is_own[node->u.alloc.buffer] = true;
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->alloc_count; i++)
            s->is_own[node->u.block.block->allocs[i]] = true;
    }
}

/* A buffer that has another name may be anything. */
static void drop_shared(const search *s) {
    const hone_func *func = s->func;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        hone_buffer alias = func->buffers[b].alias_of;
        if (alias != HONE_NO_ID) s->is_own[b] = s->is_own[alias] = false;
    }
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->match_count; i++)
            s->is_own[node->u.block.block->matches[i].source.buffer] = false;
    }
}

static bool drop_addressed(void *ctx, const hone_expr *e) {
    const search *s = ctx;
    if (e->kind != HONE_EXPR_VAR || !hone_dtype_is_handle(e->dtype)) return true;
    for (hone_buffer i = 0; i < s->func->buffer_count; i++)
        s->is_own[i] &= s->func->buffers[i].data != e->u.var;
    return true;
}

void lower_find_own_buffers(const hone_func *func, bool *is_own) {
    search s = {func, is_own};
    find_allocated(&s);
    drop_shared(&s);
    hone_tree_walk_parts(func, 0, false, drop_addressed, &s);
}
