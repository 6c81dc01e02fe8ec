/* graph/frontend/nodes/onnx_attention.c - attention: how much of each value a query takes is a
 * softmax of its products with the keys, after a bias that hides keys. A query that sees no key
 * takes nothing.
 */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- heads ---- */

hone_status onnx_unknown_size(int d) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "the size of dimension %d is not known; give it with --shape", d);
}

/* [batch, sequence, heads * size] as [batch, heads, sequence, size]. */
hone_status onnx_split_heads(onnx_reader *r, hone_garg x, int64_t heads, hone_garg *out) {
    static const int64_t axes[] = {0, 2, 1, 3};
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    int64_t width = info->rank == 3 ? hone_expr_const(info->shape[2]) : -1;
    *out = x;
    if (info->rank == 4) return HONE_OK;
    if (info->rank == 3 && width < 0) return onnx_unknown_size(2);
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
hone_status onnx_join_heads(onnx_reader *r, hone_garg *io) {
    static const int64_t axes[] = {0, 2, 1, 3};
    const hone_sinfo *info;
    HONE_TRY(onnx_emit_permute(r, *io, 4, axes, io));
    HONE_TRY(onnx_info(r, io, &info));
    const hone_expr *width = hone_extent_mul(&r->ir, info->shape[2], info->shape[3]);
    const hone_expr *shape[] = {info->shape[0], info->shape[1], width};
    return onnx_emit_reshape(r, *io, 3, shape, io);
}

hone_status onnx_repeat_heads(onnx_reader *r, int64_t times, hone_garg *io) {
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

/* ---- what a query sees ---- */

static hone_status both(onnx_reader *r, hone_garg more, hone_garg *io) {
    if (io->kind == HONE_GARG_NONE) {
        *io = more;
        return HONE_OK;
    }
    return onnx_emit2(r, "logical_and", *io, more, io);
}

/* Positions of the queries among all keys, [queries, 1] or [batch, 1, queries, 1], and of the keys.
 */
static hone_status find_positions(onnx_reader *r, const onnx_attention *a, hone_garg *queries,
                                  hone_garg *keys) {
    const hone_sinfo *q, *k;
    HONE_TRY(onnx_info(r, &a->q, &q));
    HONE_TRY(onnx_info(r, &a->k, &k));
    HONE_TRY(onnx_indices(r, q->shape[2], 2, 0, queries));
    HONE_TRY(onnx_indices(r, k->shape[2], 2, 1, keys));
    if (a->lengths.kind == HONE_GARG_NONE) {
        if (a->past < 0)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "a past of unknown length; give it with --shape");
        return a->past ? onnx_with_scalar(r, "add", *queries, (double)a->past, queries) : HONE_OK;
    }
    int64_t count = hone_expr_const(q->shape[2]);
    if (count < 0) return onnx_unknown_size(2);
    HONE_TRY(onnx_with_scalar(r, "subtract", *queries, (double)count, queries));
    return onnx_emit2(r, "add", *queries, a->lengths, queries);
}

/* A side of a window: keys at most `width` before a query, or behind it. */
static hone_status within_window(onnx_reader *r, const hone_garg *positions, int64_t width,
                                 bool is_before, hone_garg *io) {
    hone_garg end, is_inside;
    HONE_TRY(onnx_with_scalar(r, "add", positions[0], (double)(is_before ? -width : width), &end));
    HONE_TRY(
        onnx_emit2(r, is_before ? "greater_equal" : "less_equal", positions[1], end, &is_inside));
    return both(r, is_inside, io);
}

/* Which keys a query may look at, by their positions; NONE: all. */
static hone_status visible_keys(onnx_reader *r, const onnx_attention *a, hone_garg *out) {
    hone_garg positions[2], is_there;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    bool has_window = a->left >= 0 || a->right >= 0;
    if (!a->is_causal && !has_window && a->lengths.kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(find_positions(r, a, &positions[0], &positions[1]));
    if (a->lengths.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_emit2(r, "less", positions[1], a->lengths, &is_there));
        HONE_TRY(both(r, is_there, out));
    }
    if (a->is_causal) HONE_TRY(within_window(r, positions, 0, false, out));
    if (a->left >= 0) HONE_TRY(within_window(r, positions, a->left, true, out));
    if (a->right >= 0) HONE_TRY(within_window(r, positions, a->right, false, out));
    return HONE_OK;
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

/* The sum of what hides keys; NONE where nothing does. */
static hone_status whole_bias(onnx_reader *r, const onnx_attention *a, hone_dtype dtype,
                              hone_garg *out) {
    hone_garg visible;
    HONE_TRY(visible_keys(r, a, &visible));
    *out = a->bias;
    if (visible.kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(as_bias(r, visible, dtype, &visible));
    if (a->bias.kind == HONE_GARG_NONE) {
        *out = visible;
        return HONE_OK;
    }
    return onnx_emit2(r, "add", a->bias, visible, out);
}

/* Without what -inf hides altogether: 0 there. */
static hone_status without_hidden(onnx_reader *r, hone_garg bias, hone_garg *io) {
    hone_garg most, choice[3];
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &bias, &info));
    if (info->rank == 0) return HONE_OK;
    HONE_TRY(onnx_emit_along(r, "max", bias, -1, &most));
    HONE_TRY(onnx_with_scalar(r, "equal", most, -HUGE_VAL, &choice[0]));
    HONE_TRY(onnx_scalar_like(r, io, 0, &choice[1]));
    choice[2] = *io;
    return onnx_emit(r, "where", 3, choice, 0, NULL, io);
}

/* Softmax along the last axis beside a number more, which is left out. */
static hone_status softmax_beside(onnx_reader *r, hone_garg sink, hone_garg x, hone_garg *out) {
    hone_garg most, rest, sum;
    HONE_TRY(onnx_emit_along(r, "max", x, -1, &most));
    HONE_TRY(onnx_emit2(r, "maximum", most, sink, &most));
    HONE_TRY(onnx_emit2(r, "subtract", x, most, out));
    HONE_TRY(onnx_emit1(r, "exp", *out, out));
    HONE_TRY(onnx_emit2(r, "subtract", sink, most, &rest));
    HONE_TRY(onnx_emit1(r, "exp", rest, &rest));
    HONE_TRY(onnx_emit_along(r, "sum", *out, -1, &sum));
    HONE_TRY(onnx_emit2(r, "add", sum, rest, &sum));
    return onnx_emit2(r, "divide", *out, sum, out);
}

/* How much of each value a query takes; out[0] to out[3]: the products, these after the cap, with
 * the bias, and the weights. Queries get the whole scale: there are as many keys, and more of them
 * where few tokens are new. */
static hone_status weigh(onnx_reader *r, const onnx_attention *a, hone_garg out[4]) {
    const hone_sinfo *info;
    hone_garg args[2] = {a->q, a->k}, bias;
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)}, axis = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_with_scalar(r, "multiply", args[0], a->scale, &args[0]));
    HONE_TRY(onnx_emit(r, "matmul", 2, args, 1, &turn, &out[0]));
    HONE_TRY(onnx_info(r, &out[0], &info));
    out[1] = out[0];
    if (a->softcap > 0) {
        HONE_TRY(onnx_with_scalar(r, "divide", out[1], a->softcap, &out[1]));
        HONE_TRY(onnx_emit1(r, "tanh", out[1], &out[1]));
        HONE_TRY(onnx_with_scalar(r, "multiply", out[1], a->softcap, &out[1]));
    }
    HONE_TRY(whole_bias(r, a, info->dtype, &bias));
    out[2] = out[1];
    if (bias.kind != HONE_GARG_NONE) HONE_TRY(onnx_emit2(r, "add", out[1], bias, &out[2]));
    HONE_TRY(onnx_keeps_shape(r, &out[0], &out[2], "the mask"));
    HONE_TRY(a->has_sink ? softmax_beside(r, a->sink, out[2], &out[3])
                         : onnx_emit(r, "nn.softmax", 1, &out[2], 1, &axis, &out[3]));
    return a->may_hide_all ? without_hidden(r, bias, &out[3]) : HONE_OK;
}

