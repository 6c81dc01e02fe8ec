/* graph/frontend/nodes/onnx_nn.c - convolutions, pools, normalisations, softmax. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

static hone_status numbered(onnx_reader *r, const char *stem, uint32_t spatial, const char **out) {
    *out = hone_arena_printf(r->arena, "%s%ud", stem, spatial);
    return *out ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

/* ---- convolution ---- */

/* A vector over the channels, of which there is a number for each, as [1, C, 1, ...]. */
static hone_status channel_shape(onnx_reader *r, hone_garg vector, const hone_expr *channels,
                                 uint32_t spatial, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &vector, &info));
    if (info->rank != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "the bias must be a vector, has %d dimensions",
                          info->rank);
    }
    if (hone_extent_differs(info->shape[0], channels)) {
        return HONE_ERROR(HONE_CODE_INVALID, "the bias has %lld elements for %lld channels",
                          (long long)info->shape[0]->u.i, (long long)channels->u.i);
    }
    const hone_expr *shape[ONNX_MAX_SPATIAL + 2];
    for (uint32_t i = 0; i < spatial + 2; i++)
        shape[i] = hone_extent_int(&r->ir, 1);
    shape[1] = info->shape[0];
    return onnx_emit_reshape(r, vector, spatial + 2, shape, out);
}

/* The extents of the kernel are those of the weight, and as the file says: what a weight that comes
 * at run time leaves open the attribute tells, or the caller, or the run. */
static hone_status kernel_of_weight(onnx_reader *r, const hone_sinfo *data, hone_garg *io_weight,
                                    onnx_window *w) {
    int64_t stated[ONNX_MAX_SPATIAL];
    const hone_sinfo *weight;
    HONE_TRY(onnx_demand_given_sizes(r, io_weight));
    HONE_TRY(onnx_info(r, io_weight, &weight));
    if (weight->rank != data->rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "the weight has %d dimensions, the data has %d",
                          weight->rank, data->rank);
    }
    bool is_stated = onnx_attr(r, "kernel_shape") != NULL;
    HONE_TRY(onnx_attr_ints_n(r, "kernel_shape", w->spatial, 0, stated));
    for (uint32_t i = 0; i < w->spatial; i++) {
        w->kernel[i] = hone_expr_const(weight->shape[i + 2]);
        if (w->kernel[i] < 0 && !is_stated) {
            w->kernel[i] = 1;
            w->is_open = true;
            continue;
        }
        if (w->kernel[i] < 0) {
            w->kernel[i] = stated[i];
            HONE_TRY(onnx_demand_size(r, io_weight, (int32_t)i + 2, stated[i]));
        }
        if (is_stated && stated[i] != w->kernel[i]) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "attribute 'kernel_shape' says %lld, the weight has %lld",
                              (long long)stated[i], (long long)w->kernel[i]);
        }
    }
    return HONE_OK;
}

static hone_status add_bias(onnx_reader *r, const hone_expr *channels, uint32_t spatial,
                            hone_dtype dtype, hone_garg *io) {
    hone_garg bias;
    if (!onnx_has_input(r, 2)) return HONE_OK;
    HONE_TRY(channel_shape(r, r->inputs[2], channels, spatial, &bias));
    HONE_TRY(onnx_widen(r, &bias));
    HONE_TRY(onnx_emit2(r, "add", *io, bias, io));
    return onnx_emit_cast(r, *io, dtype, io);
}

/* The data has so many times the channels that are dimension d of the weight: what the one leaves
 * open the other tells. */
static hone_status know_channels(onnx_reader *r, hone_garg *io_data, hone_garg *io_weight,
                                 int32_t d, int64_t times) {
    const hone_sinfo *data, *weight;
    HONE_TRY(onnx_info(r, io_data, &data));
    HONE_TRY(onnx_info(r, io_weight, &weight));
    if (data->rank < 2 || weight->rank < 2) return HONE_OK;
    if (times == 1) return onnx_unify_dims(r, io_data, 1, io_weight, d);
    int64_t all = hone_expr_const(data->shape[1]), some = hone_expr_const(weight->shape[d]), made;
    bool tells = all < 0 && some > 0 && !__builtin_mul_overflow(some, times, &made);
    return tells ? onnx_demand_size(r, io_data, 1, made) : HONE_OK;
}

