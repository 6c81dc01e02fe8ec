/* graph/frontend/reader/onnx_round.c - an operator of the file is rounded once.
 *
 * Some become several operators of the graph, each of which would be rounded to the type of its
 * arguments. Of floats of 16 bits these are of float32, and the result is rounded
 * (docs/numerics.md). Products keep their narrow factors: what comes behind them is wide. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

static const char *const of_steps[] = {
    "AffineGrid",
    "Attention",
    "BiasGelu",
    "BranchwiseRMSNorm",
    "CausalConvWithState",
    "Celu",
    "DFT",
    "DecoderMaskedMultiHeadAttention",
    "DeformConv",
    "Elu",
    "EngramGate",
    "FastGelu",
    "FusedMatMul",
    "GRU",
    "GatedRMSNorm",
    "GatedRelativePositionBias",
    "GemmFastGelu",
    "GlobalLpPool",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "HyperConnectionPostMix",
    "HyperConnectionPreMix",
    "InstanceNormalization",
    "LRN",
    "LSTM",
    "LinearAttention",
    "LinearAttentionGate",
    "LpNormalization",
    "LpPool",
    "MRotaryEmbedding",
    "MatMulNBits",
    "Mean",
    "MeanVarianceNormalization",
    "Mish",
    "QuickGelu",
    "RMSNormalization",
    "RNN",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceSumSquare",
    "RotaryEmbedding",
    "STFT",
    "Selu",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "SoftmaxCrossEntropyLoss",
    "Softplus",
    "Softsign",
    "Sum",
    "SwiGLU",
    "Swish",
    "ThresholdedRelu",
};

static bool takes_steps(const char *op) {
    for (size_t i = 0; i < HONE_COUNT(of_steps); i++) {
        if (strcmp(op, of_steps[i]) == 0) return true;
    }
    return false;
}

void onnx_wide_product(onnx_reader *r, hone_dtype dtype, hone_attr *attrs, uint32_t *io_count) {
    if (!hone_dtype_is_short_float(dtype)) return;
    attrs[(*io_count)++] = (hone_attr){"out_dtype", onnx_text_value(r, "float32")};
}

hone_status onnx_widen(onnx_reader *r, hone_garg *x) {
    const hone_sinfo *info;
    if (x->kind != HONE_GARG_VALUE && x->kind != HONE_GARG_CONSTANT) return HONE_OK;
    HONE_TRY(onnx_info(r, x, &info));
    if (!hone_dtype_is_short_float(info->dtype)) return HONE_OK;
    return onnx_emit_cast(r, *x, HONE_DTYPE_F32, x);
}

hone_status onnx_widen_inputs(onnx_reader *r, hone_dtype *out_narrow) {
    const hone_sinfo *info;
    *out_narrow = HONE_DTYPE_VOID;
    bool is_tensor =
        r->inputs[0].kind == HONE_GARG_VALUE || r->inputs[0].kind == HONE_GARG_CONSTANT;
    if (!is_tensor) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (!hone_dtype_is_short_float(info->dtype)) return HONE_OK;
    *out_narrow = info->dtype;
    for (uint32_t i = 0; i < r->input_count; i++)
        HONE_TRY(onnx_widen(r, &r->inputs[i]));
    return HONE_OK;
}

hone_status onnx_narrow(onnx_reader *r, hone_dtype narrow, hone_garg *x) {
    return hone_dtype_is_void(narrow) ? HONE_OK : onnx_emit_cast(r, *x, narrow, x);
}

static bool is_float32(const onnx_reader *r, uint32_t input) {
    const hone_sinfo *info;
    hone_status st = onnx_input_info(r, input, &info);
    bool is = !st && hone_dtype_equal(info->dtype, HONE_DTYPE_F32);
    hone_status_free(st);
    return is;
}

/* A product of short floats by float32. The standard has one type for all operands; exporters that
 * fold a normalisation into weights leave these wider than the data, whose type the result has. */
static bool has_wide_weights(const onnx_reader *r, const char *op) {
    static const char *const products[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
    bool is_product = false, is_wide = false;
    for (size_t i = 0; i < HONE_COUNT(products); i++)
        is_product |= strcmp(op, products[i]) == 0;
    for (uint32_t i = 1; is_product && i < r->input_count; i++)
        is_wide |= onnx_has_input(r, i) && is_float32(r, i);
    return is_wide;
}

hone_status onnx_convert_rounded(onnx_reader *r, const onnx_converter *row, hone_garg *outputs) {
    hone_dtype narrow = HONE_DTYPE_VOID;
    bool is_wide = takes_steps(row->op) || has_wide_weights(r, row->op);
    if (is_wide) HONE_TRY(onnx_widen_inputs(r, &narrow));
    HONE_TRY(row->convert(r, outputs));
    for (uint32_t i = 0; i < r->output_count; i++)
        HONE_TRY(onnx_narrow(r, narrow, &outputs[i]));
    return HONE_OK;
}
