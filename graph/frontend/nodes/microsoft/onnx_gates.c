/* graph/frontend/nodes/microsoft/onnx_gates.c - what newer language models have between their
 * products, as com.microsoft fuses it: norms by heads or branches, gates, streams beside each other
 * (hyper-connections). All of it is of float32 inside. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- parts of the last dimension ---- */

/* [..., count * size] as [..., count, size]; one of both is -1: what the other leaves. */
static hone_status split_last(onnx_reader *r, int64_t count, int64_t size, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank < 1 || info->rank >= HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_INVALID, "data of %d dimensions", (int)info->rank);
    const hone_expr *whole = info->shape[info->rank - 1];
    int64_t known = hone_expr_const(whole), part = count > 0 ? count : size;
    if (part < 1 || (known >= 0 && known % part != 0))
        return HONE_ERROR(HONE_CODE_INVALID, "%lld numbers cannot be divided into parts of %lld",
                          (long long)known, (long long)part);
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    const hone_expr *rest = hone_extent_div(&r->ir, whole, part);
    shape[info->rank - 1] = count > 0 ? hone_extent_int(&r->ir, count) : rest;
    shape[info->rank] = count > 0 ? rest : hone_extent_int(&r->ir, size);
    return onnx_emit_reshape(r, *io, (uint32_t)info->rank + 1, shape, io);
}

static hone_status shape_as(onnx_reader *r, const hone_sinfo *like, hone_garg *io) {
    return onnx_emit_reshape(r, *io, (uint32_t)like->rank, like->shape, io);
}

static hone_status activate(onnx_reader *r, bool is_silu, hone_garg *io) {
    hone_garg gate;
    HONE_TRY(onnx_emit1(r, "sigmoid", *io, &gate));
    if (is_silu) return onnx_emit2(r, "multiply", *io, gate, io);
    *io = gate;
    return HONE_OK;
}

/* ---- gates ---- */

/* Each step is rounded to the type of the data, as the operator says. */
static hone_status convert_scaled_silu(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg scale;
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_input_info(r, 0, &info));
    *out = r->inputs[0];
    if (onnx_has_input(r, 1)) {
        HONE_TRY(onnx_emit_reshape(r, r->inputs[1], 0, NULL, &scale));
        HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F32, out));
        HONE_TRY(onnx_emit_cast(r, scale, HONE_DTYPE_F32, &scale));
        HONE_TRY(onnx_emit2(r, "multiply", *out, scale, out));
        HONE_TRY(onnx_emit_cast(r, *out, info->dtype, out));
    } else if (alpha != 1) {
        HONE_TRY(onnx_with_scalar(r, "multiply", *out, alpha, out));
    }
    return activate(r, true, out);
}

static hone_status convert_gated_add(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[1], r->inputs[2], out));
    HONE_TRY(onnx_emit2(r, "add", r->inputs[0], *out, out));
    return onnx_keeps_shape(r, &r->inputs[0], out, "the gate");
}

/* The softplus of a decay with its bias, scaled; and how much is renewed. */
static hone_status convert_attention_gate(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit2(r, "add", r->inputs[0], r->inputs[1], &out[0]));
    HONE_TRY(onnx_emit_softplus(r, out[0], &out[0]));
    HONE_TRY(onnx_emit2(r, "multiply", out[0], r->inputs[2], &out[0]));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &out[0], "the bias or the scale"));
    if (r->output_count < 2) return HONE_OK;
    if (!onnx_has_input(r, 3))
        return HONE_ERROR(HONE_CODE_INVALID, "the second output wants input 3");
    return onnx_emit1(r, "sigmoid", r->inputs[3], &out[1]);
}

/* ---- norms ---- */

/* As many numbers as the scale has are normalised together. */
static hone_status convert_gated_norm(onnx_reader *r, hone_garg *out) {
    static const char *const words[] = {"silu", "swish", "sigmoid", NULL};
    const hone_sinfo *info, *scale, *parts;
    hone_garg gate = r->inputs[2];
    uint32_t word;
    double epsilon;
    HONE_TRY(onnx_attr_word(r, "activation", words[0], words, &word));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_input_info(r, 1, &scale));
    int64_t size = scale->rank == 1 ? hone_expr_const(scale->shape[0]) : 0;
    if (size < 0) return onnx_unknown_size(0);
    *out = r->inputs[0];
    HONE_TRY(split_last(r, -1, size, out));
    HONE_TRY(onnx_info(r, out, &parts));
    HONE_TRY(onnx_by_mean_square(r, *out, parts->rank - 1, epsilon, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, r->inputs[1], out));
    HONE_TRY(shape_as(r, info, out));
    HONE_TRY(activate(r, word < 2, &gate));
    HONE_TRY(onnx_emit2(r, "multiply", *out, gate, out));
    return onnx_keeps_shape(r, &r->inputs[0], out, "the gate");
}

