/* graph/passes/fusion/fuse_tir.h - several PrimFuncs that are called one after the other as one
 * PrimFunc.
 */
#ifndef HONE_GRAPH_PASSES_FUSION_FUSE_TIR_H
#define HONE_GRAPH_PASSES_FUSION_FUSE_TIR_H

#include "graph/module/rewrite.h"

/* Whether a PrimFunc can be a part: it has a root block, plain buffer parameters of dense layout,
 * its last parameter is its only output, and nothing around the root block. */
bool hone_func_can_fuse(const hone_func *func);

/* Joins calls (bindings of rw->old, in order; the last one gives the result) into one new PrimFunc:
 * the blocks of all, intermediate tensors allocated in the root block. out_args (room for
 * max_args) are what the new function takes, as arguments of the old function. */
hone_status hone_fuse_calls(hone_rewrite *rw, const hone_gbind *const *calls, uint32_t count,
                            hone_func **out_func, hone_garg *out_args, uint32_t max_args,
                            uint32_t *out_arg_count);

#endif
