/* schedule/primitive/tensor/blockizing.h - blockize while it is made: old blocks, and how their
 * iterations are divided.
 *
 * Layer: within schedule/.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_TENSOR_BLOCKIZING_H
#define HONE_SCHEDULE_PRIMITIVE_TENSOR_BLOCKIZING_H

#include "ir/arith/itermap.h"
#include "schedule/state/init_nest.h"

typedef struct axis_parts {
    const hone_expr *outer, *inner; /* bindings; the old one is outer * inner_extent + inner */
    const hone_expr *outer_extent, *inner_extent;
} axis_parts;

/* One old block and how its iterations are divided. */
typedef struct part {
    hone_node_id top, block; /* top: the statement that goes into the new block */
    uint32_t outer_count, inner_count;
    hone_iter *outer_iters, *inner_iters;
    bool *is_inner, *is_outer; /* by variable, var_count entries */
    uint32_t var_count;
    const hone_expr *outer_predicate, *inner_predicate;
    axis_parts *axes;
    bool has_init; /* that goes into the new block */
    sch_init_nest init;
    hone_var *outer_vars; /* of the new block, by old axis */
} part;

typedef struct blockizing {
    hone_schedule *sch;
    bool keeps_units; /* loops of one iteration stay in the bindings of the new block */
    uint32_t count;
    part *parts;
    uint32_t axis_count; /* of the new block */
    hone_axis *axes;
    const hone_expr **bindings;
    hone_node_id outer;
} blockizing;

/* blockize_divide.c: what runs inside of the new block and what outside: loops, predicate and
 * bindings of an old block. ILLEGAL where these can't be told apart. */
HONE_NODISCARD hone_status sch_divide_part(blockizing *b, part *p);

#endif
