/* schedule/primitive/layout/layout_padding.c - finds a plain writer, inverts layouts and fills
 * padding. */
#include "schedule/primitive/layout/layout_padding.h"

bool sch_layout_invert(sch_layout *l, const hone_expr *const *indices, const hone_expr **out_old,
                       const hone_expr **out_padding) {
    uint32_t count = l->m.iter_count;
    const hone_expr **values = hone_arena_alloc(l->sch->arena, (count + 1) * sizeof *values);
    *out_padding = NULL;
    if (!values) return false;
    if (!hone_itermap_detect(&l->sch->arith, l->m.count, l->m.indices, l->m.iter_count, l->m.iters,
                             NULL, HONE_ITERMAP_INJECTIVE, true, &l->m.detected)) {
        return false;
    }
    if (!hone_itermap_inverse_padded(&l->sch->arith, &l->m.detected, indices, count, l->m.iters,
                                     values, out_padding)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]) return false;
    }
    for (uint32_t i = 0; i < l->m.count; i++) {
        hone_ir *ir = &l->sch->ir;
        if (!l->m.reaches[i]) continue;
        const hone_expr *is_behind = hone_expr_binary(ir, HONE_OP_LE, l->m.reaches[i], indices[i]);
        *out_padding =
            *out_padding ? hone_expr_binary(ir, HONE_OP_OR, *out_padding, is_behind) : is_behind;
        if (!*out_padding) return false;
    }
    return sch_undo_numbers(l->sch, &l->numbers, values, out_old, out_padding);
}

/* ---- the plain writer ---- */

/* The only block that stores to the buffer, or HONE_NO_ID; out_last: the last that does. */
static hone_node_id only_writer(const sch_layout *l, hone_node_id *out_last) {
    hone_schedule *sch = l->sch;
    hone_node_id found = HONE_NO_ID;
    bool is_only = true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != l->buffer) continue;
        hone_node_id block = sch_scope_of(sch, n);
        is_only = is_only && (found == HONE_NO_ID || found == block);
        found = block;
    }
    *out_last = found;
    return is_only ? found : HONE_NO_ID;
}

