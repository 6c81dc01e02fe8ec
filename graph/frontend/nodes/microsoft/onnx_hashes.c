/* graph/frontend/nodes/microsoft/onnx_hashes.c - hashes of com.microsoft: of strings and numbers
 * (MurmurHash3), and of the last tokens behind each token (NGramHashMapping):
 *
 *   mix[n] = token[t] * m[0] ^ token[t - 1] * m[1] ^ ... ^ token[t - n + 1] * m[n - 1]
 *   out[t, (n - 2) * heads + h] = mix[n] mod sizes[..] + offsets[..]
 *
 * What stands before the sequence is the past; what stands before the last end, or in another
 * segment, is the token of ends. */
#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- MurmurHash3 ---- */

/* A number as its bytes, the low one first: uint8[..., bytes]. */
static hone_status bytes_of_numbers(onnx_reader *r, hone_garg x, hone_garg *out) {
    enum { MOST = 8 };
    const hone_sinfo *info;
    hone_garg parts[MOST];
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_info(r, &x, &info));
    const int32_t count = info->dtype.bits / 8;
    const bool is_number = info->dtype.bits >= 32 && info->dtype.bits <= 64;
    if (!is_number || info->rank >= HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "hashes of %s", HONE_DTYPE_NAME(info->dtype));
    hone_attr as_bits = {"dtype", onnx_text_value(r, count == 4 ? "uint32" : "uint64")};
    HONE_TRY(onnx_emit(r, "bitcast", 1, &x, 1, &as_bits, &x));
    for (int32_t i = 0; i < count; i++) {
        HONE_TRY(onnx_with_scalar(r, "right_shift", x, 8 * i, &parts[i]));
        HONE_TRY(onnx_with_scalar(r, "bitwise_and", parts[i], 255, &parts[i]));
        HONE_TRY(onnx_emit_cast(r, parts[i], HONE_DTYPE_U8, &parts[i]));
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &parts[i], 1, &last, &parts[i]));
    }
    return onnx_emit_concat(r, (uint32_t)count, parts, info->rank, out);
}

/* uint8[..., width] as [count, width], and how many bytes of each count. */
static hone_status rows_of_bytes(onnx_reader *r, bool is_text, hone_garg *io, hone_garg *lengths) {
    const hone_sinfo *info;
    hone_garg target[2];
    HONE_TRY(onnx_info(r, io, &info));
    const hone_expr *shape[] = {hone_extent_int(&r->ir, 1), info->shape[info->rank - 1]};
    for (int32_t d = 0; d < info->rank - 1; d++)
        shape[0] = hone_extent_mul(&r->ir, shape[0], info->shape[d]);
    HONE_TRY(onnx_emit_reshape(r, *io, 2, shape, io));
    if (is_text) {
        HONE_TRY(onnx_text_lengths(r, *io, lengths));
        return onnx_emit_reshape(r, *lengths, 1, shape, lengths);
    }
    HONE_TRY(onnx_sizes_tensor(r, 1, &shape[1], &target[0]));
    HONE_TRY(onnx_make_ints(r, 1, shape, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, lengths);
}

static hone_status convert_murmur(onnx_reader *r, hone_garg *out) {
    const bool is_text = onnx_is_text(&r->inputs[0]);
    const hone_sinfo *info;
    int64_t seed, is_positive;
    hone_garg args[2], numbers = r->inputs[0];
    HONE_TRY(onnx_attr_int(r, "seed", 0, &seed));
    HONE_TRY(onnx_attr_int(r, "positive", 1, &is_positive));
    if (seed < INT32_MIN || seed > UINT32_MAX)
        return HONE_ERROR(HONE_CODE_INVALID,
                          "attribute 'seed' is %lld, must be a number of 32 bits", (long long)seed);
    if (is_text) {
        numbers = r->inputs[0].u.items[1];
        HONE_TRY(onnx_text_bytes(r, &r->inputs[0], &args[0]));
    } else {
        HONE_TRY(onnx_as_tensor(r, &numbers));
        HONE_TRY(bytes_of_numbers(r, numbers, &args[0]));
    }
    HONE_TRY(onnx_info(r, &numbers, &info));
    HONE_TRY(rows_of_bytes(r, is_text, &args[0], &args[1]));
    hone_attr attr = {"seed", HONE_VALUE_OF_INT((uint32_t)seed)};
    HONE_TRY(onnx_emit(r, "murmur_hash", 2, args, 1, &attr, out));
    HONE_TRY(onnx_emit_reshape(r, *out, (uint32_t)info->rank, info->shape, out));
    hone_attr as_int = {"dtype", onnx_text_value(r, "int32")};
    return is_positive == 1 ? HONE_OK : onnx_emit(r, "bitcast", 1, out, 1, &as_int, out);
}

/* ---- NGramHashMapping ---- */

enum { IDS, MULTIPLIERS, SIZES, PAST, OFFSETS, END, SEGMENTS };
enum { MOST_NGRAM = ONNX_MAX_KNOWN };

typedef struct hashing {
    int64_t most, heads; /* tokens that are mixed, hashes of each count of them */
    hone_dtype dtype;
    const hone_expr *batch, *length;
    hone_garg end;    /* what stands where there is no token */
    hone_garg tokens; /* [batch, most - 1 + length] */
    hone_garg begins; /* truths [batch, most - 1 + length]: what is before this one is cut off;
                         or NONE */
} hashing;

static hone_status demand_vector(onnx_reader *r, uint32_t input, int64_t size) {
    const hone_sinfo *info;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[input]));
    HONE_TRY(onnx_input_info(r, input, &info));
    if (info->rank != 1)
        return HONE_ERROR(HONE_CODE_INVALID, "input %u has %d dimensions, must have 1", input,
                          (int)info->rank);
    if (size < 0) return HONE_OK;
    return hone_status_annotate(onnx_demand_size(r, &r->inputs[input], 0, size), "input %u", input);
}

