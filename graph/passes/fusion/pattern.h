/* graph/passes/fusion/pattern.h - how the output of a PrimFunc depends on its inputs: what fusion
 * may do.
 */
#ifndef HONE_GRAPH_PASSES_FUSION_PATTERN_H
#define HONE_GRAPH_PASSES_FUSION_PATTERN_H

#include "ir/ops/graph_op.h"

/* The attribute "op_pattern" when the function has it, else found by looking at its one block:
 * stores and loads at the same axes are ELEMWISE, loads at some of the axes BROADCAST, other loads
 * by axes INJECTIVE, a reduction REDUCE, one of a product of two loads OUT_FUSABLE; anything else,
 * and any program with several blocks, is OPAQUE. */
hone_op_pattern hone_func_pattern(const hone_func *func);

#endif
