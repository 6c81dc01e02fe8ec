/* ir/region/touches.c - looks for loads, stores, addresses and views of a buffer. */
#include "ir/region/touches.h"

typedef struct search {
    const hone_func *func;
    hone_buffer buffer;
    bool of_address; /* looks for addresses, else for loads */
    bool is_found;
} search;

static bool is_address_of(const search *s, const hone_expr *e) {
    hone_var data = hone_func_buffer(s->func, s->buffer)->data;
    if (e->kind == HONE_EXPR_VAR) return data != HONE_NO_ID && e->u.var == data;
    bool is_address = hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) ||
                      hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR);
    return is_address && e->count && e->args[0]->kind == HONE_EXPR_LOAD &&
           e->args[0]->u.buffer == s->buffer;
}

static bool look_inside(void *ctx, const hone_expr *e) {
    search *s = ctx;
    if (s->of_address)
        s->is_found = s->is_found || is_address_of(s, e);
    else if (e->kind == HONE_EXPR_LOAD && e->u.buffer == s->buffer)
        s->is_found = true;
    return !s->is_found;
}

static void look_at(void *ctx, hone_node_id at, const hone_expr *e) {
    search *s = ctx;
    (void)at;
    if (!s->is_found) hone_expr_walk(e, look_inside, ctx);
}

bool hone_expr_loads(const hone_expr *e, hone_buffer buffer) {
    search s = {.buffer = buffer};
    hone_expr_walk(e, look_inside, &s);
    return s.is_found;
}

bool hone_loads_below(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    search s = {.func = func, .buffer = buffer};
    hone_tree_walk_exprs(func, top, false, look_at, &s);
    return s.is_found;
}

bool hone_stores_below(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(func, top, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == buffer) return true;
    }
    return false;
}

bool hone_expr_takes_address(const hone_func *func, const hone_expr *e, hone_buffer buffer) {
    search s = {.func = func, .buffer = buffer, .of_address = true};
    hone_expr_walk(e, look_inside, &s);
    return s.is_found;
}

bool hone_takes_address_below(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    search s = {.func = func, .buffer = buffer, .of_address = true};
    hone_tree_walk_exprs(func, top, false, look_at, &s);
    return s.is_found;
}

bool hone_has_opaque_access(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    bool is_found = hone_takes_address_below(func, top, buffer);
    for (hone_node_id n = top; n != HONE_NO_ID && !is_found; n = hone_tree_next(func, top, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = hone_func_node(func, n)->u.block.block;
        for (uint32_t i = 0; i < block->match_count; i++)
            is_found = is_found || block->matches[i].source.buffer == buffer;
    }
    return is_found;
}

bool hone_has_alias(const hone_func *func, hone_buffer buffer) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (hone_func_buffer(func, b)->alias_of == buffer) return true;
    }
    return false;
}

bool hone_jumps_below(const hone_func *func, hone_node_id top) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(func, top, n)) {
        uint8_t kind = hone_func_node(func, n)->kind;
        if (kind == HONE_NODE_BREAK || kind == HONE_NODE_CONTINUE) return true;
    }
    return false;
}