static hone_status read_hashing(onnx_reader *r, hashing *h) {
    const hone_sinfo *ids;
    HONE_TRY(onnx_attr_int(r, "max_ngram_size", 0, &h->most));
    HONE_TRY(onnx_attr_int(r, "n_head_per_ngram", 0, &h->heads));
    HONE_TRY(onnx_input_info(r, IDS, &ids));
    if (ids->rank != 2 || h->most < 2 || h->heads < 1 || h->heads > INT32_MAX)
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%lld hashes of up to %lld tokens that have %d dimensions",
                          (long long)h->heads, (long long)h->most, (int)ids->rank);
    if (h->most > MOST_NGRAM)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute 'max_ngram_size' is %lld, at most %d",
                          (long long)h->most, MOST_NGRAM);
    h->dtype = ids->dtype;
    h->batch = ids->shape[0];
    h->length = ids->shape[1];
    HONE_TRY(demand_vector(r, MULTIPLIERS, -1));
    HONE_TRY(demand_vector(r, SIZES, (h->most - 1) * h->heads));
    return onnx_has_input(r, OFFSETS) ? demand_vector(r, OFFSETS, (h->most - 1) * h->heads)
                                      : HONE_OK;
}

/* The token of ends where there is one, else that of padding. */
static hone_status read_end(onnx_reader *r, hashing *h) {
    int64_t pad;
    hone_tensor *tensor;
    HONE_TRY(onnx_attr_int(r, "pad_id", 0, &pad));
    if (hone_dtype_equal(h->dtype, HONE_DTYPE_I32) && (pad < INT32_MIN || pad > INT32_MAX))
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'pad_id' is %lld, of tokens of 32 bits",
                          (long long)pad);
    if (onnx_has_input(r, END)) {
        h->end = r->inputs[END];
        HONE_TRY(onnx_as_tensor(r, &h->end));
        return onnx_emit_reshape(r, h->end, 0, NULL, &h->end);
    }
    HONE_TRY(hone_tensor_create(h->dtype, 0, NULL, &tensor));
    hone_tensor_set_i64(tensor, 0, pad);
    return onnx_add_constant(r, tensor, &h->end);
}