onnx_attention onnx_no_attention(void) {
    return (onnx_attention){.left = -1,
                            .right = -1,
                            .bias = {.kind = HONE_GARG_NONE},
                            .lengths = {.kind = HONE_GARG_NONE}};
}

hone_status onnx_attend(onnx_reader *r, onnx_attention *a, hone_garg *out, hone_garg stages[4]) {
    const hone_sinfo *q, *k;
    HONE_TRY(onnx_info(r, &a->q, &q));
    HONE_TRY(onnx_info(r, &a->k, &k));
    int64_t heads = hone_expr_const(q->shape[1]), served = hone_expr_const(k->shape[1]);
    if (heads < 0 || served < 0) return onnx_unknown_size(1);
    if (heads < 1 || served < 1 || heads % served != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld heads of queries for %lld of keys",
                          (long long)heads, (long long)served);
    }
    HONE_TRY(onnx_repeat_heads(r, heads / served, &a->k));
    HONE_TRY(onnx_repeat_heads(r, heads / served, &a->v));
    HONE_TRY(weigh(r, a, stages));
    hone_garg args[2] = {stages[3], a->v};
    return onnx_emit(r, "matmul", 2, args, 0, NULL, out);
}

/* ---- the standard's ---- */

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

/* A mask that ends before the keys do hides those behind it. */
static hone_status mask_bias(onnx_reader *r, const onnx_attention *a, hone_garg *out) {
    const hone_sinfo *mask, *k;
    HONE_TRY(onnx_info(r, &a->q, &k));
    HONE_TRY(as_bias(r, r->inputs[3], k->dtype, out));
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

static hone_status read_past(onnx_reader *r, onnx_attention *a) {
    const hone_sinfo *info;
    if (!onnx_has_input(r, 4)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 4, &info));
    a->past = info->rank == 4 ? hone_expr_const(info->shape[2]) : -1;
    return HONE_OK;
}

