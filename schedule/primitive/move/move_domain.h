/* schedule/primitive/move/move_domain.h - for compute_at and reverse_compute_at: over which part of
 * its axes does the moved block have to run in one iteration of the loop?
 *
 *     for i: for j: B[vi] = A[vi]          compute_at(B, loop io): one iteration reads the box
 *     for io in 4: for ii in 8:            B[io * 8 : io * 8 + 10], so B's axis vi runs over
 *         C[v] = B[v] + B[v + 2]           [io * 8, io * 8 + 10), cut off at the end of its domain
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_DOMAIN_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_DOMAIN_H

#include "schedule/state/schedule_impl.h"

/* The values of an axis: [low, low + extent), of which only those from at_least to at_most (both
 * included; NULL: no such limit) are instances. The limits become the predicate of the moved block.
 */
typedef struct sch_axis_domain {
    const hone_expr *low;
    const hone_expr *extent;
    const hone_expr *at_least, *at_most;
} sch_axis_domain;

/* The box of a buffer that some blocks touch, one interval per dimension. */
typedef struct sch_box {
    hone_buffer buffer;
    hone_interval *dims; /* rank */
} sch_box;

/* The box of `buffer` that the given blocks, all below `loop`, declare to write (of_writes) or to
 * read in one iteration of it: the union of their regions, relaxed over the loops inside. Reads are
 * those of all threads that share the buffer (sch_box_shared in its storage scope). out_is_exact
 * (may be NULL): one of the blocks surely touches all of the box. */
HONE_NODISCARD hone_status sch_box_below(hone_schedule *sch, hone_node_id loop, uint32_t count,
                                         const hone_node_id *blocks, hone_buffer buffer,
                                         bool of_writes, sch_box *out, bool *out_is_exact);

/* sch_box_below of all threads that see the same buffer of storage scope `scope` (NULL: of one
 * thread): the loops from `loop` outwards that are bound to threads of one block ("shared") or to
 * lanes of one warp ("warp") are relaxed as well. */
HONE_NODISCARD hone_status sch_box_shared(hone_schedule *sch, hone_node_id loop, uint32_t count,
                                          const hone_node_id *blocks, hone_buffer buffer,
                                          bool of_writes, const char *scope, sch_box *out,
                                          bool *out_is_exact);

/* What the moved block is to do with the boxes.
 *   MAKE  compute_at: write at least all of them; where an index is too intricate, a whole axis
 *   USE   reverse_compute_at: run for what it reads in them, and nothing else
 *   COPY  read_at, write_at: copy just them, since nothing else was written */
typedef enum sch_solve_for { SCH_SOLVE_MAKE, SCH_SOLVE_USE, SCH_SOLVE_COPY } sch_solve_for;

/* Solves the indices by which the block accesses the boxes for its axes. out: one domain per axis;
 * the axis's whole domain where no box says anything of it. */
HONE_NODISCARD hone_status sch_solve_axes(hone_schedule *sch, hone_node_id block,
                                          uint32_t box_count, const sch_box *boxes,
                                          sch_solve_for what, sch_axis_domain *out);

/* A block that does not run over all of its axes where it stands (it copies a box, or is in one run
 * of another block) shall not do so elsewhere: narrows the domains, one per axis, to the values
 * that its bindings take now. */
HONE_NODISCARD hone_status sch_keep_instances(hone_schedule *sch, hone_node_id block,
                                              sch_axis_domain *io);

/* Makes a nest for axes with these domains: one loop for each of them, and the predicate that the
 * limits of the domains ask for. An axis that takes a single value gets a loop only with
 * keep_units. */
HONE_NODISCARD hone_status sch_make_nest(hone_schedule *sch, uint32_t axis_count,
                                         const sch_axis_domain *domains, bool keep_units,
                                         sch_nest *out);

/* The conjuncts of the block's predicate that use no loop below `place`: in iterations of `place`
 * where they do not hold, what is put there for the block is not needed. NULL: there are none. */
HONE_NODISCARD hone_status sch_outer_conditions(hone_schedule *sch, hone_node_id block,
                                                hone_node_id place, const hone_expr **out);
/* Adds a conjunction to the predicate of the nest, without what it implies already. */
HONE_NODISCARD hone_status sch_nest_add_condition(hone_schedule *sch, const hone_expr *condition,
                                                  sch_nest *io);
/* sch_nest_add_condition for a nest that will stand in `loop`, in the form that TVM prints: where
 * the condition says the same as "this axis's binding stays below its end", it is written so, and
 * stands where that axis has its place among the conjuncts. */
HONE_NODISCARD hone_status sch_nest_put_condition(hone_schedule *sch, hone_node_id block,
                                                  hone_node_id loop, const hone_expr *condition,
                                                  sch_nest *io);

#endif
