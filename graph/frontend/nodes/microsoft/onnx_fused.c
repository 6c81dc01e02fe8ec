/* graph/frontend/nodes/microsoft/onnx_fused.c - what onnxruntime's optimiser makes of several
 * operators of the standard (domain com.microsoft): a convolution or product with its activation,
 * the embedding of a transformer with its norm. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- an activation behind ---- */

typedef struct activation {
    char name[64]; /* "" = none */
    double params[2];
    uint32_t count; /* of params */
} activation;

static double param(const activation *a, uint32_t i, double usual) {
    return i < a->count ? a->params[i] : usual;
}

static hone_status clip(onnx_reader *r, const activation *a, hone_garg *io) {
    if (a->count < 2) return HONE_ERROR(HONE_CODE_INVALID, "limits of Clip are missing");
    HONE_TRY(onnx_with_scalar(r, "maximum", *io, a->params[0], io));
    return onnx_with_scalar(r, "minimum", *io, a->params[1], io);
}

/* x, or alpha * x where that is below 0 */
static hone_status leaky(onnx_reader *r, const activation *a, hone_garg *io) {
    hone_attr attr = {"alpha", HONE_VALUE_OF_FLOAT(param(a, 0, 0.01))};
    return onnx_emit(r, "nn.leakyrelu", 1, io, 1, &attr, io);
}

static hone_status selu(onnx_reader *r, const activation *a, hone_garg *io) {
    HONE_TRY(onnx_emit_elu(r, *io, param(a, 0, ONNX_SELU_ALPHA), io));
    return onnx_with_scalar(r, "multiply", *io, param(a, 1, ONNX_SELU_GAMMA), io);
}

static hone_status activate(onnx_reader *r, const activation *a, hone_garg *io) {
    static const struct {
        const char *name, *op;
    } plain[] = {
        {"Relu",    "nn.relu"},
        {"Sigmoid", "sigmoid"},
        {"Tanh",    "tanh"   },
    };
    if (!a->name[0]) return HONE_OK;
    if (strcmp(a->name, "Softplus") == 0) return onnx_emit_softplus(r, *io, io);
    if (strcmp(a->name, "Softsign") == 0) return onnx_emit_softsign(r, *io, io);
    if (strcmp(a->name, "Elu") == 0) return onnx_emit_elu(r, *io, param(a, 0, 1), io);
    if (strcmp(a->name, "Selu") == 0) return selu(r, a, io);
    if (strcmp(a->name, "ThresholdedRelu") == 0)
        return onnx_emit_thresholded(r, *io, param(a, 0, 1), io);
    for (size_t i = 0; i < HONE_COUNT(plain); i++)
        if (strcmp(a->name, plain[i].name) == 0) return onnx_emit1(r, plain[i].op, *io, io);
    if (strcmp(a->name, "LeakyRelu") == 0) return leaky(r, a, io);
    if (strcmp(a->name, "Clip") == 0) return clip(r, a, io);
    if (strcmp(a->name, "HardSigmoid") == 0)
        return onnx_emit_hard_sigmoid(r, *io, param(a, 0, 0.2), param(a, 1, 0.5), io);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "activation '%s' is not implemented", a->name);
}

/* What is added before the activation comes as input 3. */
hone_status onnx_convert_fused_conv(onnx_reader *r, hone_garg *out) {
    activation a = {.count = 0};
    const Onnx__AttributeProto *params = onnx_attr(r, "activation_params");
    HONE_TRY(onnx_attr_text(r, "activation", "", a.name));
    for (; params && a.count < params->n_floats && a.count < 2; a.count++)
        a.params[a.count] = (double)params->floats[a.count];
    hone_garg more = onnx_given(r, 3);
    uint32_t count = r->input_count < 3 ? r->input_count : 3;
    HONE_TRY(onnx_convert_on(r, "Conv", count, r->inputs, out));
    if (more.kind != HONE_GARG_NONE) HONE_TRY(onnx_emit2(r, "add", *out, more, out));
    return activate(r, &a, out);
}

static hone_status convert_gemm(onnx_reader *r, hone_garg *out) {
    activation a = {.count = 0};
    HONE_TRY(onnx_attr_text(r, "activation", "", a.name));
    const bool is_selu = strcmp(a.name, "Selu") == 0;
    const char *const names[] = {"activation_alpha",
                                 is_selu ? "activation_gamma" : "activation_beta"};
    for (; a.count < 2 && onnx_attr(r, names[a.count]); a.count++)
        HONE_TRY(onnx_attr_float(r, names[a.count], 0, &a.params[a.count]));
    HONE_TRY(onnx_convert_on(r, "Gemm", r->input_count, r->inputs, out));
    return activate(r, &a, out);
}

/* ---- the embedding of a transformer ---- */

