/* schedule/primitive/layout/prim_decompose_padding.c - decompose_padding: fills with the padding in
 * front of a loop, then computes what is inside only.
 *
 *     for i in 12: with block P: P[v] = if_then_else(1 <= v and v < 11, A[v - 1], 0)
 *  →  for i in 12: with block P_pad_const: P[v] = 0
 *     for i in 10: with block P: P[v + 1] = A[v]
 *
 * An axis that is cut takes a serial loop with it that is its own from there on and runs over all
 * of it; bound otherwise, it is kept inside by a predicate.
 *
 * Checks: the block is complete; it stores a choice between a value and a constant; each part of
 * the condition bounds one axis by numbers and sizes of the program; a predicate of the block
 * follows from its axes; loops further out whose iterations run side by side do not share elements,
 * which would be padding for a moment. Where the loop holds more than the nest of the block, all
 * padding is filled in before any of that: the loops are serial, nobody else below writes the
 * buffer, and each element has one place in the padding or inside of it.
 */
#include "schedule/primitive/primitive_impl.h"

typedef struct padding {
    hone_schedule *sch;
    hone_node_id block, loop, store;
    const hone_expr *condition, *inside, *outside;
    const hone_expr **low, **high; /* by axis: [low, high) is inside */
    bool *is_cut;                  /* by axis */
    hone_node_id *own_loop;        /* by axis: the loop that is cut with it, or HONE_NO_ID */
} padding;

static hone_status check_choice(padding *p) {
    hone_schedule *sch = p->sch;
    p->store = sch_single_store(sch, p->block);
    const hone_expr *value = p->store == HONE_NO_ID ? NULL : sch_node(sch, p->store)->u.store.value;
    bool is_choice = value && (value->kind == HONE_EXPR_SELECT ||
                               hone_expr_is_call(value, HONE_INTRIN_IF_THEN_ELSE));
    if (is_choice) {
        p->condition = value->args[0];
        p->inside = value->args[1];
        p->outside = value->args[2];
        if (p->outside->kind == HONE_EXPR_INT || p->outside->kind == HONE_EXPR_FLOAT)
            return HONE_OK;
    }
    return sch_refuse(
        sch, p->block,
        "%s is no padding: it does not store if_then_else(condition, value, constant)",
        sch_block_name(sch, p->block));
}

static hone_status not_a_bound(padding *p) {
    return sch_refuse(p->sch, p->block,
                      "a part of the condition in %s does not bound one axis by numbers and sizes",
                      sch_block_name(p->sch, p->block));
}

/* The larger one of two ends, or the smaller one. */
static const hone_expr *nearer(padding *p, hone_op op, const hone_expr *a, const hone_expr *b) {
    hone_schedule *sch = p->sch;
    const hone_expr *less = op == HONE_OP_MIN ? a : b, *more = op == HONE_OP_MIN ? b : a;
    if (hone_prove_less_equal(&sch->arith, less, more)) return a;
    if (hone_prove_less_equal(&sch->arith, more, less)) return b;
    return hone_expr_binary(&sch->ir, op, a, b);
}

