/* schedule/primitive/layout/prim_block_layout.c - transform_block_layout: runs a block over other
 * axes, which a map makes of its own; loops of its own, one for each new axis, take the place of
 * those around it.
 *
 *     for i, j in T.grid(8, 12): vi, vj = T.axis.remap("SS", [i, j]); B[vi, vj] = A[vi, vj] * 2
 *  →  for ax0 in range(96):           transform_block_layout(b, lambda i, j: (i * 12 + j,))
 *         v0 = T.axis.spatial(96, ax0);  B[v0 // 12, v0 % 12] = A[v0 // 12, v0 % 12] * 2
 *
 * Checks: the block stands alone in its loops, which start at 0 and are bound to its axes one by
 * one, in order; the map is a bijection of the axes' domain; no new axis mixes kinds of axes;
 * instances of the block may run in another order. The kinds and annotations of the old loops are
 * gone: the new ones are serial.
 */
#include "ir/arith/itermap.h"
#include "ir/text/map/index_map_parse.h"
#include "schedule/primitive/layout/layout_map.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"

typedef struct layout {
    hone_schedule *sch;
    hone_node_id block, scope, top;
    uint32_t loop_count;
    const hone_node_id *loops;
    hone_dtype dtype;
    const hone_index_map *map;
    sch_mapping m;
    sch_draft fresh; /* the new axes and loops */
    const hone_expr **old_of_axes, **old_of_loops;
} layout;

static hone_status check_loop(layout *l, uint32_t i) {
    hone_schedule *sch = l->sch;
    const hone_node *loop = sch_node(sch, l->loops[i]);
    const hone_node *block = sch_node(sch, l->block);
    const hone_expr *binding = block->u.block.bindings[i];
    hone_node_id inner = i + 1 < l->loop_count ? l->loops[i + 1] : l->block;
    if (loop->first != inner || loop->last != inner) {
        return sch_refuse(sch, l->loops[i], "%s is not alone in %s", sch_block_name(sch, l->block),
                          sch_loop_name(sch, l->loops[i]));
    }
    if (binding->kind != HONE_EXPR_VAR || binding->u.var != loop->u.loop.var) {
        return sch_refuse(sch, l->loops[i], "axis %u of %s is bound to something else than %s", i,
                          sch_block_name(sch, l->block), sch_loop_name(sch, l->loops[i]));
    }
    const hone_range *dom = &block->u.block.block->axes[i].dom, *range = &loop->u.loop.range;
    if (hone_expr_is_int_value(range->min, 0) && hone_expr_is_int_value(dom->min, 0) &&
        hone_prove_equal(&sch->arith, range->extent, dom->extent)) {
        return HONE_OK;
    }
    return sch_refuse(sch, l->loops[i], "%s does not start at 0, or is not all of its axis",
                      sch_loop_name(sch, l->loops[i]));
}

static hone_status check_nest(layout *l) {
    hone_schedule *sch = l->sch;
    const hone_block *block = sch_block(sch, l->block);
    const char *why = NULL;
    HONE_TRY(sch_loops_of(sch, l->block, &l->loop_count, &l->loops));
    if (!block->axis_count || l->loop_count != block->axis_count) {
        return sch_refuse(sch, l->block, "%s has %u axes in %u loops, expected one loop for each",
                          sch_block_name(sch, l->block), block->axis_count, l->loop_count);
    }
    l->top = l->loops[0];
    if (sch_node(sch, l->block)->parent != l->loops[l->loop_count - 1] ||
        !sch_is_below_loops_only(sch, l->block)) {
        return sch_refuse(sch, l->block, "%s is not directly below its loops",
                          sch_block_name(sch, l->block));
    }
    for (uint32_t i = 0; i < l->loop_count; i++)
        HONE_TRY(check_loop(l, i));
    if (sch_is_order_free(sch, l->block, &why)) return HONE_OK;
    return sch_refuse(sch, l->block, "%s may not run in another order: %s",
                      sch_block_name(sch, l->block), why);
}

