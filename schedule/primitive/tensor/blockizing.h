/* schedule/primitive/tensor/blockizing.h - blockize while it is made: the old blocks, and how their
 * iterations are divided between the loops around the new block and those inside it. Within
 * schedule/ only. */
#ifndef HONE_SCHEDULE_PRIMITIVE_TENSOR_BLOCKIZING_H
#define HONE_SCHEDULE_PRIMITIVE_TENSOR_BLOCKIZING_H

#include "ir/arith/itermap.h"
#include "schedule/state/init_nest.h"

/* An axis of an old block: its binding is outer * inner_extent + inner. */
typedef struct axis_parts {
    const hone_expr *outer, *inner;
    const hone_expr *outer_extent, *inner_extent;
} axis_parts;

/* One old block. */
typedef struct part {
    hone_node_id top, block; /* top: the loop or block that moves into the new block */
    uint32_t outer_count, inner_count;
    hone_iter *outer_iters, *inner_iters;
    bool *is_inner, *is_outer; /* by variable, var_count entries */
    uint32_t var_count;
    const hone_expr *outer_predicate, *inner_predicate;
    axis_parts *axes;
    bool has_init; /* which becomes the init of the new block */
    sch_init_nest init;
    hone_var *outer_vars; /* by axis: the axis of the new block that stands for `outer` */
} part;

typedef struct blockizing {
    hone_schedule *sch;
    bool keeps_units; /* loops of one iteration stay in the bindings of the new block */
    uint32_t count;
    part *parts;
    uint32_t axis_count; /* of the new block */
    hone_axis *axes;
    const hone_expr **bindings;
    hone_node_id outer; /* the new block */
} blockizing;

/* Divides loops, predicate and bindings of an old block into what runs outside of the new block and
 * what runs inside (blockize_divide.c). ILLEGAL where a binding or a conjunct of the predicate
 * mixes both. */
HONE_NODISCARD hone_status sch_divide_part(blockizing *b, part *p);

#endif