/* A store at the axes first, first + 1, …, as many as the buffer has dimensions. */
static bool is_at_axes(const sch_layout *l, const hone_block *block, uint32_t rank,
                       const hone_expr *const *indices, uint32_t *out_first) {
    uint32_t first = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (indices[d]->kind != HONE_EXPR_VAR) return false;
        uint32_t a = 0;
        while (a < block->axis_count && block->axes[a].var != indices[d]->u.var)
            a++;
        if (d == 0) first = a;
        if (a == block->axis_count || a != first + d) return false;
        if (block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    *out_first = first;
    return rank == l->rank;
}

typedef struct load_check {
    const sch_layout *l;
    const hone_expr *const *indices;
    bool differs;
} load_check;

/* The buffer itself is loaded where it is stored; others at no loaded index: what a block says it
 * reads stands under no condition, so there such an index would leave its buffer. */
static bool visit_load(void *ctx, const hone_expr *e) {
    load_check *c = ctx;
    if (e->kind != HONE_EXPR_LOAD) return true;
    for (uint32_t d = 0; d < e->count; d++) {
        bool is_own = e->u.buffer == c->l->buffer;
        bool fits = is_own ? hone_expr_same(e->args[d], c->indices[d])
                           : hone_expr_is_pure_index(e->args[d]);
        c->differs = c->differs || !fits;
    }
    return true;
}

/* One store in the body and at most one in the init, both at the same axes, where the body also
 * reads the buffer if it does. */
static bool has_plain_body(sch_layout *l, hone_node_id block) {
    hone_schedule *sch = l->sch;
    hone_node_id store = sch_single_store(sch, block), init = hone_block_init_of(sch->func, block);
    if (store == HONE_NO_ID || sch_node(sch, store)->parent != block) return false;
    if (sch_node(sch, store)->next != HONE_NO_ID) return false;
    hone_node_id before = sch_node(sch, store)->prev;
    if (before != init || sch_block(sch, block)->match_count) return false;
    const hone_node *node = sch_node(sch, store);
    if (node->u.store.buffer != l->buffer ||
        !is_at_axes(l, sch_block(sch, block), node->u.store.rank, node->u.store.indices,
                    &l->first_axis)) {
        return false;
    }
    load_check c = {.l = l, .indices = node->u.store.indices};
    hone_expr_walk(node->u.store.value, visit_load, &c);
    if (init != HONE_NO_ID) {
        hone_node_id at = sch_node(sch, init)->first;
        const hone_node *first = sch_node(sch, at);
        if (first->kind != HONE_NODE_STORE || first->next != HONE_NO_ID) return false;
        for (uint32_t d = 0; d < first->u.store.rank; d++) {
            c.differs = c.differs || !hone_expr_same(first->u.store.indices[d], c.indices[d]);
        }
        c.differs = c.differs || first->u.store.buffer != l->buffer;
    }
    return !c.differs;
}

static bool is_plain_loop(const hone_node *loop, const hone_node *parent) {
    return loop->kind == HONE_NODE_FOR && loop->loop_kind == HONE_LOOP_SERIAL &&
           !loop->u.loop.annotations.count && loop->first == loop->last &&
           (parent->kind == HONE_NODE_FOR || parent->kind == HONE_NODE_BLOCK);
}

/* Serial loops with nothing else in them, of which none ends by another; those of the axes follow
 * each other, in order. */
static bool has_plain_nest(sch_layout *l, hone_node_id block) {
    hone_schedule *sch = l->sch;
    const hone_node *node = sch_node(sch, block);
    const hone_expr *const *shape = hone_func_buffer(sch->func, l->buffer)->shape;
    uint32_t rank = l->rank, run = 0;
    l->first_loop = HONE_NO_ID;
    hone_node_id n = node->parent;
    for (; sch_node(sch, n)->kind == HONE_NODE_FOR; n = sch_node(sch, n)->parent) {
        const hone_node *loop = sch_node(sch, n);
        if (!is_plain_loop(loop, sch_node(sch, loop->parent))) return false;
        if (sch_bounds_depend_on(sch, n) != HONE_NO_ID) return false;
    }
    if (sch_node(sch, n)->kind != HONE_NODE_BLOCK || rank == 0) return false;
    for (n = node->parent; sch_node(sch, n)->kind == HONE_NODE_FOR && run < rank;
         n = sch_node(sch, n)->parent) {
        const hone_node *loop = sch_node(sch, n);
        const hone_expr *binding = node->u.block.bindings[l->first_axis + rank - 1 - run];
        bool is_bound = binding->kind == HONE_EXPR_VAR && binding->u.var == loop->u.loop.var;
        if (!is_bound && run == 0) continue;
        if (!is_bound || !hone_expr_is_int_value(loop->u.loop.range.min, 0) ||
            !hone_prove_equal(&sch->arith, loop->u.loop.range.extent, shape[rank - 1 - run])) {
            return false;
        }
        run++;
        l->first_loop = n;
    }
    return run == rank;
}

hone_status sch_find_plain_writer(sch_layout *l) {
    hone_schedule *sch = l->sch;
    hone_node_id last, writer = only_writer(l, &last);
    l->writer = HONE_NO_ID;
    if (writer == HONE_NO_ID || writer == hone_func_root_block(sch->func)) return HONE_OK;
    if (sch_node(sch, writer)->u.block.predicate) return HONE_OK;
    if (sch_node(sch, writer)->flags & SCH_OPEN) return HONE_OK;
    if (sch_classify(sch, writer, sch_scope_of(sch, writer), NULL) == SCH_BLOCK_OTHER) {
        return HONE_OK;
    }
    if (has_plain_body(l, writer) && has_plain_nest(l, writer)) l->writer = writer;
    return sch_ir_error(sch);
}

/* ---- new axes and loops over the layout ---- */

/* What an index is called: by the parameter that it is. */
static const char *index_name(sch_layout *l, uint32_t i) {
    const hone_expr *index = l->map->indices[i];
    if (index->kind == HONE_EXPR_VAR) return l->map->vars[index->u.var].name;
    return sch_name(l->sch, "axis", "", i);
}

static hone_status make_space(sch_layout *l, sch_draft *s) {
    hone_schedule *sch = l->sch;
    HONE_TRY(sch_begin_draft(sch, l->m.count, s));
    for (uint32_t i = 0; i < l->m.count; i++) {
        const char *name = index_name(l, i);
        name = name ? hone_arena_strdup(sch->arena, name) : NULL;
        const char *axis_name = name ? sch_name(sch, "v_", name, -1) : NULL;
        const hone_expr *extent = l->m.extents[i];
        hone_node_id loop = sch_make_loop(sch, name, extent->dtype, extent);
        HONE_TRY(sch_nest_add_loop(sch, &s->nest, loop));
        const hone_node node = *sch_node(sch, loop);
        HONE_TRY(sch_draft_axis(sch, s, axis_name, HONE_AXIS_SPATIAL, node.u.loop.range,
                                sch_var(sch, node.u.loop.var)));
    }
    return HONE_OK;
}

static hone_status padding_at(sch_layout *l, const hone_expr *const *indices,
                              const hone_expr **out_old, const hone_expr **out_padding) {
    if (sch_layout_invert(l, indices, out_old, out_padding) && *out_padding) {
        return sch_ir_error(l->sch);
    }
    return sch_refuse(l->sch, l->blame, "the index map cannot be inverted");
}

static const hone_expr *pad_value_at(sch_layout *l, const hone_expr *const *indices) {
    const hone_expr *value = NULL;
    hone_index_map_apply(&l->sch->ir, l->pad_value, indices, &value);
    return value ? hone_simplify(&l->sch->arith, value) : NULL;
}

/* ---- padding in the writer ---- */

static hone_status rewrite_store(sch_layout *l, hone_node_id store, const sch_draft *s,
                                 const hone_expr *padding) {
    hone_schedule *sch = l->sch;
    const sch_access_change own = {
        .from = l->buffer, .to = l->buffer, .rank = l->m.count, .at = s->vars};
    HONE_TRY(sch_simplify_accesses(sch, store));
    HONE_TRY(sch_change_accesses(sch, store, &own, false, true));
    const hone_expr *value = sch_node(sch, store)->u.store.value;
    const hone_expr *args[] = {padding, pad_value_at(l, s->vars), value};
    if (!args[1]) return sch_ir_error(sch);
    sch_node(sch, store)->u.store.value =
        hone_expr_call(&sch->ir, value->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args);
    return sch_ir_error(sch);
}

/* The axes of the buffer give way to those of the layout, in their place. */
static hone_status exchange_axes(sch_layout *l, const sch_draft *s) {
    hone_schedule *sch = l->sch;
    uint32_t old_rank = l->rank, new_rank = l->m.count;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, l->writer));
    if (!block) return sch_no_memory();
    uint32_t count = block->axis_count - old_rank + new_rank, at = 0;
    hone_axis *axes = hone_arena_alloc(sch->arena, (count + 1) * sizeof *axes);
    const hone_expr **bindings = hone_arena_alloc(sch->arena, (count + 1) * sizeof *bindings);
    if (!axes || !bindings) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (i == l->first_axis) {
            for (uint32_t k = 0; k < new_rank; k++, at++) {
                axes[at] = s->axes[k];
                bindings[at] = s->nest.bindings[k];
            }
        }
        if (i >= l->first_axis && i < l->first_axis + old_rank) continue;
        axes[at] = block->axes[i];
        bindings[at++] = sch_node(sch, l->writer)->u.block.bindings[i];
    }
    block->axes = axes;
    block->axis_count = count;
    sch_node(sch, l->writer)->u.block.block = block;
    sch_node(sch, l->writer)->u.block.bindings = bindings;
    return HONE_OK;
}

