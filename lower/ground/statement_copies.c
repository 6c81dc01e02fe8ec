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

typedef struct renaming {
    hone_func *func;
    hone_buffer from, to;
} renaming;

static const hone_expr *rename_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    const renaming *r = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != r->from) return e;
    return hone_expr_load(ir, e->dtype, r->to, e->count, e->args);
}

hone_status lower_rename_buffers(hone_func *func, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_ALLOC) continue;
        renaming r = {.func = func, .from = hone_func_node(func, n)->u.alloc.buffer};
        hone_buffer_info info = func->buffers[r.from];
        r.to = hone_func_add_buffer(func, &info);
        if (r.to == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_func_node(func, n)->u.alloc.buffer = r.to;
        HONE_TRY(hone_tree_transform(func, n, rename_load, &r, false));
        for (hone_node_id s = n; s != HONE_NO_ID; s = hone_tree_next(func, n, s)) {
            hone_node *node = hone_func_node(func, s);
            if (node->kind == HONE_NODE_STORE && node->u.store.buffer == r.from) {
                node->u.store.buffer = r.to;
            }
        }
    }
    return HONE_OK;
}
