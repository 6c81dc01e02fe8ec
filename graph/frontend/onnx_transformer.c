/* graph/frontend/onnx_transformer.c - what transformers are made of: normalisations of newer
 * operator sets, rotary positions, attention, and the operators of the domain com.microsoft that
 * exporters write for these. */
#include <math.h>
#include <string.h>

#include "graph/frontend/onnx_impl.h"

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
static hone_status by_mean_square(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
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
static hone_status standardize(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                               hone_garg *out) {
    const hone_sinfo *info;
    hone_garg mean;
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(mean_along(r, x, first, info->rank, &mean));
    HONE_TRY(onnx_emit2(r, "subtract", x, mean, &x));
    return by_mean_square(r, x, first, epsilon, out);
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
    HONE_TRY(by_mean_square(r, r->inputs[0], first, epsilon, out));
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

/* Up to opset 20 scale and bias were those of groups. */
static hone_status convert_group_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t groups;
    double epsilon;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "num_groups", 0, &groups));
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    int64_t channels = data->rank < 3 ? 0 : hone_expr_const(data->shape[1]);
    if (channels < 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the number of channels of the data must be known");
    }
    if (groups < 1 || channels < 1 || channels % groups != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld channels cannot be divided into %lld groups",
                          (long long)channels, (long long)groups);
    }
    const hone_expr *rest = hone_extent_int(&r->ir, channels / groups);
    for (int32_t i = 2; i < data->rank; i++)
        rest = hone_extent_mul(&r->ir, rest, data->shape[i]);
    const hone_expr *shape[] = {data->shape[0], hone_extent_int(&r->ir, groups), rest};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], 3, shape, out));
    HONE_TRY(standardize(r, *out, 2, epsilon, out));
    if (r->opset < 21) HONE_TRY(scale_and_shift(r, 3, out));
    HONE_TRY(onnx_emit_reshape(r, *out, (uint32_t)data->rank, data->shape, out));
    return r->opset < 21 ? HONE_OK : scale_and_shift(r, data->rank, out);
}

/* ---- rotary positions ---- */

static hone_status unknown_size(int d) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "the size of dimension %d is not known; give it with --shape", d);
}

/* [batch, sequence, heads * size] as [batch, heads, sequence, size]. */
static hone_status split_heads(onnx_reader *r, hone_garg x, int64_t heads, hone_garg *out) {
    static const int64_t axes[] = {0, 2, 1, 3};
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    int64_t width = info->rank == 3 ? hone_expr_const(info->shape[2]) : -1;
    *out = x;
    if (info->rank == 4) return HONE_OK;
    if (info->rank == 3 && width < 0) return unknown_size(2);
    if (heads < 1 || width < 1 || width % heads != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld numbers cannot be divided into %lld heads",
                          (long long)width, (long long)heads);
    }
    const hone_expr *shape[] = {info->shape[0], info->shape[1], hone_extent_int(&r->ir, heads),
                                hone_extent_int(&r->ir, width / heads)};
    HONE_TRY(onnx_emit_reshape(r, x, 4, shape, out));
    return onnx_emit_permute(r, *out, 4, axes, out);
}

/* The other way. */
static hone_status join_heads(onnx_reader *r, hone_garg *io) {
    static const int64_t axes[] = {0, 2, 1, 3};
    const hone_sinfo *info;
    HONE_TRY(onnx_emit_permute(r, *io, 4, axes, io));
    HONE_TRY(onnx_info(r, io, &info));
    const hone_expr *width = hone_extent_mul(&r->ir, info->shape[2], info->shape[3]);
    const hone_expr *shape[] = {info->shape[0], info->shape[1], width};
    return onnx_emit_reshape(r, *io, 3, shape, io);
}

/* Cosines or sines of the positions as [batch, 1, sequence, half]; positions stay within the table.
 */
