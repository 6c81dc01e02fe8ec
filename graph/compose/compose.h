/* graph/compose/compose.h - operators of Relax that are written as others: those that texts call
 * and models do not, such as nn.instance_norm, index_put or unique. Nothing behind this knows them.
 *
 * What one of them makes follows from what it consists of, so that its row (ir/ops/graph_ops.def)
 * needs no rule of inference (OPEN).
 */
#ifndef HONE_GRAPH_COMPOSE_COMPOSE_H
#define HONE_GRAPH_COMPOSE_COMPOSE_H

#include "graph/module/rewrite.h"

/* A callback of hone_rewrite_module: writes the binding as others, if it is such a call. TYPE when
 * that contradicts the type that the text gives it; UNSUPPORTED, with the operator, for what is not
 * implemented of it. */
HONE_NODISCARD hone_status hone_compose_bind(hone_rewrite *rw, const hone_gbind *bind,
                                             bool *out_done);

/* A callback of hone_rewrite_module: makes operands agree whose sizes have different names, where
 * the operator wants them equal (R.match_cast of one, checked in each call). Calls that are wrong
 * otherwise stay as they are. */
HONE_NODISCARD hone_status hone_compose_agreed(hone_rewrite *rw, const hone_gbind *bind,
                                               bool *out_done);

#endif
