/* lower/memory/alignment.h - the row pitch that storage_align (buffer_dim_align) asks for; inside
 * lower/memory only. */
#ifndef HONE_LOWER_MEMORY_ALIGNMENT_H
#define HONE_LOWER_MEMORY_ALIGNMENT_H

#include "lower/ground/passes.h"

/* Gives a buffer the longer rows that lower_align noted for it, if any. */
HONE_NODISCARD hone_status lower_align_buffer(hone_lower *lower, hone_buffer buffer);

#endif
