/* schedule/primitive/loops/prim_reorder.c - reorder: permutes loops of one nest. Loops in between
 * that are not named keep their places.
 *
 * Checks: the loops are distinct and lie on one chain, with nothing but loops of one child in
 * between. Unless the order stays: the instances of every block below may run in another order
 * (sch_require_order_free), or those that may meet in an element keep theirs; no loop feeds both
 * spatial and reduce axes of a block with an init, which must meet the beginning of its reduce axes
 * first; where each instance overwrites all that those before it have written, the last one stays
 * the last; no bound of a loop uses a loop that comes to stand inside it.
 */
#include "schedule/primitive/primitive_impl.h"

static bool is_named(uint32_t count, const hone_node_id *loops, hone_node_id loop) {
    for (uint32_t i = 0; i < count; i++) {
        if (loops[i] == loop) return true;
    }
    return false;
}

/* A named loop that is neither around the innermost one nor is that one. */
static hone_status refuse_stray(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                                hone_node_id bottom) {
    hone_node_id stray = bottom;
    for (uint32_t i = 0; i < count; i++) {
        if (loops[i] != bottom && !hone_tree_is_ancestor(sch->func, loops[i], bottom)) {
            stray = loops[i];
        }
    }
    return sch_refuse(sch, stray, "%s is neither around %s nor inside of it",
                      sch_loop_name(sch, stray), sch_loop_name(sch, bottom));
}

static hone_status refuse_between(hone_schedule *sch, hone_node_id top, hone_node_id bottom,
                                  hone_node_id between) {
    const char *name = "something other than a loop";
    if (sch_node(sch, between)->kind == HONE_NODE_BLOCK) name = sch_block_name(sch, between);
    return sch_refuse(sch, bottom, "%s is not in one nest with %s: %s stands between them",
                      sch_loop_name(sch, bottom), sch_loop_name(sch, top), name);
}

/* Finds the chain from the outermost to the innermost named loop, inclusive. */
static hone_status find_chain(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                              uint32_t *out_length, hone_node_id **out_chain) {
    for (uint32_t i = 0; i < count; i++) {
        if (!is_named(i, loops, loops[i])) continue;
        return sch_refuse(sch, loops[i], "%s is named twice", sch_loop_name(sch, loops[i]));
    }
    hone_node_id top = loops[0], bottom = loops[0];
    for (uint32_t i = 1; i < count; i++) {
        if (hone_tree_is_ancestor(sch->func, loops[i], top)) top = loops[i];
        if (hone_tree_is_ancestor(sch->func, bottom, loops[i])) bottom = loops[i];
    }
    uint32_t length = 1, named = 0;
    for (hone_node_id n = bottom; n != top; n = sch_node(sch, n)->parent)
        length++;
    hone_node_id *chain = hone_arena_alloc(sch->arena, length * sizeof *chain);
    if (!chain) return sch_no_memory();
    uint32_t at = length;
    for (hone_node_id n = bottom;; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_FOR) {
            return refuse_between(sch, top, bottom, n);
        }
        bool is_alone = node->next == HONE_NO_ID && node->prev == HONE_NO_ID;
        if (n != top && !is_alone && sch_node(sch, node->parent)->kind == HONE_NODE_FOR) {
            return sch_refuse(sch, n, "%s is not the only statement in %s", sch_loop_name(sch, n),
                              sch_loop_name(sch, node->parent));
        }
        HONE_TRY(sch_check_no_break(sch, n));
        chain[--at] = n;
        named += is_named(count, loops, n);
        if (n == top) break;
    }
    if (named != count) return refuse_stray(sch, count, loops, bottom);
    *out_length = length;
    *out_chain = chain;
    return HONE_OK;
}

/* The chain in its new order. */
static hone_node_id *permute(hone_schedule *sch, uint32_t count, const hone_node_id *loops,
                             uint32_t length, const hone_node_id *chain) {
    hone_node_id *order = hone_arena_alloc(sch->arena, length * sizeof *order);
    if (!order) return NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; i < length; i++) {
        order[i] = is_named(count, loops, chain[i]) ? loops[next++] : chain[i];
    }
    return order;
}

