/* graph/frontend/nodes/onnx_open_conv.c - a convolution by kernels whose size nothing says before a
 * run, as a sum over windows:
 *
 *   windows[n, g, c, y, ky, ...] = data[n, g, c, y * stride + ky * dilation, ...], padded
 *   out[n, g, m, y, ...] = sum of windows[n, g, c, y, ky, ...] * weight[g, m, c, ky, ...]
 */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* Dimension d becomes two: the windows, and the taps of each. */
static hone_status take_taps(onnx_reader *r, const onnx_window *w, uint32_t i,
                             const hone_expr *taps, hone_garg *io) {
    hone_ir *ir = &r->ir;
    const hone_sinfo *info;
    hone_garg window, tap;
    HONE_TRY(onnx_info(r, io, &info));
    const hone_expr *span =
        hone_extent_mul(ir, hone_extent_add(ir, taps, -1), hone_extent_int(ir, w->dilations[i]));
    const hone_expr *room = hone_expr_sub(ir, info->shape[i + 2], span);
    const hone_expr *count = hone_extent_add(ir, room, -1);
    count = hone_extent_add(ir, hone_extent_div(ir, count, w->strides[i]), 1);
    HONE_TRY(hone_ir_finish(ir));
    HONE_TRY(onnx_indices(r, count, 2, 0, &window));
    HONE_TRY(onnx_indices(r, taps, 2, 1, &tap));
    HONE_TRY(onnx_with_scalar(r, "multiply", window, (double)w->strides[i], &window));
    HONE_TRY(onnx_with_scalar(r, "multiply", tap, (double)w->dilations[i], &tap));
    HONE_TRY(onnx_emit2(r, "add", window, tap, &window));
    return onnx_emit_take(r, *io, window, i + 2, io);
}

/* Dimension d as `groups` and the rest. */
static hone_status split_groups(onnx_reader *r, int32_t d, int64_t groups, const hone_expr *rest,
                                hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, io, &info));
    for (int32_t k = 0; k < info->rank; k++)
        shape[k < d ? k : k + 1] = info->shape[k];
    shape[d] = hone_extent_int(&r->ir, groups);
    shape[d + 1] = rest;
    return onnx_emit_reshape(r, *io, (uint32_t)info->rank + 1, shape, io);
}

static hone_status sum_windows(onnx_reader *r, const onnx_window *w, hone_garg *sides,
                               hone_garg *out) {
    static const char indices[] = "xyz", taps[] = "tuv";
    char equation[32], *at = equation;
    memcpy(at, "ngc", 3);
    at += 3;
    for (uint32_t i = 0; i < w->spatial; i++) {
        *at++ = indices[i];
        *at++ = taps[i];
    }
    memcpy(at, ",gmc", 4);
    memcpy(at + 4, taps, w->spatial);
    at += 4 + w->spatial;
    memcpy(at, "->ngm", 5);
    memcpy(at + 5, indices, w->spatial);
    at[5 + w->spatial] = 0;
    return onnx_emit_einsum(r, equation, 2, sides, out);
}

hone_status onnx_emit_open_conv(onnx_reader *r, const onnx_window *w, int64_t groups,
                                const hone_garg *given, const char *out_dtype, hone_garg *out) {
    const hone_sinfo *data, *weight, *made;
    hone_garg sides[2] = {given[0], given[1]};
    hone_dtype wide = HONE_DTYPE_F32;
    HONE_TRY(onnx_info(r, &sides[0], &data));
    hone_dtype narrow = data->dtype;
    bool is_whole = out_dtype && strcmp(out_dtype, "int32") == 0;
    if (is_whole) wide = HONE_DTYPE_I32;
    for (int i = 0; i < 2; i++)
        if (is_whole || hone_dtype_is_short_float(narrow))
            HONE_TRY(onnx_emit_cast(r, sides[i], wide, &sides[i]));
    HONE_TRY(onnx_info(r, &sides[1], &weight));
    for (uint32_t i = w->spatial; i-- > 0;)
        HONE_TRY(take_taps(r, w, i, weight->shape[i + 2], &sides[0]));
    HONE_TRY(split_groups(r, 1, groups, weight->shape[1], &sides[0]));
    HONE_TRY(
        split_groups(r, 0, groups, hone_extent_div(&r->ir, weight->shape[0], groups), &sides[1]));
    HONE_TRY(sum_windows(r, w, sides, out));
    HONE_TRY(onnx_info(r, out, &made));
    const hone_expr *shape[ONNX_MAX_SPATIAL + 2] = {made->shape[0], weight->shape[0]};
    for (uint32_t i = 0; i < w->spatial; i++)
        shape[i + 2] = made->shape[i + 3];
    HONE_TRY(onnx_emit_reshape(r, *out, w->spatial + 2, shape, out));
    return out_dtype ? HONE_OK : onnx_emit_cast(r, *out, narrow, out);
}
