/* schedule/primitive/buffers/cache_box.c - which part of a buffer a cache holds. */
#include "ir/region/region.h"
#include "schedule/primitive/buffers/caching.h"

static hone_range *ranges_of(const sch_staging *c, const sch_box *box) {
    hone_schedule *sch = c->sch;
    hone_range *ranges = hone_arena_alloc(sch->arena, (c->rank + 1) * sizeof *ranges);
    for (uint32_t d = 0; ranges && d < c->rank; d++) {
        hone_dtype dtype = hone_func_buffer(sch->func, c->buffer)->shape[d]->dtype;
        if (!hone_interval_range(&sch->arith, box->dims[d], dtype, &ranges[d])) return NULL;
    }
    return ranges;
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
static bool box_of_scope(const sch_staging *c, sch_box *out) {
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

static bool holds(const sch_staging *c, const sch_box *outer, const sch_box *inner) {
    for (uint32_t d = 0; d < c->rank; d++) {
        if (!hone_prove_contains(&c->sch->arith, outer->dims[d], inner->dims[d])) return false;
    }
    return true;
}

/* ---- places that are looked up: w[rows[v], j] ---- */

typedef struct lookup {
    const sch_staging *c;
    bool is_steady;
} lookup;

/* What the scope itself writes is not the same all through it. */
static bool check_load(void *ctx, const hone_expr *e) {
    lookup *l = ctx;
    hone_schedule *sch = l->c->sch;
    if (e->kind == HONE_EXPR_CALL) l->is_steady &= hone_intrin_is_pure((hone_intrin)e->op);
    for (hone_node_id n = l->c->scope; e->kind == HONE_EXPR_LOAD && n != HONE_NO_ID;
         n = hone_tree_next(sch->func, l->c->scope, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_BLOCK)
            l->is_steady &= !sch_writes(sch_block(sch, n), e->u.buffer);
        if (node->kind == HONE_NODE_STORE) l->is_steady &= node->u.store.buffer != e->u.buffer;
    }
    return l->is_steady;
}

/* Each run of the scope comes to the block. */
static bool surely_comes_to(hone_schedule *sch, hone_node_id block) {
    if (sch_node(sch, block)->u.block.predicate || !sch_is_below_loops_only(sch, block))
        return false;
    for (hone_node_id n = sch_node(sch, block)->parent; sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        if (!hone_surely_runs(&sch->arith, sch->func, n)) return false;
    }
    return true;
}

static bool reads_just(const sch_staging *c, hone_node_id user, uint32_t dim,
                       const hone_range *place) {
    const hone_block *block = sch_block(c->sch, user);
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_range *range = &block->reads[r].ranges[dim];
        if (block->reads[r].buffer != c->buffer) continue;
        if (!hone_expr_same(range->min, place->min) ||
            !hone_expr_same(range->extent, place->extent)) {
            return false;
        }
    }
    return true;
}

/* Do the users read just the same place of the dimension as the scope says? It is one that it looks
 * up before it begins. */
static bool is_looked_up(const sch_staging *c, uint32_t dim, const hone_range *declared) {
    hone_schedule *sch = c->sch;
    lookup l = {c, true};
    if (hone_expr_is_pure_index(declared->min)) return false;
    hone_expr_walk(declared->min, check_load, &l);
    for (uint32_t i = 0; l.is_steady && i < c->user_count; i++)
        l.is_steady =
            surely_comes_to(sch, c->users[i]) && reads_just(c, c->users[i], dim, declared);
    return l.is_steady;
}

void sch_narrow_to_looked_up(const sch_staging *c, sch_box *io) {
    const hone_block *scope = sch_block(c->sch, c->scope);
    const hone_region *read = hone_region_of(scope->read_count, scope->reads, c->buffer);
    for (uint32_t d = 0; read && io->dims && d < c->rank; d++) {
        if (is_looked_up(c, d, &read->ranges[d]))
            io->dims[d] = interval_of(c->sch, read->ranges[d]);
    }
}

/* No value of it is an index of the dimension. */
static bool is_empty(hone_arith *arith, const hone_interval *dim, const hone_expr *size) {
    if (!dim->min || !dim->max) return false;
    const hone_expr *zero = hone_expr_int(&arith->ir, dim->max->dtype, 0);
    return hone_prove_less(arith, dim->max, dim->min) ||
           (zero && hone_prove_less(arith, dim->max, zero)) ||
           hone_prove_less_equal(arith, size, dim->min);
}

hone_status sch_check_not_empty(const sch_staging *c, const sch_box *box) {
    hone_schedule *sch = c->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, c->buffer);
    for (uint32_t d = 0; box->dims && d < info->rank; d++) {
        if (!is_empty(&sch->arith, &box->dims[d], info->shape[d])) continue;
        return sch_refuse(sch, c->block, "%s touches nothing of '%s', nothing would be copied",
                          sch_block_name(sch, c->block), info->name);
    }
    return sch_ir_error(sch);
}

