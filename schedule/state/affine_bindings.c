/* schedule/state/affine_bindings.c - are the bindings of a block affine: an iterator map of the
 * loops around it? */
#include "schedule/state/instance_order.h"

#include "ir/arith/itermap.h"
#include "schedule/state/schedule_impl.h"

/* ---- affine bindings ---- */

/* above: a loop around the block that counts as fixed, with those around it; HONE_NO_ID = none. */
static bool detect_affine_map(hone_schedule *sch, hone_node_id block, hone_node_id above,
                              hone_itermap_level level, const hone_expr *predicate) {
    uint32_t count = sch_block(sch, block)->axis_count;
    const hone_node_id *loops = NULL;
    uint32_t loop_count = 0;
    hone_status st = sch_loops_of(sch, block, &loop_count, &loops);
    if (st) {
        hone_status_free(st);
        return false;
    }
    if (count == 0) return true;
    for (uint32_t i = 0; above != HONE_NO_ID && i < loop_count; i++) {
        if (loops[i] != above) continue;
        loops += i + 1;
        loop_count -= i + 1;
        break;
    }
    hone_iter *iters = sch_iters_of_loops(sch, loop_count, loops);
    if (!iters) return false;
    hone_itermap map;
    const hone_node *node = sch_node(sch, block);
    return hone_itermap_detect(&sch->arith, count, node->u.block.bindings, loop_count, iters,
                               predicate, level, true, &map);
}

/* A predicate that ties axes together is no part of such a map, and only leaves out some of what is
 * mapped; the init of a reduction must not be among that. */
static bool is_affine_map(hone_schedule *sch, hone_node_id block, hone_node_id above,
                          hone_itermap_level level) {
    const hone_expr *predicate = sch_node(sch, block)->u.block.predicate;
    if (detect_affine_map(sch, block, above, level, predicate)) return true;
    return predicate && sch_begins_under(sch, block, HONE_NO_ID, predicate) &&
           detect_affine_map(sch, block, above, level, NULL);
}

/* The loop just outside the outermost one that feeds a reduce axis, HONE_NO_ID when there is none:
 * that one stands at the top of the scope. */
static bool find_above_reduction(hone_schedule *sch, hone_node_id block, hone_node_id *out_above) {
    const hone_node *node = sch_node(sch, block);
    bool found = false;
    for (hone_node_id l = node->parent; sch_node(sch, l)->kind == HONE_NODE_FOR;
         l = sch_node(sch, l)->parent) {
        for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
            if (node->u.block.block->axes[a].kind != HONE_AXIS_REDUCE) continue;
            if (!hone_expr_uses_var(node->u.block.bindings[a], sch_node(sch, l)->u.loop.var)) {
                continue;
            }
            hone_node_id parent = sch_node(sch, l)->parent;
            *out_above = sch_node(sch, parent)->kind == HONE_NODE_FOR ? parent : HONE_NO_ID;
            found = true;
        }
    }
    return found;
}

/* The value of an expression in the first iteration of a loop and of those around it. */
static const hone_expr *at_first_iteration(hone_schedule *sch, hone_node_id loop,
                                           const hone_expr *e) {
    for (; e && loop != HONE_NO_ID && sch_node(sch, loop)->kind == HONE_NODE_FOR;
         loop = sch_node(sch, loop)->parent) {
        const hone_node *node = sch_node(sch, loop);
        if (!hone_expr_uses_var(e, node->u.loop.var)) continue;
        e = hone_expr_substitute_one(&sch->ir, e, node->u.loop.var, node->u.loop.range.min);
    }
    return e;
}

/* Loops that feed a reduce axis, and whether one of them feeds a spatial axis as well. */
static uint32_t count_feeders(const hone_schedule *sch, const hone_block *b,
                              const hone_expr *const *bindings, hone_node_id loop,
                              bool *io_is_shared) {
    uint32_t count = 0;
    for (; loop != HONE_NO_ID && sch_node(sch, loop)->kind == HONE_NODE_FOR;
         loop = sch_node(sch, loop)->parent) {
        hone_var var = sch_node(sch, loop)->u.loop.var;
        bool feeds_reduce = false, feeds_spatial = false;
        if (hone_expr_is_int_value(sch_node(sch, loop)->u.loop.range.extent, 1)) continue;
        for (uint32_t a = 0; a < b->axis_count; a++) {
            if (!hone_expr_uses_var(bindings[a], var)) continue;
            feeds_reduce |= b->axes[a].kind == HONE_AXIS_REDUCE;
            feeds_spatial |= b->axes[a].kind == HONE_AXIS_SPATIAL;
        }
        count += feeds_reduce;
        *io_is_shared |= feeds_reduce && feeds_spatial;
    }
    return count;
}

