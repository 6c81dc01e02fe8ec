/* schedule/primitive/buffers/reindexing.c - finds an access, moves it to a new buffer and makes the
 * copies. */
#include "schedule/primitive/buffers/reindexing.h"

#include "ir/arith/itermap.h"
#include "schedule/primitive/buffers/reindexing_indices.h"

/* ---- the access ---- */

typedef struct access_search {
    sch_reindexing *r;
    bool differs;
} access_search;

static void note_access(access_search *s, const hone_expr *const *indices) {
    if (!s->r->indices) s->r->indices = indices;
    for (uint32_t d = 0; d < s->r->rank; d++) {
        s->differs = s->differs || !hone_expr_same(s->r->indices[d], indices[d]);
    }
}

static bool visit(void *ctx, const hone_expr *e) {
    access_search *s = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == s->r->buffer) note_access(s, e->args);
    return true;
}

static void look_for_loads(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, visit, ctx);
}

/* An axis that the place does not depend on in truth (i // 8 of 8 values) is none of the copy's,
 * but for one of a single value that is an index by itself. */
static hone_status simplify_place(sch_reindexing *r) {
    const hone_expr **indices = hone_arena_alloc(r->sch->arena, (r->rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t d = 0; d < r->rank; d++) {
        indices[d] = r->indices[d]->kind == HONE_EXPR_VAR
                         ? r->indices[d]
                         : hone_simplify(&r->sch->arith, r->indices[d]);
    }
    r->indices = indices;
    return sch_ir_error(r->sch);
}

static hone_status find_access(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    access_search s = {r, false};
    bool is_leaf = true;
    for (hone_node_id n = hone_tree_next(sch->func, r->block, r->block); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, r->block, n)) {
        const hone_node *node = sch_node(sch, n);
        is_leaf = is_leaf && node->kind != HONE_NODE_BLOCK;
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == r->buffer) {
            note_access(&s, node->u.store.indices);
        }
    }
    if (!is_leaf) {
        return sch_refuse(sch, r->block, "%s holds other blocks", sch_block_name(sch, r->block));
    }
    for (hone_node_id n = sch_node(sch, r->block)->first; n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        hone_tree_walk_exprs(sch->func, n, false, look_for_loads, &s);
    }
    if (r->indices && !s.differs) return simplify_place(r);
    return sch_refuse(sch, r->block, "%s accesses '%s' at %s", sch_block_name(sch, r->block),
                      hone_func_buffer(sch->func, r->buffer)->name,
                      r->indices ? "more than one place" : "no place of its own");
}

static bool uses_var(const sch_reindexing *r, hone_var var) {
    for (uint32_t d = 0; d < r->rank; d++) {
        if (hone_expr_uses_var(r->indices[d], var)) return true;
    }
    return false;
}

/* ---- places that are loaded: B[X[vi], vj] ---- */

static bool is_in_buffer(sch_reindexing *r, const hone_expr *index, const hone_expr *size) {
    const hone_expr *zero = hone_expr_int(&r->sch->ir, index->dtype, 0);
    return zero && hone_prove_less_equal(&r->sch->arith, zero, index) &&
           hone_prove_less(&r->sch->arith, index, size);
}

/* All that the index loads is surely there, for all values of the axes. */
static bool has_safe_loads(sch_reindexing *r, const hone_expr *e) {
    const hone_func *func = r->sch->func;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!has_safe_loads(r, e->args[i])) return false;
        if (e->kind == HONE_EXPR_LOAD &&
            !is_in_buffer(r, e->args[i], hone_func_buffer(func, e->u.buffer)->shape[i])) {
            return false;
        }
    }
    return e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_VAR || e->kind == HONE_EXPR_INT ||
           e->kind == HONE_EXPR_CAST || e->kind == HONE_EXPR_BINARY;
}

