/* ir/te/te_impl.h - what the files of te share; for this folder only. */
#ifndef HONE_IR_TE_TE_IMPL_H
#define HONE_IR_TE_TE_IMPL_H

#include "ir/te/te.h"

/* Notes NO_MEMORY, which comes out of hone_te_finish. */
void te_no_memory(hone_te *te);
/* Zeroed memory in the arena; NULL after an error, which is noted. */
void *te_alloc(hone_te *te, size_t bytes);

/* Appends a new block to parent; HONE_NO_ID when memory is short. */
hone_node_id te_add_block(hone_te *te, hone_node_id parent, const hone_block *block,
                          const hone_expr *const *bindings);
/* Adds a dense buffer to the function, its name made unique. */
hone_buffer te_add_buffer(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                          const hone_expr *const *shape);
/* The region that is all of a buffer: one range per dimension. */
const hone_range *te_whole(hone_te *te, hone_buffer buffer);
/* The axes of a stage's block, those behind the spatial ones of kind `inner`. */
const hone_axis *te_axes(hone_te *te, const hone_te_stage *stage, hone_axis_kind inner);
/* The loops of a stage under the root block; the innermost one (the root without axes). bindings[]
 * gets one value per axis. */
hone_node_id te_loops(hone_te *te, const hone_te_stage *stage, const hone_expr **bindings);
/* Appends out[indices] = value; indices must live in the arena. */
void te_store(hone_te *te, hone_node_id parent, hone_buffer out, const hone_expr *const *indices,
              const hone_expr *value);

#endif
