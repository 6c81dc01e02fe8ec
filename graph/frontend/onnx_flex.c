/* graph/frontend/onnx_flex.c - FlexAttention (ai.onnx.preview): attention whose products and whose
 * weights graphs of the node change, read where it stands.
 *
 *   weights = prob_mod(softmax(score_mod(q kᵀ · scale)));  y = weights · v
 *
 * in float32 or float64, or what softmax_precision says. */
#include <math.h>

#include "graph/frontend/onnx_flow.h"

/* Keys and values as for all heads of the queries. */
static hone_status check_heads(const hone_sinfo *q, const hone_sinfo *k, int64_t *out_times) {
    int64_t heads = hone_expr_const(q->shape[1]), served = hone_expr_const(k->shape[1]);
    *out_times = 1;
    if (hone_extent_same(q->shape[1], k->shape[1])) return HONE_OK;
    if (heads < 0 || served < 0) return onnx_unknown_size(1);
    if (served < 1 || heads % served) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld heads of queries and %lld of keys",
                          (long long)heads, (long long)served);
    }
    *out_times = heads / served;
    return HONE_OK;
}

static hone_status precision_of(const onnx_reader *r, hone_dtype dtype, hone_dtype *out) {
    int64_t type;
    bool is_double = hone_dtype_equal(dtype, HONE_DTYPE_F64);
    *out = is_double ? HONE_DTYPE_F64 : HONE_DTYPE_F32;
    HONE_TRY(onnx_attr_int(r, "softmax_precision", 0, &type));
    if (!onnx_attr(r, "softmax_precision")) return HONE_OK;
    HONE_TRY(onnx_dtype(type < 0 || type > INT32_MAX ? -1 : (int32_t)type, out));
    if (hone_dtype_is_float(*out) && out->bits >= 16) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute 'softmax_precision' names no float type");
}

/* What a graph of the node makes of a tensor, of the tensor's shape and type. */
static hone_status modify(onnx_reader *r, const char *name, hone_garg *io) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    const hone_sinfo *info;
    hone_garg given = *io, outputs[1];
    if (!attr) return HONE_OK;
    if (!attr->g || attr->g->n_output != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' must be a graph of one output", name);
    }
    HONE_TRY(onnx_read_inside(r, attr->g, 1, &given, outputs));
    HONE_TRY(onnx_as_tensor(r, &outputs[0]));
    HONE_TRY(onnx_info(r, &given, &info));
    HONE_TRY(onnx_keeps_shape(r, &given, &outputs[0], name));
    return onnx_emit_cast(r, outputs[0], info->dtype, io);
}

/* q and k each times the root of the scale, as the standard has it. */
static hone_status products(onnx_reader *r, hone_garg q, hone_garg k, double scale,
                            hone_garg *out) {
    static const int64_t turned[] = {0, 1, 3, 2};
    HONE_TRY(onnx_with_scalar(r, "multiply", q, sqrt(scale), &q));
    HONE_TRY(onnx_with_scalar(r, "multiply", k, sqrt(scale), &k));
    HONE_TRY(onnx_emit_permute(r, k, 4, turned, &k));
    return onnx_emit2(r, "matmul", q, k, out);
}

static hone_status convert_flex(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info[3];
    hone_garg sides[3];
    hone_dtype dtype;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(-1)};
    int64_t times;
    double scale;
    for (uint32_t i = 0; i < 3; i++) {
        HONE_TRY(onnx_input_info(r, i, &info[i]));
        if (info[i]->rank != 4)
            return HONE_ERROR(HONE_CODE_INVALID, "input %u must have 4 dimensions", i);
        sides[i] = r->inputs[i];
    }
    int64_t size = hone_expr_const(info[0]->shape[3]);
    if (size < 1) return onnx_unknown_size(3);
    HONE_TRY(check_heads(info[0], info[1], &times));
    HONE_TRY(precision_of(r, info[0]->dtype, &dtype));
    HONE_TRY(onnx_attr_float(r, "scale", 1 / sqrt((double)size), &scale));
    for (uint32_t i = 1; i < 3; i++)
        HONE_TRY(onnx_repeat_heads(r, times, &sides[i]));
    HONE_TRY(products(r, sides[0], sides[1], scale, out));
    HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    HONE_TRY(modify(r, "score_mod", out));
    HONE_TRY(onnx_emit(r, "nn.softmax", 1, out, 1, &axis, out));
    HONE_TRY(modify(r, "prob_mod", out));
    HONE_TRY(onnx_emit_cast(r, sides[2], dtype, &sides[2]));
    HONE_TRY(onnx_emit2(r, "matmul", *out, sides[2], out));
    return onnx_emit_cast(r, *out, info[2]->dtype, out);
}

const onnx_converter onnx_flex_converters[] = {
    {"FlexAttention", convert_flex, 3, 3, 1, "prob_mod scale score_mod softmax_precision", NULL},
    {0             },
};
