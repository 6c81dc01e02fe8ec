/* schedule/primitive/buffers/reindexing.h - for reindex, reindex_cache_read and
 * reindex_cache_write: a block's access to a buffer goes to a new buffer instead, at indices that
 * the caller chooses; a copying block stands in front of the block's nest (reads), or behind it
 * (writes).
 *
 *     with block C(vi, vk): C[vi] += A[vk, vi + 1]
 * →  with block A_reindex(v0, v1): A_reindex[v0, v1] = A[v1, v0 + 1]        fresh_indices: vi, vk
 *     with block C(vi, vk): C[vi] += A_reindex[vi, vk]
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_H

#include "schedule/primitive/buffers/staging.h"

typedef struct sch_reindexing {
    sch_staging s;        /* the block is its only user */
    hone_node_id top;     /* the outermost loop of the nest, or the block */
    hone_node_id partner; /* who writes (or reads) the buffer in the same nest, or HONE_NO_ID: the
                             copies are children of the loop that the block shares with it */
    const hone_expr *const *indices; /* how the block accesses it, over its axes */
    uint32_t axis_count;             /* of the axes that indices use; in the order of the block */
    const hone_axis *axes;
    uint32_t fresh_rank;
    const hone_expr **fresh_indices, **fresh_shape; /* set by the caller */
    bool is_injective; /* set by the caller: fresh_indices are known to be injective */
    bool keeps_loops;  /* the copies run in loops like those that these axes are bound to, under
                          the same names; else in one loop for each axis */
    const char *block_name; /* of the copying block */
} sch_reindexing;

/* Finds the access and fills in what is not left to the caller. buffer_index: the number of the
 * buffer among what the block reads (writes). ILLEGAL unless
 *   - the scope is a stage pipeline, with loops only between it and the block;
 *   - all accesses to the buffer are at the same indices, which are made of axes alone and lie
 * inside the buffer for all values of the axes;
 *   - reading: the block does not write the buffer; a block in a nested scope runs for all values
 * of these axes (a predicate may leave out what was surely written); and if an index is loaded,
 * each instance loads the buffer;
 *   - writing: the block is the only writer, complete or a reduction, and writes each element once.
 */
HONE_NODISCARD hone_status sch_begin_reindexing(hone_schedule *sch, hone_rv block, bool is_write,
                                                int64_t buffer_index, bool keeps_loops,
                                                sch_reindexing *out);
/* Makes the new buffer and the copying block, and redirects the access. ILLEGAL where the new
 * indices may merge different elements (sch_check_new_indices), or where the result would copy what
 * was never written. */
HONE_NODISCARD hone_status sch_finish_reindexing(sch_reindexing *io, const char *buffer_name,
                                                 const char *storage_scope);
/* The access uses the axis of the block, so that the copies have it, too. */
bool sch_is_copied_axis(const sch_reindexing *r, hone_var axis);

#endif
