/* graph/frontend/nodes/microsoft/onnx_heads.c - attention as com.microsoft has it: one product for
 * queries, keys and values (Attention, QAttention), three of them (MultiHeadAttention), or fewer
 * heads of keys than of queries and a cache that is longer than what is in it
 * (GroupQueryAttention).
 */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* Where an operator has its mask, its states and its bias. */
typedef struct operands {
    uint32_t mask, past, bias;
} operands;

enum { NOWHERE = ONNX_MAX_INPUTS };

/* ---- masks ---- */

/* Two lists, one behind the other: where the keys of each of the batch end, and where they begin.
 */
static hone_status within_ends(onnx_reader *r, hone_garg lists, const hone_sinfo *k,
                               hone_garg *out) {
    const hone_expr *one = hone_extent_int(&r->ir, 1), *two = hone_extent_int(&r->ir, 2);
    const hone_expr *apart[] = {two, k->shape[0], one, one, one},
                    *whole[] = {k->shape[0], one, one, one};
    hone_garg positions, ends[2], begins;
    HONE_TRY(onnx_indices(r, k->shape[2], 1, 0, &positions));
    HONE_TRY(onnx_emit_cast(r, lists, HONE_DTYPE_I64, &lists));
    HONE_TRY(onnx_emit_reshape(r, lists, 5, apart, &lists));
    for (int64_t i = 0; i < 2; i++) {
        HONE_TRY(onnx_emit_slice(r, lists, 0, i, i + 1, &ends[i]));
        HONE_TRY(onnx_emit_reshape(r, ends[i], 4, whole, &ends[i]));
    }
    HONE_TRY(onnx_emit2(r, "less", positions, ends[0], out));
    HONE_TRY(onnx_emit2(r, "greater_equal", positions, ends[1], &begins));
    return onnx_emit2(r, "logical_and", *out, begins, out);
}

/* Ends of keys, or behind them; one that is negative is an index out of range. */
static hone_status end_of_keys(onnx_reader *r, hone_garg ends, const hone_expr *keys,
                               hone_garg *out) {
    hone_garg most;
    HONE_TRY(onnx_emit_cast(r, ends, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_sizes_tensor(r, 1, &keys, &most));
    HONE_TRY(onnx_emit2(r, "minimum", *out, most, out));
    return onnx_emit_within(r, *out, hone_extent_add(&r->ir, keys, 1), out);
}

/* Which keys count, by the form of the mask: true where they do. */
static hone_status read_mask(onnx_reader *r, uint32_t input, const onnx_attention *a,
                             hone_garg *out) {
    const hone_sinfo *mask, *k;
    hone_garg positions, ends;
    HONE_TRY(onnx_input_info(r, input, &mask));
    HONE_TRY(onnx_info(r, &a->k, &k));
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *twice = hone_extent_mul(&r->ir, k->shape[0], hone_extent_int(&r->ir, 2));
    if (mask->rank == 1 && hone_extent_same(mask->shape[0], twice))
        return within_ends(r, r->inputs[input], k, out);
    if (mask->rank == 1 && hone_extent_same(mask->shape[0], k->shape[0])) { /* how many */
        const hone_expr *shape[] = {mask->shape[0], one, one, one};
        HONE_TRY(onnx_indices(r, k->shape[2], 1, 0, &positions));
        HONE_TRY(end_of_keys(r, r->inputs[input], k->shape[2], &ends));
        HONE_TRY(onnx_emit_reshape(r, ends, 4, shape, &ends));
        return onnx_emit2(r, "less", positions, ends, out);
    }
    if (mask->rank != 2 && mask->rank != 3)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a mask (input %u) of %d dimensions, or of several lists", input,
                          mask->rank);
    const hone_expr *shape[] = {mask->shape[0], one, mask->rank == 3 ? mask->shape[1] : one,
                                mask->shape[mask->rank - 1]};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[input], 4, shape, out));
    return onnx_with_scalar(r, "greater", *out, 0, out);
}