static hone_status apply_map(layout *l, const hone_index_map *map) {
    hone_schedule *sch = l->sch;
    hone_iter *iters = sch_whole_axes(sch, sch_block(sch, l->block));
    if (!iters) return sch_no_memory();
    const hone_index_map *given = map;
    HONE_TRY(sch_resolve_map(sch, l->block, given, l->loop_count, l->dtype, &map));
    map = hone_index_map_with_constants(sch->arena, map, given);
    if (!map) return sch_no_memory();
    l->map = map;
    HONE_TRY(sch_apply_map(sch, l->block, map, l->loop_count, iters, false, &l->m));
    if (hone_itermap_detect(&sch->arith, l->m.count, l->m.indices, l->loop_count, iters, NULL,
                            HONE_ITERMAP_BIJECTIVE, true, &l->m.detected)) {
        return HONE_OK;
    }
    return sch_refuse(sch, l->block, "the index map is not a bijection of the axes of %s: %s",
                      sch_block_name(sch, l->block), l->m.detected.reason);
}

/* The kind of a new axis is that of the old ones in it. */
static hone_status kind_of(layout *l, uint32_t index, hone_axis_kind *out) {
    hone_schedule *sch = l->sch;
    const hone_block *block = sch_block(sch, l->block);
    bool found = false;
    *out = HONE_AXIS_SPATIAL;
    for (uint32_t i = 0; i < l->loop_count; i++) {
        if (!hone_expr_uses_var(l->m.indices[index], block->axes[i].var)) continue;
        if (found && *out != block->axes[i].kind) {
            return sch_refuse(sch, l->block, "index %u of the map mixes kinds of axes of %s", index,
                              sch_block_name(sch, l->block));
        }
        *out = block->axes[i].kind;
        found = true;
    }
    return HONE_OK;
}

static hone_status make_axis(layout *l, uint32_t i) {
    hone_axis_kind kind;
    HONE_TRY(kind_of(l, i, &kind));
    /* its type may be another one than that of others, as in TVM */
    HONE_TRY(sch_draft_dim(l->sch, &l->fresh, "ax", l->m.extents[i]));
    l->fresh.axes[i].kind = kind;
    return HONE_OK;
}

/* The new axis that the map makes of this old one alone, or m.count. */
static uint32_t same_axis(const layout *l, uint32_t old) {
    uint32_t i = 0;
    for (; i < l->m.count; i++) {
        const hone_expr *index = l->map->indices[i];
        if (index->kind == HONE_EXPR_VAR && index->u.var == old) break;
    }
    return i;
}

/* An axis of one value that stays one is no constant, as in TVM: pad_einsum may let it grow. */
static void keep_axes_of_one(layout *l) {
    for (uint32_t i = 0; i < l->loop_count; i++) {
        uint32_t same = same_axis(l, i);
        if (same == l->m.count || !hone_expr_is_int_value(l->m.iters[i].range.extent, 1)) continue;
        if (!hone_dtype_equal(l->fresh.vars[same]->dtype, l->old_of_axes[i]->dtype)) continue;
        l->old_of_axes[i] = l->fresh.vars[same];
        l->old_of_loops[i] = l->fresh.nest.bindings[same];
    }
}

/* What the old axes and the old loops are of the new ones. */
static hone_status invert(layout *l) {
    hone_schedule *sch = l->sch;
    uint32_t count = l->loop_count;
    l->old_of_axes = hone_arena_zalloc(sch->arena, count * sizeof *l->old_of_axes);
    l->old_of_loops = hone_arena_zalloc(sch->arena, count * sizeof *l->old_of_loops);
    if (!l->old_of_axes || !l->old_of_loops) return sch_no_memory();
    bool ok = hone_itermap_inverse(&sch->arith, &l->m.detected, l->fresh.vars, count, l->m.iters,
                                   l->old_of_axes) &&
              hone_itermap_inverse(&sch->arith, &l->m.detected, l->fresh.nest.bindings, count,
                                   l->m.iters, l->old_of_loops);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = l->old_of_axes[i] && l->old_of_loops[i];
    if (ok) keep_axes_of_one(l);
    if (ok) return sch_ir_error(sch);
    return sch_refuse(sch, l->block, "the index map cannot be inverted");
}

static hone_status replace_axes(layout *l) {
    hone_schedule *sch = l->sch;
    uint32_t count = sch->func->var_count;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *map);
    if (!map) return sch_no_memory();
    for (uint32_t i = 0; i < l->loop_count; i++) {
        map[l->m.iters[i].var] = l->old_of_axes[i];
        map[sch_node(sch, l->loops[i])->u.loop.var] = l->old_of_loops[i];
    }
    HONE_TRY(sch_ir_error(sch));
    HONE_TRY(sch_replace_vars(sch, l->block, map, count));
    return sch_simplify_accesses(sch, l->block);
}