static hone_status rotations(onnx_reader *r, uint32_t input, hone_garg *out) {
    const hone_sinfo *info;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    *out = r->inputs[input];
    if (onnx_has_input(r, 3)) {
        hone_garg args[2] = {*out};
        HONE_TRY(onnx_info(r, out, &info));
        int64_t last = hone_expr_const(info->shape[0]) - 1;
        if (info->rank != 2 || last < 0)
            return HONE_ERROR(HONE_CODE_INVALID, "a table of positions must have two dimensions");
        HONE_TRY(onnx_with_scalar(r, "maximum", r->inputs[3], 0, &args[1]));
        HONE_TRY(onnx_with_scalar(r, "minimum", args[1], (double)last, &args[1]));
        HONE_TRY(onnx_emit(r, "take", 2, args, 1, &axis, out));
    }
    HONE_TRY(onnx_info(r, out, &info));
    if (info->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "cosines and sines must have 3 dimensions");
    const hone_expr *shape[] = {info->shape[0], hone_extent_int(&r->ir, 1), info->shape[1],
                                info->shape[2]};
    return onnx_emit_reshape(r, *out, 4, shape, out);
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
static hone_status rotate(onnx_reader *r, hone_garg cosines, hone_garg sines, hone_garg *sides) {
    hone_garg terms[4];
    HONE_TRY(onnx_emit2(r, "multiply", sides[0], cosines, &terms[0]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[1], sines, &terms[1]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[1], cosines, &terms[2]));
    HONE_TRY(onnx_emit2(r, "multiply", sides[0], sines, &terms[3]));
    HONE_TRY(onnx_emit2(r, "subtract", terms[0], terms[1], &sides[0]));
    return onnx_emit2(r, "add", terms[2], terms[3], &sides[1]);
}

static hone_status convert_rotary(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *given, *info;
    int64_t heads, interleaved, turned;
    hone_garg x, parts[2], cosines, sines, sides[2];
    HONE_TRY(onnx_input_info(r, 0, &given));
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &heads));
    HONE_TRY(onnx_attr_int(r, "interleaved", 0, &interleaved));
    HONE_TRY(onnx_attr_int(r, "rotary_embedding_dim", 0, &turned));
    HONE_TRY(split_heads(r, r->inputs[0], heads, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    int64_t size = hone_expr_const(info->shape[3]);
    if (size < 0) return unknown_size(3);
    if (turned == 0) turned = size;
    if (turned < 2 || turned % 2 || turned > size) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld of %lld numbers cannot be turned",
                          (long long)turned, (long long)size);
    }
    HONE_TRY(onnx_emit_slice(r, x, 3, 0, turned, &parts[0]));
    HONE_TRY(onnx_info(r, &parts[0], &info));
    HONE_TRY(rotations(r, 1, &cosines));
    HONE_TRY(rotations(r, 2, &sines));
    HONE_TRY(rotary_sides(r, parts[0], turned, interleaved != 0, sides));
    HONE_TRY(rotate(r, cosines, sines, sides));
    HONE_TRY(join_sides(r, sides, info, interleaved != 0, out));
    if (turned < size) {
        parts[0] = *out;
        HONE_TRY(onnx_emit_slice(r, x, 3, turned, size, &parts[1]));
        HONE_TRY(onnx_emit_concat(r, 2, parts, 3, out));
    }
    return given->rank == 3 ? join_heads(r, out) : HONE_OK;
}

/* ---- attention ---- */

typedef struct attention {
    hone_garg q, k, v; /* [batch, heads, sequence, size] */
    int64_t q_heads, kv_heads;
    bool is_causal;
    double scale, softcap;
    int64_t past; /* how many keys come before those of this call */
} attention;

/* What came before, in front of what is new: the present state. */
static hone_status with_past(onnx_reader *r, uint32_t past, hone_garg *io, hone_garg *out) {
    hone_garg parts[2];
    if (onnx_has_input(r, past)) {
        parts[0] = r->inputs[past];
        parts[1] = *io;
        HONE_TRY(onnx_emit_concat(r, 2, parts, 2, io));
    }
    *out = *io;
    return HONE_OK;
}

