/* lower/ground/lanes.h - ramps: vector indices, and loads of consecutive elements of a flat
 * buffer; inside lower/ only. */
#ifndef HONE_LOWER_GROUND_LANES_H
#define HONE_LOWER_GROUND_LANES_H

#include "lower/ground/passes.h"

/* The vector index start, start + 1, … of `lanes` elements, or start where lanes is 1. NULL in
 * gives NULL out. */
const hone_expr *lower_lanes(hone_ir *ir, const hone_expr *start, int64_t lanes);
/* A load of `lanes` consecutive elements of a flat buffer from start on. NULL in gives NULL out. */
const hone_expr *lower_load_lanes(hone_lower *lower, hone_buffer buffer, const hone_expr *start,
                                  int64_t lanes);

#endif