/* A predicate may leave out the last values of an axis that joins others (3 of 6, where two rows of
 * 2 held 3 instances): no values of it then. */
static hone_status cut_axes(layout *l) {
    hone_schedule *sch = l->sch;
    bool *marks;
    if (!sch_node(sch, l->block)->u.block.predicate) return HONE_OK;
    HONE_TRY(sch_mark_loops(sch, l->block, l->scope, &marks));
    for (uint32_t i = 0; i < l->m.count; i++) {
        hone_range *dom = &l->fresh.axes[i].dom;
        hone_interval now;
        HONE_TRY(sch_values_now(sch, l->block, &l->fresh.axes[i], marks, &now));
        if (!now.max || !hone_expr_is_int(now.max) || !hone_expr_is_int(dom->extent)) continue;
        if (now.max->u.i < 0 || now.max->u.i + 1 >= dom->extent->u.i) continue;
        dom->extent = hone_expr_int(&sch->ir, dom->extent->dtype, now.max->u.i + 1);
        if (!dom->extent) return sch_no_memory();
        if (!hone_arith_bind(&sch->arith, l->fresh.axes[i].var, *dom)) return sch_no_memory();
    }
    return HONE_OK;
}

static hone_status rebuild(layout *l) {
    hone_schedule *sch = l->sch;
    HONE_TRY(sch_begin_draft(sch, l->m.count, &l->fresh));
    for (uint32_t i = 0; i < l->m.count; i++)
        HONE_TRY(make_axis(l, i));
    HONE_TRY(invert(l));
    HONE_TRY(replace_axes(l));
    hone_block *fresh = hone_block_copy(sch->arena, sch_block(sch, l->block));
    if (!fresh) return sch_no_memory();
    fresh->axes = l->fresh.axes;
    fresh->axis_count = l->m.count;
    hone_node *node = sch_node(sch, l->block);
    node->u.block.block = fresh;
    node->u.block.bindings = l->fresh.nest.bindings;
    if (node->u.block.predicate) {
        node->u.block.predicate = hone_simplify(&sch->arith, node->u.block.predicate);
        HONE_TRY(sch_ir_error(sch));
    }
    hone_tree_replace(sch->func, l->top, l->fresh.nest.top);
    hone_tree_remove(sch->func, l->block);
    hone_tree_append(sch->func, l->fresh.nest.bottom, l->block);
    HONE_TRY(cut_axes(l));
    HONE_TRY(sch_update_regions(sch, l->block));
    sch_forget_affine(sch, l->block);
    sch_forget_facts(sch, l->block);
    return HONE_OK;
}

/* As it is recorded: an axis that is a constant has the type of that one. */
static hone_status recorded_map(layout *l, const hone_index_map *map, const hone_index_map **out) {
    HONE_TRY(sch_recorded_map(l->sch, map, l->loop_count, l->dtype, out));
    *out = hone_index_map_with_constants(l->sch->arena, *out, map);
    return *out ? HONE_OK : sch_no_memory();
}

hone_status hone_sch_transform_block_layout(hone_schedule *sch, hone_rv block,
                                            const hone_index_map *index_map) {
    layout l = {.sch = sch};
    hone_func *saved = NULL;
    const hone_index_map *recorded;
    HONE_TRY(sch_resolve_block(sch, block, &l.block));
    l.scope = sch_scope_of(sch, l.block);
    if (l.scope == HONE_NO_ID) return sch_refuse(sch, l.block, "the root block has no axes");
    HONE_TRY(check_nest(&l));
    l.dtype = sch->func->vars[sch_block(sch, l.block)->axes[0].var].dtype;
    HONE_TRY(hone_index_map_instantiate(sch->arena, index_map, l.loop_count, &index_map));
    HONE_TRY(apply_map(&l, index_map));
    HONE_TRY(recorded_map(&l, index_map, &recorded));
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, rebuild(&l)));
    return sch_record(sch, HONE_INST_TRANSFORM_BLOCK_LAYOUT,
                      SCH_ARGS(SCH_RV(block), SCH_MAP(recorded)));
}

SCH_STEP(TRANSFORM_BLOCK_LAYOUT, hone_sch_transform_block_layout(sch, a[0].rv, a[1].map),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0),
                  SCH_ARG_("index_map", MAP, 1, .is_required = true, .is_attr_in_json = true)});
