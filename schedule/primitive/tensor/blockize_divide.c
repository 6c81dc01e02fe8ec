/* schedule/primitive/tensor/blockize_divide.c - how blockize divides a block: every binding becomes
 * a multiple of the inner extent, of the loops outside of the new block, plus a part that runs
 * inside over all of that extent:
 *
 *     vi = i0*16 + i1      (i1 inside)   →  vi_o = i0, vi_i = i1, of 16
 */
#include "schedule/primitive/tensor/blockizing.h"

/* ---- what is inside ---- */

static hone_status collect_loops(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    uint32_t count = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, p->block, &count, &loops));
    hone_iter *iters = hone_arena_alloc(sch->arena, (count + 1) * sizeof *iters);
    p->var_count = sch->func->var_count;
    p->is_inner = hone_arena_zalloc(sch->arena, p->var_count + 1);
    p->is_outer = hone_arena_zalloc(sch->arena, p->var_count + 1);
    if (!iters || !p->is_inner || !p->is_outer) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        const hone_node *loop = sch_node(sch, loops[i]);
        bool is_inner = loops[i] == p->top || hone_tree_is_ancestor(sch->func, p->top, loops[i]);
        (is_inner ? p->is_inner : p->is_outer)[loop->u.loop.var] = true;
        iters[i] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
        p->outer_count += !is_inner;
    }
    p->inner_count = count - p->outer_count;
    p->outer_iters = iters;
    p->inner_iters = iters + p->outer_count;
    for (uint32_t i = p->outer_count; i < count; i++) {
        hone_range range = iters[i].range;
        if (!hone_expr_uses_any(range.min, p->is_outer, p->var_count) &&
            !hone_expr_uses_any(range.extent, p->is_outer, p->var_count)) {
            continue;
        }
        return sch_refuse(sch, loops[i], "the bounds of %s depend on a loop outside of it",
                          sch_loop_name(sch, loops[i]));
    }
    return HONE_OK;
}

static hone_status add_condition(hone_schedule *sch, const hone_expr **io, const hone_expr *e) {
    *io = *io ? hone_expr_binary(&sch->ir, HONE_OP_AND, *io, e) : e;
    return *io ? HONE_OK : sch_ir_error(sch);
}

static hone_status divide_predicate(blockizing *b, part *p, const hone_expr *e) {
    hone_schedule *sch = b->sch;
    if (!e || hone_expr_is_int_value(e, 1)) return HONE_OK;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        HONE_TRY(divide_predicate(b, p, e->args[0]));
        return divide_predicate(b, p, e->args[1]);
    }
    bool outer = hone_expr_uses_any(e, p->is_outer, p->var_count);
    bool inner = hone_expr_uses_any(e, p->is_inner, p->var_count);
    if (!inner) return add_condition(sch, &p->outer_predicate, e);
    if (!outer) return add_condition(sch, &p->inner_predicate, e);
    return sch_refuse(sch, p->block,
                      "a condition in the predicate of %s mixes loops inside and outside of the "
                      "new block",
                      sch_block_name(sch, p->block));
}

/* ---- dividing the bindings ---- */

/* e = outer + inner, by terms. False when a term uses both. */
static bool separate(blockizing *b, const part *p, const hone_expr *e, const hone_expr **out_outer,
                     const hone_expr **out_inner) {
    hone_schedule *sch = b->sch;
    hone_linear all;
    if (!hone_linear_of(&sch->arith, e, &all)) return false;
    hone_linear outer = {.constant = all.constant}, inner = {0};
    outer.terms = hone_arena_alloc(sch->arena, (all.count + 1) * sizeof *outer.terms);
    inner.terms = hone_arena_alloc(sch->arena, (all.count + 1) * sizeof *inner.terms);
    if (!outer.terms || !inner.terms) return false;
    for (uint32_t i = 0; i < all.count; i++) {
        const hone_expr *term = all.terms[i].term;
        bool is_inner = hone_expr_uses_any(term, p->is_inner, p->var_count);
        if (is_inner && hone_expr_uses_any(term, p->is_outer, p->var_count)) return false;
        hone_linear *to = is_inner ? &inner : &outer;
        to->terms[to->count++] = all.terms[i];
    }
    *out_outer = hone_linear_expr(&sch->arith, &outer, e->dtype);
    *out_inner = hone_linear_expr(&sch->arith, &inner, e->dtype);
    return *out_outer && *out_inner;
}

/* How many values a sum takes that runs from 0 without gaps; NULL when it starts elsewhere. */
static const hone_expr *reach_of(hone_schedule *sch, const hone_iter_sum *sum, hone_dtype dtype) {
    if (!hone_expr_is_int_value(sum->base, 0)) return NULL;
    if (sum->count == 0) return hone_expr_int(&sch->ir, dtype, 1);
    const hone_iter_split *first = &sum->splits[0];
    const hone_expr *reach = hone_expr_mul(&sch->ir, first->scale, first->extent);
    if (reach && !hone_dtype_equal(reach->dtype, dtype)) {
        reach = hone_expr_cast(&sch->ir, dtype, reach);
    }
    return hone_simplify(&sch->arith, reach);
}

