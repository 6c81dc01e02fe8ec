/* graph/compose/compose_detect.c - what detectors make of anchors and of boxes with scores. */
#include "graph/compose/compose_impl.h"

/* One column of the last of three axes, which stays as 1. */
static hone_status column(onnx_reader *r, hone_garg x, int64_t number, hone_garg *out) {
    return onnx_emit_slice(r, x, 2, number, number + 1, out);
}

/* ---- boxes from anchors: classes [B, C, N], offsets [B, 4 N], anchors [1, N, 4] ---- */

/* Along one axis of space: the middle of the anchor moved by its extent times the offset, and half
 * the extent times the exponential of another. Axis 0 is x. */
static hone_status box_side(onnx_reader *r, hone_garg offsets, hone_garg anchors, int64_t axis,
                            const double variances[4], hone_garg *out_low, hone_garg *out_high) {
    hone_garg low, high, middle, extent, move, grow;
    HONE_TRY(column(r, anchors, axis, &low));
    HONE_TRY(column(r, anchors, axis + 2, &high));
    HONE_TRY(onnx_emit2(r, "add", low, high, &middle));
    HONE_TRY(onnx_with_scalar(r, "multiply", middle, 0.5, &middle));
    HONE_TRY(onnx_emit2(r, "subtract", high, low, &extent));
    HONE_TRY(column(r, offsets, axis, &move));
    HONE_TRY(onnx_with_scalar(r, "multiply", move, variances[axis], &move));
    HONE_TRY(onnx_emit2(r, "multiply", move, extent, &move));
    HONE_TRY(onnx_emit2(r, "add", move, middle, &middle));
    HONE_TRY(column(r, offsets, axis + 2, &grow));
    HONE_TRY(onnx_with_scalar(r, "multiply", grow, variances[axis + 2], &grow));
    HONE_TRY(onnx_emit1(r, "exp", grow, &grow));
    HONE_TRY(onnx_with_scalar(r, "multiply", grow, 0.5, &grow));
    HONE_TRY(onnx_emit2(r, "multiply", grow, extent, &grow));
    HONE_TRY(onnx_emit2(r, "subtract", middle, grow, out_low));
    return onnx_emit2(r, "add", middle, grow, out_high);
}

static hone_status read_variances(const hone_gbind *bind, double out[4]) {
    const hone_value *v = hone_attrs_find(&bind->attrs, "variances");
    bool is_list = v && v->kind == HONE_VALUE_LIST;
    if (is_list && v->count != 4) return compose_refuse(bind, "variances but 4");
    for (uint32_t i = 0; i < 4; i++)
        out[i] = compose_number_of(is_list ? &v->u.items[i] : v, 1);
    return HONE_OK;
}

/* [B, N, 4]: the lowest y and x, the highest y and x. */
static hone_status decode_boxes(onnx_reader *r, const hone_gbind *bind, const hone_sinfo *classes,
                                hone_garg *out) {
    const hone_expr *shape[] = {classes->shape[0], classes->shape[2], hone_extent_int(&r->ir, 4)};
    hone_garg offsets, corners[4];
    double variances[4];
    HONE_TRY(read_variances(bind, variances));
    HONE_TRY(onnx_emit_reshape(r, r->inputs[1], 3, shape, &offsets));
    HONE_TRY(box_side(r, offsets, r->inputs[2], 0, variances, &corners[1], &corners[3]));
    HONE_TRY(box_side(r, offsets, r->inputs[2], 1, variances, &corners[0], &corners[2]));
    HONE_TRY(onnx_emit_concat(r, 4, corners, 2, out));
    if (!hone_attrs_int(&bind->attrs, "clip", 0)) return HONE_OK;
    HONE_TRY(onnx_with_scalar(r, "minimum", *out, 1, out));
    return onnx_with_scalar(r, "maximum", *out, 0, out);
}

