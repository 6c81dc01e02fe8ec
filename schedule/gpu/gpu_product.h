/* schedule/gpu/gpu_product.h - products of matrices in the widest sense (batches, convolutions):
 * every axis of the block belongs to one of four groups, by which of the two operands use it.
 *
 *   C[batch, row, column] += A[batch, row, step] * B[batch, column, step]
 */
#ifndef HONE_SCHEDULE_GPU_GPU_PRODUCT_H
#define HONE_SCHEDULE_GPU_GPU_PRODUCT_H

#include "schedule/gpu/gpu_impl.h"

typedef enum gpu_group { GPU_BATCH, GPU_ROWS, GPU_COLUMNS, GPU_STEPS, GPU_GROUPS } gpu_group;

enum { GPU_MAX_AXES = 16 };

/* How an operand lies: the group that is contiguous, and how many neighbours always are. */
typedef struct hone_gpu_side {
    gpu_group last;
    int64_t run;
} hone_gpu_side;

typedef struct hone_gpu_shape {
    uint32_t axis_count;
    gpu_group groups[GPU_MAX_AXES];
    int64_t axes[GPU_MAX_AXES];  /* extents; -1: not known */
    int64_t extents[GPU_GROUPS]; /* products; 1: nothing in the group; -1: not known */
    bool has[GPU_GROUPS];
    uint32_t rows_operand;      /* the number of the read that has the rows */
    bool uses[3][GPU_MAX_AXES]; /* by the reads, then by the write */
    hone_gpu_side sides[3];     /* of the reads, then the write */
    hone_dtype types[3];        /* of the reads, then of the write */
    int32_t operand_bits, bits; /* of the widest operand, of what is written */
} hone_gpu_shape;

/* What a block is as a product: ILLEGAL where it is none. Columns are those along which the result
 * is contiguous, whichever operand has them. */
hone_status hone_gpu_read_shape(hone_gpu *g, hone_rv block, hone_gpu_shape *out);

/* The form of a product that a way of multiplying wants. */
typedef struct hone_gpu_form {
    int64_t padding[GPU_GROUPS]; /* the axes are made multiples of */
    gpu_group last[2];           /* dimension of the operands, rows' then columns' */
} hone_gpu_form;
/* Brings a block into the form C[batch, row, column] += …, each group one axis (empty groups but
 * steps none), by reindex, transform_layout and transform_block_layout, and pads the axes to
 * multiples. The copies of the operands are producers of the block then, what puts the result in
 * its place is its consumer. */
hone_status hone_gpu_to_matrices(hone_gpu *g, hone_rv block, const hone_gpu_shape *shape,
                                 const hone_gpu_form *form);
/* Binds the loops over tiles of the whole: batch (HONE_NO_ID: there is none), rows and columns. */
hone_status hone_gpu_bind_tiles(hone_gpu *g, const hone_gpu_shape *shape, hone_rv batch,
                                hone_rv rows, hone_rv columns);

/* Sizes of the tiles of a block of threads, and of those of one thread. */
typedef struct hone_gpu_tile {
    int64_t rows, columns, steps;
    int64_t thread_rows, thread_columns;
    int64_t stages; /* tiles of steps in shared memory at once; 1 or 0: one */
} hone_gpu_tile;
/* For threads that multiply by themselves. rows 0: there is no tile that fits. */
hone_gpu_tile hone_gpu_choose_tile(const hone_gpu *g, const hone_gpu_shape *shape);
/* For warps that multiply with matrix units; what is said of a thread is a warp's. */
hone_gpu_tile hone_gpu_choose_warp_tile(const hone_gpu *g, const hone_gpu_shape *shape);
/* For groups of four warps; what is said of a thread is a group's. */
hone_gpu_tile hone_gpu_choose_group_tile(const hone_gpu *g, const hone_gpu_shape *shape);
/* One of those that it chooses from, by its number. rows 0: the matrices are too small for any. */
hone_gpu_tile hone_gpu_group_tile(const hone_gpu *g, const hone_gpu_shape *shape, uint32_t number);

/* Into how many parts the steps of a product are to be cut, of whose axes the longest is cut; 1: it
 * has blocks for all multiprocessors, or steps for no more. */
int64_t hone_gpu_count_parts(const hone_gpu *g, const hone_gpu_shape *shape, int64_t longest);

/* Moves the consumers of a block, one after the other, behind its stores, as far as that is
 * possible. */
hone_status hone_gpu_join_epilogue(hone_gpu *g, hone_rv block);
/* Lets a loop of two copies and what uses them fetch for iterations to come: so many tiles of each
 * are in shared memory. goes_on: what uses them goes on while the next iteration begins. Any other
 * loop, or one tile, stays as it is. */
hone_status hone_gpu_copy_ahead(hone_gpu *g, hone_rv loop, int64_t tiles, bool goes_on);
/* One loop of those of a copy that was moved into the loop `place`; the last two change places
 * first where the operand does not lie in memory as in the copy (`last`: its last dimension). */
hone_status hone_gpu_fuse_copy(hone_gpu *g, hone_rv copy, hone_rv place, const hone_gpu_side *side,
                               gpu_group last, hone_rv *out);
/* Puts what only copies, or computes little, in front of a block into it. */
hone_status hone_gpu_join_prologue(hone_gpu *g, hone_rv block);

#endif