/* What is hidden counts as the attribute says; what an input adds to the products comes on top. */
static hone_status read_bias(onnx_reader *r, const operands *at, onnx_attention *a) {
    double hidden;
    hone_garg choice[3], mask;
    const hone_sinfo *info;
    if (onnx_has_input(r, at->bias)) a->bias = r->inputs[at->bias];
    if (!onnx_has_input(r, at->mask)) return HONE_OK;
    HONE_TRY(onnx_attr_float(r, "mask_filter_value", -10000, &hidden));
    HONE_TRY(onnx_info(r, &a->q, &info));
    HONE_TRY(read_mask(r, at->mask, a, &choice[0]));
    HONE_TRY(onnx_scalar(r, info->dtype, 0, &choice[1]));
    HONE_TRY(onnx_scalar(r, info->dtype, hidden, &choice[2]));
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, &mask));
    if (a->bias.kind != HONE_GARG_NONE) return onnx_emit2(r, "add", mask, a->bias, &a->bias);
    a->bias = mask;
    return HONE_OK;
}

static hone_status finish(onnx_reader *r, const operands *at, onnx_attention *a, hone_garg *out) {
    hone_garg stages[4];
    int64_t causal;
    HONE_TRY(onnx_attr_int(r, "unidirectional", 0, &causal));
    a->is_causal = causal != 0;
    HONE_TRY(read_bias(r, at, a));
    HONE_TRY(onnx_attend(r, a, out, stages));
    return onnx_join_heads(r, out);
}

hone_status onnx_attention_scale(onnx_reader *r, onnx_attention *a) {
    const hone_sinfo *info;
    double scale;
    HONE_TRY(onnx_info(r, &a->q, &info));
    int64_t size = hone_expr_const(info->shape[3]);
    if (size < 1) return onnx_unknown_size(3);
    HONE_TRY(onnx_attr_float(r, "scale", 0, &scale));
    a->scale = scale != 0 ? scale : 1 / sqrt((double)size);
    return HONE_OK;
}

/* ---- one product: Attention and QAttention ---- */

/* Queries, keys and values are parts of one product. */
static hone_status take_apart(onnx_reader *r, hone_garg all, onnx_attention *a) {
    int64_t heads, sizes[3], at = 0;
    uint32_t count;
    hone_garg *parts[] = {&a->q, &a->k, &a->v};
    const hone_sinfo *info;
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &heads));
    HONE_TRY(onnx_attr_ints(r, "qkv_hidden_sizes", 3, sizes, &count));
    HONE_TRY(onnx_info(r, &all, &info));
    int64_t width = info->rank == 3 ? hone_expr_const(info->shape[2]) : -1;
    if (info->rank == 3 && width < 0) return onnx_unknown_size(2);
    if (width < 1) return HONE_ERROR(HONE_CODE_INVALID, "data of %d dimensions", info->rank);
    for (int i = 0; count != 3 && i < 3; i++)
        sizes[i] = width / 3;
    if (sizes[0] < 1 || sizes[2] < 1 || sizes[0] != sizes[1] || sizes[0] > width ||
        sizes[2] != width - 2 * sizes[0])
        return HONE_ERROR(HONE_CODE_INVALID,
                          "sizes of queries, keys and values beside a width of %lld",
                          (long long)width);
    for (int i = 0; i < 3; i++) {
        HONE_TRY(onnx_emit_slice(r, all, 2, at, at + sizes[i], parts[i]));
        HONE_TRY(onnx_split_heads(r, *parts[i], heads, parts[i]));
        at += sizes[i];
    }
    return onnx_attention_scale(r, a);
}

/* Half of what came before, in front of what is new. */
static hone_status add_past(onnx_reader *r, uint32_t input, int64_t half, hone_garg *io) {
    const hone_sinfo *past;
    hone_garg parts[2] = {{0}, *io};
    HONE_TRY(onnx_input_info(r, input, &past));
    if (past->rank != 5)
        return HONE_ERROR(HONE_CODE_INVALID, "a past of %d dimensions", past->rank);
    HONE_TRY(onnx_emit_slice(r, r->inputs[input], 0, half, half + 1, &parts[0]));
    HONE_TRY(onnx_emit_reshape(r, parts[0], 4, past->shape + 1, &parts[0]));
    return onnx_emit_concat(r, 2, parts, 2, io);
}