hone_status onnx_emit_conv(onnx_reader *r, const hone_garg *sides, const char *out_dtype,
                           int64_t filler, hone_garg *out) {
    const hone_sinfo *data;
    onnx_window w = {0};
    int64_t groups;
    hone_garg args[2] = {sides[0], sides[1]};
    HONE_TRY(onnx_info(r, &sides[0], &data));
    HONE_TRY(onnx_spatial_rank(data, &w.spatial));
    HONE_TRY(kernel_of_weight(r, data, &args[1], &w));
    HONE_TRY(onnx_attr_int(r, "group", 1, &groups));
    HONE_TRY(know_channels(r, &args[0], &args[1], 1, groups));
    HONE_TRY(onnx_whole_window(r, data, &w));
    if (filler != 0 || w.is_open) HONE_TRY(onnx_pad_with(r, filler, &w, &args[0]));
    HONE_TRY(onnx_pad_later(r, &w, filler, &args[0]));
    if (w.is_open) return onnx_emit_open_conv(r, &w, groups, args, out_dtype, out);
    const char *op;
    HONE_TRY(numbered(r, "nn.conv", w.spatial, &op));
    hone_attr attrs[] = {
        {"strides",                  onnx_ints_value(r, w.spatial,      w.strides)},
        {"padding",                          onnx_ints_value(r,                                   2 * w.spatial,       w.pads)},
        {"dilation",                   onnx_ints_value(r,                                    w.spatial,                                   w.dilations)},
        {"groups",                 HONE_VALUE_OF_INT(groups)},
        {"out_dtype",onnx_text_value(r,                out_dtype ? out_dtype : "")},
    };
    return onnx_emit(r, op, 2, args, out_dtype ? 5 : 4, attrs, out);
}

static hone_status convert_conv(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data, *weight;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &weight));
    hone_dtype dtype = data->dtype;
    bool is_rounded_later = onnx_has_input(r, 2) && hone_dtype_is_short_float(dtype);
    HONE_TRY(onnx_emit_conv(r, r->inputs, is_rounded_later ? "float32" : NULL, 0, out));
    return add_bias(r, weight->shape[0], (uint32_t)data->rank - 2, dtype, out);
}

/* ---- transposed convolution ---- */

/* Where the size of the result is said, or follows from auto_pad, the padding follows from it: what
 * is odd stands in front, but for SAME_UPPER. A result that is larger than what the kernel makes
 * ends with nothing but the bias. */
static hone_status fit_output(const hone_sinfo *data, onnx_window *w, bool is_upper,
                              const int64_t *wanted, int64_t *more) {
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t extent = hone_expr_const(data->shape[i + 2]);
        if (extent < 0 && wanted) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "the size of dimension %u is not known; give "
                              "it with --shape",
                              i + 2);
        }
        if (extent < 0) extent = 1; /* of SAME the padding is the same for all */
        int64_t size = wanted ? wanted[i] : extent * w->strides[i];
        int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
        int64_t total = (extent - 1) * w->strides[i] + reach + more[i] - size;
        if (total < 0) more[i] -= total;
        if (total < 0) total = 0;
        int64_t small = total / 2, large = total - small;
        w->pads[i] = is_upper ? small : large;
        w->pads[i + w->spatial] = is_upper ? large : small;
    }
    return HONE_OK;
}

