/* graph/frontend/nodes/strings/onnx_strings.c - operators of strings (reader/onnx_bytes.c): what
 * moves them moves numbers of rows; what looks into them compares and chooses bytes. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- operators that move elements, whatever these are ---- */

static const char *const movers[] = {"Identity",
                                     "Reshape",
                                     "Flatten",
                                     "Squeeze",
                                     "Unsqueeze",
                                     "Transpose",
                                     "Gather",
                                     "GatherND",
                                     "Slice",
                                     "Expand",
                                     "Tile",
                                     "Split",
                                     "GatherElements",
                                     "Concat",
                                     "Where",
                                     "Compress",
                                     "DepthToSpace",
                                     "SpaceToDepth",
                                     "ReverseSequence",
                                     "Scatter",
                                     "ScatterND",
                                     "ScatterElements",
                                     "ArrayFeatureExtractor"};
/* What takes values whatever they are. */
static const char *const carriers[] = {"SequenceConstruct", "SequenceInsert", "SplitToSequence",
                                       "SequenceMap",       "Optional",       "OptionalHasElement",
                                       "OptionalGetElement"};
/* What takes strings itself, in families of others. */
static const char *const encoders[] = {"LabelEncoder", "CategoryMapper", "OneHotEncoder",
                                       "TfIdfVectorizer", "Tokenizer"};
/* Their result is no text. */
static const char *const measures[] = {"Shape", "Size"};

static bool is_one_of(const char *op, size_t count, const char *const *words) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(op, words[i]) == 0) return true;
    return false;
}

/* Of all texts among the inputs, the rows of one pool take their place. */
static hone_status take_rows(onnx_reader *r, hone_garg *out_pool) {
    hone_garg *texts = hone_arena_alloc(r->arena, (r->input_count + 1) * sizeof *texts);
    uint32_t *which = hone_arena_alloc(r->arena, (r->input_count + 1) * sizeof *which), count = 0;
    if (!texts || !which) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < r->input_count; i++) {
        if (!onnx_is_text(&r->inputs[i])) continue;
        which[count] = i;
        texts[count++] = r->inputs[i];
    }
    HONE_TRY(onnx_join_texts(r, count, texts, out_pool));
    for (uint32_t i = 0; i < count; i++)
        r->inputs[which[i]] = texts[i];
    return HONE_OK;
}

static hone_status convert_rows(onnx_reader *r, bool gives_text, hone_garg *outputs) {
    hone_garg pool;
    HONE_TRY(take_rows(r, &pool));
    HONE_TRY(r->row->convert(r, outputs));
    for (uint32_t i = 0; gives_text && i < r->output_count; i++) {
        HONE_TRY(onnx_as_tensor(r, &outputs[i]));
        HONE_TRY(onnx_make_text(r, pool, outputs[i], &outputs[i]));
    }
    return HONE_OK;
}

/* ---- bytes ---- */

static hone_status number(onnx_reader *r, const char *op, hone_garg bytes, char byte,
                          hone_garg *out) {
    return onnx_with_scalar(r, op, bytes, (double)byte, out);
}

/* From `first` to `last`. */
static hone_status are_between(onnx_reader *r, hone_garg bytes, char first, char last,
                               hone_garg *out) {
    hone_garg sides[2];
    HONE_TRY(number(r, "greater_equal", bytes, first, &sides[0]));
    HONE_TRY(number(r, "less_equal", bytes, last, &sides[1]));
    return onnx_emit2(r, "logical_and", sides[0], sides[1], out);
}

enum { CASE_NONE, CASE_LOWER, CASE_UPPER };

/* Letters of ASCII. */
static hone_status change_case(onnx_reader *r, uint32_t to, hone_garg *io) {
    hone_garg is_other, changed;
    bool is_lower = to == CASE_LOWER;
    if (to == CASE_NONE) return HONE_OK;
    HONE_TRY(are_between(r, *io, is_lower ? 'A' : 'a', is_lower ? 'Z' : 'z', &is_other));
    HONE_TRY(onnx_with_scalar(r, is_lower ? "add" : "subtract", *io, 'a' - 'A', &changed));
    return onnx_emit_where(r, is_other, changed, *io, io);
}

/* Where all bytes along the last axis are equal; it goes. */
static hone_status are_equal(onnx_reader *r, hone_garg a, hone_garg b, hone_garg *out) {
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_same_width(r, &a, &b));
    HONE_TRY(onnx_emit2(r, "equal", a, b, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I32, out));
    HONE_TRY(onnx_emit(r, "min", 1, out, 1, &last, out));
    return onnx_with_scalar(r, "not_equal", *out, 0, out);
}

hone_status onnx_emit_same_strings(onnx_reader *r, hone_garg bytes, hone_garg table,
                                   hone_garg *out) {
    hone_attr behind = {"axis", HONE_VALUE_OF_INT(-2)};
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &bytes, 1, &behind, &bytes));
    return are_equal(r, bytes, table, out);
}

/* ---- Equal, Cast ---- */

