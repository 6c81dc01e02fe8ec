/* graph/frontend/nodes/microsoft/onnx_experts.c - mixtures of experts (MoE, QMoE of com.microsoft):
 * all experts compute all tokens, which are weighted by how the router chose, 0 where it did not.
 *
 *   x: [1, tokens, h] · first: [experts, i, h]^T  =>  activation  =>  · second: [experts, h, i]^T
 *   sum over the experts of weight[expert, token, 1] times that */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { X, ROUTER };

/* Where an operator has the inputs of a layer. */
typedef struct layer {
    uint32_t weight, scale, bias, zero; /* scale and zero: of QMoE, or 0 */
    const char *bits;                   /* the attribute that says others than all layers have */
} layer;

typedef struct experts {
    int64_t k, count;
    uint32_t activation, fusion;
    const layer *layers; /* first, second, third */
    uint32_t weights;    /* the input of weights beside the router's, or 0 */
    hone_dtype dtype;
    hone_garg x, chosen; /* [1, tokens, h], [experts, tokens, 1] */
} experts;

enum { RELU, GELU, SILU, SWIGLU, IDENTITY };

/* ---- weights of few bits ---- */

static hone_status unpack_zeros(onnx_reader *r, const layer *l, int64_t bits,
                                const hone_sinfo *scales, hone_dtype dtype, hone_garg *out) {
    hone_garg indices;
    const int32_t last = scales->rank - 1;
    if (!onnx_has_input(r, l->zero)) return onnx_scalar(r, dtype, (double)(1 << (bits - 1)), out);
    *out = r->inputs[l->zero];
    HONE_TRY(onnx_unpack_bits(r, bits, out));
    HONE_TRY(onnx_indices(r, scales->shape[last], 1, 0, &indices));
    HONE_TRY(onnx_emit_take(r, *out, indices, last, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* Numbers of blocks [experts, n, blocks], or of rows [experts, n], for each of k numbers. */
static hone_status spread(onnx_reader *r, int64_t block, const hone_expr *k, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg indices;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank == 0) return HONE_OK;
    if (info->rank == 2) return onnx_emit(r, "expand_dims", 1, io, 1, &last, io);
    HONE_TRY(onnx_indices(r, k, 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "floor_divide", indices, (double)block, &indices));
    return onnx_emit_take(r, *io, indices, 2, io);
}

static hone_status unpack_layer(onnx_reader *r, const layer *l, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *info, *scales;
    int64_t bits, block;
    hone_garg scale = r->inputs[l->scale], zero;
    HONE_TRY(onnx_attr_int(r, "expert_weight_bits", 4, &bits));
    HONE_TRY(onnx_attr_int(r, l->bits, bits, &bits));
    HONE_TRY(onnx_attr_int(r, "block_size", 0, &block));
    if (bits != 2 && bits != 4 && bits != 8)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "weights of %lld bits", (long long)bits);
    if (!onnx_has_input(r, l->scale))
        return HONE_ERROR(HONE_CODE_INVALID, "scales (input %u) are missing", l->scale);
    *out = r->inputs[l->weight];
    HONE_TRY(onnx_unpack_bits(r, bits, out));
    HONE_TRY(onnx_info(r, out, &info));
    HONE_TRY(onnx_input_info(r, l->scale, &scales));
    if (info->rank != 3 || scales->rank < 2 || scales->rank > 3 || (scales->rank == 3 && block < 1))
        return HONE_ERROR(HONE_CODE_INVALID,
                          "weights of %d dimensions, scales of %d, blocks of %lld", info->rank,
                          scales->rank, (long long)block);
    const hone_expr *k = info->shape[2];
    HONE_TRY(unpack_zeros(r, l, bits, scales, dtype, &zero));
    HONE_TRY(onnx_emit_cast(r, scale, dtype, &scale));
    HONE_TRY(spread(r, block, k, &zero));
    HONE_TRY(spread(r, block, k, &scale));
    HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    HONE_TRY(onnx_emit2(r, "subtract", *out, zero, out));
    return onnx_emit2(r, "multiply", *out, scale, out);
}

/* ---- layers ---- */

/* x [1 or experts, tokens, k] through one: [experts, tokens, n]. */
static hone_status through(onnx_reader *r, const experts *e, const layer *l, hone_garg x,
                           hone_garg *out) {
    hone_garg sides[2] = {x, r->inputs[l->weight]}, bias;
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)};
    hone_attr middle = {"axis", HONE_VALUE_OF_INT(1)};
    if (l->scale) HONE_TRY(unpack_layer(r, l, e->dtype, &sides[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 1, &turn, out));
    if (!onnx_has_input(r, l->bias)) return HONE_OK;
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &r->inputs[l->bias], 1, &middle, &bias));
    return onnx_emit2(r, "add", *out, bias, out);
}