static hone_status read_transposed(onnx_reader *r, const hone_sinfo *data, onnx_window *w,
                                   int64_t *more) {
    int64_t wanted[ONNX_MAX_SPATIAL];
    char mode[64];
    bool has_size = onnx_attr(r, "output_shape") != NULL;
    HONE_TRY(onnx_attr_ints_n(r, "strides", w->spatial, 1, w->strides));
    HONE_TRY(onnx_attr_ints_n(r, "dilations", w->spatial, 1, w->dilations));
    HONE_TRY(onnx_attr_ints_n(r, "pads", 2 * w->spatial, 0, w->pads));
    HONE_TRY(onnx_attr_ints_n(r, "output_padding", w->spatial, 0, more));
    HONE_TRY(onnx_attr_ints_n(r, "output_shape", w->spatial, 1, wanted));
    HONE_TRY(onnx_attr_text(r, "auto_pad", "NOTSET", mode));
    HONE_TRY(onnx_check_range("strides", w->spatial, w->strides, 1));
    HONE_TRY(onnx_check_range("dilations", w->spatial, w->dilations, 1));
    HONE_TRY(onnx_check_range("pads", 2 * w->spatial, w->pads, 0));
    HONE_TRY(onnx_check_range("output_padding", w->spatial, more, 0));
    HONE_TRY(onnx_check_range("output_shape", w->spatial, wanted, 1));
    bool is_same = strncmp(mode, "SAME_", 5) == 0;
    if (!has_size && !is_same) return HONE_OK;
    return fit_output(data, w, strcmp(mode, "SAME_UPPER") == 0, has_size ? wanted : NULL, more);
}

/* One element, as a model that makes images begins with: each tap is multiplied with it once. */
static bool is_alone(const hone_sinfo *data, const hone_sinfo *weight, const onnx_window *w,
                     const int64_t *more) {
    bool is_alone = hone_extent_same(data->shape[1], weight->shape[0]);
    for (uint32_t i = 0; i < w->spatial && is_alone; i++) {
        int64_t left = w->kernel[i] - w->pads[i] - w->pads[i + w->spatial];
        is_alone = hone_expr_is_int_value(data->shape[i + 2], 1) && w->dilations[i] == 1 &&
                   more[i] == 0 && left > 0;
    }
    return is_alone;
}

/* The channels by the taps that padding leaves. */
static hone_status multiply_alone(onnx_reader *r, const hone_sinfo *data, const hone_sinfo *weight,
                                  const onnx_window *w, hone_garg *out) {
    const hone_expr *made[ONNX_MAX_SPATIAL + 2] = {data->shape[0], weight->shape[1]};
    const hone_expr *rows[] = {data->shape[0], data->shape[1]};
    const hone_expr *columns[] = {data->shape[1], weight->shape[1]};
    hone_garg args[2] = {r->inputs[0], r->inputs[1]};
    hone_attr attrs[1];
    uint32_t attr_count = 0;
    for (uint32_t i = 0; i < w->spatial; i++) {
        int64_t begin = w->pads[i], end = w->kernel[i] - w->pads[i + w->spatial];
        if (end - begin < w->kernel[i])
            HONE_TRY(onnx_emit_slice(r, args[1], i + 2, begin, end, &args[1]));
        made[i + 2] = hone_extent_int(&r->ir, end - begin);
        columns[1] = hone_extent_mul(&r->ir, columns[1], made[i + 2]);
    }
    HONE_TRY(onnx_emit_reshape(r, args[0], 2, rows, &args[0]));
    HONE_TRY(onnx_emit_reshape(r, args[1], 2, columns, &args[1]));
    if (onnx_has_input(r, 2)) onnx_wide_product(r, data->dtype, attrs, &attr_count);
    HONE_TRY(onnx_emit(r, "matmul", 2, args, attr_count, attrs, out));
    return onnx_emit_reshape(r, *out, w->spatial + 2, made, out);
}

static hone_status emit_transposed(onnx_reader *r, const hone_sinfo *data, const onnx_window *w,
                                   int64_t groups, const int64_t *more, hone_garg *out) {
    const char *op = hone_arena_printf(r->arena, "nn.conv%ud_transpose", w->spatial);
    if (!op) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    hone_attr attrs[6] = {
        {"strides",          onnx_ints_value(r,    w->spatial, w->strides)},
        {"padding",       onnx_ints_value(r,                           2 * w->spatial, w->pads)},
        {"output_padding",onnx_ints_value(r,w->spatial, more)},
        {"dilation",                  onnx_ints_value(r,                       w->spatial, w->dilations)},
        {"groups",        HONE_VALUE_OF_INT(groups)                                                },
    };
    uint32_t attr_count = 5;
    if (onnx_has_input(r, 2)) onnx_wide_product(r, data->dtype, attrs, &attr_count);
    return onnx_emit(r, op, 2, r->inputs, attr_count, attrs, out);
}

