/* graph/frontend/nodes/strings/onnx_ngrams.c - TfIdfVectorizer: how often the sequences of a pool
 * are in rows of whole numbers or strings, their elements side by side or with up to max_skip_count
 * others between each two.
 *
 * For each length and distance the columns that belong together are compared with the columns of
 * the pool; what was found goes to the indices that ngram_indexes says. Behind rows whose length is
 * known in a run only stand elements that no pool has, as many as a sequence can reach over the
 * end: so each column begins one. Strings are numbers, too: 1 + which of the pool's, or 0. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { MAX_LENGTH = 64, MAX_SKIP = 1024 };

typedef struct ngrams {
    int64_t least, most, skip; /* lengths, and how many may stand between */
    uint32_t mode;
    const Onnx__AttributeProto *starts, *indices, *weights;
    const Onnx__AttributeProto *strings; /* that the pool is made of, or NULL */
    const int64_t *pool;                 /* in the arena */
    size_t pool_count;
    const hone_expr *columns; /* of the rows */
    int64_t known_columns;    /* or -1 */
    bool is_vector;           /* one row, of one dimension */
    int64_t outputs;          /* of the result */
    hone_garg x,
        counts; /* int64 [rows, 1, columns (and what stands behind)]; float32 [rows, outputs] */
} ngrams;

static size_t start_of(const ngrams *g, size_t length) {
    return (size_t)g->starts->ints[length - 1];
}

static size_t end_of(const ngrams *g, size_t length) {
    return length < g->starts->n_ints ? start_of(g, length + 1) : g->pool_count;
}

static hone_status check_pool(const ngrams *g) {
    size_t count = 0;
    for (size_t length = 1; length <= g->starts->n_ints; length++) {
        int64_t start = g->starts->ints[length - 1];
        if (start < 0 || (size_t)start > g->pool_count || start_of(g, length) > end_of(g, length) ||
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

/* Of equal strings that of the first: 1 + where it stands in the pool. */
static hone_status number_strings(onnx_reader *r, ngrams *g) {
    hone_map128 seen = {0};
    int64_t *numbers = hone_arena_alloc(r->arena, g->pool_count * sizeof *numbers);
    bool has_memory = numbers != NULL;
    for (size_t i = 0; has_memory && i < g->pool_count; i++) {
        const ProtobufCBinaryData *s = &g->strings->strings[i];
        hone_hash128 hash = hone_hash128_bytes(s->data, s->len);
        uint64_t number;
        if (!hone_map128_find(&seen, hash, &number)) {
            number = i + 1;
            has_memory = hone_map128_put(&seen, hash, number);
        }
        numbers[i] = (int64_t)number;
    }
    hone_map128_deinit(&seen);
    g->pool = numbers;
    return has_memory ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "pool of strings");
}

static hone_status read_lists(onnx_reader *r, ngrams *g) {
    const Onnx__AttributeProto *ints = onnx_attr(r, "pool_int64s");
    g->starts = onnx_attr(r, "ngram_counts");
    g->indices = onnx_attr(r, "ngram_indexes");
    g->strings = onnx_attr(r, "pool_strings");
    g->weights = onnx_attr(r, "weights");
    if (ints && ints->n_ints == 0) ints = NULL;
    if (g->strings && g->strings->n_strings == 0) g->strings = NULL;
    if (!g->starts || !g->indices || !ints == !g->strings || g->indices->n_ints == 0 ||
        g->starts->n_ints == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "wants attributes ngram_counts, ngram_indexes and one "
                                             "of pool_int64s and pool_strings");
    }
    g->pool_count = ints ? ints->n_ints : g->strings->n_strings;
    if (ints) g->pool = ints->ints;
    if (g->strings) HONE_TRY(number_strings(r, g));
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

/* Strings as their numbers in the pool; 0: not there. */
static hone_status read_strings(onnx_reader *r, ngrams *g, hone_garg *out) {
    hone_garg bytes, table, numbers;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_text_bytes(r, &r->inputs[0], &bytes));
    HONE_TRY(onnx_text_table(r, g->pool_count, g->strings->strings, &table));
    HONE_TRY(onnx_text_bytes(r, &table, &table));
    HONE_TRY(onnx_emit_same_strings(r, bytes, table, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_int_table(r, (int64_t)g->pool_count, g->pool, &numbers));
    HONE_TRY(onnx_emit2(r, "multiply", *out, numbers, out));
    return onnx_emit(r, "max", 1, out, 1, &last, out);
}

/* A number that the pool has not: one of as many as there are, and one more. */
static hone_status find_stranger(onnx_reader *r, const ngrams *g, size_t *out) {
    bool *is_there = hone_arena_zalloc(r->arena, g->pool_count + 1);
    if (!is_there) return HONE_NO_MEMORY("pool of sequences");
    for (size_t i = 0; i < g->pool_count; i++) {
        int64_t number = g->pool[i];
        if (number >= 0 && (size_t)number <= g->pool_count) is_there[number] = true;
    }
    for (*out = 0; is_there[*out]; ++*out)
        ;
    return HONE_OK;
}

/* How far behind the last column a sequence can reach that begins behind it. */
static int64_t reach(const ngrams *g) {
    return 1 + (g->most - 1) * (g->skip + 1);
}

static hone_status add_strangers(onnx_reader *r, ngrams *g) {
    const hone_sinfo *info;
    hone_garg parts[2] = {g->x}, args[2];
    size_t stranger;
    HONE_TRY(onnx_info(r, &g->x, &info));
    HONE_TRY(find_stranger(r, g, &stranger));
    const hone_expr *shape[] = {info->shape[0], info->shape[1], hone_extent_int(&r->ir, reach(g))};
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, (double)stranger, &args[0]));
    HONE_TRY(onnx_make_ints(r, 3, shape, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, &parts[1]));
    return onnx_emit_concat(r, 2, parts, 2, &g->x);
}

