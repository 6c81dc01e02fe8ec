/* schedule/state/init_nest.c - makes the loops of an init and moves it there; which loops feed
 * reductions. */
#include "schedule/state/init_nest.h"

#include "ir/core/concurrent.h"

bool sch_feeds_axis(const hone_schedule *sch, hone_node_id block, hone_var var,
                    hone_axis_kind kind) {
    const hone_node *node = sch_node(sch, block);
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (node->u.block.block->axes[i].kind != kind) continue;
        if (hone_expr_uses_var(node->u.block.bindings[i], var)) return true;
    }
    return false;
}

bool sch_begins_under(hone_schedule *sch, hone_node_id block, hone_node_id but,
                      const hone_expr *predicate) {
    if (hone_expr_is_op(predicate, HONE_OP_AND)) {
        return sch_begins_under(sch, block, but, predicate->args[0]) &&
               sch_begins_under(sch, block, but, predicate->args[1]);
    }
    const hone_expr *first = predicate;
    bool is_about_reduction = false;
    for (hone_node_id n = sch_node(sch, block)->parent;
         first && sch_node(sch, n)->kind == HONE_NODE_FOR; n = sch_node(sch, n)->parent) {
        const hone_node *loop = sch_node(sch, n);
        if (!hone_expr_uses_var(first, loop->u.loop.var)) continue;
        if (!sch_feeds_axis(sch, block, loop->u.loop.var, HONE_AXIS_REDUCE)) continue;
        is_about_reduction = true;
        if (n == but) continue;
        first = hone_expr_substitute_one(&sch->ir, first, loop->u.loop.var, loop->u.loop.range.min);
    }
    return first && (!is_about_reduction || hone_prove(&sch->arith, first));
}

/* A loop that runs more than once steps either through elements or through their sums, by the same
 * number of iterations, of which there are some, for all of them. */
static bool has_one_use(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, loop);
    if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) return true;
    if (sch_bounds_depend_on(sch, loop) != HONE_NO_ID ||
        !hone_surely_runs(&sch->arith, sch->func, loop))
        return false;
    return sch_feeds_axis(sch, block, node->u.loop.var, HONE_AXIS_SPATIAL) !=
           sch_feeds_axis(sch, block, node->u.loop.var, HONE_AXIS_REDUCE);
}

bool sch_sums_within(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, block);
    const hone_expr *predicate = node->u.block.predicate;
    hone_node_id above = sch_node(sch, loop)->parent;
    bool is_outside = false;
    for (hone_node_id n = node->parent; sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        hone_var var = sch_node(sch, n)->u.loop.var;
        if (is_outside ? sch_feeds_axis(sch, block, var, HONE_AXIS_REDUCE)
                       : !has_one_use(sch, block, n)) {
            return false;
        }
        is_outside = is_outside || n == loop;
    }
    if (sch_node(sch, above)->kind != HONE_NODE_FOR) above = HONE_NO_ID;
    return sch_reduces_forwards(sch, block, node->u.block.bindings, node->parent, HONE_NO_ID) &&
           (!predicate || sch_begins_under(sch, block, HONE_NO_ID, predicate)) &&
           sch_meets_once(sch, block, above);
}

/* Does the condition hold wherever the dropped loops begin? */
static bool holds_at_first(hone_schedule *sch, hone_node_id block, const hone_expr *e,
                           const sch_init_nest *nest) {
    for (hone_node_id n = sch_node(sch, block)->parent;
         e && sch_node(sch, n)->kind != HONE_NODE_BLOCK; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR || !nest->dropped[node->u.loop.var]) continue;
        e = hone_expr_substitute_one(&sch->ir, e, node->u.loop.var, node->u.loop.range.min);
    }
    return e && hone_prove(&sch->arith, e);
}

/* A condition over both kept and dropped loops can't be split between init and update, unless the
 * init, which runs where the dropped ones begin, always meets it. */
static hone_status check_conditions(hone_schedule *sch, hone_node_id block, const hone_expr *e,
                                    const sch_init_nest *nest) {
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
        if (holds_at_first(sch, block, e, nest)) break;
        return sch_refuse(sch, block,
                          "a condition in the predicate of %s mixes loops that its init keeps and "
                          "others",
                          sch_block_name(sch, block));
    }
    return HONE_OK;
}

hone_node_id sch_loop_of_shared_sums(const hone_schedule *sch, hone_node_id block,
                                     hone_node_id top) {
    for (hone_node_id n = block; n != top;) {
        n = sch_node(sch, n)->parent;
        const hone_node *node = sch_node(sch, n);
        if (!hone_loop_is_of_threads(node)) continue;
        if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) continue;
        if (sch_feeds_axis(sch, block, node->u.loop.var, HONE_AXIS_REDUCE)) return n;
    }
    return HONE_NO_ID;
}

hone_status sch_require_serial_sums(hone_schedule *sch, hone_node_id block, hone_node_id top) {
    hone_node_id loop = sch_loop_of_shared_sums(sch, block, top);
    if (loop == HONE_NO_ID) return HONE_OK;
    return sch_refuse(sch, loop,
                      "threads of %s reduce together in %s, which they can't without its init",
                      sch_loop_name(sch, loop), sch_block_name(sch, block));
}