enum { IDS, SEGMENTS, WORDS, POSITIONS, SEGMENT_TABLE, GAMMA, BETA, MASK, OWN_POSITIONS };

/* Rows 0, 1, ... of a table, or those that an input says. */
static hone_status positions_of(onnx_reader *r, const hone_sinfo *ids, hone_garg *out) {
    hone_garg positions;
    if (onnx_has_input(r, OWN_POSITIONS))
        return onnx_emit_take(r, r->inputs[POSITIONS], r->inputs[OWN_POSITIONS], 0, out);
    HONE_TRY(onnx_indices(r, ids->shape[1], 1, 0, &positions));
    return onnx_emit_take(r, r->inputs[POSITIONS], positions, 0, out);
}

static hone_status normalised(onnx_reader *r, hone_garg x, hone_garg *out) {
    double epsilon;
    HONE_TRY(onnx_attr_float(r, "epsilon", 1e-12, &epsilon));
    HONE_TRY(onnx_standardize(r, x, 2, epsilon, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, r->inputs[GAMMA], out));
    return onnx_emit2(r, "add", *out, r->inputs[BETA], out);
}

/* How many tokens of each row the mask keeps; without a mask: 0. */
static hone_status mask_index(onnx_reader *r, const hone_sinfo *ids, hone_garg *out) {
    hone_garg args[2];
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    if (onnx_has_input(r, MASK)) {
        HONE_TRY(onnx_emit(r, "sum", 1, &r->inputs[MASK], 1, &axis, out));
        return onnx_emit_cast(r, *out, HONE_DTYPE_I32, out);
    }
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I32, 0, &args[0]));
    HONE_TRY(onnx_make_ints(r, 1, ids->shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
}

static hone_status convert_embedding(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *ids;
    hone_garg sum, part;
    int64_t form;
    HONE_TRY(onnx_attr_int(r, "mask_index_type", 0, &form));
    for (uint32_t i = WORDS; i <= BETA; i++)
        if (i != SEGMENT_TABLE && !onnx_has_input(r, i))
            return HONE_ERROR(HONE_CODE_INVALID, "input %u is missing", i);
    HONE_TRY(onnx_input_info(r, IDS, &ids));
    if (ids->rank != 2) return HONE_ERROR(HONE_CODE_INVALID, "ids of %d dimensions", ids->rank);
    if (form > 1) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute 'mask_index_type' > 1");
    HONE_TRY(onnx_emit_take(r, r->inputs[WORDS], r->inputs[IDS], 0, &sum));
    HONE_TRY(positions_of(r, ids, &part));
    HONE_TRY(onnx_emit2(r, "add", sum, part, &sum));
    if (onnx_has_input(r, SEGMENTS)) {
        HONE_TRY(onnx_emit_take(r, r->inputs[SEGMENT_TABLE], r->inputs[SEGMENTS], 0, &part));
        HONE_TRY(onnx_emit2(r, "add", sum, part, &sum));
    }
    HONE_TRY(normalised(r, sum, &out[0]));
    HONE_TRY(mask_index(r, ids, &out[1]));
    out[2] = sum;
    return HONE_OK;
}

/* The tables and factors as floats; then it is the same. Scales and zero points come behind the
 * mask, in the order of what they are of. */
static hone_status convert_quantised_embedding(onnx_reader *r, hone_garg *out) {
    enum { COUNT = 5, SCALES = MASK + 1, ZEROS = SCALES + COUNT };
    hone_garg floats;
    if (r->input_count != ZEROS + COUNT)
        return HONE_ERROR(HONE_CODE_INVALID, "%u inputs, expected %d", r->input_count,
                          ZEROS + COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const hone_garg parts[] = {r->inputs[WORDS + i], onnx_given(r, SCALES + i),
                                   onnx_given(r, ZEROS + i)};
        if (!onnx_has_input(r, WORDS + i)) continue;
        HONE_TRY(onnx_convert_on(r, "DequantizeLinear", 3, parts, &floats));
        r->inputs[WORDS + i] = floats;
    }
    r->input_count = MASK + 1;
    return convert_embedding(r, out);
}

#define CONV_ATTRS "auto_pad dilations group kernel_shape pads strides"

const onnx_converter onnx_fused_converters[] = {
    {"FusedConv", onnx_convert_fused_conv, 2, 4, 1, CONV_ATTRS " activation activation_params",
     NULL},
    {"FusedGemm",          convert_gemm, 2, 3, 1,
     "activation activation_alpha activation_beta activation_gamma alpha beta transA transB", NULL},
    {"EmbedLayerNormalization",          convert_embedding, 1, 9, 3, "epsilon mask_index_type", NULL},
    {"QEmbedLayerNormalization",        convert_quantised_embedding, 1, 18, 2, "epsilon", NULL},
    {0},
};
