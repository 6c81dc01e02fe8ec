/* lower/pipeline/double_buffer.c - T.attr(buffer, "double_buffer_scope", …) around what fills a
 * buffer.
 *
 *   for i in E: attr: B = f(i); g(B)     ⇒     a pipeline: fill at stage 0, the rest at stage 1
 *
 * The innermost loop around becomes a pipelined one, so that iteration i + 1 is filled before i is
 * used. It is a wish: where the fill is not a statement of its own in that loop, or where
 * overlapping would change the program, the loop stays as it is. A loop that has stages of its own
 * keeps them, the buffer gets two copies at least. Views of all of the buffer, as T.Buffer(data=)
 * makes them, become the buffer first. */
#include "lower/pipeline/double_buffer.h"

#include "lower/ground/pipelined.h"

static bool is_wish(const hone_node *node) {
    return lower_is_attr(node, HONE_DOUBLE_BUFFER) && node->u.attr.node.kind == HONE_VALUE_EXPR &&
           node->u.attr.node.u.expr->kind == HONE_EXPR_VAR;
}

/* A buffer that the program allocates; HONE_NO_ID for one of the caller's. */
static hone_buffer buffer_of(const hone_func *func, const hone_node *wish) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        bool is_it = func->buffers[b].data == wish->u.attr.node.u.expr->u.var;
        if (is_it && func->buffers[b].alias_of == HONE_NO_ID) {
            return hone_func_is_parameter(func, b) ? HONE_NO_ID : b;
        }
    }
    return HONE_NO_ID;
}

/* ---- views of all of a buffer ---- */

static bool is_whole_view(const hone_func *func, hone_buffer view, hone_buffer storage) {
    const hone_buffer_info *a = &func->buffers[view], *b = &func->buffers[storage];
    if (a->alias_of != storage || a->rank != b->rank || a->strides || b->strides ||
        b->elem_offset || !hone_dtype_equal(a->dtype, b->dtype)) {
        return false;
    }
    if (a->elem_offset && !hone_expr_is_int_value(a->elem_offset, 0)) return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (!hone_expr_same(a->shape[d], b->shape[d])) return false;
    }
    return a->separator_count == 0 && b->separator_count == 0;
}

/* Blocks say what they read and write, and views may have views or a name: those stay. */
static bool can_merge(const hone_func *func, hone_node_id decl, hone_buffer storage) {
    hone_buffer view = hone_func_node(func, decl)->u.alloc.buffer;
    if (!is_whole_view(func, view, storage)) return false;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (func->buffers[b].alias_of == view) return false;
    }
    for (hone_node_id n = decl; n != HONE_NO_ID; n = hone_tree_next(func, decl, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_BLOCK) return false;
    }
    hone_var data = func->buffers[view].data;
    return data == HONE_NO_ID || data == func->buffers[storage].data;
}

static hone_status merge_views(hone_lower *lower, hone_buffer storage) {
    const hone_func *func = lower->func;
    hone_node_id next;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = next) {
        const hone_node *node = hone_func_node(func, n);
        bool is_decl = node->kind == HONE_NODE_DECL && can_merge(func, n, storage);
        if (!is_decl) {
            next = hone_tree_next(func, 0, n);
            continue;
        }
        next = node->first != HONE_NO_ID ? node->first : hone_tree_next_over(func, 0, n);
        HONE_TRY(hone_tree_rename_buffer(lower->func, n, node->u.alloc.buffer, storage));
        lower_splice(lower->func, n);
    }
    return HONE_OK;
}

/* ---- the loop ---- */

/* The loop of which a node is a statement, whatever the iteration; HONE_NO_ID: none. */
static hone_node_id loop_of_statement(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = hone_func_node(func, id)->parent; n != HONE_NO_ID;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR) return n;
        bool is_box = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL ||
                      (node->kind == HONE_NODE_BLOCK && node->u.block.block->axis_count == 0);
        if (!is_box) break;
    }
    return HONE_NO_ID;
}

static hone_status wish_for(hone_lower *lower, hone_node_id id) {
    hone_func *func = lower->func;
    hone_node *wish = hone_func_node(func, id);
    hone_buffer buffer = buffer_of(func, wish);
    wish->u.attr.key = LOWER_FILL;
    wish->u.attr.node = HONE_VALUE_OF_INT(0);
    if (buffer == HONE_NO_ID) return HONE_OK;
    lower->is_double[buffer] = true;
    HONE_TRY(merge_views(lower, buffer));
    hone_node_id loop = loop_of_statement(func, id);
    if (loop == HONE_NO_ID) return HONE_OK;
    hone_node *node = hone_func_node(func, loop);
    bool is_new = !lower_is_pipelined(node) && node->loop_kind == HONE_LOOP_SERIAL;
    if (!is_new) return HONE_OK;
    hone_attrs *attrs = &node->u.loop.annotations;
    if (!hone_attrs_with(func->arena, attrs, LOWER_PIPELINE_WISH, HONE_VALUE_OF_INT(1), attrs)) {
        return LOWER_NO_MEMORY();
    }
    return HONE_OK;
}

hone_status lower_double_buffers(hone_lower *lower) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(lower->func, 0, n)) {
        if (is_wish(hone_func_node(lower->func, n))) HONE_TRY(wish_for(lower, n));
    }
    return HONE_OK;
}
