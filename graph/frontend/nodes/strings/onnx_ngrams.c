/* graph/frontend/nodes/strings/onnx_ngrams.c - TfIdfVectorizer: how often the sequences of a pool
 * are in rows of whole numbers, their elements side by side or with up to max_skip_count others
 * between each two.
 *
 * For each length and distance the columns that belong together are compared with the columns of
 * the pool; what was found goes to the indices that ngram_indexes says. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { MAX_LENGTH = 64, MAX_SKIP = 1024 };

typedef struct ngrams {
    int64_t least, most, skip; /* lengths, and how many may stand between */
    uint32_t mode;
    const Onnx__AttributeProto *starts, *indices, *pool, *weights;
    int64_t columns;     /* of the rows */
    int64_t outputs;     /* of the result */
    hone_garg x, counts; /* int64 [rows, columns]; float32 [rows, outputs] */
} ngrams;

static size_t start_of(const ngrams *g, size_t length) {
    return (size_t)g->starts->ints[length - 1];
}

static size_t end_of(const ngrams *g, size_t length) {
    return length < g->starts->n_ints ? start_of(g, length + 1) : g->pool->n_ints;
}

static hone_status check_pool(const ngrams *g) {
    size_t count = 0;
    for (size_t length = 1; length <= g->starts->n_ints; length++) {
        int64_t start = g->starts->ints[length - 1];
        if (start < 0 || (size_t)start > g->pool->n_ints ||
            start_of(g, length) > end_of(g, length) ||
            (end_of(g, length) - start_of(g, length)) % length != 0) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "attribute 'ngram_counts' does not divide the pool into sequences");
        }
        count += (end_of(g, length) - start_of(g, length)) / length;
    }
    if (count != g->indices->n_ints || (g->weights && count != g->weights->n_floats)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%zu sequences have %zu indices and %zu weights",
                          count, g->indices->n_ints, g->weights ? g->weights->n_floats : count);
    }
    return HONE_OK;
}

static hone_status read_lists(onnx_reader *r, ngrams *g) {
    g->starts = onnx_attr(r, "ngram_counts");
    g->indices = onnx_attr(r, "ngram_indexes");
    g->pool = onnx_attr(r, "pool_int64s");
    g->weights = onnx_attr(r, "weights");
    if (onnx_attr(r, "pool_strings"))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "strings are not implemented");
    if (!g->starts || !g->indices || !g->pool || g->indices->n_ints == 0 ||
        g->starts->n_ints == 0) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "wants attributes ngram_counts, ngram_indexes and pool_int64s");
    }
    for (size_t i = 0; i < g->indices->n_ints; i++) {
        int64_t index = g->indices->ints[i];
        if (index < 0 || index > INT32_MAX)
            return HONE_ERROR(HONE_CODE_INVALID, "index %lld of a sequence", (long long)index);
        if (index >= g->outputs) g->outputs = index + 1;
    }
    return check_pool(g);
}

static hone_status read_attributes(onnx_reader *r, ngrams *g) {
    static const char *const modes[] = {"TF", "IDF", "TFIDF", NULL};
    HONE_TRY(onnx_attr_int(r, "min_gram_length", 1, &g->least));
    HONE_TRY(onnx_attr_int(r, "max_gram_length", 1, &g->most));
    HONE_TRY(onnx_attr_int(r, "max_skip_count", 0, &g->skip));
    HONE_TRY(onnx_attr_word(r, "mode", "", modes, &g->mode));
    if (g->least < 1 || g->most < g->least || g->most > MAX_LENGTH || g->skip < 0 ||
        g->skip > MAX_SKIP) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "sequences of %lld to %lld elements with up to %lld between them",
                          (long long)g->least, (long long)g->most, (long long)g->skip);
    }
    HONE_TRY(read_lists(r, g));
    if ((size_t)g->most > g->starts->n_ints)
        return HONE_ERROR(HONE_CODE_INVALID, "the pool has no sequences of %lld elements",
                          (long long)g->most);
    return HONE_OK;
}

/* Rows as [rows, 1, columns]. */
static hone_status read_rows(onnx_reader *r, ngrams *g) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (info->rank < 1 || info->rank > 2 || !hone_dtype_is_integer(info->dtype))
        return HONE_ERROR(HONE_CODE_INVALID, "wants whole numbers of 1 or 2 dimensions");
    g->columns = hone_expr_const(info->shape[info->rank - 1]);
    if (g->columns < 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "rows of unknown length; give it with --shape");
    }
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {info->rank == 2 ? info->shape[0] : one, one,
                                info->shape[info->rank - 1]};
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], HONE_DTYPE_I64, &g->x));
    return onnx_emit_reshape(r, g->x, 3, shape, &g->x);
}

/* Element `which` of all sequences of that length: [sequences, 1]. */
static hone_status pool_column(onnx_reader *r, const ngrams *g, size_t length, size_t which,
                               hone_garg *out) {
    size_t start = start_of(g, length), count = (end_of(g, length) - start) / length;
    int64_t shape[] = {(int64_t)count, 1};
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 2, shape, &tensor));
    for (size_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, (int64_t)i, g->pool->ints[start + i * length + which]);
    return onnx_add_constant(r, tensor, out);
}

