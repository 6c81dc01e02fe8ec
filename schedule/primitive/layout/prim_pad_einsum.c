/* schedule/primitive/layout/prim_pad_einsum.c - pad_einsum: rounds the axes of a block up to
 * multiples; what it reads is copied into larger buffers first, with zeros around, and what it
 * writes is copied out of one.
 *
 *     for i, j, k in 7, 5, 9: with block C: C[i, j] += A[i, k] * B[k, j]        padding 4, 1, 1
 *  →  for i0, i1 in 8, 9: with block A_pad: A_pad[…] = if_then_else(v0 < 7, A[v0, v1], 0)
 *     for i, j, k in 8, 5, 9: with block C: C_pad[i, j] += A_pad[i, k] * B[k, j]
 *     for i0, i1 in 7, 5: with block C_pad: C[v0, v1] = C_pad[v0, v1]
 *
 * Other blocks in the nest use the larger buffers as well; where they make what is read, the larger
 * buffer begins as zeros.
 *
 * Checks: one factor from 1 on per axis; the scope is a pipeline of stages; within its nest the
 * block is complete or a reduction, below loops only, consists of stores, loops and conditions, and
 * its predicate only cuts off what lies outside its axes; it accesses each buffer at one place,
 * whose indices are axes, or move with none that grows (the places of a convolution's window, while
 * its channels are padded). Where
 * an axis grows: it starts at 0, and if it is bound to a loop, that is its own, over all of it, no
 * thread and around no other block; a buffer that grows has no views and, if read, is none; what
 * others in the nest access is in it; if they make it, nobody else uses it, and no threads have it
 * of their own; one that is written is written as a whole in the scope, one that is read was so
 * before; what is computed from the zeros can't fail; in a reduction it adds nothing (TVM does not
 * check these).
 */
#include "ir/region/region.h"
#include "schedule/primitive/layout/einsum.h"
#include "schedule/primitive/layout/pad_zeros.h"
#include "schedule/primitive/primitive_impl.h"

/* ---- the block ---- */

static hone_status check_nest(einsum *e) {
    hone_schedule *sch = e->sch;
    hone_node_id n = e->block;
    bool is_alone = true;
    if (sch_block(sch, n)->match_count) {
        return sch_refuse(sch, n, "%s looks at buffers through T.match_buffer",
                          sch_block_name(sch, n));
    }
    e->own = n;
    for (; sch_node(sch, n)->parent != e->scope; n = sch_node(sch, n)->parent) {
        const hone_node *parent = sch_node(sch, sch_node(sch, n)->parent);
        is_alone = is_alone && parent->first == parent->last;
        if (is_alone) e->own = sch_node(sch, n)->parent;
        if (parent->kind == HONE_NODE_FOR) continue;
        return sch_refuse(sch, sch_node(sch, n)->parent, "%s stands in more than loops",
                          sch_block_name(sch, e->block));
    }
    e->top = e->last = n;
    HONE_TRY(sch_require_pipeline(sch, e->scope));
    if (!sch_predicate_follows(sch, e->block)) {
        return sch_refuse(sch, e->block,
                          "the predicate of %s leaves out more than lies outside its axes",
                          sch_block_name(sch, e->block));
    }
    hone_node_id within = e->top == e->block ? e->scope : e->top;
    return sch_require_plain(sch, e->block, within);
}

/* The extent rounded up, or NULL when it is a multiple already. */
static const hone_expr *rounded_up(einsum *e, const hone_expr *extent, int64_t padding) {
    hone_ir *ir = &e->sch->ir;
    const hone_expr *factor = hone_expr_int(ir, extent->dtype, padding);
    const hone_expr *rest = hone_expr_int(ir, extent->dtype, padding - 1);
    const hone_expr *tiles = hone_expr_floordiv(ir, hone_expr_add(ir, extent, rest), factor);
    const hone_expr *grown = hone_simplify(&e->sch->arith, hone_expr_mul(ir, tiles, factor));
    return grown && hone_prove_equal(&e->sch->arith, grown, extent) ? NULL : grown;
}

/* An axis that grows runs with a loop of its own, so that the loop can grow too; a spatial one
 * that runs with more than a loop leaves these as they are: what lies beyond is not computed. */
