/* schedule/primitive/buffers/prim_reindex_cache.c - reindex_cache_read, reindex_cache_write: lets a
 * block read (or write) a copy of a buffer in another storage scope, at indices that a map makes of
 * the block's axes.
 *
 *     B[vi, vj] = A[vi, vj] * 2            reindex_cache_read(b, 0, "local", lambda i, j: (j, i))
 *  →  for i, j: with block A_local: vi, vj = …; A_local[vj, vi] = A[vi, vj]
 *     B[vi, vj] = A_local[vj, vi] * 2
 *
 * Checks: those of reindexing.h; the map takes all axes of the block, and uses those that the
 * access uses, neither more nor fewer; different values of these have different indices, none of
 * them negative (reading: different elements).
 */
#include "schedule/primitive/buffers/reindexing.h"
#include "schedule/primitive/layout/layout_map.h"
#include "schedule/primitive/layout/layout_numbers.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"

static hone_status require_axes(hone_schedule *sch, const sch_reindexing *r, hone_var axis) {
    bool in_map = sch_any_uses(r->fresh_rank, r->fresh_indices, axis);
    if (in_map == sch_is_copied_axis(r, axis)) return HONE_OK;
    return sch_refuse(sch, r->s.block, "axis '%s' of %s is in the %s only",
                      sch->func->vars[axis].name, sch_block_name(sch, r->s.block),
                      in_map ? "index map" : "access");
}

/* Where the map puts the axes. One of a single value stays in its index, where later steps find it,
 * unless the access does not use it: the copy has no such axis. */
static hone_status apply_to_axes(hone_schedule *sch, sch_reindexing *r, const hone_index_map *map) {
    const hone_block *block = sch_block(sch, r->s.block);
    const hone_expr **axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    r->fresh_indices = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *r->fresh_indices);
    if (!axes || !r->fresh_indices) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        bool is_gone =
            hone_expr_is_int_value(axis->dom.extent, 1) && !sch_is_copied_axis(r, axis->var);
        axes[i] = is_gone ? axis->dom.min : sch_var(sch, axis->var);
    }
    hone_index_map_apply(&sch->ir, map, axes, r->fresh_indices);
    sch->arith.keeps_units = true;
    for (uint32_t i = 0; i < map->count; i++)
        r->fresh_indices[i] = hone_simplify(&sch->arith, r->fresh_indices[i]);
    sch->arith.keeps_units = false;
    return sch_ir_error(sch);
}

/* A map of numbers which begin earlier than the axes that stand for them is injective in the axes
 * if it is in the numbers. */
static hone_status prove_injective_numbers(hone_schedule *sch, sch_reindexing *r,
                                           const sch_numbers *n, sch_mapping *m) {
    hone_iter *used = hone_arena_alloc(sch->arena, (n->count + 1) * sizeof *used);
    uint32_t used_count = 0;
    if (!used) return sch_no_memory();
    for (uint32_t i = 0; i < n->count; i++) {
        if (sch_any_uses(m->count, m->indices, n->iters[i].var)) used[used_count++] = n->iters[i];
    }
    r->is_injective = hone_itermap_detect(&sch->arith, m->count, m->indices, used_count, used, NULL,
                                          HONE_ITERMAP_INJECTIVE, true, &m->detected);
    return sch_ir_error(sch);
}

/* The new buffer has the dimensions that the map gives the axes. */
static hone_status lay_out_by_map(hone_schedule *sch, sch_reindexing *r, const hone_index_map *map,
                                  hone_dtype dtype) {
    const hone_block *block = sch_block(sch, r->s.block);
    sch_numbers n;
    sch_mapping m;
    hone_iter *iters = sch_whole_axes(sch, block);
    if (!iters) return sch_no_memory();
    HONE_TRY(sch_resolve_map(sch, r->s.block, map, block->axis_count, dtype, &map));
    HONE_TRY(sch_find_numbers(sch, map, block->axis_count, iters, &n));
    HONE_TRY(sch_apply_map(sch, r->s.block, n.map, n.count, n.iters, true, &m));
    r->fresh_rank = m.count;
    r->fresh_shape = m.extents;
    HONE_TRY(apply_to_axes(sch, r, map));
    if (n.is_shifted) HONE_TRY(prove_injective_numbers(sch, r, &n, &m));
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (!hone_expr_is_int_value(block->axes[i].dom.extent, 1)) {
            HONE_TRY(require_axes(sch, r, block->axes[i].var));
        }
    }
    return HONE_OK;
}

static hone_status reindex_cache(hone_schedule *sch, hone_rv block, bool is_write, int64_t index,
                                 const char *scope, const hone_index_map *map, hone_rv *out_block) {
    sch_reindexing r;
    const hone_index_map *recorded;
    HONE_TRY(sch_begin_reindexing(sch, block, is_write, index, true, &r));
    HONE_TRY(sch_require_scope_name(sch, r.s.block, scope));
    const hone_block *inner = sch_block(sch, r.s.block);
    hone_dtype dtype =
        inner->axis_count ? sch->func->vars[inner->axes[0].var].dtype : HONE_DTYPE_I32;
    HONE_TRY(lay_out_by_map(sch, &r, map, dtype));
    const char *kept = hone_arena_strdup(sch->arena, scope);
    if (!kept) return sch_no_memory();
    const char *name = sch_scoped_name(sch, sch_buffer_name(sch, r.s.buffer), kept);
    r.block_name = name;
    HONE_TRY(sch_recorded_map(sch, map, inner->axis_count, dtype, &recorded));
    HONE_TRY(sch_finish_reindexing(&r, name, kept));
    return sch_record_node(
        sch, is_write ? HONE_INST_REINDEX_CACHE_WRITE : HONE_INST_REINDEX_CACHE_READ,
        SCH_ARGS(SCH_RV(block), SCH_INT(index), SCH_TEXT(kept), SCH_MAP(recorded)), r.s.copy,
        out_block);
}

hone_status hone_sch_reindex_cache_read(hone_schedule *sch, hone_rv block,
                                        int64_t read_buffer_index, const char *storage_scope,
                                        const hone_index_map *index_map, hone_rv *out_block) {
    return reindex_cache(sch, block, false, read_buffer_index, storage_scope, index_map, out_block);
}

hone_status hone_sch_reindex_cache_write(hone_schedule *sch, hone_rv block,
                                         int64_t write_buffer_index, const char *storage_scope,
                                         const hone_index_map *index_map, hone_rv *out_block) {
    return reindex_cache(sch, block, true, write_buffer_index, storage_scope, index_map, out_block);
}

SCH_STEP(REINDEX_CACHE_READ,
         hone_sch_reindex_cache_read(sch, a[0].rv, a[1].number, a[2].text, a[3].map, NULL),
         .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_READ_BUFFER("read_buffer_index"), SCH_ARG_SCOPE(1),
                  SCH_ARG_MAP(1)});

SCH_STEP(REINDEX_CACHE_WRITE,
         hone_sch_reindex_cache_write(sch, a[0].rv, a[1].number, a[2].text, a[3].map, NULL),
         .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_WRITTEN_BUFFER("write_buffer_index"), SCH_ARG_SCOPE(1),
                  SCH_ARG_MAP(1)});
