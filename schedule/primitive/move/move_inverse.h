/* schedule/primitive/move/move_inverse.h - which axis values touch a box, by inverting all indices
 * of a region together: for regions such as B[v // 4, v % 4], of which one dimension alone tells
 * too little. */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_INVERSE_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_INVERSE_H

#include "schedule/primitive/move/move_domain.h"

/* The region is one element for each instance of the block, and a bijection of all of its axes.
 * out: by axis, an interval that contains the values of every instance whose element lies in the
 * box; inside: and of no others. False where that is not known. */
bool sch_axes_by_inverse(hone_schedule *sch, const hone_block *block, const hone_region *region,
                         const sch_box *box, bool inside, hone_interval *out);

#endif
