/* tests/support/annotate_loops.c - gives loops random kinds that are legal. */
#include "tests/support/annotate_loops.h"

/* There are blocks below the loop; every one binds the variable to spatial axes and nothing else.
 */
static bool is_spatial(const hone_func *func, hone_node_id loop) {
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    bool has_blocks = false, is_used_everywhere = true, is_reduced = false;
    for (hone_node_id n = hone_func_node(func, loop)->first; n != HONE_NO_ID;
         n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        bool is_used = false;
        for (uint32_t i = 0; i < block->axis_count; i++) {
            if (!hone_expr_uses_var(node->u.block.bindings[i], var)) continue;
            is_used = true;
            is_reduced |= block->axes[i].kind != HONE_AXIS_SPATIAL;
        }
        has_blocks = true;
        is_used_everywhere &= is_used;
    }
    return has_blocks && is_used_everywhere && !is_reduced;
}

uint32_t test_annotate_loops(hone_func *func, hone_rng *rng) {
    uint32_t changed = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        uint64_t dice = hone_rng_next(rng) % 8;
        bool may = is_spatial(func, n), is_counted = hone_expr_is_int(node->u.loop.range.extent);
        if (dice == 0 && may)
            node->loop_kind = HONE_LOOP_PARALLEL;
        else if (dice <= 2 && may && is_counted)
            node->loop_kind = HONE_LOOP_VECTORIZED;
        else if (dice == 3 && is_counted)
            node->loop_kind = HONE_LOOP_UNROLLED;
        changed += node->loop_kind != HONE_LOOP_SERIAL;
        if (dice == 5 || dice == 6) { /* any loop may be asked: what is no reduction stays */
            (void)hone_attrs_with(func->arena, &node->u.loop.annotations, "pragma_vector_reduce",
                                  HONE_VALUE_OF_INT((int64_t)(dice * 4 - 19)),
                                  &node->u.loop.annotations);
            changed++;
        }
        if (dice == 7) {
            uint64_t ahead = hone_rng_next(rng) % 40;
            (void)hone_attrs_with(func->arena, &node->u.loop.annotations,
                                  ahead % 2 ? "pragma_prefetch" : "pragma_prefetch_stores",
                                  HONE_VALUE_OF_INT((int64_t)(ahead / 2)),
                                  &node->u.loop.annotations);
            changed++;
        }
        if (dice != 4) continue;
        int64_t step = (int64_t)(hone_rng_next(rng) % 128);
        (void)hone_attrs_with(func->arena, &node->u.loop.annotations, "pragma_auto_unroll_max_step",
                              HONE_VALUE_OF_INT(step), &node->u.loop.annotations);
        changed++;
    }
    return changed;
}