static hone_status make_present(onnx_reader *r, const onnx_attention *a, hone_garg *out) {
    hone_garg parts[2] = {a->k, a->v};
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    for (int i = 0; i < 2; i++)
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[i], 1, &axis, &parts[i]));
    return onnx_emit_concat(r, 2, parts, 0, out);
}

static hone_status read_past(onnx_reader *r, uint32_t input, onnx_attention *a) {
    const hone_sinfo *past;
    if (!onnx_has_input(r, input)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, input, &past));
    a->past = past->rank == 5 ? hone_expr_const(past->shape[3]) : -1;
    HONE_TRY(add_past(r, input, 0, &a->k));
    return add_past(r, input, 1, &a->v);
}

static hone_status check_attention(const onnx_reader *r) {
    int64_t rotary, shares;
    HONE_TRY(onnx_attr_int(r, "do_rotary", 0, &rotary));
    HONE_TRY(onnx_attr_int(r, "past_present_share_buffer", 0, &shares));
    if (!rotary && !shares) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' = 1 is not implemented",
                      rotary ? "do_rotary" : "past_present_share_buffer");
}

static hone_status attend_to(onnx_reader *r, const operands *at, hone_garg all, hone_garg *out) {
    onnx_attention a = onnx_no_attention();
    HONE_TRY(check_attention(r));
    HONE_TRY(take_apart(r, all, &a));
    HONE_TRY(read_past(r, at->past, &a));
    HONE_TRY(make_present(r, &a, &out[1]));
    return finish(r, at, &a, out);
}

static hone_status convert_attention(onnx_reader *r, hone_garg *out) {
    static const operands at = {3, 4, 5};
    hone_garg all, sides[2] = {r->inputs[0], r->inputs[1]};
    if (onnx_has_input(r, 6))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a length of the past (input 6)");
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, &all));
    if (onnx_has_input(r, 2)) HONE_TRY(onnx_emit2(r, "add", all, r->inputs[2], &all));
    return attend_to(r, &at, all, out);
}

/* The product of short numbers, whose sums are exact. */
static hone_status convert_quantised(onnx_reader *r, hone_garg *out) {
    static const operands at = {5, 8, NOWHERE};
    hone_garg all;
    const onnx_factors factors = {
        .a = r->inputs[0],
        .b = r->inputs[1],
        .scale_a = r->inputs[3],
        .scale_b = r->inputs[4],
        .zero_a = onnx_given(r, 6),
        .zero_b = onnx_given(r, 7),
        .bias = r->inputs[2],
    };
    HONE_TRY(onnx_emit_float_product(r, &factors, &all));
    return attend_to(r, &at, all, out);
}

/* ---- three of them: MultiHeadAttention ---- */

/* Part `i` of the bias, which is one vector for queries, keys and values. */
static hone_status add_bias(onnx_reader *r, int64_t begin, int64_t width, hone_garg *io) {
    hone_garg part;
    if (!onnx_has_input(r, 3)) return HONE_OK;
    HONE_TRY(onnx_emit_slice(r, r->inputs[3], 0, begin, begin + width, &part));
    return onnx_emit2(r, "add", *io, part, io);
}

/* Its length may be a name: it is that of the three together. */
static hone_status size_bias(onnx_reader *r) {
    int64_t length = 0;
    if (!onnx_has_input(r, 3)) return HONE_OK;
    for (uint32_t i = 0; i < 3 && onnx_has_input(r, i); i++) {
        const hone_sinfo *info;
        HONE_TRY(onnx_input_info(r, i, &info));
        int64_t width = info->rank == 3 ? hone_expr_const(info->shape[2]) : 0;
        if (width < 0) return onnx_unknown_size(2);
        length += width;
    }
    return onnx_demand_size(r, &r->inputs[3], 0, length);
}

