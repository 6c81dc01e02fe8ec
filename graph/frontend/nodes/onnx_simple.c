/* graph/frontend/nodes/onnx_simple.c - operators that are a few others, element by element or over
 * a few axes. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- tests and bits ---- */

static hone_status convert_is_nan(onnx_reader *r, hone_garg *out) {
    return onnx_emit1(r, "isnan", r->inputs[0], out);
}

static hone_status convert_is_inf(onnx_reader *r, hone_garg *out) {
    int64_t finds_low, finds_high;
    HONE_TRY(onnx_attr_int(r, "detect_negative", 1, &finds_low));
    HONE_TRY(onnx_attr_int(r, "detect_positive", 1, &finds_high));
    if (finds_low && finds_high) return onnx_emit1(r, "isinf", r->inputs[0], out);
    if (!finds_low && !finds_high) return onnx_emit2(r, "less", r->inputs[0], r->inputs[0], out);
    return onnx_with_scalar(r, "equal", r->inputs[0], finds_high ? HUGE_VAL : -HUGE_VAL, out);
}

static hone_status convert_bit_shift(onnx_reader *r, hone_garg *out) {
    static const char *const words[] = {"LEFT", "RIGHT", NULL};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "direction", "", words, &word));
    return onnx_emit2(r, word == 0 ? "left_shift" : "right_shift", r->inputs[0], r->inputs[1], out);
}

static hone_status convert_bits(onnx_reader *r, hone_garg *out) {
    const char *op = r->row->target;
    if (r->input_count == 1) return onnx_emit1(r, op, r->inputs[0], out);
    return onnx_emit2(r, op, r->inputs[0], r->inputs[1], out);
}

/* ---- activations ---- */

/* max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) */
static hone_status convert_celu(onnx_reader *r, hone_garg *out) {
    double alpha;
    hone_garg below, above;
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_with_scalar(r, "divide", r->inputs[0], alpha, &below));
    HONE_TRY(onnx_emit1(r, "exp", below, &below));
    HONE_TRY(onnx_with_scalar(r, "subtract", below, 1, &below));
    HONE_TRY(onnx_with_scalar(r, "multiply", below, alpha, &below));
    HONE_TRY(onnx_with_scalar(r, "minimum", below, 0, &below));
    HONE_TRY(onnx_with_scalar(r, "maximum", r->inputs[0], 0, &above));
    return onnx_emit2(r, "add", above, below, out);
}

/* x + bias below -lambd, x - bias above lambd, else 0; of whole numbers as floats */
static hone_status convert_shrink(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    double bias, limit;
    hone_garg x, low[3], high[3];
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_float(r, "bias", 0, &bias));
    HONE_TRY(onnx_attr_float(r, "lambd", 0.5, &limit));
    bool is_double = hone_dtype_equal(info->dtype, HONE_DTYPE_F64) ||
                     (hone_dtype_is_integer(info->dtype) && info->dtype.bits > 16);
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], is_double ? HONE_DTYPE_F64 : HONE_DTYPE_F32, &x));
    HONE_TRY(onnx_with_scalar(r, "less", x, -limit, &low[0]));
    HONE_TRY(onnx_with_scalar(r, "add", x, bias, &low[1]));
    HONE_TRY(onnx_with_scalar(r, "greater", x, limit, &high[0]));
    HONE_TRY(onnx_with_scalar(r, "subtract", x, bias, &high[1]));
    HONE_TRY(onnx_scalar_like(r, &x, 0, &high[2]));
    HONE_TRY(onnx_emit(r, "where", 3, high, 0, NULL, &low[2]));
    HONE_TRY(onnx_emit(r, "where", 3, low, 0, NULL, out));
    return onnx_emit_cast(r, *out, info->dtype, out);
}

hone_status onnx_emit_swish(onnx_reader *r, double usual, hone_garg *out) {
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", usual, &alpha));
    HONE_TRY(onnx_with_scalar(r, "multiply", r->inputs[0], alpha, out));
    HONE_TRY(onnx_emit1(r, "sigmoid", *out, out));
    return onnx_emit2(r, "multiply", r->inputs[0], *out, out);
}

static hone_status convert_swish(onnx_reader *r, hone_garg *out) {
    return onnx_emit_swish(r, 1, out);
}

static hone_status convert_swiglu(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit_swish(r, 1, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, r->inputs[1], out));
    return onnx_keeps_shape(r, &r->inputs[0], out, "the gate");
}

/* x * tanh(ln(1 + exp x)) */
static hone_status convert_mish(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit_softplus(r, r->inputs[0], out));
    HONE_TRY(onnx_emit1(r, "tanh", *out, out));
    return onnx_emit2(r, "multiply", r->inputs[0], *out, out);
}

/* ---- normalisations ---- */

/* x divided by its norm along the axis: by the sum of the magnitudes, or the root of that of the
 * squares; zeros stay zeros. */
