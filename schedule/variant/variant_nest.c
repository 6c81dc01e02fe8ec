/* schedule/variant/variant_nest.c - see variant_impl.h. */
#include "schedule/variant/variant_impl.h"

static bool read_products(const hone_func *func, hone_node_id block, const hone_node **out_store,
                          const hone_expr *out_factors[2]) {
    hone_node_id init = hone_block_init_of(func, block), body = hone_block_body_of(func, block);
    if (init == HONE_NO_ID || body == HONE_NO_ID) return false;
    const hone_node *start = hone_func_node(func, hone_func_node(func, init)->first);
    const hone_node *store = hone_func_node(func, body);
    *out_store = store;
    if (start->kind != HONE_NODE_STORE || store->kind != HONE_NODE_STORE ||
        store->next != HONE_NO_ID || start->u.store.value->kind != HONE_EXPR_FLOAT ||
        start->u.store.value->u.f != 0 || !hone_expr_is_op(store->u.store.value, HONE_OP_ADD))
        return false;
    const hone_expr *own = store->u.store.value->args[0], *product = store->u.store.value->args[1];
    if (own->kind != HONE_EXPR_LOAD || own->u.buffer != store->u.store.buffer ||
        start->u.store.buffer != store->u.store.buffer || !hone_expr_is_op(product, HONE_OP_MUL))
        return false;
    for (uint32_t d = 0; d < own->count; d++) {
        if (!hone_expr_same(own->args[d], store->u.store.indices[d])) return false;
    }
    out_factors[0] = product->args[0];
    out_factors[1] = product->args[1];
    return true;
}

bool variant_read_sum(const hone_func *func, hone_node_id block, const hone_node **out_store,
                      const hone_expr *out_loads[2]) {
    if (!read_products(func, block, out_store, out_loads)) return false;
    for (int i = 0; i < 2; i++)
        if (out_loads[i]->kind == HONE_EXPR_CAST) out_loads[i] = out_loads[i]->args[0];
    return out_loads[0]->kind == HONE_EXPR_LOAD && out_loads[1]->kind == HONE_EXPR_LOAD;
}

bool variant_read_nest(const hone_func *func, hone_node_id block, hone_node_id *out_nest) {
    const hone_node *node = hone_func_node(func, block);
    const hone_block *b = node->u.block.block;
    hone_node_id at = block, root = hone_func_root_block(func);
    for (uint32_t a = b->axis_count; a-- > 0;) {
        const hone_expr *bound = node->u.block.bindings[a];
        at = hone_func_node(func, at)->parent;
        const hone_node *loop = hone_func_node(func, at);
        if (loop->kind != HONE_NODE_FOR || loop->loop_kind != HONE_LOOP_SERIAL ||
            loop->first != loop->last || loop->u.loop.annotations.count ||
            bound->kind != HONE_EXPR_VAR || bound->u.var != loop->u.loop.var ||
            !hone_expr_same(loop->u.loop.range.extent, b->axes[a].dom.extent))
            return false;
    }
    *out_nest = at;
    return hone_func_node(func, at)->parent == root && at != block && !node->u.block.predicate &&
           b->alloc_count == 0 && b->match_count == 0;
}
