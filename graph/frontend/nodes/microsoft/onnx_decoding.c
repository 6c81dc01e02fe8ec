/* graph/frontend/nodes/microsoft/onnx_decoding.c - one token after the other, as com.microsoft has
 * it: attention of one query to a cache (DecoderMaskedMultiHeadAttention), and tokens that would
 * repeat what was said. */
#include <math.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { QUERY, KEY, VALUE, MASK, BIAS, PAST_KEY, PAST_VALUE, PAST_LENGTH, BEAMS, SOURCES, SHIFTS };

typedef struct decoder {
    int64_t heads;
    bool is_shared;     /* the cache is longer than what is in it */
    hone_garg position; /* of the new token in it, [1] */
    const hone_expr *total;
    onnx_attention a;
} decoder;

/* ---- queries, keys and values ---- */

/* Numbers `begin` to `begin` + width of the last dimension, with their part of the bias. */
static hone_status take_part(onnx_reader *r, hone_garg x, int64_t begin, int64_t width,
                             bool is_packed, hone_garg *out) {
    hone_garg shift;
    *out = x;
    if (is_packed) HONE_TRY(onnx_emit_slice(r, x, 2, begin, begin + width, out));
    if (!onnx_has_input(r, SHIFTS)) return HONE_OK;
    HONE_TRY(onnx_emit_slice(r, r->inputs[SHIFTS], 0, begin, begin + width, &shift));
    return onnx_emit2(r, "add", *out, shift, out);
}

static hone_status width_of(onnx_reader *r, uint32_t input, int64_t *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, input, &info));
    if (info->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "input %u has %d dimensions, must have 3", input,
                          (int)info->rank);
    *out = hone_expr_const(info->shape[2]);
    return *out < 0 ? onnx_unknown_size(2) : HONE_OK;
}

/* How wide queries (and keys) and values are. */
static hone_status read_widths(onnx_reader *r, int64_t *out_q, int64_t *out_v) {
    const hone_sinfo *past;
    HONE_TRY(width_of(r, QUERY, out_q));
    if (onnx_has_input(r, KEY)) return width_of(r, VALUE, out_v);
    *out_v = *out_q / 3; /* packed; a cache of values says otherwise */
    if (onnx_has_input(r, PAST_VALUE) && onnx_has_input(r, PAST_KEY)) {
        int64_t sizes[2];
        for (uint32_t i = 0; i < 2; i++) {
            HONE_TRY(onnx_input_info(r, PAST_KEY + i, &past));
            sizes[i] = past->rank == 4 ? hone_expr_const(past->shape[3]) : -1;
        }
        if (sizes[0] > 0 && sizes[1] > 0) *out_v = *out_q / (2 * sizes[0] + sizes[1]) * sizes[1];
    }
    *out_q = (*out_q - *out_v) / 2;
    return HONE_OK;
}

static hone_status take_new(onnx_reader *r, decoder *d) {
    hone_garg *sides[] = {&d->a.q, &d->a.k, &d->a.v};
    const bool is_packed = !onnx_has_input(r, KEY);
    int64_t wide, narrow, begin = 0;
    HONE_TRY(read_widths(r, &wide, &narrow));
    for (uint32_t i = 0; i < 3; i++) {
        int64_t width = i == 2 ? narrow : wide;
        hone_garg x = r->inputs[is_packed ? QUERY : QUERY + i];
        HONE_TRY(take_part(r, x, begin, width, is_packed, sides[i]));
        HONE_TRY(onnx_split_heads(r, *sides[i], d->heads, sides[i]));
        begin += width;
    }
    return HONE_OK;
}

/* Keys and values of what the encoder read. */
static hone_status take_given(onnx_reader *r, decoder *d) {
    int64_t width;
    HONE_TRY(width_of(r, QUERY, &width));
    HONE_TRY(take_part(r, r->inputs[QUERY], 0, width, false, &d->a.q));
    HONE_TRY(onnx_split_heads(r, d->a.q, d->heads, &d->a.q));
    if (!onnx_has_input(r, VALUE)) return HONE_ERROR(HONE_CODE_INVALID, "input 2 is missing");
    d->a.k = r->inputs[KEY];
    d->a.v = r->inputs[VALUE];
    return HONE_OK;
}

/* ---- the cache ---- */