/* The loops meet all values of the axes together. */
static bool runs_over_all(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    const hone_node *node = sch_node(sch, r->block);
    const hone_block *block = node->u.block.block;
    uint32_t count = 0;
    const hone_node_id *loops = NULL;
    hone_itermap map;
    if (node->u.block.predicate) return false;
    if (hone_status_consume(sch_loops_of(sch, r->block, &count, &loops))) return false;
    hone_iter *iters = hone_arena_alloc(sch->arena, (count + 1) * sizeof *iters);
    if (!iters) return false;
    for (uint32_t i = 0; i < count; i++) {
        const hone_node *loop = sch_node(sch, loops[i]);
        iters[i] = (hone_iter){loop->u.loop.var, loop->u.loop.range};
    }
    if (!hone_itermap_detect(&sch->arith, block->axis_count, node->u.block.bindings, count, iters,
                             NULL, HONE_ITERMAP_SURJECTIVE, true, &map)) {
        return false;
    }
    for (uint32_t i = 0; i < block->axis_count; i++) {
        hone_bound bound = hone_arith_bound(&sch->arith, node->u.block.bindings[i]);
        int64_t size = hone_expr_const(block->axes[i].dom.extent);
        if (!hone_expr_is_int_value(block->axes[i].dom.min, 0) || size < 1) return false;
        if (bound.min != 0 || bound.max != size - 1) return false;
    }
    return true;
}

/* The copy loads just what the block does: it may be at a place that nobody knows. */
static bool is_loaded_as_is(sch_reindexing *r) {
    if (r->is_write || !sch_loads_always(r)) return false;
    for (uint32_t d = 0; d < r->rank; d++) {
        if (!has_safe_loads(r, r->indices[d])) return false;
    }
    return runs_over_all(r);
}

/* Indices are made of axes (and sizes) alone, and stay in the buffer whatever these are. */
static hone_status check_indices(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, r->buffer);
    for (hone_node_id n = r->block; n != HONE_NO_ID; n = hone_tree_next(sch->func, r->block, n)) {
        const hone_node *node = sch_node(sch, n);
        bool is_used = (node->kind == HONE_NODE_FOR && uses_var(r, node->u.loop.var)) ||
                       (node->kind == HONE_NODE_LET && uses_var(r, node->u.let.var));
        if (!is_used) continue;
        return sch_refuse(sch, n, "the place of '%s' in %s depends on more than its axes",
                          buffer->name, sch_block_name(sch, r->block));
    }
    for (uint32_t d = 0; d < r->rank; d++) {
        const hone_expr *index = r->indices[d];
        bool is_pure = hone_expr_is_pure_index(index);
        if (!is_pure && index->dtype.lanes == 1 && is_loaded_as_is(r)) continue;
        if (!is_pure || index->dtype.lanes != 1) {
            return sch_refuse(sch, r->block,
                              "an index of '%s' in %s is a vector, or loaded where the block may "
                              "not do so",
                              buffer->name, sch_block_name(sch, r->block));
        }
        if (is_in_buffer(r, index, buffer->shape[d])) continue;
        return sch_refuse(sch, r->block,
                          "index %u of '%s' in %s may leave the buffer: a condition keeps it in, "
                          "which a copy would not know",
                          d, buffer->name, sch_block_name(sch, r->block));
    }
    return sch_ir_error(sch);
}

static hone_status list_axes(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    const hone_block *block = sch_block(sch, r->block);
    hone_axis *axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    if (!axes) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (!uses_var(r, block->axes[i].var)) continue;
        if (!hone_expr_is_int_value(block->axes[i].dom.min, 0)) {
            return sch_refuse(sch, r->block, "axis '%s' of %s does not start at 0",
                              sch->func->vars[block->axes[i].var].name,
                              sch_block_name(sch, r->block));
        }
        axes[r->axis_count++] = block->axes[i];
    }
    r->axes = axes;
    return HONE_OK;
}

/* ---- who else is there ---- */

/* Among the blocks in the nest, other than this one: the last that writes what is read, or the
 * first that reads what is written; HONE_NO_ID. */
static hone_node_id find_partner(const sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    hone_node_id found = HONE_NO_ID;
    for (hone_node_id n = sch_next_block(sch, r->scope, r->scope); n != HONE_NO_ID;
         n = sch_next_block(sch, r->scope, n)) {
        const hone_block *other = sch_block(sch, n);
        bool meets = r->is_write ? sch_reads(other, r->buffer) : sch_writes(other, r->buffer);
        if (!meets || n == r->block || !hone_tree_is_ancestor(sch->func, r->top, n)) continue;
        if (r->is_write) return n;
        found = n;
    }
    return found;
}

/* In a nest that it shares with who made what it reads, or reads what it makes, the copies stand
 * below the loops that both have. */
