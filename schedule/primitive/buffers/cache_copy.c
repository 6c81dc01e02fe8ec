/* schedule/primitive/buffers/cache_copy.c - the buffer of a cache, the block that fills or empties
 * it, its place. */
#include "schedule/primitive/buffers/caching.h"

hone_status sch_begin_cache(caching *c, hone_rv block_rv, int64_t index,
                            const char *storage_scope) {
    hone_schedule *sch = c->sch;
    c->cache = c->writer = HONE_NO_ID;
    HONE_TRY(sch_resolve_block(sch, block_rv, &c->block));
    c->scope = sch_scope_of(sch, c->block);
    if (c->scope == HONE_NO_ID) return sch_refuse(sch, c->block, "the root block has no scope");
    HONE_TRY(sch_require_scope_name(sch, c->block, storage_scope));
    return sch_nth_buffer(sch, c->block, c->is_write, index, &c->buffer);
}

hone_status sch_make_cache(caching *c, const char *storage_scope) {
    hone_schedule *sch = c->sch;
    const hone_buffer_info old = *hone_func_buffer(sch->func, c->buffer);
    const hone_expr **shape = hone_arena_alloc(sch->arena, (old.rank + 1) * sizeof *shape);
    if (!shape) return sch_no_memory();
    for (uint32_t d = 0; d < old.rank; d++)
        shape[d] = c->box ? c->box[d].extent : old.shape[d];
    c->cache = sch_make_buffer(sch, sch_scoped_name(sch, old.name, storage_scope), old.dtype,
                               old.rank, shape, storage_scope);
    return c->cache == HONE_NO_ID ? sch_no_memory() : sch_add_alloc(sch, c->scope, c->cache);
}

hone_status sch_make_cache_copy(caching *c, hone_node_id *out_block) {
    hone_schedule *sch = c->sch;
    hone_func *func = sch->func;
    uint32_t rank = hone_func_buffer(func, c->buffer)->rank;
    hone_buffer from = c->is_write ? c->cache : c->buffer;
    hone_buffer to = c->is_write ? c->buffer : c->cache;
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    hone_axis *axes = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *axes);
    hone_region *regions = hone_arena_alloc(sch->arena, 2 * sizeof *regions);
    hone_range *ranges[2]; /* in the buffer, in the cache */
    const hone_expr **indices[2];
    for (int i = 0; i < 2; i++) {
        ranges[i] = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges[i]);
        indices[i] = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices[i]);
        if (!ranges[i] || !indices[i]) return sch_no_memory();
    }
    if (!block || !axes || !regions) return sch_no_memory();
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *extent =
            c->box ? c->box[d].extent : hone_func_buffer(func, c->buffer)->shape[d];
        hone_range dom = {hone_expr_int(&sch->ir, extent->dtype, 0), extent};
        hone_var var = hone_func_add_named_var(func, sch_name(sch, "v", "", d), extent->dtype);
        if (var == HONE_NO_ID || !dom.min || !hone_arith_bind(&sch->arith, var, dom)) {
            return sch_no_memory();
        }
        const hone_expr *one = hone_expr_int(&sch->ir, extent->dtype, 1);
        axes[d] = (hone_axis){var, HONE_AXIS_SPATIAL, dom};
        indices[0][d] = indices[1][d] = sch_var(sch, var);
        if (c->box && !hone_expr_is_int_value(c->box[d].min, 0)) {
            indices[0][d] = hone_expr_add(&sch->ir, c->box[d].min, indices[1][d]);
        }
        for (int i = 0; i < 2; i++)
            ranges[i][d] = (hone_range){indices[i][d], one};
    }
    HONE_TRY(sch_ir_error(sch));
    regions[0] = (hone_region){from, ranges[c->is_write]};
    regions[1] = (hone_region){to, ranges[!c->is_write]};
    block->name = hone_func_buffer(func, c->cache)->name;
    block->axes = axes;
    block->axis_count = rank;
    block->reads = &regions[0];
    block->writes = &regions[1];
    block->read_count = block->write_count = 1;
    const hone_expr *value = hone_func_load(&sch->ir, func, from, indices[c->is_write]);
    hone_node_id id = hone_func_add_node(func, HONE_NODE_BLOCK);
    hone_node_id store = hone_func_add_node(func, HONE_NODE_STORE);
    if (!value || id == HONE_NO_ID || store == HONE_NO_ID) return sch_no_memory();
    sch_node(sch, id)->u.block.block = block;
    sch_node(sch, store)->u.store.buffer = to;
    sch_node(sch, store)->u.store.rank = rank;
    sch_node(sch, store)->u.store.value = value;
    sch_node(sch, store)->u.store.indices = indices[!c->is_write];
    hone_tree_append(func, id, store);
    *out_block = id;
    return HONE_OK;
}

hone_status sch_redirect_to_cache(const caching *c, hone_node_id top, bool writes_too) {
    return sch_redirect_accesses(c->sch, top, c->buffer, c->cache, c->box, writes_too);
}

hone_status sch_insert_cache_copy(caching *c, hone_node_id copy, sch_nest nest) {
    hone_schedule *sch = c->sch;
    if (nest.bottom != HONE_NO_ID) hone_tree_append(sch->func, nest.bottom, copy);
    sch_node(sch, copy)->u.block.bindings = nest.bindings;
    sch_node(sch, copy)->u.block.predicate = nest.predicate;
    hone_node_id top = nest.top == HONE_NO_ID ? copy : nest.top;
    if (c->is_write) {
        hone_tree_insert_after(sch->func, c->anchor, top);
    } else {
        hone_tree_insert_before(sch->func, c->anchor, top);
    }
    return HONE_OK;
}
