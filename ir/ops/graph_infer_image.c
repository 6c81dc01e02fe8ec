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

static hone_status check_one_of(const hone_infer *in, const char *key, const char *fallback,
                                const char *const *words) {
    const char *word = hone_attrs_string(&in->bind->attrs, key, fallback);
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(word, words[i]) == 0) return HONE_OK;
    }
    return hone_infer_fail(in, "%s is '%s', which is not known", key, word);
}

/* Data is [N, C, ...], the grid [N, how many dimensions follow, ...]. */
hone_status hone_infer_grid_sample(hone_infer *in) {
    static const char *const methods[] = {"bilinear", "nearest", "bicubic", NULL};
    static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
    const hone_sinfo *data = in->args[0], *grid = in->args[1];
    const hone_expr *shape[HONE_MAX_RANK];
    if (data->rank != 4 && data->rank != 5) {
        return hone_infer_fail(in, "the data must have 4 or 5 dimensions");
    }
    HONE_TRY(check_one_of(in, "method", methods[0], methods));
    HONE_TRY(check_one_of(in, "padding_mode", paddings[0], paddings));
    HONE_TRY(hone_graph_check_layout(in->bind, "layout", data->rank == 4 ? "NCHW" : "NCDHW"));
    if (grid->kind != HONE_SINFO_TENSOR || grid->rank != data->rank ||
        !hone_dtype_is_float(grid->dtype)) {
        return hone_infer_fail(in, "the grid must be floats of as many dimensions as the data");
    }
    if (!hone_expr_is_int_value(grid->shape[1], data->rank - 2) ||
        !hone_infer_same_extent(in, grid->shape[0], data->shape[0])) {
        return hone_infer_fail(in, "the grid must have %d numbers for each place of each image",
                               data->rank - 2);
    }
    memcpy(shape, grid->shape, (size_t)grid->rank * sizeof *shape);
    shape[1] = data->shape[1];
    return hone_infer_tensor(in, data->dtype, data->rank, shape);
}

/* Data with the size along D, H and W of its layout, which R.image.resize2d and 3d default to. */
hone_status hone_infer_resize(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *size = in->args[1];
    const hone_expr *shape[HONE_MAX_RANK];
    const char *plain = strstr(in->bind->callee, "3d") ? "NCDHW" : "NCHW";
    const char *layout = hone_attrs_string(&in->bind->attrs, "layout", plain);
    int32_t count = (int32_t)strlen(plain) - 2, rank = count + 2;
    if ((int32_t)strlen(layout) != rank || (int32_t)strspn(layout, plain) != rank) {
        return hone_infer_fail(in, "layout is '%s', must have the letters of %s", layout, plain);
    }
    if (data->rank != rank) return hone_infer_fail(in, "the data must have %d dimensions", rank);
    if (size->kind != HONE_SINFO_SHAPE) return HONE_OK; /* a tuple: not known here */
    if (size->rank != count) {
        return hone_infer_fail(in, "the size must be a shape of %d dimensions", count);
    }
    for (int32_t d = 0, next = 0; d < rank; d++)
        shape[d] = strchr("DHW", layout[d]) ? size->shape[next++] : data->shape[d];
    return hone_infer_tensor(in, hone_infer_out_dtype(in, data->dtype), rank, shape);
}

/* [regions, channels, how many parts they have along height and width] */
static hone_status regions_to(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *rois = in->args[1];
    int64_t size[2];
    HONE_TRY(hone_graph_attr_ints(in->bind, "pooled_size", 2, 1, size));
    if (size[0] < 1 || size[1] < 1 || size[0] > INT32_MAX || size[1] > INT32_MAX) {
        return hone_infer_fail(in, "pooled_size must be at least 1");
    }
    const hone_expr *shape[] = {rois->shape[0], data->shape[1], hone_extent_int(&in->ir, size[0]),
                                hone_extent_int(&in->ir, size[1])};
    return hone_infer_tensor(in, data->dtype, 4, shape);
}

