/* schedule/primitive/buffers/reindexing.c - finds an access, moves it to a new buffer and makes the
 * copies. */
#include "schedule/primitive/buffers/reindexing.h"

#include "ir/arith/itermap.h"
#include "schedule/primitive/buffers/reindexing_indices.h"
#include "schedule/state/instance_order.h"

/* ---- the access ---- */

typedef struct access_search {
    sch_reindexing *r;
    bool differs;
} access_search;

static void note_access(access_search *s, const hone_expr *const *indices) {
    if (!s->r->indices) s->r->indices = indices;
    for (uint32_t d = 0; d < s->r->s.rank; d++) {
        s->differs = s->differs || !hone_expr_same(s->r->indices[d], indices[d]);
    }
}

static bool visit(void *ctx, const hone_expr *e) {
    access_search *s = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == s->r->s.buffer) note_access(s, e->args);
    return true;
}

/* An axis that the place does not depend on in truth (i // 8 of 8 values) is none of the copy's,
 * but for one of a single value that is an index by itself. */
static hone_status simplify_place(sch_reindexing *r) {
    const hone_expr **indices =
        hone_arena_alloc(r->s.sch->arena, (r->s.rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t d = 0; d < r->s.rank; d++) {
        indices[d] = r->indices[d]->kind == HONE_EXPR_VAR
                         ? r->indices[d]
                         : hone_simplify(&r->s.sch->arith, r->indices[d]);
    }
    r->indices = indices;
    return sch_ir_error(r->s.sch);
}

static hone_status find_access(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    access_search s = {r, false};
    bool is_leaf = true;
    for (hone_node_id n = hone_tree_next(sch->func, r->s.block, r->s.block); n != HONE_NO_ID;
         n = hone_tree_next(sch->func, r->s.block, n)) {
        const hone_node *node = sch_node(sch, n);
        is_leaf = is_leaf && node->kind != HONE_NODE_BLOCK;
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == r->s.buffer) {
            note_access(&s, node->u.store.indices);
        }
    }
    if (!is_leaf) {
        return sch_refuse(sch, r->s.block, "%s holds other blocks",
                          sch_block_name(sch, r->s.block));
    }
    for (hone_node_id n = sch_node(sch, r->s.block)->first; n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        hone_tree_walk_parts(sch->func, n, false, visit, &s);
    }
    if (r->indices && !s.differs) return simplify_place(r);
    return sch_refuse(sch, r->s.block, "%s accesses '%s' at %s", sch_block_name(sch, r->s.block),
                      sch_buffer_name(sch, r->s.buffer),
                      r->indices ? "more than one place" : "no place of its own");
}

/* ---- places that are loaded: B[X[vi], vj] ---- */

/* All that the index loads is surely there, for all values of the axes. */
static bool has_safe_loads(sch_reindexing *r, const hone_expr *e) {
    hone_schedule *sch = r->s.sch;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!has_safe_loads(r, e->args[i])) return false;
        if (e->kind == HONE_EXPR_LOAD &&
            !hone_prove_index(&sch->arith, e->args[i],
                              hone_func_buffer(sch->func, e->u.buffer)->shape[i])) {
            return false;
        }
    }
    return e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_VAR || e->kind == HONE_EXPR_INT ||
           e->kind == HONE_EXPR_CAST || e->kind == HONE_EXPR_BINARY;
}

/* The loops meet all values of the axes together. */
static bool runs_over_all(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_node *node = sch_node(sch, r->s.block);
    const hone_block *block = node->u.block.block;
    uint32_t count = 0;
    const hone_node_id *loops = NULL;
    hone_itermap map;
    if (node->u.block.predicate) return false;
    if (hone_status_consume(sch_loops_of(sch, r->s.block, &count, &loops))) return false;
    hone_iter *iters = sch_iters_of_loops(sch, count, loops);
    if (!iters) return false;
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
    if (r->s.is_write || !sch_loads_always(r)) return false;
    for (uint32_t d = 0; d < r->s.rank; d++) {
        if (!has_safe_loads(r, r->indices[d])) return false;
    }
    return runs_over_all(r);
}

