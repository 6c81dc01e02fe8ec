/* schedule/primitive/layout/layout_numbers.h - the numbers that an index map divides. Where an
 * offset stands below the divisions, the new layout has padding in front.
 *
 *     (i + 2) // 4, (i + 2) % 4                     of one dimension i; the number i begins at -2
 *     (i * 9 + j + 2) // 8, (i * 9 + j + 2) % 8     of two dimensions that are one number n = i * 9
 * + j
 *
 * With m = n + 2, which begins at 0, the map is m // 8, m % 8: its indices for m < 2 belong to no
 * element.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_NUMBERS_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_NUMBERS_H

#include "ir/arith/itermap.h"
#include "ir/core/index_map.h"
#include "schedule/state/schedule_impl.h"

typedef struct sch_numbers {
    uint32_t rank;
    const hone_iter *dims; /* what the map is applied to; they start at 0 */
    bool is_joined;        /* some number is made of several dimensions */
    hone_itermap joined;   /* … and this is how */
    uint32_t count;
    hone_iter *iters; /* the numbers; number i starts at -offsets[i] */
    int64_t *offsets,
        *tiles;      /* by number: elements of padding in front, within a tile of so many */
    bool is_shifted; /* some offset is not 0 */
    const hone_index_map *map; /* over these numbers */
} sch_numbers;

/* The numbers of a resolved map over dimensions `dims`; where none are found, each dimension is
 * one. */
HONE_NODISCARD hone_status sch_find_numbers(hone_schedule *sch, const hone_index_map *map,
                                            uint32_t rank, const hone_iter *dims, sch_numbers *out);
/* Turns values of the numbers (which it changes: they are shifted back) into values of the
 * dimensions. io_padding: becomes a condition that also holds where the values belong to padding in
 * front; may be NULL before and after (= false). Returns false when memory is short, or a dimension
 * is not determined. */
bool sch_undo_numbers(hone_schedule *sch, const sch_numbers *n, const hone_expr **values,
                      const hone_expr **out_dims, const hone_expr **io_padding);
/* Of sch_find_numbers, the part that joins dimensions of which the map divides sums only; sets all
 * of `out` but offsets and tiles (layout_join.c). */
HONE_NODISCARD hone_status sch_join_dims(hone_schedule *sch, const hone_index_map *map,
                                         uint32_t rank, const hone_iter *dims, sch_numbers *out);

#endif
