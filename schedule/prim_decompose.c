#include "schedule/schedule_impl.h"

#include <string.h>

/* decompose_reduction: takes the init of a reduction block out, into a block of its own in front of
 * a loop.
 *     for i, k: with block C: init: C[i] = 0;  C[i] += A[i, k]
 *  →  for i_init: C[i_init] = 0
 *     for i, k: C[i] += A[i, k]
 *
 * Checks: the block is a reduction; the loop is around it; each loop outside that one feeds spatial
 * axes only (another would start anew in each of its iterations); no condition of the predicate
 * speaks of both loops that the init leaves out and loops that it keeps; who else reads the result
 * below the loop reads it behind the block. */

static bool feeds_axis(const hone_schedule *sch, hone_node_id block, hone_var var,
                       hone_axis_kind kind) {
    const hone_node *node = sch_node(sch, block);
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (node->u.block.block->axes[i].kind != kind) continue;
        if (hone_expr_uses_var(node->u.block.bindings[i], var)) return true;
    }
    return false;
}

/* A loop outside the one that the init shall stand before. */
static hone_status check_outer(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                               hone_node_id outer) {
    hone_var var = sch_node(sch, outer)->u.loop.var;
    if (feeds_axis(sch, block, var, HONE_AXIS_REDUCE)) {
        return sch_refuse(sch, outer, "%s, outside %s, feeds a reduce axis of %s",
                          sch_loop_name(sch, outer), sch_loop_name(sch, loop),
                          sch_block_name(sch, block));
    }
    if (feeds_axis(sch, block, var, HONE_AXIS_SPATIAL) ||
        hone_expr_is_int_value(sch_node(sch, outer)->u.loop.range.extent, 1)) {
        return HONE_OK;
    }
    return sch_refuse(sch, outer, "%s, outside %s, feeds no axis of %s: the init would be repeated",
                      sch_loop_name(sch, outer), sch_loop_name(sch, loop),
                      sch_block_name(sch, block));
}

/* Who reads the result in the loop before the block writes it would find the init. */
static hone_status check_readers(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_consumers(sch, block, &count, &readers));
    for (uint32_t i = 0; i < count; i++) {
        if (!hone_tree_is_ancestor(sch->func, loop, readers[i])) continue;
        return sch_require_pipeline(sch, sch_scope_of(sch, block));
    }
    return HONE_OK;
}

static hone_status check(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    if (!hone_tree_is_ancestor(sch->func, loop, block) ||
        sch_scope_of(sch, loop) != sch_scope_of(sch, block)) {
        return sch_refuse(sch, loop, "%s is not around %s", sch_loop_name(sch, loop),
                          sch_block_name(sch, block));
    }
    if (hone_block_init_of(sch->func, block) == HONE_NO_ID) {
        return sch_refuse(sch, block, "%s has no init", sch_block_name(sch, block));
    }
    const char *why = NULL;
    if (sch_classify(sch, block, sch_scope_of(sch, block), &why) != SCH_BLOCK_REDUCTION) {
        return sch_refuse(sch, block, "%s is not a reduction: %s", sch_block_name(sch, block),
                          why ? why : "it has no reduce axis");
    }
    for (hone_node_id n = sch_node(sch, loop)->parent; sch_node(sch, n)->kind != HONE_NODE_BLOCK;
         n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) HONE_TRY(check_outer(sch, block, loop, n));
    }
    return check_readers(sch, block, loop);
}

/* ---- the init's own loops ---- */

typedef struct init_nest {
    hone_node_id top, bottom;
    const hone_expr **map; /* old loop variable → new one */
    bool *dropped;         /* loops that the init does not run over */
    uint32_t count;        /* of both arrays */
} init_nest;

