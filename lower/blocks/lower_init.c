/* lower/blocks/lower_init.c - the pass that makes inits conditional statements.
 * needs: blocks. keeps: everything but INIT nodes, which become the first statements of the body,
 * executed when every reduction axis is at its first value. */
#include "lower/ground/passes.h"

static const hone_expr *at_first(hone_lower *lower, const hone_block *block) {
    const hone_expr *all = NULL;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        if (axis->kind != HONE_AXIS_REDUCE) continue;
        const hone_expr *var = hone_func_var_expr(&lower->ir, lower->func, axis->var);
        all = lower_and(&lower->ir, all,
                        hone_expr_binary(&lower->ir, HONE_OP_EQ, var, axis->dom.min));
    }
    return all;
}

hone_status lower_init_of(hone_lower *lower, hone_node_id block, hone_node_id init) {
    hone_func *func = lower->func;
    const hone_expr *condition = at_first(lower, hone_func_node(func, block)->u.block.block);
    HONE_TRY(hone_ir_finish(&lower->ir));
    if (condition) HONE_TRY(lower_guard_children(func, init, condition));
    lower_splice(func, init);
    return HONE_OK;
}

hone_status lower_init(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        hone_node_id init = hone_block_init_of(func, n);
        if (init != HONE_NO_ID) HONE_TRY(lower_init_of(lower, n, init));
    }
    return HONE_OK;
}