/* Rows as [rows, 1, columns]. */
static hone_status read_rows(onnx_reader *r, ngrams *g) {
    const hone_sinfo *info;
    bool is_text = onnx_is_text(&r->inputs[0]);
    if (is_text != (g->strings != NULL))
        return HONE_ERROR(HONE_CODE_TYPE, "the pool is of another type than the input");
    g->x = r->inputs[0];
    if (is_text) HONE_TRY(read_strings(r, g, &g->x));
    HONE_TRY(onnx_info(r, &g->x, &info));
    if (info->rank < 1 || info->rank > 2 || !hone_dtype_is_integer(info->dtype))
        return HONE_ERROR(HONE_CODE_INVALID, "wants whole numbers or strings of 1 or 2 dimensions");
    g->is_vector = info->rank == 1;
    g->columns = info->shape[info->rank - 1];
    g->known_columns = hone_expr_const(g->columns);
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {g->is_vector ? one : info->shape[0], one, g->columns};
    HONE_TRY(onnx_emit_cast(r, g->x, HONE_DTYPE_I64, &g->x));
    HONE_TRY(onnx_emit_reshape(r, g->x, 3, shape, &g->x));
    return g->known_columns < 0 ? add_strangers(r, g) : HONE_OK;
}

/* Element `which` of all sequences of that length: [sequences, 1]. */
static hone_status pool_column(onnx_reader *r, const ngrams *g, size_t length, size_t which,
                               hone_garg *out) {
    size_t start = start_of(g, length), count = (end_of(g, length) - start) / length;
    int64_t shape[] = {(int64_t)count, 1};
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 2, shape, &tensor));
    for (size_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, (int64_t)i, g->pool[start + i * length + which]);
    return onnx_add_constant(r, tensor, out);
}

/* The elements `begin` behind those that sequences begin with. */
static hone_status columns_from(onnx_reader *r, const ngrams *g, int64_t begin, int64_t starts,
                                hone_garg *out) {
    if (g->known_columns >= 0) return onnx_emit_slice(r, g->x, 2, begin, begin + starts, out);
    hone_garg indices;
    HONE_TRY(onnx_indices(r, hone_extent_add(&r->ir, g->columns, 1), 1, 0, &indices));
    if (begin) HONE_TRY(onnx_with_scalar(r, "add", indices, (double)begin, &indices));
    return onnx_emit_take(r, g->x, indices, 2, out);
}

/* How often each sequence of that length is there with elements so far apart: [rows, sequences]. */
static hone_status count_at(onnx_reader *r, const ngrams *g, size_t length, int64_t distance,
                            hone_garg *out) {
    int64_t starts = g->known_columns - (int64_t)(length - 1) * distance, axis = 2;
    hone_attr attr = {"axis", onnx_ints_value(r, 1, &axis)};
    hone_garg all = {.kind = HONE_GARG_NONE}, part, column;
    for (size_t i = 0; i < length; i++) {
        HONE_TRY(pool_column(r, g, length, i, &column));
        HONE_TRY(columns_from(r, g, (int64_t)i * distance, starts, &part));
        HONE_TRY(onnx_emit2(r, "equal", part, column, &part));
        if (i > 0) HONE_TRY(onnx_emit2(r, "logical_and", all, part, &part));
        all = part;
    }
    HONE_TRY(onnx_emit_cast(r, all, HONE_DTYPE_F32, &all));
    return onnx_emit(r, "sum", 1, &all, 1, &attr, out);
}

