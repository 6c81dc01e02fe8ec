/* schedule/state/sched_concurrent.c - loops whose iterations run at once: what they may share, and
 * what others see of it. */
#include "ir/core/concurrent.h"
#include "schedule/state/schedule_impl.h"

/* Does the loop feed an axis that is not spatial, of a block inside of the block? */
static bool accumulates_over(const hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    hone_var var = sch_node(sch, loop)->u.loop.var;
    for (hone_node_id n = hone_tree_next(sch->func, block, block); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, block, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *inner = sch_block(sch, n);
        for (uint32_t a = 0; a < inner->axis_count; a++) {
            if (inner->axes[a].kind != HONE_AXIS_SPATIAL &&
                hone_expr_uses_var(sch_node(sch, n)->u.block.bindings[a], var)) {
                return true;
            }
        }
    }
    return false;
}

bool sch_is_private_below(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    if (sch_is_output_block(sch, block) || accumulates_over(sch, block, loop)) return false;
    hone_node_id scope = sch_scope_of(sch, block);
    SCH_EACH_BLOCK (sch, scope, n) {
        if (hone_tree_is_ancestor(sch->func, loop, n)) continue;
        const hone_block *self = sch_block(sch, block);
        for (uint32_t w = 0; w < self->write_count; w++) {
            hone_buffer buffer = self->writes[w].buffer;
            if (sch_reads(sch_block(sch, n), buffer) || sch_writes(sch_block(sch, n), buffer)) {
                return false;
            }
        }
    }
    return true;
}

bool sch_uses_loop(const hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, block);
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (hone_expr_uses_var(node->u.block.bindings[i], sch_node(sch, loop)->u.loop.var)) {
            return true;
        }
    }
    return false;
}

/* Does the predicate of the block leave one iteration of the loop? */
static bool keeps_one_iteration(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, loop);
    const hone_expr *predicate = sch_node(sch, block)->u.block.predicate;
    if (!predicate) return false;
    uint32_t mark = sch->arith.fact_count;
    hone_arith_push(&sch->arith, predicate);
    const hone_expr *var = sch_var(sch, node->u.loop.var);
    bool is_one = var && hone_prove_less_equal(&sch->arith, var, node->u.loop.range.min);
    hone_arith_pop(&sch->arith, mark);
    return is_one;
}

/* A loop that no axis uses repeats the block: harmless for a complete one only. */
static bool is_unused(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    return !sch_uses_loop(sch, block, loop) &&
           !hone_expr_is_int_value(sch_node(sch, loop)->u.loop.range.extent, 1) &&
           !keeps_one_iteration(sch, block, loop);
}

/* The innermost loop around this one whose iterations have copies of the block's outputs of their
 * own, or HONE_NO_ID: a tile with a halo that compute_at put there. */
static hone_node_id private_around(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    for (hone_node_id n = sch_node(sch, loop)->parent; n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_BLOCK) break;
        if (node->kind == HONE_NODE_FOR && sch_is_private_below(sch, block, n)) return n;
    }
    return HONE_NO_ID;
}

/* An update without an init that several iterations do again: each must see the one before. */
static bool repeats_update(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    return sch_reads_own_output(sch_block(sch, block)) &&
           hone_block_init_of(sch->func, block) == HONE_NO_ID &&
           !sch_counts_once(sch, block, sch_node(sch, loop)->parent);
}

/* Does another block below the loop write what the block reads, while the block comes to a point
 * again in another iteration? It would find something else there each time, and the last is what
 * stays. */
static bool repeats_with_others(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_block *reader = sch_block(sch, block);
    bool reads_others = false;
    SCH_EACH_BLOCK (sch, loop, n) {
        for (uint32_t r = 0; r < reader->read_count && n != block; r++)
            reads_others |= sch_writes(sch_block(sch, n), reader->reads[r].buffer);
    }
    return reads_others && !sch_meets_once(sch, block, sch_node(sch, loop)->parent) &&
           !sch_has_disjoint_slices(sch, block, loop);
}