static hone_status both_bytes(onnx_reader *r, hone_garg out[2]) {
    for (uint32_t i = 0; i < 2; i++) {
        if (!onnx_is_text(&r->inputs[i]))
            return HONE_ERROR(HONE_CODE_TYPE, "input %u is no tensor of strings", i);
        HONE_TRY(onnx_text_bytes(r, &r->inputs[i], &out[i]));
    }
    return HONE_OK;
}

static hone_status convert_equal(onnx_reader *r, hone_garg *out) {
    hone_garg bytes[2];
    HONE_TRY(both_bytes(r, bytes));
    return are_equal(r, bytes[0], bytes[1], out);
}

static hone_status convert_cast(onnx_reader *r, hone_garg *out) {
    int64_t to;
    hone_dtype dtype;
    HONE_TRY(onnx_attr_int(r, "to", 0, &to));
    *out = r->inputs[0];
    if (onnx_is_string_type(to > INT32_MAX || to < 0 ? -1 : (int32_t)to)) return HONE_OK;
    HONE_TRY(onnx_dtype(to > INT32_MAX || to < 0 ? -1 : (int32_t)to, &dtype));
    return onnx_numbers_of_strings(r, &r->inputs[0], dtype, out);
}

static hone_status convert_cast_like(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *like;
    *out = r->inputs[0];
    if (!onnx_is_text(&r->inputs[0])) return onnx_strings_of_numbers(r, r->inputs[0], out);
    if (onnx_is_text(&r->inputs[1])) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 1, &like));
    return onnx_numbers_of_strings(r, &r->inputs[0], like->dtype, out);
}

/* ---- StringConcat ---- */

/* What lies at index p of the result: byte p of the first string, or the one as far behind its end
 * in the second. Both are as wide as the result, and lie one behind the other. */
static hone_status joined_indices(onnx_reader *r, hone_garg length, const hone_expr *width,
                                  hone_garg *out) {
    hone_garg index, is_first, second, size;
    HONE_TRY(onnx_indices(r, width, 1, 0, &index));
    HONE_TRY(onnx_emit2(r, "less", index, length, &is_first));
    HONE_TRY(onnx_emit2(r, "subtract", index, length, &second));
    HONE_TRY(onnx_make_ints(r, 1, &width, 0, &size));
    HONE_TRY(onnx_as_tensor(r, &size));
    HONE_TRY(onnx_emit2(r, "add", second, size, &second));
    return onnx_emit_where(r, is_first, index, second, out);
}

/* As great as the other along all axes but the last. */
static hone_status broadcast_both(onnx_reader *r, hone_garg io[2]) {
    hone_garg zeros, sum;
    HONE_TRY(onnx_with_scalar(r, "multiply", io[0], 0, &zeros));
    HONE_TRY(onnx_emit2(r, "add", zeros, io[1], &sum));
    HONE_TRY(onnx_with_scalar(r, "multiply", io[1], 0, &zeros));
    HONE_TRY(onnx_emit2(r, "add", io[0], zeros, &io[0]));
    io[1] = sum;
    return HONE_OK;
}

static hone_status double_width(onnx_reader *r, hone_garg io[2]) {
    hone_garg zeros;
    const hone_sinfo *info;
    HONE_TRY(onnx_same_width(r, &io[0], &io[1]));
    HONE_TRY(broadcast_both(r, io));
    HONE_TRY(onnx_info(r, &io[0], &info));
    HONE_TRY(onnx_with_scalar(r, "multiply", io[0], 0, &zeros));
    for (int i = 0; i < 2; i++) {
        const hone_garg parts[] = {io[i], zeros};
        HONE_TRY(onnx_emit_concat(r, 2, parts, info->rank - 1, &io[i]));
    }
    return HONE_OK;
}

static hone_status convert_string_concat(onnx_reader *r, hone_garg *out) {
    hone_garg bytes[2], args[2], length;
    const hone_sinfo *info;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(both_bytes(r, bytes));
    HONE_TRY(double_width(r, bytes));
    HONE_TRY(onnx_info(r, &bytes[0], &info));
    HONE_TRY(onnx_text_lengths(r, bytes[0], &length));
    HONE_TRY(joined_indices(r, length, info->shape[info->rank - 1], &args[1]));
    HONE_TRY(onnx_emit_concat(r, 2, bytes, info->rank - 1, &args[0]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, args, 1, &last, out));
    return onnx_text_of_bytes(r, *out, out);
}

/* ---- StringNormalizer ---- */

typedef struct normalizer {
    uint32_t to;
    int64_t is_case_sensitive;
    const Onnx__AttributeProto *stops;
} normalizer;

static hone_status read_normalizer(const onnx_reader *r, normalizer *out) {
    static const char *const words[] = {"NONE", "LOWER", "UPPER", NULL};
    HONE_TRY(onnx_attr_word(r, "case_change_action", words[0], words, &out->to));
    out->stops = onnx_attr(r, "stopwords");
    return onnx_attr_int(r, "is_case_sensitive", 0, &out->is_case_sensitive);
}

