/* schedule/reindexing_places.h - may a block access the places of a new buffer instead of those of
 * the old one? */
#ifndef HONE_SCHEDULE_REINDEXING_PLACES_H
#define HONE_SCHEDULE_REINDEXING_PLACES_H

#include "schedule/reindexing.h"

/* Writing: two values of the axes never share an element of the new buffer. Reading: where they do,
 * they share one of the old buffer as well. ILLEGAL where that is not known. */
HONE_NODISCARD hone_status sch_check_places(sch_reindexing *r);

#endif
