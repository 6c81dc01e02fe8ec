/* schedule/defaults/default_impl.h - for the parts of default schedules only. */
#ifndef HONE_SCHEDULE_DEFAULT_IMPL_H
#define HONE_SCHEDULE_DEFAULT_IMPL_H

#include "schedule/defaults/default_schedule.h"
#include "schedule/defaults/nest_facts.h"

/* A reduction block about to be scheduled. */
typedef struct hone_default_nest {
    hone_schedule *sch;
    const hone_default_limits *limits;
    hone_rv block;
    hone_reduction_facts facts;
    int32_t lanes; /* of a vector register, for what the block writes */
} hone_default_nest;

enum { HONE_DEFAULT_MAX_BLOCKS = 256, HONE_DEFAULT_MAX_ACCESSES = 16 };

/* The loops around a block, outermost first, and by how many elements each moves its accesses. */
typedef struct hone_default_shape {
    hone_default_nest *n;
    hone_node_id block;
    uint32_t count;
    hone_rv loops[HONE_NEST_MAX_LOOPS];
    int64_t extents[HONE_NEST_MAX_LOOPS];
    uint32_t access_count; /* the write, then the reads */
    int64_t strides[HONE_NEST_MAX_LOOPS][HONE_DEFAULT_MAX_ACCESSES];
    int32_t bits; /* of an element that is written */
} hone_default_shape;

/* Blocks below the root, in program order; what is beyond the limit is left out. */
typedef struct hone_default_blocks {
    uint32_t count;
    const char *names[HONE_DEFAULT_MAX_BLOCKS];
} hone_default_blocks;

void hone_default_list_blocks(const hone_schedule *sch, hone_default_blocks *out);
/* The largest divisor of extent from low to high that is a multiple of step; 0 when there is none.
 */
int64_t hone_default_divisor(int64_t extent, int64_t low, int64_t high, int64_t step);
/* The only consumer of a block when it is no reduction; HONE_NO_ID otherwise. */
hone_status hone_default_epilogue(hone_schedule *sch, hone_rv block, hone_rv *out_consumer);
/* Splits a loop in two with this inner part. Where it divides the extent it is a sampled tile with
 * its decision made, so that a search can go on from here; its inner part grows to limit at most.
 */
hone_status hone_default_split(hone_schedule *sch, hone_rv loop, int64_t inner, int64_t limit,
                               hone_rv out[2]);
/* ILLEGAL (the step was refused, the program is as before) is no failure. */
hone_status hone_default_optional(hone_status st);

/* default_shape.c: plain serial loops of constant extents, one inside the other; false for others.
 */
hone_status hone_default_read_shape(hone_default_nest *n, hone_node_id block, hone_default_shape *s,
                                    bool *out_fits);
/* Makes one loop of neighbours that are one in all accesses; a trial changes the shape alone. */
hone_status hone_default_join_loops(hone_default_shape *s, bool is_trial);

/* default_product.c: a tile of a product of floats, of all rows and columns: this one, or another
 * one with tiles that are left over where it is faster. */
typedef struct hone_default_sides {
    int64_t rows, columns;
} hone_default_sides;
hone_default_sides hone_default_product_tile(const hone_default_nest *n, hone_default_sides all,
                                             hone_default_sides divides);

/* default_tile.c: vectors along the output, a tile of it in registers. */
hone_status hone_default_tile(hone_default_nest *nest);
/* default_lanes.c: vectors along the reduction. */
hone_status hone_default_lanes(hone_default_nest *nest);
/* default_across.c: vectors over rows that are reduced and shorter than one; did it take this? */
hone_status hone_default_across(hone_default_nest *n, bool *out_is_done);
/* default_transpose.c: tiles of what is read across the rows that it is written along; leaves
 * other blocks alone. */
hone_status hone_default_transpose(hone_default_nest *nest, hone_node_id block);
/* default_reduce.c: has lowering collect what else reduces along contiguous memory in vectors. */
hone_status hone_default_reduce(hone_schedule *sch, const hone_default_limits *limits);
/* default_narrow.c: vectors over several rows that are shorter than one. */
hone_status hone_default_narrow(hone_schedule *sch, const hone_default_limits *limits);
/* default_rows.c: moves what is computed per row into the loop over rows of its consumer. */
hone_status hone_default_rows(hone_schedule *sch);

#endif