/* Gate and factor of one product: neighbours, or one behind the other. */
static hone_status divide_fused(onnx_reader *r, const experts *e, hone_garg both, hone_garg *gate,
                                hone_garg *factor) {
    const hone_sinfo *info;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_info(r, &both, &info));
    const int64_t width = hone_expr_const(info->shape[2]);
    if (width < 0) return onnx_unknown_size(2);
    if (e->fusion == 2) {
        HONE_TRY(onnx_emit_slice(r, both, 2, 0, width / 2, gate));
        return onnx_emit_slice(r, both, 2, width / 2, width, factor);
    }
    const hone_expr *shape[] = {info->shape[0], info->shape[1], hone_extent_int(&r->ir, width / 2),
                                hone_extent_int(&r->ir, 2)};
    hone_garg *sides[] = {gate, factor};
    HONE_TRY(onnx_emit_reshape(r, both, 4, shape, &both));
    for (int i = 0; i < 2; i++) {
        HONE_TRY(onnx_emit_slice(r, both, 3, i, i + 1, sides[i]));
        HONE_TRY(onnx_emit(r, "squeeze", 1, sides[i], 1, &last, sides[i]));
    }
    return HONE_OK;
}

/* gate * sigmoid(alpha * gate) * (factor + beta), both held within the limit. */
static hone_status swiglu(onnx_reader *r, hone_garg gate, hone_garg factor, hone_garg *out) {
    double alpha, beta, limit;
    hone_garg open;
    HONE_TRY(onnx_attr_float(r, "activation_alpha", 1, &alpha));
    HONE_TRY(onnx_attr_float(r, "activation_beta", 0, &beta));
    HONE_TRY(onnx_attr_float(r, "swiglu_limit", (double)INFINITY, &limit));
    if (limit < (double)INFINITY) {
        HONE_TRY(onnx_with_scalar(r, "minimum", gate, limit, &gate));
        HONE_TRY(onnx_with_scalar(r, "minimum", factor, limit, &factor));
        HONE_TRY(onnx_with_scalar(r, "maximum", factor, -limit, &factor));
    }
    HONE_TRY(onnx_with_scalar(r, "multiply", gate, alpha, &open));
    HONE_TRY(onnx_emit1(r, "sigmoid", open, &open));
    HONE_TRY(onnx_emit2(r, "multiply", gate, open, out));
    HONE_TRY(onnx_with_scalar(r, "add", factor, beta, &factor));
    return onnx_emit2(r, "multiply", *out, factor, out);
}

static hone_status activate(onnx_reader *r, const experts *e, hone_garg *io) {
    static const char *const plain[] = {"nn.relu", "nn.gelu_tanh", "nn.silu"};
    hone_garg gate = *io, factor;
    if (e->activation == IDENTITY) return HONE_OK;
    if (e->activation != SWIGLU) return onnx_emit1(r, plain[e->activation], *io, io);
    HONE_TRY(e->fusion ? divide_fused(r, e, *io, &gate, &factor)
                       : through(r, e, &e->layers[2], e->x, &factor));
    return swiglu(r, gate, factor, io);
}

/* ---- who computes what ---- */

/* How much of each expert a token takes: of the first k by the router. */
static hone_status choose(onnx_reader *r, experts *e) {
    hone_garg inputs[2] = {r->inputs[ROUTER]}, first[2], indices, mask, weights, sum;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)}, middle = {"axis", HONE_VALUE_OF_INT(1)};
    static const int64_t turned[] = {1, 0};
    const hone_expr *k = hone_extent_int(&r->ir, e->k);
    int64_t normalises;
    HONE_TRY(onnx_attr_int(r, "normalize_routing_weights", 0, &normalises));
    HONE_TRY(onnx_make_ints(r, 1, &k, 1, &inputs[1]));
    HONE_TRY(onnx_convert_on(r, "TopK", 2, inputs, first));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, e->count), 1, 0, &indices));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &first[1], 1, &last, &first[1]));
    HONE_TRY(onnx_emit2(r, "equal", first[1], indices, &mask));
    HONE_TRY(onnx_emit_cast(r, mask, e->dtype, &mask));
    HONE_TRY(onnx_emit(r, "sum", 1, &mask, 1, &middle, &mask));
    if (e->weights && onnx_has_input(r, e->weights)) {
        weights = r->inputs[e->weights];
    } else {
        HONE_TRY(onnx_emit(r, "nn.softmax", 1, &r->inputs[ROUTER], 1, &last, &weights));
    }
    HONE_TRY(onnx_emit2(r, "multiply", weights, mask, &weights));
    if (normalises) {
        HONE_TRY(onnx_emit_along(r, "sum", weights, -1, &sum));
        HONE_TRY(onnx_emit2(r, "divide", weights, sum, &weights));
    }
    HONE_TRY(onnx_emit_permute(r, weights, 2, turned, &weights));
    return onnx_emit(r, "expand_dims", 1, &weights, 1, &last, &e->chosen);
}

