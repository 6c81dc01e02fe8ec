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

#define WINDOW "auto_pad dilations kernel_shape pads strides"

const onnx_converter onnx_channels_last_converters[] = {
    {"QLinearConv", convert_conv, 8, 9, 1, WINDOW " channels_last group", NULL},
    {"NhwcMaxPool",            convert_pool, 1, 1, 1, WINDOW " ceil_mode", NULL},
    {0           },
};
