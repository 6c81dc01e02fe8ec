/* schedule/state/partial_results.c - shows that reading partial results does no harm. */
#include "schedule/state/partial_results.h"

/* ---- no harm: whatever the values are, nothing but its results depends on them ---- */

static bool is_harm(const void *ctx, const hone_expr *e) {
    (void)ctx;
    bool is_pure = true;
    for (uint32_t i = 0; e->kind == HONE_EXPR_LOAD && i < e->count; i++)
        is_pure = is_pure && hone_expr_is_pure_index(e->args[i]);
    return !is_pure || hone_expr_is_effect(e) || hone_expr_may_trap(e);
}

static bool is_harmless_value(const hone_expr *e) {
    return !hone_expr_find(e, is_harm, NULL);
}

static bool is_harmless_store(const hone_node *node) {
    for (uint32_t i = 0; i < node->u.store.rank; i++) {
        if (!hone_expr_is_pure_index(node->u.store.indices[i])) return false;
    }
    return is_harmless_value(node->u.store.value);
}

static bool is_harmless_loop(const hone_node *node) {
    return hone_expr_is_pure_index(node->u.loop.range.min) &&
           hone_expr_is_pure_index(node->u.loop.range.extent);
}

static bool is_harmless(hone_schedule *sch, hone_node_id block) {
    for (hone_node_id n = hone_tree_next(sch->func, block, block); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, block, n)) {
        const hone_node *node = sch_node(sch, n);
        bool is_fine = node->kind == HONE_NODE_STORE
                           ? is_harmless_store(node)
                           : node->kind == HONE_NODE_FOR && is_harmless_loop(node);
        if (!is_fine) return false;
    }
    return true;
}

/* ---- the loop ---- */

static bool reduces_once(hone_schedule *sch, hone_node_id writer, hone_var var) {
    const hone_node *node = sch_node(sch, writer);
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if (node->u.block.block->axes[a].kind == HONE_AXIS_REDUCE) continue;
        if (hone_expr_uses_var(node->u.block.bindings[a], var)) return false;
    }
    return hone_block_init_of(sch->func, writer) != HONE_NO_ID &&
           sch_counts_once(sch, writer, HONE_NO_ID);
}

static bool says(const hone_expr *predicate, const hone_expr *condition) {
    if (!predicate) return false;
    if (hone_expr_same(predicate, condition)) return true;
    return hone_expr_is_op(predicate, HONE_OP_AND) &&
           (says(predicate->args[0], condition) || says(predicate->args[1], condition));
}

/* What the predicate says of the loop, does that of the writer say, too? */
static bool runs_with(const hone_expr *predicate, const hone_expr *of_writer, hone_var var) {
    if (!predicate || !hone_expr_uses_var(predicate, var)) return true;
    if (hone_expr_is_op(predicate, HONE_OP_AND)) {
        return runs_with(predicate->args[0], of_writer, var) &&
               runs_with(predicate->args[1], of_writer, var);
    }
    return says(of_writer, predicate);
}

static bool is_read_below(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_block *b = sch_block(sch, block);
    hone_node_id scope = sch_scope_of(sch, loop);
    SCH_EACH_BLOCK (sch, scope, n) {
        if (n == block || !hone_tree_is_ancestor(sch->func, loop, n)) continue;
        for (uint32_t w = 0; w < b->write_count; w++) {
            if (sch_reads(sch_block(sch, n), b->writes[w].buffer)) return true;
        }
    }
    return false;
}

bool sch_may_read_partial(hone_schedule *sch, hone_node_id writer, hone_node_id reader,
                          const hone_expr *const *bindings, const hone_expr *predicate,
                          hone_node_id loop) {
    hone_var var = sch_node(sch, loop)->u.loop.var;
    hone_loop_kind kind = sch_node(sch, loop)->loop_kind;
    if (kind != HONE_LOOP_SERIAL && kind != HONE_LOOP_UNROLLED) return false;
    for (uint32_t a = 0; a < sch_block(sch, reader)->axis_count; a++) {
        if (hone_expr_uses_var(bindings[a], var)) return false;
    }
    if (!runs_with(predicate, sch_node(sch, writer)->u.block.predicate, var)) return false;
    hone_node_id scope = sch_scope_of(sch, loop);
    return reduces_once(sch, writer, var) &&
           sch_classify(sch, reader, scope, NULL) == SCH_BLOCK_COMPLETE &&
           is_harmless(sch, reader) && !is_read_below(sch, reader, loop);
}

/* ---- what is made of them ---- */

hone_node_id sch_summed_source(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    hone_var var = sch_node(sch, loop)->u.loop.var;
    for (hone_node_id n = sch_next_block(sch, loop, loop); n != HONE_NO_ID && n != block;
         n = sch_next_block(sch, loop, n)) {
        const hone_block *source = sch_block(sch, n);
        bool is_read = false, moves = false;
        for (uint32_t w = 0; w < source->write_count; w++)
            is_read = is_read || sch_reads(sch_block(sch, block), source->writes[w].buffer);
        for (uint32_t a = 0; a < source->axis_count && is_read; a++) {
            if (!hone_expr_uses_var(sch_node(sch, n)->u.block.bindings[a], var)) continue;
            if (source->axes[a].kind == HONE_AXIS_REDUCE) return n;
            moves = true;
        }
        if (!is_read || moves) continue;
        hone_node_id further = sch_summed_source(sch, n, loop);
        if (further != HONE_NO_ID) return further;
    }
    return HONE_NO_ID;
}