/* Input 0 as [..., branches, size], which it is or is flat. */
static hone_status apart(onnx_reader *r, int64_t *out_branches, hone_garg *out) {
    HONE_TRY(onnx_attr_int(r, "num_branches", 0, out_branches));
    *out = r->inputs[0];
    return *out_branches > 0 ? split_last(r, *out_branches, -1, out) : HONE_OK;
}

static hone_status convert_branch_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info, *parts, *given;
    hone_garg scale = onnx_given(r, 1);
    int64_t branches;
    double epsilon;
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(apart(r, &branches, out));
    HONE_TRY(onnx_info(r, out, &parts));
    if (parts->rank < 2)
        return HONE_ERROR(HONE_CODE_INVALID, "branches of %d dimensions", (int)parts->rank);
    HONE_TRY(onnx_by_mean_square(r, *out, parts->rank - 1, epsilon, out));
    if (scale.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_info(r, &scale, &given));
        int64_t all = given->rank == 1 ? hone_expr_const(given->shape[0]) : -1;
        int64_t size = hone_expr_const(parts->shape[parts->rank - 1]);
        if (given->rank == 1 && all < 0 && branches > 0) return onnx_unknown_size(0);
        if (all >= 0 && size > 0 && all != size) HONE_TRY(split_last(r, -1, size, &scale));
        HONE_TRY(onnx_emit2(r, "multiply", *out, scale, out));
    }
    return shape_as(r, info, out);
}

/* ---- streams beside each other ---- */

/* A gate of each branch, or of each of its features, over [..., branches, size]. */
static hone_status over_branches(onnx_reader *r, int64_t branches, const hone_sinfo *streams,
                                 hone_garg *io) {
    const hone_sinfo *info;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank == streams->rank) return HONE_OK;
    if (info->rank != streams->rank - 1)
        return HONE_ERROR(HONE_CODE_INVALID, "a gate of %d dimensions for streams of %d",
                          (int)info->rank, (int)streams->rank);
    int64_t have = hone_expr_const(info->shape[info->rank - 1]);
    int64_t count = hone_expr_const(streams->shape[streams->rank - 2]);
    if (branches > 0 && have >= 0 && have != count) return split_last(r, count, -1, io);
    return onnx_emit(r, "expand_dims", 1, io, 1, &last, io);
}

static hone_status convert_pre_mix(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t branches;
    double scale;
    hone_garg gate = r->inputs[1];
    HONE_TRY(onnx_attr_float(r, "reduction_scale", 1, &scale));
    HONE_TRY(apart(r, &branches, out));
    HONE_TRY(onnx_info(r, out, &info));
    if (info->rank < 2)
        return HONE_ERROR(HONE_CODE_INVALID, "streams of %d dimensions", (int)info->rank);
    HONE_TRY(over_branches(r, branches, info, &gate));
    HONE_TRY(onnx_emit2(r, "multiply", *out, gate, out));
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(info->rank - 2)};
    HONE_TRY(onnx_emit(r, "sum", 1, out, 1, &axis, out));
    return scale == 1 ? HONE_OK : onnx_with_scalar(r, "multiply", *out, scale, out);
}

/* The matrix of input 3 mixes the streams: its columns make the new ones. */
static hone_status mix_streams(onnx_reader *r, hone_garg *io) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK];
    hone_garg sides[2] = {r->inputs[3], *io};
    if (!onnx_has_input(r, 3)) return HONE_OK;
    HONE_TRY(onnx_info(r, &sides[0], &info));
    if (info->rank < 2)
        return HONE_ERROR(HONE_CODE_INVALID, "a matrix of %d dimensions", (int)info->rank);
    for (int32_t i = 0; i < info->rank; i++)
        axes[i] = i;
    axes[info->rank - 2] = info->rank - 1;
    axes[info->rank - 1] = info->rank - 2;
    HONE_TRY(onnx_emit_permute(r, sides[0], (uint32_t)info->rank, axes, &sides[0]));
    return onnx_emit(r, "matmul", 2, sides, 0, NULL, io);
}

