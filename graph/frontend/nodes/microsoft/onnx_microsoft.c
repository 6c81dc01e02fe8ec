/* graph/frontend/nodes/microsoft/onnx_microsoft.c - operators of the domain com.microsoft, which
 * exporters and optimisers emit for transformers. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

static hone_status convert_bias_gelu(onnx_reader *r, hone_garg *out) {
    bool is_fast = strcmp(r->node->op_type, "FastGelu") == 0;
    *out = r->inputs[0];
    if (onnx_has_input(r, 1)) HONE_TRY(onnx_emit2(r, "add", *out, r->inputs[1], out));
    return onnx_emit1(r, is_fast ? "nn.gelu_tanh" : "nn.gelu", *out, out);
}

static hone_status convert_quick_gelu(onnx_reader *r, hone_garg *out) {
    return onnx_emit_swish(r, 1.702, out);
}

static hone_status convert_gemm_gelu(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit(r, "matmul", 2, r->inputs, 0, NULL, out));
    if (onnx_has_input(r, 2)) HONE_TRY(onnx_emit2(r, "add", *out, r->inputs[2], out));
    return onnx_emit1(r, "nn.gelu_tanh", *out, out);
}

/* Where attributes of the node say so: the first dimension goes behind those of the batch, which it
 * stands in front of, and then the last two change places; of what has so many dimensions. */
static hone_status turn_side(onnx_reader *r, const char *batch, const char *last, hone_garg *io) {
    const hone_sinfo *info;
    int64_t turns_batch, turns_last, axes[HONE_MAX_RANK];
    HONE_TRY(onnx_attr_int(r, batch, 0, &turns_batch));
    HONE_TRY(onnx_attr_int(r, last, 0, &turns_last));
    HONE_TRY(onnx_info(r, io, &info));
    const int32_t rank = info->rank;
    turns_batch = turns_batch && rank > 2;
    if (rank < 2 || (!turns_batch && !turns_last)) return HONE_OK;
    for (int32_t i = 0; i < rank - 2; i++)
        axes[i] = turns_batch ? i + 1 : i;
    axes[rank - 2] = turns_batch ? 0 : rank - 2;
    axes[rank - 1] = rank - 1;
    if (turns_last) {
        axes[rank - 1] = axes[rank - 2];
        axes[rank - 2] = rank - 1;
    }
    return onnx_emit_permute(r, *io, (uint32_t)rank, axes, io);
}

static hone_status convert_fused_matmul(onnx_reader *r, hone_garg *out) {
    double alpha;
    hone_garg sides[2] = {r->inputs[0], r->inputs[1]};
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(turn_side(r, "transBatchA", "transA", &sides[0]));
    HONE_TRY(turn_side(r, "transBatchB", "transB", &sides[1]));
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
    HONE_TRY(is_simple ? onnx_by_mean_square(r, sum, info->rank - 1, epsilon, out)
                       : onnx_standardize(r, sum, info->rank - 1, epsilon, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, r->inputs[2], out));
    if (is_simple || !onnx_has_input(r, 3)) return HONE_OK;
    return onnx_emit2(r, "add", *out, r->inputs[3], out);
}

/* ---- few bits ---- */

typedef struct few_bits {
    int64_t k, n, bits, block, blocks;
    hone_dtype dtype;
} few_bits;

static hone_status as_rows(onnx_reader *r, hone_garg x, int64_t rows, int64_t columns,
                           hone_garg *out) {
    const hone_expr *shape[] = {hone_extent_int(&r->ir, rows), hone_extent_int(&r->ir, columns)};
    return onnx_emit_reshape(r, x, 2, shape, out);
}

