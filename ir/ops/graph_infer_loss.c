/* ir/ops/graph_infer_loss.c - shapes of losses. */
#include <string.h>

#include "ir/ops/graph_infer.h"

static hone_status check_targets(const hone_infer *in) {
    const hone_sinfo *data = in->args[0], *targets = in->args[1];
    int32_t kept = data->rank - 1;
    if (data->rank < 1) return hone_infer_fail(in, "the predictions have no classes");
    if (targets->kind != HONE_SINFO_TENSOR || targets->rank != kept) {
        return hone_infer_fail(in, "the targets must have %d dimensions", kept);
    }
    if (!hone_dtype_is_void(targets->dtype) && !hone_dtype_is_integer(targets->dtype)) {
        return hone_infer_fail(in, "the targets must be integers");
    }
    for (int32_t d = 0; d < kept; d++) {
        if (hone_infer_same_extent(in, targets->shape[d], data->shape[d ? d + 1 : 0])) continue;
        return (hone_extent_differs(targets->shape[d], data->shape[d ? d + 1 : 0])
                    ? hone_infer_fail
                    : hone_infer_doubt)(in, "the targets must have the shape of the predictions "
                                            "without the classes");
    }
    return HONE_OK;
}

static hone_status check_weights(const hone_infer *in) {
    const hone_sinfo *data = in->args[0], *weights = in->args[2];
    if (in->bind->arg_count < 3) return HONE_OK;
    bool is_vector = weights->kind == HONE_SINFO_TENSOR && weights->rank == 1;
    if (is_vector && hone_dtypes_differ(weights->dtype, data->dtype)) {
        return hone_infer_fail(in, "element types differ");
    }
    if (is_vector && hone_infer_same_extent(in, weights->shape[0], data->shape[data->rank > 1])) {
        return HONE_OK;
    }
    return hone_infer_doubt(in, "the weights must be a number for each class");
}

/* Predictions are [C] or [N, C, ...]. */
hone_status hone_infer_nll_loss(hone_infer *in) {
    const char *reduction = hone_attrs_string(&in->bind->attrs, "reduction", "mean");
    HONE_TRY(check_targets(in));
    HONE_TRY(check_weights(in));
    bool is_each = strcmp(reduction, "none") == 0;
    if (!is_each && strcmp(reduction, "mean") != 0 && strcmp(reduction, "sum") != 0) {
        return hone_infer_fail(in, "reduction is '%s', must be none, mean or sum", reduction);
    }
    int32_t rank = is_each ? in->args[1]->rank : 0;
    return hone_infer_tensor(in, in->args[0]->dtype, rank, in->args[1]->shape);
}
