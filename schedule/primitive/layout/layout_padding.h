/* schedule/primitive/layout/layout_padding.h - for transform_layout: who fills the padding, the
 * elements of a new layout that no index of the old one leads to.
 *
 *   a plain writer (stores element by element)  runs over the new layout: B[v0, v1] =
 *                                               if_then_else(v0 == 3 and v1 >= 2, pad, …)
 *   any other writer                            a block behind it stores the padding
 *   nobody writes the buffer                    T.assume in a block at the start
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_PADDING_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_PADDING_H

#include "schedule/primitive/layout/layout_map.h"
#include "schedule/primitive/layout/layout_numbers.h"

typedef struct sch_layout {
    hone_schedule *sch;
    hone_node_id blame;
    hone_buffer buffer;
    uint32_t rank;                   /* of the buffer in the old layout */
    const hone_index_map *map;       /* over the indices of the buffer */
    sch_numbers numbers;             /* that the map divides */
    const hone_index_map *pad_value; /* over the new indices; NULL: none was given */
    sch_mapping m;                   /* of the numbers */
    bool has_padding;
    hone_node_id writer; /* the plain one, or HONE_NO_ID */
    hone_node_id first_loop;
    uint32_t first_axis; /* of the writer: from here on, loops and axes run over the buffer */
} sch_layout;

/* For an element of the new layout (one index per new dimension): its old indices, and the
 * condition under which it is padding (NULL: never). False where the map is not shown to be
 * injective, without gaps. */
bool sch_layout_invert(sch_layout *l, const hone_expr *const *indices, const hone_expr **out_old,
                       const hone_expr **out_padding);
/* Looks for a plain writer, and sets l->writer and what follows it. To be called before any access
 * changes. */
HONE_NODISCARD hone_status sch_find_plain_writer(sch_layout *l);
/* Fills the padding in one of the three ways. The buffer has its new shape by now, and all accesses
 * but those of the plain writer have new indices. */
HONE_NODISCARD hone_status sch_fill_padding(sch_layout *l);

#endif
