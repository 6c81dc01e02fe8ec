/* graph/passes/specialize.h - numbers for the symbolic sizes of PrimFuncs. */
#ifndef HONE_GRAPH_PASSES_SPECIALIZE_H
#define HONE_GRAPH_PASSES_SPECIALIZE_H

#include "ir/core/module.h"

/* Puts values[v] (NULL = stays) for variable v everywhere in the function: shapes, bounds, indices,
 * regions. Arithmetic of constants is folded. The function must not be frozen or shared. */
HONE_NODISCARD hone_status hone_func_bind_sizes(hone_func *func, const hone_expr *const *values);
/* True when a variable with is_size stands in some parameter's shape. */
bool hone_func_is_symbolic(const hone_func *func);
/* An expression with variables replaced and constants folded. */
const hone_expr *hone_sizes_substitute(hone_ir *ir, const hone_expr *e,
                                       const hone_expr *const *values, uint32_t count);

#endif
