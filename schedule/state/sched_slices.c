#include "schedule/state/schedule_impl.h"

#include "ir/arith/itermap.h"

/* Blocks whose instances may meet in one element, but not across the iterations of a loop:
 * D[X[vi], vj] = … may write an element for several vi, yet each vj has a column of its own (and so
 * have the digits of it, and the digits of a loop that is several such axes). And blocks without
 * axes, which use the loops around them as they are. */

/* The dimension of the region that is the axis (or loop) and nothing else, or HONE_NO_ID. */
static uint32_t dimension_of(const hone_schedule *sch, const hone_region *region, hone_var axis) {
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_range *range = &region->ranges[d];
        if (range->min->kind == HONE_EXPR_VAR && range->min->u.var == axis &&
            hone_expr_is_int_value(range->extent, 1)) {
            return d;
        }
    }
    return HONE_NO_ID;
}

/* Everything that the block touches of what it writes lies in the slice of the axis. */
static bool stays_in_slice(const hone_schedule *sch, const hone_block *block, hone_var axis) {
    for (uint32_t w = 0; w < block->write_count; w++) {
        uint32_t d = dimension_of(sch, &block->writes[w], axis);
        if (d == HONE_NO_ID) return false;
        for (uint32_t r = 0; r < block->read_count; r++) {
            if (block->reads[r].buffer != block->writes[w].buffer) continue;
            if (dimension_of(sch, &block->reads[r], axis) != d) return false;
        }
    }
    return block->write_count > 0;
}

/* The axes of a block that are slices of what it writes: their bindings, and loops that these use.
 */
typedef struct slices {
    uint32_t count, loop_count;
    const hone_expr **bindings;
    hone_iter *loops;
} slices;

static bool uses_loops(const hone_expr *binding, const slices *of) {
    for (uint32_t i = 0; i < of->loop_count; i++) {
        if (hone_expr_uses_var(binding, of->loops[i].var)) return true;
    }
    return false;
}

/* Notes the loops around the block that the binding uses, each once. */
static void note_loops(const hone_schedule *sch, uint32_t count, const hone_node_id *around,
                       const hone_expr *binding, slices *io) {
    for (uint32_t i = 0; i < count; i++) {
        const hone_node *loop = sch_node(sch, around[i]);
        bool is_new = hone_expr_uses_var(binding, loop->u.loop.var);
        for (uint32_t k = 0; k < io->loop_count && is_new; k++)
            is_new = io->loops[k].var != loop->u.loop.var;
        if (is_new) io->loops[io->loop_count++] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
}

/* Does no value of the bindings come again in another iteration of the loop? That is so where none
 * comes again in other iterations of the loops that they use. One binding will do; else all of them
 * that share loops with it: f0*2 + f1//8 with f1 % 8. */
static bool tells_iterations(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                             const slices *all) {
    uint32_t count = 0;
    const hone_node_id *around = NULL;
    hone_itermap map;
    if (hone_status_consume(sch_loops_of(sch, block, &count, &around))) return false;
    slices some = {0, 0, hone_arena_alloc(sch->arena, (all->count + 1) * sizeof *some.bindings),
                   hone_arena_alloc(sch->arena, (count + 1) * sizeof *some.loops)};
    bool *taken = hone_arena_zalloc(sch->arena, (all->count + 1) * sizeof *taken);
    if (!some.bindings || !some.loops || !taken) return false;
    for (uint32_t i = 0; i < all->count; i++) {
        if (!hone_expr_uses_var(all->bindings[i], sch_node(sch, loop)->u.loop.var)) continue;
        some.loop_count = 0;
        note_loops(sch, count, around, all->bindings[i], &some);
        if (hone_itermap_detect(&sch->arith, 1, &all->bindings[i], some.loop_count, some.loops,
                                NULL, HONE_ITERMAP_INJECTIVE, true, &map)) {
            return true;
        }
    }
    const hone_node *self = sch_node(sch, loop);
    some.loops[0] = (hone_iter){self->u.loop.var, self->u.loop.range};
    some.loop_count = 1;
    for (uint32_t i = 0; i < all->count;) {
        if (taken[i] || !uses_loops(all->bindings[i], &some)) {
            i++;
            continue;
        }
        taken[i] = true;
        some.bindings[some.count++] = all->bindings[i];
        note_loops(sch, count, around, all->bindings[i], &some);
        i = 0;
    }
    return some.count > 1 &&
           hone_itermap_detect(&sch->arith, some.count, some.bindings, some.loop_count, some.loops,
                               NULL, HONE_ITERMAP_INJECTIVE, true, &map);
}

bool sch_has_disjoint_slices(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    const hone_node *node = sch_node(sch, block);
    const hone_block *self = node->u.block.block;
    hone_var var = sch_node(sch, loop)->u.loop.var;
    bool is_found = false;
    if (!sch_is_below_known_conditions(sch, block)) return false;
    if (self->axis_count == 0) return stays_in_slice(sch, self, var);
    if (node->flags & SCH_OPEN) return false;
    slices own = {0, 0, hone_arena_alloc(sch->arena, self->axis_count * sizeof *own.bindings),
                  NULL};
    for (uint32_t i = 0; own.bindings && i < self->axis_count; i++) {
        const hone_axis *axis = &self->axes[i];
        const hone_expr *binding = node->u.block.bindings[i];
        if (axis->kind > HONE_AXIS_REDUCE) return false; /* ordered, or nobody knows how */
        if (axis->kind != HONE_AXIS_SPATIAL || !stays_in_slice(sch, self, axis->var)) continue;
        own.bindings[own.count++] = binding;
        is_found = is_found || (binding->kind == HONE_EXPR_VAR && binding->u.var == var);
    }
    return is_found || tells_iterations(sch, block, loop, &own);
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
    for (hone_node_id n = sch_next_block(sch, before[0], before[0]); n != HONE_NO_ID;
         n = sch_next_block(sch, before[0], n)) {
        if (!keeps_order(sch, n, count, before, after)) return false;
        block_count++;
    }
    return block_count == 1 ||
           (block_count > 1 && sch_carries_no_dependence(sch, before[0], before[count - 1]));
}

/* The bindings of the block by the variables of its axes; NULL where memory is short. */
static const hone_expr **bindings_by_var(const hone_schedule *sch, hone_node_id block) {
    const hone_node *node = sch_node(sch, block);
    const hone_expr **map = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *map);
    for (uint32_t a = 0; map && a < node->u.block.block->axis_count; a++)
        map[node->u.block.block->axes[a].var] = node->u.block.bindings[a];
    return map;
}