static hone_status convert_post_mix(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *given, *info;
    int64_t branches;
    hone_garg gate = r->inputs[2], block;
    HONE_TRY(onnx_input_info(r, 0, &given));
    HONE_TRY(apart(r, &branches, out));
    HONE_TRY(onnx_info(r, out, &info));
    if (info->rank < 2)
        return HONE_ERROR(HONE_CODE_INVALID, "streams of %d dimensions", (int)info->rank);
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(info->rank - 2)};
    HONE_TRY(over_branches(r, 0, info, &gate));
    HONE_TRY(mix_streams(r, out));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &r->inputs[1], 1, &axis, &block));
    HONE_TRY(onnx_emit2(r, "multiply", gate, block, &block));
    HONE_TRY(onnx_emit2(r, "add", *out, block, out));
    return shape_as(r, given, out);
}

/* sigmoid(sign(d) sqrt(max(|d|, 1e-6))) of the product d of normalised keys and queries. */
static hone_status engram_gate(onnx_reader *r, double epsilon, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg sides[2], sign;
    for (uint32_t i = 0; i < 2; i++) {
        HONE_TRY(onnx_by_mean_square(r, r->inputs[i], 3, epsilon, &sides[i]));
        HONE_TRY(onnx_emit2(r, "multiply", sides[i], r->inputs[3 + i], &sides[i]));
    }
    HONE_TRY(onnx_emit2(r, "multiply", sides[0], sides[1], out));
    HONE_TRY(onnx_emit_along(r, "sum", *out, 3, out));
    HONE_TRY(onnx_input_info(r, 0, &info));
    hone_garg size;
    HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[3], &size));
    HONE_TRY(onnx_emit_reshape(r, size, 0, NULL, &size));
    HONE_TRY(onnx_emit_cast(r, size, HONE_DTYPE_F32, &size));
    HONE_TRY(onnx_emit1(r, "sqrt", size, &size));
    HONE_TRY(onnx_emit2(r, "divide", *out, size, out));
    HONE_TRY(onnx_emit1(r, "sign", *out, &sign));
    HONE_TRY(onnx_emit1(r, "abs", *out, out));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out, 1e-6, out));
    HONE_TRY(onnx_emit1(r, "sqrt", *out, out));
    HONE_TRY(onnx_emit2(r, "multiply", sign, *out, out));
    return onnx_emit1(r, "sigmoid", *out, out);
}

static hone_status convert_engram(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    double epsilon;
    hone_garg value;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(2)};
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (info->rank != 4)
        return HONE_ERROR(HONE_CODE_INVALID, "keys of %d dimensions", (int)info->rank);
    HONE_TRY(engram_gate(r, epsilon, &out[0]));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &r->inputs[2], 1, &axis, &value));
    HONE_TRY(onnx_emit2(r, "multiply", out[0], value, &out[0]));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &out[0], "the value"));
    if (r->output_count < 2) return HONE_OK;
    if (!onnx_has_input(r, 5))
        return HONE_ERROR(HONE_CODE_INVALID, "the second output wants input 5");
    HONE_TRY(onnx_by_mean_square(r, out[0], 3, epsilon, &out[1]));
    return onnx_emit2(r, "multiply", out[1], r->inputs[5], &out[1]);
}

const onnx_converter onnx_gates_converters[] = {
    {"ScaledSiLU",          convert_scaled_silu, 1, 2, 1, "alpha", NULL},
    {"GatedAdd",                    convert_gated_add, 3, 3, 1, "", NULL},
    {"LinearAttentionGate",                    convert_attention_gate, 3, 4, 2, "", NULL},
    {"GatedRMSNorm",                 convert_gated_norm, 3, 3, 1, "activation epsilon", NULL},
    {"BranchwiseRMSNorm",            convert_branch_norm, 1, 2, 1, "epsilon num_branches", NULL},
    {"HyperConnectionPreMix",                    convert_pre_mix, 2, 2, 1, "num_branches reduction_scale", NULL},
    {"HyperConnectionPostMix",                    convert_post_mix, 3, 4, 1, "num_branches", NULL},
    {"EngramGate",                 convert_engram, 5, 6, 2, "epsilon", NULL},
    {0},
};
