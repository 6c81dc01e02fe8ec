/* schedule/nests/auto_loops.h - parallel, vectorized and unrolled loops, chosen by annotations
 * on the root block (TVM's ParallelizeVectorizeUnroll). The search uses it as a postprocessor;
 * default schedules end with it.
 *
 * For each loop nest below the root block:
 *   - the outermost data-parallel loops are fused until there are as many jobs as wanted, and run
 * in parallel;
 *   - the innermost contiguous data-parallel loops are fused and vectorized, as long as their
 * product stays within the vector limit (a single loop may be longer: lowering cuts it);
 *   - the unroll limit is left as pragma annotations for lowering;
 *   - a nest that is one run through memory goes over it in chunks of so many vectors at most.
 * Reductions are decomposed at their outermost reduce loop.
 */
#ifndef HONE_SCHEDULE_NESTS_AUTO_LOOPS_H
#define HONE_SCHEDULE_NESTS_AUTO_LOOPS_H

#include "schedule/state/schedule.h"

#define HONE_ANNOTATION_PARALLEL "meta_schedule.parallel"
#define HONE_ANNOTATION_VECTORIZE "meta_schedule.vectorize"
#define HONE_ANNOTATION_UNROLL_EXPLICIT "meta_schedule.unroll_explicit"
#define HONE_ANNOTATION_UNROLL_IMPLICIT "meta_schedule.unroll_implicit"
#define HONE_ANNOTATION_CHUNK "hone.chunk"
#define HONE_ANNOTATION_TILING "meta_schedule.tiling_structure"
#define HONE_PRAGMA_UNROLL_STEP "pragma_auto_unroll_max_step"
#define HONE_PRAGMA_UNROLL_EXPLICIT "pragma_unroll_explicit"

/* Reads the annotations above from the root block, removes them, and applies them. Without
 * annotations it changes nothing. */
HONE_NODISCARD hone_status hone_auto_loops(hone_schedule *sch);
/* hone_auto_loops, where loops of these extents, up to a 0, stand for loops of any: such are not
 * fused into vectors. NULL = there are none. */
HONE_NODISCARD hone_status hone_auto_loops_for(hone_schedule *sch, const int64_t *open_extents);
/* decompose_reduction of every reduction block below the root, at its outermost reduce loop. */
HONE_NODISCARD hone_status hone_auto_decompose(hone_schedule *sch);

/* Cuts the innermost loop of each block into vectors of `lanes` elements, where it is contiguous
 * and how long it is comes later. */
hone_status hone_auto_open_rows(hone_schedule *sch, int64_t lanes);

#endif
