/* codegen/captures.c - a walk over what is below a node. */
#include "codegen/captures.h"

typedef struct walk {
    const hone_func *func;
    const codegen_captures *c;
} walk;

static bool note_use(void *ctx, const hone_expr *e);

static void use_shape(walk *w, hone_buffer buffer) {
    const hone_buffer_info *info = &w->func->buffers[buffer];
    for (uint32_t d = 0; d < info->rank; d++)
        hone_expr_walk(info->shape[d], note_use, w);
}

static void use_buffer(const walk *w, hone_buffer buffer) {
    while (!w->c->buffers_in_scope[buffer] && w->func->buffers[buffer].alias_of != HONE_NO_ID) {
        buffer = w->func->buffers[buffer].alias_of;
    }
    if (w->c->buffers_in_scope[buffer]) w->c->buffers[buffer] = true;
}

/* Whoever is handed a buffer's address may be handed its shape as well. */
static void use_data(walk *w, hone_var data) {
    for (hone_buffer id = 0; id < w->func->buffer_count; id++) {
        if (w->func->buffers[id].data != data) continue;
        use_buffer(w, id);
        use_shape(w, id);
    }
}

static bool note_use(void *ctx, const hone_expr *e) {
    walk *w = ctx;
    if (e->kind == HONE_EXPR_VAR) {
        if (w->c->vars_in_scope[e->u.var]) w->c->vars[e->u.var] = true;
        if (hone_dtype_is_handle(e->dtype)) use_data(w, e->u.var);
    }
    if (e->kind == HONE_EXPR_LOAD) use_buffer(w, e->u.buffer);
    return true;
}

void codegen_find_captures(const hone_func *func, hone_node_id root, const codegen_captures *out) {
    walk w = {func, out};
    hone_tree_walk_parts(func, root, false, note_use, &w);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE) use_buffer(&w, node->u.store.buffer);
        if (node->kind == HONE_NODE_ALLOC) use_shape(&w, node->u.alloc.buffer);
    }
}