/* Those at the threshold and above, else 0; the first class may be the background. */
static hone_status keep_scores(onnx_reader *r, const hone_gbind *bind, const hone_sinfo *classes,
                               hone_garg *out) {
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    hone_garg counts, zero, index;
    *out = r->inputs[0];
    if (hone_attrs_int(&bind->attrs, "apply_softmax", 1))
        HONE_TRY(onnx_emit(r, "nn.softmax", 1, out, 1, &axis, out));
    HONE_TRY(
        onnx_with_scalar(r, "greater_equal", *out, compose_number(bind, "threshold", 0), &counts));
    HONE_TRY(onnx_scalar(r, classes->dtype, 0, &zero));
    HONE_TRY(onnx_emit_where(r, counts, *out, zero, out));
    if (hone_attrs_int(&bind->attrs, "keep_background", 1)) return HONE_OK;
    HONE_TRY(onnx_indices(r, classes->shape[1], 3, 1, &index));
    HONE_TRY(onnx_with_scalar(r, "greater", index, 0, &counts));
    return onnx_emit_where(r, counts, *out, zero, out);
}

static hone_status decode(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *classes;
    hone_garg items[2];
    HONE_TRY(onnx_input_info(r, 0, &classes));
    if (classes->rank != 3) return HONE_ERROR(HONE_CODE_TYPE, "wants classes [batch, class, box]");
    HONE_TRY(decode_boxes(r, bind, classes, &items[0]));
    HONE_TRY(keep_scores(r, bind, classes, &items[1]));
    return compose_tuple(r, 2, items, out);
}

/* ---- boxes above a threshold in front: data [batch, box, numbers] ---- */

/* [batch, box, 1], of bool: its score is greater, and it has a class where there are some. */
static hone_status is_valid(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    int64_t id = hone_attrs_int(&bind->attrs, "id_index", 0);
    hone_garg has_class;
    HONE_TRY(column(r, r->inputs[0], hone_attrs_int(&bind->attrs, "score_index", 1), out));
    HONE_TRY(onnx_with_scalar(r, "greater", *out, compose_number(bind, "score_threshold", 0), out));
    if (id < 0) return HONE_OK;
    HONE_TRY(column(r, r->inputs[0], id, &has_class));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", has_class, 0, &has_class));
    return onnx_emit2(r, "logical_and", *out, has_class, out);
}

static hone_status minus_one_behind(onnx_reader *r, hone_garg is_kept, hone_garg *io) {
    hone_garg none;
    HONE_TRY(onnx_scalar_like(r, io, -1, &none));
    return onnx_emit_where(r, is_kept, *io, none, io);
}

/* How many are valid, those in their order and rows of -1, and the indices where they were. */
static hone_status get_valid_counts(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    static const int64_t boxes[] = {1};
    const hone_sinfo *data;
    hone_garg items[3], valid, order, kept, indices[2] = {r->inputs[0]};
    hone_attr attrs[] = {
        {"axis",       HONE_VALUE_OF_INT(1)         },
        {"descending", HONE_VALUE_OF_BOOL(true)     },
        {"dtype",      HONE_VALUE_OF_STRING("int64")}
    };
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank != 3) return HONE_ERROR(HONE_CODE_TYPE, "wants data [batch, box, numbers]");
    HONE_TRY(is_valid(r, bind, &valid));
    HONE_TRY(onnx_emit_cast(r, valid, HONE_DTYPE_I32, &valid));
    HONE_TRY(onnx_emit(r, "argsort", 1, &valid, HONE_COUNT(attrs), attrs, &order));
    HONE_TRY(compose_reduce(r, "sum", valid, 1, boxes, true, &items[0]));
    HONE_TRY(onnx_indices(r, data->shape[1], 3, 1, &kept));
    HONE_TRY(onnx_emit_cast(r, kept, HONE_DTYPE_I32, &kept));
    HONE_TRY(onnx_emit2(r, "less", kept, items[0], &kept));
    HONE_TRY(compose_broadcast(r, order, 3, data->shape, &indices[1]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, indices, 1, attrs, &items[1]));
    HONE_TRY(minus_one_behind(r, kept, &items[1]));
    HONE_TRY(onnx_emit_cast(r, order, HONE_DTYPE_I32, &items[2]));
    HONE_TRY(minus_one_behind(r, kept, &items[2]));
    HONE_TRY(onnx_emit_reshape(r, items[2], 2, data->shape, &items[2]));
    HONE_TRY(onnx_emit_reshape(r, items[0], 1, data->shape, &items[0]));
    return compose_tuple(r, 3, items, out);
}

const hone_composer hone_compose_detectors[] = {
    {"vision.multibox_transform_loc", decode},
    {"vision.get_valid_counts",                               get_valid_counts},
    {0},
};
