/* graph/frontend/nodes/onnx_norm_pool.c - pools of norms: the p-th root of the sum of |x|^p over a
 * window, or over all of the space. */
#include "graph/frontend/nodes/onnx_nodes.h"

static hone_status read_power(onnx_reader *r, int64_t *out) {
    HONE_TRY(onnx_attr_int(r, "p", 2, out));
    if (*out >= 1) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute 'p' is %lld, must be at least 1",
                      (long long)*out);
}

static hone_status raise_all(onnx_reader *r, hone_garg x, int64_t p, hone_garg *out) {
    if (p == 2) return onnx_emit2(r, "multiply", x, x, out);
    HONE_TRY(onnx_emit1(r, "abs", x, out));
    return p == 1 ? HONE_OK : onnx_with_scalar(r, "power", *out, (double)p, out);
}

static hone_status take_root(onnx_reader *r, int64_t p, hone_garg *io) {
    if (p == 1) return HONE_OK;
    return p == 2 ? onnx_emit1(r, "sqrt", *io, io)
                  : onnx_with_scalar(r, "power", *io, 1 / (double)p, io);
}

/* ceil_mode: the last window reaches beyond the padding, unless it would begin there. With so much
 * more padding it is whole, as all others are. */
static hone_status reach_beyond(const hone_sinfo *data, onnx_window *w) {
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t extent = hone_expr_const(data->shape[i + 2]);
        if (extent < 0) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute 'ceil_mode' needs known extents; "
                                                     "give them with --shape");
        }
        int64_t *end = &w->pads[i + w->spatial], stride = w->strides[i];
        int64_t beyond = extent + w->pads[i] + *end - (w->kernel[i] - 1) * w->dilations[i] - 1;
        int64_t over = beyond % stride;
        if (over > 0 && beyond - over + stride < extent + w->pads[i]) *end += stride - over;
    }
    return HONE_OK;
}

/* A mean that counts the padding, times the size of the window. */
static hone_status sum_windows(onnx_reader *r, const onnx_window *w, hone_garg *io) {
    const char *op = hone_arena_printf(r->arena, "nn.avg_pool%ud", w->spatial);
    if (!op) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    double count = 1;
    for (uint32_t i = 0; i < w->spatial; i++)
        count *= (double)w->kernel[i];
    hone_attr attrs[] = {
        {"pool_size",        onnx_ints_value(r, w->spatial, w->kernel)},
        {"strides",        onnx_ints_value(r,                         w->spatial, w->strides)},
        {"padding",onnx_ints_value(r,2 * w->spatial, w->pads)},
        {"dilation",                  onnx_ints_value(r,                           w->spatial, w->dilations)},
        {"count_include_pad",    HONE_VALUE_OF_BOOL(1)                                    },
    };
    HONE_TRY(onnx_emit(r, op, 1, io, HONE_COUNT(attrs), attrs, io));
    return onnx_with_scalar(r, "multiply", *io, count, io);
}

static hone_status convert_lp_pool(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    onnx_window w = {0};
    int64_t p, ceil_mode;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(read_power(r, &p));
    HONE_TRY(onnx_attr_int(r, "ceil_mode", 0, &ceil_mode));
    HONE_TRY(onnx_pool_window(r, data, &w));
    HONE_TRY(onnx_refuse_later(&w));
    if (ceil_mode) HONE_TRY(reach_beyond(data, &w));
    HONE_TRY(raise_all(r, r->inputs[0], p, out));
    HONE_TRY(sum_windows(r, &w, out));
    return take_root(r, p, out);
}

static hone_status convert_global_lp_pool(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t p, axes[HONE_MAX_RANK];
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(read_power(r, &p));
    if (data->rank < 3) return HONE_ERROR(HONE_CODE_INVALID, "the data has no space");
    for (int32_t d = 2; d < data->rank; d++)
        axes[d - 2] = d;
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, (uint32_t)data->rank - 2, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    HONE_TRY(raise_all(r, r->inputs[0], p, out));
    HONE_TRY(onnx_emit(r, "sum", 1, out, 2, attrs, out));
    return take_root(r, p, out);
}

const onnx_converter onnx_norm_pool_converters[] = {
    {"LpPool", convert_lp_pool, 1, 1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides",
     NULL},
    {"GlobalLpPool",       convert_global_lp_pool, 1, 1, 1, "p", NULL},
    {0      },
};