/* Indices are made of axes (and sizes) alone, and stay in the buffer whatever these are. */
static hone_status check_indices(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, r->s.buffer);
    for (hone_node_id n = r->s.block; n != HONE_NO_ID;
         n = hone_tree_next(sch->func, r->s.block, n)) {
        const hone_node *node = sch_node(sch, n);
        bool is_used =
            (node->kind == HONE_NODE_FOR &&
             sch_any_uses(r->s.rank, r->indices, node->u.loop.var)) ||
            (node->kind == HONE_NODE_LET && sch_any_uses(r->s.rank, r->indices, node->u.let.var));
        if (!is_used) continue;
        return sch_refuse(sch, n, "the place of '%s' in %s depends on more than its axes",
                          buffer->name, sch_block_name(sch, r->s.block));
    }
    for (uint32_t d = 0; d < r->s.rank; d++) {
        const hone_expr *index = r->indices[d];
        bool is_pure = hone_expr_is_pure_index(index);
        if (!is_pure && index->dtype.lanes == 1 && is_loaded_as_is(r)) continue;
        if (!is_pure || index->dtype.lanes != 1) {
            return sch_refuse(sch, r->s.block,
                              "an index of '%s' in %s is a vector, or loaded where the block may "
                              "not do so",
                              buffer->name, sch_block_name(sch, r->s.block));
        }
        if (hone_prove_index(&sch->arith, index, buffer->shape[d])) continue;
        return sch_refuse(sch, r->s.block,
                          "index %u of '%s' in %s may leave the buffer: a condition keeps it in, "
                          "which a copy would not know",
                          d, buffer->name, sch_block_name(sch, r->s.block));
    }
    return sch_ir_error(sch);
}

static hone_status list_axes(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_block *block = sch_block(sch, r->s.block);
    hone_axis *axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    if (!axes) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (!sch_any_uses(r->s.rank, r->indices, block->axes[i].var)) continue;
        if (!hone_expr_is_int_value(block->axes[i].dom.min, 0)) {
            return sch_refuse(sch, r->s.block, "axis '%s' of %s does not start at 0",
                              sch->func->vars[block->axes[i].var].name,
                              sch_block_name(sch, r->s.block));
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
    hone_schedule *sch = r->s.sch;
    hone_node_id found = HONE_NO_ID;
    SCH_EACH_BLOCK (sch, r->s.scope, n) {
        const hone_block *other = sch_block(sch, n);
        bool meets = r->s.is_write ? sch_reads(other, r->s.buffer) : sch_writes(other, r->s.buffer);
        if (!meets || n == r->s.block || !hone_tree_is_ancestor(sch->func, r->top, n)) continue;
        if (r->s.is_write) return n;
        found = n;
    }
    return found;
}

/* In a nest that it shares with who made what it reads, or reads what it makes, the copies stand
 * below the loops that both have. */
static hone_status find_place(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    r->s.place = r->s.scope;
    r->partner = find_partner(r);
    if (r->partner == HONE_NO_ID) return HONE_OK;
    r->s.place = sch_lca(sch, r->s.block, r->partner);
    bool is_ordered = r->s.is_write ? sch_is_before(sch, r->s.block, r->partner)
                                    : sch_is_before(sch, r->partner, r->s.block);
    if (r->keeps_loops && is_ordered && sch_node(sch, r->s.place)->kind == HONE_NODE_FOR) {
        return HONE_OK;
    }
    return sch_refuse(sch, r->partner, "%s %s '%s' in the same nest of loops as %s",
                      sch_block_name(sch, r->partner), r->s.is_write ? "reads" : "writes",
                      sch_buffer_name(sch, r->s.buffer), sch_block_name(sch, r->s.block));
}

static hone_status check_nest(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    hone_node_id n = r->s.block;
    HONE_TRY(sch_require_closed(sch, n));
    for (; sch_node(sch, n)->parent != r->s.scope; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, sch_node(sch, n)->parent)->kind == HONE_NODE_FOR) continue;
        return sch_refuse(sch, sch_node(sch, n)->parent,
                          "something other than loops stands around %s",
                          sch_block_name(sch, r->s.block));
    }
    r->top = n;
    HONE_TRY(find_place(r));
    return sch_require_pipeline(sch, r->s.scope);
}