/* Queries, keys or values from [batch, sequence, heads, count, size]: number i as
 * [batch, heads, sequence, size]. */
static hone_status take_packed(onnx_reader *r, hone_garg packed, int64_t i, hone_garg *out) {
    static const int64_t axes[] = {0, 2, 1, 3};
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &packed, &info));
    const hone_expr *shape[] = {info->shape[0], info->shape[1], info->shape[2], info->shape[4]};
    HONE_TRY(onnx_emit_slice(r, packed, 3, i, i + 1, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 4, shape, out));
    return onnx_emit_permute(r, *out, 4, axes, out);
}

/* One of three: of three dimensions and with its part of the bias, or apart already. */
static hone_status take_separate(onnx_reader *r, uint32_t input, int64_t heads, int64_t *io_begin,
                                 hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, input, &info));
    *out = r->inputs[input];
    if (info->rank == 3) {
        int64_t width = hone_expr_const(info->shape[2]);
        if (width < 1) return onnx_unknown_size(2);
        HONE_TRY(add_bias(r, *io_begin, width, out));
        *io_begin += width;
    }
    return onnx_split_heads(r, *out, heads, out);
}

static hone_status take_inputs(onnx_reader *r, int64_t heads, onnx_attention *a) {
    const hone_sinfo *q, *k = NULL;
    int64_t begin = 0;
    HONE_TRY(onnx_input_info(r, 0, &q));
    if (onnx_has_input(r, 1)) HONE_TRY(onnx_input_info(r, 1, &k));
    bool is_one = q->rank == 5, are_two = k && k->rank == 5;
    if ((is_one || are_two) && onnx_has_input(r, 3))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a bias (input 3) of packed inputs");
    if (!is_one && (!k || (!are_two && !onnx_has_input(r, 2))))
        return HONE_ERROR(HONE_CODE_INVALID, "keys and values (inputs 1 and 2) are missing");
    if (is_one) {
        HONE_TRY(take_packed(r, r->inputs[0], 0, &a->q));
    } else {
        HONE_TRY(take_separate(r, 0, heads, &begin, &a->q));
    }
    if (is_one || are_two) {
        hone_garg packed = r->inputs[is_one ? 0 : 1];
        HONE_TRY(take_packed(r, packed, is_one, &a->k));
        return take_packed(r, packed, is_one + 1, &a->v);
    }
    HONE_TRY(take_separate(r, 1, heads, &begin, &a->k));
    return take_separate(r, 2, heads, &begin, &a->v);
}

/* What came before, [batch, heads, past, size], in front of what is new. */
static hone_status join_past(onnx_reader *r, uint32_t input, hone_garg *io) {
    hone_garg parts[2] = {r->inputs[input], *io};
    return onnx_emit_concat(r, 2, parts, 2, io);
}

static hone_status convert_multi_head(onnx_reader *r, hone_garg *out) {
    static const operands at = {4, 6, 5};
    const hone_sinfo *past;
    int64_t heads;
    onnx_attention a = onnx_no_attention();
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &heads));
    if (onnx_has_input(r, 8) || onnx_has_input(r, 9))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a length of the past (input 8) or a beam (input 9)");
    HONE_TRY(size_bias(r));
    HONE_TRY(take_inputs(r, heads, &a));
    HONE_TRY(onnx_attention_scale(r, &a));
    if (onnx_has_input(r, at.past)) {
        HONE_TRY(onnx_input_info(r, at.past, &past));
        a.past = past->rank == 4 ? hone_expr_const(past->shape[2]) : -1;
        HONE_TRY(join_past(r, at.past, &a.k));
        HONE_TRY(join_past(r, at.past + 1, &a.v));
    }
    out[1] = a.k;
    out[2] = a.v;
    return finish(r, &at, &a, out);
}

/* ---- fewer keys than queries: GroupQueryAttention ---- */

