/* schedule/gpu/gpu_schedule.h - a good schedule for a GPU without any search: what `hone compile`
 * uses there where there is no record. */
#ifndef HONE_SCHEDULE_GPU_GPU_SCHEDULE_H
#define HONE_SCHEDULE_GPU_GPU_SCHEDULE_H

#include "schedule/state/schedule.h"

/* What the schedule must know of a GPU; plain numbers, so that this room needs no target. */
typedef struct hone_gpu_limits {
    int32_t block_threads;   /* at most, of a block */
    int32_t warp;            /* threads that run in step */
    int32_t multiprocessors; /* each runs a few blocks; 0: not known */
    int64_t shared_bytes;    /* at most, of a block */
    int64_t registers;       /* of a block, 32 bits each; 0: not known */
    bool has_matrix_units;   /* that multiply tiles of 16 x 16 x 16 half floats (wmma) */
    bool has_bfloat_units;   /* the same for bfloat16, and, in 8 steps, for rounded floats (TF32) */
    bool has_group_units;    /* that four warps feed out of shared memory (wgmma) */
    bool copies_while_computing; /* from global to shared memory (cp.async) */
} hone_gpu_limits;

/* Schedules a program that was just reset: afterwards every nest below its root is bound to blocks
 * and threads. A step that is refused is left out, so ILLEGAL and INVALID never come out of it;
 * what cannot be shared out runs in one thread. */
HONE_NODISCARD hone_status hone_gpu_schedule(hone_schedule *sch, const hone_gpu_limits *limits);

#endif
