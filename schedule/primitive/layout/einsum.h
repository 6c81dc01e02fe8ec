/* schedule/primitive/layout/einsum.h - for pad_einsum: what the block accesses, and how each buffer
 * is padded.
 *
 * Layer: within schedule/.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_EINSUM_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_EINSUM_H

#include "schedule/state/schedule_impl.h"

typedef struct pad_buffer {
    hone_buffer old, fresh;
    bool is_written;
    uint32_t rank;
    const hone_expr *const *indices;
    const hone_expr **shape; /* of the larger one */
    const hone_expr **ends;  /* by dimension that grows: zeros begin here */
    bool grows;
    bool is_filled_here; /* blocks of the nest make it: the larger one begins as zeros */
} pad_buffer;

typedef struct einsum {
    hone_schedule *sch;
    hone_node_id block, scope, top; /* top: the outermost loop of the nest, or the block */
    hone_node_id last;              /* of the nests: top, or what was put behind it */
    hone_node_id own;               /* the outermost loop that holds this block only, or it */
    uint32_t axis_count;
    const hone_expr **extents; /* by axis: what it grows to, or NULL */
    hone_node_id *loops;       /* by axis that grows: the loop it is bound to, or HONE_NO_ID */
    uint32_t buffer_count;
    pad_buffer *buffers; /* all that the block accesses; what it reads first */
} einsum;

/* Finds all that the block accesses, or refuses what is no einsum. */
HONE_NODISCARD hone_status sch_find_einsum_buffers(einsum *e);
/* How the buffer is padded, where axes grow; refuses what would not be the same program. */
HONE_NODISCARD hone_status sch_plan_pad_buffer(einsum *e, pad_buffer *b);
/* Blocks around the scope say that they read all that is copied. */
HONE_NODISCARD hone_status sch_declare_pad_copy(einsum *e, const pad_buffer *b);

#endif