bool sch_is_independent(hone_schedule *sch, hone_node_id loop, sch_answer *io) {
    if (!io->is_known) *io = (sch_answer){true, sch_carries_no_dependence(sch, loop, loop)};
    return io->is_yes;
}

hone_status sch_require_at_once(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                sch_answer *io) {
    const char *why = NULL;
    bool is_alone =
        sch_next_block(sch, loop, loop) == block && sch_next_block(sch, loop, block) == HONE_NO_ID;
    if (sch_is_order_free(sch, block, &why) && !is_unused(sch, block, loop) &&
        !repeats_update(sch, block, loop) && !repeats_with_others(sch, block, loop))
        return HONE_OK; /* most often, and cheap to ask: the first is remembered */
    if (sch_has_disjoint_slices(sch, block, loop) &&
        (is_alone || sch_is_independent(sch, loop, io)))
        return HONE_OK;
    if (is_alone && keeps_one_iteration(sch, block, loop)) return HONE_OK;
    if (is_unused(sch, block, loop)) {
        return sch_refuse(sch, loop, "%s repeats %s: its iterations would write the same elements",
                          sch_loop_name(sch, loop), sch_block_name(sch, block));
    }
    if (repeats_with_others(sch, block, loop)) {
        return sch_refuse(
            sch, loop,
            "%s repeats instances of %s, which read what is made in it: its iterations "
            "would write the same elements",
            sch_loop_name(sch, loop), sch_block_name(sch, block));
    }
    if (repeats_update(sch, block, loop)) {
        return sch_refuse(sch, loop, "iterations of %s may update the same elements in %s",
                          sch_loop_name(sch, loop), sch_block_name(sch, block));
    }
    if (sch_is_order_free_alone(sch, block, loop)) return HONE_OK;
    hone_node_id around = private_around(sch, block, loop);
    if (around != HONE_NO_ID && sch_is_order_free_below(sch, block, around, &why)) return HONE_OK;
    return sch_refuse(sch, block, "iterations of %s can't run at once: in %s, %s",
                      sch_loop_name(sch, loop), sch_block_name(sch, block), why);
}

bool sch_is_in_concurrent_loop(const hone_schedule *sch, hone_node_id block) {
    hone_node_id n = sch_node(sch, block)->parent;
    while (sch_node(sch, n)->kind == HONE_NODE_FOR && !hone_loop_runs_at_once(sch->func, n, block))
        n = sch_node(sch, n)->parent;
    return sch_node(sch, n)->kind == HONE_NODE_FOR;
}

hone_status sch_require_visible(hone_schedule *sch, hone_node_id writer, hone_node_id place) {
    for (hone_node_id l = sch_node(sch, writer)->parent;
         l != place && !hone_tree_is_ancestor(sch->func, l, place); l = sch_node(sch, l)->parent) {
        if (sch_node(sch, l)->kind == HONE_NODE_BLOCK) writer = l;
        if (hone_loop_runs_at_once(sch->func, l, writer))
            HONE_TRY(sch_require_at_once(sch, writer, l, &(sch_answer){0}));
    }
    return HONE_OK;
}

hone_status sch_require_leavable(hone_schedule *sch, hone_node_id reader, hone_node_id place) {
    uint32_t count = 0;
    const hone_node_id *producers = NULL;
    for (hone_node_id l = sch_node(sch, reader)->parent; sch_node(sch, l)->kind == HONE_NODE_FOR;
         l = sch_node(sch, l)->parent) {
        if (!hone_loop_runs_at_once(sch->func, l, reader) ||
            hone_tree_is_ancestor(sch->func, l, place))
            continue;
        sch_answer asked = {0};
        if (!producers) HONE_TRY(sch_producers(sch, reader, &count, &producers));
        for (uint32_t i = 0; i < count; i++) {
            if (!hone_tree_is_ancestor(sch->func, l, producers[i])) continue;
            HONE_TRY(sch_require_at_once(sch, producers[i], l, &asked));
        }
    }
    return HONE_OK;
}
