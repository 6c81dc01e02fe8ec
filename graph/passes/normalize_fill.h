/* graph/passes/normalize_fill.h - tensors that are made of numbers and shapes, as others:
 *   zeros, ones, full and what is like a tensor → broadcast_to of a number
 *   arange                                      → a constant, or sums of ones of a size that comes
 *                                                 later
 */
#ifndef HONE_GRAPH_PASSES_NORMALIZE_FILL_H
#define HONE_GRAPH_PASSES_NORMALIZE_FILL_H

#include "graph/module/rewrite.h"

/* Leaves *out_done false for other calls. */
hone_status hone_normalize_fill(hone_rewrite *rw, const hone_gbind *bind, bool *out_done);
/* Ones of a tensor's type and shape, which is known. */
hone_status hone_normalize_ones(hone_rewrite *rw, const hone_sinfo *like, hone_garg *out);

#endif
