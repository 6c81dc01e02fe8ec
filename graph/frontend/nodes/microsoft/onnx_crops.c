/* graph/frontend/nodes/microsoft/onnx_crops.c - CropAndResize: parts of images, each resized to the
 * same size.
 *
 *   row[r, i] = y1 * (H - 1) + i * ((y2 - y1) * (H - 1) / (rows - 1))   the middle, of one row
 *
 * and columns likewise; y1, x1, y2, x2 are where 0 is the first row of the image and 1 the last. */
#include "graph/frontend/nodes/onnx_nodes.h"

enum { IMAGE_RANK = 4, SIDES = 2 };

/* Where an axis of the crops is read, all of it [count, rows, columns] or 1. */
typedef struct indices {
    hone_garg at;         /* float32 */
    hone_garg is_inside;  /* of the image */
    hone_garg first, end; /* neighbours, int64 and inside */
    hone_garg part;       /* of the way from the first to the end */
} indices;

/* Extent - 1, as float32. */
static hone_status last_of(onnx_reader *r, const hone_expr *extent, hone_garg *out) {
    const hone_expr *last = hone_extent_add(&r->ir, extent, -1);
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(onnx_sizes_tensor(r, 1, &last, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_F32, out);
}

/* Column `column` of the regions, as [count, 1, 1]. */
static hone_status edge(onnx_reader *r, int64_t column, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_emit_slice(r, r->inputs[1], 1, column, column + 1, out));
    HONE_TRY(onnx_info(r, out, &info));
    const hone_expr *shape[] = {info->shape[0], info->shape[1], info->shape[1]};
    return onnx_emit_reshape(r, *out, 3, shape, out);
}

/* side 0: rows. */
static hone_status find_indices(onnx_reader *r, int32_t side, hone_garg last, int64_t count,
                                hone_garg *out) {
    hone_garg begin, end, step, steps;
    HONE_TRY(edge(r, side, &begin));
    HONE_TRY(edge(r, side + SIDES, &end));
    if (count == 1) {
        HONE_TRY(onnx_emit2(r, "add", begin, end, out));
        HONE_TRY(onnx_with_scalar(r, "multiply", *out, 0.5, out));
        return onnx_emit2(r, "multiply", *out, last, out);
    }
    HONE_TRY(onnx_emit2(r, "subtract", end, begin, &step));
    HONE_TRY(onnx_emit2(r, "multiply", step, last, &step));
    HONE_TRY(onnx_with_scalar(r, "divide", step, (double)(count - 1), &step));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, count), 3, 1 + side, &steps));
    HONE_TRY(onnx_emit_cast(r, steps, HONE_DTYPE_F32, &steps));
    HONE_TRY(onnx_emit2(r, "multiply", steps, step, &steps));
    HONE_TRY(onnx_emit2(r, "multiply", begin, last, &begin));
    return onnx_emit2(r, "add", begin, steps, out);
}

static hone_status whole(onnx_reader *r, const char *rounded, hone_garg at, hone_garg last,
                         hone_garg *out) {
    HONE_TRY(onnx_emit1(r, rounded, at, out));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out, 0, out));
    HONE_TRY(onnx_emit2(r, "minimum", *out, last, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_I64, out);
}

static hone_status read_side(onnx_reader *r, int32_t side, const hone_expr *extent, int64_t count,
                             bool is_nearest, indices *out) {
    hone_garg last, above, floor;
    HONE_TRY(last_of(r, extent, &last));
    HONE_TRY(find_indices(r, side, last, count, &out->at));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", out->at, 0, &out->is_inside));
    HONE_TRY(onnx_emit2(r, "less_equal", out->at, last, &above));
    HONE_TRY(onnx_emit2(r, "logical_and", out->is_inside, above, &out->is_inside));
    if (is_nearest) { /* halves go away from 0, which is up */
        hone_garg up;
        HONE_TRY(onnx_with_scalar(r, "add", out->at, 0.5, &up));
        return whole(r, "floor", up, last, &out->first);
    }
    HONE_TRY(whole(r, "floor", out->at, last, &out->first));
    HONE_TRY(whole(r, "ceil", out->at, last, &out->end));
    HONE_TRY(onnx_emit1(r, "floor", out->at, &floor));
    return onnx_emit2(r, "subtract", out->at, floor, &out->part);
}

