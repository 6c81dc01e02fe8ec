/* schedule/defaults/default_impl.h - what the parts of default schedules (default_*.c) share; for
 * them only. Functions that return a status fail with NO_MEMORY only, unless they say more. */
#ifndef HONE_SCHEDULE_DEFAULT_IMPL_H
#define HONE_SCHEDULE_DEFAULT_IMPL_H

#include "schedule/defaults/default_schedule.h"
#include "schedule/nests/nest_facts.h"
#include "support/core/strbuf.h"

/* A reduction block about to be scheduled. */
typedef struct hone_default_nest {
    hone_schedule *sch;
    const hone_default_limits *limits;
    hone_rv block;
    hone_reduction_facts facts;
    int32_t lanes; /* of a vector register, for what the block writes */
} hone_default_nest;

enum { HONE_DEFAULT_MAX_BLOCKS = 256, HONE_DEFAULT_MAX_ACCESSES = 16 };

/* The loops around a block, outermost first; strides[l][a]: by how many elements access a moves in
 * one step of loop l. */
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

/* Blocks by name, since steps replace them. */
typedef struct hone_default_blocks {
    uint32_t count;
    const char *names[HONE_DEFAULT_MAX_BLOCKS];
} hone_default_blocks;

/* The names of the blocks below the root, in program order; those beyond the limit are left out. */
void hone_default_list_blocks(const hone_schedule *sch, hone_default_blocks *out);
/* The largest divisor of extent from low to high that is a multiple of step; 0 when there is none.
 */
int64_t hone_default_divisor(int64_t extent, int64_t low, int64_t high, int64_t step);
/* Inlines a block where that pays (hone_nest_should_inline). ILLEGAL: it cannot be. */
hone_status hone_default_inline(hone_schedule *sch, const char *name);
/* The map that the text says ("lambda d0, d1: (d1, d0)"), in the schedule's arena; frees the text.
 */
hone_status hone_default_read_map(hone_schedule *sch, hone_str *text,
                                  const hone_index_map **out_map);
/* "lambda v0, v1, v2: (v0, v1 // 24, v1 % 24, v2)": of so many numbers, one divided. */
hone_status hone_default_divide_map(hone_schedule *sch, uint32_t count, uint32_t divided,
                                    int64_t by, const hone_index_map **out_map);
/* The only consumer of a block, where it has one that is no reduction; else HONE_NO_ID. */
hone_status hone_default_epilogue(hone_schedule *sch, hone_rv block, hone_rv *out_consumer);
/* How many iterations an inner loop gets, and which other numbers a search may try. */
typedef struct hone_default_sizes {
    int64_t chosen, most;
    int64_t step; /* the others are multiples of it, where one of them may leave a rest */
} hone_default_sizes;
/* One of such numbers, a few on each side of what is chosen, whether or not it divides the extent:
 * a sample_categorical whose decision is made. */
hone_status hone_default_choose(hone_schedule *sch, int64_t extent, const hone_default_sizes *sizes,
                                hone_factor *out);
/* Splits a loop in two, out[1] having the chosen number of iterations: a decision that is made, so
 * that a search can go on from here. Where the number divides the extent it is one of a
 * sample_perfect_tile, else hone_default_choose. */
hone_status hone_default_split(hone_schedule *sch, hone_rv loop, const hone_default_sizes *sizes,
                               hone_rv out[2]);
/* The block reads parameters that never change, and nothing else. */
bool hone_default_reads_constants(const hone_schedule *sch, const hone_default_limits *limits,
                                  hone_node_id block);
/* A parameter that never changes, or what is made of such alone. */
bool hone_default_is_constant(const hone_schedule *sch, const hone_default_limits *limits,
                              hone_buffer buffer);
/* A loop of such an extent may have any other one. */
bool hone_default_is_open(const hone_default_limits *limits, int64_t extent);
/* INT32_MAX where it is more or unknown. */
int64_t hone_default_buffer_bytes(const hone_schedule *sch, hone_buffer buffer);
/* For a step that may be refused: an ILLEGAL becomes HONE_OK; other failures stay. */
hone_status hone_default_optional(hone_status st);

/* Fills in s for a block in plain serial loops of constant extents, each the only child of the one
 * before; out_fits: false for any other block (default_shape.c). */
hone_status hone_default_read_shape(hone_default_nest *n, hone_node_id block, hone_default_shape *s,
                                    bool *out_fits);
/* All accesses move through the loop `outer` and the next one as through one loop, whatever the
 * extents are that stand for others. */
bool hone_default_may_join(const hone_default_shape *s, uint32_t outer);
/* Fuses both. is_trial: changes s alone, not the program. */
hone_status hone_default_join(hone_default_shape *s, uint32_t outer, bool is_trial);
/* Fuses all neighbours that may be. */
hone_status hone_default_join_loops(hone_default_shape *s, bool is_trial);

/* Rows and columns of a tile of a matrix product. */
typedef struct hone_default_sides {
    int64_t rows, columns;
} hone_default_sides;
/* The tile for a product of floats with `all` rows and columns: `divides`, which divides them, or
 * one that leaves a rest where that is faster (default_product.c). */
hone_default_sides hone_default_product_tile(const hone_default_nest *n, hone_default_sides all,
                                             hone_default_sides divides);
