/* lower/ground/lanes.c - see lanes.h. */
#include "lower/ground/lanes.h"

const hone_expr *lower_lanes(hone_ir *ir, const hone_expr *start, int64_t lanes) {
    if (lanes == 1 || !start) return start;
    return hone_expr_ramp(ir, start, hone_expr_int(ir, start->dtype, 1), (uint16_t)lanes);
}

const hone_expr *lower_load_lanes(hone_lower *lower, hone_buffer buffer, const hone_expr *start,
                                  int64_t lanes) {
    hone_dtype dtype = hone_dtype_with_lanes(lower->func->buffers[buffer].dtype, (uint16_t)lanes);
    const hone_expr *at = lower_lanes(&lower->ir, start, lanes);
    return at ? hone_expr_load(&lower->ir, dtype, buffer, 1, &at) : NULL;
}
