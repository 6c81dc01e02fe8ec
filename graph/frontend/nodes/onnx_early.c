/* graph/frontend/nodes/onnx_early.c - operators that were experiments of the standard and are none
 * now; what is converted from CoreML has them. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* alpha * x + beta */
static hone_status convert_affine(onnx_reader *r, hone_garg *out) {
    double alpha, beta;
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 0, &beta));
    HONE_TRY(onnx_with_scalar(r, "multiply", r->inputs[0], alpha, out));
    return onnx_with_scalar(r, "add", *out, beta, out);
}

static hone_status convert_scale(onnx_reader *r, hone_garg *out) {
    double scale;
    HONE_TRY(onnx_attr_float(r, "scale", 1, &scale));
    return onnx_with_scalar(r, "multiply", r->inputs[0], scale, out);
}

/* alpha * f(beta * x) */
static hone_status convert_scaled(onnx_reader *r, hone_garg *out) {
    double alpha, beta;
    bool is_tanh = strcmp(r->node->op_type, "ScaledTanh") == 0;
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 1, &beta));
    HONE_TRY(onnx_with_scalar(r, "multiply", r->inputs[0], beta, out));
    HONE_TRY(is_tanh ? onnx_emit1(r, "tanh", *out, out) : onnx_emit_softplus(r, *out, out));
    return onnx_with_scalar(r, "multiply", *out, alpha, out);
}

/* A scale for all, a bias for each channel. */
static hone_status convert_image_scaler(onnx_reader *r, hone_garg *out) {
    const Onnx__AttributeProto *attr = onnx_attr(r, "bias");
    const hone_sinfo *info;
    hone_tensor *tensor;
    hone_garg bias;
    HONE_TRY(convert_scale(r, out));
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (info->rank != 4)
        return HONE_ERROR(HONE_CODE_INVALID, "images of %d dimensions, must have 4",
                          (int)info->rank);
    if (!attr) return HONE_OK;
    int64_t shape[] = {(int64_t)attr->n_floats, 1, 1};
    if (attr->n_floats == 0 ||
        (hone_expr_is_int(info->shape[1]) && !hone_expr_is_int_value(info->shape[1], shape[0])))
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'bias' holds %zu numbers, one a channel",
                          attr->n_floats);
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 3, shape, &tensor));
    for (size_t i = 0; i < attr->n_floats; i++)
        hone_tensor_set_f64(tensor, (int64_t)i, (double)attr->floats[i]);
    HONE_TRY(onnx_add_constant(r, tensor, &bias));
    HONE_TRY(onnx_emit_cast(r, bias, info->dtype, &bias));
    HONE_TRY(onnx_emit2(r, "add", *out, bias, out));
    return onnx_keeps_shape(r, &r->inputs[0], out, "the bias");
}

/* An image without its borders (left, top, right, bottom), or so many rows and columns behind the
 * first two. */
static hone_status convert_crop(onnx_reader *r, hone_garg *out) {
    enum { LEFT, TOP, RIGHT, BOTTOM, BORDERS };
    int64_t border[BORDERS], scale[2];
    const hone_sinfo *info;
    bool has_size = onnx_attr(r, "scale") != NULL;
    HONE_TRY(onnx_attr_ints_n(r, "border", BORDERS, 0, border));
    HONE_TRY(onnx_attr_ints_n(r, "scale", 2, 0, scale));
    HONE_TRY(onnx_input_info(r, 0, &info));
    *out = r->inputs[0];
    for (int i = 0; i < 2; i++) { /* rows, then columns */
        int64_t extent = info->rank == 4 ? hone_expr_const(info->shape[2 + i]) : 0;
        int64_t begin = border[i == 0 ? TOP : LEFT];
        if (extent < 0) return onnx_unknown_size(2 + i);
        int64_t after = border[i == 0 ? BOTTOM : RIGHT];
        int64_t end = has_size ? begin + scale[i] : extent - after;
        if (begin < 0 || after < 0 || begin >= end || end > extent)
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %d is %lld, cut from %lld to %lld",
                              2 + i, (long long)extent, (long long)begin, (long long)end);
        HONE_TRY(onnx_emit_slice(r, *out, 2 + i, begin, end, out));
    }
    return HONE_OK;
}

/* Slice of today, whose operands come in this order already. */
static hone_status convert_dynamic_slice(onnx_reader *r, hone_garg *out) {
    const int64_t own = r->opset;
    r->opset = own < 10 ? 10 : own;
    hone_status st = onnx_convert_on(r, "Slice", r->input_count, r->inputs, out);
    r->opset = own;
    return st;
}

const onnx_converter onnx_early_converters[] = {
    {"Affine", convert_affine, 1, 1, 1, "alpha beta", NULL},
    {"Scale",       convert_scale, 1, 1, 1, "scale", NULL},
    {"ScaledTanh",       convert_scaled, 1, 1, 1, "alpha beta", NULL},
    {"ParametricSoftplus",    convert_scaled, 1, 1, 1, "alpha beta", NULL},
    {"ImageScaler",  convert_image_scaler, 1, 1, 1, "bias scale", NULL},
    {"Crop",       convert_crop, 1, 1, 1, "border scale", NULL},
    {"DynamicSlice",       convert_dynamic_slice, 3, 4, 1, "", NULL},
    {0   },
};