static bool detect(blockizing *b, const part *p, bool of_inner, const hone_expr **indices,
                   hone_itermap *out) {
    hone_schedule *sch = b->sch;
    uint32_t count = sch_block(sch, p->block)->axis_count;
    bool is_once = hone_block_init_of(sch->func, p->block) != HONE_NO_ID;
    return hone_itermap_detect(
        &sch->arith, count, indices, of_inner ? p->inner_count : p->outer_count,
        of_inner ? p->inner_iters : p->outer_iters,
        of_inner ? p->inner_predicate : p->outer_predicate,
        is_once ? HONE_ITERMAP_BIJECTIVE : HONE_ITERMAP_SURJECTIVE, true, out);
}

/* Each binding is outer * inner_extent + inner, both parts running over all of their extents. */
static bool divide_affine(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    const hone_node *node = sch_node(sch, p->block);
    const hone_block *block = node->u.block.block;
    size_t bytes = (block->axis_count + 1) * sizeof(hone_expr *);
    const hone_expr **outer = hone_arena_alloc(sch->arena, bytes);
    const hone_expr **inner = hone_arena_alloc(sch->arena, bytes);
    hone_itermap map;
    if (!outer || !inner) return false;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *binding = hone_simplify(&sch->arith, node->u.block.bindings[i]);
        if (!binding || !separate(b, p, binding, &outer[i], &inner[i])) return false;
    }
    if (!detect(b, p, true, inner, &map)) return false;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *extent = reach_of(sch, &map.sums[i], inner[i]->dtype);
        const hone_expr *times = hone_expr_floordiv(&sch->ir, outer[i], extent);
        times = hone_simplify(&sch->arith, times);
        if (!times) return false;
        if (!hone_prove_equal(&sch->arith, hone_expr_mul(&sch->ir, times, extent), outer[i])) {
            return false;
        }
        outer[i] = times;
        p->axes[i] = (axis_parts){.outer = times, .inner = inner[i], .inner_extent = extent};
    }
    if (!detect(b, p, false, outer, &map)) return false;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        axis_parts *axis = &p->axes[i];
        axis->outer_extent = reach_of(sch, &map.sums[i], outer[i]->dtype);
        const hone_expr *both = hone_expr_mul(&sch->ir, axis->outer_extent, axis->inner_extent);
        if (!both || !hone_expr_is_int_value(block->axes[i].dom.min, 0)) return false;
        if (!hone_prove_equal(&sch->arith, both, block->axes[i].dom.extent)) return false;
    }
    return true;
}

/* No binding uses both kinds of loops: each axis goes to one side as it is. */
static bool divide_whole_axes(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    const hone_node *node = sch_node(sch, p->block);
    const hone_block *block = node->u.block.block;
    if (p->outer_predicate || p->inner_predicate) return false;
    if (hone_block_init_of(sch->func, p->block) != HONE_NO_ID) return false;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *binding = node->u.block.bindings[i];
        const hone_expr *extent = block->axes[i].dom.extent;
        const hone_expr *zero = hone_expr_int(&sch->ir, binding->dtype, 0);
        const hone_expr *one = hone_expr_int(&sch->ir, binding->dtype, 1);
        bool inner = hone_expr_uses_any(binding, p->is_inner, p->var_count);
        bool outer = hone_expr_uses_any(binding, p->is_outer, p->var_count);
        if (!zero || !one || !hone_expr_is_int_value(block->axes[i].dom.min, 0)) return false;
        if (inner && outer) return false;
        p->axes[i] = inner ? (axis_parts){zero, binding, one, extent}
                           : (axis_parts){binding, zero, extent, one};
    }
    return true;
}

hone_status sch_divide_part(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    const hone_block *block = sch_block(sch, p->block);
    HONE_TRY(collect_loops(b, p));
    HONE_TRY(divide_predicate(b, p, sch_node(sch, p->block)->u.block.predicate));
    p->axes = hone_arena_zalloc(sch->arena, (block->axis_count + 1) * sizeof *p->axes);
    p->outer_vars = hone_arena_zalloc(sch->arena, (block->axis_count + 1) * sizeof *p->outer_vars);
    if (!p->axes || !p->outer_vars) return sch_no_memory();
    sch->arith.keeps_units = b->keeps_units;
    bool is_divided = divide_affine(b, p) || divide_whole_axes(b, p);
    sch->arith.keeps_units = false;
    if (is_divided) return sch_ir_error(sch);
    if (p->top == p->block) {
        return sch_refuse(sch, p->block, "the bindings of %s are not affine in the loops around it",
                          sch_block_name(sch, p->block));
    }
    return sch_refuse(sch, p->block,
                      "the bindings of %s can't be divided at %s into multiples of what runs "
                      "inside",
                      sch_block_name(sch, p->block), sch_loop_name(sch, p->top));
}