static hone_status find_place(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    r->place = r->scope;
    r->partner = find_partner(r);
    if (r->partner == HONE_NO_ID) return HONE_OK;
    r->place = sch_lca(sch, r->block, r->partner);
    bool is_ordered = r->is_write ? sch_is_before(sch, r->block, r->partner)
                                  : sch_is_before(sch, r->partner, r->block);
    if (r->keeps_loops && is_ordered && sch_node(sch, r->place)->kind == HONE_NODE_FOR) {
        return HONE_OK;
    }
    return sch_refuse(sch, r->partner, "%s %s '%s' in the same nest of loops as %s",
                      sch_block_name(sch, r->partner), r->is_write ? "reads" : "writes",
                      hone_func_buffer(sch->func, r->buffer)->name, sch_block_name(sch, r->block));
}

static hone_status check_nest(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    hone_node_id n = r->block;
    if (sch_node(sch, n)->flags & SCH_OPEN) {
        return sch_refuse(sch, n, "%s uses loops around it in other ways than by its bindings",
                          sch_block_name(sch, n));
    }
    for (; sch_node(sch, n)->parent != r->scope; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, sch_node(sch, n)->parent)->kind == HONE_NODE_FOR) continue;
        return sch_refuse(sch, sch_node(sch, n)->parent,
                          "something other than loops stands around "
                          "%s",
                          sch_block_name(sch, r->block));
    }
    r->top = n;
    HONE_TRY(find_place(r));
    return sch_require_pipeline(sch, r->scope);
}

static hone_status check_writer(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    const char *why = NULL;
    if (sch_classify(sch, r->block, r->scope, &why) == SCH_BLOCK_OTHER) {
        return sch_refuse(sch, r->block, "%s is neither complete nor a reduction: %s",
                          sch_block_name(sch, r->block), why);
    }
    if (sch_has_disjoint_writes(sch, r->block)) return HONE_OK;
    return sch_refuse(sch, r->block,
                      "different values of the axes of %s may write the same element",
                      sch_block_name(sch, r->block));
}

hone_status sch_begin_reindexing(hone_schedule *sch, hone_rv block_rv, bool is_write,
                                 int64_t buffer_index, bool keeps_loops, sch_reindexing *out) {
    *out = (sch_reindexing){
        .sch = sch, .is_write = is_write, .keeps_loops = keeps_loops, .fresh = HONE_NO_ID};
    HONE_TRY(sch_resolve_block(sch, block_rv, &out->block));
    out->scope = sch_scope_of(sch, out->block);
    if (out->scope == HONE_NO_ID) {
        return sch_refuse(sch, out->block, "the root block has no scope");
    }
    HONE_TRY(sch_nth_buffer(sch, out->block, is_write, buffer_index, &out->buffer));
    out->rank = hone_func_buffer(sch->func, out->buffer)->rank;
    HONE_TRY(sch_require_no_views(sch, out->block, out->buffer));
    HONE_TRY(check_nest(out));
    if (is_write) {
        HONE_TRY(check_writer(out));
    } else if (sch_writes(sch_block(sch, out->block), out->buffer)) {
        return sch_refuse(sch, out->block, "%s also writes '%s'", sch_block_name(sch, out->block),
                          hone_func_buffer(sch->func, out->buffer)->name);
    }
    HONE_TRY(find_access(out));
    HONE_TRY(check_indices(out));
    HONE_TRY(list_axes(out));
    return sch_check_reach(out);
}

/* ---- the copy ---- */

static const hone_expr **renamed(sch_reindexing *r, uint32_t count, const hone_expr *const *list,
                                 const hone_expr *const *map, uint32_t map_count) {
    const hone_expr **out = hone_arena_alloc(r->sch->arena, (count + 1) * sizeof *out);
    for (uint32_t i = 0; out && i < count; i++)
        out[i] = hone_expr_substitute(&r->sch->ir, list[i], map, map_count);
    return out;
}

static hone_node_id make_store(hone_schedule *sch, hone_buffer to, uint32_t to_rank,
                               const hone_expr *const *at, const hone_expr *value) {
    hone_node_id store = hone_func_add_node(sch->func, HONE_NODE_STORE);
    if (store == HONE_NO_ID || !value || !at) return HONE_NO_ID;
    sch_node(sch, store)->u.store.buffer = to;
    sch_node(sch, store)->u.store.rank = to_rank;
    sch_node(sch, store)->u.store.indices = at;
    sch_node(sch, store)->u.store.value = value;
    return store;
}

