/* lower/pipeline/pipeline_write.h - the loops that a pipeline becomes; inside lower/ only. */
#ifndef HONE_LOWER_PIPELINE_PIPELINE_WRITE_H
#define HONE_LOWER_PIPELINE_PIPELINE_WRITE_H

#include "lower/pipeline/pipeline_plan.h"

/* Prologue, body and epilogue in place of the loop, whose buffers have their copies already. */
HONE_NODISCARD hone_status lower_write_pipe(lower_pipe *pipe);
/* lower_write_pipe for a pipeline whose first stage copies to shared memory in the background,
 * while threads compute (background.c). */
HONE_NODISCARD hone_status lower_write_background(lower_pipe *pipe);

/* ---- what both are made of ---- */
/* Moves what the part does for one iteration to the end of `into`. guard: NULL = always. */
HONE_NODISCARD hone_status lower_pipe_emit(lower_pipe *pipe, hone_node_id part,
                                           const hone_expr *iteration, const hone_expr *guard,
                                           hone_node_id into);
/* lower_pipe_emit of a copy of the part, which itself stays where it is. */
HONE_NODISCARD hone_status lower_pipe_copy(lower_pipe *pipe, const lower_part *part,
                                           const hone_expr *iteration, const hone_expr *guard,
                                           hone_node_id into);
/* The part whose `order` this is. */
const lower_part *lower_pipe_part(const lower_pipe *pipe, int64_t order);
/* base + offset; NULL when memory is short. */
const hone_expr *lower_pipe_moved(lower_pipe *pipe, const hone_expr *base, int64_t offset);
/* Takes everything that stands below the loop out of the tree. */
void lower_pipe_empty(lower_pipe *pipe);
/* Puts the allocations of the loop's body around `box`. */
HONE_NODISCARD hone_status lower_pipe_allocate(lower_pipe *pipe, hone_node_id box);

#endif
