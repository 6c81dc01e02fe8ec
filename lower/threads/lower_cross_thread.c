/* lower/threads/lower_cross_thread.c - the pass for reductions over threads.
 * needs: blocks. keeps: what is computed. A loop over threads (or blocks of them) by which a block
 * counts a reduction axis carries a sum from one iteration to the next. It becomes a loop of one
 * thread, which the others wait for. */
#include "ir/core/concurrent.h"
#include "lower/threads/threads.h"

/* A binding of a reduction axis of the block uses the variable; names (LET) stand for others. */
static bool reduces_over(const hone_func *func, hone_node_id id, hone_var var) {
    const hone_node *node = hone_func_node(func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].kind == HONE_AXIS_SPATIAL) continue;
        if (hone_expr_uses_var(node->u.block.bindings[i], var)) return true;
    }
    return false;
}

/* A block below the loop reduces over it, by its axes or by those of blocks in between. */
static bool carries_sum(const hone_func *func, hone_node_id loop) {
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_BLOCK && reduces_over(func, n, var))
            return true;
    }
    return false;
}

hone_status lower_cross_thread(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (!hone_loop_is_of_threads(node) || !carries_sum(func, n)) continue;
        node->loop_kind = HONE_LOOP_SERIAL;
        node->u.loop.thread_tag = NULL;
    }
    return HONE_OK;
}