static hone_status check_writer(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    HONE_TRY(sch_require_plain(sch, r->s.block, r->s.scope));
    if (sch_has_disjoint_writes(sch, r->s.block)) return HONE_OK;
    return sch_refuse(sch, r->s.block,
                      "different values of the axes of %s may write the same element",
                      sch_block_name(sch, r->s.block));
}

hone_status sch_begin_reindexing(hone_schedule *sch, hone_rv block_rv, bool is_write,
                                 int64_t buffer_index, bool keeps_loops, sch_reindexing *out) {
    *out = (sch_reindexing){
        .s = {.sch = sch, .is_write = is_write},
          .keeps_loops = keeps_loops
    };
    HONE_TRY(sch_begin_staging(&out->s, block_rv, buffer_index, NULL));
    out->s.user_count = 1;
    out->s.users = &out->s.block;
    HONE_TRY(sch_require_no_views(sch, out->s.block, out->s.buffer));
    HONE_TRY(check_nest(out));
    if (is_write) {
        HONE_TRY(check_writer(out));
    } else if (sch_writes(sch_block(sch, out->s.block), out->s.buffer)) {
        return sch_refuse(sch, out->s.block, "%s also writes '%s'",
                          sch_block_name(sch, out->s.block), sch_buffer_name(sch, out->s.buffer));
    }
    HONE_TRY(find_access(out));
    HONE_TRY(check_indices(out));
    HONE_TRY(list_axes(out));
    return sch_check_reach(out);
}

/* ---- the copy ---- */

static const hone_expr **renamed(sch_reindexing *r, uint32_t count, const hone_expr *const *list,
                                 const hone_expr *const *map, uint32_t map_count) {
    const hone_expr **out = hone_arena_alloc(r->s.sch->arena, (count + 1) * sizeof *out);
    for (uint32_t i = 0; out && i < count; i++)
        out[i] = hone_expr_substitute(&r->s.sch->ir, list[i], map, map_count);
    return out;
}

/* A loop like one of the block; none of its iterations run at once. */
static hone_status copy_loop(sch_reindexing *r, hone_node_id id, const hone_expr **map,
                             uint32_t map_count, sch_nest *io) {
    hone_schedule *sch = r->s.sch;
    if (!hone_expr_is_int_value(sch_node(sch, id)->u.loop.range.min, 0)) {
        return sch_refuse(sch, id, "%s does not start at 0", sch_loop_name(sch, id));
    }
    HONE_TRY(sch_nest_copy_loop(sch, io, id, "", map, map_count));
    hone_node *loop = sch_node(sch, io->bottom);
    loop->loop_kind = HONE_LOOP_SERIAL;
    loop->u.loop.thread_tag = NULL;
    loop->u.loop.annotations = (hone_attrs){0};
    return HONE_OK;
}

/* The loops around the block, outermost first: the first few the copies share with it, of the rest
 * those that the map knows are copied. */
typedef struct copied_loops {
    uint32_t count, shared;
    const hone_node_id *loops;
    const hone_expr **map;
    uint32_t map_count;
} copied_loops;

/* Of the conditions on the block those on the copied loops, and on those that the copies share with
 * it, hold for the copies as well. */
