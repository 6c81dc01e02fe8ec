/* schedule/primitive/buffers/prim_reindex.c - reindex: lets a block read (or write) a copy of a
 * buffer that is laid out by the block's axes.
 *
 *     B[vi, vj] = A[vj, vi] * 2                                     reindex(b, ("read", 0))
 *  →  for ax0, ax1: with block A_reindex_reindex: A_reindex[v0, v1] = A[v1, v0]
 *     B[vi, vj] = A_reindex[vi, vj] * 2
 *
 * Checks: see reindexing.h.
 */
#include "schedule/primitive/buffers/reindexing.h"
#include "schedule/primitive/primitive_impl.h"

/* The new buffer has one dimension for each axis that the access uses. */
static hone_status lay_out_by_axes(sch_reindexing *r) {
    hone_schedule *sch = r->s.sch;
    r->fresh_rank = r->axis_count;
    r->fresh_indices = hone_arena_alloc(sch->arena, (r->axis_count + 1) * sizeof *r->fresh_indices);
    r->fresh_shape = hone_arena_alloc(sch->arena, (r->axis_count + 1) * sizeof *r->fresh_shape);
    if (!r->fresh_indices || !r->fresh_shape) return sch_no_memory();
    for (uint32_t i = 0; i < r->axis_count; i++) {
        r->fresh_indices[i] = sch_var(sch, r->axes[i].var);
        r->fresh_shape[i] = r->axes[i].dom.extent;
    }
    return sch_ir_error(sch);
}

hone_status hone_sch_reindex(hone_schedule *sch, hone_rv block, bool is_write, int64_t buffer_index,
                             hone_rv *out_block) {
    sch_reindexing r;
    HONE_TRY(sch_begin_reindexing(sch, block, is_write, buffer_index, false, &r));
    HONE_TRY(lay_out_by_axes(&r));
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, r.s.buffer);
    const char *name = sch_name(sch, buffer->name, "_reindex", -1);
    if (!name) return sch_no_memory();
    r.block_name = is_write ? name : sch_name(sch, name, "_reindex", -1);
    HONE_TRY(sch_finish_reindexing(&r, name, buffer->scope));
    return sch_record_node(sch, HONE_INST_REINDEX,
                           SCH_ARGS(SCH_RV(block), SCH_ACCESS(is_write, buffer_index)), r.s.copy,
                           out_block);
}

SCH_STEP(REINDEX, hone_sch_reindex(sch, a[0].rv, a[1].is_write, a[1].number, NULL),
         .gives = HONE_GIVES_BLOCK, .args = {SCH_ARG_BLOCK(0), SCH_ARG_ACCESS});