static hone_status convert_conv_transpose(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data, *weight, *made;
    onnx_window w = {0};
    int64_t groups, more[ONNX_MAX_SPATIAL];
    HONE_TRY(know_channels(r, &r->inputs[0], &r->inputs[1], 0, 1));
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_spatial_rank(data, &w.spatial));
    HONE_TRY(kernel_of_weight(r, data, &r->inputs[1], &w));
    if (w.is_open) return onnx_open_kernel();
    HONE_TRY(onnx_input_info(r, 1, &weight));
    HONE_TRY(onnx_attr_int(r, "group", 1, &groups));
    HONE_TRY(read_transposed(r, data, &w, more));
    HONE_TRY(groups == 1 && is_alone(data, weight, &w, more)
                 ? multiply_alone(r, data, weight, &w, out)
                 : emit_transposed(r, data, &w, groups, more, out));
    HONE_TRY(onnx_info(r, out, &made));
    return add_bias(r, made->shape[1], w.spatial, data->dtype, out);
}

/* ---- pools ---- */

/* Ones along the axes of space, [1, 1, ...] of the type of the data. */
static hone_status ones_like(onnx_reader *r, const onnx_window *w, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *shape[ONNX_MAX_SPATIAL + 2];
    hone_garg target[2];
    HONE_TRY(onnx_input_info(r, 0, &data));
    shape[0] = shape[1] = hone_extent_int(&r->ir, 1);
    for (uint32_t i = 0; i < w->spatial; i++)
        shape[i + 2] = data->shape[i + 2];
    HONE_TRY(onnx_scalar(r, data->dtype, 1, &target[0]));
    HONE_TRY(onnx_make_ints(r, w->spatial + 2, shape, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, out);
}

static hone_status emit_pool(onnx_reader *r, const onnx_window *w, bool is_max, bool counts_pads,
                             hone_garg x, hone_garg *out) {
    int64_t ceil_mode;
    const char *op;
    HONE_TRY(onnx_attr_int(r, "ceil_mode", 0, &ceil_mode));
    HONE_TRY(numbered(r, is_max ? "nn.max_pool" : "nn.avg_pool", w->spatial, &op));
    hone_attr attrs[] = {
        {"pool_size",        onnx_ints_value(r,          w->spatial, w->kernel)},
        {"strides",        onnx_ints_value(r,                                  w->spatial, w->strides)},
        {"padding",onnx_ints_value(r,2 * w->spatial, w->pads)},
        {"dilation",                  onnx_ints_value(r,                                    w->spatial, w->dilations)},
        {"ceil_mode",    HONE_VALUE_OF_BOOL(ceil_mode != 0 && !w->has_later_pads)                                             },
        {"count_include_pad",         HONE_VALUE_OF_BOOL(counts_pads)}
    };
    return onnx_emit(r, op, 1, &x, HONE_COUNT(attrs), attrs, out);
}

/* Pads that come later: maxima find the first and last elements in the pads, which windows that
 * reach there have, too, but for dilated ones; means are of zeros, and of how many elements there
 * are. */
static hone_status pool_later(onnx_reader *r, const onnx_window *w, bool is_max, bool counts_pads,
                              hone_garg *out) {
    hone_garg x = r->inputs[0], ones, share;
    for (uint32_t i = 0; is_max && i < w->spatial; i++)
        if (w->comes_later[i] && w->dilations[i] != 1) return onnx_refuse_later(w);
    if (is_max) {
        HONE_TRY(onnx_repeat_edges(r, w, &x));
        return emit_pool(r, w, true, false, x, out);
    }
    HONE_TRY(onnx_pad_later(r, w, 0, &x));
    HONE_TRY(emit_pool(r, w, false, counts_pads, x, out));
    if (counts_pads) return HONE_OK;
    HONE_TRY(ones_like(r, w, &ones));
    HONE_TRY(onnx_pad_later(r, w, 0, &ones));
    HONE_TRY(emit_pool(r, w, false, false, ones, &share));
    return onnx_emit2(r, "divide", *out, share, out);
}

static hone_status convert_pool(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    onnx_window w = {0};
    int64_t count_pad, storage_order;
    const bool is_max = strcmp(r->node->op_type, "MaxPool") == 0;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_pool_window(r, data, &w));
    HONE_TRY(onnx_attr_int(r, "count_include_pad", 0, &count_pad));
    HONE_TRY(onnx_attr_int(r, "storage_order", 0, &storage_order));
    if (w.has_later_pads) {
        if (r->output_count > 1) return onnx_refuse_later(&w);
        return pool_later(r, &w, is_max, count_pad != 0, out);
    }
    HONE_TRY(emit_pool(r, &w, is_max, count_pad != 0, r->inputs[0], out));
    if (r->output_count < 2) return HONE_OK;
    return onnx_pool_indices(r, &w, storage_order != 0, out[0], &out[1]);
}

