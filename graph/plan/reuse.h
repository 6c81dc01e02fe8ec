/* graph/plan/reuse.h - how far away kernels find their arguments in a run of a model.
 *
 * The distance of an argument is what runs of the model touch between the last touch of its memory
 * and a step: constants, inputs and outputs, each byte of which counts as often as a step touches
 * it, and the workspace, which counts once. Runs follow each other, so what a step touches first
 * was touched by the run before. 0: the step before has just written or read it.
 */
#ifndef HONE_GRAPH_PLAN_REUSE_H
#define HONE_GRAPH_PLAN_REUSE_H

#include "graph/plan/plan.h"

/* *out_distances: by step, NULL for steps that are no kernels; by argument; bytes, in the arena.
 * What has a size that is not known is taken to be empty. NO_MEMORY. */
HONE_NODISCARD hone_status hone_plan_reuse(const hone_plan *plan, hone_arena *arena,
                                           const int64_t *const **out_distances);

#endif
