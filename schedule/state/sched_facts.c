/* schedule/state/sched_facts.c - what primitives ask about blocks and loops: who writes what,
 * complete or reduction, affine bindings, the kind of a loop. */
#include "schedule/state/instance_order.h"
#include "schedule/state/schedule_impl.h"

#include <string.h>

#include "ir/arith/itermap.h"
#include "ir/region/region.h"
#include "ir/region/relation.h"

bool sch_writes(const hone_block *block, hone_buffer buffer) {
    return hone_region_of(block->write_count, block->writes, buffer) != NULL;
}

bool sch_reads(const hone_block *block, hone_buffer buffer) {
    return hone_region_of(block->read_count, block->reads, buffer) != NULL;
}

bool sch_is_output_block(hone_schedule *sch, hone_node_id block) {
    const hone_block *inner = sch_block(sch, block);
    hone_node_id scope = sch_scope_of(sch, block);
    if (scope == HONE_NO_ID) return true;
    const hone_block *outer = sch_block(sch, scope);
    for (uint32_t i = 0; i < inner->write_count; i++) {
        bool is_local = false;
        for (uint32_t k = 0; k < outer->alloc_count; k++) {
            is_local |= outer->allocs[k] == inner->writes[i].buffer;
        }
        if (!is_local) return true;
    }
    return false;
}

/* ---- producers and consumers ---- */

static bool feeds(const hone_block *from, const hone_block *to) {
    for (uint32_t i = 0; i < from->write_count; i++) {
        if (sch_reads(to, from->writes[i].buffer)) return true;
    }
    return false;
}

static hone_status neighbours(hone_schedule *sch, hone_node_id block, bool want_producers,
                              uint32_t *out_count, const hone_node_id **out) {
    hone_node_id scope = sch_scope_of(sch, block);
    const hone_block *self = sch_block(sch, block);
    uint32_t count = 0, capacity = 0;
    hone_node_id *list = NULL;
    *out_count = 0;
    *out = NULL;
    if (scope == HONE_NO_ID) return HONE_OK;
    for (hone_node_id n = sch_next_block(sch, scope, scope); n != HONE_NO_ID;
         n = sch_next_block(sch, scope, n)) {
        const hone_block *other = sch_block(sch, n);
        if (n == block || !(want_producers ? feeds(other, self) : feeds(self, other))) continue;
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 8;
            hone_node_id *bigger = hone_arena_alloc(sch->arena, capacity * sizeof *bigger);
            if (!bigger) return sch_no_memory();
            if (count) memcpy(bigger, list, count * sizeof *bigger);
            list = bigger;
        }
        list[count++] = n;
    }
    *out_count = count;
    *out = list;
    return HONE_OK;
}

hone_status sch_producers(hone_schedule *sch, hone_node_id block, uint32_t *out_count,
                          const hone_node_id **out) {
    return neighbours(sch, block, true, out_count, out);
}

hone_status sch_consumers(hone_schedule *sch, hone_node_id block, uint32_t *out_count,
                          const hone_node_id **out) {
    return neighbours(sch, block, false, out_count, out);
}

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

/* ---- writes ---- */

static bool compute_disjoint(hone_schedule *sch, const hone_block *block) {
    hone_iter *iters = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *iters);
    uint32_t count = 0;
    if (!iters) return false;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) continue;
        iters[count++] = (hone_iter){block->axes[a].var, block->axes[a].dom};
    }
    for (uint32_t w = 0; w < block->write_count; w++) {
        hone_relation rel;
        hone_relation_begin(&rel, &sch->arith, sch->func, block->writes[w].buffer, HONE_NO_ID);
        hone_relation_add_box(&rel, block->writes[w].ranges);
        if (!hone_is_injective(&rel, count, iters)) return false;
    }
    return true;
}

bool sch_has_disjoint_writes(hone_schedule *sch, hone_node_id block) {
    if (!(sch_node(sch, block)->flags & SCH_DISJOINT_KNOWN)) {
        bool is_disjoint = compute_disjoint(sch, sch_block(sch, block));
        sch_node(sch, block)->flags |= SCH_DISJOINT_KNOWN | (is_disjoint ? SCH_DISJOINT : 0);
    }
    return (sch_node(sch, block)->flags & SCH_DISJOINT) != 0;
}

/* ---- complete and reduction blocks ---- */