typedef struct grouped {
    int64_t heads, served;
    onnx_attention a;
    hone_garg begins, ends; /* what was there before, and is there now: [batch, 1, 1, 1] */
    hone_garg positions;    /* of the queries among all keys: [batch, 1, queries, 1] */
} grouped;

static hone_status take_grouped(onnx_reader *r, grouped *g) {
    const hone_sinfo *info;
    hone_garg q = r->inputs[0], k, v;
    HONE_TRY(onnx_info(r, &q, &info));
    int64_t width = info->rank == 3 ? hone_expr_const(info->shape[2]) : -1;
    if (info->rank == 3 && width < 0) return onnx_unknown_size(2);
    if (width < 1 || g->heads < 1 || g->served < 1)
        return HONE_ERROR(HONE_CODE_INVALID, "queries of %d dimensions for %lld heads", info->rank,
                          (long long)g->heads);
    if (onnx_has_input(r, 1)) {
        k = r->inputs[1];
        v = r->inputs[2];
    } else {
        int64_t size = width / (g->heads + 2 * g->served), at = g->heads * size;
        int64_t each = g->served * size;
        HONE_TRY(onnx_emit_slice(r, r->inputs[0], 2, 0, at, &q));
        HONE_TRY(onnx_emit_slice(r, r->inputs[0], 2, at, at + each, &k));
        HONE_TRY(onnx_emit_slice(r, r->inputs[0], 2, at + each, at + 2 * each, &v));
    }
    HONE_TRY(onnx_split_heads(r, q, g->heads, &g->a.q));
    HONE_TRY(onnx_split_heads(r, k, g->served, &g->a.k));
    return onnx_split_heads(r, v, g->served, &g->a.v);
}

/* As many as there are in total: at least 1, and at most the past and what is new. */
static hone_status read_total(onnx_reader *r, const hone_expr *now, hone_garg *out) {
    const hone_sinfo *past;
    const hone_expr *most = now;
    if (onnx_has_input(r, 3)) {
        HONE_TRY(onnx_input_info(r, 3, &past));
        if (past->rank == 4) most = hone_extent_sum(&r->ir, past->shape[2], now);
    }
    HONE_TRY(onnx_emit_cast(r, r->inputs[6], HONE_DTYPE_I64, out));
    HONE_TRY(onnx_with_scalar(r, "subtract", *out, 1, out));
    HONE_TRY(onnx_emit_within(r, *out, most, out));
    return onnx_with_scalar(r, "add", *out, 1, out);
}

/* All tokens are new where there are as many as in total: then none was there before, and those of
 * short ones of a batch end with padding. Lengths, less 1, are positions of the cache behind. */
static hone_status read_lengths(onnx_reader *r, grouped *g, const hone_expr *behind) {
    const hone_sinfo *q, *k, *lengths;
    hone_garg count, total, is_first, zero, choice[3];
    HONE_TRY(onnx_info(r, &g->a.q, &q));
    HONE_TRY(onnx_input_info(r, 5, &lengths));
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {q->shape[0], one, one, one};
    HONE_TRY(onnx_emit_within(r, r->inputs[5], behind, &g->ends));
    HONE_TRY(onnx_emit_reshape(r, g->ends, 4, shape, &g->ends));
    HONE_TRY(onnx_with_scalar(r, "add", g->ends, 1, &g->ends));
    HONE_TRY(onnx_sizes_tensor(r, 1, &q->shape[2], &count));
    HONE_TRY(onnx_info(r, &g->a.k, &k));
    HONE_TRY(read_total(r, k->shape[2], &total));
    HONE_TRY(onnx_emit2(r, "equal", total, count, &is_first));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_emit2(r, "subtract", g->ends, count, &choice[2]));
    choice[0] = is_first;
    choice[1] = zero;
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, &g->begins));
    HONE_TRY(onnx_indices(r, q->shape[2], 4, 2, &g->positions));
    return onnx_emit2(r, "add", g->positions, g->begins, &g->positions);
}