static void exchange_loops(sch_layout *l, const sch_draft *s) {
    hone_func *func = l->sch->func;
    hone_node_id last = l->first_loop;
    for (uint32_t i = 1; i < l->rank; i++)
        last = hone_func_node(func, last)->first;
    hone_tree_move_children(func, last, s->nest.bottom);
    hone_tree_replace(func, l->first_loop, s->nest.top);
}

static hone_status pad_in_writer(sch_layout *l) {
    hone_schedule *sch = l->sch;
    sch_draft s;
    HONE_TRY(make_space(l, &s));
    uint32_t count = sch->func->var_count;
    const hone_expr **old = hone_arena_zalloc(sch->arena, (l->rank + 1) * sizeof *old);
    const hone_expr **map = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *map);
    const hone_expr *padding = NULL;
    if (!old || !map) return sch_no_memory();
    HONE_TRY(padding_at(l, s.vars, old, &padding));
    for (uint32_t d = 0; d < l->rank; d++)
        map[sch_block(sch, l->writer)->axes[l->first_axis + d].var] = old[d];
    hone_node_id store = sch_single_store(sch, l->writer);
    hone_node_id init = hone_block_init_of(sch->func, l->writer);
    HONE_TRY(sch_replace_vars(sch, store, map, count));
    HONE_TRY(rewrite_store(l, store, &s, padding));
    if (init != HONE_NO_ID) {
        HONE_TRY(sch_replace_vars(sch, init, map, count));
        HONE_TRY(rewrite_store(l, sch_node(sch, init)->first, &s, padding));
    }
    HONE_TRY(exchange_axes(l, &s));
    exchange_loops(l, &s);
    HONE_TRY(sch_update_regions(sch, l->writer));
    sch_forget_affine(sch, l->writer);
    sch_forget_facts(sch, l->writer);
    return HONE_OK;
}