/* `x` [batch, most - 1] of one number. */
static hone_status fill_front(onnx_reader *r, const hashing *h, hone_garg x, hone_garg *out) {
    const hone_expr *shape[] = {h->batch, hone_extent_int(&r->ir, h->most - 1)};
    hone_garg target[2] = {x};
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, out);
}

static hone_status join_tokens(onnx_reader *r, hashing *h) {
    const hone_expr *shape[] = {h->batch, hone_extent_int(&r->ir, h->most - 1)};
    hone_garg parts[2] = {onnx_given(r, PAST), r->inputs[IDS]};
    if (parts[0].kind == HONE_GARG_NONE) {
        HONE_TRY(fill_front(r, h, h->end, &parts[0]));
    } else {
        HONE_TRY(hone_status_annotate(onnx_demand_shape(r, &parts[0], 2, shape), "input 3"));
    }
    return onnx_emit_concat(r, 2, parts, 1, &h->tokens);
}

/* What of [batch, most - 1 + length] stands `before` places before each token: [batch, length]. */
static hone_status shifted(onnx_reader *r, const hashing *h, hone_garg x, int64_t before,
                           hone_garg *out) {
    hone_garg parts[3];
    const hone_expr *lengths[] = {hone_extent_int(&r->ir, h->most - 1 - before), h->length,
                                  hone_extent_int(&r->ir, before)};
    HONE_TRY(onnx_emit_parts(r, x, 1, 3, lengths, parts));
    *out = parts[1];
    return HONE_OK;
}

/* Tokens of another segment than the one before, but the first of them. */
static hone_status new_segments(onnx_reader *r, const hashing *h, hone_garg *out) {
    hone_garg segments = r->inputs[SEGMENTS], before, indices, zero, is_behind;
    const hone_expr *shape[] = {h->batch, h->length};
    HONE_TRY(hone_status_annotate(onnx_demand_shape(r, &segments, 2, shape), "input 6"));
    HONE_TRY(onnx_indices(r, h->length, 1, 0, &indices));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_with_scalar(r, "subtract", indices, 1, &before));
    HONE_TRY(onnx_emit2(r, "maximum", before, zero, &before));
    HONE_TRY(onnx_emit_take(r, segments, before, 1, &before));
    HONE_TRY(onnx_emit2(r, "not_equal", segments, before, out));
    HONE_TRY(onnx_with_scalar(r, "greater", indices, 0, &is_behind));
    return onnx_emit2(r, "logical_and", *out, is_behind, out);
}

/* Tokens behind an end, of the past as well: truths as wide as the tokens. */
static hone_status behind_ends(onnx_reader *r, const hashing *h, hone_garg *out) {
    const hone_expr *one = hone_extent_int(&r->ir, 1), *front[] = {h->batch, one};
    const hone_expr *lengths[] = {hone_extent_add(&r->ir, h->length, h->most - 2), one};
    hone_garg parts[2], target[2];
    HONE_TRY(onnx_emit_parts(r, h->tokens, 1, 2, lengths, parts));
    HONE_TRY(onnx_emit2(r, "equal", parts[0], h->end, &parts[1]));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_BOOL, 0, &target[0]));
    HONE_TRY(onnx_make_ints(r, 2, front, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &parts[0]));
    return onnx_emit_concat(r, 2, parts, 1, out);
}

static hone_status find_begins(onnx_reader *r, hashing *h) {
    int64_t resets;
    hone_garg parts[2], no, other;
    h->begins = (hone_garg){.kind = HONE_GARG_NONE};
    HONE_TRY(onnx_attr_int(r, "reset_on_eos", 0, &resets));
    if (resets && onnx_has_input(r, END)) HONE_TRY(behind_ends(r, h, &h->begins));
    if (!onnx_has_input(r, SEGMENTS)) return HONE_OK;
    HONE_TRY(new_segments(r, h, &parts[1]));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_BOOL, 0, &no));
    HONE_TRY(fill_front(r, h, no, &parts[0]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 1, &other));
    if (h->begins.kind != HONE_GARG_NONE)
        HONE_TRY(onnx_emit2(r, "logical_or", h->begins, other, &other));
    h->begins = other;
    return HONE_OK;
}

