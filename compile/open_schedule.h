/* compile/open_schedule.h - default schedules of kernels with open sizes. For kernels.c only. */
#ifndef HONE_COMPILE_OPEN_SCHEDULE_H
#define HONE_COMPILE_OPEN_SCHEDULE_H

#include "compile/parts.h"
#include "schedule/state/schedule.h"

/* Schedules a kernel with open sizes as is good for some numbers in their place. *out_done is
 * false, and the schedule as it began, where each of these is refused. NO_MEMORY. */
HONE_NODISCARD hone_status parts_schedule_open(parts *p, const part_kernel *k,
                                               hone_schedule *open_one, bool *out_done);

#endif