/* images [N, H, W, C] at indices: [count, rows, columns, C] */
static hone_status pick(onnx_reader *r, hone_garg images, hone_garg number, hone_garg row,
                        hone_garg column, const hone_expr *const *shape, hone_garg *out) {
    const hone_expr *thin[] = {shape[0], shape[1], shape[2], hone_extent_int(&r->ir, 1)};
    hone_garg parts[] = {number, row, column}, args[2] = {images};
    for (int i = 0; i < 3; i++) {
        hone_garg to[2] = {parts[i]};
        HONE_TRY(onnx_make_ints(r, 3, shape, 1, &to[1]));
        HONE_TRY(onnx_emit(r, "broadcast_to", 2, to, 0, NULL, &parts[i]));
        HONE_TRY(onnx_emit_reshape(r, parts[i], IMAGE_RANK, thin, &parts[i]));
    }
    HONE_TRY(onnx_emit_concat(r, 3, parts, 3, &args[1]));
    return onnx_emit(r, "gather_nd", 2, args, 0, NULL, out);
}

/* a + (b - a) * part */
static hone_status between(onnx_reader *r, hone_garg a, hone_garg b, hone_garg part,
                           hone_garg *out) {
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &part, 1, &last, &part));
    HONE_TRY(onnx_emit2(r, "subtract", b, a, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, part, out));
    return onnx_emit2(r, "add", a, *out, out);
}

static hone_status read_crops(onnx_reader *r, hone_garg images, hone_garg number, const indices *at,
                              bool is_nearest, const hone_expr *const *shape, hone_garg *out) {
    hone_garg corners[4];
    for (int i = 0; i < (is_nearest ? 1 : 4); i++)
        HONE_TRY(pick(r, images, number, i < 2 ? at[0].first : at[0].end,
                      i % 2 == 0 ? at[1].first : at[1].end, shape, &corners[i]));
    *out = corners[0];
    if (is_nearest) return HONE_OK;
    HONE_TRY(between(r, corners[0], corners[1], at[1].part, &corners[0]));
    HONE_TRY(between(r, corners[2], corners[3], at[1].part, &corners[2]));
    return between(r, corners[0], corners[2], at[0].part, out);
}

static hone_status convert_crops(onnx_reader *r, hone_garg *out) {
    static const char *const modes[] = {"bilinear", "nearest", NULL};
    const int64_t last[] = {0, 2, 3, 1}, second[] = {0, 3, 1, 2};
    const hone_sinfo *info, *regions;
    int64_t size[SIDES];
    uint32_t mode, count;
    double outside;
    hone_garg images, inside, filler, number = r->inputs[2];
    indices at[SIDES];
    HONE_TRY(onnx_attr_word(r, "mode", modes[0], modes, &mode));
    HONE_TRY(onnx_attr_float(r, "extrapolation_value", 0, &outside));
    HONE_TRY(onnx_const_ints(r, 3, "the size of the crops", SIDES, size, &count));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_input_info(r, 1, &regions));
    if (info->rank != IMAGE_RANK || regions->rank != 2 || count != SIDES || size[0] < 1 ||
        size[1] < 1)
        return HONE_ERROR(HONE_CODE_INVALID, "images of %d and regions of %d dimensions, or a size",
                          (int)info->rank, (int)regions->rank);
    HONE_TRY(onnx_demand_size(r, &r->inputs[1], 1, 2 * SIDES));
    for (int32_t i = 0; i < SIDES; i++)
        HONE_TRY(read_side(r, i, info->shape[2 + i], size[i], mode == 1, &at[i]));
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {regions->shape[0], hone_extent_int(&r->ir, size[0]),
                                hone_extent_int(&r->ir, size[1])};
    const hone_expr *thin[] = {regions->shape[0], one, one};
    HONE_TRY(onnx_emit_permute(r, r->inputs[0], IMAGE_RANK, last, &images));
    HONE_TRY(onnx_emit_cast(r, number, HONE_DTYPE_I64, &number));
    HONE_TRY(onnx_emit_reshape(r, number, 3, thin, &number));
    HONE_TRY(read_crops(r, images, number, at, mode == 1, shape, out));
    HONE_TRY(onnx_emit2(r, "logical_and", at[0].is_inside, at[1].is_inside, &inside));
    hone_attr behind = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &inside, 1, &behind, &inside));
    HONE_TRY(onnx_scalar_like(r, out, outside, &filler));
    HONE_TRY(onnx_emit_where(r, inside, *out, filler, out));
    return onnx_emit_permute(r, *out, IMAGE_RANK, second, out);
}

const onnx_converter onnx_crops_converters[] = {
    {"CropAndResize", convert_crops, 4, 4, 1, "extrapolation_value mode", NULL},
    {0             },
};