/* The zero points of blocks as floats; without any it is the middle. */
static hone_status zero_points(onnx_reader *r, const few_bits *w, hone_garg *out) {
    const hone_sinfo *info;
    if (!onnx_has_input(r, 3)) return onnx_scalar(r, w->dtype, (double)(1 << (w->bits - 1)), out);
    HONE_TRY(onnx_input_info(r, 3, &info));
    *out = r->inputs[3];
    if (hone_dtype_equal(info->dtype, HONE_DTYPE_U8)) {
        int64_t bytes = (w->blocks * w->bits + 7) / 8;
        HONE_TRY(as_rows(r, *out, w->n, bytes, out));
        HONE_TRY(onnx_unpack_bits(r, w->bits, out));
        HONE_TRY(onnx_emit_slice(r, *out, 1, 0, w->blocks, out));
    }
    HONE_TRY(onnx_emit_cast(r, *out, w->dtype, out));
    return as_rows(r, *out, w->n * w->blocks, 1, out);
}

/* Numbers of blocks as those of columns: one for all, or for each the one that the order of groups
 * (input 4) names. */
static hone_status by_column(onnx_reader *r, const few_bits *w, hone_garg *io) {
    const hone_sinfo *info, *groups;
    hone_garg indices = r->inputs[4];
    HONE_TRY(onnx_info(r, io, &info));
    if (info->rank == 0) return HONE_OK;
    HONE_TRY(onnx_info(r, &indices, &groups));
    int64_t count = groups->rank == 1 ? hone_expr_const(groups->shape[0]) : -1;
    if (count < w->k)
        return HONE_ERROR(HONE_CODE_INVALID, "the order of groups (input 4) is no vector of K");
    if (count > w->k) HONE_TRY(onnx_emit_slice(r, indices, 0, 0, w->k, &indices));
    HONE_TRY(as_rows(r, *io, w->n, w->blocks, io));
    return onnx_emit_take(r, *io, indices, 1, io);
}

static hone_status by_group(onnx_reader *r, const few_bits *w, hone_garg *numbers, hone_garg *zero,
                            hone_garg *scale) {
    HONE_TRY(as_rows(r, *numbers, w->n, w->blocks * w->block, numbers));
    if (w->blocks * w->block > w->k) HONE_TRY(onnx_emit_slice(r, *numbers, 1, 0, w->k, numbers));
    HONE_TRY(by_column(r, w, zero));
    return by_column(r, w, scale);
}

/* (number - zero point) * scale, block by block, or of the group of each column: [n, k]. */
static hone_status unpack_weight(onnx_reader *r, const few_bits *w, hone_garg *out) {
    hone_garg zero, scale;
    int64_t rows = w->n * w->blocks;
    bool has_order = onnx_has_input(r, 4);
    HONE_TRY(as_rows(r, r->inputs[1], rows, w->block * w->bits / 8, out));
    HONE_TRY(onnx_unpack_bits(r, w->bits, out));
    HONE_TRY(onnx_emit_cast(r, *out, w->dtype, out));
    HONE_TRY(zero_points(r, w, &zero));
    HONE_TRY(onnx_emit_cast(r, r->inputs[2], w->dtype, &scale));
    HONE_TRY(as_rows(r, scale, rows, 1, &scale));
    if (has_order) HONE_TRY(by_group(r, w, out, &zero, &scale));
    HONE_TRY(onnx_emit2(r, "subtract", *out, zero, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, scale, out));
    if (has_order) return HONE_OK;
    HONE_TRY(as_rows(r, *out, w->n, w->blocks * w->block, out));
    return w->blocks * w->block == w->k ? HONE_OK : onnx_emit_slice(r, *out, 1, 0, w->k, out);
}