/* Several loops that together are a number of which an element and a step of its sum are digits
 * must count upwards: else a later step of an element may come first. */
static bool digits_count_upwards(hone_schedule *sch, hone_node_id block,
                                 const hone_expr *const *bindings, hone_node_id loop,
                                 hone_node_id outer_loop) {
    bool is_shared = false;
    const hone_block *b = sch_block(sch, block);
    uint32_t count = count_feeders(sch, b, bindings, loop, &is_shared);
    count += count_feeders(sch, b, bindings, outer_loop, &is_shared);
    return !is_shared || count < 2 ||
           sch_meets_in_order(sch, block, bindings, (sch_loop_chain){loop, outer_loop});
}

bool sch_reduces_forwards(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                          hone_node_id loop, hone_node_id outer_loop) {
    const hone_block *b = sch_block(sch, block);
    for (uint32_t a = 0; a < b->axis_count; a++) {
        if (b->axes[a].kind != HONE_AXIS_REDUCE) continue;
        const hone_expr *first = at_first_iteration(sch, loop, bindings[a]);
        first = at_first_iteration(sch, outer_loop, first);
        if (!first) return false;
        if (hone_expr_same(first, b->axes[a].dom.min)) continue;
        first = hone_simplify(&sch->arith, first);
        if (!first || !hone_prove_equal(&sch->arith, first, b->axes[a].dom.min)) return false;
    }
    return digits_count_upwards(sch, block, bindings, loop, outer_loop);
}

/* A complete block may run twice for one point. A reduction would count it twice, unless all of it
 * begins anew: loops outside of those that reduce may repeat it. */
static uint16_t affine_flags(hone_schedule *sch, hone_node_id block) {
    if (hone_block_init_of(sch->func, block) == HONE_NO_ID) {
        return is_affine_map(sch, block, HONE_NO_ID, HONE_ITERMAP_SURJECTIVE) ? SCH_AFFINE : 0;
    }
    const hone_node *node = sch_node(sch, block);
    if (!sch_reduces_forwards(sch, block, node->u.block.bindings, node->parent, HONE_NO_ID)) {
        return 0;
    }
    if (is_affine_map(sch, block, HONE_NO_ID, HONE_ITERMAP_BIJECTIVE)) return SCH_AFFINE | SCH_ONCE;
    hone_node_id above = HONE_NO_ID;
    bool begins_anew =
        !find_above_reduction(sch, block, &above) ||
        (above != HONE_NO_ID && is_affine_map(sch, block, above, HONE_ITERMAP_INJECTIVE));
    bool is_affine = begins_anew && is_affine_map(sch, block, HONE_NO_ID, HONE_ITERMAP_SURJECTIVE);
    return is_affine ? SCH_AFFINE : 0;
}

static uint16_t known_affine_flags(hone_schedule *sch, hone_node_id block) {
    if (!(sch_node(sch, block)->flags & SCH_AFFINE_KNOWN)) {
        uint16_t flags = affine_flags(sch, block);
        sch_node(sch, block)->flags |= (uint16_t)(SCH_AFFINE_KNOWN | flags);
    }
    return sch_node(sch, block)->flags;
}

bool sch_has_affine_bindings(hone_schedule *sch, hone_node_id block) {
    return (known_affine_flags(sch, block) & SCH_AFFINE) != 0;
}

/* Below `above`, the block stands in loops of one iteration each. */
static bool runs_once(const hone_schedule *sch, hone_node_id block, hone_node_id above) {
    for (hone_node_id n = sch_node(sch, block)->parent;
         n != above && sch_node(sch, n)->kind == HONE_NODE_FOR; n = sch_node(sch, n)->parent) {
        if (!hone_expr_is_int_value(sch_node(sch, n)->u.loop.range.extent, 1)) return false;
    }
    return true;
}

bool sch_meets_once(hone_schedule *sch, hone_node_id block, hone_node_id above) {
    if (sch_block(sch, block)->axis_count == 0) return runs_once(sch, block, above);
    return is_affine_map(sch, block, above, HONE_ITERMAP_INJECTIVE);
}

