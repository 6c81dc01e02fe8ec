/* include/api_option.h - calls of graph operators from what a caller gives; not installed. */
#ifndef HONE_INCLUDE_API_OPTION_H
#define HONE_INCLUDE_API_OPTION_H

#include <hone/option.h>

#include "ir/ops/graph_op.h"

/* Fills in callee, arguments and attributes of an operator call. Memory is the arena's; terms are
 * taken as they are. NOT_FOUND: no such operator; INVALID: an option that it does not have, or that
 * is not of its kind, too few or too many tensors. */
HONE_NODISCARD hone_status hone_api_bind(hone_arena *arena, const char *op, size_t count,
                                         const hone_garg *tensors, size_t option_count,
                                         const hone_option *options, hone_gbind *out_bind);

#endif
