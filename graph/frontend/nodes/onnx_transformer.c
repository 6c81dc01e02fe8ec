/* graph/frontend/nodes/onnx_transformer.c - what transformers are made of: normalisations of newer
 * operator sets, rotary positions, attention, and the operators of the domain com.microsoft that
 * exporters write for these. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- normalisations ---- */

static hone_status mean_along(onnx_reader *r, hone_garg x, int32_t first, int32_t rank,
                              hone_garg *out) {
    int64_t axes[HONE_MAX_RANK];
    for (int32_t i = first; i < rank; i++)
        axes[i - first] = i;
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, (uint32_t)(rank - first), axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    return onnx_emit(r, "mean", 1, &x, 2, attrs, out);
}

/* x / sqrt(mean of squares + epsilon), over the dimensions from `first` on */
hone_status onnx_by_mean_square(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                                hone_garg *out) {
    const hone_sinfo *info;
    hone_garg square;
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(onnx_emit2(r, "multiply", x, x, &square));
    HONE_TRY(mean_along(r, square, first, info->rank, &square));
    HONE_TRY(onnx_with_scalar(r, "add", square, epsilon, &square));
    HONE_TRY(onnx_emit1(r, "sqrt", square, &square));
    return onnx_emit2(r, "divide", x, square, out);
}

/* (x - mean) / sqrt(variance + epsilon) */
hone_status onnx_standardize(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                             hone_garg *out) {
    const hone_sinfo *info;
    hone_garg mean;
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(mean_along(r, x, first, info->rank, &mean));
    HONE_TRY(onnx_emit2(r, "subtract", x, mean, &x));
    return onnx_by_mean_square(r, x, first, epsilon, out);
}

static hone_status convert_rms_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axis;
    int32_t first;
    double epsilon;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", -1, &axis));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_axis(r, axis, data->rank, &first));
    HONE_TRY(onnx_by_mean_square(r, r->inputs[0], first, epsilon, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, r->inputs[1], out));
    return onnx_keeps_shape(r, &r->inputs[0], out, "the scale");
}

/* A vector as [1, n, 1, ...] of `rank` dimensions. */
static hone_status along_second(onnx_reader *r, hone_garg vector, int32_t rank, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, &vector, &info));
    if (info->rank != 1) return HONE_ERROR(HONE_CODE_INVALID, "scale and bias must be vectors");
    for (int32_t i = 0; i < rank; i++)
        shape[i] = i == 1 ? info->shape[0] : hone_extent_int(&r->ir, 1);
    return onnx_emit_reshape(r, vector, (uint32_t)rank, shape, out);
}

static hone_status scale_and_shift(onnx_reader *r, int32_t rank, hone_garg *io) {
    hone_garg scale, bias, before = *io;
    HONE_TRY(along_second(r, r->inputs[1], rank, &scale));
    HONE_TRY(along_second(r, r->inputs[2], rank, &bias));
    HONE_TRY(onnx_emit2(r, "multiply", *io, scale, io));
    HONE_TRY(onnx_emit2(r, "add", *io, bias, io));
    return onnx_keeps_shape(r, &before, io, "scale or bias");
}

/* [N, groups, the rest of x], for what normalises groups of channels, which come second. That the
 * groups divide them is checked when the model runs where their number comes then: all elements
 * stay. */
static hone_status as_groups(onnx_reader *r, hone_garg x, int64_t groups, hone_garg *out) {
    const hone_sinfo *data;
    HONE_TRY(onnx_info(r, &x, &data));
    int64_t channels = data->rank < 3 ? 0 : hone_expr_const(data->shape[1]);
    bool divides = channels < 0 || (channels > 0 && groups > 0 && channels % groups == 0);
    if (groups < 1 || !divides) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld channels cannot be divided into %lld groups",
                          (long long)channels, (long long)groups);
    }
    const hone_expr *rest = hone_extent_div(&r->ir, data->shape[1], groups);
    for (int32_t i = 2; i < data->rank; i++)
        rest = hone_extent_mul(&r->ir, rest, data->shape[i]);
    const hone_expr *shape[] = {data->shape[0], hone_extent_int(&r->ir, groups), rest};
    return onnx_emit_reshape(r, x, 3, shape, out);
}

hone_status onnx_standardize_groups(onnx_reader *r, hone_garg x, int64_t groups, double epsilon,
                                    hone_garg *out) {
    const hone_sinfo *data;
    HONE_TRY(onnx_info(r, &x, &data));
    HONE_TRY(as_groups(r, x, groups, out));
    HONE_TRY(onnx_standardize(r, *out, 2, epsilon, out));
    return onnx_emit_reshape(r, *out, (uint32_t)data->rank, data->shape, out);
}