bool sch_is_below_loops_only(const hone_schedule *sch, hone_node_id block) {
    for (hone_node_id n = sch_node(sch, block)->parent; n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_BLOCK || node->kind == HONE_NODE_TOP) return true;
        if (node->kind != HONE_NODE_FOR) return false;
        const hone_range *range = &node->u.loop.range;
        if (!hone_expr_is_int(range->extent) && !hone_expr_is_pure_index(range->extent)) {
            return false;
        }
        if (!hone_expr_is_int(range->min) && !hone_expr_is_pure_index(range->min)) return false;
    }
    return true;
}

typedef struct load_ctx {
    const hone_schedule *sch;
    hone_node_id scope;
    bool is_known;
} load_ctx;

static bool look_for_unknown(void *ctx, const hone_expr *e) {
    load_ctx *c = ctx;
    if (e->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)e->op)) c->is_known = false;
    if (e->kind != HONE_EXPR_LOAD) return c->is_known;
    for (hone_node_id n = sch_next_block(c->sch, c->scope, c->scope); n != HONE_NO_ID;
         n = sch_next_block(c->sch, c->scope, n)) {
        if (sch_writes(sch_block(c->sch, n), e->u.buffer)) c->is_known = false;
    }
    return c->is_known;
}

static bool is_below_known(const hone_schedule *sch, hone_node_id block, bool or_conditions) {
    load_ctx c = {sch, sch_scope_of(sch, block), true};
    for (hone_node_id n = sch_node(sch, block)->parent; n != HONE_NO_ID && c.is_known;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_BLOCK || node->kind == HONE_NODE_TOP) return true;
        if (c.scope == HONE_NO_ID) return false;
        if (or_conditions && node->kind == HONE_NODE_ELSE) continue;
        if (or_conditions && node->kind == HONE_NODE_IF) {
            hone_expr_walk(node->u.eval.value, look_for_unknown, &c);
            continue;
        }
        if (node->kind != HONE_NODE_FOR) return false;
        hone_expr_walk(node->u.loop.range.min, look_for_unknown, &c);
        hone_expr_walk(node->u.loop.range.extent, look_for_unknown, &c);
    }
    return c.is_known;
}

bool sch_is_below_known_loops(const hone_schedule *sch, hone_node_id block) {
    return is_below_known(sch, block, false);
}

bool sch_is_below_known_conditions(const hone_schedule *sch, hone_node_id block) {
    return is_below_known(sch, block, true);
}

bool sch_is_known_condition(const hone_schedule *sch, hone_node_id n) {
    load_ctx c = {sch, sch_scope_of(sch, n), true};
    if (sch_node(sch, n)->kind == HONE_NODE_ELSE) return true;
    if (sch_node(sch, n)->kind != HONE_NODE_IF || c.scope == HONE_NO_ID) return false;
    hone_expr_walk(sch_node(sch, n)->u.eval.value, look_for_unknown, &c);
    return c.is_known;
}

static bool is_only_writer(hone_schedule *sch, hone_node_id block, hone_node_id within) {
    const hone_block *self = sch_block(sch, block);
    for (hone_node_id n = sch_next_block(sch, within, within); n != HONE_NO_ID;
         n = sch_next_block(sch, within, n)) {
        if (n == block) continue;
        for (uint32_t i = 0; i < self->write_count; i++) {
            if (sch_writes(sch_block(sch, n), self->writes[i].buffer)) return false;
        }
    }
    return true;
}

bool sch_reads_own_output(const hone_block *block) {
    for (uint32_t i = 0; i < block->write_count; i++) {
        if (sch_reads(block, block->writes[i].buffer)) return true;
    }
    return false;
}

/* Does a reduce axis occur in the region that the block writes? */
static bool reduce_axis_indexes_output(const hone_schedule *sch, const hone_block *block) {
    for (uint32_t a = 0; a < block->axis_count; a++) {
        if (block->axes[a].kind != HONE_AXIS_REDUCE) continue;
        for (uint32_t w = 0; w < block->write_count; w++) {
            uint32_t rank = hone_func_buffer(sch->func, block->writes[w].buffer)->rank;
            for (uint32_t d = 0; d < rank; d++) {
                const hone_range *range = &block->writes[w].ranges[d];
                if (hone_expr_uses_var(range->min, block->axes[a].var)) return true;
                if (hone_expr_uses_var(range->extent, block->axes[a].var)) return true;
            }
        }
    }
    return false;
}

