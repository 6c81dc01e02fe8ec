/* graph/frontend/nodes/images/onnx_fit.c - images of another size, and images put together of
 * blocks or of indices. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

static hone_status known_extent(const hone_sinfo *data, int32_t axis, int64_t *out) {
    *out = hone_expr_const(data->shape[axis]);
    return *out >= 0 ? HONE_OK : onnx_unknown_size(axis);
}

/* ---- cut or padded around the centre ---- */

typedef struct fitting {
    int64_t widths[2 * HONE_MAX_RANK]; /* of the padding, before and behind each axis */
    bool pads;
} fitting;

/* What is odd is cut at the end, and added there. */
static hone_status fit_axis(onnx_reader *r, int32_t axis, int64_t from, int64_t to, fitting *f,
                            hone_garg *io) {
    if (to < 0) return HONE_ERROR(HONE_CODE_INVALID, "a size of %lld", (long long)to);
    if (to == from) return HONE_OK;
    if (to < from) {
        int64_t begin = (from - to) / 2;
        return onnx_emit_slice(r, *io, axis, begin, begin + to, io);
    }
    f->pads = true;
    f->widths[2 * axis] = (to - from) / 2;
    f->widths[2 * axis + 1] = to - from - f->widths[2 * axis];
    return HONE_OK;
}

static hone_status convert_center_crop_pad(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t sizes[HONE_MAX_RANK], axes[HONE_MAX_RANK], from;
    uint32_t count, given;
    fitting f = {0};
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_const_ints(r, 1, "the shape", HONE_MAX_RANK, sizes, &count));
    HONE_TRY(onnx_attr_ints(r, "axes", HONE_MAX_RANK, axes, &given));
    if (count != (given ? given : (uint32_t)data->rank)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u sizes for %u axes", count,
                          given ? given : (uint32_t)data->rank);
    }
    *out = r->inputs[0];
    for (uint32_t i = 0; i < count; i++) {
        int32_t axis = (int32_t)i;
        if (given) HONE_TRY(onnx_axis(r, axes[i], data->rank, &axis));
        HONE_TRY(known_extent(data, axis, &from));
        HONE_TRY(fit_axis(r, axis, from, sizes[i], &f, out));
    }
    hone_attr attr = {"pad_width", onnx_ints_value(r, 2 * (uint32_t)data->rank, f.widths)};
    return f.pads ? onnx_emit(r, "nn.pad", 1, out, 1, &attr, out) : HONE_OK;
}

/* ---- sums of blocks ---- */

typedef struct blocks {
    onnx_window w;
    int64_t image[ONNX_MAX_SPATIAL], more[ONNX_MAX_SPATIAL], counts[ONNX_MAX_SPATIAL];
    int64_t elements; /* of a block */
} blocks;

static hone_status read_blocks(onnx_reader *r, blocks *b) {
    uint32_t count;
    onnx_window *w = &b->w;
    HONE_TRY(onnx_const_ints(r, 1, "the image's shape", ONNX_MAX_SPATIAL, b->image, &w->spatial));
    HONE_TRY(onnx_const_ints(r, 2, "the block's shape", ONNX_MAX_SPATIAL, w->kernel, &count));
    if (count != w->spatial || !count) {
        return HONE_ERROR(HONE_CODE_INVALID, "an image of %u dimensions, blocks of %u", w->spatial,
                          count);
    }
    HONE_TRY(onnx_read_window(r, w));
    b->elements = 1;
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
        int64_t room = b->image[i] + w->pads[i] + w->pads[i + w->spatial] - reach;
        if (room < 0) return HONE_ERROR(HONE_CODE_INVALID, "blocks larger than the image");
        b->counts[i] = room / w->strides[i] + 1;
        b->more[i] = room % w->strides[i];
        b->elements *= w->kernel[i];
    }
    return HONE_OK;
}

/* Channel k of a block goes to its index k: [channels * elements, 1, kernel...] of ones there. */
static hone_status place_weights(onnx_reader *r, const blocks *b, int64_t channels,
                                 hone_dtype dtype, hone_garg *out) {
    int64_t shape[ONNX_MAX_SPATIAL + 2] = {channels * b->elements, 1};
    hone_tensor *tensor;
    if (channels * b->elements > INT32_MAX / b->elements)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "blocks of so many elements");
    memcpy(shape + 2, b->w.kernel, b->w.spatial * sizeof *shape);
    HONE_TRY(hone_tensor_create(dtype, (int32_t)b->w.spatial + 2, shape, &tensor));
    for (int64_t i = 0; i < shape[0]; i++)
        hone_tensor_set_f64(tensor, i * b->elements + i % b->elements, 1);
    return onnx_add_constant(r, tensor, out);
}

