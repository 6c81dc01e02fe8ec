/* schedule/primitive/reduce/rfactor.h - rfactor while it is made: the loop, the block, and what
 * becomes of its axes. Within schedule/ only.
 *
 *     for i, ko, ki: C[i] += A[i, ko, ki]
 *     →  for i, ko, ki: C_rf[i, ko] += A[i, ko, ki]        the first block: ko is a spatial axis
 *        for i, ko:     C[i] += C_rf[i, ko]                the second block
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_REDUCE_RFACTOR_H
#define HONE_SCHEDULE_PRIMITIVE_REDUCE_RFACTOR_H

#include "schedule/primitive/reduce/reducer.h"
#include "schedule/state/schedule_impl.h"

typedef struct rfactoring {
    hone_schedule *sch;
    hone_node_id loop, block, scope;
    uint32_t axis;       /* the new dimension of the rf buffers */
    bool cuts_reduction; /* the predicate uses reduce loops */
    bool is_guarded;     /* and can't be the first block's predicate as a whole */
    uint32_t loop_count;
    const hone_node_id *loops;
    sch_reducer reducer;
    hone_buffer rf_buffers[SCH_REDUCER_BUFFERS];
    const hone_expr **fresh; /* by variable: of an old loop, that of the first block's loop */
    uint32_t var_count;      /* entries of fresh */
    const uint32_t *splits;  /* by node: of a loop, the number of the split that made it; 0: none */
} rfactoring;

/* The first or second block in the making. map: by variable, what an axis of the old block becomes.
 */
typedef struct rfactor_draft {
    sch_draft block;
    const hone_expr **map;
    bool has_reduce;
} rfactor_draft;

/* The loop feeds reduce axes of the block; the loop that is factored may also feed nothing, if it
 * runs once. */
bool sch_rfactor_reduces(const rfactoring *r, hone_node_id loop);

/* ---- axes (rfactor_axes.c) ---- */
/* By axis of the block: whether it is divided into one axis for each of its loops. These are the
 * reduce axes that the factored loop feeds, or a loop that one split made together with it, and
 * those that share loops with such an axis. NULL when memory is short. To be called before
 * sch_rfactor_loops_of_axis. */
const bool *sch_rfactor_split_axes(rfactoring *r);
/* The loops that a divided axis becomes axes of: those in its binding, outer ones first, then those
 * that a split made together with one of these. In the arena. */
HONE_NODISCARD hone_status sch_rfactor_loops_of_axis(const rfactoring *r, uint32_t axis,
                                                     uint32_t *out_count,
                                                     const hone_node_id **out_loops);

/* ---- the predicate (rfactor_predicate.c) ---- */
/* Settles cuts_reduction and is_guarded. */
HONE_NODISCARD hone_status sch_rfactor_check_predicate(rfactoring *r);
/* The conjuncts of the predicate without reduce loops, which become the second block's; NULL: none.
 */
const hone_expr *sch_rfactor_spatial_part(rfactoring *r, const hone_expr *predicate);
/* r->is_guarded: the conjuncts that the first block may keep as its predicate; NULL: none. */
const hone_expr *sch_rfactor_staying_part(rfactoring *r, const hone_expr *predicate);
/* Makes what each step combines (io_rhs, one per buffer) the identity where the other conjuncts of
 * the predicate do not hold. is_divided: from sch_rfactor_split_axes. axis_of: by loop variable,
 * the axis made for that loop. ILLEGAL where the guards are all that keeps an undivided axis within
 * its domain. */
HONE_NODISCARD hone_status sch_rfactor_guard(rfactoring *r, const rfactor_draft *d,
                                             const bool *is_divided, const hone_expr **axis_of,
                                             const hone_expr **io_rhs);

#endif
