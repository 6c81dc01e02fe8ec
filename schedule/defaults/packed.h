/* schedule/defaults/packed.h - products one operand of which is laid out for the tile: a copy in
 * which the columns of a tile lie one behind the other, whatever the layout it came in.
 *
 *   pack[col / C, k…, col % C] = W[…]       the whole of it first, or for each group of columns;
 *                                           bytes: pack[col / C, k / 4, col % C, k % 4]
 *   for col0…: for row0…: for group:        group: tiles beside each other, that use the same rows
 *     for k…: for row1… (unrolled): for col1 (vector): tile += …
 *     out = epilogue(tile)                  the tile is turned on its way where columns are not
 *                                           contiguous in the output (filters of a convolution)
 *
 * Columns of a tile are whole vectors. Where a tile divides neither rows nor columns the last one
 * is shorter (lower/loops/lower_version.c). What is decided (rows, groups) comes from outside: by
 * default (default_packed.c) or drawn by a rule of the space. In this order: hone_packed_find,
 * hone_packed_widen_shared, hone_packed_cache_tile, hone_packed_copy_operand (or not),
 * hone_packed_nest, hone_packed_take_tile, and one of hone_packed_pack_all and
 * hone_packed_pack_panel.
 *
 * Functions that return a status fail with ILLEGAL where a step is refused, and NO_MEMORY.
 * Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008).
 */
#ifndef HONE_SCHEDULE_DEFAULTS_PACKED_H
#define HONE_SCHEDULE_DEFAULTS_PACKED_H

#include "schedule/nests/nest_facts.h"

/* Axis a of the block is bound to loop a of its nest. */
typedef struct hone_packed {
    hone_schedule *sch;
    hone_rv block;
    hone_node_id node;
    hone_reduction_facts f;
    uint32_t column, row; /* axes */
    int32_t outer_row;    /* an axis whose places are rows of a tile, too; -1: there is none */
    int32_t last_sum;     /* the reduce axis whose loop is innermost; -1: in the order of axes */
    int64_t together;     /* steps of last_sum that lie side by side: 4 of bytes, which one
                             instruction sums (lower/dot/lower_dot.c); else 1 */
    uint32_t read;        /* number of what is packed; of all reads where nothing is */
    bool is_turned;       /* columns are not the contiguous axis of the output */
    int64_t lanes, vectors;
    int64_t columns; /* of a tile: vectors of so many lanes */
} hone_packed;

/* Who is what in the block `node`: columns are the contiguous axis of the output, or, is_turned,
 * another one along which just one operand moves. is_packed: there is an operand that can be
 * packed. False: it is no product of this kind. Leaves block, lanes, vectors and columns alone;
 * outer_row is -1, and so is last_sum but for bytes, whose rows lie along it; changes and records
 * nothing. */
bool hone_packed_find(hone_schedule *sch, hone_node_id node, bool is_turned, bool is_packed,
                      hone_packed *out);
/* How the bytes of a sum come to lie side by side in fours. */
typedef struct hone_packed_fours {
    uint32_t read;     /* what columns share */
    int32_t dimension; /* of it, that should be its last one (the channels of an image); -1: it lies
                          well */
    int32_t padded;    /* the reduce axis that should end with zeros, at a multiple of four; -1 */
} hone_packed_fours;
/* For a product of bytes; false: nothing is to be done. Changes and records nothing. */
bool hone_packed_find_fours(hone_schedule *sch, hone_node_id node, hone_packed_fours *out);
/* An axis outside of the rows that shares what rows share; -1: there is none. */
int32_t hone_packed_find_outer_row(const hone_packed *p);
/* For last_sum: of bytes as it is; else the reduce axis with most steps, which are too many to be
 * unrolled. Others would share what they read of rows, which then is held in registers that the
 * sums need. */
int32_t hone_packed_longest_sum(const hone_packed *p);
/* The dimension of an access of the block that is just this axis; -1: there is none. */
int32_t hone_packed_dimension(const hone_packed *p, const hone_region *region, uint32_t axis);
/* The dimension that is this axis, or two axes one of which this is (g * 24 + f, f of 24 places);
 * -1: there is none. */