static hone_status rotate_new(onnx_reader *r, grouped *g) {
    const hone_sinfo *q;
    int64_t rotates, interleaved;
    HONE_TRY(onnx_attr_int(r, "do_rotary", 0, &rotates));
    HONE_TRY(onnx_attr_int(r, "rotary_interleaved", 0, &interleaved));
    if (!rotates) return HONE_OK;
    if (!onnx_has_input(r, 7) || !onnx_has_input(r, 8))
        return HONE_ERROR(HONE_CODE_INVALID, "cosines and sines (inputs 7 and 8) are missing");
    onnx_rotation t = {r->inputs[7], r->inputs[8], g->positions, 0, interleaved != 0};
    HONE_TRY(onnx_info(r, &t.cosines, &q));
    int64_t half = q->rank == 2 ? hone_expr_const(q->shape[1]) : -1;
    if (q->rank == 2 && half < 0) return onnx_unknown_size(1);
    if (half < 1) return HONE_ERROR(HONE_CODE_INVALID, "cosines must be a table of known width");
    t.count = 2 * half;
    HONE_TRY(onnx_info(r, &g->a.q, &q));
    const hone_expr *shape[] = {q->shape[0], q->shape[2]};
    HONE_TRY(onnx_emit_reshape(r, g->positions, 2, shape, &t.positions));
    if (onnx_has_input(r, 9))
        HONE_TRY(onnx_emit_cast(r, r->inputs[9], HONE_DTYPE_I64, &t.positions));
    HONE_TRY(onnx_rotate(r, &t, g->a.q, &g->a.q));
    return onnx_rotate(r, &t, g->a.k, &g->a.k);
}

/* How long the cache is behind: as before, or as many as there are in total. */
static hone_status length_behind(onnx_reader *r, const hone_sinfo *past, const hone_expr *now,
                                 const hone_expr **out) {
    hone_garg length, total = r->inputs[6];
    int64_t known, before = past ? hone_expr_const(past->shape[2]) : 0;
    const hone_expr *ints[1];
    uint32_t count;
    int32_t rank;
    *out = now;
    if (!past || before == 0) return HONE_OK;
    bool is_known = onnx_known_ints(r, &total, &count, ints, &rank) && count == 1;
    known = is_known ? hone_expr_const(ints[0]) : -1;
    if (known >= 0 && before >= 0) {
        *out = hone_extent_int(&r->ir, known > before ? known : before);
        return hone_ir_finish(&r->ir);
    }
    HONE_TRY(onnx_sizes_tensor(r, 1, &past->shape[2], &length));
    HONE_TRY(onnx_emit_cast(r, total, HONE_DTYPE_I64, &total));
    HONE_TRY(onnx_emit2(r, "maximum", length, total, &length));
    const hone_expr *found[1] = {NULL};
    HONE_TRY(onnx_find_sizes(r, length, 1, -1, found));
    *out = found[0];
    return HONE_OK;
}

hone_status onnx_emit_at_positions(onnx_reader *r, hone_garg x, const hone_sinfo *like,
                                   const hone_expr *behind, hone_garg positions, hone_garg *out) {
    hone_garg last, wide[2], args[2];
    const hone_sinfo *info;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(2)};
    HONE_TRY(onnx_info(r, &x, &info));
    const hone_expr *shape[] = {like->shape[0], like->shape[1], behind, like->shape[3]};
    HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[2], &last));
    HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
    HONE_TRY(onnx_with_scalar(r, "maximum", positions, 0, &positions));
    HONE_TRY(onnx_emit2(r, "minimum", positions, last, &wide[0]));
    HONE_TRY(onnx_make_ints(r, 4, shape, 1, &wide[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, wide, 0, NULL, &args[1]));
    args[0] = x;
    return onnx_emit(r, "gather_elements", 2, args, 1, &axis, out);
}