static hone_status find_loop(einsum *e, uint32_t axis) {
    hone_schedule *sch = e->sch;
    const hone_node *node = sch_node(sch, e->block);
    const hone_axis *a = &node->u.block.block->axes[axis];
    const hone_expr *binding = node->u.block.bindings[axis];
    hone_node_id found = HONE_NO_ID;
    e->loops[axis] = HONE_NO_ID;
    if (a->kind == HONE_AXIS_SPATIAL && binding->kind != HONE_EXPR_VAR &&
        hone_expr_is_int_value(a->dom.min, 0)) {
        return HONE_OK;
    }
    for (hone_node_id n = node->parent; n != e->scope; n = sch_node(sch, n)->parent) {
        hone_var var = sch_node(sch, n)->u.loop.var;
        if (binding->kind == HONE_EXPR_VAR && binding->u.var == var) found = n;
    }
    for (uint32_t i = 0; i < e->axis_count && found != HONE_NO_ID; i++) {
        hone_var var = sch_node(sch, found)->u.loop.var;
        if (i != axis && hone_expr_uses_var(node->u.block.bindings[i], var)) found = HONE_NO_ID;
    }
    if (found != HONE_NO_ID && hone_expr_is_int_value(a->dom.min, 0)) {
        const hone_node *loop = sch_node(sch, found);
        if (hone_tree_is_ancestor(sch->func, found, e->own)) {
            return sch_refuse(sch, found,
                              "axis '%s' of %s is padded, and %s holds other blocks too",
                              sch->func->vars[a->var].name, sch_block_name(sch, e->block),
                              sch_loop_name(sch, found));
        }
        if (loop->loop_kind != HONE_LOOP_THREAD &&
            hone_expr_is_int_value(loop->u.loop.range.min, 0) &&
            hone_prove_equal(&sch->arith, loop->u.loop.range.extent, a->dom.extent)) {
            e->loops[axis] = found;
            return HONE_OK;
        }
    }
    return sch_refuse(sch, e->block,
                      "axis '%s' of %s is padded and not bound to a loop of its own, which is no "
                      "thread and runs over all of it",
                      sch->func->vars[a->var].name, sch_block_name(sch, e->block));
}

/* Loops whose bounds follow one that grows would grow too. */
static hone_status check_bounds(einsum *e) {
    hone_schedule *sch = e->sch;
    for (uint32_t i = 0; i < e->axis_count; i++) {
        if (!e->extents[i] || e->loops[i] == HONE_NO_ID) continue;
        hone_var var = sch_node(sch, e->loops[i])->u.loop.var;
        for (hone_node_id n = sch_node(sch, e->block)->parent; n != e->scope;
             n = sch_node(sch, n)->parent) {
            const hone_range *range = &sch_node(sch, n)->u.loop.range;
            if (!hone_expr_uses_var(range->min, var) && !hone_expr_uses_var(range->extent, var)) {
                continue;
            }
            return sch_refuse(sch, n, "the bounds of %s depend on a loop that is padded",
                              sch_loop_name(sch, n));
        }
    }
    return HONE_OK;
}

static hone_status find_extents(einsum *e, uint32_t count, const int64_t *padding) {
    hone_schedule *sch = e->sch;
    const hone_block *block = sch_block(sch, e->block);
    e->axis_count = block->axis_count;
    e->extents = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *e->extents);
    e->loops = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *e->loops);
    if (!e->extents || !e->loops) return sch_no_memory();
    if (count != block->axis_count) {
        return sch_refuse(sch, e->block, "there are %u paddings, %s has %u axes", count,
                          sch_block_name(sch, e->block), block->axis_count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = sch->func->vars[block->axes[i].var].name;
        int64_t extent = hone_expr_const(block->axes[i].dom.extent);
        if (padding[i] < 1 || padding[i] > INT32_MAX || extent > INT32_MAX - padding[i]) {
            return sch_refuse(sch, e->block,
                              "the padding of axis '%s' is %lld, must be at least "
                              "1, and the axis must stay below 2^31",
                              name, (long long)padding[i]);
        }
        e->extents[i] = rounded_up(e, block->axes[i].dom.extent, padding[i]);
        HONE_TRY(sch_ir_error(sch));
        if (e->extents[i]) HONE_TRY(find_loop(e, i));
    }
    return check_bounds(e);
}

/* ---- the copies ---- */

/* The padding condition of a copy into a larger buffer: v0 < 7 and v2 < 5. */
static const hone_expr *inside(einsum *e, const pad_buffer *b, const hone_expr *const *vars) {
    hone_ir *ir = &e->sch->ir;
    const hone_expr *all = NULL;
    for (uint32_t d = 0; d < b->rank; d++) {
        if (!b->ends[d]) continue;
        const hone_expr *part = hone_expr_binary(ir, HONE_OP_LT, vars[d], b->ends[d]);
        all = all ? hone_expr_binary(ir, HONE_OP_AND, all, part) : part;
    }
    return all;
}

