/* lower/blocks/lower_match.c - the pass that dissolves T.match_buffer.
 * needs: blocks (their match list). keeps: what is computed. Accesses of a matched buffer become
 * accesses of what it views; its symbolic strides and offset get their values. */
#include "lower/ground/passes.h"

#include <string.h>

typedef struct matching {
    hone_lower *lower;
    const hone_match *match;
} matching;

/* The last dimensions of the view are those of the source region; the ones in front are 1 wide. */
static const hone_expr **source_indices(matching *m, const hone_expr *const *indices) {
    hone_func *func = m->lower->func;
    const hone_region *source = &m->match->source;
    uint32_t view_rank = func->buffers[m->match->buffer].rank;
    uint32_t rank = func->buffers[source->buffer].rank;
    const hone_expr **out = hone_arena_alloc(func->arena, (rank ? rank : 1) * sizeof *out);
    if (!out) return NULL;
    uint32_t lead = rank > view_rank ? rank - view_rank : 0;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *min = source->ranges[d].min;
        out[d] = d < lead ? min : hone_expr_add(&m->lower->ir, min, indices[d - lead]);
        if (!out[d]) return NULL;
    }
    return out;
}

static const hone_expr *rewrite_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    matching *m = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != m->match->buffer) return e;
    const hone_expr **indices = source_indices(m, e->args);
    if (!indices) return hone_ir_fail(ir, LOWER_NO_MEMORY());
    hone_buffer source = m->match->source.buffer;
    return hone_expr_load(ir, e->dtype, source, m->lower->func->buffers[source].rank, indices);
}

static hone_status rewrite_stores(matching *m, hone_node_id root) {
    hone_func *func = m->lower->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != m->match->buffer) continue;
        const hone_expr **indices = source_indices(m, node->u.store.indices);
        if (!indices) return LOWER_NO_MEMORY();
        node->u.store.buffer = m->match->source.buffer;
        node->u.store.rank = func->buffers[m->match->source.buffer].rank;
        node->u.store.indices = indices;
    }
    return HONE_OK;
}

/* A region of the view as one of its source. */
static const hone_range *source_ranges(matching *m, const hone_range *view) {
    hone_func *func = m->lower->func;
    const hone_region *source = &m->match->source;
    uint32_t view_rank = func->buffers[m->match->buffer].rank;
    uint32_t rank = func->buffers[source->buffer].rank;
    uint32_t lead = rank > view_rank ? rank - view_rank : 0;
    hone_range *out = hone_arena_alloc(func->arena, (rank + 1) * sizeof *out);
    for (uint32_t d = 0; out && d < rank; d++) {
        out[d] = source->ranges[d];
        if (d < lead) continue;
        out[d].min = hone_expr_add(&m->lower->ir, out[d].min, view[d - lead].min);
        out[d].extent = view[d - lead].extent;
        if (!out[d].min) return NULL;
    }
    return out;
}

static hone_status rewrite_regions(matching *m, uint32_t count, const hone_region **io_regions) {
    hone_region *out = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if ((*io_regions)[i].buffer != m->match->buffer) continue;
        if (!out) {
            out = hone_arena_alloc(m->lower->func->arena, count * sizeof *out);
            if (!out) return LOWER_NO_MEMORY();
            memcpy(out, *io_regions, count * sizeof *out);
        }
        out[i] = (hone_region){m->match->source.buffer, source_ranges(m, out[i].ranges)};
        if (!out[i].ranges) return LOWER_NO_MEMORY();
    }
    if (out) *io_regions = out;
    return HONE_OK;
}

/* What the blocks below say that they touch. */
static hone_status rewrite_declared(matching *m, hone_node_id root) {
    hone_func *func = m->lower->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        hone_block *block = hone_block_copy(func->arena, hone_func_node(func, n)->u.block.block);
        if (!block) return LOWER_NO_MEMORY();
        HONE_TRY(rewrite_regions(m, block->read_count, &block->reads));
        HONE_TRY(rewrite_regions(m, block->write_count, &block->writes));
        hone_func_node(func, n)->u.block.block = block;
    }
    return HONE_OK;
}

/* Strides of the source, in elements, row-major unless given. */
static const hone_expr *source_stride(hone_ir *ir, const hone_buffer_info *source, uint32_t dim) {
    if (source->strides) return source->strides[dim];
    const hone_expr *stride = hone_expr_i32(ir, 1);
    for (uint32_t d = source->rank; d > dim + 1; d--) {
        stride = hone_expr_mul(ir, source->shape[d - 1], stride);
    }
    return stride;
}

static const hone_expr *source_offset(hone_ir *ir, const hone_buffer_info *source,
                                      const hone_region *region) {
    const hone_expr *sum = source->elem_offset ? source->elem_offset : hone_expr_i32(ir, 0);
    for (uint32_t d = 0; d < source->rank; d++) {
        const hone_expr *part =
            hone_expr_mul(ir, region->ranges[d].min, source_stride(ir, source, d));
        sum = hone_expr_add(ir, sum, part);
    }
    return sum;
}