/* The copying block while it is made. */
typedef struct copying {
    hone_axis *axes;
    const hone_expr **bindings, *predicate;
    const hone_expr **map; /* from the old axes and loops to the new */
    uint32_t map_count;
    hone_node_id top, bottom; /* its loops */
} copying;

static hone_status add_loop(hone_schedule *sch, copying *c, hone_node_id loop) {
    if (loop == HONE_NO_ID) return sch_no_memory();
    if (c->top == HONE_NO_ID) {
        c->top = loop;
    } else {
        hone_tree_append(sch->func, c->bottom, loop);
    }
    c->bottom = loop;
    return HONE_OK;
}

/* One loop for each axis. */
static hone_status make_own_loops(sch_reindexing *r, copying *c) {
    hone_schedule *sch = r->sch;
    for (uint32_t i = 0; i < r->axis_count; i++) {
        hone_node_id loop =
            sch_make_loop(sch, sch_name(sch, "ax", "", i), sch->func->vars[r->axes[i].var].dtype,
                          r->axes[i].dom.extent);
        HONE_TRY(add_loop(sch, c, loop));
        c->bindings[i] = sch_var(sch, sch_node(sch, loop)->u.loop.var);
    }
    return sch_ir_error(sch);
}

static hone_status copy_loop(sch_reindexing *r, copying *c, hone_node_id id) {
    hone_schedule *sch = r->sch;
    const hone_node node = *sch_node(sch, id);
    const hone_var_info info = sch->func->vars[node.u.loop.var];
    if (!hone_expr_is_int_value(node.u.loop.range.min, 0)) {
        return sch_refuse(sch, id, "%s does not start at 0", sch_loop_name(sch, id));
    }
    const hone_expr *extent =
        hone_expr_substitute(&sch->ir, node.u.loop.range.extent, c->map, c->map_count);
    hone_node_id loop = sch_make_loop(sch, info.name, info.dtype, extent);
    HONE_TRY(add_loop(sch, c, loop));
    c->map[node.u.loop.var] = sch_var(sch, sch_node(sch, loop)->u.loop.var);
    return sch_ir_error(sch);
}

/* Of the conditions on the block those on the copied loops, and on those that the copies share with
 * it, hold for the copies as well. */
static hone_status copy_predicate(sch_reindexing *r, copying *c, uint32_t loop_count,
                                  const hone_node_id *loops, uint32_t shared,
                                  const hone_expr *condition) {
    hone_schedule *sch = r->sch;
    if (!condition) return HONE_OK;
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        HONE_TRY(copy_predicate(r, c, loop_count, loops, shared, condition->args[0]));
        return copy_predicate(r, c, loop_count, loops, shared, condition->args[1]);
    }
    bool is_on_copied = false, is_on_others = false;
    for (uint32_t i = 0; i < loop_count; i++) {
        hone_var var = sch_node(sch, loops[i])->u.loop.var;
        if (!hone_expr_uses_var(condition, var)) continue;
        is_on_copied = is_on_copied || i < shared || c->map[var];
        is_on_others = is_on_others || (i >= shared && !c->map[var]);
    }
    if (is_on_copied && is_on_others) {
        return sch_refuse(sch, r->block,
                          "a condition on %s is on loops that a copy has and on others",
                          sch_block_name(sch, r->block));
    }
    bool never_holds = hone_expr_is_int_value(condition, 0); /* nothing is used, nor copied */
    if (!is_on_copied && !never_holds) return HONE_OK;
    condition = hone_expr_substitute(&sch->ir, condition, c->map, c->map_count);
    c->predicate =
        c->predicate ? hone_expr_binary(&sch->ir, HONE_OP_AND, c->predicate, condition) : condition;
    return sch_ir_error(sch);
}