static bool has_known_space(const hone_sinfo *data) {
    for (int32_t i = 2; i < data->rank; i++)
        if (!hone_expr_is_int(data->shape[i])) return false;
    return true;
}

/* A mean or maximum over everything behind the channels. */
static hone_status convert_global_pool(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axes[HONE_MAX_RANK], ones[ONNX_MAX_SPATIAL] = {1, 1, 1};
    bool is_mean = strcmp(r->node->op_type, "GlobalAveragePool") == 0;
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank < 2) return HONE_ERROR(HONE_CODE_INVALID, "the data has no channels");
    bool is_pool = data->rank >= 3 && data->rank <= ONNX_MAX_SPATIAL + 2 && has_known_space(data);
    if (is_mean && is_pool) {
        const char *op;
        uint32_t spatial = (uint32_t)data->rank - 2;
        HONE_TRY(numbered(r, "nn.adaptive_avg_pool", spatial, &op));
        hone_attr attr = {"output_size", onnx_ints_value(r, spatial, ones)};
        return onnx_emit(r, op, 1, r->inputs, 1, &attr, out);
    }
    for (int32_t i = 2; i < data->rank; i++)
        axes[i - 2] = i;
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, (uint32_t)data->rank - 2, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    return onnx_emit(r, is_mean ? "mean" : "max", 1, r->inputs, 2, attrs, out);
}

/* ---- normalisations ---- */

/* number * old + (1 - number) * now, for each channel */
static hone_status moved_average(onnx_reader *r, double number, hone_garg old, hone_garg now,
                                 hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "multiply", old, number, &old));
    HONE_TRY(onnx_with_scalar(r, "multiply", now, 1 - number, &now));
    return onnx_emit2(r, "add", old, now, out);
}

/* Mean and variance are those of the batch. Since opset 14. */
static hone_status batch_norm_in_training(onnx_reader *r, double epsilon, double momentum,
                                          hone_garg *out) {
    const hone_sinfo *data;
    int64_t axes[HONE_MAX_RANK];
    uint32_t count = 0;
    hone_dtype narrow;
    hone_garg away, tuple;
    HONE_TRY(onnx_widen_inputs(r, &narrow));
    hone_garg args[5] = {r->inputs[0], r->inputs[1], r->inputs[2]};
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank < 2) return HONE_ERROR(HONE_CODE_INVALID, "the data has no channels");
    for (int32_t d = 0; d < data->rank; d++)
        if (d != 1) axes[count++] = d;
    HONE_TRY(onnx_spread(r, r->inputs[0], count, axes, &args[3], &away, &args[4]));
    for (uint32_t i = 3; i < 5; i++) {
        HONE_TRY(onnx_emit_reshape(r, args[i], 1, &data->shape[1], &args[i]));
        HONE_TRY(moved_average(r, momentum, r->inputs[i], args[i], &out[i - 2]));
        HONE_TRY(onnx_narrow(r, narrow, &out[i - 2]));
    }
    hone_attr attrs[] = {
        {"axis",    HONE_VALUE_OF_INT(1)        },
        {"epsilon", HONE_VALUE_OF_FLOAT(epsilon)}
    };
    HONE_TRY(onnx_emit(r, "nn.batch_norm", 5, args, 2, attrs, &tuple));
    HONE_TRY(onnx_emit_get(r, tuple, 0, out));
    return onnx_narrow(r, narrow, out);
}

