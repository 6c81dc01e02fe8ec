/* schedule/primitive/layout/pad_zeros.h - for pad_einsum: may a block run on zeros that padding
 * adds? Within schedule/ only. */
#ifndef HONE_SCHEDULE_PRIMITIVE_LAYOUT_PAD_ZEROS_H
#define HONE_SCHEDULE_PRIMITIVE_LAYOUT_PAD_ZEROS_H

#include "schedule/state/schedule_impl.h"

/* ILLEGAL where the stores of the block may fail on zeros: they divide integers, shift, or call
 * something. */
HONE_NODISCARD hone_status sch_check_zero_risks(hone_schedule *sch, hone_node_id block);

/* ILLEGAL where zeros beyond the old end of a reduce axis might change the block's result: 0 · x +
 * sum does not, max(sum, 0) may. extents: by axis, what it grows to; NULL where it stays. */
HONE_NODISCARD hone_status sch_check_zero_sums(hone_schedule *sch, hone_node_id block,
                                               const hone_expr *const *extents);

#endif
