/* lower/pipeline/double_buffer.h - buffers that are filled while they are read; inside lower/ only.
 */
#ifndef HONE_LOWER_PIPELINE_DOUBLE_BUFFER_H
#define HONE_LOWER_PIPELINE_DOUBLE_BUFFER_H

#include "lower/ground/passes.h"

/* Makes wishes of T.attr(…, "double_buffer_scope", …): see double_buffer.c. */
HONE_NODISCARD hone_status lower_double_buffers(hone_lower *lower);

#endif
