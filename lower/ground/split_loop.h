/* lower/ground/split_loop.h - splitting of loops that are lowered: a tail cut off, parts (strip
 * mining), bodies repeated; inside lower/ only.
 *
 *   for j in 40: S      cut off at 32      for j in 32: S; for k in 32 .. 40: S
 *   for j in 32: S      in parts of 8      for o in 4: for j in o * 8 .. o * 8 + 8: S
 */
#ifndef HONE_LOWER_GROUND_SPLIT_LOOP_H
#define HONE_LOWER_GROUND_SPLIT_LOOP_H

#include "lower/ground/passes.h"

/* first .. first + count - 1; members are NULL when the ir has failed. */
hone_range lower_range(hone_ir *ir, hone_dtype dtype, int64_t first, int64_t count);
/* A loop that is not in the tree yet, over a variable of its own, which is *out_var; HONE_NO_ID
 * when memory is short. */
hone_node_id lower_new_loop(hone_lower *lower, const char *name, hone_loop_kind kind,
                            hone_range range, const hone_expr **out_var);
/* Iterations number `count` and later get a loop of their own behind the loop, whose extent is a
 * constant. */
HONE_NODISCARD hone_status lower_cut_off(hone_lower *lower, hone_node_id loop, int64_t count,
                                         hone_node_id *out_rest);
/* Makes the loop one over a part of its iterations, whose number is a constant that `count`
 * divides; *out_around: the loop over the parts, not in the tree yet. */
HONE_NODISCARD hone_status lower_in_parts(hone_lower *lower, hone_node_id loop, int64_t count,
                                          hone_loop_kind kind, hone_node_id *out_around);
/* Counts the iterations of a loop from 0, which its start is then added to. */
HONE_NODISCARD hone_status lower_begin_at_zero(hone_lower *lower, hone_node_id loop);
/* Puts the body of a loop, once for each of its `extent` iterations, where the loop was. */
HONE_NODISCARD hone_status lower_repeat_body(hone_lower *lower, hone_node_id loop, int64_t extent);

#endif
