/* lower/blocks/lower_blocks.c - the pass that dissolves blocks.
 * needs: no INIT, no matched buffers. keeps: loops, statements, order. Afterwards there are no
 * blocks: their axes are replaced by what they are bound to, predicates are IF nodes, allocations
 * are ALLOC nodes. */
#include <string.h>

#include "lower/ground/passes.h"

/* Annotations on a block that speak to loops move to the loops directly below it. */
static hone_status push_pragmas(hone_func *func, hone_node_id node, const hone_block *block) {
    for (uint32_t i = 0; i < block->annotations.count; i++) {
        const hone_attr *attr = &block->annotations.items[i];
        if (strncmp(attr->key, "pragma_", 7) != 0) continue;
        LOWER_EACH_CHILD (func, node, c) {
            hone_node *loop = hone_func_node(func, c);
            if (loop->kind != HONE_NODE_FOR) continue;
            if (hone_attrs_find(&loop->u.loop.annotations, attr->key)) continue;
            if (!hone_attrs_with(func->arena, &loop->u.loop.annotations, attr->key, attr->value,
                                 &loop->u.loop.annotations)) {
                return LOWER_NO_MEMORY();
            }
        }
    }
    return HONE_OK;
}

/* map: by variable, all NULL between blocks. */
static hone_status substitute_axes(hone_func *func, hone_node_id node, const hone_block *block,
                                   const hone_expr **map) {
    if (block->axis_count == 0) return HONE_OK;
    const hone_expr *const *bindings = hone_func_node(func, node)->u.block.bindings;
    for (uint32_t i = 0; i < block->axis_count; i++)
        map[block->axes[i].var] = bindings[i];
    LOWER_EACH_CHILD (func, node, c) {
        HONE_TRY(lower_substitute(func, c, map, func->var_count));
    }
    for (uint32_t i = 0; i < block->axis_count; i++)
        map[block->axes[i].var] = NULL;
    return HONE_OK;
}

/* Wraps all children of node into one ALLOC. */
static hone_status add_alloc(hone_func *func, hone_node_id node, hone_buffer buffer) {
    hone_node_id alloc = hone_func_add_node(func, HONE_NODE_ALLOC);
    if (alloc == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, alloc)->u.alloc.buffer = buffer;
    hone_tree_move_children(func, node, alloc);
    hone_tree_append(func, node, alloc);
    return HONE_OK;
}

static hone_status remove_block(hone_func *func, hone_node_id node, const hone_expr **map) {
    const hone_block *block = hone_func_node(func, node)->u.block.block;
    const hone_expr *predicate = hone_func_node(func, node)->u.block.predicate;
    HONE_TRY(push_pragmas(func, node, block));
    HONE_TRY(substitute_axes(func, node, block, map));
    for (uint32_t i = block->alloc_count; i > 0; i--) {
        HONE_TRY(add_alloc(func, node, block->allocs[i - 1]));
    }
    if (predicate && !hone_expr_is_int_value(predicate, 1))
        HONE_TRY(lower_guard_children(func, node, predicate));
    lower_splice(func, node);
    return HONE_OK;
}

/* Without the block there is nothing that an init or a view could belong to. */
static hone_status check_needs(const hone_func *func) {
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID;
         n = hone_tree_next(func, HONE_NODE_TOP, n)) {
        const hone_node *node = hone_func_node(func, n);
        bool is_init = node->kind == HONE_NODE_INIT;
        if (!is_init && (node->kind != HONE_NODE_BLOCK || !node->u.block.block->match_count))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "a block has %s, pass '%s' comes before",
                          is_init ? "an init" : "a matched buffer",
                          is_init ? "lower_init" : "lower_match");
    }
    return HONE_OK;
}

hone_status lower_blocks(hone_lower *lower) {
    hone_func *func = lower->func;
    hone_node_id next;
    HONE_TRY(check_needs(func));
    const hone_expr **map = hone_arena_zalloc(func->arena, (func->var_count + 1) * sizeof *map);
    if (!map) return LOWER_NO_MEMORY();
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID; n = next) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) {
            next = hone_tree_next(func, HONE_NODE_TOP, n);
            continue;
        }
        next = hone_func_node(func, n)->first; /* it moves up to where the block was */
        hone_node_id after = hone_tree_next_over(func, HONE_NODE_TOP, n);
        HONE_TRY(remove_block(func, n, map));
        if (next == HONE_NO_ID) next = after;
    }
    func->is_scheduled_form = false;
    return HONE_OK;
}