static hone_status copy_loop(hone_schedule *sch, hone_node_id loop, init_nest *nest) {
    const hone_node old = *sch_node(sch, loop);
    const hone_var_info var = sch->func->vars[old.u.loop.var];
    const hone_expr *extent =
        hone_expr_substitute(&sch->ir, old.u.loop.range.extent, nest->map, nest->count);
    hone_node_id copy = sch_make_loop(sch, sch_name(sch, var.name, "_init", -1), var.dtype, extent);
    if (copy == HONE_NO_ID) return sch_no_memory();
    if (old.loop_kind == HONE_LOOP_THREAD) {
        sch_node(sch, copy)->loop_kind = HONE_LOOP_THREAD;
        sch_node(sch, copy)->u.loop.thread_tag = old.u.loop.thread_tag;
    }
    sch_node(sch, copy)->u.loop.range.min =
        hone_expr_substitute(&sch->ir, old.u.loop.range.min, nest->map, nest->count);
    hone_var fresh = sch_node(sch, copy)->u.loop.var;
    HONE_TRY(sch_ir_error(sch));
    if (!hone_arith_bind(&sch->arith, fresh, sch_node(sch, copy)->u.loop.range)) {
        return sch_no_memory();
    }
    nest->map[old.u.loop.var] = sch_var(sch, fresh);
    if (nest->bottom == HONE_NO_ID) {
        nest->top = copy;
    } else {
        hone_tree_append(sch->func, nest->bottom, copy);
    }
    nest->bottom = copy;
    return sch_ir_error(sch);
}

static hone_status make_loops(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                              init_nest *nest) {
    uint32_t loop_count = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, block, &loop_count, &loops));
    nest->count = sch->func->var_count;
    nest->top = nest->bottom = HONE_NO_ID;
    nest->map = hone_arena_zalloc(sch->arena, (nest->count + 1) * sizeof *nest->map);
    nest->dropped = hone_arena_zalloc(sch->arena, (nest->count + 1) * sizeof *nest->dropped);
    if (!nest->map || !nest->dropped) return sch_no_memory();
    bool below = false;
    for (uint32_t i = 0; i < loop_count; i++) {
        below = below || loops[i] == loop;
        if (!below) continue;
        hone_var var = sch_node(sch, loops[i])->u.loop.var;
        if (feeds_axis(sch, block, var, HONE_AXIS_SPATIAL)) {
            HONE_TRY(copy_loop(sch, loops[i], nest));
        } else if (hone_expr_is_int_value(sch_node(sch, loops[i])->u.loop.range.extent, 1)) {
            nest->map[var] = sch_node(sch, loops[i])->u.loop.range.min;
        } else {
            nest->dropped[var] = true;
        }
    }
    return HONE_OK;
}

/* A condition over both kept and dropped loops can't be split between init and update. */
static hone_status check_conditions(hone_schedule *sch, hone_node_id block, const hone_expr *e,
                                    const init_nest *nest) {
    if (!e) return HONE_OK;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        HONE_TRY(check_conditions(sch, block, e->args[0], nest));
        return check_conditions(sch, block, e->args[1], nest);
    }
    if (!hone_expr_uses_any(e, nest->dropped, nest->count)) return HONE_OK;
    for (hone_node_id n = sch_node(sch, block)->parent; sch_node(sch, n)->kind != HONE_NODE_BLOCK;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || nest->dropped[node->u.loop.var]) continue;
        if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) continue;
        if (!hone_expr_uses_var(e, node->u.loop.var)) continue;
        return sch_refuse(sch, block,
                          "a condition in the predicate of %s mixes spatial and reduce "
                          "loops",
                          sch_block_name(sch, block));
    }
    return HONE_OK;
}

/* The parts of a conjunction that say nothing of dropped loops. */
static const hone_expr *keep_conditions(hone_schedule *sch, const hone_expr *e,
                                        const init_nest *nest) {
    if (!e) return NULL;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        const hone_expr *a = keep_conditions(sch, e->args[0], nest);
        const hone_expr *b = keep_conditions(sch, e->args[1], nest);
        if (!a || !b) return a ? a : b;
        return hone_expr_binary(&sch->ir, HONE_OP_AND, a, b);
    }
    if (hone_expr_uses_any(e, nest->dropped, nest->count)) return NULL;
    return hone_expr_substitute(&sch->ir, e, nest->map, nest->count);
}

/* ---- the init block ---- */

static const hone_expr *rename_axes(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ir;
    const hone_expr *const *map = ctx;
    return e->kind == HONE_EXPR_VAR && map[e->u.var] ? map[e->u.var] : e;
}

