/* schedule/primitive/layout/pad_zeros.h - what a block computes from the zeros of a padding; inside
 * schedule/ only.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_PAD_ZEROS_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_PAD_ZEROS_H

#include "schedule/state/schedule_impl.h"

/* Refuses a block (of stores) that may fail on zeros: it divides integers, shifts, calls. */
HONE_NODISCARD hone_status sch_check_zero_risks(hone_schedule *sch, hone_node_id block);

/* Refuses a reduction to whose result zeros might add something beyond the end of a reduce axis;
 * extents: by axis, NULL where it does not grow. */
HONE_NODISCARD hone_status sch_check_zero_sums(hone_schedule *sch, hone_node_id block,
                                               const hone_expr *const *extents);

#endif
