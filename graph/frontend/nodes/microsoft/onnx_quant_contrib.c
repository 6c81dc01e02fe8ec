/* graph/frontend/nodes/microsoft/onnx_quant_contrib.c - the operators of com.microsoft on quantised
 * tensors that onnxruntime's quantiser writes beside QLinearConv: computed on dequantised numbers,
 * quantised behind; each is one kernel that reads and writes short numbers. */
#include "graph/frontend/nodes/onnx_nodes.h"

/* Inputs `at`, its scale and its zero point, as float32. */
static hone_status dequantized(onnx_reader *r, uint32_t at, hone_garg *out) {
    const hone_garg inputs[] = {r->inputs[at], r->inputs[at + 1], r->inputs[at + 2]};
    return onnx_convert_on(r, "DequantizeLinear", 3, inputs, out);
}

/* By scale and zero point from input `at` on. */
static hone_status quantized(onnx_reader *r, uint32_t at, hone_garg x, hone_garg *out) {
    const hone_garg inputs[] = {x, r->inputs[at], r->inputs[at + 1]};
    return onnx_convert_on(r, "QuantizeLinear", 3, inputs, out);
}

static hone_status convert_binary(onnx_reader *r, const char *op, hone_garg *out) {
    hone_garg a, b;
    HONE_TRY(dequantized(r, 0, &a));
    HONE_TRY(dequantized(r, 3, &b));
    HONE_TRY(onnx_emit2(r, op, a, b, out));
    return quantized(r, 6, *out, out);
}

static hone_status convert_add(onnx_reader *r, hone_garg *out) {
    return convert_binary(r, "add", out);
}

static hone_status convert_mul(onnx_reader *r, hone_garg *out) {
    return convert_binary(r, "multiply", out);
}

/* The operator of the standard on the dequantised input, with the attributes of the node. */
static hone_status convert_unary(onnx_reader *r, const char *op, hone_garg *out) {
    hone_garg x;
    HONE_TRY(dequantized(r, 0, &x));
    HONE_TRY(onnx_convert_on(r, op, 1, &x, out));
    return quantized(r, 3, *out, out);
}

static hone_status convert_sigmoid(onnx_reader *r, hone_garg *out) {
    return convert_unary(r, "Sigmoid", out);
}

static hone_status convert_leaky_relu(onnx_reader *r, hone_garg *out) {
    return convert_unary(r, "LeakyRelu", out);
}

static hone_status plain_average(onnx_reader *r, hone_garg *out) {
    return convert_unary(r, "AveragePool", out);
}

static hone_status plain_global_average(onnx_reader *r, hone_garg *out) {
    return convert_unary(r, "GlobalAveragePool", out);
}

static hone_status convert_average(onnx_reader *r, hone_garg *out) {
    int64_t is_last;
    HONE_TRY(onnx_attr_int(r, "channels_last", 0, &is_last));
    return onnx_convert_channels_last(r, is_last != 0, plain_average, out);
}

static hone_status convert_global_average(onnx_reader *r, hone_garg *out) {
    int64_t is_last;
    HONE_TRY(onnx_attr_int(r, "channels_last", 0, &is_last));
    return onnx_convert_channels_last(r, is_last != 0, plain_global_average, out);
}

/* It says since which operator set of the standard the axis is what it is. */
static hone_status convert_softmax(onnx_reader *r, hone_garg *out) {
    int64_t opset, own = r->opset;
    HONE_TRY(onnx_attr_int(r, "opset", own, &opset));
    hone_garg x;
    HONE_TRY(dequantized(r, 0, &x));
    r->opset = opset;
    hone_status st = onnx_convert_on(r, "Softmax", 1, &x, out);
    r->opset = own;
    return st ? st : quantized(r, 3, *out, out);
}

/* Condition, then three inputs for each side. */
static hone_status convert_where(onnx_reader *r, hone_garg *out) {
    hone_garg yes, no;
    HONE_TRY(dequantized(r, 1, &yes));
    HONE_TRY(dequantized(r, 4, &no));
    HONE_TRY(onnx_emit_where(r, r->inputs[0], yes, no, out));
    return quantized(r, 7, *out, out);
}

/* Scale and zero point of the result, then three inputs for each part. */
static hone_status convert_concat(onnx_reader *r, hone_garg *out) {
    uint32_t count = (r->input_count - 2) / 3;
    if (r->input_count != 2 + 3 * count)
        return HONE_ERROR(HONE_CODE_INVALID, "%u inputs", r->input_count);
    hone_garg *parts = hone_arena_alloc(r->arena, (count + 1) * sizeof *parts);
    if (!parts) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(dequantized(r, 2 + 3 * i, &parts[i]));
    HONE_TRY(onnx_convert_on(r, "Concat", count, parts, out));
    return quantized(r, 0, *out, out);
}

/* ---- QGemm: a, b and the sums of int32; without scale and zero point of the result: float32 ----
 */