/* A block over the spatial axes, with new axis variables; its body is the old init's. */
static hone_status make_block(hone_schedule *sch, hone_node_id old, const init_nest *nest,
                              hone_node_id *out) {
    hone_func *func = sch->func;
    const hone_node old_node = *sch_node(sch, old);
    const hone_block *from = old_node.u.block.block;
    hone_block *block = hone_block_copy(sch->arena, from);
    hone_axis *axes = hone_arena_alloc(sch->arena, (from->axis_count + 1) * sizeof *axes);
    const hone_expr **bindings =
        hone_arena_alloc(sch->arena, (from->axis_count + 1) * sizeof *bindings);
    const hone_expr **map =
        hone_arena_zalloc(sch->arena, (func->var_count + from->axis_count + 1) * sizeof *map);
    if (!block || !axes || !bindings || !map) return sch_no_memory();
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->axis_count; i++) {
        if (from->axes[i].kind != HONE_AXIS_SPATIAL) continue;
        const hone_var_info var = func->vars[from->axes[i].var];
        axes[count] = from->axes[i];
        axes[count].var =
            hone_func_add_named_var(func, sch_name(sch, var.name, "_init", -1), var.dtype);
        if (axes[count].var == HONE_NO_ID ||
            !hone_arith_bind(&sch->arith, axes[count].var, axes[count].dom)) {
            return sch_no_memory();
        }
        map[from->axes[i].var] = sch_var(sch, axes[count].var);
        bindings[count++] =
            hone_expr_substitute(&sch->ir, old_node.u.block.bindings[i], nest->map, nest->count);
    }
    block->name = sch_name(sch, from->name, "_init", -1);
    block->axes = axes;
    block->axis_count = count;
    block->read_count = 0;
    hone_node_id id = hone_func_add_node(func, HONE_NODE_BLOCK);
    if (id == HONE_NO_ID || !block->name) return sch_no_memory();
    sch_node(sch, id)->u.block.block = block;
    sch_node(sch, id)->u.block.bindings = bindings;
    sch_node(sch, id)->u.block.predicate = keep_conditions(sch, old_node.u.block.predicate, nest);
    hone_node_id init = hone_block_init_of(func, old);
    hone_tree_move_children(func, init, id);
    hone_tree_remove(func, init);
    HONE_TRY(hone_tree_transform(func, id, rename_axes, map, false));
    sch_node(sch, id)->u.block.bindings = bindings; /* over loops: the renaming is not for them */
    HONE_TRY(sch_ir_error(sch));
    HONE_TRY(sch_update_regions(sch, id));
    *out = id;
    return HONE_OK;
}

/* What is left: it now reads what it accumulates into. */
static hone_status make_update(hone_schedule *sch, hone_node_id id) {
    const hone_block *from = sch_block(sch, id);
    hone_block *block = hone_block_copy(sch->arena, from);
    uint32_t reads = from->read_count + from->write_count;
    hone_region *regions = hone_arena_alloc(sch->arena, (reads + 1) * sizeof *regions);
    if (!block || !regions) return sch_no_memory();
    memcpy(regions, from->writes, from->write_count * sizeof *regions);
    uint32_t count = from->write_count;
    for (uint32_t i = 0; i < from->read_count; i++) {
        if (!sch_writes(from, from->reads[i].buffer)) regions[count++] = from->reads[i];
    }
    block->reads = regions;
    block->read_count = count;
    block->name = sch_name(sch, from->name, "_update", -1);
    if (!block->name) return sch_no_memory();
    sch_node(sch, id)->u.block.block = block;
    return HONE_OK;
}

hone_status hone_sch_decompose_reduction(hone_schedule *sch, hone_rv block_rv, hone_rv loop_rv,
                                         hone_rv *out_init) {
    hone_node_id block, loop, init = HONE_NO_ID;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    HONE_TRY(check(sch, block, loop));
    init_nest nest;
    HONE_TRY(make_loops(sch, block, loop, &nest));
    HONE_TRY(check_conditions(sch, block, sch_node(sch, block)->u.block.predicate, &nest));
    HONE_TRY(make_block(sch, block, &nest, &init));
    HONE_TRY(make_update(sch, block));
    if (nest.bottom != HONE_NO_ID) hone_tree_append(sch->func, nest.bottom, init);
    hone_tree_insert_before(sch->func, loop, nest.top == HONE_NO_ID ? init : nest.top);
    hone_operand inputs[] = {SCH_RV(block_rv), SCH_RV(loop_rv)};
    hone_rv_value value = {.kind = HONE_RV_BLOCK, .node = init};
    return sch_record(sch, HONE_INST_DECOMPOSE_REDUCTION, 2, inputs, 0, NULL, 1, &value,
                      SCH_NO_DECISION, out_init);
}