/* The token `before` places before each, times its number; io_cut: whether something from it to
 * this one cuts it off. */
static hone_status term(onnx_reader *r, const hashing *h, int64_t before, hone_garg *io_cut,
                        hone_garg *out) {
    hone_garg number, begins;
    HONE_TRY(shifted(r, h, h->tokens, before, out));
    if (h->begins.kind != HONE_GARG_NONE && before > 0) {
        HONE_TRY(shifted(r, h, h->begins, before - 1, &begins));
        if (before > 1) HONE_TRY(onnx_emit2(r, "logical_or", *io_cut, begins, &begins));
        *io_cut = begins;
        HONE_TRY(onnx_emit_where(r, *io_cut, h->end, *out, out));
    }
    HONE_TRY(onnx_emit_slice(r, r->inputs[MULTIPLIERS], 0, before, before + 1, &number));
    return onnx_emit2(r, "multiply", *out, number, out);
}

/* [batch, length, heads] of what `tokens` tokens make. */
static hone_status hashes(onnx_reader *r, const hashing *h, hone_garg mix, int64_t tokens,
                          hone_garg *out) {
    const int64_t first = (tokens - 2) * h->heads;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    hone_garg part;
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &mix, 1, &last, out));
    HONE_TRY(onnx_emit_slice(r, r->inputs[SIZES], 0, first, first + h->heads, &part));
    HONE_TRY(onnx_emit2(r, "floor_mod", *out, part, out));
    if (!onnx_has_input(r, OFFSETS)) return HONE_OK;
    HONE_TRY(onnx_emit_slice(r, r->inputs[OFFSETS], 0, first, first + h->heads, &part));
    return onnx_emit2(r, "add", *out, part, out);
}

/* Sizes that are known must be more than 0; a run fails where one is 0. */
static hone_status check_sizes(const onnx_reader *r) {
    const hone_tensor *sizes = onnx_constant_of(r, &r->inputs[SIZES]);
    for (int64_t i = 0; sizes && i < hone_tensor_count(sizes); i++)
        if (hone_tensor_get_i64(sizes, i) < 1)
            return HONE_ERROR(HONE_CODE_INVALID, "size %lld of a table (input 2) is %lld",
                              (long long)i, (long long)hone_tensor_get_i64(sizes, i));
    return HONE_OK;
}

static hone_status convert_ngram_hash(onnx_reader *r, hone_garg *out) {
    hashing h = {0};
    hone_garg mix, next, cut = {.kind = HONE_GARG_NONE}, parts[MOST_NGRAM], ends[2];
    HONE_TRY(read_hashing(r, &h));
    HONE_TRY(check_sizes(r));
    HONE_TRY(read_end(r, &h));
    HONE_TRY(join_tokens(r, &h));
    HONE_TRY(find_begins(r, &h));
    HONE_TRY(term(r, &h, 0, &cut, &mix));
    for (int64_t i = 1; i < h.most; i++) {
        HONE_TRY(term(r, &h, i, &cut, &next));
        HONE_TRY(onnx_emit2(r, "bitwise_xor", mix, next, &mix));
        HONE_TRY(hashes(r, &h, mix, i + 1, &parts[i - 1]));
    }
    HONE_TRY(onnx_emit_concat(r, (uint32_t)h.most - 1, parts, 2, &out[0]));
    const hone_expr *lengths[] = {h.length, hone_extent_int(&r->ir, h.most - 1)};
    HONE_TRY(onnx_emit_parts(r, h.tokens, 1, 2, lengths, ends));
    out[1] = ends[1];
    return HONE_OK;
}

const onnx_converter onnx_hashes_converters[] = {
    {"MurmurHash3", convert_murmur, 1, 1, 1, "positive seed", NULL},
    {"NGramHashMapping",            convert_ngram_hash, 3, 7, 2,
     "max_ngram_size n_head_per_ngram pad_id reset_on_eos", NULL},
    {0           },
};