/* A transposed convolution adds what blocks have in common. */
static hone_status convert_col2im(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    blocks b = {0};
    const hone_expr *shape[ONNX_MAX_SPATIAL + 2];
    int64_t rows;
    hone_garg args[2];
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(read_blocks(r, &b));
    if (data->rank != 3) return HONE_ERROR(HONE_CODE_INVALID, "%d dimensions", data->rank);
    HONE_TRY(known_extent(data, 1, &rows));
    if (rows % b.elements || !rows)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld rows for blocks of %lld elements",
                          (long long)rows, (long long)b.elements);
    HONE_TRY(place_weights(r, &b, rows / b.elements, data->dtype, &args[1]));
    memcpy(shape, data->shape, 2 * sizeof *shape);
    for (uint32_t i = 0; i < b.w.spatial; i++)
        shape[i + 2] = hone_extent_int(&r->ir, b.counts[i]);
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], b.w.spatial + 2, shape, &args[0]));
    const char *op = hone_arena_printf(r->arena, "nn.conv%ud_transpose", b.w.spatial);
    if (!op) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    hone_attr attrs[] = {
        {"strides",          onnx_ints_value(r,    b.w.spatial, b.w.strides)},
        {"padding",      onnx_ints_value(r,                          2 * b.w.spatial, b.w.pads)},
        {"output_padding",onnx_ints_value(r,b.w.spatial, b.more)},
        {"dilation",                  onnx_ints_value(r,                       b.w.spatial, b.w.dilations)},
        {"groups",       HONE_VALUE_OF_INT(rows / b.elements)                                            },
    };
    return onnx_emit(r, op, 2, args, HONE_COUNT(attrs), attrs, out);
}

/* ---- indices of an image ---- */

/* Where element i of `count` lies between -1 and 1: those are the centres of the first and last
 * one, or their outer edges. */
static double index_of(int64_t i, int64_t count, bool aligns) {
    if (aligns) return count > 1 ? -1 + 2 * (double)i / (double)(count - 1) : -1;
    return (2 * (double)i + 1) / (double)count - 1;
}

/* [all indices, spatial + 1]: along each axis, the last one first, and 1. */
static hone_status all_indices(onnx_reader *r, uint32_t spatial, const int64_t *extents,
                               hone_dtype dtype, bool aligns, hone_garg *out) {
    int64_t shape[2] = {1, spatial + 1};
    hone_tensor *tensor;
    for (uint32_t i = 0; i < spatial; i++)
        shape[0] *= extents[i];
    HONE_TRY(hone_tensor_create(dtype, 2, shape, &tensor));
    for (int64_t at = 0; at < shape[0]; at++) {
        int64_t left = at;
        for (uint32_t i = 0; i < spatial; i++) {
            int64_t extent = extents[spatial - 1 - i];
            hone_tensor_set_f64(tensor, at * shape[1] + i, index_of(left % extent, extent, aligns));
            left /= extent;
        }
        hone_tensor_set_f64(tensor, at * shape[1] + spatial, 1);
    }
    return onnx_add_constant(r, tensor, out);
}

/* indices × the transposed matrices */
static hone_status convert_affine_grid(onnx_reader *r, hone_garg *out) {
    enum { MOST = 1 << 26 };
    const hone_sinfo *theta;
    int64_t sizes[5], aligns, all = 1, swap[] = {0, 2, 1};
    uint32_t count;
    hone_garg args[2];
    HONE_TRY(onnx_input_info(r, 0, &theta));
    HONE_TRY(onnx_attr_int(r, "align_corners", 0, &aligns));
    HONE_TRY(onnx_const_ints(r, 1, "the size", 5, sizes, &count));
    bool is_matrix = theta->rank == 3 && count >= 4;
    uint32_t spatial = count - 2;
    is_matrix = is_matrix &&
                !hone_extent_differs(theta->shape[1], hone_extent_int(&r->ir, spatial)) &&
                !hone_extent_differs(theta->shape[2], hone_extent_int(&r->ir, spatial + 1));
    if (!is_matrix) {
        return HONE_ERROR(HONE_CODE_INVALID, "theta does not fit a size of %u dimensions", count);
    }
    const hone_expr *shape[5] = {theta->shape[0]};
    for (uint32_t i = 0; i < spatial; i++) {
        bool is_size = sizes[i + 2] >= 1 && sizes[i + 2] <= MOST / all;
        if (!is_size)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "an extent of %lld", (long long)sizes[i + 2]);
        all *= sizes[i + 2];
        shape[i + 1] = hone_extent_int(&r->ir, sizes[i + 2]);
    }
    shape[spatial + 1] = hone_extent_int(&r->ir, spatial);
    HONE_TRY(all_indices(r, spatial, sizes + 2, theta->dtype, aligns != 0, &args[0]));
    HONE_TRY(onnx_emit_permute(r, r->inputs[0], 3, swap, &args[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, args, 0, NULL, out));
    return onnx_emit_reshape(r, *out, spatial + 2, shape, out);
}

const onnx_converter onnx_fit_converters[] = {
    {"CenterCropPad", convert_center_crop_pad, 2, 2, 1, "axes", NULL},
    {"Col2Im",              convert_col2im, 3, 3, 1, "dilations pads strides", NULL},
    {"AffineGrid",              convert_affine_grid, 2, 2, 1, "align_corners", NULL},
    {0          },
};
