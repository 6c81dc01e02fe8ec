/* schedule/state/redirect.c - accesses to one buffer become accesses to another one. */
#include "schedule/state/schedule_impl.h"

/* ---- loads and stores ---- */

typedef struct rewriting {
    hone_schedule *sch;
    const sch_access_change *change;
} rewriting;

static const hone_expr *const *new_indices(const sch_access_change *c, uint32_t rank,
                                           const hone_expr *const *indices) {
    if (c->map) return c->map(c->ctx, rank, indices);
    return c->at ? c->at : indices;
}

static const hone_expr *rewrite_handle(const rewriting *r, hone_ir *ir, const hone_expr *e) {
    hone_func *func = r->sch->func;
    hone_var from = hone_func_buffer(func, r->change->from)->data;
    if (!r->change->has_storage || from == HONE_NO_ID || e->u.var != from) return e;
    hone_buffer_info *to = &func->buffers[r->change->to];
    if (to->data == HONE_NO_ID) to->data = hone_func_add_var(func, to->name, HONE_DTYPE_HANDLE);
    if (to->data == HONE_NO_ID) return hone_ir_fail(ir, sch_no_memory());
    return hone_expr_var(ir, e->dtype, to->data);
}

static const hone_expr *rewrite_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    const rewriting *r = ctx;
    if (e->kind == HONE_EXPR_VAR) return rewrite_handle(r, ir, e);
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != r->change->from) return e;
    const hone_expr *const *indices = new_indices(r->change, e->count, e->args);
    if (!indices) return hone_ir_fail(ir, sch_no_memory());
    return hone_expr_load(ir, e->dtype, r->change->to, r->change->rank, indices);
}

static hone_status rewrite_store(const sch_access_change *c, hone_node *io) {
    const hone_expr *const *indices = new_indices(c, io->u.store.rank, io->u.store.indices);
    if (!indices) return sch_no_memory();
    io->u.store.buffer = c->to;
    io->u.store.rank = c->rank;
    io->u.store.indices = indices;
    return HONE_OK;
}

hone_status sch_change_accesses(hone_schedule *sch, hone_node_id top,
                                const sch_access_change *change, bool with_regions,
                                bool with_stores) {
    rewriting r = {sch, change};
    HONE_TRY(sch_transform(sch, top, rewrite_load, &r, with_regions));
    for (hone_node_id n = top; n != HONE_NO_ID && with_stores;
         n = hone_tree_next(sch->func, top, n)) {
        hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != change->from) continue;
        HONE_TRY(rewrite_store(change, node));
    }
    return sch_ir_error(sch);
}

/* ---- a part of a buffer ---- */

typedef struct redirection {
    hone_schedule *sch;
    hone_buffer from, to;
    const hone_range *box; /* what `to` holds, from its own 0 on; NULL: all, at the same indices */
} redirection;

/* An index of the old buffer, in dimension d, as one of the new. */
static const hone_expr *index_in_box(const redirection *r, uint32_t d, const hone_expr *index) {
    hone_ir *ir = &r->sch->ir;
    hone_dtype scalar = index->dtype;
    scalar.lanes = 1;
    const hone_expr *min = hone_expr_cast(ir, scalar, r->box[d].min);
    const hone_expr *rest = min ? hone_expr_sub(ir, index, min) : NULL;
    return rest ? hone_simplify(&r->sch->arith, rest) : NULL;
}

static const hone_expr *const *indices_in_box(void *ctx, uint32_t rank,
                                              const hone_expr *const *indices) {
    const redirection *r = ctx;
    const hone_expr **out = hone_arena_alloc(r->sch->arena, (rank + 1) * sizeof *out);
    for (uint32_t d = 0; out && d < rank; d++) {
        out[d] = index_in_box(r, d, indices[d]);
        if (!out[d]) return NULL;
    }
    return out;
}

static hone_status redirect_regions(const redirection *r, uint32_t count, const hone_region **io) {
    hone_arena *arena = r->sch->arena;
    uint32_t rank = hone_func_buffer(r->sch->func, r->from)->rank;
    hone_region *list = hone_arena_alloc(arena, (count + 1) * sizeof *list);
    if (!list) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (*io)[i];
        if (list[i].buffer != r->from) continue;
        list[i].buffer = r->to;
        if (!r->box) continue;
        hone_range *ranges = hone_arena_alloc(arena, (rank + 1) * sizeof *ranges);
        if (!ranges) return sch_no_memory();
        for (uint32_t d = 0; d < rank; d++) {
            ranges[d] =
                (hone_range){index_in_box(r, d, list[i].ranges[d].min), list[i].ranges[d].extent};
            if (!ranges[d].min) return sch_no_memory();
        }
        list[i].ranges = ranges;
    }
    *io = list;
    return HONE_OK;
}

static hone_status redirect_views(const redirection *r, hone_block *io) {
    hone_match *matches = hone_arena_alloc(r->sch->arena, (io->match_count + 1) * sizeof *matches);
    if (!matches) return sch_no_memory();
    for (uint32_t i = 0; i < io->match_count; i++) {
        matches[i] = io->matches[i];
        if (matches[i].source.buffer == r->from) matches[i].source.buffer = r->to;
    }
    io->matches = matches;
    return HONE_OK;
}

static hone_status redirect_block(const redirection *r, hone_node_id id, bool writes_too) {
    hone_block *block = hone_block_copy(r->sch->arena, sch_block(r->sch, id));
    if (!block) return sch_no_memory();
    HONE_TRY(redirect_regions(r, block->read_count, &block->reads));
    if (writes_too) HONE_TRY(redirect_regions(r, block->write_count, &block->writes));
    if (!r->box) HONE_TRY(redirect_views(r, block));
    sch_node(r->sch, id)->u.block.block = block;
    return HONE_OK;
}

hone_status sch_redirect_accesses(hone_schedule *sch, hone_node_id top, hone_buffer from,
                                  hone_buffer to, const hone_range *box, bool writes_too) {
    redirection r = {sch, from, to, box};
    sch_access_change change = {.from = from,
                                .to = to,
                                .rank = hone_func_buffer(sch->func, from)->rank,
                                .map = box ? indices_in_box : NULL,
                                .ctx = &r,
                                .has_storage = !box};
    HONE_TRY(sch_change_accesses(sch, top, &change, true, writes_too));
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(sch->func, top, n)) {
        if (sch_node(sch, n)->kind == HONE_NODE_BLOCK) HONE_TRY(redirect_block(&r, n, writes_too));
    }
    return sch_ir_error(sch);
}
