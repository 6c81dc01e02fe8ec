/* graph/passes/fusion/pattern.c - looks at programs of one block. */
#include "graph/passes/fusion/pattern.h"

typedef struct loads {
    const hone_func *func;
    const hone_node *store;
    bool is_elementwise, is_broadcast, is_opaque;
    uint32_t count;
} loads;

static bool is_axis(const hone_expr *e) {
    return e->kind == HONE_EXPR_VAR;
}

/* Are the load's indices some of the store's, in order (or constants)? */
static bool is_subsequence(const hone_expr *load, const hone_node *store) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < load->count; i++) {
        if (hone_expr_is_int(load->args[i])) continue;
        while (at < store->u.store.rank &&
               !hone_expr_same(load->args[i], store->u.store.indices[at])) {
            at++;
        }
        if (at++ == store->u.store.rank) return false;
    }
    return true;
}

static bool is_same_index(const hone_expr *load, const hone_node *store) {
    if (load->count != store->u.store.rank) return false;
    for (uint32_t i = 0; i < load->count; i++) {
        if (!hone_expr_same(load->args[i], store->u.store.indices[i])) return false;
    }
    return true;
}

static bool visit_load(void *ctx, const hone_expr *e) {
    loads *l = ctx;
    l->is_opaque |= hone_expr_is_effect(e);
    if (e->kind != HONE_EXPR_LOAD) return true;
    if (e->u.buffer == l->store->u.store.buffer) {
        l->is_opaque = true;
        return true;
    }
    l->count++;
    if (!is_same_index(e, l->store)) l->is_elementwise = false;
    if (!is_subsequence(e, l->store)) l->is_broadcast = false;
    return true;
}

static bool stores_at_axes(const hone_node *store) {
    for (uint32_t i = 0; i < store->u.store.rank; i++) {
        const hone_expr *index = store->u.store.indices[i];
        if (!is_axis(index)) return false;
        for (uint32_t k = 0; k < i; k++) {
            if (hone_expr_same(index, store->u.store.indices[k])) return false;
        }
    }
    return true;
}

static hone_op_pattern spatial_pattern(const hone_func *func, const hone_node *store) {
    loads l = {func, store, true, true, false, 0};
    hone_expr_walk(store->u.store.value, visit_load, &l);
    if (l.is_opaque || !stores_at_axes(store)) return HONE_PATTERN_OPAQUE;
    if (l.is_elementwise) return HONE_PATTERN_ELEMWISE;
    return l.is_broadcast ? HONE_PATTERN_BROADCAST : HONE_PATTERN_INJECTIVE;
}

/* out + a * b, a and b loads (or casts of loads) of other buffers */
static bool is_product_sum(const hone_node *store) {
    const hone_expr *value = store->u.store.value;
    if (!hone_expr_is_op(value, HONE_OP_ADD)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const hone_expr *product = value->args[i];
        if (!hone_expr_is_op(product, HONE_OP_MUL)) continue;
        const hone_expr *a = product->args[0], *b = product->args[1];
        if (a->kind == HONE_EXPR_CAST) a = a->args[0];
        if (b->kind == HONE_EXPR_CAST) b = b->args[0];
        return a->kind == HONE_EXPR_LOAD && b->kind == HONE_EXPR_LOAD;
    }
    return false;
}

/* The only block below the root, its path made of serial loops; HONE_NO_ID otherwise. */
static hone_node_id only_block(const hone_func *func, hone_node_id root) {
    hone_node_id at = hone_block_body_of(func, root);
    while (at != HONE_NO_ID) {
        const hone_node *node = hone_func_node(func, at);
        if (node->next != HONE_NO_ID) return HONE_NO_ID;
        if (node->kind == HONE_NODE_BLOCK) return at;
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_SERIAL) return HONE_NO_ID;
        at = node->first;
    }
    return HONE_NO_ID;
}

static hone_op_pattern block_pattern(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    const hone_block *block = node->u.block.block;
    hone_node_id body = hone_block_body_of(func, id);
    if (body == HONE_NO_ID || node->u.block.predicate || block->alloc_count || block->match_count) {
        return HONE_PATTERN_OPAQUE;
    }
    const hone_node *store = hone_func_node(func, body);
    if (store->kind != HONE_NODE_STORE || store->next != HONE_NO_ID) return HONE_PATTERN_OPAQUE;
    bool has_reduction = false;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].kind == HONE_AXIS_REDUCE)
            has_reduction = true;
        else if (block->axes[i].kind != HONE_AXIS_SPATIAL)
            return HONE_PATTERN_OPAQUE;
    }
    if (!has_reduction) return spatial_pattern(func, store);
    if (hone_block_init_of(func, id) == HONE_NO_ID) return HONE_PATTERN_OPAQUE;
    return is_product_sum(store) ? HONE_PATTERN_OUT_FUSABLE : HONE_PATTERN_REDUCE;
}

hone_op_pattern hone_func_pattern(const hone_func *func) {
    int64_t stated = hone_attrs_int(&func->attrs, "op_pattern", -1);
    if (stated >= 0) {
        bool is_known = stated <= HONE_PATTERN_OUT_FUSABLE;
        return is_known ? (hone_op_pattern)stated : HONE_PATTERN_OPAQUE;
    }
    hone_node_id root = hone_func_root_block(func);
    if (root == HONE_NO_ID) return HONE_PATTERN_OPAQUE;
    hone_node_id block = only_block(func, root);
    return block == HONE_NO_ID ? HONE_PATTERN_OPAQUE : block_pattern(func, block);
}
