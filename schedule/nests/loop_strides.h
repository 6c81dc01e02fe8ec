/* schedule/nests/loop_strides.h - strides: how far apart in memory the iterations of a loop
 * access a buffer; and which loops make a vector. For auto_loops and default schedules. */
#ifndef HONE_SCHEDULE_NESTS_LOOP_STRIDES_H
#define HONE_SCHEDULE_NESTS_LOOP_STRIDES_H

#include "schedule/state/schedule.h"

/* By how many elements the access `region` of the block moves when the loop variable grows by one.
 * False where it is not linear in the variable, or the strides of the buffer are not constant or do
 * not fit 64 bits. */
bool sch_stride_in_loop(hone_schedule *sch, hone_node_id block, const hone_region *region,
                        hone_var loop_var, int64_t *out_stride);
/* sch_stride_in_loop for an axis of the block in the place of the loop. */
bool sch_stride_in_axis(hone_schedule *sch, const hone_region *region, hone_var axis,
                        int64_t *out_stride);

/* The innermost loops around a block that can become one vector together: they are data-parallel,
 * each the only child of the one before, and move the writes contiguously; several of them move
 * every access evenly. Loops of extent 1 are passed over. */
typedef struct sch_vector_run {
    uint32_t first, last; /* indices into the loops; first > last: there are none */
    uint32_t full_first;  /* how far it would go without a limit */
    int64_t full_product;
} sch_vector_run;

/* loops: the loops around the block, outermost first. limit: the largest product of extents, unless
 * it is of a single loop. */
sch_vector_run sch_find_vector_run(hone_schedule *sch, hone_node_id block, uint32_t count,
                                   const hone_node_id *loops, int64_t limit);
/* Such a loop whose extent is not known: the innermost one. */
bool sch_is_open_row(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* Whether that loop and the one around it are one: the block, a single store, goes through them as
 * through one, whatever their extents are (open_run.c). */
bool sch_is_open_pair(hone_schedule *sch, hone_node_id block, hone_node_id outer,
                      hone_node_id inner);

#endif
