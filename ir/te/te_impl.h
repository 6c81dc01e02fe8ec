/* ir/te/te_impl.h - what the files of te share; for this folder only. */
#ifndef HONE_IR_TE_TE_IMPL_H
#define HONE_IR_TE_TE_IMPL_H

#include "ir/te/te.h"

void te_no_memory(hone_te *te);
void *te_alloc(hone_te *te, size_t bytes); /* zeroed; NULL: the mistake is noted */

/* Puts a new block under parent; HONE_NO_ID when memory is short. */
hone_node_id te_add_block(hone_te *te, hone_node_id parent, const hone_block *block,
                          const hone_expr *const *bindings);
hone_buffer te_add_buffer(hone_te *te, const char *name, hone_dtype dtype, uint32_t rank,
                          const hone_expr *const *shape);
/* All of a buffer. */
const hone_range *te_whole(hone_te *te, hone_buffer buffer);

#endif