bool sch_counts_once(hone_schedule *sch, hone_node_id block, hone_node_id above) {
    if (above != HONE_NO_ID) return sch_meets_once(sch, block, above);
    bool has_init = hone_block_init_of(sch->func, block) != HONE_NO_ID;
    return (known_affine_flags(sch, block) & (has_init ? SCH_ONCE : SCH_AFFINE)) != 0;
}

void sch_forget_affine(hone_schedule *sch, hone_node_id block) {
    sch_node(sch, block)->flags &= (uint16_t) ~(SCH_AFFINE_KNOWN | SCH_AFFINE | SCH_ONCE);
    sch->has_forgotten = true;
}

static bool is_open(const hone_schedule *sch, hone_node_id block) {
    bool *loops = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *loops);
    if (!loops) return true;
    for (hone_node_id n = sch_node(sch, block)->parent; n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) loops[sch_node(sch, n)->u.loop.var] = true;
    }
    for (hone_node_id n = sch_node(sch, block)->first; n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        if (hone_tree_uses_any(sch->func, n, true, loops, sch->func->var_count)) return true;
    }
    return false;
}

void sch_mark_open(hone_schedule *sch, hone_node_id block) {
    if (is_open(sch, block)) sch_node(sch, block)->flags |= SCH_OPEN;
}

void sch_forget_writes(hone_schedule *sch, hone_node_id block) {
    sch_node(sch, block)->flags &=
        (uint16_t) ~(SCH_DISJOINT_KNOWN | SCH_DISJOINT | SCH_EXACT_KNOWN | SCH_EXACT);
    sch->has_forgotten = true;
}

void sch_forget_pipeline(hone_schedule *sch, hone_node_id scope) {
    sch_node(sch, scope)->flags &= (uint16_t) ~(SCH_PIPELINE_KNOWN | SCH_PIPELINE);
    sch->has_forgotten = true;
}

void sch_forget_facts(hone_schedule *sch, hone_node_id block) {
    sch_node(sch, block)->flags &= SCH_OPEN | SCH_ROLLED;
    sch->has_forgotten = true;
    for (hone_node_id n = sch_scope_of(sch, block); n != HONE_NO_ID; n = sch_scope_of(sch, n))
        sch_forget_pipeline(sch, n);
}

void sch_settle_block(hone_schedule *sch, hone_node_id block) {
    const uint16_t all =
        SCH_AFFINE_KNOWN | SCH_PIPELINE_KNOWN | SCH_DISJOINT_KNOWN | SCH_EXACT_KNOWN;
    if ((sch_node(sch, block)->flags & all) == all) return;
    sch_has_affine_bindings(sch, block);
    sch_has_disjoint_writes(sch, block);
    sch_writes_exactly(sch, block);
    if (!(sch_node(sch, block)->flags & SCH_PIPELINE_KNOWN)) {
        sch_is_stage_pipeline(sch, block, NULL, NULL);
    }
}

void sch_settle_facts(hone_schedule *sch) {
    uint32_t first = sch->has_forgotten ? 0 : sch->settled_count;
    for (hone_node_id n = first; n < sch->func->node_count; n++) {
        if (sch_node(sch, n)->kind == HONE_NODE_BLOCK && sch_is_in_tree(sch, n)) {
            sch_settle_block(sch, n);
        }
    }
    sch->settled_count = sch->func->node_count;
    sch->has_forgotten = false;
}

bool sch_predicate_follows(hone_schedule *sch, hone_node_id block) {
    const hone_node *node = sch_node(sch, block);
    const hone_expr *predicate = node->u.block.predicate;
    if (!predicate || hone_expr_is_int_value(predicate, 1)) return true;
    uint32_t mark = sch->arith.fact_count;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        hone_range dom = node->u.block.block->axes[i].dom;
        const hone_expr *end = hone_expr_add(&sch->ir, dom.min, dom.extent);
        end = hone_simplify(&sch->arith, end);
        const hone_expr *fact =
            hone_expr_binary(&sch->ir, HONE_OP_LT, node->u.block.bindings[i], end);
        if (!fact) continue;
        hone_arith_push(&sch->arith, fact);
        /* a predicate speaks of the loops themselves: f < 120, of an axis that is f // 10 */
        const hone_expr *undivided = hone_undivided(&sch->arith, fact);
        if (undivided && undivided != fact) hone_arith_push(&sch->arith, undivided);
    }
    bool follows = hone_prove(&sch->arith, predicate);
    hone_arith_pop(&sch->arith, mark);
    return follows;
}
