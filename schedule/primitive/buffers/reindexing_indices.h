/* schedule/primitive/buffers/reindexing_indices.h - may a block access the places of a new buffer
 * instead of those of the old one? */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_INDICES_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_REINDEXING_INDICES_H

#include "schedule/primitive/buffers/reindexing.h"

/* Writing: two values of the axes never share an element of the new buffer. Reading: where they do,
 * they share one of the old buffer as well. ILLEGAL where that is not known. */
HONE_NODISCARD hone_status sch_check_new_indices(sch_reindexing *r);

/* Reading in a nested block: the copies, over all values of the axes, read nothing that the block
 * does not read itself or that was surely written before. */
HONE_NODISCARD hone_status sch_check_reach(sch_reindexing *r);
/* Does each instance of the block load the buffer, whatever holds? */
bool sch_loads_always(const sch_reindexing *r);
/* Some axis that the copies have is bound to the loop, so that loops kept by them hold it. */
bool sch_is_copied_loop(const sch_reindexing *r, hone_var loop);

#endif