/* Loops like those of the block below the place of the copies. */
static hone_status make_like_loops(sch_reindexing *r, copying *c) {
    hone_schedule *sch = r->sch;
    uint32_t loop_count = 0, made = 0, shared = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_loops_of(sch, r->block, &loop_count, &loops));
    while (shared < loop_count && !hone_tree_is_ancestor(sch->func, r->place, loops[shared]))
        shared++;
    for (uint32_t i = shared; i < loop_count; i++) {
        if (!sch_is_copied_loop(r, sch_node(sch, loops[i])->u.loop.var)) continue;
        HONE_TRY(copy_loop(r, c, loops[i]));
    }
    const hone_node node = *sch_node(sch, r->block);
    HONE_TRY(copy_predicate(r, c, loop_count, loops, shared, node.u.block.predicate));
    for (uint32_t i = 0; i < node.u.block.block->axis_count; i++) {
        if (!uses_var(r, node.u.block.block->axes[i].var)) continue;
        c->bindings[made++] =
            hone_expr_substitute(&sch->ir, node.u.block.bindings[i], c->map, c->map_count);
    }
    return sch_ir_error(sch);
}

/* Axes of the copying block, and loops for them. */
static hone_status make_axes(sch_reindexing *r, copying *c) {
    hone_schedule *sch = r->sch;
    HONE_TRY(r->keeps_loops ? make_like_loops(r, c) : make_own_loops(r, c));
    for (uint32_t i = 0; i < r->axis_count; i++) {
        const hone_var_info old = sch->func->vars[r->axes[i].var];
        const char *name = r->keeps_loops ? old.name : sch_name(sch, "v", "", i);
        hone_var var = name ? hone_func_add_named_var(sch->func, name, old.dtype) : HONE_NO_ID;
        if (var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, r->axes[i].dom)) {
            return sch_no_memory();
        }
        c->axes[i] = (hone_axis){var, HONE_AXIS_SPATIAL, r->axes[i].dom};
        c->map[r->axes[i].var] = sch_var(sch, var);
    }
    return sch_ir_error(sch);
}

/* The child of the place that a block is in. */
static hone_node_id child_with(const sch_reindexing *r, hone_node_id block) {
    while (block != HONE_NO_ID && sch_node(r->sch, block)->parent != r->place)
        block = sch_node(r->sch, block)->parent;
    return block;
}

/* Copies of what is read stand where cache_read has them, if they keep the loops of the block:
 * before its nest, or first in the scope where nobody in it writes the buffer. */
static void place_early(const sch_reindexing *r, hone_node_id top) {
    hone_schedule *sch = r->sch;
    const hone_block *copy = sch_block(sch, r->copy);
    bool is_written = false;
    for (hone_node_id n = sch_next_block(sch, r->scope, r->scope); n != HONE_NO_ID;
         n = sch_next_block(sch, r->scope, n)) {
        for (uint32_t i = 0; i < copy->read_count; i++)
            is_written = is_written || sch_writes(sch_block(sch, n), copy->reads[i].buffer);
    }
    hone_node_id anchor =
        is_written ? child_with(r, r->block) : hone_block_body_of(sch->func, r->scope);
    hone_tree_insert_before(sch->func, anchor, top);
}

/* Copies of what is written stand as late as they can in the same case, as cache_write has them:
 * before the first who reads what the block writes, or last in the scope. */
static void place_late(const sch_reindexing *r, hone_node_id top) {
    hone_schedule *sch = r->sch;
    const hone_block *block = sch_block(sch, r->block);
    hone_node_id first = r->partner;
    for (hone_node_id n = sch_next_block(sch, r->scope, r->block);
         n != HONE_NO_ID && first == HONE_NO_ID; n = sch_next_block(sch, r->scope, n)) {
        for (uint32_t i = 0; i < block->write_count; i++) {
            if (sch_reads(sch_block(sch, n), block->writes[i].buffer)) first = n;
        }
    }
    first = child_with(r, first);
    if (first != HONE_NO_ID) {
        hone_tree_insert_before(sch->func, first, top);
    } else {
        hone_tree_append(sch->func, r->scope, top);
    }
}