static const hone_expr *copied_value(einsum *e, const pad_buffer *b, const hone_expr *const *vars) {
    hone_ir *ir = &e->sch->ir;
    if (b->is_written) return hone_func_load(ir, e->sch->func, b->fresh, vars);
    hone_dtype dtype = hone_func_buffer(e->sch->func, b->old)->dtype;
    const hone_expr *zero = hone_dtype_is_float(dtype)  ? hone_expr_float(ir, dtype, 0)
                            : hone_dtype_is_bool(dtype) ? hone_expr_bool(ir, false)
                                                        : hone_expr_int(ir, dtype, 0);
    if (b->is_filled_here) return zero;
    const hone_expr *args[] = {inside(e, b, vars), hone_func_load(ir, e->sch->func, b->old, vars),
                               zero};
    return hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
}

static hone_status make_copy(einsum *e, const pad_buffer *b) {
    hone_schedule *sch = e->sch;
    const hone_expr *const *shape =
        b->is_written ? hone_func_buffer(sch->func, b->old)->shape : b->shape;
    sch_draft d;
    hone_node_id copy;
    HONE_TRY(sch_begin_draft(sch, b->rank, &d));
    for (uint32_t i = 0; i < b->rank; i++)
        HONE_TRY(sch_draft_dim(sch, &d, "i", shape[i]));
    hone_node_id store = sch_make_store(sch, b->is_written ? b->old : b->fresh, b->rank, d.vars,
                                        copied_value(e, b, d.vars));
    HONE_TRY(sch_draft_block(sch, &d, sch_buffer_name(sch, b->fresh), store, &copy));
    sch_place_nest(sch, &d.nest, copy, b->is_written ? e->last : e->top, b->is_written);
    if (b->is_written) e->last = d.nest.top;
    return HONE_OK;
}

static bool is_declared_by_hand(const hone_block *block) {
    return hone_attrs_find(&block->annotations, "explicit_read_region") ||
           hone_attrs_find(&block->annotations, "explicit_write_region");
}

static hone_status grow_buffer(einsum *e, pad_buffer *b) {
    hone_schedule *sch = e->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, b->old);
    const char *name = sch_name(sch, info->name, "_pad", -1);
    b->fresh = sch_make_buffer(sch, name, info->dtype, b->rank, b->shape, info->scope);
    if (b->fresh == HONE_NO_ID) return sch_no_memory();
    HONE_TRY(sch_add_alloc(sch, e->scope, b->fresh));
    HONE_TRY(make_copy(e, b));
    if (!b->is_written && !b->is_filled_here) HONE_TRY(sch_declare_pad_copy(e, b));
    return sch_redirect_accesses(sch, e->top, b->old, b->fresh, NULL, true);
}

/* A region that was given by hand may hold for the old axes only. */
static hone_status check_declared(einsum *e) {
    hone_schedule *sch = e->sch;
    const hone_block *block = sch_block(sch, e->block);
    hone_block found;
    if (!is_declared_by_hand(block)) return HONE_OK;
    HONE_TRY(hone_block_infer_regions(sch->func, e->block, sch->arena, &found));
    for (uint32_t i = 0; i < found.read_count + found.write_count; i++) {
        bool is_read = i < found.read_count;
        const hone_region *actual = is_read ? &found.reads[i] : &found.writes[i - found.read_count];
        const hone_region *declared = is_read ? block->reads : block->writes;
        uint32_t count = is_read ? block->read_count : block->write_count, r = 0;
        while (r < count && !hone_region_covers(&sch->arith, sch->func, &declared[r], actual))
            r++;
        if (r < count) continue;
        return sch_refuse(sch, e->block,
                          "the region of '%s' that was given for %s does not hold what it touches "
                          "when it is padded",
                          sch_buffer_name(sch, actual->buffer), sch_block_name(sch, e->block));
    }
    return HONE_OK;
}

