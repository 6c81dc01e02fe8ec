/* graph/operators/fold_call.h - what a call of an operator or kernel gives whose arguments are all
 * constant, by the interpreter. Operators that add up do it in float64 and round once, so that no
 * sum is too long. */
#ifndef HONE_GRAPH_OPERATORS_FOLD_CALL_H
#define HONE_GRAPH_OPERATORS_FOLD_CALL_H

#include "ir/core/module.h"

/* *out_tensor (to be destroyed) is NULL where arguments are not constant, the operator has no
 * program or it takes more than max_steps. `info`: of the result, static. Programs and shapes are
 * made in the arena. */
HONE_NODISCARD hone_status hone_fold_call(const hone_module *module, const hone_graph_func *graph,
                                          const hone_gbind *bind, const hone_sinfo *info,
                                          hone_arena *arena, int64_t max_steps,
                                          hone_tensor **out_tensor);

#endif
