/* schedule/primitive/primitive_impl.h - for the primitives only: what they do for each other.
 *
 * A primitive is a public function hone_sch_x(sch, random variables, …) in a file of its own: it
 * resolves its variables to nodes, checks, changes the tree, and records. Checks come before the
 * first change, so a refusal leaves the program as it was.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_PRIMITIVE_IMPL_H
#define HONE_SCHEDULE_PRIMITIVE_PRIMITIVE_IMPL_H

#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

/* A loop and factors as inputs of an instruction; out in the arena. */
HONE_NODISCARD hone_status sch_factor_operands(hone_schedule *sch, hone_rv loop, uint32_t count,
                                               const hone_factor *factors, hone_operand **out);

/* The work of blockize on a loop, with its checks, not recorded. */
HONE_NODISCARD hone_status sch_blockize_loop(hone_schedule *sch, hone_node_id loop,
                                             bool preserve_unit_iters, hone_node_id *out_block);
/* Could the loop be bound to a thread axis where it stands? Not asked: whether its iterations are
 * independent. */
HONE_NODISCARD hone_status sch_check_thread_loop(hone_schedule *sch, hone_node_id loop,
                                                 const char *tag);
/* A trial run for compute-location sampling: would the step be accepted? Changes nothing. */
bool sch_can_compute_at(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The work of compute_inline on a node, with its checks, not recorded. */
HONE_NODISCARD hone_status sch_inline_block(hone_schedule *sch, hone_node_id block);
HONE_NODISCARD hone_status sch_reverse_inline_block(hone_schedule *sch, hone_node_id block);
bool sch_can_compute_inline(hone_schedule *sch, hone_node_id block);

#endif
