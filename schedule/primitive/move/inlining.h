/* schedule/primitive/move/inlining.h - what compute_inline and reverse_compute_inline share. */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_INLINING_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_INLINING_H

#include "ir/arith/itermap.h"
#include "schedule/state/schedule_impl.h"

/* Checks that inlining in either direction needs of a block whose store is moved elsewhere, and
 * finds the store: the block's body is one store; the block is complete and in a stage pipeline.
 * ILLEGAL otherwise. */
HONE_NODISCARD hone_status sch_check_movable_store(hone_schedule *sch, hone_node_id block,
                                                   hone_node_id *out_store);
/* sch_check_movable_store, but loops of constant bounds may stand around the store inside of the
 * block, as in blocks that copy a box. */
HONE_NODISCARD hone_status sch_check_movable_loops(hone_schedule *sch, hone_node_id block,
                                                   hone_node_id *out_store);
/* Solves indices[d] == index_values[d] (d < rank) for the axes. The map of indices must be
 * bijective over `iters`, the axes with their ranges; ILLEGAL otherwise. out_values: by variable
 * (var_count entries, in the arena) the value of each axis; NULL for what is no axis. */
HONE_NODISCARD hone_status sch_invert_indices(hone_schedule *sch, hone_node_id block,
                                              const hone_iter *iters, uint32_t rank,
                                              const hone_expr *const *indices,
                                              const hone_expr *const *index_values,
                                              const hone_expr ***out_values);

/* ---- how large it becomes: inline_size.c ---- */

/* How many loads of the buffer stand below the reader, each of which would become a copy of
 * `value`; out_nodes: the size of `value` in nodes. */
uint64_t sch_inlined_copies(const hone_schedule *sch, const hone_expr *value, hone_buffer buffer,
                            hone_node_id reader, uint64_t *out_nodes);
/* ILLEGAL where an expression, with `value` in place of these loads, would have more than 65,536
 * nodes. */
HONE_NODISCARD hone_status sch_require_small_inline(hone_schedule *sch, hone_node_id blame,
                                                    const hone_expr *value, hone_buffer buffer,
                                                    hone_node_id reader);

#endif