/* Its position among `length` is that of the new token: [1, 1, length, 1]. */
static hone_status is_new(onnx_reader *r, const decoder *d, const hone_expr *length,
                          hone_garg *out) {
    HONE_TRY(onnx_indices(r, length, 4, 2, out));
    return onnx_emit2(r, "equal", *out, d->position, out);
}

/* Rows of the cache are those of other beams: the item of the new token is the own one. */
static hone_status choose_sources(onnx_reader *r, const decoder *d, hone_garg *io) {
    const hone_sinfo *info, *sources;
    hone_garg rows, own, beams, at, is_own, args[2], target[2];
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    if (!onnx_has_input(r, SOURCES)) return HONE_OK;
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_input_info(r, SOURCES, &sources));
    if (sources->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "beams (input 9) of %d dimensions",
                          (int)sources->rank);
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *flat[] = {info->shape[0], one, sources->shape[2], one};
    HONE_TRY(onnx_sizes_tensor(r, 1, &sources->shape[1], &beams));
    HONE_TRY(onnx_indices(r, info->shape[0], 4, 0, &own));
    HONE_TRY(onnx_emit2(r, "floor_divide", own, beams, &rows));
    HONE_TRY(onnx_emit2(r, "multiply", rows, beams, &rows));
    HONE_TRY(onnx_emit_cast(r, r->inputs[SOURCES], HONE_DTYPE_I64, &at));
    HONE_TRY(onnx_emit_reshape(r, at, 4, flat, &at));
    HONE_TRY(onnx_indices(r, d->total, 1, 0, &beams));
    HONE_TRY(onnx_emit_take(r, at, beams, 2, &at));
    HONE_TRY(onnx_emit2(r, "add", at, rows, &at));
    HONE_TRY(is_new(r, d, d->total, &is_own));
    HONE_TRY(onnx_emit_where(r, is_own, own, at, &target[0]));
    HONE_TRY(onnx_make_ints(r, 4, info->shape, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[1]));
    args[0] = *io;
    return onnx_emit(r, "gather_elements", 2, args, 1, &axis, io);
}

/* The cache with what is new, which is the present, and of that what there is. */
static hone_status join_past(onnx_reader *r, const decoder *d, uint32_t past, hone_garg *io,
                             hone_garg *out_present) {
    const hone_sinfo *info;
    hone_garg positions, is_it;
    hone_garg parts[2] = {onnx_given(r, past), *io};
    if (!d->is_shared) {
        if (parts[0].kind != HONE_GARG_NONE) HONE_TRY(onnx_emit_concat(r, 2, parts, 2, io));
        *out_present = *io;
        return choose_sources(r, d, io);
    }
    HONE_TRY(onnx_input_info(r, past, &info));
    HONE_TRY(is_new(r, d, info->shape[2], &is_it));
    HONE_TRY(onnx_emit_where(r, is_it, *io, parts[0], out_present));
    HONE_TRY(onnx_keeps_shape(r, &parts[0], out_present, "a new key or value"));
    HONE_TRY(onnx_indices(r, d->total, 1, 0, &positions));
    HONE_TRY(onnx_emit_take(r, *out_present, positions, 2, io));
    return choose_sources(r, d, io);
}

/* How many keys there are, and where the new one is. */
static hone_status measure_past(onnx_reader *r, decoder *d) {
    const hone_sinfo *info;
    const hone_expr *before = hone_extent_int(&r->ir, 0);
    hone_garg total;
    int64_t shares;
    HONE_TRY(onnx_attr_int(r, "past_present_share_buffer", 0, &shares));
    d->is_shared = shares != 0 && onnx_has_input(r, PAST_KEY);
    if (onnx_has_input(r, PAST_KEY) != onnx_has_input(r, PAST_VALUE))
        return HONE_ERROR(HONE_CODE_INVALID, "one of the caches (inputs 5 and 6) is missing");
    if (onnx_has_input(r, PAST_KEY)) {
        HONE_TRY(onnx_input_info(r, PAST_KEY, &info));
        if (info->rank != 4)
            return HONE_ERROR(HONE_CODE_INVALID, "a cache of %d dimensions", (int)info->rank);
        before = info->shape[2];
    }
    if (!d->is_shared) {
        d->total = hone_extent_add(&r->ir, before, 1);
        return onnx_sizes_tensor(r, 1, &before, &d->position);
    }
    if (!onnx_has_input(r, PAST_LENGTH))
        return HONE_ERROR(HONE_CODE_INVALID, "a shared cache wants its length (input 7)");
    HONE_TRY(onnx_emit_item(r, r->inputs[PAST_LENGTH], 0, &d->position));
    HONE_TRY(onnx_with_scalar(r, "add", d->position, 1, &total));
    return onnx_emit_size(r, total, hone_expr_const(before), &d->total);
}

