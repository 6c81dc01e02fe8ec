/* ir/core/concurrent.h - which iterations run at once, and which storage they share.
 *
 * Iterations of parallel and vectorized loops run at once, and so do threads. A loop over virtual
 * threads ("vthread…") is a loop: a device runs its iterations one after the other. Layer: within
 * ir/core, used by all above.
 */
#ifndef HONE_IR_CORE_CONCURRENT_H
#define HONE_IR_CORE_CONCURRENT_H

#include "ir/core/func.h"

/* The loop is bound to threads of a device, virtual ones aside. */
bool hone_loop_is_of_threads(const hone_node *node);
/* Iterations of the node, a loop around `inside`, run at once there: it is parallel, vectorized, or
 * of threads, none of which a loop in between bound to the same threads takes over. Counter-example
 * of the last: for tx in threadIdx.x: for tx2 in threadIdx.x: S; one thread runs S in one iteration
 * of both. */
bool hone_loop_runs_at_once(const hone_func *func, hone_node_id loop, hone_node_id inside);
/* Every iteration of a loop bound to the threads `tag` has storage of that scope (NULL = "global")
 * of its own: "global" is one for all, "shared" one for a block of threads, "warp" one for the
 * lanes of threadIdx.x, any other of one thread. */
bool hone_scope_is_own(const char *scope, const char *tag);

#endif