static hone_status read_few_bits(onnx_reader *r, few_bits *w) {
    const hone_sinfo *info;
    int64_t is_packed;
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_int(r, "K", 0, &w->k));
    HONE_TRY(onnx_attr_int(r, "N", 0, &w->n));
    HONE_TRY(onnx_attr_int(r, "bits", 4, &w->bits));
    HONE_TRY(onnx_attr_int(r, "block_size", 0, &w->block));
    w->dtype = info->dtype;
    bool are_bits = w->bits == 2 || w->bits == 4 || w->bits == 8;
    if (!are_bits)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "weights of %lld bits", (long long)w->bits);
    if (w->k < 1 || w->k > INT32_MAX || w->n < 1 || w->n > INT32_MAX || w->block < 8 ||
        w->block > INT32_MAX || w->block * w->bits % 8 != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "blocks of %lld of a weight of %lld x %lld",
                          (long long)w->block, (long long)w->n, (long long)w->k);
    }
    w->blocks = (w->k + w->block - 1) / w->block;
    HONE_TRY(onnx_attr_int(r, "weight_prepacked", 0, &is_packed));
    if (is_packed) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "weights packed for one device");
    return HONE_OK;
}

static hone_status convert_matmul_bits(onnx_reader *r, hone_garg *out) {
    few_bits w = {0};
    hone_garg sides[2] = {r->inputs[0], {0}};
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)};
    HONE_TRY(read_few_bits(r, &w));
    HONE_TRY(unpack_weight(r, &w, &sides[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 1, &turn, out));
    return onnx_has_input(r, 5) ? onnx_emit2(r, "add", *out, r->inputs[5], out) : HONE_OK;
}

/* ---- positions ---- */

/* One position is that of the first of the sequence. */
static hone_status all_positions(onnx_reader *r, hone_garg *io) {
    const hone_sinfo *x, *info;
    hone_garg indices, args[2];
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_input_info(r, 0, &x));
    if (info->rank != 1) return HONE_OK;
    const hone_expr *length = x->shape[x->rank == 4 ? 2 : 1];
    const hone_expr *shape[] = {x->shape[0], length};
    HONE_TRY(onnx_indices(r, length, 2, 1, &indices));
    HONE_TRY(onnx_emit_cast(r, *io, HONE_DTYPE_I64, io));
    HONE_TRY(onnx_emit2(r, "add", indices, *io, &args[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, io);
}

/* The standard's, whose positions come last. */
static hone_status convert_rotary(onnx_reader *r, hone_garg *out) {
    int64_t packs;
    double scale;
    hone_garg positions = r->inputs[1];
    HONE_TRY(onnx_attr_int(r, "is_packed_batching", 0, &packs));
    HONE_TRY(onnx_attr_float(r, "scale", 1, &scale));
    if (packs || scale != 1) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' is not implemented",
                          packs ? "is_packed_batching" : "scale");
    }
    HONE_TRY(all_positions(r, &positions));
    r->inputs[1] = r->inputs[2];
    r->inputs[2] = r->inputs[3];
    r->inputs[3] = positions;
    return onnx_convert_rotary(r, out);
}

const onnx_converter onnx_microsoft_converters[] = {
    {"Gelu",     convert_bias_gelu, 1, 1, 1, "", NULL},
    {"BiasGelu",         convert_bias_gelu, 2, 2, 1, "", NULL},
    {"FastGelu",         convert_bias_gelu, 1, 2, 1, "", NULL},
    {"GemmFastGelu",      convert_gemm_gelu, 2, 3, 1, "", NULL},
    {"QuickGelu", convert_quick_gelu, 1, 1, 1, "alpha", NULL},
    {"FusedMatMul",         convert_fused_matmul, 2, 2, 1, "alpha transA transB transBatchA transBatchB",
     NULL},
    {"TransposeMatMul",         convert_fused_matmul, 2, 2, 1, "alpha transA transB", NULL},
    {"SkipLayerNormalization",      convert_skip_norm, 3, 5, 4, "epsilon", NULL},
    {"SkipSimplifiedLayerNormalization", convert_skip_norm, 3, 4, 4, "epsilon", NULL},
    {"MatMulNBits",         convert_matmul_bits, 3, 6, 1,
     "K N accuracy_level bits block_size weight_prepacked", NULL},
    {"RotaryEmbedding",         convert_rotary, 4, 4, 1,
     "interleaved is_packed_batching num_heads rotary_embedding_dim scale", NULL},
    {0     },
};
