/* schedule/primitive/layout/layout_map.h - index maps at work: what a map makes of the axes of a
 * block or of the dimensions of a buffer. */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_MAP_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_MAP_H

#include "ir/arith/itermap.h"
#include "ir/core/index_map.h"
#include "schedule/state/schedule_impl.h"

typedef struct sch_mapping {
    uint32_t iter_count, count;
    const hone_iter *iters;    /* what the map is applied to */
    const hone_expr **indices; /* count of them, over the variables of iters, simplified */
    const hone_expr **extents; /* each index is from 0 to below this */
    const hone_expr **reaches; /* … or NULL, or to below this already: a tile is larger than what
                                  is tiled */
    hone_itermap detected;     /* detected.reason: why the indices are no sums of splits, or NULL */
} sch_mapping;

/* The map as this step means it: with the values of the random variables in it, over `rank`
 * parameters of this type. ILLEGAL: it has another number of parameters. */
HONE_NODISCARD hone_status sch_resolve_map(hone_schedule *sch, hone_node_id blame,
                                           const hone_index_map *map, uint32_t rank,
                                           hone_dtype dtype, const hone_index_map **out);
/* Applies a resolved map to the iterators, which start at 0. keeps_tiles: i % 16 has the extent 16
 * however far i goes. ILLEGAL where an index may be negative, is never 0, does not fit its type or
 * its range is not known. */
HONE_NODISCARD hone_status sch_apply_map(hone_schedule *sch, hone_node_id blame,
                                         const hone_index_map *map, uint32_t iter_count,
                                         const hone_iter *iters, bool keeps_tiles,
                                         sch_mapping *out);
/* The map as an operand of an instruction: with its random variables, over `rank` parameters of
 * this type. NULL is nothing. */
HONE_NODISCARD hone_status sch_map_operand(hone_schedule *sch, const hone_index_map *map,
                                           uint32_t rank, hone_dtype dtype, hone_operand *out);
/* Brings the indices of all accesses below root into the form in which they are written. */
HONE_NODISCARD hone_status sch_simplify_accesses(hone_schedule *sch, hone_node_id root);

#endif