/* The cache: what was there, then what is new, then nothing. */
static hone_status fill_cache(onnx_reader *r, const grouped *g, uint32_t past,
                              const hone_expr *behind, hone_garg *io) {
    const hone_sinfo *info, *before;
    hone_garg keys, moved, is_old, is_there, old, zero;
    HONE_TRY(onnx_input_info(r, past, &before));
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_scalar_like(r, io, 0, &zero));
    HONE_TRY(onnx_indices(r, behind, 4, 2, &keys));
    HONE_TRY(onnx_emit2(r, "subtract", keys, g->begins, &moved));
    HONE_TRY(onnx_emit_at_positions(r, *io, info, behind, moved, io));
    HONE_TRY(onnx_emit2(r, "less", keys, g->ends, &is_there));
    HONE_TRY(onnx_emit_where(r, is_there, *io, zero, io));
    if (onnx_is_empty(before)) return HONE_OK;
    HONE_TRY(onnx_emit_at_positions(r, r->inputs[past], info, behind, keys, &old));
    HONE_TRY(onnx_emit2(r, "less", keys, g->begins, &is_old));
    return onnx_emit_where(r, is_old, old, *io, io);
}

static hone_status measure_cache(onnx_reader *r, const grouped *g, const hone_expr **out_behind) {
    const hone_sinfo *now, *past = NULL;
    HONE_TRY(onnx_info(r, &g->a.k, &now));
    *out_behind = now->shape[2];
    if (!onnx_has_input(r, 3)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 3, &past));
    if (past->rank != 4)
        return HONE_ERROR(HONE_CODE_INVALID, "a past of %d dimensions", past->rank);
    return length_behind(r, past, now->shape[2], out_behind);
}

static hone_status fill_caches(onnx_reader *r, grouped *g, const hone_expr *behind) {
    if (!onnx_has_input(r, 3)) return HONE_OK;
    HONE_TRY(fill_cache(r, g, 3, behind, &g->a.k));
    return fill_cache(r, g, 4, behind, &g->a.v);
}

/* Which keys a query sees: those up to its own position, of these a window. */
static hone_status hide_others(onnx_reader *r, grouped *g, const hone_expr *behind) {
    int64_t window;
    hone_garg keys, visible, begin, is_inside, zero, hidden;
    HONE_TRY(onnx_attr_int(r, "local_window_size", -1, &window));
    HONE_TRY(onnx_indices(r, behind, 4, 3, &keys));
    HONE_TRY(onnx_emit2(r, "less_equal", keys, g->positions, &visible));
    if (window > 0) {
        HONE_TRY(onnx_with_scalar(r, "subtract", g->positions, (double)window, &begin));
        HONE_TRY(onnx_emit2(r, "greater", keys, begin, &is_inside));
        HONE_TRY(onnx_emit2(r, "logical_and", visible, is_inside, &visible));
    }
    HONE_TRY(onnx_scalar_like(r, &g->a.q, 0, &zero));
    HONE_TRY(onnx_scalar_like(r, &g->a.q, -HUGE_VAL, &hidden));
    HONE_TRY(onnx_emit_where(r, visible, zero, hidden, &g->a.bias));
    if (!onnx_has_input(r, 10)) return HONE_OK;
    return onnx_emit2(r, "add", g->a.bias, r->inputs[10], &g->a.bias);
}

static hone_status check_grouped(const onnx_reader *r) {
    HONE_TRY(onnx_attr_usual(r, "causal", 1));
    HONE_TRY(onnx_attr_usual(r, "sliding_window_cache", 0));
    HONE_TRY(onnx_attr_usual(r, "qk_output", 0));
    if (!onnx_has_input(r, 5) || !onnx_has_input(r, 6))
        return HONE_ERROR(HONE_CODE_INVALID, "lengths (inputs 5 and 6) are missing");
    if (onnx_has_input(r, 12) || onnx_has_input(r, 13))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a quantised cache is not implemented");
    if (onnx_has_input(r, 16))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "lengths of the queries (input 16)");
    return HONE_OK;
}

