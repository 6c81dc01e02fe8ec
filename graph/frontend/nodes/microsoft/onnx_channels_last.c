/* graph/frontend/nodes/microsoft/onnx_channels_last.c - operators of com.microsoft that
 * onnxruntime's optimiser makes of the standard's, on pictures whose channels come last: between
 * two transpositions, of which neighbours strike each other out. */
#include "graph/frontend/nodes/onnx_nodes.h"

/* [N, C, spatial...] of [N, spatial..., C], or back. */
static hone_status move_channels(onnx_reader *r, bool to_end, hone_garg *io) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank < 3) return HONE_ERROR(HONE_CODE_INVALID, "%d dimensions", (int)info->rank);
    int32_t last = info->rank - 1;
    axes[0] = 0;
    axes[to_end ? last : 1] = to_end ? 1 : last;
    for (int32_t i = 1; i < last; i++)
        axes[to_end ? i : i + 1] = to_end ? i + 1 : i;
    return onnx_emit_permute(r, *io, (uint32_t)info->rank, axes, io);
}

hone_status onnx_convert_channels_last(onnx_reader *r, bool is_last,
                                       hone_status (*convert)(onnx_reader *r, hone_garg *out),
                                       hone_garg *out) {
    if (!is_last) return convert(r, out);
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(move_channels(r, false, &r->inputs[0]));
    HONE_TRY(convert(r, out));
    return move_channels(r, true, out);
}

static hone_status plain_conv(onnx_reader *r, hone_garg *out) {
    return onnx_convert_on(r, "QLinearConv", r->input_count, r->inputs, out);
}

static hone_status plain_pool(onnx_reader *r, hone_garg *out) {
    return onnx_convert_on(r, "MaxPool", 1, r->inputs, out);
}

static hone_status convert_conv(onnx_reader *r, hone_garg *out) {
    int64_t is_last;
    HONE_TRY(onnx_attr_int(r, "channels_last", 0, &is_last));
    return onnx_convert_channels_last(r, is_last != 0, plain_conv, out);
}

static hone_status convert_pool(onnx_reader *r, hone_garg *out) {
    return onnx_convert_channels_last(r, true, plain_pool, out);
}

/* Filters have their channels last, too, as the optimiser writes them. */
static hone_status convert_nhwc_conv(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_as_tensor(r, &r->inputs[1]));
    HONE_TRY(move_channels(r, false, &r->inputs[1]));
    return onnx_convert_channels_last(r, true, onnx_convert_fused_conv, out);
}

/* What is added has its channels last; filters are those of the standard. */
static hone_status convert_nhwc_fused(onnx_reader *r, hone_garg *out) {
    if (onnx_has_input(r, 3)) HONE_TRY(move_channels(r, false, &r->inputs[3]));
    return onnx_convert_channels_last(r, true, onnx_convert_fused_conv, out);
}

/* ---- groups of channels ---- */

/* [C] or [N, C] as it lies over [N, C, spatial...]; what has all dimensions is moved. */
static hone_status over_channels(onnx_reader *r, bool is_last, int32_t rank, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_as_tensor(r, io));
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank == rank) return is_last ? move_channels(r, false, io) : HONE_OK;
    if (info->rank < 1 || info->rank > 2)
        return HONE_ERROR(HONE_CODE_INVALID, "channels of %d dimensions", (int)info->rank);
    for (int32_t i = 0; i < rank; i++)
        shape[i] = hone_extent_int(&r->ir, 1);
    shape[1] = info->shape[info->rank - 1];
    if (info->rank == 2) shape[0] = info->shape[0];
    return onnx_emit_reshape(r, *io, (uint32_t)rank, shape, io);
}

/* op(x, input), where the input is given, in float32. */
static hone_status with_channels(onnx_reader *r, const char *op, bool is_last, uint32_t input,
                                 hone_garg *io) {
    const hone_sinfo *info;
    hone_garg given = onnx_given(r, input);
    if (given.kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(over_channels(r, is_last, info->rank, &given));
    HONE_TRY(onnx_emit_cast(r, given, HONE_DTYPE_F32, &given));
    HONE_TRY(onnx_emit2(r, op, *io, given, &given));
    HONE_TRY(onnx_keeps_shape(r, io, &given, "a vector of channels"));
    *io = given;
    return HONE_OK;
}

static hone_status activate(onnx_reader *r, hone_garg *io) {
    int64_t activation;
    hone_garg gate;
    HONE_TRY(onnx_attr_int(r, "activation", 0, &activation));
    if (activation == 0) return HONE_OK;
    if (activation != 1)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'activation' is %lld, must be 0 or 1",
                          (long long)activation);
    HONE_TRY(onnx_emit1(r, "sigmoid", *io, &gate));
    return onnx_emit2(r, "multiply", *io, gate, io);
}

/* As the node's first input has them. */
static hone_status give_back(onnx_reader *r, bool is_last, hone_dtype dtype, hone_garg *io) {
    if (is_last) HONE_TRY(move_channels(r, true, io));
    return onnx_emit_cast(r, *io, dtype, io);
}

/* Of x, and with a skip of x + skip + bias, which is the second output. Sums are of float32. */
static hone_status convert_group_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t groups, channels_last;
    double epsilon;
    hone_garg x = r->inputs[0];
    HONE_TRY(onnx_attr_int(r, "groups", 0, &groups));
    HONE_TRY(onnx_attr_int(r, "channels_last", 1, &channels_last));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    bool is_last = channels_last != 0, skips = r->row->most_outputs > 1;
    HONE_TRY(onnx_as_tensor(r, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    const hone_dtype dtype = info->dtype;
    if (is_last) HONE_TRY(move_channels(r, false, &x));
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_F32, &x));
    if (skips) {
        HONE_TRY(with_channels(r, "add", is_last, 3, &x));
        HONE_TRY(with_channels(r, "add", is_last, 4, &x));
        out[1] = x;
        HONE_TRY(give_back(r, is_last, dtype, &out[1]));
    }
    HONE_TRY(onnx_standardize_groups(r, x, groups, epsilon, &out[0]));
    HONE_TRY(with_channels(r, "multiply", is_last, 1, &out[0]));
    HONE_TRY(with_channels(r, "add", is_last, 2, &out[0]));
    HONE_TRY(activate(r, &out[0]));
    return give_back(r, is_last, dtype, &out[0]);
}

#define GROUPS "activation channels_last epsilon groups"
#define WINDOW "auto_pad dilations kernel_shape pads strides"

const onnx_converter onnx_channels_last_converters[] = {
    {"QLinearConv", convert_conv, 8, 9, 1, WINDOW " channels_last group", NULL},
    {"NhwcConv",            convert_nhwc_conv, 2, 3, 1, WINDOW " group", NULL},
    {"NhwcFusedConv",            convert_nhwc_fused, 2, 4, 1, WINDOW " activation activation_params group",
     NULL},
    {"NhwcMaxPool",         convert_pool, 1, 1, 1, WINDOW " ceil_mode", NULL},
    {"GroupNorm",    convert_group_norm, 3, 3, 1, GROUPS, NULL},
    {"SkipGroupNorm",            convert_group_norm, 4, 5, 2, GROUPS, NULL},
    {0           },
};