static hone_status bind_symbol(matching *m, hone_node_id root, const hone_expr *symbol,
                               const hone_expr *value) {
    if (!symbol || symbol->kind != HONE_EXPR_VAR) return HONE_OK;
    if (value) value = hone_simplify_plain(&m->lower->ir, value);
    if (!value) return hone_ir_finish(&m->lower->ir);
    if (!hone_dtype_equal(value->dtype, symbol->dtype)) {
        value = hone_expr_cast(&m->lower->ir, symbol->dtype, value);
    }
    return lower_substitute_one(m->lower->func, root, symbol->u.var, value);
}

static hone_status bind_symbols(matching *m, hone_node_id root) {
    hone_func *func = m->lower->func;
    hone_ir *ir = &m->lower->ir;
    hone_buffer_info view = func->buffers[m->match->buffer];
    hone_buffer_info source = func->buffers[m->match->source.buffer];
    uint32_t lead = source.rank > view.rank ? source.rank - view.rank : 0;
    for (uint32_t d = 0; d < view.rank; d++) {
        HONE_TRY(bind_symbol(m, root, view.shape[d], m->match->source.ranges[d + lead].extent));
        if (!view.strides) continue;
        HONE_TRY(bind_symbol(m, root, view.strides[d], source_stride(ir, &source, d + lead)));
    }
    return bind_symbol(m, root, view.elem_offset, source_offset(ir, &source, &m->match->source));
}

/* The variable that names a buffer's storage. */
static hone_status storage_of(hone_func *func, hone_buffer id, hone_var *out) {
    id = hone_func_storage(func, id);
    if (func->buffers[id].data == HONE_NO_ID) {
        func->buffers[id].data = hone_func_add_var(func, func->buffers[id].name, HONE_DTYPE_HANDLE);
    }
    *out = func->buffers[id].data;
    return *out == HONE_NO_ID ? LOWER_NO_MEMORY() : HONE_OK;
}

/* A pointer into a view that has no symbol for its offset begins where the view does. */
static const hone_expr *rewrite_pointer(void *ctx, hone_ir *ir, const hone_expr *e) {
    matching *m = ctx;
    const hone_buffer_info *view = &m->lower->func->buffers[m->match->buffer];
    if (!hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) || view->elem_offset) return e;
    if (e->args[1]->kind != HONE_EXPR_VAR || e->args[1]->u.var != view->data) return e;
    const hone_buffer_info *source = &m->lower->func->buffers[m->match->source.buffer];
    const hone_expr *args[5];
    for (int i = 0; i < 5; i++)
        args[i] = e->args[i];
    args[2] = hone_expr_add(ir, args[2], source_offset(ir, source, &m->match->source));
    if (args[2]) args[2] = hone_simplify_plain(ir, args[2]);
    return args[2] ? hone_expr_with_args(ir, e, args) : NULL;
}

/* Who takes the view's storage by name gets that of the source. */
static hone_status rewrite_data(matching *m, hone_node_id root) {
    hone_func *func = m->lower->func;
    hone_var data = func->buffers[m->match->buffer].data, storage;
    if (data == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_tree_transform(func, root, rewrite_pointer, m, true));
    HONE_TRY(storage_of(func, m->match->source.buffer, &storage));
    const hone_expr *value = hone_func_var_expr(&m->lower->ir, func, storage);
    if (!value) return hone_ir_finish(&m->lower->ir);
    return lower_substitute_one(func, root, data, value);
}

static hone_status lower_block_matches(hone_lower *lower, hone_node_id id) {
    hone_func *func = lower->func;
    const hone_block *block = hone_func_node(func, id)->u.block.block;
    for (uint32_t i = 0; i < block->match_count; i++) {
        matching m = {lower, &block->matches[i]};
        LOWER_EACH_CHILD (func, id, c) {
            HONE_TRY(bind_symbols(&m, c));
            HONE_TRY(rewrite_data(&m, c));
            HONE_TRY(rewrite_stores(&m, c));
            HONE_TRY(rewrite_declared(&m, c));
            HONE_TRY(hone_tree_transform(func, c, rewrite_load, &m, true));
        }
    }
    hone_block *bare = hone_block_copy(func->arena, block);
    if (!bare) return LOWER_NO_MEMORY();
    bare->match_count = 0;
    bare->matches = NULL;
    hone_func_node(func, id)->u.block.block = bare;
    return HONE_OK;
}

/* Inner blocks first: what they match may be a view of the block around. */
static hone_status visit(hone_lower *lower, hone_node_id id) {
    hone_func *func = lower->func;
    LOWER_EACH_CHILD (func, id, c) {
        HONE_TRY(visit(lower, c));
    }
    const hone_node *node = hone_func_node(func, id);
    if (node->kind != HONE_NODE_BLOCK || node->u.block.block->match_count == 0) return HONE_OK;
    return lower_block_matches(lower, id);
}

hone_status lower_match(hone_lower *lower) {
    return visit(lower, 0);
}