/* What the dimension of an access of the block can be in one iteration of the loop, by its variable
 * and those outside. */
static bool reach_of(hone_schedule *sch, hone_node_id block, const hone_region *region, uint32_t d,
                     hone_node_id loop, hone_interval *out) {
    const hone_expr **map = bindings_by_var(sch, block);
    bool *marks = NULL;
    if (!map || hone_status_consume(sch_mark_loops(sch, block, loop, false, &marks))) return false;
    const hone_expr *low = region->ranges[d].min, *extent = region->ranges[d].extent;
    if (!hone_expr_is_int(extent) || !hone_expr_is_pure_index(low)) return false;
    low = hone_expr_substitute(&sch->ir, low, map, sch->func->var_count);
    low = hone_simplify(&sch->arith, low);
    if (!low) return false;
    *out = hone_arith_relax(&sch->arith, low, marks, sch->func->var_count, NULL);
    if (!out->min || !out->max) return false;
    const hone_expr *more = hone_expr_int(&sch->ir, low->dtype, extent->u.i - 1);
    out->max = hone_expr_add(&sch->ir, out->max, more);
    return out->max != NULL;
}

static bool reaches_of(hone_schedule *sch, hone_node_id block, hone_buffer buffer, uint32_t d,
                       hone_node_id loop, hone_interval *io) {
    const hone_block *b = sch_block(sch, block);
    for (uint32_t i = 0; i < b->write_count + b->read_count; i++) {
        const hone_region *region =
            i < b->write_count ? &b->writes[i] : &b->reads[i - b->write_count];
        hone_interval here;
        if (region->buffer != buffer) continue;
        if (!reach_of(sch, block, region, d, loop, &here)) return false;
        *io = io->min ? hone_interval_union(&sch->arith, *io, here) : here;
    }
    return io->min != NULL && io->max != NULL;
}

/* What the block touches of the dimension in all iterations of the loop. */
static bool whole_reach(hone_schedule *sch, hone_node_id block, hone_buffer buffer, uint32_t d,
                        hone_node_id loop, hone_interval *out) {
    const hone_range *range = &sch_node(sch, loop)->u.loop.range;
    bool *marks = hone_arena_zalloc(sch->arena, sch->func->var_count * sizeof *marks);
    *out = (hone_interval){NULL, NULL};
    if (!marks || !reaches_of(sch, block, buffer, d, loop, out)) return false;
    if (!hone_expr_is_pure_index(range->min) || !hone_expr_is_pure_index(range->extent)) {
        return false;
    }
    marks[sch_node(sch, loop)->u.loop.var] = true;
    out->min = hone_arith_relax(&sch->arith, out->min, marks, sch->func->var_count, NULL).min;
    out->max = hone_arith_relax(&sch->arith, out->max, marks, sch->func->var_count, NULL).max;
    return out->min != NULL && out->max != NULL;
}