static hone_status turned(onnx_reader *r, const char *attr, uint32_t input) {
    static const int64_t axes[] = {1, 0};
    int64_t is_turned;
    HONE_TRY(onnx_attr_int(r, attr, 0, &is_turned));
    return is_turned ? onnx_emit_permute(r, r->inputs[input], 2, axes, &r->inputs[input]) : HONE_OK;
}

static hone_status float_sums(onnx_reader *r, double alpha, hone_garg *out) {
    const hone_garg factors[] = {r->inputs[0], r->inputs[3], r->inputs[2], r->inputs[5]};
    hone_garg scale;
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[1], r->inputs[4], &scale));
    if (alpha != 1) HONE_TRY(onnx_with_scalar(r, "multiply", scale, alpha, &scale));
    hone_garg bias = onnx_has_input(r, 6) ? r->inputs[6] : (hone_garg){.kind = HONE_GARG_NONE};
    HONE_TRY(onnx_convert_on(r, "MatMulInteger", 4, factors, out));
    if (bias.kind != HONE_GARG_NONE) HONE_TRY(onnx_emit2(r, "add", *out, bias, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F32, out));
    return onnx_emit2(r, "multiply", *out, scale, out);
}

static hone_status convert_gemm(onnx_reader *r, hone_garg *out) {
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(turned(r, "transA", 0));
    HONE_TRY(turned(r, "transB", 3));
    HONE_TRY(float_sums(r, alpha, out));
    return onnx_has_input(r, 7) ? quantized(r, 7, *out, out) : HONE_OK;
}

/* ---- products whose results are floats ---- */

hone_status onnx_emit_float_product(onnx_reader *r, const onnx_factors *f, hone_garg *out) {
    const hone_garg factors[] = {f->a, f->b, f->zero_a, f->zero_b};
    hone_garg scale;
    HONE_TRY(onnx_emit2(r, "multiply", f->scale_a, f->scale_b, &scale));
    HONE_TRY(onnx_convert_on(r, "MatMulInteger", 4, factors, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F32, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, scale, out));
    return f->bias.kind == HONE_GARG_NONE ? HONE_OK : onnx_emit2(r, "add", *out, f->bias, out);
}

static hone_status convert_integer_to_float(onnx_reader *r, hone_garg *out) {
    const onnx_factors factors = {.a = r->inputs[0],
                                  .b = r->inputs[1],
                                  .scale_a = r->inputs[2],
                                  .scale_b = r->inputs[3],
                                  .zero_a = onnx_given(r, 4),
                                  .zero_b = onnx_given(r, 5),
                                  .bias = onnx_given(r, 6)};
    return onnx_emit_float_product(r, &factors, out);
}

/* The data are quantised when they are there. */
static hone_status convert_dynamic_matmul(onnx_reader *r, hone_garg *out) {
    hone_garg short_ones[3];
    HONE_TRY(onnx_convert_on(r, "DynamicQuantizeLinear", 1, r->inputs, short_ones));
    const onnx_factors factors = {.a = short_ones[0],
                                  .b = r->inputs[1],
                                  .scale_a = short_ones[1],
                                  .scale_b = r->inputs[2],
                                  .zero_a = short_ones[2],
                                  .zero_b = onnx_given(r, 3),
                                  .bias = onnx_given(r, 4)};
    return onnx_emit_float_product(r, &factors, out);
}

/* The standard's, for more types than older operator sets of it have. */
static hone_status convert_as_standard(onnx_reader *r, hone_garg *out) {
    return onnx_convert_on(r, r->node->op_type, r->input_count, r->inputs, out);
}

#define POOL_ATTRS "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides"

const onnx_converter onnx_quant_contrib_converters[] = {
    {"QLinearAdd",       convert_add, 7, 8, 1, "", NULL},
    {"QLinearMul",                 convert_mul, 7, 8, 1, "", NULL},
    {"QLinearSigmoid",                 convert_sigmoid, 4, 5, 1, "", NULL},
    {"QLinearLeakyRelu",              convert_leaky_relu, 4, 5, 1, "alpha", NULL},
    {"QLinearAveragePool",       convert_average, 4, 5, 1, POOL_ATTRS, NULL},
    {"QLinearGlobalAveragePool",                 convert_global_average, 4, 5, 1, "channels_last", NULL},
    {"QLinearSoftmax",                 convert_softmax, 4, 5, 1, "axis opset", NULL},
    {"QLinearConcat",              convert_concat, 5, 255, 1, "axis", NULL},
    {"QLinearWhere",   convert_where, 9, 9, 1, "", NULL},
    {"QGemm",                 convert_gemm, 6, 9, 1, "alpha transA transB", NULL},
    {"MatMulIntegerToFloat",                 convert_integer_to_float, 4, 7, 1, "", NULL},
    {"DynamicQuantizeMatMul",              convert_dynamic_matmul, 3, 5, 1, "", NULL},
    {"QuantizeLinear", convert_as_standard, 2, 3, 1, "axis block_size", NULL},
    {"DequantizeLinear",                 convert_as_standard, 2, 3, 1, "axis block_size", NULL},
    {0                },
};
