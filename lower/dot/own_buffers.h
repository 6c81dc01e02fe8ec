/* lower/dot/own_buffers.h - buffers that are private to a function and have no aliases: a pass
 * may keep them in another type. */
#ifndef HONE_LOWER_DOT_OWN_BUFFERS_H
#define HONE_LOWER_DOT_OWN_BUFFERS_H

#include "ir/core/func.h"

/* Sets is_own, by buffer, all false before, for those that are allocated in the function, are no
 * views and have none, and whose addresses are not taken. */
void lower_find_own_buffers(const hone_func *func, bool *is_own);

#endif