int32_t hone_packed_place(const hone_packed *p, const hone_region *region, uint32_t axis);
/* How many places the inner one of two such axes has; 0: the dimension is no two axes. */
int64_t hone_packed_inner(const hone_packed *p, const hone_region *region, uint32_t dimension);
const hone_block *hone_packed_block(const hone_packed *p);
/* The buffer that is read has floats of 16 bits. */
bool hone_packed_is_narrow(const hone_packed *p, uint32_t read);
/* The element that is read depends on a summed axis and not on the column: all columns use it. */
bool hone_packed_is_shared(const hone_packed *p, uint32_t read);
/* What columns share is copied where it is narrower than the sums: each number is widened once, not
 * for each column (lower/dot/lower_widen_floats.c). p->block is the block from hone_sch_get_block;
 * before hone_packed_cache_tile. */
HONE_NODISCARD hone_status hone_packed_widen_shared(hone_packed *p);

/* Two axes that are one dimension of the output become one each, where there are
 * such; first of hone_packed_cache_tile. */
HONE_NODISCARD hone_status hone_packed_set_apart(hone_packed *p);
/* The tile gets a buffer of its own: sums lie there as they are in registers. out_epilogue: what
 * takes it from there. p->block is the block from hone_sch_get_block. */
HONE_NODISCARD hone_status hone_packed_cache_tile(hone_packed *p, hone_rv *out_epilogue);

/* The copy: it has a loop for each axis that the operand uses, in their order. */
typedef struct hone_packed_copy {
    hone_rv block;
    uint32_t count;
    uint32_t axes[HONE_NEST_MAX_LOOPS];
    bool is_inner[HONE_NEST_MAX_LOOPS]; /* contiguous in the operand; goes inside */
    uint32_t column;                    /* which of them */
    bool is_turned;                     /* columns are not contiguous in the operand */
} hone_packed_copy;
HONE_NODISCARD hone_status hone_packed_copy_operand(hone_packed *p, hone_packed_copy *out);
/* Panels one after another, in front of everything. */
HONE_NODISCARD hone_status hone_packed_pack_all(const hone_packed *p, const hone_packed_copy *c);

/* How the nest is tiled: rows of a tile, along both axes, and how many tiles stand beside each
 * other. */
typedef struct hone_packed_tiling {
    hone_factor rows, outer_rows, group;
    bool rows_first; /* loops over rows that are no outer or inner ones go outside of panels */
} hone_packed_tiling;

typedef struct hone_packed_places {
    hone_rv panel, tile;    /* the last loop around a panel's tiles, and around a tile */
    hone_rv row, outer_row; /* the rows of a tile; outer_row: HONE_NO_ID where there is none */
    hone_rv reduce;         /* the reduction begins there */
    uint32_t depth;         /* loops down to tile */
    uint32_t panel_depth;
} hone_packed_places;
/* Axes that the operand moves along, the panels, other axes, rows, tiles, the reduction, a tile. */
HONE_NODISCARD hone_status hone_packed_nest(const hone_packed *p, const hone_packed_tiling *t,
                                            hone_packed_places *out);
/* The epilogue goes to the tile, its vectors along the last dimension. */
HONE_NODISCARD hone_status hone_packed_take_tile(const hone_packed *p, hone_rv epilogue,
                                                 const hone_packed_places *at);
/* What the block alone reads, and what pads thinly with one number, goes into it where sums are
 * long (default_padding.c). f: the facts of the block, which need not be packed. */
HONE_NODISCARD hone_status hone_packed_take_padding(hone_schedule *sch, hone_rv block,
                                                    const hone_reduction_facts *f);
/* The copy of a panel goes below the loop over panels. */
HONE_NODISCARD hone_status hone_packed_pack_panel(const hone_packed *p, const hone_packed_copy *c,
                                                  const hone_packed_places *at);

#endif
