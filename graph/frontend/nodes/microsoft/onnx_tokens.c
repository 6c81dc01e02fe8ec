/* graph/frontend/nodes/microsoft/onnx_tokens.c - tokens as com.microsoft has them: where what was
 * guessed leaves the source (BifurcationDetector), words by their letters (WordConvEmbedding), and
 * the cheapest way through a matrix (DynamicTimeWarping). */
#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- DynamicTimeWarping ---- */

static hone_status convert_warp(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg costs = r->inputs[0], way, row;
    HONE_TRY(onnx_info(r, &costs, &info));
    if (info->rank == 3) HONE_TRY(onnx_demand_size(r, &costs, 0, 1));
    if (info->rank != 2 && info->rank != 3)
        return HONE_ERROR(HONE_CODE_INVALID, "costs of %d dimensions, must be 2, or 3 of 1",
                          (int)info->rank);
    HONE_TRY(onnx_info(r, &costs, &info));
    if (info->rank == 3) HONE_TRY(onnx_emit_reshape(r, costs, 2, info->shape + 1, &costs));
    HONE_TRY(onnx_emit1(r, "time_warp", costs, &way));
    HONE_TRY(onnx_emit_slice(r, way, 0, 0, 1, &row));
    HONE_TRY(onnx_emit_flat(r, row, &row));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", row, 0, &row));
    HONE_TRY(onnx_emit_chosen(r, row, -1, &row));
    return onnx_emit_take(r, way, row, 1, out);
}

/* ---- BifurcationDetector ---- */

enum { SOURCE, CURRENT, BEFORE, GUESSED };
enum { MOST_NGRAM = ONNX_MAX_KNOWN };

typedef struct match {
    hone_garg source; /* [source length + 1], of which the last one is none */
    const hone_expr *source_length;
    hone_garg tokens;       /* of which `count` are there */
    hone_garg count, size;  /* of tokens; of the source: int64 [1] */
    hone_garg index, is_on; /* so far, and whether longer ones are looked for: [1] */
} match;

static hone_status vector_info(onnx_reader *r, uint32_t input, const hone_sinfo **out) {
    HONE_TRY(onnx_as_tensor(r, &r->inputs[input]));
    HONE_TRY(onnx_input_info(r, input, out));
    if ((*out)->rank == 1) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "input %u has %d dimensions, must have 1", input,
                      (int)(*out)->rank);
}

/* How many of the guessed tokens, which begin at `begin` of the source, are as there: [1]. That
 * the node says the same of where they begin is demanded. */
static hone_status count_alike(onnx_reader *r, const hone_sinfo *source, const hone_sinfo *guessed,
                               hone_garg *out) {
    const hone_expr *count = hone_extent_add(&r->ir, guessed->shape[0], -1);
    const hone_expr *begin = hone_expr_sub(&r->ir, source->shape[0], count);
    hone_garg parts[2], same, start, is_other;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    HONE_TRY(hone_ir_finish(&r->ir));
    int64_t known = hone_expr_const(source->shape[0]), length = hone_expr_const(guessed->shape[0]);
    if (length == 0 || (known >= 0 && length > known + 1))
        return HONE_ERROR(HONE_CODE_INVALID, "%lld guessed tokens beside a source of %lld",
                          (long long)length, (long long)known);
    const hone_expr *lengths[2][2] = {
        {begin,                   count},
        { count, hone_extent_int(&r->ir,    1)}
    };
    HONE_TRY(onnx_emit_parts(r, r->inputs[SOURCE], 0, 2, lengths[0], parts));
    hone_garg rest = parts[1];
    HONE_TRY(onnx_emit_parts(r, r->inputs[GUESSED], 0, 2, lengths[1], parts));
    HONE_TRY(onnx_emit2(r, "equal", rest, parts[0], &same));
    HONE_TRY(onnx_emit_cast(r, same, HONE_DTYPE_I64, &same));
    HONE_TRY(onnx_emit(r, "cumprod", 1, &same, 1, &axis, &same));
    HONE_TRY(onnx_emit_along(r, "sum", same, 0, out));
    HONE_TRY(onnx_sizes_tensor(r, 1, &begin, &start));
    HONE_TRY(onnx_emit_item(r, r->inputs[BEFORE], 0, &is_other));
    HONE_TRY(onnx_emit2(r, "not_equal", is_other, start, &is_other));
    HONE_TRY(onnx_emit_cast(r, is_other, HONE_DTYPE_I64, &is_other));
    HONE_TRY(onnx_emit_within(r, is_other, hone_extent_int(&r->ir, 1), &is_other));
    return onnx_emit2(r, "add", *out, is_other, out);
}

