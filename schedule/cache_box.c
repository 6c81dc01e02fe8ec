/* schedule/cache_box.c - which part of a buffer a cache holds, and accesses to that part. */
#include "schedule/caching.h"

/* ---- the box ---- */

static uint32_t rank_of(const caching *c) {
    return hone_func_buffer(c->sch->func, c->buffer)->rank;
}

static hone_range *ranges_of(const caching *c, const sch_box *box) {
    hone_schedule *sch = c->sch;
    hone_range *ranges = hone_arena_alloc(sch->arena, (rank_of(c) + 1) * sizeof *ranges);
    for (uint32_t d = 0; ranges && d < rank_of(c); d++) {
        hone_dtype dtype = hone_func_buffer(sch->func, c->buffer)->shape[d]->dtype;
        if (!hone_interval_range(&sch->arith, box->dims[d], dtype, &ranges[d])) return NULL;
    }
    return ranges;
}

hone_status sch_check_outside(caching *c, const sch_box *box) {
    hone_schedule *sch = c->sch;
    if (sch_scope_of(sch, c->scope) == HONE_NO_ID) return HONE_OK;
    const hone_range *ranges = ranges_of(c, box);
    HONE_TRY(sch_ir_error(sch));
    if (ranges && sch_was_written_outside(sch, c->scope, &(hone_region){c->buffer, ranges})) {
        return HONE_OK;
    }
    return sch_refuse(sch, c->block, "'%s' may hold no values yet in all of the box that is copied",
                      hone_func_buffer(sch->func, c->buffer)->name);
}

/* [min, min + extent) as an interval with its last value. */
static hone_interval interval_of(hone_schedule *sch, hone_range range) {
    const hone_expr *one = hone_expr_int(&sch->ir, range.extent->dtype, 1);
    const hone_expr *end = hone_expr_add(&sch->ir, range.min, range.extent);
    const hone_expr *last = end && one ? hone_expr_sub(&sch->ir, end, one) : NULL;
    return (hone_interval){range.min, last ? hone_simplify(&sch->arith, last) : NULL};
}

/* What the scope says that it reads of the buffer; of the whole program, all of a parameter. False:
 * nothing of it is known. */
static bool box_of_scope(const caching *c, sch_box *out) {
    hone_schedule *sch = c->sch;
    const hone_block *scope = sch_block(sch, c->scope);
    const hone_buffer_info *info = hone_func_buffer(sch->func, c->buffer);
    bool is_root = sch_scope_of(sch, c->scope) == HONE_NO_ID;
    const hone_region *read = NULL;
    for (uint32_t i = 0; i < scope->read_count && !is_root; i++) {
        if (scope->reads[i].buffer == c->buffer) read = &scope->reads[i];
    }
    if (!read && (!is_root || sch_alloc_site(sch, c->buffer) != HONE_NO_ID)) return false;
    out->buffer = c->buffer;
    out->dims = hone_arena_alloc(sch->arena, (info->rank + 1) * sizeof *out->dims);
    for (uint32_t d = 0; out->dims && d < info->rank; d++) {
        hone_range all = {hone_expr_int(&sch->ir, info->shape[d]->dtype, 0), info->shape[d]};
        if (!all.min) return false;
        out->dims[d] = interval_of(sch, read ? read->ranges[d] : all);
        if (!out->dims[d].max) return false;
    }
    return out->dims != NULL;
}

static bool holds(const caching *c, const sch_box *outer, const sch_box *inner) {
    hone_arith *arith = &c->sch->arith;
    for (uint32_t d = 0; d < rank_of(c); d++) {
        const hone_interval *a = &outer->dims[d], *b = &inner->dims[d];
        if (!b->min || !b->max || !hone_prove_less_equal(arith, a->min, b->min) ||
            !hone_prove_less_equal(arith, b->max, a->max)) {
            return false;
        }
    }
    return true;
}

/* Is it a box of known size within the buffer, and not all of it? */
static bool is_part(const caching *c, const hone_range *ranges) {
    hone_schedule *sch = c->sch;
    bool is_whole = true;
    for (uint32_t d = 0; d < rank_of(c); d++) {
        const hone_expr *size = hone_func_buffer(sch->func, c->buffer)->shape[d];
        const hone_expr *zero = hone_expr_int(&sch->ir, size->dtype, 0);
        const hone_expr *end = hone_expr_add(&sch->ir, ranges[d].min, ranges[d].extent);
        if (!zero || !end || !hone_expr_is_int(ranges[d].extent) ||
            !hone_prove_less_equal(&sch->arith, zero, ranges[d].min) ||
            !hone_prove_less_equal(&sch->arith, end, size)) {
            return false;
        }
        is_whole = is_whole && hone_prove_equal(&sch->arith, ranges[d].extent, size);
    }
    return !is_whole;
}

