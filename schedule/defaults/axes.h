/* schedule/defaults/axes.h - other axes for a product before it is tiled, for rules of the space:
 * those that by default are joined where they are contiguous (default_joined.c), or divided. */
#ifndef HONE_SCHEDULE_DEFAULTS_AXES_H
#define HONE_SCHEDULE_DEFAULTS_AXES_H

#include "schedule/state/schedule.h"

/* Makes one of any two axes of a product that lie one behind the other in all that it and what
 * takes its output read and write, as long as there are such and no step is refused: pixels of an
 * image where filters have one tap, rows of matrices that are multiplied with the same one.
 * ILLEGAL: nothing was joined. */
HONE_NODISCARD hone_status hone_axes_join(hone_schedule *sch, hone_rv block);
/* Makes two axes of one that the reads of a reduction divide (default_groups.c): the groups of a
 * convolution, and the filters of a group; and two dimensions of the one of its output that they
 * are. ILLEGAL: there is none, or a step is refused, and some may be done. */
HONE_NODISCARD hone_status hone_axes_divide(hone_schedule *sch, hone_rv block);

#endif