/* form <= 0 */
static hone_status add_bound(padding *p, hone_linear *form, hone_dtype dtype) {
    hone_schedule *sch = p->sch;
    const hone_block *block = sch_block(sch, p->block);
    uint32_t axis = HONE_NO_ID, at = 0;
    for (uint32_t t = 0; t < form->count; t++) {
        if (form->terms[t].term->kind != HONE_EXPR_VAR) continue;
        for (uint32_t i = 0; i < block->axis_count; i++) {
            if (block->axes[i].var != form->terms[t].term->u.var) continue;
            if (axis != HONE_NO_ID) return not_a_bound(p);
            axis = i;
            at = t;
        }
    }
    if (axis == HONE_NO_ID ||
        !hone_dtype_equal(sch->func->vars[block->axes[axis].var].dtype, dtype))
        return not_a_bound(p);
    int64_t coeff = form->terms[at].coeff;
    if (coeff != 1 && coeff != -1) return not_a_bound(p);
    form->terms[at].coeff = 0;
    hone_linear rest = {.constant = coeff == 1 ? 1 - form->constant : form->constant};
    rest.terms = hone_arena_alloc(sch->arena, (form->count + 1) * sizeof *rest.terms);
    if (!rest.terms) return sch_no_memory();
    for (uint32_t t = 0; t < form->count; t++) {
        if (t == at) continue;
        const hone_expr *term = form->terms[t].term;
        if (!sch_is_fixed(sch, term) || hone_expr_may_fail(term)) return not_a_bound(p);
        rest.terms[rest.count] = form->terms[t];
        rest.terms[rest.count++].coeff *= -coeff;
    }
    const hone_expr *end = hone_linear_expr(&sch->arith, &rest, dtype);
    if (!end) return sch_ir_error(sch);
    if (coeff == 1) p->high[axis] = nearer(p, HONE_OP_MIN, p->high[axis], end);
    if (coeff == -1) p->low[axis] = nearer(p, HONE_OP_MAX, p->low[axis], end);
    return sch_ir_error(sch);
}

/* low <= high, or low < high as integers */
static hone_status add_order(padding *p, const hone_expr *low, const hone_expr *high,
                             bool is_strict) {
    hone_schedule *sch = p->sch;
    hone_linear form;
    if (!hone_dtype_is_integer(low->dtype)) return not_a_bound(p);
    const hone_expr *difference = hone_expr_sub(&sch->ir, low, high);
    if (!difference || !hone_linear_of(&sch->arith, difference, &form)) return not_a_bound(p);
    if (form.constant >= INT32_MAX || form.constant <= -INT32_MAX) return not_a_bound(p);
    form.constant += is_strict;
    return add_bound(p, &form, difference->dtype);
}

static hone_status read_condition(padding *p, const hone_expr *e) {
    if (e->kind != HONE_EXPR_BINARY) return not_a_bound(p);
    switch ((hone_op)e->op) {
    case HONE_OP_AND:
        HONE_TRY(read_condition(p, e->args[0]));
        return read_condition(p, e->args[1]);
    case HONE_OP_LT:
        return add_order(p, e->args[0], e->args[1], true);
    case HONE_OP_LE:
        return add_order(p, e->args[0], e->args[1], false);
    case HONE_OP_GT:
        return add_order(p, e->args[1], e->args[0], true);
    case HONE_OP_GE:
        return add_order(p, e->args[1], e->args[0], false);
    default:
        return not_a_bound(p);
    }
}

static bool has_siblings(const hone_schedule *sch, hone_node_id id) {
    return sch_node(sch, id)->prev != HONE_NO_ID || sch_node(sch, id)->next != HONE_NO_ID;
}

/* The serial loop from p->loop on that runs over the axis, or the beginning of it, and feeds no
 * other axis or block, or HONE_NO_ID. */
static hone_node_id own_loop_of(const padding *p, uint32_t axis) {
    const hone_schedule *sch = p->sch;
    const hone_node *node = sch_node(sch, p->block);
    const hone_expr *binding = node->u.block.bindings[axis];
    const hone_expr *extent = node->u.block.block->axes[axis].dom.extent;
    const hone_expr *predicate = node->u.block.predicate;
    if (binding->kind != HONE_EXPR_VAR) return HONE_NO_ID;
    if (predicate && hone_expr_uses_var(predicate, binding->u.var)) return HONE_NO_ID;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (i != axis && hone_expr_uses_var(node->u.block.bindings[i], binding->u.var)) {
            return HONE_NO_ID;
        }
    }
    hone_node_id below = p->block;
    for (hone_node_id n = node->parent; n != sch_node(sch, p->loop)->parent;
         below = n, n = sch_node(sch, n)->parent) {
        const hone_node *loop = sch_node(sch, n);
        if (has_siblings(sch, below)) return HONE_NO_ID;
        if (loop->u.loop.var != binding->u.var) continue;
        return hone_expr_is_int_value(loop->u.loop.range.min, 0) &&
                       hone_prove_less_equal(&p->sch->arith, loop->u.loop.range.extent, extent) &&
                       loop->loop_kind == HONE_LOOP_SERIAL
                   ? n
                   : HONE_NO_ID;
    }
    return HONE_NO_ID;
}