/* All tokens, side by side, and how many of them are there. */
static hone_status join_tokens(onnx_reader *r, match *m, hone_garg *out) {
    const hone_sinfo *source, *current, *guessed;
    hone_garg parts[2] = {{0}, onnx_given(r, GUESSED)}, indices, before;
    HONE_TRY(vector_info(r, SOURCE, &source));
    HONE_TRY(vector_info(r, CURRENT, &current));
    parts[0] = r->inputs[CURRENT];
    m->source_length = source->shape[0];
    HONE_TRY(onnx_sizes_tensor(r, 1, &current->shape[0], &m->count));
    *out = m->tokens = parts[0];
    if (parts[1].kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(vector_info(r, GUESSED, &guessed));
    parts[1] = r->inputs[GUESSED];
    HONE_TRY(count_alike(r, source, guessed, &before));
    HONE_TRY(onnx_with_scalar(r, "add", before, 1, &before));
    HONE_TRY(onnx_emit2(r, "add", m->count, before, &m->count));
    const hone_expr *most = hone_extent_sum(&r->ir, current->shape[0], guessed->shape[0]);
    HONE_TRY(onnx_emit_concat(r, 2, parts, 0, &m->tokens));
    HONE_TRY(onnx_indices(r, most, 1, 0, &indices));
    HONE_TRY(onnx_emit2(r, "less", indices, m->count, &indices));
    HONE_TRY(onnx_emit_chosen(r, indices, -1, &indices));
    return onnx_emit_take(r, m->tokens, indices, 0, out);
}

static hone_status add_one(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_garg parts[2] = {x};
    const int64_t zero = 0;
    HONE_TRY(onnx_int_table(r, 1, &zero, &parts[1]));
    return onnx_emit_concat(r, 2, parts, 0, out);
}

static hone_status begin_match(onnx_reader *r, match *m) {
    hone_garg yes;
    HONE_TRY(add_one(r, r->inputs[SOURCE], &m->source));
    HONE_TRY(add_one(r, m->tokens, &m->tokens));
    HONE_TRY(onnx_sizes_tensor(r, 1, &m->source_length, &m->size));
    HONE_TRY(onnx_with_scalar(r, "multiply", m->size, 0, &m->index));
    HONE_TRY(onnx_with_scalar(r, "equal", m->index, 0, &yes));
    HONE_TRY(onnx_with_scalar(r, "subtract", m->index, 1, &m->index));
    m->is_on = yes;
    return HONE_OK;
}

/* Token `k` of the last n: [1]; any where there are fewer, behind all of which there is one more.
 */
static hone_status last_token(onnx_reader *r, const match *m, int64_t n, int64_t k,
                              hone_garg *out) {
    hone_garg at;
    HONE_TRY(onnx_with_scalar(r, "subtract", m->count, (double)(n - k), &at));
    HONE_TRY(onnx_with_scalar(r, "maximum", at, 0, &at));
    return onnx_emit_take(r, m->tokens, at, 0, out);
}

/* Where the last n tokens stand in the source: truths [source length + 1]. */
static hone_status places_of(onnx_reader *r, const match *m, int64_t n, hone_garg *out) {
    const hone_expr *places = hone_extent_add(&r->ir, m->source_length, 1);
    hone_garg begin, at, token, own, is_same;
    HONE_TRY(onnx_indices(r, places, 1, 0, &begin));
    HONE_TRY(onnx_with_scalar(r, "add", begin, (double)n, &at));
    HONE_TRY(onnx_emit2(r, "less_equal", at, m->size, out));
    for (int64_t k = 0; k < n; k++) {
        HONE_TRY(onnx_with_scalar(r, "add", begin, (double)k, &at));
        HONE_TRY(onnx_emit2(r, "minimum", at, m->size, &at));
        HONE_TRY(onnx_emit_take(r, m->source, at, 0, &own));
        HONE_TRY(last_token(r, m, n, k, &token));
        HONE_TRY(onnx_emit2(r, "equal", own, token, &is_same));
        HONE_TRY(onnx_emit2(r, "logical_and", *out, is_same, out));
    }
    return HONE_OK;
}

/* The last n tokens: where they stand once, the index is what comes behind; where they stand more
 * often, there is none, and one more is looked for; where they do not stand, or nothing comes
 * behind them, the search is over. */
static hone_status look_for(onnx_reader *r, match *m, int64_t n) {
    hone_garg places, begin, first, count, is_found, is_inside, is_more, index, none;
    HONE_TRY(places_of(r, m, n, &places));
    HONE_TRY(onnx_indices(r, hone_extent_add(&r->ir, m->source_length, 1), 1, 0, &begin));
    HONE_TRY(onnx_emit_where(r, places, begin, m->size, &first));
    HONE_TRY(onnx_emit_along(r, "min", first, 0, &first));
    HONE_TRY(onnx_emit_cast(r, places, HONE_DTYPE_I64, &count));
    HONE_TRY(onnx_emit_along(r, "sum", count, 0, &count));
    HONE_TRY(onnx_with_scalar(r, "greater", count, 0, &is_found));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", m->count, (double)n, &is_inside));
    HONE_TRY(onnx_emit2(r, "logical_and", is_found, is_inside, &is_found));
    HONE_TRY(onnx_emit2(r, "logical_and", m->is_on, is_found, &m->is_on));
    HONE_TRY(onnx_with_scalar(r, "add", first, (double)n, &index));
    HONE_TRY(onnx_emit2(r, "less", index, m->size, &is_inside));
    HONE_TRY(onnx_with_scalar(r, "greater", count, 1, &is_more));
    HONE_TRY(onnx_emit2(r, "logical_and", is_more, is_inside, &is_more));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, -1, &none));
    HONE_TRY(onnx_emit_where(r, is_more, none, index, &index));
    HONE_TRY(onnx_emit_where(r, m->is_on, index, m->index, &m->index));
    return onnx_emit2(r, "logical_and", m->is_on, is_inside, &m->is_on);
}