/* How many keys of each of the batch count, at most all: [batch, 1, 1, 1]. */
static hone_status read_lengths(onnx_reader *r, onnx_attention *a) {
    const hone_sinfo *info, *k;
    if (!onnx_has_input(r, 6)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 6, &info));
    if (info->rank != 1 || onnx_has_input(r, 4))
        return HONE_ERROR(HONE_CODE_INVALID, "lengths (input 6) must be a vector, without a past");
    const hone_expr *one = hone_extent_int(&r->ir, 1), *shape[] = {info->shape[0], one, one, one};
    HONE_TRY(onnx_info(r, &a->k, &k));
    HONE_TRY(
        onnx_emit_within(r, r->inputs[6], hone_extent_add(&r->ir, k->shape[2], 1), &a->lengths));
    return onnx_emit_reshape(r, a->lengths, 4, shape, &a->lengths);
}

static hone_status read_attention(onnx_reader *r, onnx_attention *a) {
    int64_t causal, q_heads, kv_heads;
    const hone_sinfo *info;
    HONE_TRY(onnx_attr_int(r, "is_causal", 0, &causal));
    HONE_TRY(onnx_attr_int(r, "q_num_heads", 0, &q_heads));
    HONE_TRY(onnx_attr_int(r, "kv_num_heads", 0, &kv_heads));
    HONE_TRY(onnx_attr_int(r, "left_window_size", -1, &a->left));
    HONE_TRY(onnx_attr_int(r, "right_window_size", -1, &a->right));
    HONE_TRY(onnx_attr_float(r, "softcap", 0, &a->softcap));
    a->is_causal = causal != 0;
    HONE_TRY(onnx_split_heads(r, r->inputs[0], q_heads, &a->q));
    HONE_TRY(onnx_split_heads(r, r->inputs[1], kv_heads, &a->k));
    HONE_TRY(onnx_split_heads(r, r->inputs[2], kv_heads, &a->v));
    HONE_TRY(onnx_info(r, &a->q, &info));
    int64_t size = hone_expr_const(info->shape[3]);
    if (size < 0) return onnx_unknown_size(3);
    if (size == 0) return HONE_ERROR(HONE_CODE_INVALID, "heads of no size");
    HONE_TRY(onnx_attr_float(r, "scale", 1 / sqrt((double)size), &a->scale));
    HONE_TRY(read_past(r, a));
    return read_lengths(r, a);
}

static hone_status convert_attention(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *given;
    int64_t mode;
    hone_garg stages[4];
    onnx_attention a = {.bias = {.kind = HONE_GARG_NONE}, .lengths = {.kind = HONE_GARG_NONE}};
    HONE_TRY(onnx_input_info(r, 0, &given));
    HONE_TRY(onnx_attr_int(r, "qk_matmul_output_mode", 0, &mode));
    if (mode < 0 || mode > 3)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'qk_matmul_output_mode' is %lld",
                          (long long)mode);
    HONE_TRY(read_attention(r, &a));
    HONE_TRY(with_past(r, 4, &a.k, &out[1]));
    HONE_TRY(with_past(r, 5, &a.v, &out[2]));
    if (onnx_has_input(r, 3)) HONE_TRY(mask_bias(r, &a, &a.bias));
    a.may_hide_all =
        onnx_has_input(r, 3) || a.lengths.kind != HONE_GARG_NONE || a.left >= 0 || a.right >= 0;
    HONE_TRY(onnx_attend(r, &a, out, stages));
    out[3] = stages[mode];
    return given->rank == 3 ? onnx_join_heads(r, out) : HONE_OK;
}

const onnx_converter onnx_attention_converters[] = {
    {"Attention", convert_attention, 3, 7, 4,
     "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size "
     "scale softcap softmax_precision", NULL},
    {0         },
};