/* The loops take no value of the axis that is inside. */
static bool misses(const padding *p, uint32_t axis) {
    hone_arith *arith = &p->sch->arith;
    const hone_expr *binding = sch_node(p->sch, p->block)->u.block.bindings[axis];
    return hone_prove_less_equal(arith, p->high[axis], p->low[axis]) ||
           hone_prove_less(arith, binding, p->low[axis]) ||
           hone_prove_less_equal(arith, p->high[axis], binding);
}

/* The axis ends where its own loop does, which may be before. */
static hone_status end_with_loop(padding *p, uint32_t axis) {
    hone_schedule *sch = p->sch;
    const hone_expr *end = sch_node(sch, p->own_loop[axis])->u.loop.range.extent;
    const hone_expr *high =
        nearer(p, HONE_OP_MIN, p->high[axis], hone_expr_cast(&sch->ir, p->high[axis]->dtype, end));
    p->is_cut[axis] = p->is_cut[axis] || high != p->high[axis];
    p->high[axis] = high;
    return sch_ir_error(sch);
}

static hone_status find_inside(padding *p) {
    hone_schedule *sch = p->sch;
    const hone_block *block = sch_block(sch, p->block);
    uint32_t count = block->axis_count;
    const hone_expr **ends = hone_arena_zalloc(sch->arena, 3 * (count + 1) * sizeof *ends);
    p->is_cut = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *p->is_cut);
    p->own_loop = hone_arena_alloc(sch->arena, (count + 1) * sizeof *p->own_loop);
    if (!ends || !p->is_cut || !p->own_loop) return sch_no_memory();
    p->low = ends;
    p->high = ends + count + 1;
    const hone_expr **whole = p->high + count + 1;
    for (uint32_t i = 0; i < count; i++) {
        hone_range dom = block->axes[i].dom;
        p->own_loop[i] = HONE_NO_ID;
        p->low[i] = dom.min;
        whole[i] = hone_simplify(&sch->arith, hone_expr_add(&sch->ir, dom.min, dom.extent));
        p->high[i] = whole[i];
        if (!whole[i]) return sch_ir_error(sch);
    }
    HONE_TRY(read_condition(p, p->condition));
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *min = block->axes[i].dom.min;
        p->is_cut[i] = p->low[i] != min || p->high[i] != whole[i];
        if (p->is_cut[i] && misses(p, i)) {
            return sch_refuse(sch, p->block, "%s is padding only", sch_block_name(sch, p->block));
        }
        if (hone_expr_is_int_value(min, 0)) p->own_loop[i] = own_loop_of(p, i);
        if (p->own_loop[i] != HONE_NO_ID) HONE_TRY(end_with_loop(p, i));
    }
    return HONE_OK;
}

/* The padding of all iterations may be filled in before the rest of the loop runs. */
static bool may_be_lifted(const padding *p) {
    hone_schedule *sch = p->sch;
    const hone_block *block = sch_block(sch, p->block);
    for (hone_node_id n = sch_node(sch, p->block)->parent;; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->loop_kind != HONE_LOOP_SERIAL) return false;
        if (n == p->loop) break;
    }
    if (sch_has_other_statements(sch, p->loop) || !sch_has_disjoint_writes(sch, p->block))
        return false;
    SCH_EACH_BLOCK (sch, p->loop, n) {
        if (n != p->block && sch_writes(sch_block(sch, n), block->writes[0].buffer)) return false;
    }
    return block->write_count == 1 &&
           !hone_has_opaque_access(sch->func, 0, block->writes[0].buffer);
}

