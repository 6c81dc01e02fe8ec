/* schedule/primitive/move/inlining.h - what compute_inline and reverse_compute_inline share. */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_INLINING_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_INLINING_H

#include "ir/arith/itermap.h"
#include "schedule/state/schedule_impl.h"

/* The checks that hold for a block whose single store is moved elsewhere. */
HONE_NODISCARD hone_status sch_check_movable_store(hone_schedule *sch, hone_node_id block,
                                                   hone_node_id *out_store);
/* The same where loops of known bounds may stand around the store, as in blocks that copy a box. */
HONE_NODISCARD hone_status sch_check_movable_loops(hone_schedule *sch, hone_node_id block,
                                                   hone_node_id *out_store);
/* Axes as functions of index values: values[axis variable]; the map of indices, over the given
 * ranges of the axes, must be bijective. The array has var_count entries, NULL where nothing is to
 * be replaced. */
HONE_NODISCARD hone_status sch_invert_indices(hone_schedule *sch, hone_node_id block,
                                              const hone_iter *iters, uint32_t rank,
                                              const hone_expr *const *indices,
                                              const hone_expr *const *index_values,
                                              const hone_expr ***out_values);

/* ---- how large it becomes: inline_size.c ---- */

/* How often expressions below the reader load the buffer; out_nodes: terms of the value. */
uint64_t sch_inlined_copies(const hone_schedule *sch, const hone_expr *value, hone_buffer buffer,
                            hone_node_id reader, uint64_t *out_nodes);
/* Refuses to put the value where the reader loads the buffer if that makes more than anybody can
 * want. */
HONE_NODISCARD hone_status sch_require_small_inline(hone_schedule *sch, hone_node_id blame,
                                                    const hone_expr *value, hone_buffer buffer,
                                                    hone_node_id reader);

#endif
