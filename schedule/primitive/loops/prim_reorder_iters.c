/* schedule/primitive/loops/prim_reorder_iters.c - reorder_block_iter_var: lists the axes of a block
 * in another order; loops and body stay.
 *
 *     with T.block("C"): vi, vj, vk = T.axis.remap("SSR", [i, j, k])        new_order [2, 0, 1]
 *  →  with T.block("C"): vk, vi, vj = T.axis.remap("RSS", [k, i, j])
 *
 * Checks: new_order is a permutation of the axes. The order of axes has no meaning but to those who
 * count them (reindex, blockize, tensor intrinsics), so nothing can go wrong.
 */
#include "schedule/primitive/primitive_impl.h"

static hone_status check_order(hone_schedule *sch, hone_node_id block, uint32_t count,
                               const int64_t *order) {
    uint32_t axis_count = sch_block(sch, block)->axis_count;
    if (count != axis_count) {
        return sch_refuse(sch, block, "new_order has %u entries, %s has %u axes", count,
                          sch_block_name(sch, block), axis_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (order[i] < 0 || order[i] >= count) {
            return sch_refuse(sch, block, "new_order[%u] is %lld, %s has %u axes", i,
                              (long long)order[i], sch_block_name(sch, block), axis_count);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (order[k] != order[i]) continue;
            return sch_refuse(sch, block, "new_order names axis %lld twice", (long long)order[i]);
        }
    }
    return HONE_OK;
}

hone_status hone_sch_reorder_block_iter_var(hone_schedule *sch, hone_rv block_rv, uint32_t count,
                                            const int64_t *new_order) {
    hone_node_id id;
    HONE_TRY(sch_resolve_block(sch, block_rv, &id));
    HONE_TRY(check_order(sch, id, count, new_order));
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    hone_axis *axes = hone_arena_alloc(sch->arena, (count + 1) * sizeof *axes);
    const hone_expr **bindings = hone_arena_alloc(sch->arena, (count + 1) * sizeof *bindings);
    if (!block || !axes || !bindings) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        axes[i] = block->axes[new_order[i]];
        bindings[i] = sch_node(sch, id)->u.block.bindings[new_order[i]];
    }
    block->axes = axes;
    sch_node(sch, id)->u.block.block = block;
    sch_node(sch, id)->u.block.bindings = bindings;
    return sch_record(sch, HONE_INST_REORDER_BLOCK_ITER_VAR,
                      SCH_ARGS(SCH_RV(block_rv), SCH_LIST(count, numbers, new_order)));
}

SCH_STEP(REORDER_BLOCK_ITER_VAR,
         hone_sch_reorder_block_iter_var(sch, a[0].rv, a[1].count, a[1].list.numbers),
         .gives = HONE_GIVES_NOTHING, .args = {SCH_ARG_BLOCK(0), SCH_ARG("new_order", LIST, 1)});
