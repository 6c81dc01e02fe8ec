/* schedule/defaults/default_schedule.h - a good schedule without any search: what `hone compile`
 * uses where there is no record. */
#ifndef HONE_SCHEDULE_DEFAULT_SCHEDULE_H
#define HONE_SCHEDULE_DEFAULT_SCHEDULE_H

#include "schedule/state/schedule.h"

/* What the schedule must know of a CPU; plain numbers, so that this room needs no target. */
typedef struct hone_default_limits {
    int32_t threads;      /* that kernels run on */
    int32_t vector_lanes; /* f32 lanes of a vector register */
    int32_t vector_registers;
    int64_t l1_bytes, l2_bytes;
    uint64_t constants;  /* bit i: parameter i (of those that are buffers) never changes; what is
                            computed of such alone is computed once, before the first call */
    bool are_sizes_open; /* sizes stand for others, so that steps have to be legal for these, too */
    const int64_t *open_extents; /* of loops that stand for others, so that no tile is made to fill
                                    them, the first one that of a size by itself; 0 ends; NULL: it
                                    is not said which */
} hone_default_limits;

/* Schedules a program that was just reset; blocks that it cannot improve stay as they are. A step
 * that is refused is left out, so ILLEGAL and INVALID never come out of it. */
HONE_NODISCARD hone_status hone_default_schedule(hone_schedule *sch,
                                                 const hone_default_limits *limits);

#endif
