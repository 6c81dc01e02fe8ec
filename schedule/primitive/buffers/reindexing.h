/* schedule/primitive/buffers/reindexing.h - for reindex, reindex_cache_read and
 * reindex_cache_write: a block's access to a buffer goes to a new buffer instead, at indices of the
 * caller's choice; a block of copies stands before (or behind) the nest of the block. */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_H

#include "schedule/state/schedule_impl.h"

typedef struct sch_reindexing {
    hone_schedule *sch;
    hone_node_id block, scope, top; /* top: the outermost loop of the nest, or the block */
    hone_node_id place, partner;    /* the copies are children of place: the scope, or the loop that
                                       the block shares with its partner, who writes (or reads) the
                                       buffer */
    hone_buffer buffer, fresh;
    bool is_write;
    uint32_t rank;                   /* of the buffer */
    const hone_expr *const *indices; /* how the block accesses it, over its axes */
    uint32_t axis_count;             /* axes that the indices use, in the order of the block */
    const hone_axis *axes;
    uint32_t fresh_rank;
    const hone_expr **fresh_indices, **fresh_shape; /* set by the caller */
    bool is_injective; /* so is this: different values of the axes have different new indices */
    bool keeps_loops;  /* given: the copies run in loops like those that these axes are bound to,
                          under the same names; else in one loop for each axis */
    const char *block_name;
    hone_node_id copy; /* the copying block that was made */
} sch_reindexing;

/* Finds the access and checks it: the block has loops only around it up to its scope, which is a
 * pipeline of stages; all accesses to the buffer are at the same indices, made of axes alone, and
 * inside the buffer for all their values; reading: the block does not write the buffer, and in a
 * nested block runs over all values of these axes (a predicate may leave out what was surely
 * written), and where an index is loaded it loads the buffer in each of its instances; writing: it
 * is the only writer, complete or a reduction, and writes each element once. */
HONE_NODISCARD hone_status sch_begin_reindexing(hone_schedule *sch, hone_rv block, bool is_write,
                                                int64_t buffer_index, bool keeps_loops,
                                                sch_reindexing *out);
/* Makes buffer and copies; refuses where the copy would move what was never made. */
HONE_NODISCARD hone_status sch_finish_reindexing(sch_reindexing *io, const char *buffer_name,
                                                 const char *storage_scope);

#endif
