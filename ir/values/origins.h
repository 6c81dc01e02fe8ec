/* ir/values/origins.h - which buffers a value comes from: what it loads, what was stored there, and
 * what the bounds of loops and the places of all that were computed from.
 */
#ifndef HONE_IR_VALUES_ORIGINS_H
#define HONE_IR_VALUES_ORIGINS_H

#include "ir/core/func.h"

/* Marks them in by_buffer[] (func->buffer_count entries, as the caller left them). false when
 * memory is short. */
bool hone_origins_of(const hone_func *func, hone_arena *arena, const hone_expr *value,
                     bool *by_buffer);

#endif