hone_status sch_plan_init(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                          const char *suffix, sch_init_nest *nest) {
    uint32_t loop_count = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_require_serial_sums(sch, block, loop));
    HONE_TRY(sch_loops_of(sch, block, &loop_count, &loops));
    nest->count = sch->func->var_count;
    nest->loops = (sch_nest){.top = HONE_NO_ID, .bottom = HONE_NO_ID};
    nest->map = hone_arena_zalloc(sch->arena, (nest->count + 1) * sizeof *nest->map);
    nest->dropped = hone_arena_zalloc(sch->arena, (nest->count + 1) * sizeof *nest->dropped);
    if (!nest->map || !nest->dropped) return sch_no_memory();
    bool below = false;
    for (uint32_t i = 0; i < loop_count; i++) {
        below = below || loops[i] == loop;
        if (!below) continue;
        hone_var var = sch_node(sch, loops[i])->u.loop.var;
        if (sch_feeds_axis(sch, block, var, HONE_AXIS_SPATIAL)) {
            HONE_TRY(
                sch_nest_copy_loop(sch, &nest->loops, loops[i], suffix, nest->map, nest->count));
        } else if (hone_expr_is_int_value(sch_node(sch, loops[i])->u.loop.range.extent, 1)) {
            nest->map[var] = sch_node(sch, loops[i])->u.loop.range.min;
        } else {
            nest->dropped[var] = true;
        }
    }
    return check_conditions(sch, block, sch_node(sch, block)->u.block.predicate, nest);
}

/* The parts of a conjunction that say nothing of dropped loops. */
static const hone_expr *keep_conditions(hone_schedule *sch, const hone_expr *e,
                                        const sch_init_nest *nest) {
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

/* What the block allocates stays with its updates. */
static hone_status check_allocs(hone_schedule *sch, hone_node_id id) {
    const hone_block *block = sch_block(sch, id);
    hone_node_id init = hone_block_init_of(sch->func, id);
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        hone_buffer buffer = block->allocs[i];
        if (!hone_loads_below(sch->func, init, buffer) &&
            !hone_stores_below(sch->func, init, buffer))
            continue;
        return sch_refuse(sch, id, "the init of %s uses '%s', which the block allocates",
                          sch_block_name(sch, id), sch_buffer_name(sch, buffer));
    }
    return HONE_OK;
}

/* A block over the spatial axes, with new axis variables; its body is the old init's. */
static hone_status make_block(hone_schedule *sch, hone_node_id old, const sch_init_nest *nest,
                              hone_node_id *out) {
    hone_func *func = sch->func;
    const hone_node old_node = *sch_node(sch, old);
    const hone_block *from = old_node.u.block.block;
    hone_block *block = hone_block_copy(sch->arena, from);
    sch_draft d;
    const hone_expr **map =
        hone_arena_zalloc(sch->arena, (func->var_count + from->axis_count + 1) * sizeof *map);
    if (!block || !map) return sch_no_memory();
    HONE_TRY(sch_begin_draft(sch, from->axis_count, &d));
    for (uint32_t i = 0; i < from->axis_count; i++) {
        const hone_axis *axis = &from->axes[i];
        if (axis->kind != HONE_AXIS_SPATIAL) continue;
        const char *name = sch_name(sch, func->vars[axis->var].name, "_init", -1);
        const hone_expr *binding =
            hone_expr_substitute(&sch->ir, old_node.u.block.bindings[i], nest->map, nest->count);
        HONE_TRY(sch_draft_axis(sch, &d, name, axis->kind, axis->dom, binding));
        map[axis->var] = d.vars[d.count - 1];
    }
    block->name = sch_name(sch, from->name, "_init", -1);
    block->axes = d.axes;
    block->axis_count = d.count;
    block->read_count = block->alloc_count = 0;
    hone_node_id id = hone_func_add_node(func, HONE_NODE_BLOCK);
    if (id == HONE_NO_ID || !block->name) return sch_no_memory();
    sch_node(sch, id)->u.block.block = block;
    sch_node(sch, id)->u.block.bindings = d.nest.bindings;
    sch_node(sch, id)->u.block.predicate = keep_conditions(sch, old_node.u.block.predicate, nest);
    hone_node_id init = hone_block_init_of(func, old);
    hone_tree_move_children(func, init, id);
    hone_tree_remove(func, init);
    HONE_TRY(hone_tree_transform(func, id, rename_axes, map, true));
    sch_node(sch, id)->u.block.bindings =
        d.nest.bindings; /* over loops: the renaming is not for them */
    HONE_TRY(sch_ir_error(sch));
    HONE_TRY(sch_update_regions(sch, id));
    *out = id;
    return HONE_OK;
}

hone_status sch_take_init(hone_schedule *sch, hone_node_id block, const sch_init_nest *nest,
                          hone_node_id *out_block, hone_node_id *out_top) {
    HONE_TRY(check_allocs(sch, block));
    HONE_TRY(make_block(sch, block, nest, out_block));
    const sch_nest *loops = &nest->loops;
    if (loops->bottom != HONE_NO_ID) hone_tree_append(sch->func, loops->bottom, *out_block);
    *out_top = loops->top == HONE_NO_ID ? *out_block : loops->top;
    return HONE_OK;
}
