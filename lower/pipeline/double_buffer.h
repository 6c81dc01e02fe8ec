/* lower/pipeline/double_buffer.h - buffers that are filled while they are read; inside lower/ only.
 */
#ifndef HONE_LOWER_PIPELINE_DOUBLE_BUFFER_H
#define HONE_LOWER_PIPELINE_DOUBLE_BUFFER_H

#include "lower/ground/passes.h"

/* Turns T.attr(…, "double_buffer_scope", …) into annotations of the loop around, by which it is
 * pipelined if it can be: see double_buffer.c. */
HONE_NODISCARD hone_status lower_double_buffers(hone_lower *lower);

#endif