/* Bounds that are loaded may come out of a loop only where it surely runs: else what they load may
 * be nowhere. */
static bool surely_runs(const hone_schedule *sch, hone_node_id loop) {
    const hone_expr *extent = sch_node(sch, loop)->u.loop.range.extent;
    return hone_expr_is_int(extent) && extent->u.i > 0;
}

static hone_status check_bounds(hone_schedule *sch, uint32_t length, const hone_node_id *order) {
    for (uint32_t i = 0; i < length; i++) {
        hone_range range = sch_node(sch, order[i])->u.loop.range;
        if (hone_expr_is_int(range.min) && hone_expr_is_int(range.extent)) continue;
        bool is_loaded = hone_expr_may_fail(range.min) || hone_expr_may_fail(range.extent);
        for (uint32_t k = i + 1; k < length; k++) {
            hone_var var = sch_node(sch, order[k])->u.loop.var;
            if (hone_expr_uses_var(range.min, var) || hone_expr_uses_var(range.extent, var)) {
                return sch_refuse(sch, order[i],
                                  "the bounds of %s use %s, which would be inside it",
                                  sch_loop_name(sch, order[i]), sch_loop_name(sch, order[k]));
            }
            if (!is_loaded || surely_runs(sch, order[k]) ||
                sch_lca(sch, order[i], order[k]) == order[i]) {
                continue;
            }
            return sch_refuse(sch, order[i],
                              "the bounds of %s are loaded, and %s, which would be inside it, may "
                              "not run at all",
                              sch_loop_name(sch, order[i]), sch_loop_name(sch, order[k]));
        }
    }
    return HONE_OK;
}

static bool is_same_order(uint32_t length, const hone_node_id *a, const hone_node_id *b) {
    for (uint32_t i = 0; i < length; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

static bool feeds(const hone_schedule *sch, hone_node_id block, hone_var var, bool reduce) {
    const hone_node *node = sch_node(sch, block);
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        if ((node->u.block.block->axes[a].kind == HONE_AXIS_REDUCE) != reduce) continue;
        if (hone_expr_uses_var(node->u.block.bindings[a], var)) return true;
    }
    return false;
}

/* i = f // 3, k = f % 3: in another order, k = 0 may come last for some i. */
static hone_status check_inits(hone_schedule *sch, uint32_t length, const hone_node_id *chain) {
    SCH_EACH_BLOCK (sch, chain[0], n) {
        if (hone_block_init_of(sch->func, n) == HONE_NO_ID) continue;
        for (uint32_t i = 0; i < length; i++) {
            hone_var var = sch_node(sch, chain[i])->u.loop.var;
            if (!feeds(sch, n, var, false) || !feeds(sch, n, var, true)) continue;
            return sch_refuse(sch, chain[i],
                              "%s feeds both spatial and reduce axes of %s: its init "
                              "might come too late",
                              sch_loop_name(sch, chain[i]), sch_block_name(sch, n));
        }
    }
    return HONE_OK;
}

/* Relinks the chain; the first takes the place of the old outermost loop. */
static void relink(hone_schedule *sch, uint32_t length, const hone_node_id *chain,
                   const hone_node_id *order) {
    hone_func *func = sch->func;
    hone_node_id top = chain[0], parent = sch_node(sch, top)->parent;
    hone_node_id next = sch_node(sch, top)->next;
    hone_node_id first = sch_node(sch, chain[length - 1])->first;
    hone_node_id last = sch_node(sch, chain[length - 1])->last;
    hone_tree_remove(func, top);
    for (uint32_t i = 0; i < length; i++) {
        hone_node *node = sch_node(sch, order[i]);
        node->parent = node->prev = node->next = node->first = node->last = HONE_NO_ID;
    }
    for (uint32_t i = 1; i < length; i++)
        hone_tree_append(func, order[i - 1], order[i]);
    sch_node(sch, order[length - 1])->first = first;
    sch_node(sch, order[length - 1])->last = last;
    for (hone_node_id n = first; n != HONE_NO_ID; n = sch_node(sch, n)->next) {
        sch_node(sch, n)->parent = order[length - 1];
    }
    if (next == HONE_NO_ID) {
        hone_tree_append(func, parent, order[0]);
    } else {
        hone_tree_insert_before(func, next, order[0]);
    }
}

static bool uses_moved_axis(const hone_schedule *sch, const hone_node *node, const hone_expr *e,
                            uint32_t length, const hone_node_id *chain) {
    const hone_block *block = node->u.block.block;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (!hone_expr_uses_var(e, block->axes[a].var)) continue;
        for (uint32_t i = 0; i < length; i++) {
            hone_var var = sch_node(sch, chain[i])->u.loop.var;
            if (hone_expr_uses_var(node->u.block.bindings[a], var)) return true;
        }
    }
    return false;
}