static hone_status convert_batch_norm(onnx_reader *r, hone_garg *out) {
    double epsilon, momentum;
    int64_t spatial, training, is_test;
    hone_garg tuple;
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_attr_float(r, "momentum", 0.9, &momentum));
    HONE_TRY(onnx_attr_int(r, "spatial", 1, &spatial));
    HONE_TRY(onnx_attr_int(r, "training_mode", 0, &training));
    HONE_TRY(onnx_attr_int(r, "is_test", r->opset >= 7, &is_test));
    if (training && spatial && r->opset >= 14)
        return batch_norm_in_training(r, epsilon, momentum, out);
    training |= !is_test;
    if (training || !spatial) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' = %d is not implemented",
                          training ? "training_mode" : "spatial", training ? 1 : 0);
    }
    hone_attr attrs[] = {
        {"axis",    HONE_VALUE_OF_INT(1)        },
        {"epsilon", HONE_VALUE_OF_FLOAT(epsilon)}
    };
    HONE_TRY(onnx_emit(r, "nn.batch_norm", 5, r->inputs, 2, attrs, &tuple));
    return onnx_emit_get(r, tuple, 0, out);
}

/* Scale (input 1) or bias in the normalised shape; what is left out or comes later is a number. */
static hone_status norm_operand(onnx_reader *r, uint32_t input, bool comes_later,
                                const hone_sinfo *data, int32_t first, hone_garg *out) {
    const hone_sinfo *info;
    uint32_t rank = (uint32_t)(data->rank - first);
    *out = r->inputs[input];
    if (comes_later || !onnx_has_input(r, input)) {
        HONE_TRY(onnx_scalar(r, data->dtype, input == 1, out));
    }
    HONE_TRY(onnx_info(r, out, &info));
    bool is_same = info->rank == (int32_t)rank;
    for (uint32_t i = 0; is_same && i < rank; i++)
        is_same = hone_extent_same(info->shape[i], data->shape[(uint32_t)first + i]);
    if (is_same) return HONE_OK;
    hone_garg target[2] = {*out};
    HONE_TRY(onnx_make_ints(r, rank, data->shape + first, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, out);
}

/* Scale and bias differ along dimensions that are not normalised: they are applied behind it. */
static hone_status apply_later(onnx_reader *r, hone_garg *io) {
    HONE_TRY(onnx_emit2(r, "multiply", *io, r->inputs[1], io));
    if (onnx_has_input(r, 2)) HONE_TRY(onnx_emit2(r, "add", *io, r->inputs[2], io));
    return onnx_keeps_shape(r, &r->inputs[0], io, "scale or bias");
}

static hone_status has_outer_dimensions(const onnx_reader *r, int32_t rank, bool *out) {
    *out = false;
    for (uint32_t i = 1; i < 3 && onnx_has_input(r, i); i++) {
        const hone_sinfo *info;
        HONE_TRY(onnx_input_info(r, i, &info));
        *out |= info->rank > rank;
    }
    return HONE_OK;
}

/* Mean and 1 / deviation, which the standard has in float32 whatever the data are. */
static hone_status norm_statistics(onnx_reader *r, uint32_t rank, const int64_t *axes,
                                   double epsilon, hone_garg *out) {
    hone_garg x, away, variance;
    const hone_sinfo *data;
    HONE_TRY(onnx_input_info(r, 0, &data));
    bool is_double = hone_dtype_equal(data->dtype, HONE_DTYPE_F64);
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], is_double ? data->dtype : HONE_DTYPE_F32, &x));
    HONE_TRY(onnx_spread(r, x, rank, axes, &out[1], &away, &variance));
    HONE_TRY(onnx_with_scalar(r, "add", variance, epsilon, &variance));
    HONE_TRY(onnx_emit1(r, "sqrt", variance, &variance));
    hone_garg one;
    HONE_TRY(onnx_scalar_like(r, &variance, 1, &one));
    HONE_TRY(onnx_emit2(r, "divide", one, variance, &out[2]));
    for (uint32_t i = 1; i < 3; i++)
        HONE_TRY(onnx_emit_cast(r, out[i], HONE_DTYPE_F32, &out[i]));
    return HONE_OK;
}

