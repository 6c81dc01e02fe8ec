/* ir/ops/graph_infer_image.c - shapes of operators on images. */
#include <string.h>

#include "ir/ops/graph_infer.h"

/* Dimension `axis` of the data becomes the rows of places and weights, both [n, taps]. */
hone_status hone_infer_resample(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *places = in->args[1], *weights = in->args[2];
    const hone_expr *shape[HONE_MAX_RANK];
    int64_t axis = hone_attrs_int(&in->bind->attrs, "axis", 0);
    bool are_tables = places->kind == HONE_SINFO_TENSOR && weights->kind == HONE_SINFO_TENSOR &&
                      places->rank == 2 && weights->rank == 2;
    if (!hone_dtype_is_float(data->dtype) || hone_dtypes_differ(data->dtype, weights->dtype)) {
        return hone_infer_fail(in, "wants data and weights of one floating-point type");
    }
    if (!are_tables || !hone_dtype_is_integer(places->dtype) ||
        !hone_infer_same_extent(in, places->shape[0], weights->shape[0]) ||
        !hone_infer_same_extent(in, places->shape[1], weights->shape[1])) {
        return hone_infer_fail(in, "wants places and weights of one shape of two dimensions");
    }
    if (axis < 0 || axis >= data->rank) {
        return hone_infer_fail(in, "axis %lld is not in [0, %d)", (long long)axis, data->rank);
    }
    memcpy(shape, data->shape, (size_t)data->rank * sizeof *shape);
    shape[axis] = places->shape[0];
    return hone_infer_tensor(in, data->dtype, data->rank, shape);
}
