/* schedule/defaults/loop_strides.h - how far apart the iterations of a loop touch memory. For
 * auto_loops and default schedules. */
#ifndef HONE_SCHEDULE_DEFAULTS_LOOP_STRIDES_H
#define HONE_SCHEDULE_DEFAULTS_LOOP_STRIDES_H

#include "schedule/state/schedule.h"

/* By how many elements an access of a block moves when the loop variable grows by one; false when
 * it is not linear in it, or the buffer's layout is not constant or beyond 64 bits. */
bool sch_stride_in_loop(hone_schedule *sch, hone_node_id block, const hone_region *region,
                        hone_var loop_var, int64_t *out_stride);
/* The same for an axis of the block instead of a loop. */
bool sch_stride_in_axis(hone_schedule *sch, const hone_region *region, hone_var axis,
                        int64_t *out_stride);

/* The innermost loops of a block whose iterations, taken together, are one vector: data-parallel,
 * one inside the other with nothing else in them, the writes contiguous; where there are several,
 * all accesses move on evenly. Loops of extent 1 do not count and do not stop it. */
typedef struct sch_vector_run {
    uint32_t first, last; /* indices into the loops; first > last: there are none */
    uint32_t full_first;  /* how far it would go without a limit */
    int64_t full_product;
} sch_vector_run;

/* limit: what the product may be when it has more than one loop. loops: outermost first. */
sch_vector_run sch_find_vector_run(hone_schedule *sch, hone_node_id block, uint32_t count,
                                   const hone_node_id *loops, int64_t limit);

#endif
