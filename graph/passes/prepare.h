/* graph/passes/prepare.h - from a model as it was read to a module of kernels and calls.
 *
 * The one way that tune, tasks and compile take, so that the kernels they see have the same hashes.
 * The result has, per graph function, only call_tir, call_dps_packed, calls of other graph
 * functions, tuples, aliases and `reshape` calls (which move no data: graph/plan/plan.h makes them
 * aliases). PrimFuncs of the input that are called are fused and specialised as well; those that
 * nothing calls are dropped.
 * A module without graph functions comes back with its PrimFuncs, sizes bound.
 */
#ifndef HONE_GRAPH_PASSES_PREPARE_H
#define HONE_GRAPH_PASSES_PREPARE_H

#include "graph/module/graph_options.h"

/* bind sizes and weights, infer shapes, normalise, fold batch norms, fold constants, legalise,
 * fuse, drop what is unused, specialise. options NULL = defaults. The result is frozen. INVALID for
 * models that do not fit together, UNSUPPORTED with all operators that are missing. */
HONE_NODISCARD hone_status hone_graph_prepare(const hone_module *module,
                                              const hone_graph_options *options,
                                              hone_module **out_module);

/* For the interpreter: bind, infer, legalise, nothing fused or folded: the plainest program that
 * means the same. Run it with hone_interp_graph. */
HONE_NODISCARD hone_status hone_graph_prepare_plain(const hone_module *module,
                                                    const hone_graph_options *options,
                                                    hone_module **out_module);

#endif
