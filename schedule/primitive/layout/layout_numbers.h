/* schedule/primitive/layout/layout_numbers.h - the numbers that an index map divides: maps with an
 * offset below their divisions have padding in front.
 *
 *   (i + 2) // 4, (i + 2) % 4                        one dimension, which begins 2 later
 *   (i * 9 + j + 2) // 8, (i * 9 + j + 2) % 8        two that are one number n = i * 9 + j
 *
 * The map is one of m = n + 2, which begins at 0: m // 8, m % 8. No element has the places where m
 * is below 2.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_NUMBERS_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_NUMBERS_H

#include "ir/arith/itermap.h"
#include "ir/core/index_map.h"
#include "schedule/state/schedule_impl.h"

typedef struct sch_numbers {
    uint32_t rank;
    const hone_iter *dims; /* what the map is applied to; they start at 0 */
    bool is_joined;        /* some number is made of several of them: joined tells how */
    hone_itermap joined;
    uint32_t count;
    hone_iter *iters;          /* the numbers, which start that much earlier */
    int64_t *offsets, *tiles;  /* padding in front of each, in the first of tiles of this size */
    bool is_shifted;           /* some offset is not 0 */
    const hone_index_map *map; /* over these numbers */
} sch_numbers;

/* Finds the numbers of a resolved map; the dimensions themselves where no others are known. */
HONE_NODISCARD hone_status sch_find_numbers(hone_schedule *sch, const hone_index_map *map,
                                            uint32_t rank, const hone_iter *dims, sch_numbers *out);
/* From values of the numbers (which change) to those of the dimensions; what is in front is added
 * to the condition of being padding, which may be NULL. False when memory is short, or where a
 * dimension cannot be told. */
bool sch_undo_numbers(hone_schedule *sch, const sch_numbers *n, const hone_expr **values,
                      const hone_expr **out_dims, const hone_expr **io_padding);
/* For layout_offset.c: joins dimensions of which only sums are divided. Sets what is above. */
HONE_NODISCARD hone_status sch_join_dims(hone_schedule *sch, const hone_index_map *map,
                                         uint32_t rank, const hone_iter *dims, sch_numbers *out);

#endif
