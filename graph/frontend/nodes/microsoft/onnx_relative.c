/* graph/frontend/nodes/microsoft/onnx_relative.c - where tokens stand, as com.microsoft has it:
 * positions in time and space (MRotaryEmbedding), and what attention adds by distance
 * (RelativePositionBias of T5, GatedRelativePositionBias of WavLM). */
#include <math.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- positions in time, height and width ---- */

enum { STREAMS = 3 };

/* Which stream turns each of the pairs. */
static hone_status stream_of_pairs(onnx_reader *r, const int64_t *sections, bool is_interleaved,
                                   hone_garg *out) {
    const int64_t half = sections[0] + sections[1] + sections[2];
    hone_tensor *table;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &half, &table));
    for (int64_t i = 0; i < half; i++) {
        int64_t stream = i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
        if (is_interleaved) {
            stream = i % STREAMS;
            if (stream && i >= sections[stream] * STREAMS) stream = 0;
        }
        hone_tensor_set_i64(table, i, stream);
    }
    return onnx_add_constant(r, table, out);
}

/* Cosines or sines [batch, sequence, half] from a table [positions, half]. */
static hone_status choose_streams(onnx_reader *r, hone_garg streams, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg part, is_it, all = *io;
    HONE_TRY(onnx_emit_take(r, all, r->inputs[1], 0, &all));
    for (int64_t i = 0; i < STREAMS; i++) {
        HONE_TRY(onnx_emit_slice(r, all, 0, i, i + 1, &part));
        HONE_TRY(onnx_info(r, &part, &info));
        HONE_TRY(onnx_emit_reshape(r, part, 3, info->shape + 1, &part));
        if (i == 0) *io = part;
        if (i == 0) continue;
        HONE_TRY(onnx_with_scalar(r, "equal", streams, (double)i, &is_it));
        HONE_TRY(onnx_emit_where(r, is_it, part, *io, io));
    }
    return HONE_OK;
}

static hone_status convert_rotary(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *given, *positions, *table;
    int64_t heads, interleaved, layout, sections[STREAMS];
    hone_garg x, streams;
    onnx_rotation t = {r->inputs[2], r->inputs[3], {.kind = HONE_GARG_NONE}, 0, false};
    double scale;
    HONE_TRY(onnx_attr_usual(r, "is_packed_batching", 0));
    HONE_TRY(onnx_attr_float(r, "scale", 1, &scale));
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &heads));
    HONE_TRY(onnx_attr_int(r, "interleaved", 0, &interleaved));
    HONE_TRY(onnx_attr_int(r, "mrope_layout", 0, &layout));
    HONE_TRY(onnx_attr_int(r, "rotary_embedding_dim", 0, &t.count));
    HONE_TRY(onnx_attr_ints_n(r, "mrope_section", STREAMS, 0, sections));
    HONE_TRY(onnx_input_info(r, 0, &given));
    HONE_TRY(onnx_input_info(r, 1, &positions));
    HONE_TRY(onnx_input_info(r, 2, &table));
    int64_t width = table->rank == 2 ? hone_expr_const(table->shape[1]) : 0, sum = 0;
    for (int i = 0; i < STREAMS; i++) {
        if (sections[i] < 0 || sections[i] > INT32_MAX)
            return HONE_ERROR(HONE_CODE_INVALID, "attribute 'mrope_section' holds %lld",
                              (long long)sections[i]);
        sum += sections[i];
    }
    if (width < 0) return onnx_unknown_size(1);
    if (positions->rank != 3 || width < 1 || sum != width)
        return HONE_ERROR(
            HONE_CODE_INVALID,
            "positions of %d dimensions and sections of %lld for tables of width %lld",
            (int)positions->rank, (long long)sum, (long long)width);
    if (t.count == 0) t.count = 2 * width;
    t.is_interleaved = interleaved != 0;
    HONE_TRY(onnx_demand_size(r, &r->inputs[1], 0, STREAMS));
    HONE_TRY(stream_of_pairs(r, sections, layout != 0, &streams));
    HONE_TRY(choose_streams(r, streams, &t.cosines));
    HONE_TRY(choose_streams(r, streams, &t.sines));
    if (scale != 1) { /* of what is turned */
        HONE_TRY(onnx_with_scalar(r, "multiply", t.cosines, scale, &t.cosines));
        HONE_TRY(onnx_with_scalar(r, "multiply", t.sines, scale, &t.sines));
    }
    if (given->rank == 3 && heads == 0) { /* the width of a head follows from the tables */
        int64_t all = hone_expr_const(given->shape[2]);
        heads = all > 0 && all % t.count == 0 ? all / t.count : 0;
    }
    HONE_TRY(onnx_split_heads(r, r->inputs[0], heads, &x));
    HONE_TRY(onnx_rotate(r, &t, x, out));
    return given->rank == 3 ? onnx_join_heads(r, out) : HONE_OK;
}