/* Scale and bias lie over the last dimensions of the data. */
static hone_status unify_norm_operands(onnx_reader *r) {
    for (uint32_t i = 1; i < 3 && onnx_has_input(r, i); i++) {
        const hone_sinfo *data, *info;
        HONE_TRY(onnx_input_info(r, 0, &data));
        HONE_TRY(onnx_input_info(r, i, &info));
        int32_t rank = info->rank;
        for (int32_t d = 1; d <= rank && d <= data->rank; d++) {
            HONE_TRY(onnx_unify_dims(r, &r->inputs[0], data->rank - d, &r->inputs[i], rank - d));
        }
    }
    return HONE_OK;
}

static hone_status convert_layer_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axis, stash, axes[HONE_MAX_RANK];
    int32_t first;
    double epsilon;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", -1, &axis));
    HONE_TRY(onnx_attr_int(r, "stash_type", 1, &stash));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_axis(r, axis, data->rank, &first));
    for (int32_t i = first; i < data->rank; i++)
        axes[i - first] = i;
    uint32_t rank = (uint32_t)(data->rank - first);
    bool comes_later;
    hone_dtype narrow = HONE_DTYPE_VOID;
    HONE_TRY(has_outer_dimensions(r, (int32_t)rank, &comes_later));
    if (comes_later) HONE_TRY(onnx_widen_inputs(r, &narrow));
    HONE_TRY(unify_norm_operands(r));
    HONE_TRY(onnx_input_info(r, 0, &data));
    hone_garg args[3] = {r->inputs[0]};
    for (uint32_t i = 1; i < 3; i++)
        HONE_TRY(norm_operand(r, i, comes_later, data, first, &args[i]));
    hone_attr attrs[] = {
        {"axes", onnx_ints_value(r, rank, axes)},
        {"epsilon", HONE_VALUE_OF_FLOAT(epsilon)                 }
    };
    HONE_TRY(onnx_emit(r, "nn.layer_norm", 3, args, 2, attrs, out));
    if (comes_later) HONE_TRY(apply_later(r, out));
    HONE_TRY(onnx_narrow(r, narrow, out));
    return r->output_count > 1 ? norm_statistics(r, rank, axes, epsilon, out) : HONE_OK;
}

static hone_status mean_over_space(onnx_reader *r, hone_garg x, int32_t rank, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK];
    for (int32_t i = 2; i < rank; i++)
        axes[i - 2] = i;
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, (uint32_t)rank - 2, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    return onnx_emit(r, "mean", 1, &x, 2, attrs, out);
}

/* (x - mean) / sqrt(variance + epsilon) * scale + bias, per image and channel */
static hone_status convert_instance_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    double epsilon;
    hone_garg mean, away, spread, number, scale, bias;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    if (data->rank < 3) return HONE_ERROR(HONE_CODE_INVALID, "the data has no space");
    uint32_t spatial = (uint32_t)data->rank - 2;
    if (spatial > ONNX_MAX_SPATIAL) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "too many dimensions");
    HONE_TRY(mean_over_space(r, r->inputs[0], data->rank, &mean));
    HONE_TRY(onnx_emit2(r, "subtract", r->inputs[0], mean, &away));
    HONE_TRY(onnx_emit2(r, "multiply", away, away, &spread));
    HONE_TRY(mean_over_space(r, spread, data->rank, &spread));
    HONE_TRY(onnx_scalar(r, data->dtype, epsilon, &number));
    HONE_TRY(onnx_emit2(r, "add", spread, number, &spread));
    HONE_TRY(onnx_emit1(r, "sqrt", spread, &spread));
    HONE_TRY(channel_shape(r, r->inputs[1], data->shape[1], spatial, &scale));
    HONE_TRY(channel_shape(r, r->inputs[2], data->shape[1], spatial, &bias));
    HONE_TRY(onnx_emit2(r, "divide", away, spread, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, scale, out));
    return onnx_emit2(r, "add", *out, bias, out);
}