static hone_status copy_predicate(sch_reindexing *r, const copied_loops *c,
                                  const hone_expr *condition, const hone_expr **io) {
    hone_schedule *sch = r->s.sch;
    if (!condition) return HONE_OK;
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        HONE_TRY(copy_predicate(r, c, condition->args[0], io));
        return copy_predicate(r, c, condition->args[1], io);
    }
    bool is_on_copied = false, is_on_others = false;
    for (uint32_t i = 0; i < c->count; i++) {
        hone_var var = sch_node(sch, c->loops[i])->u.loop.var;
        if (!hone_expr_uses_var(condition, var)) continue;
        is_on_copied = is_on_copied || i < c->shared || c->map[var];
        is_on_others = is_on_others || (i >= c->shared && !c->map[var]);
    }
    if (is_on_copied && is_on_others) {
        return sch_refuse(sch, r->s.block,
                          "a condition on %s is on loops that a copy has and on others",
                          sch_block_name(sch, r->s.block));
    }
    bool never_holds = hone_expr_is_int_value(condition, 0); /* nothing is used, nor copied */
    if (!is_on_copied && !never_holds) return HONE_OK;
    condition = hone_expr_substitute(&sch->ir, condition, c->map, c->map_count);
    *io = *io ? hone_expr_binary(&sch->ir, HONE_OP_AND, *io, condition) : condition;
    return sch_ir_error(sch);
}

/* Axes under the same names, in loops like those of the block below the place of the copies. */
static hone_status make_like_axes(sch_reindexing *r, const hone_expr **map, uint32_t map_count,
                                  sch_draft *d) {
    hone_schedule *sch = r->s.sch;
    copied_loops c = {.map = map, .map_count = map_count};
    HONE_TRY(sch_loops_of(sch, r->s.block, &c.count, &c.loops));
    while (c.shared < c.count && !hone_tree_is_ancestor(sch->func, r->s.place, c.loops[c.shared]))
        c.shared++;
    for (uint32_t i = c.shared; i < c.count; i++) {
        if (!sch_is_copied_loop(r, sch_node(sch, c.loops[i])->u.loop.var)) continue;
        HONE_TRY(copy_loop(r, c.loops[i], map, map_count, &d->nest));
    }
    const hone_node node = *sch_node(sch, r->s.block);
    HONE_TRY(copy_predicate(r, &c, node.u.block.predicate, &d->nest.predicate));
    for (uint32_t i = 0; i < node.u.block.block->axis_count; i++) {
        const hone_axis *axis = &node.u.block.block->axes[i];
        if (!sch_any_uses(r->s.rank, r->indices, axis->var)) continue;
        const hone_expr *binding =
            hone_expr_substitute(&sch->ir, node.u.block.bindings[i], map, map_count);
        HONE_TRY(sch_draft_axis(sch, d, sch->func->vars[axis->var].name, HONE_AXIS_SPATIAL,
                                axis->dom, binding));
    }
    return HONE_OK;
}

/* Axes of the copying block, and loops for them; map: from the old axes and loops to the new. */
static hone_status make_axes(sch_reindexing *r, const hone_expr **map, uint32_t map_count,
                             sch_draft *d) {
    if (r->keeps_loops) HONE_TRY(make_like_axes(r, map, map_count, d));
    for (uint32_t i = 0; i < r->axis_count; i++) {
        if (!r->keeps_loops) HONE_TRY(sch_draft_dim(r->s.sch, d, "ax", r->axes[i].dom.extent));
        map[r->axes[i].var] = d->vars[i];
    }
    return HONE_OK;
}

/* Copies of what is read stand where cache_read has them, if they keep the loops of the block:
 * before its nest, or first in the scope where nobody in it writes the buffer. */
static hone_node_id early_anchor(const sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_block *copy = sch_block(sch, r->s.copy);
    SCH_EACH_BLOCK (sch, r->s.scope, n) {
        for (uint32_t i = 0; i < copy->read_count; i++) {
            if (!sch_writes(sch_block(sch, n), copy->reads[i].buffer)) continue;
            return sch_child_towards(sch, r->s.place, r->s.block);
        }
    }
    return hone_block_body_of(sch->func, r->s.scope);
}

/* Copies of what is written stand as late as they can in the same case, as cache_write has them:
 * before the first who reads what the block writes, or last in the scope. */
