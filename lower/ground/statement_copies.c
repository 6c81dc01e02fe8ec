/* lower/ground/statement_copies.c - what a copy of statements must have for itself: variables and
 * allocations. */
#include "lower/ground/passes.h"

/* The variable that a node binds, or NULL. */
static hone_var *bound_by(hone_node *node) {
    if (node->kind == HONE_NODE_FOR) return &node->u.loop.var;
    return node->kind == HONE_NODE_LET ? &node->u.let.var : NULL;
}

hone_status lower_rename_vars(hone_lower *lower, hone_node_id root) {
    hone_func *func = lower->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_var *bound = bound_by(hone_func_node(func, n));
        if (!bound) continue;
        hone_var old = *bound;
        hone_var fresh = hone_func_add_var(func, func->vars[old].name, func->vars[old].dtype);
        if (fresh == HONE_NO_ID) return LOWER_NO_MEMORY();
        const hone_expr *value = hone_func_var_expr(&lower->ir, func, fresh);
        if (!value) return hone_ir_finish(&lower->ir);
        HONE_TRY(lower_substitute_one(func, n, old, value));
        *bound_by(hone_func_node(func, n)) = fresh;
    }
    return HONE_OK;
}

hone_status lower_rename_buffers(hone_func *func, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_ALLOC) continue;
        hone_buffer from = hone_func_node(func, n)->u.alloc.buffer;
        hone_buffer_info info = func->buffers[from];
        hone_buffer to = hone_func_add_buffer(func, &info);
        if (to == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, n)->u.alloc.buffer = to;
        HONE_TRY(hone_tree_rename_buffer(func, n, from, to));
    }
    return HONE_OK;
}