static hone_status convert_bifurcation(onnx_reader *r, hone_garg *out) {
    match m;
    const hone_sinfo *before;
    int64_t least, most;
    HONE_TRY(onnx_attr_int(r, "min_ngram_size", 1, &least));
    HONE_TRY(onnx_attr_int(r, "max_ngram_size", 3, &most));
    if (least < 1 || most < least)
        return HONE_ERROR(HONE_CODE_INVALID, "the last %lld to %lld tokens", (long long)least,
                          (long long)most);
    if (most > MOST_NGRAM)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute 'max_ngram_size' is %lld, at most %d",
                          (long long)most, MOST_NGRAM);
    HONE_TRY(onnx_as_tensor(r, &r->inputs[BEFORE]));
    HONE_TRY(onnx_input_info(r, BEFORE, &before));
    HONE_TRY(join_tokens(r, &m, &out[0]));
    HONE_TRY(begin_match(r, &m));
    for (int64_t n = least; n <= most; n++)
        HONE_TRY(look_for(r, &m, n));
    return onnx_emit_reshape(r, m.index, (uint32_t)before->rank, before->shape, &out[1]);
}

/* ---- WordConvEmbedding ---- */

enum { LETTERS, WEIGHT, BIAS, TABLE };

/* A size that an attribute says as well, where it does. */
static hone_status check_said(onnx_reader *r, const char *name, uint32_t input, int32_t d) {
    int64_t said;
    HONE_TRY(onnx_attr_int(r, name, -1, &said));
    return said < 0 ? HONE_OK : onnx_demand_size(r, &r->inputs[input], d, said);
}

static hone_status check_words(onnx_reader *r) {
    static const int32_t ranks[] = {2, 4, 1, 2};
    for (uint32_t i = 0; i < HONE_COUNT(ranks); i++) {
        const hone_sinfo *info;
        HONE_TRY(onnx_input_info(r, i, &info));
        if (info->rank != ranks[i])
            return HONE_ERROR(HONE_CODE_INVALID, "input %u has %d dimensions, must have %d", i,
                              (int)info->rank, (int)ranks[i]);
    }
    HONE_TRY(check_said(r, "embedding_size", WEIGHT, 0));
    HONE_TRY(check_said(r, "conv_window_size", WEIGHT, 2));
    HONE_TRY(check_said(r, "char_embedding_size", TABLE, 1));
    HONE_TRY(onnx_demand_size(r, &r->inputs[WEIGHT], 1, 1));
    return onnx_unify_dims(r, &r->inputs[WEIGHT], 3, &r->inputs[TABLE], 1);
}