hone_status sch_choose_cache_box(caching *c, bool is_all_written, sch_box *io) {
    hone_schedule *sch = c->sch;
    sch_box whole = {0};
    if (c->place != c->scope) return HONE_OK;
    if (c->writer == HONE_NO_ID) {
        bool is_known = box_of_scope(c, &whole) && holds(c, &whole, io);
        HONE_TRY(sch_ir_error(sch));
        if (!is_known || hone_status_consume(sch_check_outside(c, &whole))) return HONE_OK;
        *io = whole;
    } else if (!is_all_written) {
        return HONE_OK;
    }
    const hone_range *ranges = ranges_of(c, io);
    if (ranges && is_part(c, ranges)) c->box = ranges;
    return sch_ir_error(sch);
}

/* ---- accesses ---- */

/* An index of the buffer as one of the box. */
static const hone_expr *in_box(const caching *c, uint32_t d, const hone_expr *index) {
    hone_ir *ir = &c->sch->ir;
    hone_dtype scalar = index->dtype;
    scalar.lanes = 1;
    const hone_expr *min = hone_expr_cast(ir, scalar, c->box[d].min);
    const hone_expr *rest = min ? hone_expr_sub(ir, index, min) : NULL;
    return rest ? hone_simplify(&c->sch->arith, rest) : NULL;
}

static const hone_expr **all_in_box(const caching *c, uint32_t rank,
                                    const hone_expr *const *indices) {
    const hone_expr **out = hone_arena_alloc(c->sch->arena, (rank + 1) * sizeof *out);
    for (uint32_t d = 0; out && d < rank; d++) {
        out[d] = in_box(c, d, indices[d]);
        if (!out[d]) return NULL;
    }
    return out;
}

static const hone_expr *redirect_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    const caching *c = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != c->buffer) return e;
    const hone_expr **indices = all_in_box(c, e->count, e->args);
    if (!indices) return hone_ir_fail(ir, sch_no_memory());
    return hone_expr_load(ir, e->dtype, c->cache, e->count, indices);
}

static hone_status redirect_regions(const caching *c, uint32_t count, const hone_region **io) {
    hone_schedule *sch = c->sch;
    hone_region *list = hone_arena_alloc(sch->arena, (count + 1) * sizeof *list);
    if (!list) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (*io)[i];
        if (list[i].buffer != c->buffer) continue;
        hone_range *ranges = hone_arena_alloc(sch->arena, (rank_of(c) + 1) * sizeof *ranges);
        if (!ranges) return sch_no_memory();
        for (uint32_t d = 0; d < rank_of(c); d++) {
            ranges[d] = (hone_range){in_box(c, d, list[i].ranges[d].min), list[i].ranges[d].extent};
            if (!ranges[d].min) return sch_no_memory();
        }
        list[i] = (hone_region){c->cache, ranges};
    }
    *io = list;
    return HONE_OK;
}

static hone_status redirect_node(const caching *c, hone_node_id id, bool writes_too) {
    hone_schedule *sch = c->sch;
    const hone_node node = *sch_node(sch, id);
    if (node.kind == HONE_NODE_BLOCK) {
        hone_block *block = hone_block_copy(sch->arena, node.u.block.block);
        if (!block) return sch_no_memory();
        HONE_TRY(redirect_regions(c, block->read_count, &block->reads));
        if (writes_too) HONE_TRY(redirect_regions(c, block->write_count, &block->writes));
        sch_node(sch, id)->u.block.block = block;
    } else if (node.kind == HONE_NODE_STORE && writes_too && node.u.store.buffer == c->buffer) {
        const hone_expr **indices = all_in_box(c, node.u.store.rank, node.u.store.indices);
        if (!indices) return sch_no_memory();
        sch_node(sch, id)->u.store.buffer = c->cache;
        sch_node(sch, id)->u.store.indices = indices;
    }
    return HONE_OK;
}

hone_status sch_redirect_to_cache(const caching *c, hone_node_id top, bool writes_too) {
    hone_schedule *sch = c->sch;
    if (!c->box) return sch_redirect_accesses(sch, top, c->buffer, c->cache, writes_too);
    caching copy = *c;
    HONE_TRY(hone_tree_transform(sch->func, top, redirect_load, &copy, true));
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(sch->func, top, n))
        HONE_TRY(redirect_node(c, n, writes_too));
    return sch_ir_error(sch);
}