/* ---- what is added by distance ---- */

/* Which of the buckets of T5 a distance [queries, keys] falls into: near ones have one each, the
 * others are wider by a power the further they are. */
static hone_status bucket_of(onnx_reader *r, int64_t buckets, int64_t furthest, bool is_both,
                             hone_garg away, hone_garg *out) {
    hone_garg side, far, is_near, last;
    HONE_TRY(onnx_emit1(r, "negative", away, &away)); /* query - key */
    if (is_both) {
        buckets /= 2;
        HONE_TRY(onnx_with_scalar(r, "less", away, 0, &side));
        HONE_TRY(onnx_emit_cast(r, side, HONE_DTYPE_I64, &side));
        HONE_TRY(onnx_with_scalar(r, "multiply", side, (double)buckets, &side));
        HONE_TRY(onnx_emit1(r, "abs", away, &away));
    } else {
        HONE_TRY(onnx_with_scalar(r, "maximum", away, 0, &away));
    }
    const int64_t exact = buckets / 2;
    const double step = log((double)furthest / (double)exact);
    HONE_TRY(onnx_with_scalar(r, "maximum", away, 1, &far)); /* no logarithm of 0 */
    HONE_TRY(onnx_emit_cast(r, far, HONE_DTYPE_F32, &far));
    HONE_TRY(onnx_with_scalar(r, "divide", far, (double)exact, &far));
    HONE_TRY(onnx_emit1(r, "log", far, &far));
    HONE_TRY(onnx_with_scalar(r, "divide", far, step, &far));
    HONE_TRY(onnx_with_scalar(r, "multiply", far, (double)(buckets - exact), &far));
    HONE_TRY(onnx_emit_cast(r, far, HONE_DTYPE_I64, &far));
    HONE_TRY(onnx_with_scalar(r, "add", far, (double)exact, &far));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, (double)(buckets - 1), &last));
    HONE_TRY(onnx_emit2(r, "minimum", far, last, &far));
    HONE_TRY(onnx_with_scalar(r, "less", away, (double)exact, &is_near));
    HONE_TRY(onnx_emit_where(r, is_near, away, far, out));
    return is_both ? onnx_emit2(r, "add", *out, side, out) : HONE_OK;
}

/* The table says [buckets, heads] and lies turned: the optimiser writes it so. */
static hone_status turned_table(onnx_reader *r, int64_t buckets, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 0, &info));
    const hone_expr *shape[] = {info->shape[1], hone_extent_int(&r->ir, buckets)};
    return onnx_emit_reshape(r, r->inputs[0], 2, shape, out);
}

static hone_status convert_bias(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *lengths[2], *shape[4];
    int64_t is_both, furthest;
    uint32_t count;
    hone_garg positions[2], away, table;
    HONE_TRY(onnx_attr_int(r, "is_bidirectional", 0, &is_both));
    HONE_TRY(onnx_attr_int(r, "max_distance", 0, &furthest));
    HONE_TRY(onnx_input_info(r, 0, &info));
    int64_t buckets = info->rank == 2 ? hone_expr_const(info->shape[0]) : 0;
    if (buckets < 0) return onnx_unknown_size(0);
    int64_t exact = buckets / (is_both ? 4 : 2);
    if (exact < 1 || furthest <= exact)
        return HONE_ERROR(HONE_CODE_INVALID, "distances up to %lld in %lld buckets",
                          (long long)furthest, (long long)buckets);
    for (uint32_t i = 0; i < 2; i++) {
        HONE_TRY(onnx_sizes(r, 1 + i, "the length", &count, &lengths[i]));
        if (count != 1) return HONE_ERROR(HONE_CODE_INVALID, "%u lengths (input %u)", count, 1 + i);
        HONE_TRY(onnx_indices(r, lengths[i], 2, (int32_t)i, &positions[i]));
    }
    HONE_TRY(onnx_emit2(r, "subtract", positions[1], positions[0], &away));
    HONE_TRY(bucket_of(r, buckets, furthest, is_both != 0, away, &away));
    HONE_TRY(turned_table(r, buckets, &table));
    HONE_TRY(onnx_emit_take(r, table, away, 1, out));
    HONE_TRY(onnx_info(r, out, &info));
    shape[0] = hone_extent_int(&r->ir, 1);
    for (int i = 0; i < 3; i++)
        shape[i + 1] = info->shape[i];
    return onnx_emit_reshape(r, *out, 4, shape, out);
}

