/* schedule/primitive/layout/layout_padding.h - for transform_layout: a new layout may hold places
 * that no index of the old one leads to. Who fills them?
 *
 *   writer that stores element after element:  runs over the new layout, B[v0, v1] =
 *                                              if_then_else(v0 == 3 and v1 >= 2, pad, …)
 *   any other writer:                          a block of its own behind it stores the padding
 *   nobody writes the buffer:                  T.assume in a block at the start
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_PADDING_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_PADDING_H

#include "schedule/primitive/layout/layout_map.h"
#include "schedule/primitive/layout/layout_numbers.h"

typedef struct sch_layout {
    hone_schedule *sch;
    hone_node_id blame;
    hone_buffer buffer;
    uint32_t rank;                   /* that the buffer had */
    const hone_index_map *map;       /* over the indices of the buffer */
    sch_numbers numbers;             /* that the map divides */
    const hone_index_map *pad_value; /* over the new indices; NULL: none was given */
    sch_mapping m;                   /* of the numbers */
    bool has_padding;
    hone_node_id writer; /* that stores element after element, or HONE_NO_ID */
    hone_node_id first_loop;
    uint32_t first_axis; /* of the writer: which loops and axes run over the buffer */
} sch_layout;

/* The old indices at a place of the new layout, and the condition that it is padding (NULL: it
 * never is). False where the map is not shown to be injective, without gaps. */
bool sch_layout_invert(sch_layout *l, const hone_expr *const *place, const hone_expr **out_old,
                       const hone_expr **out_padding);
/* Looks for a writer of the first kind, before any access changes. */
HONE_NODISCARD hone_status sch_find_plain_writer(sch_layout *l);
/* Fills the padding. The buffer has its new shape; all accesses but those of the plain writer are
 * at new indices. */
HONE_NODISCARD hone_status sch_fill_padding(sch_layout *l);

#endif