/* Up to opset 20 scale and bias were those of groups. */
static hone_status convert_group_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t groups;
    double epsilon;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "num_groups", 0, &groups));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    if (r->opset >= 21) {
        HONE_TRY(onnx_standardize_groups(r, r->inputs[0], groups, epsilon, out));
        return scale_and_shift(r, data->rank, out);
    }
    HONE_TRY(as_groups(r, r->inputs[0], groups, out));
    HONE_TRY(onnx_standardize(r, *out, 2, epsilon, out));
    HONE_TRY(scale_and_shift(r, 3, out));
    return onnx_emit_reshape(r, *out, (uint32_t)data->rank, data->shape, out);
}

/* ---- rotary positions ---- */

/* A table of cosines or sines as [batch, 1, sequence, half]; a position that the table does not
 * have is an index out of range. */
static hone_status rotations(onnx_reader *r, const onnx_rotation *t, hone_garg *io) {
    const hone_sinfo *info;
    if (t->positions.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_info(r, io, &info));
        if (info->rank != 2)
            return HONE_ERROR(HONE_CODE_INVALID, "a table of positions must have two dimensions");
        HONE_TRY(onnx_emit_take(r, *io, t->positions, 0, io));
    }
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "cosines and sines must have 3 dimensions");
    const hone_expr *shape[] = {info->shape[0], hone_extent_int(&r->ir, 1), info->shape[1],
                                info->shape[2]};
    return onnx_emit_reshape(r, *io, 4, shape, io);
}

/* The two numbers that turn together: neighbours, or from both halves. */
static hone_status rotary_sides(onnx_reader *r, hone_garg x, int64_t size, bool is_interleaved,
                                hone_garg *sides) {
    const hone_sinfo *info;
    if (!is_interleaved) {
        HONE_TRY(onnx_emit_slice(r, x, 3, 0, size / 2, &sides[0]));
        return onnx_emit_slice(r, x, 3, size / 2, size, &sides[1]);
    }
    HONE_TRY(onnx_info(r, &x, &info));
    const hone_expr *shape[5], *half[4];
    memcpy(shape, info->shape, 3 * sizeof *shape);
    memcpy(half, info->shape, 3 * sizeof *half);
    shape[3] = half[3] = hone_extent_int(&r->ir, size / 2);
    shape[4] = hone_extent_int(&r->ir, 2);
    HONE_TRY(onnx_emit_reshape(r, x, 5, shape, &x));
    for (int64_t i = 0; i < 2; i++) {
        HONE_TRY(onnx_emit_slice(r, x, 4, i, i + 1, &sides[i]));
        HONE_TRY(onnx_emit_reshape(r, sides[i], 4, half, &sides[i]));
    }
    return HONE_OK;
}

static hone_status join_sides(onnx_reader *r, const hone_garg *sides, const hone_sinfo *info,
                              bool is_interleaved, hone_garg *out) {
    hone_garg parts[2] = {sides[0], sides[1]};
    const hone_sinfo *half;
    HONE_TRY(onnx_info(r, &parts[0], &half));
    if (!is_interleaved) return onnx_emit_concat(r, 2, parts, 3, out);
    const hone_expr *shape[5];
    memcpy(shape, half->shape, 4 * sizeof *shape);
    shape[4] = hone_extent_int(&r->ir, 1);
    for (int i = 0; i < 2; i++)
        HONE_TRY(onnx_emit_reshape(r, parts[i], 5, shape, &parts[i]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 4, out));
    return onnx_emit_reshape(r, *out, 4, info->shape, out);
}

/* (a cos - b sin, b cos + a sin) */
static hone_status turn_sides(onnx_reader *r, onnx_rotation t, hone_garg *sides) {
    hone_garg terms[4];
    HONE_TRY(rotations(r, &t, &t.cosines));
    HONE_TRY(rotations(r, &t, &t.sines));
    HONE_TRY(onnx_emit2(r, "multiply", sides[0], t.cosines, &terms[0]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[1], t.sines, &terms[1]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[1], t.cosines, &terms[2]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[0], t.sines, &terms[3]));
    HONE_TRY(onnx_emit2(r, "subtract", terms[0], terms[1], &sides[0]));
    return onnx_emit2(r, "add", terms[2], terms[3], &sides[1]);
}

hone_status onnx_rotate(onnx_reader *r, const onnx_rotation *t, hone_garg x, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg parts[2], sides[2];
    HONE_TRY(onnx_info(r, &x, &info));
    int64_t size = hone_expr_const(info->shape[3]), turned = t->count ? t->count : size;
    if (size < 0) return onnx_unknown_size(3);
    if (turned < 2 || turned % 2 || turned > size) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld of %lld numbers cannot be turned",
                          (long long)turned, (long long)size);
    }
    HONE_TRY(onnx_emit_slice(r, x, 3, 0, turned, &parts[0]));
    HONE_TRY(onnx_info(r, &parts[0], &info));
    HONE_TRY(rotary_sides(r, parts[0], turned, t->is_interleaved, sides));
    HONE_TRY(turn_sides(r, *t, sides));
    HONE_TRY(join_sides(r, sides, info, t->is_interleaved, out));
    if (turned == size) return HONE_OK;
    parts[0] = *out;
    HONE_TRY(onnx_emit_slice(r, x, 3, turned, size, &parts[1]));
    return onnx_emit_concat(r, 2, parts, 3, out);
}

