/* lower/vectors/reduce_feed.h - the vectorized loop that produces what a reduction adds up; inside
 * lower/ only.
 *
 *   for v in vectorized(n): E[v] = f(v)
 *   S[0] = 0
 *   for k in n: S[0] = S[0] + g(E[k])
 *
 * The first loop may run a part at a time, each part in front of the one of the second that reads
 * it. */
#ifndef HONE_LOWER_VECTORS_REDUCE_FEED_H
#define HONE_LOWER_VECTORS_REDUCE_FEED_H

#include "lower/ground/passes.h"

/* The vectorized loop in front of a reduction that may do its work in parts; HONE_NO_ID when there
 * is none. loop: a loop that does nothing but steps, whose sums nobody else touches. */
hone_node_id lower_find_feed(hone_lower *lower, hone_node_id loop);

#endif