/* What a length has among all sequences. */
typedef struct group {
    size_t first, count;
} group;

static group group_of(const ngrams *g, size_t length) {
    group out = {.count = (end_of(g, length) - start_of(g, length)) / length};
    for (size_t before = 1; before < length; before++)
        out.first += (end_of(g, before) - start_of(g, before)) / before;
    return out;
}

/* 1 where the sequence of a row counts for the output of a column. */
static hone_status by_product(onnx_reader *r, const ngrams *g, group some, hone_garg *io) {
    int64_t shape[] = {(int64_t)some.count, g->outputs};
    hone_tensor *tensor;
    hone_garg sides[2] = {*io};
    if (g->outputs > INT32_MAX / (int64_t)some.count)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than 2^31 pairs of sequence and index");
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &tensor));
    memset(tensor->data, 0, hone_tensor_bytes(tensor));
    for (size_t i = 0; i < some.count; i++)
        hone_tensor_set_f64(tensor, (int64_t)i * g->outputs + g->indices->ints[some.first + i], 1);
    HONE_TRY(onnx_add_constant(r, tensor, &sides[1]));
    return onnx_emit(r, "matmul", 2, sides, 0, NULL, io);
}

/* Which of the sequences counts for each output, some.count where none does. False where several
 * do. */
static bool find_sequences(const ngrams *g, group some, hone_tensor *which) {
    for (int64_t i = 0; i < g->outputs; i++)
        hone_tensor_set_i64(which, i, (int64_t)some.count);
    for (size_t i = 0; i < some.count; i++) {
        int64_t index = g->indices->ints[some.first + i];
        if (hone_tensor_get_i64(which, index) < (int64_t)some.count) return false;
        hone_tensor_set_i64(which, index, (int64_t)i);
    }
    return true;
}

/* Counts of sequences at the outputs that they count for: taken from there, or by a product where
 * several count for one. */
static hone_status to_outputs(onnx_reader *r, const ngrams *g, group some, hone_garg *io) {
    hone_tensor *which;
    hone_garg parts[2] = {*io}, indices;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &g->outputs, &which));
    if (!find_sequences(g, some, which)) {
        hone_tensor_destroy(which);
        return by_product(r, g, some, io);
    }
    HONE_TRY(onnx_add_constant(r, which, &indices));
    HONE_TRY(onnx_emit_slice(r, *io, 1, 0, 1, &parts[1]));
    HONE_TRY(onnx_with_scalar(r, "multiply", parts[1], 0, &parts[1]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 1, io));
    return onnx_emit_take(r, *io, indices, 1, io);
}

/* Single elements have no distance. */
static hone_status count_length(onnx_reader *r, ngrams *g, size_t length) {
    hone_garg found, sum = {.kind = HONE_GARG_NONE};
    int64_t last = length == 1 ? 1 : g->skip + 1;
    if (start_of(g, length) == end_of(g, length)) return HONE_OK;
    for (int64_t distance = 1; distance <= last; distance++) {
        int64_t known = g->known_columns;
        if (known >= 0 && known - (int64_t)(length - 1) * distance < 1) break;
        HONE_TRY(count_at(r, g, length, distance, &found));
        if (distance > 1) HONE_TRY(onnx_emit2(r, "add", sum, found, &found));
        sum = found;
    }
    if (sum.kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(to_outputs(r, g, group_of(g, length), &sum));
    return g->counts.kind == HONE_GARG_NONE ? (g->counts = sum, HONE_OK)
                                            : onnx_emit2(r, "add", g->counts, sum, &g->counts);
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
    const hone_expr *extent = hone_extent_int(&r->ir, g.outputs);
    return g.is_vector ? onnx_emit_reshape(r, *out, 1, &extent, out) : HONE_OK;
}

const onnx_converter onnx_ngrams_converters[] = {
    {"TfIdfVectorizer", convert_tf_idf, 1, 1, 1,
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
     "pool_strings weights", NULL},
    {0               },
};