/* Heads of keys and values serve several of the queries: each is repeated. */
static hone_status repeat_heads(onnx_reader *r, int64_t times, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg args[2];
    if (times == 1) return HONE_OK;
    HONE_TRY(onnx_info(r, io, &info));
    const hone_expr *one = hone_extent_int(&r->ir, 1), *many = hone_extent_int(&r->ir, times);
    const hone_expr *apart[] = {info->shape[0], info->shape[1], one, info->shape[2],
                                info->shape[3]};
    const hone_expr *wide[] = {info->shape[0], info->shape[1], many, info->shape[2],
                               info->shape[3]};
    const hone_expr *whole[] = {info->shape[0], hone_extent_mul(&r->ir, info->shape[1], many),
                                info->shape[2], info->shape[3]};
    HONE_TRY(onnx_emit_reshape(r, *io, 5, apart, &args[0]));
    HONE_TRY(onnx_make_ints(r, 5, wide, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, io));
    return onnx_emit_reshape(r, *io, 4, whole, io);
}

/* 0 for the keys that a query may look at, else -inf: [queries, keys]. */
static hone_status causal_mask(onnx_reader *r, const attention *a, hone_dtype dtype,
                               hone_garg *out) {
    const hone_sinfo *q, *k;
    hone_tensor *mask;
    HONE_TRY(onnx_info(r, &a->q, &q));
    HONE_TRY(onnx_info(r, &a->k, &k));
    int64_t shape[] = {hone_expr_const(q->shape[2]), hone_expr_const(k->shape[2])};
    if (shape[0] < 0 || shape[1] < 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "causal attention over sequences of unknown length; "
                          "give them with --shape");
    }
    HONE_TRY(hone_tensor_create(dtype, 2, shape, &mask));
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
        bool is_later = i % shape[1] > i / shape[1] + a->past;
        hone_tensor_set_f64(mask, i, is_later ? -HUGE_VAL : 0);
    }
    return onnx_add_constant(r, mask, out);
}

/* Truths become 0 and -inf. */
static hone_status as_bias(onnx_reader *r, hone_garg mask, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg choice[3] = {mask};
    HONE_TRY(onnx_info(r, &mask, &info));
    if (!hone_dtype_is_bool(info->dtype)) return onnx_emit_cast(r, mask, dtype, out);
    HONE_TRY(onnx_scalar(r, dtype, 0, &choice[1]));
    HONE_TRY(onnx_scalar(r, dtype, -HUGE_VAL, &choice[2]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* A mask that ends before the keys do hides those behind it. */
static hone_status mask_bias(onnx_reader *r, const attention *a, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *mask, *k;
    HONE_TRY(as_bias(r, r->inputs[3], dtype, out));
    HONE_TRY(onnx_info(r, out, &mask));
    HONE_TRY(onnx_info(r, &a->k, &k));
    if (mask->rank == 0) return HONE_OK;
    int64_t have = hone_expr_const(mask->shape[mask->rank - 1]);
    int64_t want = hone_expr_const(k->shape[2]);
    if (have < 0 || want < 0 || have >= want || have == 1) return HONE_OK;
    int64_t widths[2 * HONE_MAX_RANK] = {0};
    widths[2 * mask->rank - 1] = want - have;
    hone_attr attrs[] = {
        {"pad_width", onnx_ints_value(r, 2 * (uint32_t)mask->rank, widths)},
        {"pad_value",    HONE_VALUE_OF_FLOAT(-HUGE_VAL)                    },
    };
    return onnx_emit(r, "nn.pad", 1, out, 2, attrs, out);
}

/* How much of each value a query takes. Both factors get the root of the scale. */
static hone_status attention_weights(onnx_reader *r, const attention *a, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg args[2], bias;
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)}, axis = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_with_scalar(r, "multiply", a->q, sqrt(a->scale), &args[0]));
    HONE_TRY(onnx_with_scalar(r, "multiply", a->k, sqrt(a->scale), &args[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, args, 1, &turn, out));
    HONE_TRY(onnx_info(r, out, &info));
    if (a->softcap > 0) {
        HONE_TRY(onnx_with_scalar(r, "divide", *out, a->softcap, out));
        HONE_TRY(onnx_emit1(r, "tanh", *out, out));
        HONE_TRY(onnx_with_scalar(r, "multiply", *out, a->softcap, out));
    }
    if (a->is_causal) {
        HONE_TRY(causal_mask(r, a, info->dtype, &bias));
        HONE_TRY(onnx_emit2(r, "add", *out, bias, out));
    }
    if (onnx_has_input(r, 3)) {
        HONE_TRY(mask_bias(r, a, info->dtype, &bias));
        HONE_TRY(onnx_emit2(r, "add", *out, bias, out));
    }
    return onnx_emit(r, "nn.softmax", 1, out, 1, &axis, out);
}

static hone_status read_attention(onnx_reader *r, attention *a) {
    int64_t causal;
    const hone_sinfo *info;
    HONE_TRY(onnx_attr_int(r, "is_causal", 0, &causal));
    HONE_TRY(onnx_attr_int(r, "q_num_heads", 0, &a->q_heads));
    HONE_TRY(onnx_attr_int(r, "kv_num_heads", 0, &a->kv_heads));
    HONE_TRY(onnx_attr_float(r, "softcap", 0, &a->softcap));
    a->is_causal = causal != 0;
    HONE_TRY(split_heads(r, r->inputs[0], a->q_heads, &a->q));
    HONE_TRY(split_heads(r, r->inputs[1], a->kv_heads, &a->k));
    HONE_TRY(split_heads(r, r->inputs[2], a->kv_heads, &a->v));
    HONE_TRY(onnx_info(r, &a->q, &info));
    int64_t size = hone_expr_const(info->shape[3]);
    a->q_heads = hone_expr_const(info->shape[1]);
    HONE_TRY(onnx_info(r, &a->k, &info));
    a->kv_heads = hone_expr_const(info->shape[1]);
    if (size < 0) return unknown_size(3);
    if (a->q_heads < 0 || a->kv_heads < 0) return unknown_size(1);
    if (size < 1 || a->q_heads < 1 || a->kv_heads < 1 || a->q_heads % a->kv_heads != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld heads of queries for %lld of keys",
                          (long long)a->q_heads, (long long)a->kv_heads);
    }
    HONE_TRY(onnx_attr_float(r, "scale", 1 / sqrt((double)size), &a->scale));
    if (!onnx_has_input(r, 4)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 4, &info));
    a->past = info->rank == 4 ? hone_expr_const(info->shape[2]) : -1;
    if (a->past >= 0 || !a->is_causal) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a past of unknown length; give it with --shape");
}