/* ---- the operator ---- */

static hone_status read_bias(onnx_reader *r, decoder *d) {
    const hone_sinfo *mask, *q;
    hone_garg is_there, choice[2], hidden;
    double filler;
    d->a.bias = onnx_given(r, BIAS);
    if (!onnx_has_input(r, MASK)) return HONE_OK;
    HONE_TRY(onnx_attr_float(r, "mask_filter_value", -10000, &filler));
    HONE_TRY(onnx_input_info(r, MASK, &mask));
    HONE_TRY(onnx_info(r, &d->a.q, &q));
    if (mask->rank != 2)
        return HONE_ERROR(HONE_CODE_INVALID, "a mask of %d dimensions", (int)mask->rank);
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {mask->shape[0], one, one, mask->shape[1]};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[MASK], 4, shape, &is_there));
    HONE_TRY(onnx_with_scalar(r, "greater", is_there, 0, &is_there));
    HONE_TRY(onnx_scalar(r, q->dtype, 0, &choice[0]));
    HONE_TRY(onnx_scalar(r, q->dtype, filler, &choice[1]));
    HONE_TRY(onnx_emit_where(r, is_there, choice[0], choice[1], &hidden));
    if (d->a.bias.kind != HONE_GARG_NONE)
        HONE_TRY(onnx_emit2(r, "add", hidden, d->a.bias, &hidden));
    d->a.bias = hidden;
    return HONE_OK;
}

static hone_status convert_decoder(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *key = NULL;
    hone_garg stages[4];
    decoder d = {.a = onnx_no_attention()};
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &d.heads));
    if (onnx_has_input(r, KEY)) HONE_TRY(onnx_input_info(r, KEY, &key));
    if (key && key->rank == 4) {
        HONE_TRY(take_given(r, &d));
    } else {
        HONE_TRY(take_new(r, &d));
        HONE_TRY(measure_past(r, &d));
        HONE_TRY(join_past(r, &d, PAST_KEY, &d.a.k, &out[1]));
        HONE_TRY(join_past(r, &d, PAST_VALUE, &d.a.v, &out[2]));
    }
    HONE_TRY(onnx_attention_scale(r, &d.a));
    HONE_TRY(read_bias(r, &d));
    HONE_TRY(onnx_attend(r, &d.a, out, stages));
    out[3] = stages[0];
    return onnx_join_heads(r, out);
}

/* ---- what was said ---- */

/* The tokens [batch, windows] that stand `behind` positions after the begin of each window. */
static hone_status tokens_at(onnx_reader *r, const hone_expr *windows, int64_t behind,
                             hone_garg *out) {
    hone_garg positions;
    HONE_TRY(onnx_indices(r, windows, 1, 0, &positions));
    if (behind) HONE_TRY(onnx_with_scalar(r, "add", positions, (double)behind, &positions));
    return onnx_emit_take(r, r->inputs[0], positions, 1, out);
}

/* Which windows begin as the last tokens do: the truth of each, or NONE where they have one token.
 */
static hone_status begin_alike(onnx_reader *r, const hone_expr *windows, int64_t size,
                               hone_garg *out) {
    hone_garg begins, last, position, is_same;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    for (int64_t i = 0; i < size - 1; i++) {
        const hone_expr *at = hone_extent_add(&r->ir, windows, i);
        HONE_TRY(tokens_at(r, windows, i, &begins));
        HONE_TRY(onnx_sizes_tensor(r, 1, &at, &position));
        HONE_TRY(onnx_emit_take(r, r->inputs[0], position, 1, &last));
        HONE_TRY(onnx_emit2(r, "equal", begins, last, &is_same));
        if (i) HONE_TRY(onnx_emit2(r, "logical_and", *out, is_same, &is_same));
        *out = is_same;
    }
    return HONE_OK;
}

