/* schedule/defaults/dots.h - products both sides of which lie along their sum (a few rows by
 * weights that come with each call, stored as [out, in]): some rows and columns go together, each
 * sum in a vector of its own that lowering collects (lower/vectors/lower_reduce.c), so that what is
 * loaded serves several of them, and what is large is read once.
 *
 *   for outer spatial…, column0, row0:
 *     for reduce… (pragma_vector_reduce):
 *       for row1, column1 (unrolled): out[row, column] += x[row, k] * w[column, k]
 *     out = epilogue(out)
 *
 * How many rows and columns comes from outside: by default (default_dots.c) or drawn by a rule of
 * the space. */
#ifndef HONE_SCHEDULE_DEFAULTS_DOTS_H
#define HONE_SCHEDULE_DEFAULTS_DOTS_H

#include "schedule/nests/nest_facts.h"

/* Axis a of the block is bound to loop a of its nest. */
typedef struct hone_dots {
    hone_schedule *sch;
    hone_reduction_facts f;
    int32_t row, column; /* axes; row -1: there is none */
    int64_t registers;
} hone_dots;

/* For a target of so many vector registers and lanes of what is written. False: the block is no
 * product of this kind. Changes and records nothing. */
bool hone_dots_find(hone_schedule *sch, hone_node_id node, int64_t lanes, int64_t registers,
                    hone_dots *out);
/* Rows of a tile are divided, so that what is left over is columns. */
bool hone_dots_divides(const hone_dots *d, int64_t rows);
/* The most columns whose sums are in registers beside what a step loads, and which there are; 0:
 * the rows are too many. */
int64_t hone_dots_most_columns(const hone_dots *d, int64_t rows);
/* The block from hone_sch_get_block in tiles; columns 0: their number is to be drawn. ILLEGAL: a
 * step is refused. */
HONE_NODISCARD hone_status hone_dots_apply(const hone_dots *d, hone_rv block, int64_t rows,
                                           int64_t columns);

#endif