/* loop: see sch_classify_below; HONE_NO_ID: none */
static sch_block_class class_of(hone_schedule *sch, hone_node_id id, hone_node_id within,
                                hone_node_id loop, const char **why) {
    const hone_block *block = sch_block(sch, id);
    if (!sch_is_below_loops_only(sch, id)) {
        *why = "something other than loops of known bounds stands around it";
        return SCH_BLOCK_OTHER;
    }
    if (sch_node(sch, id)->flags & SCH_OPEN) {
        *why = "it uses loops around it in other ways than by its bindings";
        return SCH_BLOCK_OTHER;
    }
    bool has_reduce = false;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        hone_axis_kind kind = block->axes[i].kind;
        if (kind == HONE_AXIS_SCAN || kind == HONE_AXIS_OPAQUE) {
            *why = "it has an axis that is neither spatial nor reduce";
            return SCH_BLOCK_OTHER;
        }
        has_reduce |= kind == HONE_AXIS_REDUCE;
    }
    bool has_init = hone_block_init_of(sch->func, id) != HONE_NO_ID;
    if (has_reduce && !has_init) {
        *why = "it has a reduce axis but no init";
        return SCH_BLOCK_OTHER;
    }
    if (!is_only_writer(sch, id, within)) {
        *why = "another block writes the same buffer";
        return SCH_BLOCK_OTHER;
    }
    if (!has_reduce && !has_init) {
        if (!sch_reads_own_output(block)) return SCH_BLOCK_COMPLETE;
        *why = "it reads and writes the same buffer";
        return SCH_BLOCK_OTHER;
    }
    if (!sch_reads_where_it_writes(sch, id)) {
        *why = "it reads what other instances of it write";
        return SCH_BLOCK_OTHER;
    }
    if (!sch_has_affine_bindings(sch, id) &&
        (loop == HONE_NO_ID || !sch_sums_within(sch, id, loop))) {
        *why = loop == HONE_NO_ID ? "its bindings are not affine in the loops"
                                  : "its bindings are not affine in the loops, and its sums not "
                                    "within one iteration of those outside";
        return SCH_BLOCK_OTHER;
    }
    if (reduce_axis_indexes_output(sch, block)) {
        *why = "a reduce axis indexes its output";
        return SCH_BLOCK_OTHER;
    }
    return SCH_BLOCK_REDUCTION;
}

sch_block_class sch_classify(hone_schedule *sch, hone_node_id block, hone_node_id within,
                             const char **out_why) {
    const char *why = NULL;
    sch_block_class class = class_of(sch, block, within, HONE_NO_ID, &why);
    if (out_why) *out_why = why;
    return class;
}

hone_status sch_require_plain(hone_schedule *sch, hone_node_id block, hone_node_id within) {
    const char *why = NULL;
    if (sch_classify(sch, block, within, &why) != SCH_BLOCK_OTHER) return HONE_OK;
    return sch_refuse(sch, block, "%s is neither complete nor a reduction: %s",
                      sch_block_name(sch, block), why);
}

hone_status sch_require_closed(hone_schedule *sch, hone_node_id block) {
    if (!(sch_node(sch, block)->flags & SCH_OPEN)) return HONE_OK;
    return sch_refuse(sch, block, "%s uses loops around it in other ways than by its bindings",
                      sch_block_name(sch, block));
}

sch_block_class sch_classify_below(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                   const char **out_why) {
    return class_of(sch, block, sch_scope_of(sch, block), loop, out_why);
}

/* ---- loops ---- */

sch_loop_type sch_loop_type_of(hone_schedule *sch, hone_node_id loop) {
    hone_var var = sch_node(sch, loop)->u.loop.var;
    bool spatial = false, reduce = false, other = false;
    for (hone_node_id n = sch_next_block(sch, loop, loop); n != HONE_NO_ID;
         n = sch_next_block(sch, loop, n)) {
        const hone_node *node = sch_node(sch, n);
        const hone_block *block = node->u.block.block;
        for (uint32_t i = 0; i < block->axis_count; i++) {
            if (!hone_expr_uses_var(node->u.block.bindings[i], var)) continue;
            spatial |= block->axes[i].kind == HONE_AXIS_SPATIAL;
            reduce |= block->axes[i].kind == HONE_AXIS_REDUCE;
            other |= block->axes[i].kind > HONE_AXIS_REDUCE;
        }
    }
    if (other || (spatial && reduce)) return SCH_LOOP_OPAQUE;
    return reduce ? SCH_LOOP_REDUCE : SCH_LOOP_DATA_PARALLEL;
}

hone_node_id sch_single_store(const hone_schedule *sch, hone_node_id block) {
    hone_node_id body = hone_block_body_of(sch->func, block);
    if (body == HONE_NO_ID || sch_node(sch, body)->next != HONE_NO_ID) return HONE_NO_ID;
    return sch_node(sch, body)->kind == HONE_NODE_STORE ? body : HONE_NO_ID;
}
