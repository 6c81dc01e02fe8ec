/* graph/passes/fusion/moved.h - float32 values that are float16 or bfloat16 ones, widened and then
 * only moved (reshaped, transposed, repeated, sliced, joined): they may be moved as 16 bits. */
#ifndef HONE_GRAPH_PASSES_FUSION_MOVED_H
#define HONE_GRAPH_PASSES_FUSION_MOVED_H

#include "graph/module/rewrite.h"

/* The type of 16 bits that an old argument of float32 has the numbers of: casts of such, which are
 * reshaped, turned, repeated, cut and joined; void: it is something else. */
hone_dtype hone_moved_type(hone_rewrite *rw, const hone_garg *old);
/* An old argument in its hone_moved_type, which is not void: what moves it is emitted anew. */
HONE_NODISCARD hone_status hone_move_narrow(hone_rewrite *rw, const hone_garg *old, hone_garg *out);

#endif