/* How many letters each word has, [words, 1]: none where the first one is 0. */
static hone_status lengths_of(onnx_reader *r, hone_garg *out) {
    hone_garg is_there, first, zero;
    HONE_TRY(onnx_with_scalar(r, "greater", r->inputs[LETTERS], 0, &is_there));
    HONE_TRY(onnx_emit_slice(r, is_there, 1, 0, 1, &first));
    HONE_TRY(onnx_emit_cast(r, is_there, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_emit_along(r, "sum", *out, 1, out));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    return onnx_emit_where(r, first, *out, zero, out);
}

/* Rows of the table for the letters that are looked at, [words, 1, letters, size]: as many as the
 * word has, and as the window is wide. */
static hone_status look_up(onnx_reader *r, hone_garg reach, hone_garg *out) {
    const hone_sinfo *letters, *table;
    hone_garg indices, is_looked_at, zero;
    HONE_TRY(onnx_input_info(r, LETTERS, &letters));
    HONE_TRY(onnx_input_info(r, TABLE, &table));
    const hone_expr *shape[] = {letters->shape[0], hone_extent_int(&r->ir, 1), letters->shape[1],
                                table->shape[1]};
    HONE_TRY(onnx_indices(r, letters->shape[1], 1, 0, &indices));
    HONE_TRY(onnx_emit2(r, "less", indices, reach, &is_looked_at));
    HONE_TRY(onnx_emit_no_negative(r, r->inputs[LETTERS], table->shape[0], out));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_emit_where(r, is_looked_at, *out, zero, out));
    HONE_TRY(onnx_emit_take(r, r->inputs[TABLE], *out, 0, out));
    return onnx_emit_reshape(r, *out, 4, shape, out);
}

/* The largest of the windows that lie on the word: [words, filters]; of words without letters 0. */
static hone_status largest(onnx_reader *r, hone_garg x, hone_garg lengths, hone_garg reach,
                           int64_t width, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg indices, is_inside, nothing, zero, is_word, ends;
    HONE_TRY(onnx_info(r, &x, &info));
    const hone_expr *shape[] = {info->shape[0], info->shape[1]};
    const hone_expr *one = hone_extent_int(&r->ir, 1), *wide[] = {info->shape[0], one, one};
    HONE_TRY(onnx_indices(r, info->shape[2], 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "add", indices, (double)width, &indices));
    HONE_TRY(onnx_emit_reshape(r, reach, 3, wide, &ends));
    HONE_TRY(onnx_emit2(r, "less_equal", indices, ends, &is_inside));
    HONE_TRY(onnx_scalar_like(r, &x, -1e12, &nothing));
    HONE_TRY(onnx_emit_where(r, is_inside, x, nothing, &x));
    HONE_TRY(onnx_emit_along(r, "max", x, 2, &x));
    HONE_TRY(onnx_emit_reshape(r, x, 2, shape, &x));
    HONE_TRY(onnx_with_scalar(r, "greater", lengths, 0, &is_word));
    HONE_TRY(onnx_scalar_like(r, &x, 0, &zero));
    return onnx_emit_where(r, is_word, x, zero, out);
}

static hone_status convert_words(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *weight, *letters, *made;
    hone_garg lengths, reach, args[2], bias;
    HONE_TRY(check_words(r));
    HONE_TRY(onnx_input_info(r, WEIGHT, &weight));
    HONE_TRY(onnx_input_info(r, LETTERS, &letters));
    const int64_t width = hone_expr_const(weight->shape[2]);
    const int64_t count = hone_expr_const(letters->shape[1]);
    if (width < 0) return onnx_unknown_size(2);
    if (width < 1 || (count >= 0 && count < width))
        return HONE_ERROR(HONE_CODE_INVALID, "a window of %lld over words of %lld letters",
                          (long long)width, (long long)count);
    HONE_TRY(lengths_of(r, &lengths));
    HONE_TRY(onnx_with_scalar(r, "maximum", lengths, (double)width, &reach));
    HONE_TRY(look_up(r, reach, &args[0]));
    args[1] = r->inputs[WEIGHT];
    HONE_TRY(onnx_emit(r, "nn.conv2d", 2, args, 0, NULL, out));
    HONE_TRY(onnx_info(r, out, &made));
    const hone_expr *one = hone_extent_int(&r->ir, 1), *column[] = {one, made->shape[1], one};
    const hone_expr *shape[] = {made->shape[0], made->shape[1], made->shape[2]};
    HONE_TRY(onnx_emit_reshape(r, *out, 3, shape, out));
    HONE_TRY(onnx_emit_reshape(r, r->inputs[BIAS], 3, column, &bias));
    HONE_TRY(onnx_emit2(r, "add", *out, bias, out));
    HONE_TRY(onnx_emit1(r, "tanh", *out, out));
    return largest(r, *out, lengths, reach, width, out);
}

const onnx_converter onnx_tokens_converters[] = {
    {"DynamicTimeWarping", convert_warp, 1, 1, 1, "", NULL},
    {"BifurcationDetector",                   convert_bifurcation, 3, 4, 2, "max_ngram_size min_ngram_size", NULL},
    {"WordConvEmbedding",                   convert_words, 4, 4, 1,
     "char_embedding_size conv_window_size embedding_size", NULL},
    {0               },
};
