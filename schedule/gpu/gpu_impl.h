/* schedule/gpu/gpu_impl.h - what the parts of schedules for GPUs (gpu_*.c) share; for them only.
 * Functions that return a status may fail with ILLEGAL where a step is refused. */
#ifndef HONE_SCHEDULE_GPU_GPU_IMPL_H
#define HONE_SCHEDULE_GPU_GPU_IMPL_H

#include "schedule/gpu/gpu_schedule.h"
#include "schedule/nests/nest_facts.h"

enum {
    GPU_MULTIPROCESSORS = 64, /* where their number is not known */
    GPU_VECTOR_BYTES = 16,    /* that a thread loads at once */
    GPU_BLOCK_THREADS = 256,  /* of a block that has no reason for another number */
    GPU_MAX_LOOPS = 64,
};

typedef struct hone_gpu {
    hone_schedule *sch;
    const hone_gpu_limits *limits;
} hone_gpu;

/* The loops around a block below its scope, outermost first. */
typedef struct hone_gpu_nest {
    hone_node_id block;
    uint32_t count;
    hone_rv rvs[GPU_MAX_LOOPS];
    hone_node_id loops[GPU_MAX_LOOPS];
} hone_gpu_nest;

int64_t hone_gpu_min(int64_t a, int64_t b);
int64_t hone_gpu_max(int64_t a, int64_t b);
/* The smallest power of two that is at least value. */
int64_t hone_gpu_power(int64_t value);
int64_t hone_gpu_multiprocessors(const hone_gpu *g);

/* ILLEGAL: more loops than there is room for. */
hone_status hone_gpu_get_nest(hone_gpu *g, hone_rv block, hone_gpu_nest *out);
/* The extent of a loop, or -1. */
int64_t hone_gpu_extent(hone_gpu *g, hone_rv loop);
/* A loop around the block is bound to threads. */
bool hone_gpu_is_bound(const hone_schedule *sch, hone_node_id block);
/* Splits a loop in two, out[1] having `inner` iterations. */
hone_status hone_gpu_split(hone_gpu *g, hone_rv loop, int64_t inner, hone_rv out[2]);
hone_status hone_gpu_split_by(hone_gpu *g, hone_rv loop, hone_factor inner, hone_rv out[2]);
/* One loop of several; of one, itself. */
hone_status hone_gpu_fuse(hone_gpu *g, uint32_t count, const hone_rv *loops, hone_rv *out);
/* No reduce axis of the block is bound to an expression that uses the loop. */
bool hone_gpu_is_spatial(const hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* Shares a loop out to `threads` of threadIdx.x, `vector` neighbours each, which divide its extent
 * (1: none): for rest: for threadIdx.x: vectorized. out_rest (NULL: not wanted). */
hone_status hone_gpu_share(hone_gpu *g, hone_rv loop, hone_factor threads, int64_t vector,
                           hone_rv *out_rest);
/* How many neighbours along the innermost loop of the nest one load or store of a thread may
 * take: a power of two that divides them; 1 where what is accessed does not lie side by side. */
int64_t hone_gpu_vector(hone_gpu *g, const hone_gpu_nest *nest);
/* ILLEGAL without a reason: the step of a schedule does not fit here. */
hone_status hone_gpu_unfit(void);

/* gpu_bind.c: the outermost loops that may run in any order, as one; and how many neighbours a
 * thread may take at once. ILLEGAL: there are none, or they are bound. */
hone_status hone_gpu_fuse_free(hone_gpu *g, hone_rv block, hone_rv *out, int64_t *out_vector);
/* gpu_reduce.c: all spatial loops of a reduction as one (of one iteration where there are none),
 * and inside it all that reduce. */
hone_status hone_gpu_join_loops(hone_gpu *g, hone_rv block, hone_rv *out_space, hone_rv *out_steps);
/* gpu_sketch_others.c: a number of threads, from `least` on by powers of two, at most those of a
 * block. */
hone_status hone_gpu_sample_threads(hone_gpu *g, int64_t least, int64_t most, hone_rv *out);
/* gpu_sketch.c: how many neighbours a thread fetches at once, at most `most`. */
hone_status hone_gpu_sample_vector(hone_gpu *g, int64_t most, hone_rv *out);
/* gpu_bind.c: shares the nest of a block out as it stands, unless it is bound. */
hone_status hone_gpu_bind(hone_gpu *g, hone_rv block);
/* gpu_bind.c: lets the nest of a block run in one thread, unless it is bound. */
hone_status hone_gpu_bind_alone(hone_gpu *g, hone_rv block);
/* gpu_reduce.c: lets threads reduce together. ILLEGAL where that is not worth it. */
hone_status hone_gpu_reduce(hone_gpu *g, hone_rv block);
/* gpu_rows.c: with all that it reads of sums over rows, row by row. ILLEGAL: it reads none, or rows
 * are too long. Own rows are kept in registers, others in shared memory. */
hone_status hone_gpu_own_rows(hone_gpu *g, hone_rv block);
hone_status hone_gpu_rows(hone_gpu *g, hone_rv block);
/* gpu_transpose.c: by tiles that are turned around in shared memory. ILLEGAL: nothing is read
 * across the rows along which it is written. */
hone_status hone_gpu_transpose(hone_gpu *g, hone_rv block);
/* gpu_fragments.c: a product of short numbers on matrix units. ILLEGAL: it is none, or there are
 * none. */
hone_status hone_gpu_fragments(hone_gpu *g, hone_rv block);
/* gpu_groups.c: the same by groups of four warps, where there are such units. ILLEGAL: there are
 * none, or it is too small for them. */
hone_status hone_gpu_groups(hone_gpu *g, hone_rv block);
/* gpu_parts.c: a product of few tiles and many steps as several, whose results are added up.
 * ILLEGAL: it is none. */
hone_status hone_gpu_parts(hone_gpu *g, hone_rv block);
/* gpu_product.c: a product of matrices by tiles. ILLEGAL: it is none. */
hone_status hone_gpu_product(hone_gpu *g, hone_rv block);

#endif
