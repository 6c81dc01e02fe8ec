/* schedule/gpu/gpu_rows.h - what the ways to keep rows (gpu_rows*.c) share; for them only. */
#ifndef HONE_SCHEDULE_GPU_GPU_ROWS_H
#define HONE_SCHEDULE_GPU_GPU_ROWS_H

#include "schedule/gpu/gpu_impl.h"

enum { GPU_MOST_ROW_BLOCKS = 16 }; /* that keep rows together */

typedef struct hone_gpu_row_nest {
    hone_gpu *g;
    hone_rv last;   /* the block that reads all others */
    uint32_t count; /* of the others, in program order */
    hone_rv blocks[GPU_MOST_ROW_BLOCKS];
    int64_t total, length;   /* rows; the most that one block does for a row */
    int64_t bytes;           /* of a row, between the blocks */
    int64_t threads, beside; /* of a row; rows of one block */
    hone_factor by;          /* that many threads, or what was sampled */
    bool is_sampled;         /* how many threads */
    hone_rv row;             /* loop */
    bool is_across;          /* neighbouring rows are neighbours in memory */
    bool is_by_y;            /* threads of a row lie along y, neighbouring rows along x */
} hone_gpu_row_nest;

/* One of the blocks, but the last, writes the buffer; out_is_sum: it reduces (set where true). */
bool hone_gpu_row_makes(const hone_gpu_row_nest *r, hone_buffer buffer, bool *out_is_sum);
/* The loops of a block in the row, put in order: those that feed spatial axes, then those that
 * reduce. */
hone_status hone_gpu_row_loops(hone_gpu_row_nest *r, hone_rv block, hone_rv *out,
                               uint32_t *out_spatial, uint32_t *out_count);
/* One thread of the row does all of a block. */
hone_status hone_gpu_share_nothing(hone_gpu_row_nest *r, hone_rv block);
/* Rows to blocks, `beside` of them to each, whose threads lie along the other axis. */
hone_status hone_gpu_bind_rows(hone_gpu_row_nest *r);
/* gpu_rows_own.c: copies of those parameters, one more block each, that several blocks read. */
hone_status hone_gpu_cache_rows(hone_gpu_row_nest *r);
/* The axis that the threads of a row lie along. */
const char *hone_gpu_row_axis(const hone_gpu_row_nest *r);
/* gpu_rows_own.c: rows whose blocks stand in the loop already. ILLEGAL: they go along different
 * loops, or are too long. */
hone_status hone_gpu_keep_own_rows(hone_gpu_row_nest *r);

#endif
