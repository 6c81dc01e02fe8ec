/* graph/frontend/nodes/onnx_loss.c - losses. */
#include "graph/frontend/nodes/onnx_nodes.h"

/* What no target of an index is; the operator's own default is -100, the standard has none. */
#define NONE_IGNORED INT32_MIN

/* The loss of log-probabilities; args: predictions, targets, weights or NONE. */
static hone_status emit_nll(onnx_reader *r, const hone_garg *args, hone_garg *out) {
    char reduction[64];
    int64_t ignored;
    HONE_TRY(onnx_attr_text(r, "reduction", "mean", reduction));
    HONE_TRY(onnx_attr_int(r, "ignore_index", NONE_IGNORED, &ignored));
    hone_attr attrs[] = {
        {"reduction", onnx_text_value(r, reduction)},
        {"ignore_index",           HONE_VALUE_OF_INT(ignored)              }
    };
    uint32_t count = args[2].kind == HONE_GARG_NONE ? 2 : 3;
    return onnx_emit(r, "nn.nll_loss", count, args, HONE_COUNT(attrs), attrs, out);
}

static hone_garg weights_of(const onnx_reader *r) {
    return onnx_has_input(r, 2) ? r->inputs[2] : (hone_garg){.kind = HONE_GARG_NONE};
}

static hone_status convert_nll_loss(onnx_reader *r, hone_garg *out) {
    hone_garg args[] = {r->inputs[0], r->inputs[1], weights_of(r)};
    return emit_nll(r, args, out);
}

/* The second output are the log-probabilities. */
static hone_status convert_cross_entropy(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg args[] = {{0}, r->inputs[1], weights_of(r)};
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank < 2) {
        return HONE_ERROR(HONE_CODE_INVALID, "the scores have %d dimensions, must have at least 2",
                          data->rank);
    }
    HONE_TRY(onnx_emit(r, "nn.log_softmax", 1, r->inputs, 1, &axis, &args[0]));
    out[1] = args[0];
    return emit_nll(r, args, out);
}

const onnx_converter onnx_loss_converters[] = {
    {"NegativeLogLikelihoodLoss", convert_nll_loss, 2, 3, 1, "ignore_index reduction", NULL},
    {"SoftmaxCrossEntropyLoss",                          convert_cross_entropy, 2, 3, 2, "ignore_index reduction", NULL},
    {0                         },
};
