/* schedule/primitive/layout/layout_map.h - index maps applied to the axes of a block or the
 * dimensions of a buffer. */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_MAP_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_LAYOUT_MAP_H

#include "ir/arith/itermap.h"
#include "ir/core/index_map.h"
#include "schedule/state/schedule_impl.h"

typedef struct sch_mapping {
    uint32_t iter_count, count;
    const hone_iter *iters;    /* what the map is applied to */
    const hone_expr **indices; /* count of them, over the variables of iters, simplified */
    const hone_expr **extents; /* each index lies in [0, extent) */
    const hone_expr **reaches; /* by index: NULL, or a smaller end that holds, too: the dimension is
                                  shorter than its tile, i % 16 of i < 10 */
    hone_itermap detected;     /* detected.reason: why it is no iterator map, or NULL */
} sch_mapping;

/* The map with the values of its random variables put in, over `rank` parameters of type dtype.
 * ILLEGAL: it has another number of parameters. */
HONE_NODISCARD hone_status sch_resolve_map(hone_schedule *sch, hone_node_id blame,
                                           const hone_index_map *map, uint32_t rank,
                                           hone_dtype dtype, const hone_index_map **out);
/* Applies a resolved map to iterators that start at 0. keeps_tiles: i % 16 has extent 16 even where
 * i goes less far. ILLEGAL: an index that may be negative, never is 0, does not fit its type, or of
 * which the range is not known. */
HONE_NODISCARD hone_status sch_apply_map(hone_schedule *sch, hone_node_id blame,
                                         const hone_index_map *map, uint32_t iter_count,
                                         const hone_iter *iters, bool keeps_tiles,
                                         sch_mapping *out);
/* The map as an instruction has it: with its random variables, over `rank` parameters of this type,
 * in the arena. NULL stays NULL. */
HONE_NODISCARD hone_status sch_recorded_map(hone_schedule *sch, const hone_index_map *map,
                                            uint32_t rank, hone_dtype dtype,
                                            const hone_index_map **out);
/* Simplifies the indices of all accesses below root. */
HONE_NODISCARD hone_status sch_simplify_accesses(hone_schedule *sch, hone_node_id root);

#endif