static hone_status convert_lp_norm(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axis, power;
    int32_t at;
    hone_garg norm, choice[3];
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", -1, &axis));
    HONE_TRY(onnx_attr_int(r, "p", 2, &power));
    HONE_TRY(onnx_axis(r, axis, data->rank, &at));
    if (power != 1 && power != 2)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'p' is %lld, must be 1 or 2",
                          (long long)power);
    int64_t axes[] = {at};
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, 1, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    HONE_TRY(power == 1 ? onnx_emit1(r, "abs", r->inputs[0], &norm)
                        : onnx_emit2(r, "multiply", r->inputs[0], r->inputs[0], &norm));
    HONE_TRY(onnx_emit(r, "sum", 1, &norm, 2, attrs, &norm));
    if (power == 2) HONE_TRY(onnx_emit1(r, "sqrt", norm, &norm));
    HONE_TRY(onnx_with_scalar(r, "equal", norm, 0, &choice[0]));
    HONE_TRY(onnx_scalar_like(r, &norm, 0, &choice[1]));
    HONE_TRY(onnx_emit2(r, "divide", r->inputs[0], norm, &choice[2]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* x / (bias + alpha * m) ** beta, where m is the mean of the squares of `size` channels around it:
 * those in front of the first and behind the last count as 0 */
static hone_status convert_lrn(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    double alpha, beta, bias;
    int64_t size;
    hone_garg mean;
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (onnx_is_empty(data)) {
        *out = r->inputs[0];
        return HONE_OK;
    }
    HONE_TRY(onnx_attr_float(r, "alpha", 1e-4, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 0.75, &beta));
    HONE_TRY(onnx_attr_float(r, "bias", 1, &bias));
    HONE_TRY(onnx_attr_int(r, "size", 0, &size));
    if (data->rank < 2 || size < 1 || size > INT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld channels of %d dimensions", (long long)size,
                          data->rank);
    }
    const hone_expr *shape[] = {data->shape[0], hone_extent_int(&r->ir, 1), data->shape[1],
                                hone_extent_int(&r->ir, 1)};
    for (int32_t d = 2; d < data->rank; d++)
        shape[3] = hone_extent_mul(&r->ir, shape[3], data->shape[d]);
    int64_t window[] = {size, 1}, padding[] = {(size - 1) / 2, 0, size / 2, 0};
    hone_attr attrs[] = {
        {"pool_size",        onnx_ints_value(r, 2, window)},
        {"padding",           onnx_ints_value(r,                            4, padding)},
        {"count_include_pad",HONE_VALUE_OF_BOOL(1)}
    };
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[0], r->inputs[0], &mean));
    HONE_TRY(onnx_emit_reshape(r, mean, 4, shape, &mean));
    HONE_TRY(onnx_emit(r, "nn.avg_pool2d", 1, &mean, 3, attrs, &mean));
    HONE_TRY(onnx_emit_reshape(r, mean, (uint32_t)data->rank, data->shape, &mean));
    HONE_TRY(onnx_with_scalar(r, "multiply", mean, alpha, &mean));
    HONE_TRY(onnx_with_scalar(r, "add", mean, bias, &mean));
    HONE_TRY(onnx_with_scalar(r, "power", mean, beta, &mean));
    return onnx_emit2(r, "divide", r->inputs[0], mean, out);
}

static hone_status mean_over(onnx_reader *r, hone_garg x, uint32_t count, const int64_t *axes,
                             hone_garg *out) {
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, count, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    return onnx_emit(r, "mean", 1, &x, 2, attrs, out);
}

hone_status onnx_spread(onnx_reader *r, hone_garg x, uint32_t count, const int64_t *axes,
                        hone_garg *out_mean, hone_garg *out_away, hone_garg *out_variance) {
    HONE_TRY(mean_over(r, x, count, axes, out_mean));
    HONE_TRY(onnx_emit2(r, "subtract", x, *out_mean, out_away));
    HONE_TRY(onnx_emit2(r, "multiply", *out_away, *out_away, out_variance));
    return mean_over(r, *out_variance, count, axes, out_variance);
}

/* (x - mean) / (deviation + 1e-9) */
static hone_status convert_mean_variance(onnx_reader *r, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK] = {0, 2, 3};
    uint32_t count = 3;
    hone_garg mean, away, spread;
    if (onnx_attr(r, "axes")) HONE_TRY(onnx_attr_ints(r, "axes", HONE_MAX_RANK, axes, &count));
    HONE_TRY(onnx_spread(r, r->inputs[0], count, axes, &mean, &away, &spread));
    HONE_TRY(onnx_emit1(r, "sqrt", spread, &spread));
    HONE_TRY(onnx_with_scalar(r, "add", spread, 1e-9, &spread));
    return onnx_emit2(r, "divide", away, spread, out);
}

const onnx_converter onnx_simple_converters[] = {
    {"IsNaN",        convert_is_nan, 1, 1, 1, "", NULL},
    {"IsInf",             convert_is_inf, 1, 1, 1, "detect_negative detect_positive", NULL},
    {"BitShift",             convert_bit_shift, 2, 2, 1, "direction", NULL},
    {"BitwiseAnd",          convert_bits, 2, 2, 1, "", "bitwise_and"},
    {"BitwiseOr",        convert_bits, 2, 2, 1, "", "bitwise_or"},
    {"BitwiseXor",             convert_bits, 2, 2, 1, "", "bitwise_xor"},
    {"BitwiseNot",             convert_bits, 1, 1, 1, "", "bitwise_not"},
    {"Celu",          convert_celu, 1, 1, 1, "alpha", NULL},
    {"Shrink",     convert_shrink, 1, 1, 1, "bias lambd", NULL},
    {"Swish",             convert_swish, 1, 1, 1, "alpha", NULL},
    {"SwiGLU",             convert_swiglu, 2, 2, 1, "alpha", NULL},
    {"Mish",          convert_mish, 1, 1, 1, "", NULL},
    {"LpNormalization",   convert_lp_norm, 1, 1, 1, "axis p", NULL},
    {"LRN",             convert_lrn, 1, 1, 1, "alpha beta bias size", NULL},
    {"MeanVarianceNormalization",             convert_mean_variance, 1, 1, 1, "axes", NULL},
    {0},
};