static hone_status check_place(padding *p) {
    hone_schedule *sch = p->sch;
    const char *why = NULL;
    hone_node_id scope = sch_scope_of(sch, p->block);
    if (!hone_tree_is_ancestor(sch->func, p->loop, p->block) ||
        sch_scope_of(sch, p->loop) != scope) {
        return sch_refuse(sch, p->loop, "%s is not around %s", sch_loop_name(sch, p->loop),
                          sch_block_name(sch, p->block));
    }
    if (sch_classify(sch, p->block, scope, &why) != SCH_BLOCK_COMPLETE) {
        return sch_refuse(sch, p->block, "%s is not complete: %s", sch_block_name(sch, p->block),
                          why ? why : "it is a reduction");
    }
    if (!sch_predicate_follows(sch, p->block)) {
        return sch_refuse(sch, p->block, "%s has a predicate that does not follow from its axes",
                          sch_block_name(sch, p->block));
    }
    for (hone_node_id n = p->block; n != p->loop; n = sch_node(sch, n)->parent) {
        if (has_siblings(sch, n) && !may_be_lifted(p)) {
            return sch_refuse(sch, p->loop, "there is more than the nest of %s in %s",
                              sch_block_name(sch, p->block), sch_loop_name(sch, p->loop));
        }
    }
    for (hone_node_id n = sch_node(sch, p->loop)->parent; n != scope;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->loop_kind == HONE_LOOP_SERIAL) continue;
        bool is_used = false;
        for (uint32_t i = 0; i < sch_block(sch, p->block)->axis_count; i++) {
            const hone_expr *binding = sch_node(sch, p->block)->u.block.bindings[i];
            is_used = is_used || hone_expr_uses_var(binding, node->u.loop.var);
        }
        if (is_used && sch_has_disjoint_writes(sch, p->block) &&
            sch_has_affine_bindings(sch, p->block)) {
            continue;
        }
        return sch_refuse(sch, n, "iterations of %s, which run side by side, may share elements",
                          sch_loop_name(sch, n));
    }
    return HONE_OK;
}

/* ---- the padding ---- */

/* Copies of the loops from p->loop on; map: old variable -> new one, count of them. */
static hone_status copy_loops(padding *p, const hone_expr **map, uint32_t map_count, sch_nest *io) {
    hone_schedule *sch = p->sch;
    uint32_t count = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, p->block, &count, &loops));
    bool is_inside = false;
    for (uint32_t i = 0; i < count; i++) {
        is_inside = is_inside || loops[i] == p->loop;
        if (!is_inside) continue;
        HONE_TRY(sch_nest_copy_loop(sch, io, loops[i], "", map, map_count));
        sch_node(sch, io->bottom)->u.loop.annotations = (hone_attrs){0};
    }
    return HONE_OK;
}

static hone_status copy_axes(padding *p, const hone_expr **map, uint32_t map_count, sch_draft *io) {
    hone_schedule *sch = p->sch;
    const hone_node old = *sch_node(sch, p->block);
    for (uint32_t i = 0; i < old.u.block.block->axis_count; i++) {
        const hone_axis *axis = &old.u.block.block->axes[i];
        const hone_expr *binding =
            hone_expr_substitute(&sch->ir, old.u.block.bindings[i], map, map_count);
        HONE_TRY(sch_draft_axis(sch, io, sch->func->vars[axis->var].name, axis->kind, axis->dom,
                                binding));
    }
    for (uint32_t i = 0; i < io->count; i++)
        map[old.u.block.block->axes[i].var] = io->vars[i];
    return HONE_OK;
}

