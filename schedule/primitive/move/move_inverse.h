/* schedule/primitive/move/move_inverse.h - which axis values touch a box, by going back through a
 * block's indices.
 *
 * For places that one dimension alone says too little of: B[v // 4, v % 4].
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_INVERSE_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_INVERSE_H

#include "schedule/primitive/move/move_domain.h"

/* The region is one point for each instance of the block, a bijection of all of its axes. out: one
 * interval per axis, which hold every instance whose point lies in the box. inside: no others
 * either. False when that is not known. */
bool sch_axes_by_inverse(hone_schedule *sch, const hone_block *block, const hone_region *region,
                         const sch_box *box, bool inside, hone_interval *out);

#endif
