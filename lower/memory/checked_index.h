/* lower/memory/checked_index.h - an index that nothing shows to be in range. For this folder only.
 */
#ifndef HONE_LOWER_MEMORY_CHECKED_INDEX_H
#define HONE_LOWER_MEMORY_CHECKED_INDEX_H

#include "ir/core/expr.h"
#include "target/target.h"

/* T.checked_index(index, extent): the index, or a failure of the kernel; where kernels cannot say
 * that they failed (HONE_TARGET_REPORTS_FAULTS), the nearest index that there is. Any integer, also
 * in lanes. NULL where the index or the extent is, or memory is short. */
const hone_expr *lower_checked_index(hone_ir *ir, const hone_target *target, const hone_expr *index,
                                     const hone_expr *extent);

#endif