/* The sums of a tile are in registers beside what a step loads, and leave compilers some. */
bool hone_default_tile_fits(const hone_default_nest *n, int64_t rows, int64_t columns);
/* What a step of the reduction takes for a tile, in operations of vectors. */
double hone_default_step_time(const hone_default_nest *n, int64_t rows, int64_t columns);
/* What it takes for all rows and columns, in the best tiles. */
double hone_default_least_time(const hone_default_nest *n, hone_default_sides all);

/* default_packed.c: products whose right side is laid out for the tile. Before anything else
 * is done to the block; out_is_done: it scheduled it. */
hone_status hone_default_packed(hone_default_nest *n, bool *out_is_done);
/* default_bytes.c: convolutions of bytes, whose images are turned first so that channels come last.
 * out_is_done: it scheduled the block, as hone_default_packed does. */
hone_status hone_default_bytes(hone_default_nest *n, bool *out_is_done);
/* default_pairs.c: what the variant bf16 makes of a product (schedule/variant/bf16.c); out_is_done:
 * the program is that, and scheduled but for its loops. */
hone_status hone_default_pairs(hone_schedule *sch, const hone_default_limits *limits,
                               bool *out_is_done);
/* default_groups.c: an axis of a reduction that its reads divide becomes two. */
hone_status hone_default_groups(hone_default_nest *n);
/* default_joined.c: two axes that everything moves through as through one. */
typedef struct hone_default_axes {
    uint32_t outer, inner; /* the contiguous one of what is written */
} hone_default_axes;
/* Whether the block of a product has such, and what takes its output. */
bool hone_default_may_join_axes(const hone_default_nest *n, hone_default_axes *out);
/* Makes them one, in the block and in what takes its output; out_is_done: facts are others then. */
hone_status hone_default_join_axes(hone_default_nest *n, bool *out_is_done);
/* default_tile.c: vectors along the output, and a tile of it in registers. */
hone_status hone_default_tile(hone_default_nest *nest);
/* default_dots.c: products both sides of which lie along their sum. out_is_done: it scheduled this
 * block. */
hone_status hone_default_dots(hone_default_nest *n, bool *out_is_done);
/* What a step of the reduction takes for so many sums, in operations of vectors; HUGE_VAL where it
 * is no such product. */
double hone_default_dots_time(const hone_default_nest *n, double sums);
/* default_padding.c: what the block alone reads, and what pads with one number, goes into it. */
hone_status hone_default_inline_padding(hone_default_nest *n);
/* default_lanes.c: vectors along the reduction. */
hone_status hone_default_lanes(hone_default_nest *nest);
/* default_beside.c: sums of columns. out_is_done: it scheduled this block. */
hone_status hone_default_beside(hone_default_nest *n, bool *out_is_done);
/* The two innermost loops of the block, over rows that are reduced and over columns, of these
 * extents, become some rows beside each other and vectors along the columns. */
HONE_NODISCARD hone_status hone_default_beside_nest(const hone_default_nest *n,
                                                    const hone_rv rows_and_columns[2],
                                                    const int64_t extents[2]);
/* How many columns, of so many, are taken at a time: their sums are in the first cache, and threads
 * have some each where other loops do not give them enough. */
int64_t hone_default_beside_chunk(const hone_default_nest *n, int64_t columns, int64_t others);
/* default_in_two.c: reductions of short rows and of what lies apart. out_is_done: it scheduled this
 * block. */
hone_status hone_default_in_two(hone_default_nest *n, bool *out_is_done);
/* default_across.c: vectors over rows that are reduced and are shorter than a vector. out_is_done:
 * it scheduled this block. */
hone_status hone_default_across(hone_default_nest *n, bool *out_is_done);
/* default_scan.c: vectors across rows that are gone over in order. out_is_done: the block goes over
 * an axis in order, so nothing else is for it. */
hone_status hone_default_scan(hone_default_nest *n, hone_node_id block, bool *out_is_done);
/* default_transpose.c: tiles for a block that reads across the rows along which it writes. Does
 * nothing to other blocks. */
hone_status hone_default_transpose(hone_default_nest *nest, hone_node_id block);
/* default_reduce.c: annotates what else reduces along contiguous memory, so that lowering collects
 * it in vectors. */
hone_status hone_default_reduce(hone_schedule *sch, const hone_default_limits *limits);
/* The loop drives reduce axes of the block and nothing else. */
bool hone_default_only_reduces(const hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* How many neighbours in memory a block reads in a loop that reduces and those around it, which go
 * straight on (the rows of an image): their extents together. */
int64_t hone_default_run_length(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* default_narrow.c: vectors over several rows where one row is shorter than a vector. */
hone_status hone_default_narrow(hone_schedule *sch, const hone_default_limits *limits);
/* default_rows.c: moves what is computed once per row into the consumer's loop over rows; what is
 * computed of constants alone stays in front. */
hone_status hone_default_rows(hone_schedule *sch, const hone_default_limits *limits);
/* default_ahead.c: the last pass over rows asks for the next row; out_is_done: there is one. */
hone_status hone_default_ahead(hone_schedule *sch, const hone_default_limits *limits,
                               bool *out_is_done);

#endif
