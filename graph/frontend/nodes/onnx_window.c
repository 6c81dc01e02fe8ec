/* graph/frontend/nodes/onnx_window.c - what convolutions and pools have in common: kernels,
 * strides, dilations, pads, and those that auto_pad says.
 *
 *   SAME   windows = ceil(extent / stride), pads = (windows - 1) * stride + reach - extent, or 0
 *
 * Where the extent comes later and the stride is not 1, so do the pads: the data is cut out of what
 * has the greatest pads there can be, or goes on with its first and last elements. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

hone_status onnx_check_range(const char *name, uint32_t count, const int64_t *values,
                             int64_t least) {
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] < least || values[i] > INT32_MAX) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "attribute '%s' holds %lld, must be from %lld to 2^31 - 1", name,
                              (long long)values[i], (long long)least);
        }
    }
    return HONE_OK;
}

/* SAME: as many windows as ceil(extent / stride), the padding split evenly. */
static hone_status same_pads(const hone_sinfo *data, onnx_window *w, bool is_upper) {
    w->is_upper = is_upper;
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t extent = hone_expr_const(data->shape[i + 2]);
        if (extent < 0 && w->strides[i] != 1) {
            w->comes_later[i] = w->has_later_pads = true;
            continue;
        }
        if (extent < 0) extent = 1; /* of windows side by side the padding is the same for all */
        int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
        int64_t count = (extent + w->strides[i] - 1) / w->strides[i];
        int64_t total = (count - 1) * w->strides[i] + reach - extent;
        if (total < 0) total = 0;
        int64_t small = total / 2, large = total - small;
        w->pads[i] = is_upper ? small : large;
        w->pads[i + w->spatial] = is_upper ? large : small;
    }
    return HONE_OK;
}

hone_status onnx_open_kernel(void) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a kernel of unknown size; give it with --shape");
}

static hone_status auto_pads(onnx_reader *r, const hone_sinfo *data, onnx_window *w) {
    char mode[64];
    HONE_TRY(onnx_attr_text(r, "auto_pad", "NOTSET", mode));
    if (strcmp(mode, "NOTSET") == 0) return HONE_OK;
    bool has_pads = false;
    for (uint32_t i = 0; i < 2 * w->spatial; i++)
        has_pads |= w->pads[i] != 0;
    if (has_pads) {
        return HONE_ERROR(HONE_CODE_INVALID, "attributes 'pads' and 'auto_pad' exclude each other");
    }
    if (strcmp(mode, "VALID") == 0) return HONE_OK;
    if (w->is_open) return onnx_open_kernel();
    if (strcmp(mode, "SAME_UPPER") == 0) return same_pads(data, w, true);
    if (strcmp(mode, "SAME_LOWER") == 0) return same_pads(data, w, false);
    return HONE_ERROR(HONE_CODE_INVALID,
                      "attribute 'auto_pad' has value '%s'; expected one of NOTSET, SAME_UPPER, "
                      "SAME_LOWER, VALID",
                      mode);
}

hone_status onnx_spatial_rank(const hone_sinfo *data, uint32_t *out) {
    if (data->rank < 3 || data->rank > ONNX_MAX_SPATIAL + 2) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the data has %d dimensions, 3 to %d are implemented", data->rank,
                          ONNX_MAX_SPATIAL + 2);
    }
    *out = (uint32_t)data->rank - 2;
    return HONE_OK;
}

hone_status onnx_read_window(onnx_reader *r, onnx_window *w) {
    HONE_TRY(onnx_attr_ints_n(r, "strides", w->spatial, 1, w->strides));
    HONE_TRY(onnx_attr_ints_n(r, "dilations", w->spatial, 1, w->dilations));
    HONE_TRY(onnx_attr_ints_n(r, "pads", 2 * w->spatial, 0, w->pads));
    HONE_TRY(onnx_check_range("kernel_shape", w->spatial, w->kernel, 1));
    HONE_TRY(onnx_check_range("strides", w->spatial, w->strides, 1));
    HONE_TRY(onnx_check_range("dilations", w->spatial, w->dilations, 1));
    return onnx_check_range("pads", 2 * w->spatial, w->pads, 0);
}

hone_status onnx_whole_window(onnx_reader *r, const hone_sinfo *data, onnx_window *w) {
    HONE_TRY(onnx_read_window(r, w));
    return auto_pads(r, data, w);
}

hone_status onnx_pool_window(onnx_reader *r, const hone_sinfo *data, onnx_window *out) {
    HONE_TRY(onnx_spatial_rank(data, &out->spatial));
    if (!onnx_attr(r, "kernel_shape")) {
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'kernel_shape' is missing");
    }
    HONE_TRY(onnx_attr_ints_n(r, "kernel_shape", out->spatial, 1, out->kernel));
    return onnx_whole_window(r, data, out);
}

