/* schedule/primitive/buffers/reindexing_indices.h - checks of a reindexing: are the new indices
 * injective where they must be, and do the copies read only what is there? */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_INDICES_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_INDICES_H

#include "schedule/primitive/buffers/reindexing.h"

/* ILLEGAL unless it is shown that no element of the new buffer has to stand for two elements of the
 * old one. Writing: the new indices are injective, over all values of the axes. Reading: axis
 * values with the same new indices have the same old indices. */
HONE_NODISCARD hone_status sch_check_new_indices(sch_reindexing *r);

/* For reads in a nested block, where the copies run over all values of the axes in each run of the
 * scope: ILLEGAL unless each element that is copied is one that the block itself reads, or was
 * surely written before. */
HONE_NODISCARD hone_status sch_check_reach(sch_reindexing *r);
/* Each instance of the block loads the buffer, whatever conditions inside of the block hold. */
bool sch_loads_always(const sch_reindexing *r);
/* One of the axes that the copies have is bound to the loop: with keeps_loops, they run in a loop
 * like it. */
bool sch_is_copied_loop(const sch_reindexing *r, hone_var loop);

#endif