bool sch_touch_disjoint(hone_schedule *sch, hone_node_id a, hone_node_id b, hone_buffer buffer,
                        hone_node_id loop) {
    if ((sch_node(sch, a)->flags | sch_node(sch, b)->flags) & SCH_OPEN) return false;
    for (uint32_t d = 0; d < hone_func_buffer(sch->func, buffer)->rank; d++) {
        hone_interval one, other;
        if (!whole_reach(sch, a, buffer, d, loop, &one)) continue;
        if (!whole_reach(sch, b, buffer, d, loop, &other)) continue;
        if (hone_prove_less(&sch->arith, one.max, other.min)) return true;
        if (hone_prove_less(&sch->arith, other.max, one.min)) return true;
    }
    return false;
}

/* All that the block touches of the buffer is one place, by the loops around it: the same as *io,
 * if that is known. */
static bool is_one_element(hone_schedule *sch, hone_node_id block, hone_buffer buffer,
                           const hone_expr **io) {
    const hone_block *b = sch_block(sch, block);
    uint32_t rank = hone_func_buffer(sch->func, buffer)->rank;
    const hone_expr **map = bindings_by_var(sch, block);
    if (!map) return false;
    for (uint32_t i = 0; i < b->write_count + b->read_count; i++) {
        const hone_region *region =
            i < b->write_count ? &b->writes[i] : &b->reads[i - b->write_count];
        for (uint32_t d = 0; region->buffer == buffer && d < rank; d++) {
            const hone_expr *at = region->ranges[d].min;
            if (!hone_expr_is_int_value(region->ranges[d].extent, 1)) return false;
            if (!hone_expr_is_pure_index(at)) return false;
            at = hone_expr_substitute(&sch->ir, at, map, sch->func->var_count);
            at = hone_simplify(&sch->arith, at);
            if (!io[d]) io[d] = at;
            if (!at || !hone_expr_same(io[d], at)) return false;
        }
    }
    return true;
}

/* Both touch the buffer at one place, another one in each iteration of the loops around them. */
static bool touch_one_element(hone_schedule *sch, hone_node_id a, hone_node_id b,
                              hone_buffer buffer) {
    enum { MOST_LOOPS = 32 };
    uint32_t rank = hone_func_buffer(sch->func, buffer)->rank, count = 0;
    const hone_expr **place = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof *place);
    hone_iter loops[MOST_LOOPS];
    hone_itermap map;
    if (!place || !is_one_element(sch, a, buffer, place) ||
        !is_one_element(sch, b, buffer, place)) {
        return false;
    }
    for (hone_node_id n = sch_lca(sch, a, b); n != HONE_NO_ID; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_BLOCK) break;
        if (node->kind != HONE_NODE_FOR) continue;
        if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) continue;
        if (rank == 0 || count == MOST_LOOPS) return false;
        loops[count++] = (hone_iter){node->u.loop.var, node->u.loop.range};
    }
    return count == 0 || hone_itermap_detect(&sch->arith, rank, place, count, loops, NULL,
                                             HONE_ITERMAP_INJECTIVE, true, &map);
}

bool sch_carries_no_dependence_between(hone_schedule *sch, hone_node_id a, hone_node_id b,
                                       hone_buffer buffer, hone_node_id loop) {
    const hone_node *node = sch_node(sch, loop);
    hone_var var = node->u.loop.var;
    if (hone_expr_is_int_value(node->u.loop.range.extent, 1)) return true;
    if ((sch_node(sch, a)->flags | sch_node(sch, b)->flags) & SCH_OPEN) return false;
    const hone_expr *one = hone_expr_int(&sch->ir, sch->func->vars[var].dtype, 1);
    const hone_expr *next = hone_expr_add(&sch->ir, sch_var(sch, var), one);
    for (uint32_t d = 0; next && d < hone_func_buffer(sch->func, buffer)->rank; d++) {
        hone_interval slice = {NULL, NULL};
        if (!reaches_of(sch, a, buffer, d, loop, &slice)) continue;
        if (!reaches_of(sch, b, buffer, d, loop, &slice)) continue;
        const hone_expr *behind = hone_expr_substitute_one(&sch->ir, slice.min, var, next);
        if (behind && hone_prove_less(&sch->arith, slice.max, behind)) return true;
    }
    return touch_one_element(sch, a, b, buffer);
}