/* Data with `value` around it, as the window says, which says nothing of it afterwards. */
hone_status onnx_pad_with(onnx_reader *r, int64_t value, onnx_window *w, hone_garg *io) {
    int64_t widths[2 * (ONNX_MAX_SPATIAL + 2)] = {0};
    bool is_needed = false;
    for (uint32_t i = 0; i < w->spatial; i++) {
        is_needed |= w->pads[i] != 0 || w->pads[i + w->spatial] != 0;
        widths[2 * (i + 2)] = w->pads[i];
        widths[2 * (i + 2) + 1] = w->pads[i + w->spatial];
        w->pads[i] = w->pads[i + w->spatial] = 0;
    }
    if (!is_needed) return HONE_OK;
    hone_attr attrs[] = {
        {"pad_width", onnx_ints_value(r, 2 * (w->spatial + 2), widths)},
        {"pad_value",    HONE_VALUE_OF_INT(value)                    },
    };
    return onnx_emit(r, "nn.pad", 1, io, 2, attrs, io);
}

/* ---- pads that come later ---- */

static int64_t reach_of(const onnx_window *w, uint32_t i) {
    return (w->kernel[i] - 1) * w->dilations[i] + 1;
}

/* The indices of the data along axis i that its windows take, from some below 0 on. How many there
 * are is a size of its own: a kernel that gets them knows by it how many windows there are. */
static hone_status same_indices(onnx_reader *r, const onnx_window *w, uint32_t i,
                                const hone_expr *extent, hone_garg *out) {
    const int64_t stride = w->strides[i];
    const hone_expr *length;
    hone_garg size, total, front;
    HONE_TRY(onnx_sizes_tensor(r, 1, &extent, &size));
    HONE_TRY(onnx_with_scalar(r, "subtract", size, 1, &total));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", total, (double)stride, &total));
    HONE_TRY(onnx_with_scalar(r, "multiply", total, (double)stride, &total));
    HONE_TRY(onnx_with_scalar(r, "add", total, (double)reach_of(w, i), &total));
    HONE_TRY(onnx_emit_size(r, total, -1, &length));
    HONE_TRY(onnx_emit2(r, "subtract", total, size, &total));
    HONE_TRY(onnx_with_scalar(r, "maximum", total, 0, &total));
    if (!w->is_upper) HONE_TRY(onnx_with_scalar(r, "add", total, 1, &total));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", total, 2, &front));
    HONE_TRY(onnx_indices(r, length, 1, 0, out));
    return onnx_emit2(r, "subtract", *out, front, out);
}

hone_status onnx_pad_later(onnx_reader *r, const onnx_window *w, int64_t value, hone_garg *io) {
    for (uint32_t i = 0; i < w->spatial; i++) {
        const hone_sinfo *info;
        hone_garg indices;
        const int64_t most = reach_of(w, i) - 1, front = (most + !w->is_upper) / 2;
        if (!w->comes_later[i]) continue;
        HONE_TRY(onnx_info(r, io, &info));
        HONE_TRY(same_indices(r, w, i, info->shape[i + 2], &indices));
        onnx_window widest = {.spatial = w->spatial};
        widest.pads[i] = front;
        widest.pads[i + w->spatial] = most - front;
        HONE_TRY(onnx_pad_with(r, value, &widest, io));
        if (front) HONE_TRY(onnx_with_scalar(r, "add", indices, (double)front, &indices));
        HONE_TRY(onnx_emit_take(r, *io, indices, i + 2, io));
    }
    return HONE_OK;
}

hone_status onnx_repeat_edges(onnx_reader *r, const onnx_window *w, hone_garg *io) {
    for (uint32_t i = 0; i < w->spatial; i++) {
        const hone_sinfo *info;
        hone_garg indices, last;
        if (!w->comes_later[i]) continue;
        HONE_TRY(onnx_info(r, io, &info));
        HONE_TRY(same_indices(r, w, i, info->shape[i + 2], &indices));
        HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[i + 2], &last));
        HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
        HONE_TRY(onnx_emit2(r, "minimum", indices, last, &indices));
        HONE_TRY(onnx_with_scalar(r, "maximum", indices, 0, &indices));
        HONE_TRY(onnx_emit_take(r, *io, indices, i + 2, io));
    }
    return HONE_OK;
}

hone_status onnx_refuse_later(const onnx_window *w) {
    if (!w->has_later_pads) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "attribute 'auto_pad' with strides needs known extents; give them with "
                      "--shape");
}