static hone_status find_late_anchor(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_block *block = sch_block(sch, r->s.block);
    hone_node_id first = r->partner;
    for (hone_node_id n = sch_next_block(sch, r->s.scope, r->s.block);
         n != HONE_NO_ID && first == HONE_NO_ID; n = sch_next_block(sch, r->s.scope, n)) {
        for (uint32_t i = 0; i < block->write_count; i++) {
            if (sch_reads(sch_block(sch, n), block->writes[i].buffer)) first = n;
        }
    }
    r->s.anchor = sch_node(sch, r->s.scope)->last;
    if (first == HONE_NO_ID) return HONE_OK;
    hone_node_id next = sch_child_towards(sch, r->s.place, first);
    r->s.anchor = sch_node(sch, next)->prev;
    if (next != sch_child_towards(sch, r->s.place, r->s.block)) return HONE_OK;
    return sch_refuse(sch, first, "%s reads what %s writes in the same nest of loops",
                      sch_block_name(sch, first), sch_block_name(sch, r->s.block));
}

static hone_status find_anchor(sch_reindexing *r) {
    if (r->keeps_loops && r->s.is_write) return find_late_anchor(r);
    r->s.anchor = r->keeps_loops ? early_anchor(r) : r->top;
    return HONE_OK;
}

static hone_status make_copy(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    uint32_t map_count = sch->func->var_count;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (map_count + 1) * sizeof *map);
    sch_draft d;
    if (!map) return sch_no_memory();
    HONE_TRY(sch_begin_draft(sch, r->axis_count, &d));
    HONE_TRY(make_axes(r, map, map_count, &d));
    hone_node_id store =
        sch_make_copy_store(&r->s, renamed(r, r->s.rank, r->indices, map, map_count),
                            renamed(r, r->fresh_rank, r->fresh_indices, map, map_count));
    HONE_TRY(sch_draft_block(sch, &d, r->block_name, store, &r->s.copy));
    HONE_TRY(find_anchor(r));
    sch_place_copy(&r->s, &d.nest);
    return HONE_OK;
}

/* ---- the block's own accesses ---- */

static hone_status redirect(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const sch_access_change change = {
        .from = r->s.buffer, .to = r->s.stage, .rank = r->fresh_rank, .at = r->fresh_indices};
    for (hone_node_id n = sch_node(sch, r->s.block)->first; n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        HONE_TRY(sch_change_accesses(sch, n, &change, false, true));
    }
    HONE_TRY(sch_update_regions(sch, r->s.block));
    sch_forget_facts(sch, r->s.block);
    return HONE_OK;
}

static hone_status check_declared(const sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    const hone_region *beyond = NULL;
    if (!r->s.is_write) HONE_TRY(sch_reads_beyond(sch, r->s.scope, r->s.buffer, &beyond));
    if (!beyond) return HONE_OK;
    return sch_refuse(sch, r->s.block, "more of '%s' would be copied than %s says that it reads",
                      sch_buffer_name(sch, r->s.buffer), sch_block_name(sch, r->s.scope));
}

static hone_status rebuild(sch_reindexing *r, const char *name, const char *storage_scope) {
    HONE_TRY(sch_make_stage(&r->s, name, r->fresh_rank, r->fresh_shape, storage_scope));
    HONE_TRY(make_copy(r));
    HONE_TRY(redirect(r));
    HONE_TRY(check_declared(r));
    return sch_require_pipeline(r->s.sch, r->s.scope);
}

hone_status sch_finish_reindexing(sch_reindexing *r, const char *buffer_name,
                                  const char *storage_scope) {
    hone_func *saved = NULL;
    if (!buffer_name || !r->block_name) return sch_no_memory();
    HONE_TRY(sch_check_new_indices(r));
    if (r->s.is_write) HONE_TRY(sch_require_visible(r->s.sch, r->s.block, r->s.place));
    HONE_TRY(sch_begin_trial(r->s.sch, &saved));
    return sch_end_trial(r->s.sch, saved, rebuild(r, buffer_name, storage_scope));
}
