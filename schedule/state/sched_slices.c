/* schedule/state/sched_slices.c - blocks whose instances may meet in one element, but not across
 * the iterations of a loop: D[X[vi], vj] = … may write an element for several vi, yet each vj has a
 * column of its own (and so have the digits of it, and the digits of a loop that is several such
 * axes). A running sum keeps its order in each row: rows are free. And blocks without axes, which
 * use the loops around them as they are. */
#include "schedule/state/schedule_impl.h"

#include "ir/region/relation.h"

bool sch_has_disjoint_slices(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, block);
    const hone_block *self = node->u.block.block;
    if (!sch_is_below_known_conditions(sch, block)) return false;
    if (self->axis_count > 0 && (node->flags & SCH_OPEN)) return false;
    for (uint32_t i = 0; i < self->axis_count; i++) {
        if (self->axes[i].kind > HONE_AXIS_SCAN) return false; /* nobody knows how */
    }
    for (uint32_t w = 0; w < self->write_count; w++) {
        hone_relation rel;
        hone_relation_begin(&rel, &sch->arith, sch->func, self->writes[w].buffer,
                            sch_scope_of(sch, block));
        hone_relation_add_block(&rel, block);
        if (!hone_is_injective_in(&rel, loop)) return false;
    }
    return self->write_count > 0;
}

/* The loops whose iterations meet in elements that the block writes keep their order. */
static bool keeps_order(hone_schedule *sch, hone_node_id block, uint32_t count,
                        const hone_node_id *before, const hone_node_id *after) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (sch_has_disjoint_slices(sch, block, before[i])) continue;
        while (at < count && sch_has_disjoint_slices(sch, block, after[at]))
            at++;
        if (at == count || after[at++] != before[i]) return false;
    }
    return true;
}

bool sch_may_reorder_slices(hone_schedule *sch, uint32_t count, const hone_node_id *before,
                            const hone_node_id *after) {
    uint32_t block_count = 0;
    if (sch_has_loose_statements(sch, before[0])) return false;
    SCH_EACH_BLOCK (sch, before[0], n) {
        if (!keeps_order(sch, n, count, before, after)) return false;
        block_count++;
    }
    return block_count == 1 ||
           (block_count > 1 && sch_carries_no_dependence(sch, before[0], before[count - 1]));
}

bool sch_touch_disjoint(hone_schedule *sch, hone_node_id a, hone_node_id b, hone_buffer buffer,
                        hone_node_id loop) {
    hone_relation one, other;
    if ((sch_node(sch, a)->flags | sch_node(sch, b)->flags) & SCH_OPEN) return false;
    hone_relation_begin(&one, &sch->arith, sch->func, buffer, sch_node(sch, loop)->parent);
    other = one;
    hone_relation_add_block(&one, a);
    hone_relation_add_block(&other, b);
    return hone_is_disjoint(&one, &other);
}

bool sch_carries_no_dependence_between(hone_schedule *sch, hone_node_id a, hone_node_id b,
                                       hone_buffer buffer, hone_node_id loop) {
    hone_relation both;
    if (hone_expr_is_int_value(sch_node(sch, loop)->u.loop.range.extent, 1)) return true;
    if ((sch_node(sch, a)->flags | sch_node(sch, b)->flags) & SCH_OPEN) return false;
    hone_relation_begin(&both, &sch->arith, sch->func, buffer, sch_scope_of(sch, loop));
    hone_relation_add_block(&both, a);
    hone_relation_add_block(&both, b);
    return hone_carries_no_dependence(&both, loop);
}