/* How often each sequence of that length is there with elements so far apart: [rows, sequences]. */
static hone_status count_at(onnx_reader *r, const ngrams *g, size_t length, int64_t distance,
                            hone_garg *out) {
    int64_t starts = g->columns - (int64_t)(length - 1) * distance, axis = 2;
    hone_attr attr = {"axis", onnx_ints_value(r, 1, &axis)};
    hone_garg all = {.kind = HONE_GARG_NONE}, part, column;
    for (size_t i = 0; i < length; i++) {
        int64_t begin = (int64_t)i * distance;
        HONE_TRY(pool_column(r, g, length, i, &column));
        HONE_TRY(onnx_emit_slice(r, g->x, 2, begin, begin + starts, &part));
        HONE_TRY(onnx_emit2(r, "equal", part, column, &part));
        if (i > 0) HONE_TRY(onnx_emit2(r, "logical_and", all, part, &part));
        all = part;
    }
    HONE_TRY(onnx_emit_cast(r, all, HONE_DTYPE_F32, &all));
    return onnx_emit(r, "sum", 1, &all, 1, &attr, out);
}

/* 1 where the sequence of a row counts for the output of a column. */
static hone_status indices_of(onnx_reader *r, const ngrams *g, size_t length, hone_garg *out) {
    size_t count = (end_of(g, length) - start_of(g, length)) / length, first = 0;
    for (size_t before = 1; before < length; before++)
        first += (end_of(g, before) - start_of(g, before)) / before;
    int64_t shape[] = {(int64_t)count, g->outputs};
    hone_tensor *tensor;
    if (g->outputs > INT32_MAX / (int64_t)count)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than 2^31 pairs of sequence and index");
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &tensor));
    memset(tensor->data, 0, hone_tensor_bytes(tensor));
    for (size_t i = 0; i < count; i++)
        hone_tensor_set_f64(tensor, (int64_t)i * g->outputs + g->indices->ints[first + i], 1);
    return onnx_add_constant(r, tensor, out);
}

/* Single elements have no distance. */
static hone_status count_length(onnx_reader *r, ngrams *g, size_t length) {
    hone_garg found[2], sum = {.kind = HONE_GARG_NONE};
    int64_t last = length == 1 ? 1 : g->skip + 1;
    if (start_of(g, length) == end_of(g, length)) return HONE_OK;
    for (int64_t distance = 1; distance <= last; distance++) {
        if (g->columns - (int64_t)(length - 1) * distance < 1) break;
        HONE_TRY(count_at(r, g, length, distance, &found[0]));
        if (distance > 1) HONE_TRY(onnx_emit2(r, "add", sum, found[0], &found[0]));
        sum = found[0];
    }
    if (sum.kind == HONE_GARG_NONE) return HONE_OK;
    found[0] = sum;
    HONE_TRY(indices_of(r, g, length, &found[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, found, 0, NULL, &found[0]));
    return g->counts.kind == HONE_GARG_NONE ? (g->counts = found[0], HONE_OK)
                                            : onnx_emit2(r, "add", g->counts, found[0], &g->counts);
}

/* Nothing can be found: zeros. */
static hone_status count_nothing(onnx_reader *r, ngrams *g) {
    const hone_sinfo *info;
    hone_garg args[2];
    HONE_TRY(onnx_info(r, &g->x, &info));
    const hone_expr *shape[] = {info->shape[0], hone_extent_int(&r->ir, g->outputs)};
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 0, &args[0]));
    HONE_TRY(onnx_make_ints(r, 2, shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, &g->counts);
}

/* The weights by the indices of the result. */
static hone_status weights_of(onnx_reader *r, const ngrams *g, hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 1, &g->outputs, &tensor));
    for (int64_t i = 0; i < g->outputs; i++)
        hone_tensor_set_f64(tensor, i, 1);
    for (size_t i = 0; g->weights && i < g->weights->n_floats; i++)
        hone_tensor_set_f64(tensor, g->indices->ints[i], (double)g->weights->floats[i]);
    return onnx_add_constant(r, tensor, out);
}

static hone_status convert_tf_idf(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    ngrams g = {.counts = {.kind = HONE_GARG_NONE}};
    hone_garg weights;
    HONE_TRY(read_attributes(r, &g));
    HONE_TRY(read_rows(r, &g));
    for (int64_t length = g.least; length <= g.most; length++)
        HONE_TRY(count_length(r, &g, (size_t)length));
    if (g.counts.kind == HONE_GARG_NONE) HONE_TRY(count_nothing(r, &g));
    *out = g.counts;
    if (g.mode == 1) { /* IDF: whether it is there */
        HONE_TRY(onnx_with_scalar(r, "greater", *out, 0, out));
        HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F32, out));
    }
    HONE_TRY(weights_of(r, &g, &weights));
    if (g.mode > 0) HONE_TRY(onnx_emit2(r, "multiply", *out, weights, out));
    HONE_TRY(onnx_input_info(r, 0, &info));
    const hone_expr *extent = hone_extent_int(&r->ir, g.outputs);
    return info->rank == 2 ? HONE_OK : onnx_emit_reshape(r, *out, 1, &extent, out);
}

const onnx_converter onnx_ngrams_converters[] = {
    {"TfIdfVectorizer", convert_tf_idf, 1, 1, 1,
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
     "pool_strings weights", NULL},
    {0               },
};