static hone_status read_experts(onnx_reader *r, experts *e) {
    static const char *const words[] = {"relu", "gelu", "silu", "swiglu", "identity", NULL};
    const hone_sinfo *x, *router;
    int64_t fusion;
    HONE_TRY(onnx_attr_usual(r, "use_sparse_mixer", 0));
    HONE_TRY(onnx_attr_usual(r, "swiglu_limit_after_activation", 0));
    HONE_TRY(onnx_attr_int(r, "k", 1, &e->k));
    HONE_TRY(onnx_attr_int(r, "swiglu_fusion", 0, &fusion));
    HONE_TRY(onnx_attr_word(r, "activation_type", words[RELU], words, &e->activation));
    HONE_TRY(onnx_input_info(r, X, &x));
    HONE_TRY(onnx_input_info(r, ROUTER, &router));
    e->dtype = x->dtype;
    e->count = router->rank == 2 ? hone_expr_const(router->shape[1]) : 0;
    if (e->count < 0) return onnx_unknown_size(1);
    if (e->count < 1 || (x->rank != 2 && x->rank != 3) || e->k < 1 || e->k > e->count ||
        fusion < 0 || fusion > 2)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld of %lld experts for data of %d dimensions",
                          (long long)e->k, (long long)e->count, x->rank);
    e->fusion = (uint32_t)fusion;
    const bool has_third = onnx_has_input(r, e->layers[2].weight);
    if (has_third != (e->activation == SWIGLU && !fusion))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a third layer of weights (input %u) that is %s",
                          e->layers[2].weight, has_third ? "not a swiglu's" : "missing");
    const hone_expr *tokens = x->shape[0];
    if (x->rank == 3) tokens = hone_extent_mul(&r->ir, tokens, x->shape[1]);
    const hone_expr *shape[] = {hone_extent_int(&r->ir, 1), tokens, x->shape[x->rank - 1]};
    return onnx_emit_reshape(r, r->inputs[X], 3, shape, &e->x);
}

/* By how the router chose; infinity of an expert that it did not choose is not NaN, but nothing. */
static hone_status weigh(onnx_reader *r, const experts *e, hone_garg *io) {
    hone_garg is_chosen, zero;
    HONE_TRY(onnx_emit2(r, "multiply", *io, e->chosen, io));
    HONE_TRY(onnx_with_scalar(r, "not_equal", e->chosen, 0, &is_chosen));
    HONE_TRY(onnx_scalar_like(r, io, 0, &zero));
    return onnx_emit_where(r, is_chosen, *io, zero, io);
}

static hone_status convert(onnx_reader *r, experts *e, hone_garg *out) {
    const hone_sinfo *x;
    hone_attr front = {"axis", HONE_VALUE_OF_INT(0)};
    HONE_TRY(read_experts(r, e));
    HONE_TRY(choose(r, e));
    HONE_TRY(through(r, e, &e->layers[0], e->x, out));
    HONE_TRY(activate(r, e, out));
    HONE_TRY(through(r, e, &e->layers[1], *out, out));
    HONE_TRY(weigh(r, e, out));
    HONE_TRY(onnx_emit(r, "sum", 1, out, 1, &front, out));
    HONE_TRY(onnx_input_info(r, X, &x));
    return onnx_emit_reshape(r, *out, (uint32_t)x->rank, x->shape, out);
}

static hone_status convert_experts(onnx_reader *r, hone_garg *out) {
    static const layer layers[] = {
        {.weight = 2, .bias = 3},
        {.weight = 4, .bias = 5},
        {.weight = 6, .bias = 7},
    };
    experts e = {.layers = layers};
    return convert(r, &e, out);
}

static hone_status convert_quantised(onnx_reader *r, hone_garg *out) {
    static const layer layers[] = {
        {2, 3, 4,  11, "fc1_expert_weight_bits"},
        {5, 6, 7,  12, "fc2_expert_weight_bits"},
        {8, 9, 10, 13, "fc3_expert_weight_bits"},
    };
    static const char *const types[] = {"int", NULL};
    experts e = {.layers = layers, .weights = 14};
    uint32_t type;
    int64_t layout;
    HONE_TRY(onnx_attr_word(r, "quant_type", types[0], types, &type));
    HONE_TRY(onnx_attr_int(r, "weights_prepacked", 0, &layout));
    if (layout == 1) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "weights packed for one device");
    return convert(r, &e, out);
}

#define EXPERT_ATTRS                                                                               \
    "activation_alpha activation_beta activation_type k normalize_routing_weights swiglu_fusion "  \
    "swiglu_limit swiglu_limit_after_activation use_sparse_mixer"

const onnx_converter onnx_experts_converters[] = {
    {"MoE", convert_experts, 3, 8, 1, EXPERT_ATTRS, NULL},
    {"QMoE",    convert_quantised, 4, 15, 1,
     EXPERT_ATTRS " accuracy_level block_size expert_weight_bits fc1_expert_weight_bits "
                  "fc2_expert_weight_bits fc3_expert_weight_bits quant_type weights_prepacked", NULL},
    {0   },
};
