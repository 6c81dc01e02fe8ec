/* schedule/primitive/layout/einsum.h - for pad_einsum: which buffers the block accesses, and how
 * each of them is padded. Within schedule/ only. */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_EINSUM_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_EINSUM_H

#include "schedule/state/schedule_impl.h"

typedef struct pad_buffer {
    hone_buffer old, fresh;
    bool is_written;
    uint32_t rank;
    const hone_expr *const *indices;
    const hone_expr **shape; /* of fresh */
    const hone_expr **ends;  /* by dimension: of one that grows, where the zeros begin */
    bool grows;
    bool is_filled_here; /* blocks of the nest write it: fresh is filled with zeros first */
} pad_buffer;

typedef struct einsum {
    hone_schedule *sch;
    hone_node_id block, scope, top; /* top: the outermost loop of the nest, or the block */
    hone_node_id last;              /* top, or the last copy that was put behind it */
    hone_node_id own;               /* the outermost loop with no other block in it, or the block */
    uint32_t axis_count;
    const hone_expr **extents; /* by axis: what it grows to, or NULL */
    hone_node_id *loops;       /* by axis: of one that grows, the loop it is bound to */
    bool
        *moves; /* by variable: an axis that grows, or one whose range or value uses such an axis */
    uint32_t buffer_count;
    pad_buffer *buffers; /* all that the block accesses: first what it reads */
} einsum;

/* Fills in the buffers, by e->extents. ILLEGAL where the block is no einsum: an index that moves
 * with an axis that grows and is more than that axis, two accesses of one buffer at different
 * indices, and so on (einsum_buffers.c). */
HONE_NODISCARD hone_status sch_find_einsum_buffers(einsum *e);
/* Fills in how the buffer is padded when axes grow to e->extents. ILLEGAL where the program would
 * compute something else. */
HONE_NODISCARD hone_status sch_plan_pad_buffer(einsum *e, pad_buffer *b);
/* Lets the blocks around the scope declare that they read all of the buffer that is copied. */
HONE_NODISCARD hone_status sch_declare_pad_copy(einsum *e, const pad_buffer *b);

#endif