/* ---- padding beside the writer ---- */

/* T.assume(not padding or A[place] == value) */
static hone_node_id make_assumption(sch_layout *l, const sch_draft *s) {
    hone_schedule *sch = l->sch;
    hone_ir *ir = &sch->ir;
    const hone_expr *padding = NULL;
    const hone_expr **old = hone_arena_zalloc(sch->arena, (l->rank + 1) * sizeof *old);
    hone_node_id node = hone_func_add_node(sch->func, HONE_NODE_EVAL);
    if (!old || node == HONE_NO_ID || !sch_layout_invert(l, s->vars, old, &padding)) {
        return HONE_NO_ID;
    }
    const hone_expr *load = hone_func_load(ir, sch->func, l->buffer, s->vars);
    const hone_expr *holds = hone_expr_binary(ir, HONE_OP_EQ, load, pad_value_at(l, s->vars));
    const hone_expr *fact = hone_expr_binary(ir, HONE_OP_OR, hone_expr_not(ir, padding), holds);
    const hone_expr *call = hone_expr_call(ir, HONE_DTYPE_BOOL, HONE_INTRIN_ASSUME, 1, &fact);
    if (!call) return HONE_NO_ID;
    sch_node(sch, node)->u.eval.value = call;
    return node;
}

/* The child of the block that holds the buffer in which the last writer is. */
static hone_node_id place_of(const sch_layout *l, hone_node_id last, bool *out_before) {
    hone_schedule *sch = l->sch;
    hone_node_id site = sch_alloc_site(sch, l->buffer), place = last;
    if (site == HONE_NO_ID) site = hone_func_root_block(sch->func);
    while (place != 0 && sch_node(sch, place)->parent != site)
        place = sch_node(sch, place)->parent;
    *out_before = false;
    for (hone_node_id n = place; n != HONE_NO_ID && place != 0;
         n = hone_tree_next(sch->func, place, n)) {
        /* somebody reads in the same nest: what is written behind it would look like a change */
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK || !sch_reads(sch_block(sch, n), l->buffer)) {
            continue;
        }
        *out_before = *out_before || !sch_writes(sch_block(sch, n), l->buffer);
    }
    return place;
}

/* Those that write the buffer have it to themselves no more. */
static hone_status check_writers_see(const sch_layout *l, hone_node_id place) {
    hone_schedule *sch = l->sch;
    hone_node_id writer = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != l->buffer) continue;
        if (sch_scope_of(sch, n) == writer) continue;
        writer = sch_scope_of(sch, n);
        HONE_TRY(sch_require_visible(sch, writer, place));
    }
    return HONE_OK;
}

static hone_status pad_beside(sch_layout *l) {
    hone_schedule *sch = l->sch;
    hone_node_id last, block;
    bool is_before = true;
    sch_draft s;
    only_writer(l, &last);
    HONE_TRY(make_space(l, &s));
    const hone_expr **old = hone_arena_zalloc(sch->arena, (l->rank + 1) * sizeof *old);
    const hone_expr *padding = NULL;
    if (!old) return sch_no_memory();
    HONE_TRY(padding_at(l, s.nest.bindings, old, &padding));
    bool is_read_only = last == HONE_NO_ID;
    hone_node_id body =
        is_read_only ? make_assumption(l, &s)
                     : sch_make_store(sch, l->buffer, l->m.count, s.vars, pad_value_at(l, s.vars));
    const char *stem = sch_name(sch, "buffer_", sch_buffer_name(sch, l->buffer), -1);
    const char *suffix = is_read_only ? "_assumptions" : "_padding";
    if (!is_read_only) s.nest.predicate = padding;
    HONE_TRY(sch_draft_block(sch, &s, stem ? sch_name(sch, stem, suffix, -1) : NULL, body, &block));
    hone_node_id place = sch_node(sch, hone_func_root_block(sch->func))->first;
    if (!is_read_only) {
        place = place_of(l, last, &is_before);
        HONE_TRY(check_writers_see(l, sch_node(sch, place)->parent));
    }
    sch_place_nest(sch, &s.nest, block, place, !is_before);
    sch_forget_facts(sch, block);
    return HONE_OK;
}

hone_status sch_fill_padding(sch_layout *l) {
    if (!l->has_padding) return HONE_OK;
    return l->writer != HONE_NO_ID ? pad_in_writer(l) : pad_beside(l);
}