/* A key more for each head: what an input says, or, of a smooth softmax, one of product 0. */
static hone_status read_sink(onnx_reader *r, grouped *g) {
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {one, hone_extent_int(&r->ir, g->heads), one, one};
    const hone_sinfo *info;
    int64_t smooth;
    HONE_TRY(onnx_attr_int(r, "smooth_softmax", 0, &smooth));
    g->a.has_sink = smooth > 0 || onnx_has_input(r, 11);
    if (!g->a.has_sink) return HONE_OK;
    HONE_TRY(onnx_info(r, &g->a.q, &info));
    if (!onnx_has_input(r, 11)) return onnx_scalar(r, info->dtype, 0, &g->a.sink);
    HONE_TRY(onnx_emit_cast(r, r->inputs[11], info->dtype, &g->a.sink));
    return onnx_emit_reshape(r, g->a.sink, 4, shape, &g->a.sink);
}

/* Each head by its mean square, times a weight: before it is turned. */
static hone_status normalise_new(onnx_reader *r, grouped *g) {
    static const char *const own[] = {"q_norm_epsilon", "k_norm_epsilon"};
    hone_garg *sides[] = {&g->a.q, &g->a.k};
    double epsilon;
    if (onnx_has_input(r, 14) != onnx_has_input(r, 15))
        return HONE_ERROR(HONE_CODE_INVALID, "one of the weights of norms (inputs 14 and 15)");
    for (uint32_t i = 0; i < 2 && onnx_has_input(r, 14); i++) {
        HONE_TRY(onnx_attr_float(r, "qk_norm_epsilon", 1e-6, &epsilon));
        HONE_TRY(onnx_attr_float(r, own[i], epsilon, &epsilon));
        HONE_TRY(onnx_by_mean_square(r, *sides[i], 3, epsilon, sides[i]));
        HONE_TRY(onnx_emit2(r, "multiply", *sides[i], r->inputs[14 + i], sides[i]));
    }
    return HONE_OK;
}

static hone_status convert_grouped(onnx_reader *r, hone_garg *out) {
    const hone_expr *behind;
    hone_garg stages[4];
    grouped g = {.a = onnx_no_attention()};
    HONE_TRY(check_grouped(r));
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &g.heads));
    HONE_TRY(onnx_attr_int(r, "kv_num_heads", 0, &g.served));
    HONE_TRY(onnx_attr_float(r, "softcap", 0, &g.a.softcap));
    HONE_TRY(take_grouped(r, &g));
    HONE_TRY(onnx_attention_scale(r, &g.a));
    HONE_TRY(read_sink(r, &g));
    HONE_TRY(measure_cache(r, &g, &behind));
    HONE_TRY(read_lengths(r, &g, behind));
    HONE_TRY(normalise_new(r, &g));
    HONE_TRY(rotate_new(r, &g));
    HONE_TRY(fill_caches(r, &g, behind));
    out[1] = g.a.k;
    out[2] = g.a.v;
    HONE_TRY(hide_others(r, &g, behind));
    HONE_TRY(onnx_attend(r, &g.a, out, stages));
    return onnx_join_heads(r, out);
}

#define ATTENTION_ATTRS                                                                            \
    "do_rotary mask_filter_value num_heads past_present_share_buffer rotary_embedding_dim scale "  \
    "unidirectional"

const onnx_converter onnx_heads_converters[] = {
    {"Attention",  convert_attention, 2, 7, 2, ATTENTION_ATTRS " qkv_hidden_sizes", NULL},
    {"QAttention",           convert_quantised, 5, 9, 2, ATTENTION_ATTRS, NULL},
    {"MultiHeadAttention",           convert_multi_head, 1, 10, 3,
     "mask_filter_value num_heads scale unidirectional", NULL},
    {"GroupQueryAttention",        convert_grouped, 1, 17, 3,
     "causal do_rotary k_norm_epsilon k_quant_type kv_cache_bit_width kv_num_heads "
     "local_window_size num_heads q_norm_epsilon qk_norm_epsilon qk_output rotary_interleaved "
     "scale "
     "sliding_window_cache smooth_softmax softcap v_quant_type", NULL},
    {0},
};
