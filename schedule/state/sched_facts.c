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
    SCH_EACH_BLOCK (sch, scope, n) {
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

typedef struct place {
    const hone_schedule *sch;
    hone_node_id scope;
} place;

/* It loads what blocks of the scope write, or may. */
static bool is_unknown(const void *ctx, const hone_expr *e) {
    const place *p = ctx;
    bool is_written = false;
    if (e->kind != HONE_EXPR_LOAD) return hone_expr_is_effect(e);
    for (hone_node_id n = sch_next_block(p->sch, p->scope, p->scope);
         n != HONE_NO_ID && !is_written; n = sch_next_block(p->sch, p->scope, n)) {
        is_written = sch_writes(sch_block(p->sch, n), e->u.buffer);
    }
    return is_written;
}

static bool is_known(const place *p, const hone_expr *e) {
    return !hone_expr_find(e, is_unknown, p);
}

static bool is_below_known(const hone_schedule *sch, hone_node_id block, bool or_conditions) {
    const place p = {sch, sch_scope_of(sch, block)};
    for (hone_node_id n = sch_node(sch, block)->parent; n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_BLOCK || node->kind == HONE_NODE_TOP) return true;
        if (p.scope == HONE_NO_ID) return false;
        if (or_conditions && node->kind == HONE_NODE_ELSE) continue;
        if (or_conditions && node->kind == HONE_NODE_IF) {
            if (!is_known(&p, node->u.eval.value)) return false;
            continue;
        }
        if (node->kind != HONE_NODE_FOR || !is_known(&p, node->u.loop.range.min) ||
            !is_known(&p, node->u.loop.range.extent)) {
            return false;
        }
    }
    return true;
}

bool sch_is_below_known_loops(const hone_schedule *sch, hone_node_id block) {
    return is_below_known(sch, block, false);
}

bool sch_is_below_known_conditions(const hone_schedule *sch, hone_node_id block) {
    return is_below_known(sch, block, true);
}

bool sch_is_known_condition(const hone_schedule *sch, hone_node_id n) {
    const place p = {sch, sch_scope_of(sch, n)};
    if (sch_node(sch, n)->kind == HONE_NODE_ELSE) return true;
    if (sch_node(sch, n)->kind != HONE_NODE_IF || p.scope == HONE_NO_ID) return false;
    return is_known(&p, sch_node(sch, n)->u.eval.value);
}

static bool is_only_writer(hone_schedule *sch, hone_node_id block, hone_node_id within) {
    const hone_block *self = sch_block(sch, block);
    SCH_EACH_BLOCK (sch, within, n) {
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
    SCH_EACH_BLOCK (sch, loop, n) {
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