static hone_status grow_axes(einsum *e) {
    hone_schedule *sch = e->sch;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, e->block));
    hone_axis *axes = hone_arena_alloc(sch->arena, (e->axis_count + 1) * sizeof *axes);
    if (!block || !axes) return sch_no_memory();
    for (uint32_t i = 0; i < e->axis_count; i++) {
        axes[i] = block->axes[i];
        if (!e->extents[i]) continue;
        axes[i].dom.extent = e->extents[i];
        if (!hone_arith_bind(&sch->arith, axes[i].var, axes[i].dom)) return sch_no_memory();
        if (e->loops[i] == HONE_NO_ID) continue;
        hone_node *loop = sch_node(sch, e->loops[i]);
        loop->u.loop.range.extent = e->extents[i];
        if (!hone_arith_bind(&sch->arith, loop->u.loop.var, loop->u.loop.range)) {
            return sch_no_memory();
        }
    }
    block->axes = axes;
    sch_node(sch, e->block)->u.block.block = block;
    sch_forget_facts(sch, e->block);
    return check_declared(e);
}

/* Copies in first; each of them stands behind the one before. */
static hone_status grow(einsum *e) {
    for (int writes = 0; writes < 2; writes++) {
        for (uint32_t i = 0; i < e->buffer_count; i++) {
            pad_buffer *b = &e->buffers[i];
            if (b->grows && b->is_written == (writes == 1)) HONE_TRY(grow_buffer(e, b));
        }
    }
    return grow_axes(e);
}

/* After a refusal: the ranges as the program that came back has them. */
static bool bind_old_ranges(einsum *e) {
    hone_schedule *sch = e->sch;
    const hone_block *block = sch_block(sch, e->block);
    for (uint32_t i = 0; i < e->axis_count; i++) {
        if (!e->extents[i]) continue;
        if (!hone_arith_bind(&sch->arith, block->axes[i].var, block->axes[i].dom)) return false;
        if (e->loops[i] == HONE_NO_ID) continue;
        const hone_node *loop = sch_node(sch, e->loops[i]);
        if (!hone_arith_bind(&sch->arith, loop->u.loop.var, loop->u.loop.range)) {
            return false;
        }
    }
    return true;
}

/* What the nest writes is copied behind it, or filled with zeros in front of it: its loops have it
 * to themselves no more. */
static hone_status check_visible(const einsum *e) {
    hone_schedule *sch = e->sch;
    for (uint32_t i = 0; i < e->buffer_count; i++) {
        if (!e->buffers[i].is_written && !e->buffers[i].is_filled_here) continue;
        SCH_EACH_BLOCK (sch, e->scope, n) {
            if (!sch_writes(sch_block(sch, n), e->buffers[i].old)) continue;
            HONE_TRY(sch_require_visible(sch, n, sch_node(sch, e->top)->parent));
        }
    }
    return HONE_OK;
}

static hone_status apply(einsum *e) {
    hone_func *saved = NULL;
    if (!is_declared_by_hand(sch_block(e->sch, e->block))) return grow(e);
    HONE_TRY(sch_begin_trial(e->sch, &saved));
    hone_status st = sch_end_trial(e->sch, saved, grow(e));
    if (st && !bind_old_ranges(e)) return hone_status_join(st, sch_no_memory());
    return st;
}

hone_status hone_sch_pad_einsum(hone_schedule *sch, hone_rv block, uint32_t count,
                                const int64_t *padding) {
    einsum e = {.sch = sch};
    HONE_TRY(sch_resolve_in_scope(sch, block, &e.block, &e.scope));
    HONE_TRY(check_nest(&e));
    HONE_TRY(find_extents(&e, count, padding));
    HONE_TRY(sch_find_einsum_buffers(&e));
    bool grows = false;
    for (uint32_t i = 0; i < e.axis_count; i++)
        grows |= e.extents[i] != NULL;
    for (uint32_t i = 0; i < e.buffer_count && grows; i++)
        HONE_TRY(sch_plan_pad_buffer(&e, &e.buffers[i]));
    if (grows) {
        HONE_TRY(sch_check_zero_risks(sch, e.block));
        HONE_TRY(sch_check_zero_sums(sch, e.block, e.extents));
        HONE_TRY(check_visible(&e));
        HONE_TRY(apply(&e));
    }
    return sch_record(sch, HONE_INST_PAD_EINSUM,
                      SCH_ARGS(SCH_RV(block), SCH_LIST(count, numbers, padding)));
}

SCH_STEP(PAD_EINSUM, hone_sch_pad_einsum(sch, a[0].rv, a[1].count, a[1].list.numbers),
         .gives = HONE_GIVES_NOTHING, .args = {SCH_ARG_BLOCK(0), SCH_ARG("padding", VALUES, 0)});