static hone_status make_constant(padding *p, sch_draft *d, hone_node_id *out_block) {
    hone_schedule *sch = p->sch;
    const hone_block *old = sch_block(sch, p->block);
    const hone_expr *predicate = sch_node(sch, p->block)->u.block.predicate;
    uint32_t count = sch->func->var_count, rank = sch_node(sch, p->store)->u.store.rank;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *map);
    const hone_expr **indices = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices);
    if (!map || !indices) return sch_no_memory();
    HONE_TRY(sch_begin_draft(sch, old->axis_count, d));
    HONE_TRY(copy_loops(p, map, count, &d->nest));
    if (predicate) d->nest.predicate = hone_expr_substitute(&sch->ir, predicate, map, count);
    HONE_TRY(copy_axes(p, map, count, d));
    const hone_node store = *sch_node(sch, p->store);
    for (uint32_t i = 0; i < rank; i++)
        indices[i] = hone_expr_substitute(&sch->ir, store.u.store.indices[i], map, count);
    hone_node_id body = sch_make_store(sch, store.u.store.buffer, rank, indices,
                                       hone_expr_substitute(&sch->ir, p->outside, map, count));
    return sch_draft_block(sch, d, sch_name(sch, old->name, "_pad_const", -1), body, out_block);
}

/* ---- what is inside ---- */

typedef struct shifting {
    hone_schedule *sch;
    const hone_expr **map; /* axis -> axis + low */
    size_t count;
} shifting;

static const hone_expr *shifted(const shifting *s, const hone_expr *e) {
    return hone_simplify(&s->sch->arith, hone_expr_substitute(&s->sch->ir, e, s->map, s->count));
}

/* How many values of the axis are inside. */
static const hone_expr *count_inside(padding *p, uint32_t axis, hone_dtype dtype) {
    hone_schedule *sch = p->sch;
    if (hone_expr_is_int_value(p->low[axis], 0))
        return hone_expr_cast(&sch->ir, dtype, p->high[axis]); /* min(n, m), in that order */
    const hone_expr *count = hone_expr_sub(&sch->ir, p->high[axis], p->low[axis]);
    return hone_simplify(&sch->arith, hone_expr_cast(&sch->ir, dtype, count));
}

static hone_status cut_loop(padding *p, uint32_t axis) {
    hone_schedule *sch = p->sch;
    hone_node *loop = sch_node(sch, p->own_loop[axis]);
    hone_range *range = &loop->u.loop.range;
    range->extent = count_inside(p, axis, range->extent->dtype);
    if (!range->extent) return sch_ir_error(sch);
    return hone_arith_bind(&sch->arith, loop->u.loop.var, *range) ? HONE_OK : sch_no_memory();
}

/* The binding begins at the inside, outside of which the block does not run. */
static hone_status guard_axis(padding *p, uint32_t axis, const hone_expr **binding) {
    hone_schedule *sch = p->sch;
    const hone_expr *old = *binding;
    const hone_expr *low = hone_expr_cast(&sch->ir, old->dtype, p->low[axis]);
    const hone_expr *high = hone_expr_cast(&sch->ir, old->dtype, p->high[axis]);
    if (!low || !high) return sch_ir_error(sch);
    *binding = hone_simplify(&sch->arith, hone_expr_sub(&sch->ir, old, low));
    if (!*binding) return sch_ir_error(sch);
    if (!hone_prove_less_equal(&sch->arith, low, old)) {
        const hone_expr *condition = hone_expr_binary(&sch->ir, HONE_OP_LE, low, old);
        HONE_TRY(sch_add_predicate(sch, p->block, hone_simplify(&sch->arith, condition)));
    }
    if (hone_prove_less(&sch->arith, old, high)) return HONE_OK;
    const hone_expr *condition = hone_expr_binary(&sch->ir, HONE_OP_LT, old, high);
    return sch_add_predicate(sch, p->block, hone_simplify(&sch->arith, condition));
}