/* Up to opset 12 everything from the axis on counts as one dimension. */
static hone_status convert_softmax(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t wanted;
    int32_t axis;
    const char *op = strcmp(r->node->op_type, "Softmax") == 0 ? "nn.softmax" : "nn.log_softmax";
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", r->opset < 13 ? 1 : -1, &wanted));
    if (data->rank == 0) return HONE_ERROR(HONE_CODE_INVALID, "the data is a scalar");
    HONE_TRY(onnx_axis(r, wanted, data->rank, &axis));
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    if (r->opset >= 13 || axis == data->rank - 1) {
        return onnx_emit(r, op, 1, r->inputs, 1, &attr, out);
    }
    const hone_expr *flat = hone_extent_int(&r->ir, 1), *shape[HONE_MAX_RANK];
    for (int32_t i = axis; i < data->rank; i++)
        flat = hone_extent_mul(&r->ir, flat, data->shape[i]);
    memcpy(shape, data->shape, (size_t)axis * sizeof *shape);
    shape[axis] = flat;
    hone_garg rows;
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], (uint32_t)axis + 1, shape, &rows));
    HONE_TRY(onnx_emit(r, op, 1, &rows, 1, &attr, &rows));
    return onnx_emit_reshape(r, rows, (uint32_t)data->rank, data->shape, out);
}

/* Is anything dropped: in training mode, at a ratio that is not 0? */
static hone_status drops(onnx_reader *r, bool *out) {
    *out = false;
    if (!onnx_has_input(r, 2)) return HONE_OK;
    const hone_tensor *training = onnx_constant_of(r, &r->inputs[2]), *ratio = NULL;
    if (!training) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the mode (input 2) must be constant");
    }
    if (hone_tensor_count(training) != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "the mode (input 2) must be a scalar");
    }
    if (hone_tensor_get_f64(training, 0) == 0) return HONE_OK;
    if (onnx_has_input(r, 1)) ratio = onnx_constant_of(r, &r->inputs[1]);
    *out = !ratio || hone_tensor_count(ratio) != 1 || hone_tensor_get_f64(ratio, 0) != 0;
    return HONE_OK;
}

/* Nothing is dropped; the mask is all true, and up to opset 11, where the standard leaves it open,
 * false, as in onnxruntime. Up to opset 9 it has the type of the data. */
static hone_status convert_dropout(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg target[2];
    bool is_random;
    HONE_TRY(drops(r, &is_random));
    if (is_random) {
        hone_garg ratio = r->inputs[1];
        if (!onnx_has_input(r, 1)) HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 0.5, &ratio));
        return onnx_drop_some(r, ratio, out);
    }
    *out = r->inputs[0];
    if (r->output_count < 2) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 0, &info));
    hone_dtype dtype = r->opset < 10 ? info->dtype : HONE_DTYPE_BOOL;
    HONE_TRY(onnx_scalar(r, dtype, r->opset >= 12, &target[0]));
    HONE_TRY(onnx_make_ints(r, (uint32_t)info->rank, info->shape, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &out[1]);
}

#define POOL_ATTRS                                                                                 \
    "auto_pad ceil_mode count_include_pad dilations kernel_shape pads storage_order strides"

const onnx_converter onnx_nn_converters[] = {
    {"Conv",          convert_conv, 2, 3, 1, "auto_pad dilations group kernel_shape pads strides", NULL},
    {"ConvTranspose",              convert_conv_transpose, 2, 3, 1,
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides", NULL},
    {"MaxPool",              convert_pool, 1, 1, 2, POOL_ATTRS, NULL},
    {"AveragePool",           convert_pool, 1, 1, 1, POOL_ATTRS, NULL},
    {"GlobalAveragePool", convert_global_pool, 1, 1, 1, "", NULL},
    {"GlobalMaxPool",              convert_global_pool, 1, 1, 1, "", NULL},
    {"BatchNormalization",              convert_batch_norm, 5, 5, 3,
     "epsilon is_test momentum spatial training_mode", NULL},
    {"LayerNormalization",           convert_layer_norm, 2, 3, 3, "axis epsilon stash_type", NULL},
    {"InstanceNormalization",       convert_instance_norm, 3, 3, 1, "epsilon", NULL},
    {"Softmax",              convert_softmax, 1, 1, 1, "axis", NULL},
    {"LogSoftmax",              convert_softmax, 1, 1, 1, "axis", NULL},
    {"Dropout",           convert_dropout, 1, 3, 2, "is_test ratio seed", NULL},
    {0  },
};
