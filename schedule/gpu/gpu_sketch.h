/* schedule/gpu/gpu_sketch.h - for the rules of design spaces and their postprocessors: ways to
 * change a block for a GPU whose sizes are sampled, and what is done when all decisions are made.
 *
 * All fail with ILLEGAL where a step is refused or the block is none of these; the schedule is to
 * be thrown away then. */
#ifndef HONE_SCHEDULE_GPU_GPU_SKETCH_H
#define HONE_SCHEDULE_GPU_GPU_SKETCH_H

#include "schedule/gpu/gpu_schedule.h"

/* A product in tiles "SSSRRSRS": blocks, virtual threads, threads; shared memory holds what one
 * step of the first R takes; then what a thread does. */
HONE_NODISCARD hone_status hone_gpu_sketch_product(hone_schedule *sch, hone_rv block,
                                                   const hone_gpu_limits *limits);
/* A product on matrix units: blocks, warps, fragments. */
HONE_NODISCARD hone_status hone_gpu_sketch_fragments(hone_schedule *sch, hone_rv block,
                                                     const hone_gpu_limits *limits);
/* A product by groups of four warps, in tiles of that number among those that there are. */
enum { HONE_GPU_GROUP_TILES = 6 };
HONE_NODISCARD hone_status hone_gpu_sketch_groups(hone_schedule *sch, hone_rv block,
                                                  const hone_gpu_limits *limits, uint32_t number);
/* A product of few tiles and many steps in parts, each by one of these ways, which are added up. */
HONE_NODISCARD hone_status hone_gpu_sketch_parts(hone_schedule *sch, hone_rv block,
                                                 const hone_gpu_limits *limits);
/* A reduction by so many threads together. */
HONE_NODISCARD hone_status hone_gpu_sketch_reduce(hone_schedule *sch, hone_rv block,
                                                  const hone_gpu_limits *limits);
/* A block with the sums over rows that it reads, row by row, by so many threads. */
HONE_NODISCARD hone_status hone_gpu_sketch_rows(hone_schedule *sch, hone_rv block,
                                                const hone_gpu_limits *limits);
/* A reduction in pieces that blocks of their own reduce first. */
HONE_NODISCARD hone_status hone_gpu_sketch_pieces(hone_schedule *sch, hone_rv block,
                                                  const hone_gpu_limits *limits);
/* A nest as it stands, by blocks of so many threads. */
HONE_NODISCARD hone_status hone_gpu_sketch_bind(hone_schedule *sch, hone_rv block,
                                                const hone_gpu_limits *limits);

/* On a copy to shared memory, whose innermost loop is all of it: that the threads shall fetch it
 * together, so many elements at once. */
#define HONE_ANNOTATION_FETCH "meta_schedule.cooperative_fetch"

/* Shares annotated copies out to the threads of their launch. */
HONE_NODISCARD hone_status hone_gpu_fetch_together(hone_schedule *sch,
                                                   const hone_gpu_limits *limits);
/* Binds what is not bound yet. */
HONE_NODISCARD hone_status hone_gpu_bind_rest(hone_schedule *sch, const hone_gpu_limits *limits);
/* ILLEGAL: more threads in a block, or more shared memory, than there are. */
HONE_NODISCARD hone_status hone_gpu_check_limits(hone_schedule *sch, const hone_gpu_limits *limits);

#endif
