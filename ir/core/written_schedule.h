/* ir/core/written_schedule.h - has somebody scheduled this function already?
 *
 * Such a function is compiled as it stands: a schedule chosen by rules would take apart what was
 * built by hand. It shows in its loops (parallel, vectorized, unrolled or bound to threads, with
 * pragmas or other annotations), in annotations of blocks that primitives write, or in the
 * attribute below, which says so where the loops do not. Hints to schedulers ("schedule_rule",
 * "layout_free_placeholders", "op_pattern") are not schedules.
 */
#ifndef HONE_IR_CORE_WRITTEN_SCHEDULE_H
#define HONE_IR_CORE_WRITTEN_SCHEDULE_H

#include "ir/core/func.h"

/* An attribute of a function, true or 1. Comparisons and hashes pass over it. */
#define HONE_ATTR_IS_SCHEDULED "tir.is_scheduled"

/* The function shows any of these signs. */
bool hone_func_carries_schedule(const hone_func *func);

#endif
