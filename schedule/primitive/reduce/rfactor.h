/* schedule/primitive/reduce/rfactor.h - rfactor while it is made: the loop, the block and what
 * becomes of its axes.
 *
 * Layer: within schedule/.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_REDUCE_RFACTOR_H
#define HONE_SCHEDULE_PRIMITIVE_REDUCE_RFACTOR_H

#include "schedule/primitive/reduce/reducer.h"
#include "schedule/state/schedule_impl.h"

typedef struct rfactoring {
    hone_schedule *sch;
    hone_node_id loop, block, scope;
    uint32_t axis;       /* where the new dimension stands */
    bool cuts_reduction; /* the predicate speaks of reduce loops */
    bool is_guarded;     /* and can't all be that of the first block */
    uint32_t loop_count;
    const hone_node_id *loops;
    sch_reducer reducer;
    hone_buffer rf_buffers[SCH_REDUCER_BUFFERS];
    const hone_expr **fresh; /* old loop variable → the one of the first block's nest */
    uint32_t var_count;      /* entries of that map */
    const uint32_t *splits;  /* by node: which split made a loop; 0: none */
} rfactoring;

/* A block in the making. map replaces the old block's axis variables. */
typedef struct rfactor_draft {
    hone_axis *axes;
    const hone_expr **bindings;
    const hone_expr **map;
    uint32_t count;
    bool has_reduce;
} rfactor_draft;

/* Feeds reduce axes; the factored loop may feed nothing if it runs once. */
bool sch_rfactor_reduces(const rfactoring *r, hone_node_id loop);

/* ---- axes (rfactor_axes.c) ---- */
/* Which axes of the block fall apart into one for each loop that feeds them; NULL when memory is
 * short. Comes before the next one. */
const bool *sch_rfactor_split_axes(rfactoring *r);
/* The loops that such an axis falls apart into, outer ones first, then those that count along. */
HONE_NODISCARD hone_status sch_rfactor_loops_of_axis(const rfactoring *r, uint32_t axis,
                                                     uint32_t *out_count,
                                                     const hone_node_id **out_loops);

/* ---- the predicate (rfactor_predicate.c) ---- */
/* Settles cuts_reduction and is_guarded. */
HONE_NODISCARD hone_status sch_rfactor_check_predicate(rfactoring *r);
/* What it says that is nothing of reduce loops, for the second block; NULL: nothing. */
const hone_expr *sch_rfactor_spatial_part(rfactoring *r, const hone_expr *predicate);
/* What may stay with the first block, where that is guarded; NULL: nothing. */
const hone_expr *sch_rfactor_staying_part(rfactoring *r, const hone_expr *predicate);
/* Guards what comes in with each step: the identity where the rest of the predicate does not hold.
 * axis_of: the axes made for loops, by loop variable. Refused where only the guards keep the loops
 * in the axes that do not fall apart. */
HONE_NODISCARD hone_status sch_rfactor_guard(rfactoring *r, const rfactor_draft *d,
                                             const bool *is_divided, const hone_expr **axis_of,
                                             const hone_expr **io_rhs);

#endif