static hone_status make_copy(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    copying c = {.map_count = sch->func->var_count, .top = HONE_NO_ID, .bottom = HONE_NO_ID};
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    c.axes = hone_arena_alloc(sch->arena, (r->axis_count + 1) * sizeof *c.axes);
    c.bindings = hone_arena_alloc(sch->arena, (r->axis_count + 1) * sizeof *c.bindings);
    c.map = hone_arena_zalloc(sch->arena, (c.map_count + 1) * sizeof *c.map);
    if (!block || !c.axes || !c.bindings || !c.map) return sch_no_memory();
    HONE_TRY(make_axes(r, &c));
    const hone_expr **old = renamed(r, r->rank, r->indices, c.map, c.map_count);
    const hone_expr **fresh = renamed(r, r->fresh_rank, r->fresh_indices, c.map, c.map_count);
    if (!old || !fresh) return sch_no_memory();
    const hone_expr *value = r->is_write ? hone_func_load(&sch->ir, sch->func, r->fresh, fresh)
                                         : hone_func_load(&sch->ir, sch->func, r->buffer, old);
    hone_node_id store = r->is_write ? make_store(sch, r->buffer, r->rank, old, value)
                                     : make_store(sch, r->fresh, r->fresh_rank, fresh, value);
    HONE_TRY(sch_ir_error(sch));
    r->copy = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    if (store == HONE_NO_ID || r->copy == HONE_NO_ID) return sch_no_memory();
    block->name = r->block_name;
    block->axes = c.axes;
    block->axis_count = r->axis_count;
    sch_node(sch, r->copy)->u.block.block = block;
    sch_node(sch, r->copy)->u.block.bindings = c.bindings;
    sch_node(sch, r->copy)->u.block.predicate = c.predicate;
    hone_tree_append(sch->func, r->copy, store);
    HONE_TRY(sch_update_regions(sch, r->copy));
    if (c.bottom != HONE_NO_ID) hone_tree_append(sch->func, c.bottom, r->copy);
    if (c.top == HONE_NO_ID) c.top = r->copy;
    if (r->keeps_loops && r->is_write) {
        place_late(r, c.top);
    } else if (r->keeps_loops) {
        place_early(r, c.top);
    } else if (r->is_write) {
        hone_tree_insert_after(sch->func, r->top, c.top);
    } else {
        hone_tree_insert_before(sch->func, r->top, c.top);
    }
    return HONE_OK;
}

/* ---- the block's own accesses ---- */

static hone_status redirect(sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    const sch_access_change change = {
        .from = r->buffer, .to = r->fresh, .rank = r->fresh_rank, .at = r->fresh_indices};
    for (hone_node_id n = sch_node(sch, r->block)->first; n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        HONE_TRY(sch_change_accesses(sch, n, &change, false, true));
    }
    HONE_TRY(sch_update_regions(sch, r->block));
    sch_forget_facts(sch, r->block);
    return HONE_OK;
}

static hone_status check_declared(const sch_reindexing *r) {
    hone_schedule *sch = r->sch;
    const hone_region *beyond = NULL;
    if (!r->is_write) HONE_TRY(sch_reads_beyond(sch, r->scope, r->buffer, &beyond));
    if (!beyond) return HONE_OK;
    return sch_refuse(sch, r->block, "more of '%s' would be copied than %s says that it reads",
                      hone_func_buffer(sch->func, r->buffer)->name, sch_block_name(sch, r->scope));
}

static hone_status rebuild(sch_reindexing *r, const char *name, const char *storage_scope) {
    hone_schedule *sch = r->sch;
    hone_dtype dtype = hone_func_buffer(sch->func, r->buffer)->dtype;
    r->fresh = sch_make_buffer(sch, name, dtype, r->fresh_rank, r->fresh_shape, storage_scope);
    if (r->fresh == HONE_NO_ID) return sch_no_memory();
    HONE_TRY(sch_add_alloc(sch, r->scope, r->fresh));
    HONE_TRY(make_copy(r));
    HONE_TRY(redirect(r));
    HONE_TRY(check_declared(r));
    return sch_require_pipeline(sch, r->scope);
}

hone_status sch_finish_reindexing(sch_reindexing *r, const char *buffer_name,
                                  const char *storage_scope) {
    hone_func *saved = NULL;
    if (!buffer_name || !r->block_name) return sch_no_memory();
    HONE_TRY(sch_check_new_indices(r));
    if (r->is_write) HONE_TRY(sch_require_visible(r->sch, r->block, r->place));
    HONE_TRY(sch_begin_trial(r->sch, &saved));
    return sch_end_trial(r->sch, saved, rebuild(r, buffer_name, storage_scope));
}
