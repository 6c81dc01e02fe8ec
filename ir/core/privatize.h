/* ir/core/privatize.h - may each thread have a copy of an array (array privatization)?
 *
 *   for t in threadIdx.x (32): P[0] = A[t]
 *   for t in threadIdx.x (32): B[t] = P[0]
 *
 * A buffer in the scope "local" that several loops over one axis of threads use lies outside of
 * all of them, yet registers are each thread's own. It is so wherever this says yes: the
 * interpreter then keeps an array for each thread, and lowering one in the registers of each.
 * Layer: within ir/core, used by ir/interp and lower/.
 */
#ifndef HONE_IR_CORE_PRIVATIZE_H
#define HONE_IR_CORE_PRIVATIZE_H

#include "ir/core/func.h"

typedef struct hone_private_copies {
    bool is_private;  /* each thread of the axis may have a copy */
    bool is_in_loops; /* each use stands in just one loop over the axis that is below `meet` */
    int64_t threads;  /* these loops run from 0 to it, a constant; -1: it is not known */
} hone_private_copies;

/* May each thread of the axis `tag` ("threadIdx.x") have a copy of the buffer, and find in it all
 * that it reads? `meet` is the lowest node at or above all uses, which nobody makes through views.
 * Shown where
 *   - no index depends on the thread or on loaded values: all threads touch the same elements;
 *   - whoever comes to `meet` comes to each store: no condition and no length of a loop in between
 *     depends on them, and no thread jumps out;
 *   - it is stored, no pointer to it is made, and no block reduces along the axis into it;
 *   - some of it is done in loops over the axis below `meet`, all of one range.
 * Counter-example of the second: for t: if t == 0: P[0] = x, then for t: B[t] = P[0] hands x from
 * thread 0 to the others. False means "not shown". `differs` is scratch, one entry a variable. */
hone_private_copies hone_find_private_copies(const hone_func *func, hone_buffer buffer,
                                             hone_node_id meet, const char *tag, bool *differs);

#endif