/* Scores of tokens behind which the last ones would stand once more are -inf. */
static hone_status convert_repeats(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *ids, *scores, *info;
    int64_t size;
    hone_garg is_it, choice[2], args[3];
    HONE_TRY(onnx_attr_int(r, "ngram_size", 0, &size));
    HONE_TRY(onnx_input_info(r, 0, &ids));
    HONE_TRY(onnx_input_info(r, 1, &scores));
    if (ids->rank != 2 || scores->rank != 2 || size < 1 || size > ONNX_MAX_KNOWN)
        return HONE_ERROR(HONE_CODE_INVALID, "tokens of %d dimensions in groups of %lld",
                          (int)ids->rank, (long long)size);
    const hone_expr *windows = hone_extent_add(&r->ir, ids->shape[1], 1 - size);
    args[0] = out[0] = r->inputs[1];
    if (hone_expr_is_int(windows) && windows->u.i < 1) return HONE_OK;
    HONE_TRY(tokens_at(r, windows, size - 1, &args[1]));
    HONE_TRY(onnx_emit_no_negative(r, args[1], scores->shape[1], &args[1]));
    HONE_TRY(begin_alike(r, windows, size, &is_it));
    HONE_TRY(onnx_scalar(r, scores->dtype, -HUGE_VAL, &choice[0]));
    HONE_TRY(onnx_scalar(r, scores->dtype, HUGE_VAL, &choice[1])); /* the least of it and a score */
    if (is_it.kind == HONE_GARG_NONE) {                            /* each that was said */
        HONE_TRY(onnx_info(r, &args[1], &info));
        hone_garg target[2] = {choice[0], {0}};
        HONE_TRY(onnx_make_ints(r, 2, info->shape, 1, &target[1]));
        HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[2]));
    } else {
        HONE_TRY(onnx_emit_where(r, is_it, choice[0], choice[1], &args[2]));
    }
    hone_attr attrs[] = {
        {"axis",             HONE_VALUE_OF_INT(1)},
        { "reduction", onnx_text_value(r,               "min")}
    };
    return onnx_emit(r, "scatter_elements", 3, args, 2, attrs, out);
}

/* All slices of a size along a dimension, whose items come last. */
static hone_status convert_unfold(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t wanted, size, step, axes[HONE_MAX_RANK];
    int32_t axis;
    hone_garg positions, items;
    HONE_TRY(onnx_attr_int(r, "dim", -1, &wanted));
    HONE_TRY(onnx_attr_int(r, "size", 0, &size));
    HONE_TRY(onnx_attr_int(r, "step", 1, &step));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_axis(r, wanted, info->rank, &axis));
    int64_t extent = hone_expr_const(info->shape[axis]);
    if (info->rank >= HONE_MAX_RANK || size < 1 || step < 1 || size > INT32_MAX ||
        step > INT32_MAX || (extent >= 0 && extent < size))
        return HONE_ERROR(HONE_CODE_INVALID, "slices of %lld by %lld of %lld items",
                          (long long)size, (long long)step, (long long)extent);
    const hone_expr *count = hone_extent_add(&r->ir, info->shape[axis], -size);
    count = hone_extent_add(&r->ir, hone_extent_div(&r->ir, count, step), 1);
    HONE_TRY(onnx_indices(r, count, 2, 0, &positions));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, size), 2, 1, &items));
    HONE_TRY(onnx_with_scalar(r, "multiply", positions, (double)step, &positions));
    HONE_TRY(onnx_emit2(r, "add", positions, items, &positions));
    HONE_TRY(onnx_emit_take(r, r->inputs[0], positions, axis, out));
    for (int32_t i = 0, d = 0; i <= info->rank; i++)
        if (i != axis + 1) axes[d++] = i;
    axes[info->rank] = axis + 1;
    return onnx_emit_permute(r, *out, (uint32_t)info->rank + 1, axes, out);
}

const onnx_converter onnx_decoding_converters[] = {
    {"DecoderMaskedMultiHeadAttention", convert_decoder, 1, 11, 4,
     "mask_filter_value num_heads output_qk past_present_share_buffer scale", NULL},
    {"NGramRepeatBlock",                                convert_repeats, 2, 2, 1, "ngram_size", NULL},
    {"UnfoldTensor",                                convert_unfold, 1, 1, 1, "dim size step", NULL},
    {0                            },
};
