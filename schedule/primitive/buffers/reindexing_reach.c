/* schedule/primitive/buffers/reindexing_reach.c - what the copies for a nested block may read. A
 * copy of what a nested block reads runs over all values of its axes, in each run of the block
 * around it. What it reads was written there, or the block reads all of it itself. */
#include "schedule/primitive/buffers/reindexing_indices.h"

bool sch_is_copied_axis(const sch_reindexing *r, hone_var var) {
    for (uint32_t i = 0; i < r->axis_count; i++) {
        if (r->axes[i].var == var) return true;
    }
    return false;
}

bool sch_is_copied_loop(const sch_reindexing *r, hone_var loop) {
    const hone_node *node = sch_node(r->s.sch, r->s.block);
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (sch_is_copied_axis(r, node->u.block.block->axes[i].var) &&
            hone_expr_uses_var(node->u.block.bindings[i], loop)) {
            return true;
        }
    }
    return false;
}

/* All that the place can be, over the axes, was surely written before the block. */
static bool is_written(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_block *block = sch_block(sch, r->s.block);
    uint32_t count = sch->func->var_count;
    bool *marks = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *marks), is_covered;
    hone_range *ranges = hone_arena_alloc(sch->arena, (r->s.rank + 1) * sizeof *ranges);
    if (!marks || !ranges) return false;
    for (uint32_t i = 0; i < block->axis_count; i++)
        marks[block->axes[i].var] = true;
    for (uint32_t d = 0; d < r->s.rank; d++) {
        const hone_expr *index = r->indices[d];
        if (!hone_expr_is_pure_index(index)) return false;
        hone_interval span = hone_arith_relax(&sch->arith, index, marks, count, NULL);
        if (!hone_interval_range(&sch->arith, span, index->dtype, &ranges[d])) return false;
    }
    const hone_region all = {r->s.buffer, ranges};
    if (sch_has_writer_before(sch, r->s.scope, r->s.block, &all, &is_covered)) return is_covered;
    return sch_was_written_outside(sch, r->s.scope, &all);
}

/* Is a part of the predicate on other loops than those that the copies have, or on none? */
static bool loses_condition(const sch_reindexing *r, const hone_expr *e) {
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        return loses_condition(r, e->args[0]) || loses_condition(r, e->args[1]);
    }
    bool is_kept = false;
    for (hone_node_id n = sch_node(r->s.sch, r->s.block)->parent; n != r->s.scope && r->keeps_loops;
         n = sch_node(r->s.sch, n)->parent) {
        hone_var var = sch_node(r->s.sch, n)->u.loop.var;
        if (!hone_expr_uses_var(e, var)) continue;
        if (!sch_is_copied_loop(r, var)) return true;
        is_kept = true;
    }
    return !is_kept;
}

/* Is the buffer loaded below e whatever holds? */
static bool loads_always(const sch_reindexing *r, const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == r->s.buffer) return true;
    bool is_choice = e->kind == HONE_EXPR_SELECT || hone_expr_is_op(e, HONE_OP_AND) ||
                     hone_expr_is_op(e, HONE_OP_OR) ||
                     hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE);
    uint32_t count = is_choice && e->count ? 1 : e->count;
    for (uint32_t i = 0; i < count; i++) {
        if (loads_always(r, e->args[i])) return true;
    }
    return false;
}

bool sch_loads_always(const sch_reindexing *r) {
    hone_node_id store = sch_single_store(r->s.sch, r->s.block);
    return store != HONE_NO_ID && sch_node(r->s.sch, store)->parent == r->s.block &&
           loads_always(r, sch_node(r->s.sch, store)->u.store.value);
}

/* The copies also run where the block does not because of its predicate, and load what it loads
 * under a condition. */
static hone_status check_conditions(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_expr *predicate = sch_node(sch, r->s.block)->u.block.predicate;
    bool loses =
        predicate && !sch_predicate_follows(sch, r->s.block) && loses_condition(r, predicate);
    if ((!loses && sch_loads_always(r)) || is_written(r)) return sch_ir_error(sch);
    return sch_refuse(sch, r->s.block,
                      "a condition on %s leaves out places of '%s' that a copy would read",
                      sch_block_name(sch, r->s.block), sch_buffer_name(sch, r->s.buffer));
}

/* In a block of the program, more than the nest reads may never have been written around it. */
hone_status sch_check_reach(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_node *node = sch_node(sch, r->s.block);
    bool *marks = NULL;
    if (r->s.is_write || r->s.scope == hone_func_root_block(sch->func)) return HONE_OK;
    HONE_TRY(sch_mark_loops(sch, r->s.block, r->s.scope, &marks));
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        const hone_axis *axis = &node->u.block.block->axes[i];
        if (!sch_is_copied_axis(r, axis->var)) continue;
        hone_interval reach = hone_arith_relax(&sch->arith, node->u.block.bindings[i], marks,
                                               sch->func->var_count, NULL);
        const hone_expr *one = hone_expr_int(&sch->ir, axis->dom.extent->dtype, 1);
        const hone_expr *last = hone_expr_sub(&sch->ir, axis->dom.extent, one);
        if (hone_prove_contains(&sch->arith, reach, (hone_interval){axis->dom.min, last})) continue;
        return sch_refuse(sch, r->s.block, "%s runs over a part of axis '%s' only",
                          sch_block_name(sch, r->s.block), sch->func->vars[axis->var].name);
    }
    return check_conditions(r);
}
