/* lower/memory/lower_sizes.c - the pass that loads the sizes of a buffer once.
 * needs: no blocks. keeps: what is computed. What data say of an allocation or a view (extents,
 * strides, offset) holds as it was when that was made, whatever is stored there later:
 *
 *   X = T.alloc_buffer((n[0],))    ⇒    size: T.let = n[0]; X = T.alloc_buffer((size,))
 */
#include "lower/ground/passes.h"

static bool is_load(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_LOAD;
}

/* Names the value of *io where the buffer at n is made, if data are part of it. */
static hone_status name_size(hone_lower *lower, hone_node_id n, const hone_expr **io) {
    hone_func *func = lower->func;
    if (!*io || !hone_expr_find(*io, is_load, NULL)) return HONE_OK;
    hone_node_id let = hone_func_add_node(func, HONE_NODE_LET);
    hone_var var = hone_func_add_var(func, "size", (*io)->dtype);
    if (let == HONE_NO_ID || var == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, let)->u.let.var = var;
    hone_func_node(func, let)->u.let.value = *io;
    hone_tree_insert_before(func, n, let);
    hone_tree_remove(func, n);
    hone_tree_append(func, let, n);
    *io = hone_func_var_expr(&lower->ir, func, var);
    return hone_ir_finish(&lower->ir);
}

static hone_status name_list(hone_lower *lower, hone_node_id n, uint32_t count,
                             const hone_expr *const **io) {
    if (!*io || count == 0) return HONE_OK;
    const hone_expr **named = hone_arena_copy(lower->func->arena, *io, count * sizeof *named);
    if (!named) return LOWER_NO_MEMORY();
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(name_size(lower, n, &named[i]));
    *io = named;
    return HONE_OK;
}

hone_status lower_sizes(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_ALLOC && node->kind != HONE_NODE_DECL) continue;
        hone_buffer buffer = node->u.alloc.buffer;
        hone_buffer_info info = *hone_func_buffer(func, buffer);
        HONE_TRY(name_list(lower, n, info.rank, &info.shape));
        HONE_TRY(name_list(lower, n, info.rank, &info.strides));
        HONE_TRY(name_size(lower, n, &info.elem_offset));
        func->buffers[buffer].shape = info.shape;
        func->buffers[buffer].strides = info.strides;
        func->buffers[buffer].elem_offset = info.elem_offset;
    }
    return HONE_OK;
}