static hone_status check_regions(const hone_infer *in, int64_t columns) {
    const hone_sinfo *data = in->args[0], *rois = in->args[1];
    if (data->rank != 4 || !hone_dtype_is_float(data->dtype)) {
        return hone_infer_fail(in, "the data must be floats of 4 dimensions");
    }
    if (rois->kind == HONE_SINFO_TENSOR && rois->rank == 2 &&
        hone_expr_is_int_value(rois->shape[1], columns) &&
        !hone_dtypes_differ(rois->dtype, data->dtype)) {
        return HONE_OK;
    }
    return hone_infer_fail(in, "the regions must be [n, %lld] of the type of the data",
                           (long long)columns);
}

/* Regions are [n, 4]: x and y of the first corner, then of the last. */
hone_status hone_infer_roi_align(hone_infer *in) {
    static const char *const modes[] = {"avg", "max", "most", NULL};
    const hone_sinfo *rois = in->args[1], *images = in->args[2];
    int64_t ratio = hone_attrs_int(&in->bind->attrs, "sample_ratio", 1);
    HONE_TRY(check_one_of(in, "mode", modes[0], modes));
    HONE_TRY(check_regions(in, 4));
    if (images->kind != HONE_SINFO_TENSOR || images->rank != 1 ||
        !hone_dtype_is_integer(images->dtype) ||
        !hone_infer_same_extent(in, images->shape[0], rois->shape[0])) {
        return hone_infer_fail(in, "wants the number of an image for each region");
    }
    if (ratio > 1024) {
        return hone_infer_doubt(in, "sample_ratio is %lld, must be at most 1024", (long long)ratio);
    }
    return regions_to(in);
}

/* Regions are [n, 5]: the number of an image, x and y of the first corner, then of the last. */
hone_status hone_infer_roi_pool(hone_infer *in) {
    HONE_TRY(check_regions(in, 5));
    return regions_to(in);
}

static bool is_one(const hone_sinfo *info, hone_dtype dtype) {
    return info->kind == HONE_SINFO_TENSOR && info->rank == 1 &&
           hone_expr_is_int_value(info->shape[0], 1) && !hone_dtypes_differ(info->dtype, dtype);
}

/* The numbers of the boxes of each list that stay: as many as there are boxes, `limit` at most. */
hone_status hone_infer_suppress(hone_infer *in) {
    const hone_sinfo *boxes = in->args[0], *scores = in->args[1];
    int64_t limit = hone_attrs_int(&in->bind->attrs, "limit", -1);
    if (boxes->rank != 3 || !hone_dtype_is_float(boxes->dtype) ||
        !hone_expr_is_int_value(boxes->shape[2], 4)) {
        return hone_infer_fail(in, "the boxes must be floats of [batches, count, 4]");
    }
    if (scores->kind != HONE_SINFO_TENSOR || scores->rank != 3 ||
        hone_dtypes_differ(scores->dtype, boxes->dtype) ||
        !hone_infer_same_extent(in, scores->shape[0], boxes->shape[0]) ||
        !hone_infer_same_extent(in, scores->shape[2], boxes->shape[1])) {
        return hone_infer_fail(in, "the scores must be [batches, classes, count] of the type of "
                                   "the boxes");
    }
    if (!is_one(in->args[2], HONE_DTYPE_I64) || !is_one(in->args[3], boxes->dtype) ||
        !is_one(in->args[4], boxes->dtype)) {
        return hone_infer_fail(in,
                               "most must be an int64, overlap and least numbers of the type of "
                               "the boxes, [1] each");
    }
    const hone_expr *shape[] = {scores->shape[0], scores->shape[1], scores->shape[2]};
    if (limit >= 0 && hone_expr_is_int(shape[2]) && limit < shape[2]->u.i)
        shape[2] = hone_extent_int(&in->ir, limit);
    return hone_infer_tensor(in, HONE_DTYPE_I64, 3, shape);
}
