/* tuner/task/widen.h - the same program in float64: the reference that candidates are checked
 * against.
 */
#ifndef HONE_TUNER_WIDEN_H
#define HONE_TUNER_WIDEN_H

#include "ir/core/func.h"

/* A copy in arena that computes in f64. Buffers that are only read keep their dtype (so the inputs
 * are the same numbers); every other float buffer becomes f64. UNSUPPORTED when a float parameter
 * is both read and written, or the program looks at bits (reinterpret, pointers). */
HONE_NODISCARD hone_status hone_func_widen(const hone_func *func, hone_arena *arena,
                                           hone_func **out_func);

#endif
