/* lower/signature/cells.h - small private buffers of integers, whose elements are known while a
 * program is run over numbers: the counter of a `while`; inside lower/ only. */
#ifndef HONE_LOWER_SIGNATURE_CELLS_H
#define HONE_LOWER_SIGNATURE_CELLS_H

#include "lower/ground/accesses.h"

typedef struct lower_cells {
    int64_t count; /* of elements; 0: the buffer is not followed */
    int64_t *values;
    bool *is_known;     /* by element; none is at first */
    lower_accesses all; /* of the buffer, in the whole function */
} lower_cells;

/* A buffer can be followed when it belongs to the program alone, holds integers, is small, and all
 * its accesses are loads and stores of elements outside of GPU threads. Memory: the function's
 * arena. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status lower_cells_of(const hone_func *func, hone_buffer buffer,
                                          lower_cells *out);
/* Nothing is known any more; of cells that are not followed, too. */
void lower_cells_forget(lower_cells *cells);

#endif
