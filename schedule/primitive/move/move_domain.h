/* schedule/primitive/move/move_domain.h - for compute_at and reverse_compute_at: which part of its
 * axes a block must run over, so that it makes (or uses) what one iteration of a loop needs (or
 * makes). */
#ifndef HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_DOMAIN_H
#define HONE_SCHEDULE_PRIMITIVE_MOVE_MOVE_DOMAIN_H

#include "schedule/state/schedule_impl.h"

/* Where an axis runs: [low, low + extent), and the conditions low + ax >= at_least and
 * low + ax <= at_most where they are not NULL. */
typedef struct sch_axis_domain {
    const hone_expr *low;
    const hone_expr *extent;
    const hone_expr *at_least, *at_most;
} sch_axis_domain;

/* The box of a buffer that blocks below a loop touch during one iteration of it. */
typedef struct sch_box {
    hone_buffer buffer;
    hone_interval *dims; /* rank */
} sch_box;

/* Unites the regions (reads or writes) of `buffer` in the given blocks, all below loop, over the
 * loops inside it. exact (may be NULL): one of the blocks surely touches all of the box. */
HONE_NODISCARD hone_status sch_box_below(hone_schedule *sch, hone_node_id loop, uint32_t count,
                                         const hone_node_id *blocks, hone_buffer buffer,
                                         bool of_writes, sch_box *out, bool *out_is_exact);

/* The same for all threads that share what is in a scope (NULL: for one of them); above, those that
 * share the buffer read. */
HONE_NODISCARD hone_status sch_box_shared(hone_schedule *sch, hone_node_id loop, uint32_t count,
                                          const hone_node_id *blocks, hone_buffer buffer,
                                          bool of_writes, const char *scope, sch_box *out,
                                          bool *out_is_exact);

/* What a block is solved for: compute_at may make more than the boxes of what it writes (all of an
 * axis, where an index is too intricate); reverse_compute_at runs over the boxes of what it reads;
 * a copy copies the boxes, since nothing else was written. */
typedef enum sch_solve_for { SCH_SOLVE_MAKE, SCH_SOLVE_USE, SCH_SOLVE_COPY } sch_solve_for;

/* Solves the axes of block for the boxes. An axis that no box says anything of runs over its whole
 * domain. out has one entry per axis. */
HONE_NODISCARD hone_status sch_solve_axes(hone_schedule *sch, hone_node_id block,
                                          uint32_t box_count, const sch_box *boxes,
                                          sch_solve_for what, sch_axis_domain *out);

/* A block that does not run over all of its axes now (a copy of a box, a block in a run of another
 * one) shall not do so later: narrows domains to the values that its bindings can take where it
 * stands. */
HONE_NODISCARD hone_status sch_keep_instances(hone_schedule *sch, hone_node_id block,
                                              sch_axis_domain *io);

/* A nest of loops for a block: over each axis's domain (loops of extent 1 only when keep_units),
 * not in the tree yet; the bindings of the axes and the predicate that the domains ask for. */
typedef struct sch_nest {
    hone_node_id top, bottom; /* HONE_NO_ID when there is no loop */
    const hone_expr **bindings;
    const hone_expr *predicate; /* NULL = true */
} sch_nest;
HONE_NODISCARD hone_status sch_make_nest(hone_schedule *sch, uint32_t axis_count,
                                         const sch_axis_domain *domains, bool keep_units,
                                         sch_nest *out);

/* The parts of a block's predicate that speak of no loop below place: iterations of place that they
 * leave out have no need of what is put there for the block. NULL when there are none. */
HONE_NODISCARD hone_status sch_outer_conditions(hone_schedule *sch, hone_node_id block,
                                                hone_node_id place, const hone_expr **out);
/* Adds a conjunction to the predicate of a nest, without what it says already. */
HONE_NODISCARD hone_status sch_nest_add_condition(hone_schedule *sch, const hone_expr *condition,
                                                  sch_nest *io);
/* The same as the end of an axis of the block, where that says as much, and among the conditions of
 * that axis; the nest will stand in the loop. */
HONE_NODISCARD hone_status sch_nest_put_condition(hone_schedule *sch, hone_node_id block,
                                                  hone_node_id loop, const hone_expr *condition,
                                                  sch_nest *io);

#endif
