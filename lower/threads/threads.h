/* lower/threads/threads.h - what the passes about threads share; inside lower/ only. */
#ifndef HONE_LOWER_THREADS_THREADS_H
#define HONE_LOWER_THREADS_THREADS_H

#include "lower/ground/passes.h"

/* The axes of a launch in the order of its nest: blockIdx.z, .y, .x, threadIdx.z, .y, .x. */
enum { LOWER_AXES = 6, LOWER_FIRST_THREAD = 3, LOWER_THREAD_X = 5, LOWER_WARP_LANES = 32 };

const char *lower_axis_tag(int axis);
/* The axis that a loop is bound to, or -1. */
int lower_axis_of(const hone_node *loop);

/* What a call does among threads. */
typedef enum lower_call_sort {
    LOWER_CALL_OTHER,
    LOWER_CALL_SYNC,      /* all threads of a block wait for each other */
    LOWER_CALL_SYNC_WARP, /* those of a warp */
    LOWER_CALL_LANES,     /* a warp does it together: matrices, shuffles, votes */
    LOWER_CALL_REDUCE,    /* tvm_thread_allreduce: a block does it together */
} lower_call_sort;

/* The sort of the first call in the expression that does something among threads;
 * LOWER_CALL_OTHER: there is none. */
lower_call_sort lower_call_sort_of(const hone_expr *e);

/* Who shares the memory that a launch, or the host around it, allocates (memory_scopes.c): makes
 * it global where several launches use it, and moves it into the one that does. */
HONE_NODISCARD hone_status lower_sink_memory(hone_lower *lower);
/* Below a launch whose axes stand where the schedule put them: what is each thread's own stays or
 * becomes local, what threads hand to each other shared. */
HONE_NODISCARD hone_status lower_settle_scopes(hone_lower *lower, hone_node_id launch);
/* What one allocation in the scope "local" holds is each thread's own along an axis of threads with
 * several loops below it (own_places.c). Where threads touch elements of their own, it shrinks to
 * what one of them touches, if it may change; where all store the same elements, it stays as it is.
 * False where neither is seen; nothing changed then. */
HONE_NODISCARD hone_status lower_keep_own_places(hone_lower *lower, hone_node_id launch,
                                                 hone_node_id alloc, int axis, bool may_change,
                                                 bool *out_are_own);

/* The next launch behind `from` (HONE_NODE_TOP: the first): the outermost loop that is bound to a
 * thread; or HONE_NO_ID. */
hone_node_id lower_next_launch(const hone_func *func, hone_node_id from);

#endif
