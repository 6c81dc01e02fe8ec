/* lower/loops/tail_nest.h - a tile of sums as a nest of loops around one store, of which some rows
 * or columns are not there; inside lower/ only. */
#ifndef HONE_LOWER_LOOPS_TAIL_NEST_H
#define HONE_LOWER_LOOPS_TAIL_NEST_H

#include "lower/ground/conditions.h"

enum { LOWER_NEST_MAX_LOOPS = 16 };

/* Loops, each of which does nothing but the next one, around a store under a condition. */
typedef struct lower_nest {
    hone_node_id root, loops[LOWER_NEST_MAX_LOOPS], branch, store;
    uint32_t count;
} lower_nest;

bool lower_read_nest(const hone_func *func, hone_node_id root, lower_nest *out);
const hone_node *lower_nest_loop(const hone_func *func, const lower_nest *n, uint32_t i);
/* Whether a loop of the nest other than number `but` has its variable in e. */
bool lower_uses_others(const hone_func *func, const lower_nest *n, const hone_expr *e,
                       uint32_t but);
/* Whether iterations of the loop store to elements of their own, whatever the other loops do, and
 * read of what is stored nothing else: they may be done one after the other. */
bool lower_are_apart(hone_arith *arith, const hone_func *func, const lower_nest *n, uint32_t loop);

#endif