static hone_status convert_attention(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *given;
    attention a = {0};
    hone_garg args[2];
    HONE_TRY(onnx_input_info(r, 0, &given));
    HONE_TRY(read_attention(r, &a));
    HONE_TRY(with_past(r, 4, &a.k, &out[1]));
    HONE_TRY(with_past(r, 5, &a.v, &out[2]));
    HONE_TRY(repeat_heads(r, a.q_heads / a.kv_heads, &a.k));
    HONE_TRY(repeat_heads(r, a.q_heads / a.kv_heads, &a.v));
    HONE_TRY(attention_weights(r, &a, &args[0]));
    args[1] = a.v;
    HONE_TRY(onnx_emit(r, "matmul", 2, args, 0, NULL, out));
    return given->rank == 3 ? join_heads(r, out) : HONE_OK;
}

const onnx_converter onnx_transformer_converters[] = {
    {"RMSNormalization",   convert_rms_norm, 2, 2, 1, "axis epsilon stash_type", NULL},
    {"GroupNormalization",                   convert_group_norm, 3, 3, 1, "epsilon num_groups stash_type", NULL},
    {"RotaryEmbedding",                   convert_rotary, 3, 4, 1, "interleaved num_heads rotary_embedding_dim",
     NULL},
    {"Attention",                convert_attention, 3, 6, 3,
     "is_causal kv_num_heads q_num_heads scale softcap softmax_precision", NULL},
    {0},
};

/* ---- com.microsoft ---- */

static hone_status convert_bias_gelu(onnx_reader *r, hone_garg *out) {
    bool is_fast = strcmp(r->node->op_type, "FastGelu") == 0;
    *out = r->inputs[0];
    if (onnx_has_input(r, 1)) HONE_TRY(onnx_emit2(r, "add", *out, r->inputs[1], out));
    return onnx_emit1(r, is_fast ? "nn.gelu_tanh" : "nn.gelu", *out, out);
}