/* Which of the strings [count, width] are no stop words. */
static hone_status are_kept(onnx_reader *r, const normalizer *n, hone_garg bytes, hone_garg *out) {
    hone_garg table;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_text_table(r, n->stops->n_strings, n->stops->strings, &table));
    HONE_TRY(onnx_text_bytes(r, &table, &table));
    if (!n->is_case_sensitive) {
        HONE_TRY(change_case(r, CASE_LOWER, &bytes));
        HONE_TRY(change_case(r, CASE_LOWER, &table));
    }
    HONE_TRY(onnx_emit_same_strings(r, bytes, table, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I32, out));
    HONE_TRY(onnx_emit(r, "max", 1, out, 1, &last, out));
    return onnx_with_scalar(r, "equal", *out, 0, out);
}

/* An empty string behind all, which is kept where nothing else is. */
static hone_status keep_one(onnx_reader *r, hone_garg *bytes, hone_garg *kept) {
    hone_garg parts[2] = {*bytes}, count;
    HONE_TRY(onnx_emit_along(r, "max", *bytes, 0, &parts[1]));
    HONE_TRY(onnx_with_scalar(r, "multiply", parts[1], 0, &parts[1]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 0, bytes));
    HONE_TRY(onnx_emit_cast(r, *kept, HONE_DTYPE_I64, &count));
    HONE_TRY(onnx_emit_along(r, "sum", count, 0, &count));
    parts[0] = *kept;
    HONE_TRY(onnx_with_scalar(r, "equal", count, 0, &parts[1]));
    return onnx_emit_concat(r, 2, parts, 0, kept);
}

/* Of one dimension, or one row of two. */
static hone_status check_row(const hone_sinfo *info) {
    bool is_row = info->rank == 2 && hone_expr_is_int_value(info->shape[0], 1);
    if (info->rank == 1 || is_row) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "strings of %d dimensions, wants [n] or [1, n]",
                      info->rank);
}

static hone_status as_row(onnx_reader *r, hone_garg *io) {
    hone_attr front = {"axis", HONE_VALUE_OF_INT(0)};
    return onnx_emit(r, "expand_dims", 1, io, 1, &front, io);
}

static hone_status convert_normalizer(onnx_reader *r, hone_garg *out) {
    normalizer n;
    const hone_sinfo *info;
    hone_garg flat, bytes, kept;
    HONE_TRY(read_normalizer(r, &n));
    if (!onnx_is_text(&r->inputs[0]))
        return HONE_ERROR(HONE_CODE_TYPE, "input 0 is no tensor of strings");
    HONE_TRY(onnx_info(r, &r->inputs[0].u.items[1], &info));
    HONE_TRY(check_row(info));
    HONE_TRY(onnx_emit_flat(r, r->inputs[0].u.items[1], &flat));
    HONE_TRY(onnx_emit_take(r, r->inputs[0].u.items[0], flat, 0, &bytes));
    if (n.stops && n.stops->n_strings) {
        HONE_TRY(are_kept(r, &n, bytes, &kept));
        HONE_TRY(keep_one(r, &bytes, &kept));
        HONE_TRY(onnx_emit_chosen(r, kept, -1, &flat));
    } else {
        HONE_TRY(onnx_indices(r, info->shape[info->rank - 1], 1, 0, &flat));
    }
    HONE_TRY(change_case(r, n.to, &bytes));
    if (info->rank == 2) HONE_TRY(as_row(r, &flat));
    return onnx_make_text(r, bytes, flat, out);
}

/* ---- what takes strings ---- */

static const onnx_converter forms[] = {
    {"Equal", convert_equal, 2, 2, 1, "", NULL},
    {"Cast",      convert_cast, 1, 1, 1, "", NULL},
    {"CastLike",      convert_cast_like, 2, 2, 1, "", NULL},
    {0  },
};

hone_status onnx_convert_text(onnx_reader *r, hone_garg *outputs) {
    const char *op = r->row->op;
    const onnx_converter *form = onnx_find_in(forms, op);
    bool is_own =
        onnx_find_in(onnx_strings_converters, op) || onnx_find_in(onnx_patterns_converters, op) ||
        onnx_find_in(onnx_hashes_converters, op) || is_one_of(op, HONE_COUNT(encoders), encoders);
    bool is_mover = is_one_of(op, HONE_COUNT(movers), movers);
    bool is_measure = is_one_of(op, HONE_COUNT(measures), measures);
    if (form) return form->convert(r, outputs);
    bool is_carrier = is_one_of(op, HONE_COUNT(carriers), carriers);
    if (is_own || is_carrier) return r->row->convert(r, outputs);
    if (is_mover || is_measure) return convert_rows(r, is_mover, outputs);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the operator is not implemented for strings");
}

const onnx_converter onnx_strings_converters[] = {
    {"StringNormalizer", convert_normalizer, 1, 1, 1,
     "case_change_action is_case_sensitive locale stopwords", NULL},
    {"StringConcat",                 convert_string_concat, 2, 2, 1, "", NULL},
    {0                },
};