hone_status onnx_convert_rotary(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *given;
    int64_t heads, interleaved;
    hone_garg x;
    onnx_rotation t = {r->inputs[1], r->inputs[2], {.kind = HONE_GARG_NONE}, 0, false};
    if (onnx_has_input(r, 3)) t.positions = r->inputs[3];
    HONE_TRY(onnx_input_info(r, 0, &given));
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &heads));
    HONE_TRY(onnx_attr_int(r, "interleaved", 0, &interleaved));
    HONE_TRY(onnx_attr_int(r, "rotary_embedding_dim", 0, &t.count));
    t.is_interleaved = interleaved != 0;
    HONE_TRY(onnx_split_heads(r, r->inputs[0], heads, &x));
    HONE_TRY(onnx_rotate(r, &t, x, out));
    return given->rank == 3 ? onnx_join_heads(r, out) : HONE_OK;
}

/* ---- causal convolutions ---- */

/* What came before the data: the past, or nothing. */
static hone_status with_past(onnx_reader *r, const hone_sinfo *data, const hone_expr *before,
                             hone_garg *out) {
    const hone_expr *shape[3] = {data->shape[0], data->shape[1], before};
    hone_garg parts[2] = {r->inputs[3], r->inputs[0]}, target[2];
    if (!onnx_has_input(r, 3)) {
        HONE_TRY(onnx_scalar(r, data->dtype, 0, &target[0]));
        HONE_TRY(onnx_make_ints(r, 3, shape, 1, &target[1]));
        HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &parts[0]));
    }
    return onnx_emit_concat(r, 2, parts, 2, out);
}

/* Each channel by a kernel of its own, of what is there and came before; the end of that is the
 * state of the next call. */
static hone_status convert_causal_conv(onnx_reader *r, hone_garg *out) {
    static const char *const words[] = {"none", "silu", "swish", NULL};
    const hone_sinfo *data, *weight;
    uint32_t word;
    hone_garg sides[2], bias;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &weight));
    HONE_TRY(onnx_attr_word(r, "activation", words[0], words, &word));
    if (data->rank != 3 || weight->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "%d and %d dimensions", data->rank, weight->rank);
    int64_t channels = hone_expr_const(weight->shape[0]);
    int64_t length = hone_expr_const(weight->shape[2]);
    if (channels < 0 || length < 1)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a kernel of unknown size");
    HONE_TRY(with_past(r, data, hone_extent_int(&r->ir, length - 1), &sides[0]));
    sides[1] = r->inputs[1];
    hone_attr attr = {"groups", HONE_VALUE_OF_INT(channels)};
    HONE_TRY(onnx_emit(r, "nn.conv1d", 2, sides, 1, &attr, out));
    if (onnx_has_input(r, 2)) {
        const hone_expr *shape[] = {weight->shape[0], hone_extent_int(&r->ir, 1)};
        HONE_TRY(onnx_emit_reshape(r, r->inputs[2], 2, shape, &bias));
        HONE_TRY(onnx_emit2(r, "add", *out, bias, out));
    }
    if (word) {
        HONE_TRY(onnx_emit1(r, "sigmoid", *out, &bias));
        HONE_TRY(onnx_emit2(r, "multiply", *out, bias, out));
    }
    if (r->output_count < 2) return HONE_OK;
    if (length > 1) return onnx_emit_slice(r, sides[0], 2, 1 - length, INT64_MAX, &out[1]);
    return onnx_emit_slice(r, sides[0], 2, 0, 0, &out[1]);
}

const onnx_converter onnx_transformer_converters[] = {
    {"RMSNormalization",             convert_rms_norm, 2, 2, 1, "axis epsilon stash_type", NULL},
    {"SimplifiedLayerNormalization",                             convert_rms_norm, 2, 2, 1, "axis epsilon stash_type", NULL},
    {"CausalConvWithState",                             convert_causal_conv, 2, 4, 2, "activation", NULL},
    {"GroupNormalization",                          convert_group_norm, 3, 3, 1, "epsilon num_groups stash_type", NULL},
    {"RotaryEmbedding", onnx_convert_rotary, 3, 4, 1, "interleaved num_heads rotary_embedding_dim",
     NULL},
    {0                            },
};