static hone_status cut_axes(padding *p, shifting *s) {
    hone_schedule *sch = p->sch;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, p->block));
    if (!block) return sch_no_memory();
    hone_axis *axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    const hone_expr **bindings =
        hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *bindings);
    if (!axes || !bindings) return sch_no_memory();
    const hone_expr *predicate = sch_node(sch, p->block)->u.block.predicate;
    sch_node(sch, p->block)->u.block.predicate = NULL;
    block->annotations = (hone_attrs){0}; /* both parts are new blocks, as in TVM */
    for (uint32_t i = 0; i < block->axis_count; i++) {
        axes[i] = block->axes[i];
        bindings[i] = sch_node(sch, p->block)->u.block.bindings[i];
        if (!p->is_cut[i]) continue;
        if (p->own_loop[i] == HONE_NO_ID) {
            HONE_TRY(guard_axis(p, i, &bindings[i]));
        } else {
            HONE_TRY(cut_loop(p, i));
        }
        hone_dtype dtype = axes[i].dom.extent->dtype;
        axes[i].dom.min = hone_expr_int(&sch->ir, dtype, 0);
        axes[i].dom.extent = count_inside(p, i, dtype);
        s->map[axes[i].var] = hone_expr_add(&sch->ir, sch_var(sch, axes[i].var), p->low[i]);
        if (!s->map[axes[i].var] || !axes[i].dom.min || !axes[i].dom.extent)
            return sch_ir_error(sch);
        if (!hone_arith_bind(&sch->arith, axes[i].var, axes[i].dom)) return sch_no_memory();
    }
    if (predicate) HONE_TRY(sch_add_predicate(sch, p->block, predicate));
    block->axes = axes;
    sch_node(sch, p->block)->u.block.block = block;
    sch_node(sch, p->block)->u.block.bindings = bindings;
    sch_forget_affine(sch, p->block);
    return sch_ir_error(sch);
}

static hone_status keep_inside(padding *p) {
    hone_schedule *sch = p->sch;
    shifting s = {.sch = sch, .count = sch->func->var_count};
    s.map = hone_arena_zalloc(sch->arena, (s.count + 1) * sizeof *s.map);
    if (!s.map) return sch_no_memory();
    HONE_TRY(cut_axes(p, &s));
    uint32_t rank = sch_node(sch, p->store)->u.store.rank;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t d = 0; d < rank; d++) {
        indices[d] = shifted(&s, sch_node(sch, p->store)->u.store.indices[d]);
        if (!indices[d]) return sch_ir_error(sch);
    }
    const hone_expr *value = shifted(&s, p->inside);
    if (!value) return sch_ir_error(sch);
    sch_node(sch, p->store)->u.store.indices = indices;
    sch_node(sch, p->store)->u.store.value = value;
    return sch_update_regions(sch, p->block);
}

hone_status hone_sch_decompose_padding(hone_schedule *sch, hone_rv block_rv, hone_rv loop_rv,
                                       hone_rv *out_block) {
    padding p = {.sch = sch};
    hone_node_id constant;
    sch_draft d;
    HONE_TRY(sch_resolve_block(sch, block_rv, &p.block));
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &p.loop));
    HONE_TRY(check_place(&p));
    HONE_TRY(sch_require_visible(sch, p.block, sch_node(sch, p.loop)->parent));
    HONE_TRY(check_choice(&p));
    HONE_TRY(find_inside(&p));
    HONE_TRY(make_constant(&p, &d, &constant));
    HONE_TRY(keep_inside(&p));
    sch_place_nest(sch, &d.nest, constant, p.loop, false);
    sch_forget_pipeline(sch, sch_scope_of(sch, p.block));
    return sch_record_node(sch, HONE_INST_DECOMPOSE_PADDING,
                           SCH_ARGS(SCH_RV(block_rv), SCH_RV(loop_rv)), constant, out_block);
}

SCH_STEP(DECOMPOSE_PADDING, hone_sch_decompose_padding(sch, a[0].rv, a[1].rv, NULL),
         .gives = HONE_GIVES_BLOCK, .args = {SCH_ARG_BLOCK(0), SCH_ARG_LOOP(1)});