/* All instances write the same places, all of them, and read none of that: only the last one
 * counts, in which each loop is at its end, in whatever order they stand. */
static bool last_one_counts(hone_schedule *sch, uint32_t length, const hone_node_id *chain) {
    hone_node_id id = sch_node(sch, chain[length - 1])->first;
    const hone_node *node = id == HONE_NO_ID ? NULL : sch_node(sch, id);
    if (!node || node->kind != HONE_NODE_BLOCK || node->next != HONE_NO_ID) return false;
    const hone_block *block = node->u.block.block;
    if (node->u.block.predicate || node->flags & SCH_OPEN || sch->trace.is_unsafe) return false;
    if (hone_block_init_of(sch->func, id) != HONE_NO_ID || sch_reads_own_output(block))
        return false;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    for (uint32_t i = 0; i < length; i++) {
        const hone_node *loop = sch_node(sch, chain[i]);
        bool is_serial =
            loop->loop_kind == HONE_LOOP_SERIAL || loop->loop_kind == HONE_LOOP_UNROLLED;
        if (!is_serial || !hone_expr_is_int(loop->u.loop.range.min) ||
            !hone_expr_is_int(loop->u.loop.range.extent)) {
            return false;
        }
    }
    for (uint32_t w = 0; w < block->write_count; w++) {
        const hone_range *ranges = block->writes[w].ranges;
        for (uint32_t d = 0; d < hone_func_buffer(sch->func, block->writes[w].buffer)->rank; d++) {
            if (!hone_expr_is_pure_index(ranges[d].min) ||
                !hone_expr_is_pure_index(ranges[d].extent) ||
                uses_moved_axis(sch, node, ranges[d].min, length, chain) ||
                uses_moved_axis(sch, node, ranges[d].extent, length, chain)) {
                return false;
            }
        }
    }
    return sch_writes_exactly(sch, id);
}

static hone_status check_order(hone_schedule *sch, uint32_t length, const hone_node_id *chain,
                               const hone_node_id *order) {
    hone_status st = sch_require_order_free(sch, chain[0], chain[length - 1]);
    if (st && (sch_may_reorder_slices(sch, length, chain, order) ||
               last_one_counts(sch, length, chain))) {
        hone_status_free(st);
        st = HONE_OK;
    }
    HONE_TRY(st);
    HONE_TRY(check_inits(sch, length, chain));
    return check_bounds(sch, length, order);
}

hone_status hone_sch_reorder(hone_schedule *sch, uint32_t count, const hone_rv *loop_rvs) {
    if (count == 0) return sch_refuse(sch, HONE_NO_ID, "reorder needs at least one loop");
    hone_node_id *loops = hone_arena_alloc(sch->arena, count * sizeof *loops);
    if (!loops) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(sch_resolve_loop(sch, loop_rvs[i], &loops[i]));
    uint32_t length = 0;
    hone_node_id *chain = NULL;
    HONE_TRY(find_chain(sch, count, loops, &length, &chain));
    hone_node_id *order = permute(sch, count, loops, length, chain);
    if (!order) return sch_no_memory();
    if (!is_same_order(length, chain, order)) {
        HONE_TRY(check_order(sch, length, chain, order));
        relink(sch, length, chain, order);
    }
    return sch_record(sch, HONE_INST_REORDER, SCH_ARGS(SCH_LIST(count, rvs, loop_rvs)));
}

SCH_STEP(REORDER, hone_sch_reorder(sch, a[0].count, a[0].list.rvs), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_LOOPS("ordered_loops")});