/* Half `i` of the gates of each query: the sum of its half of the columns. */
static hone_status gate_half(onnx_reader *r, hone_garg gates, int64_t half, int64_t i,
                             hone_garg *out) {
    HONE_TRY(onnx_emit_slice(r, gates, 3, i * half, (i + 1) * half, out));
    HONE_TRY(onnx_emit_along(r, "sum", *out, 3, out));
    return onnx_emit1(r, "sigmoid", *out, out);
}

/* Tokens [count, width] at their places of [batch, sequence, width], with zeros between them: the
 * first `count` of the offsets [batch, sequence] say where. */
static hone_status unpack_tokens(onnx_reader *r, hone_garg *io) {
    const hone_sinfo *tokens, *offsets;
    hone_garg flat, parts[2], args[3], target[2];
    HONE_TRY(onnx_info(r, io, &tokens));
    HONE_TRY(onnx_input_info(r, 6, &offsets));
    if (tokens->rank != 2 || offsets->rank != 2)
        return HONE_ERROR(HONE_CODE_INVALID, "packed tokens of %d dimensions, places of %d",
                          (int)tokens->rank, (int)offsets->rank);
    const hone_expr *all = hone_extent_mul(&r->ir, offsets->shape[0], offsets->shape[1]);
    const hone_expr *padded[] = {all, tokens->shape[1]};
    const hone_expr *lengths[] = {tokens->shape[0], hone_expr_sub(&r->ir, all, tokens->shape[0])};
    const hone_expr *index[] = {tokens->shape[0], hone_extent_int(&r->ir, 1)};
    const hone_expr *whole[] = {offsets->shape[0], offsets->shape[1], tokens->shape[1]};
    if (hone_expr_is_int(all) && hone_expr_is_int(tokens->shape[0]) &&
        tokens->shape[0]->u.i > all->u.i)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld packed tokens for %lld places",
                          (long long)tokens->shape[0]->u.i, (long long)all->u.i);
    HONE_TRY(onnx_emit_flat(r, r->inputs[6], &flat));
    HONE_TRY(onnx_emit_parts(r, flat, 0, 2, lengths, parts));
    HONE_TRY(onnx_emit_no_negative(r, parts[0], all, &args[1]));
    HONE_TRY(onnx_emit_reshape(r, args[1], 2, index, &args[1]));
    HONE_TRY(onnx_scalar(r, tokens->dtype, 0, &target[0]));
    HONE_TRY(onnx_make_ints(r, 2, padded, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[0]));
    args[2] = *io;
    HONE_TRY(onnx_emit(r, "scatter_nd", 3, args, 0, NULL, io));
    return onnx_emit_reshape(r, *io, 3, whole, io);
}

/* rel_pos * (u (r a - 1) + 2), with the gates u and r of each query. */
static hone_status convert_gated_bias(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t heads;
    hone_garg q, sides[2], gates[2];
    HONE_TRY(onnx_attr_int(r, "num_heads", 0, &heads));
    if (onnx_has_input(r, 6)) HONE_TRY(unpack_tokens(r, &r->inputs[0]));
    HONE_TRY(onnx_emit2(r, "add", r->inputs[0], r->inputs[1], &q));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &q, "the bias"));
    HONE_TRY(onnx_info(r, &q, &info));
    if (info->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "queries of %d dimensions", (int)info->rank);
    HONE_TRY(onnx_split_heads(r, q, heads, &sides[0]));
    sides[1] = r->inputs[3];
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 0, NULL, &q));
    HONE_TRY(onnx_emit2(r, "add", q, r->inputs[4], &q));
    HONE_TRY(onnx_info(r, &q, &info));
    int64_t width = hone_expr_const(info->shape[3]);
    if (width < 0) return onnx_unknown_size(1);
    if (width < 2 || width % 2 != 0)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld columns of gates, must be even",
                          (long long)width);
    for (int64_t i = 0; i < 2; i++)
        HONE_TRY(gate_half(r, q, width / 2, i, &gates[i]));
    HONE_TRY(onnx_emit2(r, "multiply", gates[1], r->inputs[5], out));
    HONE_TRY(onnx_with_scalar(r, "subtract", *out, 1, out));
    HONE_TRY(onnx_emit2(r, "multiply", gates[0], *out, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, 2, out));
    return onnx_emit2(r, "multiply", *out, r->inputs[2], out);
}

const onnx_converter onnx_relative_converters[] = {
    {"MRotaryEmbedding", convert_rotary, 4, 4, 1,
     "interleaved is_packed_batching mrope_layout mrope_section num_heads rotary_embedding_dim "
     "scale", NULL},
    {"RelativePositionBias",                 convert_bias, 3, 3, 1, "is_bidirectional max_distance", NULL},
    {"GatedRelativePositionBias",                 convert_gated_bias, 6, 7, 1, "num_heads", NULL},
    {0             },
};