hone_status sch_check_outside(const sch_staging *c, const sch_box *box) {
    hone_schedule *sch = c->sch;
    sch_box declared;
    if (sch_scope_of(sch, c->scope) == HONE_NO_ID) return HONE_OK;
    if (box_of_scope(c, &declared) && !holds(c, &declared, box)) {
        HONE_TRY(sch_ir_error(sch));
        return sch_refuse(sch, c->block, "more of '%s' would be copied than %s says that it reads",
                          sch_buffer_name(sch, c->buffer), sch_block_name(sch, c->scope));
    }
    const hone_range *ranges = ranges_of(c, box);
    HONE_TRY(sch_ir_error(sch));
    if (ranges && sch_was_written_outside(sch, c->scope, &(hone_region){c->buffer, ranges})) {
        return HONE_OK;
    }
    return sch_refuse(sch, c->block, "'%s' may hold no values yet in all of the box that is copied",
                      sch_buffer_name(sch, c->buffer));
}

/* Is it a box of known size within the buffer, and not all of it? Where a place is looked up, it is
 * the program that says that it is within. */
static bool is_part(const sch_staging *c, const hone_range *ranges) {
    hone_schedule *sch = c->sch;
    bool is_whole = true;
    for (uint32_t d = 0; d < c->rank; d++) {
        const hone_expr *size = hone_func_buffer(sch->func, c->buffer)->shape[d];
        if (!hone_expr_is_int(ranges[d].extent)) return false;
        if (hone_expr_is_pure_index(ranges[d].min) &&
            !hone_prove_part(&sch->arith, ranges[d], size)) {
            return false;
        }
        is_whole = is_whole && hone_prove_equal(&sch->arith, ranges[d].extent, size);
    }
    return !is_whole;
}

/* What blocks say that they access may be less than what they do. */
static bool may_be_hidden(const hone_schedule *sch) {
    for (uint32_t i = 0; i < sch->trace.count; i++) {
        if (sch->trace.insts[i].kind == HONE_INST_UNSAFE_HIDE_BUFFER_ACCESS) return true;
    }
    return false;
}

hone_status sch_choose_cache_box(sch_staging *c, bool is_all_written, sch_box *io) {
    hone_schedule *sch = c->sch;
    sch_box whole = {0};
    if (c->place != c->scope || c->is_whole) return HONE_OK;
    if (c->writer == HONE_NO_ID) {
        bool is_known = box_of_scope(c, &whole) && holds(c, &whole, io);
        HONE_TRY(sch_ir_error(sch));
        if (!is_known || hone_status_consume(sch_check_outside(c, &whole))) return HONE_OK;
        *io = whole;
    } else if (!is_all_written) {
        return HONE_OK;
    }
    const hone_range *ranges = ranges_of(c, io);
    if (!ranges || !is_part(c, ranges)) return sch_ir_error(sch);
    if (may_be_hidden(sch)) {
        return sch_refuse(
            sch, c->block,
            "a part of '%s' would be cached, and accesses to more of it may be hidden",
            sch_buffer_name(sch, c->buffer));
    }
    c->box = ranges;
    return HONE_OK;
}