/* x * sigmoid(alpha * x) */
static hone_status convert_quick_gelu(onnx_reader *r, hone_garg *out) {
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", 1.702, &alpha));
    HONE_TRY(onnx_with_scalar(r, "multiply", r->inputs[0], alpha, out));
    HONE_TRY(onnx_emit1(r, "sigmoid", *out, out));
    return onnx_emit2(r, "multiply", r->inputs[0], *out, out);
}

/* The last two dimensions swapped, of what has two. */
static hone_status turn_last(onnx_reader *r, const char *attr, hone_garg *io) {
    const hone_sinfo *info;
    int64_t turns, axes[HONE_MAX_RANK];
    HONE_TRY(onnx_attr_int(r, attr, 0, &turns));
    HONE_TRY(onnx_info(r, io, &info));
    if (!turns || info->rank < 2) return HONE_OK;
    for (int32_t i = 0; i < info->rank; i++)
        axes[i] = i < info->rank - 2 ? i : 2 * info->rank - 3 - i;
    return onnx_emit_permute(r, *io, (uint32_t)info->rank, axes, io);
}

static hone_status convert_fused_matmul(onnx_reader *r, hone_garg *out) {
    double alpha;
    int64_t batch_a, batch_b;
    hone_garg sides[2] = {r->inputs[0], r->inputs[1]};
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_attr_int(r, "transBatchA", 0, &batch_a));
    HONE_TRY(onnx_attr_int(r, "transBatchB", 0, &batch_b));
    if (batch_a || batch_b) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' = 1 is not implemented",
                          batch_a ? "transBatchA" : "transBatchB");
    }
    HONE_TRY(turn_last(r, "transA", &sides[0]));
    HONE_TRY(turn_last(r, "transB", &sides[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, out));
    return alpha == 1 ? HONE_OK : onnx_with_scalar(r, "multiply", *out, alpha, out);
}

/* x + skip + bias, normalised along the last dimension; the fourth output is the sum. The second
 * and third, which only training wants, are not made. */
static hone_status convert_skip_norm(onnx_reader *r, hone_garg *out) {
    bool is_simple = strcmp(r->node->op_type, "SkipSimplifiedLayerNormalization") == 0;
    uint32_t bias = is_simple ? 3 : 4;
    double epsilon;
    const hone_sinfo *info;
    hone_garg sum;
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-5, &epsilon));
    HONE_TRY(onnx_emit2(r, "add", r->inputs[0], r->inputs[1], &sum));
    if (onnx_has_input(r, bias)) HONE_TRY(onnx_emit2(r, "add", sum, r->inputs[bias], &sum));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &sum, "skip or bias"));
    HONE_TRY(onnx_info(r, &sum, &info));
    out[3] = sum;
    out[1] = out[2] = (hone_garg){.kind = HONE_GARG_STRING, .u.s = "SkipLayerNormalization"};
    HONE_TRY(is_simple ? by_mean_square(r, sum, info->rank - 1, epsilon, out)
                       : standardize(r, sum, info->rank - 1, epsilon, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, r->inputs[2], out));
    if (is_simple || !onnx_has_input(r, 3)) return HONE_OK;
    return onnx_emit2(r, "add", *out, r->inputs[3], out);
}

const onnx_converter onnx_microsoft_converters[] = {
    {"Gelu",     convert_bias_gelu, 1, 1, 1, "", NULL},
    {"BiasGelu",         convert_bias_gelu, 2, 2, 1, "", NULL},
    {"FastGelu",         convert_bias_gelu, 1, 2, 1, "", NULL},
    {"QuickGelu",      convert_quick_gelu, 1, 1, 1, "alpha", NULL},
    {"FusedMatMul", convert_fused_matmul, 2, 2, 1, "alpha transA transB transBatchA transBatchB",
     NULL},
    {"SkipLayerNormalization",         convert_skip_norm, 3, 5, 4, "epsilon", NULL},
    {"SkipSimplifiedLayerNormalization",         convert_skip_norm, 3, 4, 4, "epsilon", NULL},
    {0     },
};
