/* graph/frontend/nodes/strings/onnx_patterns.c - operators that look for something in strings:
 * RegexFullMatch (by an automaton, support/text/regex.h) and StringSplit.
 *
 *   "ab--c"  by "-":   a match ends at   0 0 1 1 0    1 + their number are the parts
 *                      how many up there 0 0 1 2 2    part t begins behind match t
 *
 * In blanks, parts begin and end where blanks do. How many parts there are in most is a size that
 * is known when the model runs. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"
#include "support/text/regex.h"

static hone_status wants_text(const onnx_reader *r) {
    if (onnx_is_text(&r->inputs[0])) return HONE_OK;
    return HONE_ERROR(HONE_CODE_TYPE, "input 0 is no tensor of strings");
}

/* ---- automata ---- */

/* int32[rows, columns], or [columns] where rows is 0. */
static hone_status add_table(onnx_reader *r, int64_t rows, int64_t columns, const int32_t *numbers,
                             hone_garg *out) {
    const int64_t shape[] = {rows, columns};
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I32, rows ? 2 : 1, rows ? shape : shape + 1, &tensor));
    memcpy(tensor->data, numbers, hone_tensor_bytes(tensor));
    return onnx_add_constant(r, tensor, out);
}

hone_status onnx_run_automaton(onnx_reader *r, hone_garg bytes, uint32_t states, uint32_t kinds,
                               const int32_t *kind_of, const int32_t *next, hone_garg *out) {
    hone_garg args[2], table;
    const hone_attr attrs[] = {
        {"axis",             HONE_VALUE_OF_INT(-1)},
        { "dtype", onnx_text_value(r,              "int32")}
    };
    HONE_TRY(add_table(r, 0, 256, kind_of, &table));
    HONE_TRY(onnx_emit_take(r, table, bytes, 0, &args[0]));
    HONE_TRY(add_table(r, states, kinds, next, &args[1]));
    return onnx_emit(r, "automaton", 2, args, 2, attrs, out);
}

/* What is behind the string, zeros, leaves the state as it is. */
static hone_status run_regex(onnx_reader *r, const hone_dfa *dfa, hone_garg bytes, hone_garg *out) {
    const uint32_t kinds = dfa->classes + 1;
    int32_t kind_of[256];
    int32_t *next = hone_arena_alloc(r->arena, (size_t)dfa->states * kinds * sizeof *next);
    if (!next) return HONE_NO_MEMORY("model");
    for (int b = 0; b < 256; b++)
        kind_of[b] = b ? dfa->class_of[b] : (int32_t)dfa->classes;
    for (uint32_t s = 0; s < dfa->states; s++)
        for (uint32_t k = 0; k < kinds; k++)
            next[s * kinds + k] = (int32_t)(k < dfa->classes ? dfa->next[s * dfa->classes + k] : s);
    return onnx_run_automaton(r, bytes, dfa->states, kinds, kind_of, next, out);
}

static hone_status accepted(onnx_reader *r, const hone_dfa *dfa, hone_garg state, hone_garg *out) {
    const int64_t count = dfa->states;
    hone_tensor *tensor;
    hone_garg table;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_BOOL, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, i, dfa->accepts[i]);
    HONE_TRY(onnx_add_constant(r, tensor, &table));
    return onnx_emit_take(r, table, state, 0, out);
}

static hone_status match(onnx_reader *r, const hone_dfa *dfa, hone_garg *out) {
    hone_garg bytes, states, end;
    const hone_sinfo *info;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_text_bytes(r, &r->inputs[0], &bytes));
    HONE_TRY(run_regex(r, dfa, bytes, &states));
    HONE_TRY(onnx_info(r, &states, &info));
    HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[info->rank - 1], &end));
    HONE_TRY(onnx_with_scalar(r, "subtract", end, 1, &end));
    HONE_TRY(onnx_emit_take(r, states, end, info->rank - 1, &states));
    HONE_TRY(onnx_emit(r, "squeeze", 1, &states, 1, &last, &states));
    return accepted(r, dfa, states, out);
}

static hone_status convert_regex(onnx_reader *r, hone_garg *out) {
    const Onnx__AttributeProto *pattern = onnx_attr(r, "pattern");
    hone_dfa dfa;
    HONE_TRY(wants_text(r));
    if (!pattern) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'pattern' is missing");
    HONE_TRY(hone_regex_compile((const char *)pattern->s.data, pattern->s.len, &dfa));
    hone_status st = match(r, &dfa, out);
    hone_dfa_deinit(&dfa);
    return st;
}

/* ---- StringSplit ---- */

/* Of strings [rows, width]. */
typedef struct splitter {
    const ProtobufCBinaryData *delimiter; /* NULL: blanks */
    int64_t most;                         /* splits; -1: all */
    hone_garg bytes, lengths, indices;    /* [rows, width], [rows, 1], [1, width] */
    const hone_expr *width;
    hone_garg begins, ends; /* how many up to each byte, [rows, width] */
    hone_garg count;        /* of parts, [rows, 1] */
} splitter;

static hone_status as_counts(onnx_reader *r, hone_garg truths, hone_garg *out) {
    return onnx_emit_cast(r, truths, HONE_DTYPE_I64, out);
}

/* The prefix function of Knuth, Morris and Pratt as a table: the state is how much of the delimiter
 * ends here; matches do not overlap, so that the last state goes on as the first one. */
static hone_status find_matches(onnx_reader *r, const splitter *s, hone_garg *out) {
    const size_t length = s->delimiter->len;
    const uint8_t *d = s->delimiter->data;
    int32_t kind_of[256];
    int32_t *next = hone_arena_zalloc(r->arena, (length + 1) * 256 * sizeof *next);
    if (!next) return HONE_NO_MEMORY("model");
    for (int b = 0; b < 256; b++)
        kind_of[b] = b;
    next[d[0]] = 1;
    for (size_t state = 1, border = 0; state < length; state++) {
        memcpy(next + state * 256, next + border * 256, 256 * sizeof *next);
        next[state * 256 + d[state]] = (int32_t)state + 1;
        border = (size_t)next[border * 256 + d[state]];
    }
    memcpy(next + length * 256, next, 256 * sizeof *next);
    HONE_TRY(onnx_run_automaton(r, s->bytes, (uint32_t)length + 1, 256, kind_of, next, out));
    return onnx_with_scalar(r, "equal", *out, (double)length, out);
}

/* The first matches split; *out_count: how many they are. */
static hone_status split_by_delimiter(onnx_reader *r, splitter *s) {
    hone_garg matches;
    HONE_TRY(find_matches(r, s, &matches));
    HONE_TRY(as_counts(r, matches, &matches));
    HONE_TRY(onnx_emit_sums(r, matches, 1, &s->begins));
    if (s->most >= 0)
        HONE_TRY(onnx_with_scalar(r, "minimum", s->begins, (double)s->most, &s->begins));
    HONE_TRY(onnx_emit_along(r, "max", s->begins, 1, &s->count));
    HONE_TRY(onnx_with_scalar(r, "add", s->count, 1, &s->count));
    s->ends = s->begins;
    return HONE_OK;
}

/* Space, and \t \n \v \f \r. */
static hone_status are_blanks(onnx_reader *r, hone_garg bytes, hone_garg *out) {
    hone_garg low, high, space;
    HONE_TRY(onnx_with_scalar(r, "greater_equal", bytes, '\t', &low));
    HONE_TRY(onnx_with_scalar(r, "less_equal", bytes, '\r', &high));
    HONE_TRY(onnx_emit2(r, "logical_and", low, high, out));
    HONE_TRY(onnx_with_scalar(r, "equal", bytes, ' ', &space));
    return onnx_emit2(r, "logical_or", *out, space, out);
}

/* The truths of the byte before; of the first: false. */
static hone_status one_later(onnx_reader *r, const splitter *s, hone_garg truths, hone_garg *out) {
    hone_garg indices, is_inside;
    HONE_TRY(onnx_indices(r, s->width, 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "subtract", indices, 1, &indices));
    HONE_TRY(onnx_with_scalar(r, "maximum", indices, 0, &indices));
    HONE_TRY(onnx_emit_take(r, truths, indices, 1, out));
    HONE_TRY(onnx_with_scalar(r, "greater", s->indices, 0, &is_inside));
    return onnx_emit2(r, "logical_and", *out, is_inside, out);
}

/* Where truths are that `others` are not, counted up to each byte. */
static hone_status count_edges(onnx_reader *r, hone_garg truths, hone_garg others, hone_garg *out) {
    HONE_TRY(onnx_emit1(r, "logical_not", others, &others));
    HONE_TRY(onnx_emit2(r, "logical_and", truths, others, out));
    HONE_TRY(as_counts(r, *out, out));
    return onnx_emit_sums(r, *out, 1, out);
}

static hone_status split_by_blanks(onnx_reader *r, splitter *s) {
    hone_garg is_blank, is_there, are_letters, before;
    HONE_TRY(are_blanks(r, s->bytes, &is_blank));
    HONE_TRY(onnx_emit1(r, "logical_not", is_blank, &are_letters));
    HONE_TRY(onnx_with_scalar(r, "not_equal", s->bytes, 0, &is_there));
    HONE_TRY(onnx_emit2(r, "logical_and", are_letters, is_there, &are_letters));
    HONE_TRY(one_later(r, s, are_letters, &before));
    HONE_TRY(count_edges(r, are_letters, before, &s->begins));
    HONE_TRY(count_edges(r, before, are_letters, &s->ends));
    HONE_TRY(onnx_emit_along(r, "max", s->begins, 1, &s->count));
    if (s->most < 0) return HONE_OK;
    return onnx_with_scalar(r, "minimum", s->count, (double)(s->most + 1), &s->count);
}

hone_status onnx_most_parts(onnx_reader *r, hone_garg count, int64_t known, const hone_expr **out) {
    hone_garg parts[2], most;
    const hone_expr *zero = hone_extent_int(&r->ir, 0);
    HONE_TRY(onnx_emit_flat(r, count, &parts[0]));
    HONE_TRY(onnx_make_ints(r, 1, &zero, 1, &parts[1]));
    HONE_TRY(onnx_as_tensor(r, &parts[1]));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 0, &most));
    HONE_TRY(onnx_emit_along(r, "max", most, 0, &most));
    return onnx_emit_size(r, most, known, out);
}

/* The greatest number of parts, as a size. */
static hone_status most_parts(onnx_reader *r, const splitter *s, const hone_expr **out) {
    int64_t known = hone_expr_const(s->width);
    if (known >= 0) known++;
    if (known >= 0 && s->most >= 0 && s->most + 1 < known) known = s->most + 1;
    return onnx_most_parts(r, s->count, known, out);
}

hone_status onnx_index_of_number(onnx_reader *r, hone_garg counts, hone_garg limit,
                                 hone_garg *out) {
    hone_attr middle = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &counts, 1, &middle, &counts));
    HONE_TRY(onnx_emit2(r, "less", counts, limit, out));
    HONE_TRY(as_counts(r, *out, out));
    return onnx_emit_along(r, "sum", *out, -1, out);
}

/* Part t begins behind match t, part 0 with the string; it ends where match t + 1 begins. */
static hone_status edges_of_matches(onnx_reader *r, const splitter *s, hone_garg t, hone_garg next,
                                    hone_garg *begin, hone_garg *end) {
    hone_garg is_later, zero;
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_with_scalar(r, "greater", t, 0, &is_later));
    HONE_TRY(onnx_index_of_number(r, s->begins, t, begin));
    HONE_TRY(onnx_with_scalar(r, "add", *begin, 1, begin));
    HONE_TRY(onnx_emit_where(r, is_later, *begin, zero, begin));
    HONE_TRY(onnx_index_of_number(r, s->ends, next, end));
    return onnx_with_scalar(r, "subtract", *end, (double)s->delimiter->len - 1, end);
}

/* Where the parts begin and end, [rows, parts, 1]; of the last one that may be split off: with the
 * string. */
static hone_status edges_of_parts(onnx_reader *r, const splitter *s, hone_garg t, hone_garg *begin,
                                  hone_garg *end) {
    hone_garg next, is_last, lengths = s->lengths;
    hone_attr middle = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_with_scalar(r, "add", t, 1, &next));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &lengths, 1, &middle, &lengths));
    if (s->delimiter) {
        hone_garg count = s->count;
        HONE_TRY(edges_of_matches(r, s, t, next, begin, end));
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &count, 1, &middle, &count));
        HONE_TRY(onnx_emit2(r, "equal", next, count, &is_last));
    } else {
        HONE_TRY(onnx_index_of_number(r, s->begins, next, begin));
        HONE_TRY(onnx_index_of_number(r, s->ends, next, end));
        if (s->most < 0) return HONE_OK;
        HONE_TRY(onnx_with_scalar(r, "equal", t, (double)s->most, &is_last));
    }
    return onnx_emit_where(r, is_last, lengths, *end, end);
}

hone_status onnx_cut_parts(onnx_reader *r, hone_garg bytes, hone_garg begin, hone_garg end,
                           const hone_expr *parts, hone_garg *out) {
    hone_garg at, is_inside, args[2] = {bytes}, zero, indices;
    const hone_sinfo *info;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(onnx_info(r, &bytes, &info));
    const hone_expr *rows = info->shape[0], *width = info->shape[1];
    HONE_TRY(onnx_indices(r, width, 2, 1, &indices));
    HONE_TRY(onnx_emit2(r, "add", begin, indices, &at));
    HONE_TRY(onnx_emit2(r, "less", at, end, &is_inside));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_emit_where(r, is_inside, at, zero, &at));
    const hone_expr *flat[] = {rows, hone_extent_mul(&r->ir, parts, width)};
    const hone_expr *whole[] = {rows, parts, width};
    HONE_TRY(onnx_emit_reshape(r, at, 2, flat, &args[1]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, args, 1, &last, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 3, whole, out));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_U8, 0, &zero));
    return onnx_emit_where(r, is_inside, *out, zero, out);
}

/* The bytes of the parts; of what is no part: none. */
static hone_status cut_parts(onnx_reader *r, const splitter *s, const hone_expr *parts,
                             hone_garg *out) {
    hone_garg t, begin, end, is_part, zero, count = s->count;
    hone_attr middle = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_indices(r, parts, 3, 1, &t));
    HONE_TRY(edges_of_parts(r, s, t, &begin, &end));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &count, 1, &middle, &count));
    HONE_TRY(onnx_emit2(r, "less", t, count, &is_part));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_emit_where(r, is_part, end, zero, &end));
    return onnx_cut_parts(r, s->bytes, begin, end, parts, out);
}

static hone_status read_splitter(onnx_reader *r, splitter *s) {
    const Onnx__AttributeProto *delimiter = onnx_attr(r, "delimiter");
    const hone_sinfo *info;
    hone_garg flat;
    HONE_TRY(wants_text(r));
    HONE_TRY(onnx_attr_int(r, "maxsplit", -1, &s->most));
    if (s->most < 0 || s->most > INT32_MAX) s->most = -1;
    s->delimiter = delimiter && delimiter->s.len ? &delimiter->s : NULL;
    if (s->delimiter &&
        (s->delimiter->len > 256 || memchr(s->delimiter->data, 0, s->delimiter->len)))
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a delimiter of %zu bytes, of which none may be 0, and at most 256",
                          s->delimiter->len);
    HONE_TRY(onnx_emit_flat(r, r->inputs[0].u.items[1], &flat));
    HONE_TRY(onnx_emit_take(r, r->inputs[0].u.items[0], flat, 0, &s->bytes));
    HONE_TRY(onnx_info(r, &s->bytes, &info));
    s->width = info->shape[1];
    HONE_TRY(onnx_text_lengths(r, s->bytes, &s->lengths));
    return onnx_indices(r, s->width, 2, 1, &s->indices);
}

static hone_status convert_split(onnx_reader *r, hone_garg *out) {
    splitter s = {0};
    const hone_expr *parts, *shape[HONE_MAX_RANK];
    const hone_sinfo *info;
    HONE_TRY(read_splitter(r, &s));
    HONE_TRY(onnx_info(r, &r->inputs[0].u.items[1], &info));
    const uint32_t rank = (uint32_t)info->rank;
    if (rank + 2 > HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "strings of %u dimensions", rank);
    memcpy(shape, info->shape, rank * sizeof *shape);
    HONE_TRY(s.delimiter ? split_by_delimiter(r, &s) : split_by_blanks(r, &s));
    HONE_TRY(most_parts(r, &s, &parts));
    HONE_TRY(cut_parts(r, &s, parts, &out[0]));
    shape[rank] = parts;
    shape[rank + 1] = s.width;
    HONE_TRY(onnx_emit_reshape(r, out[0], rank + 2, shape, &out[0]));
    HONE_TRY(onnx_text_of_bytes(r, out[0], &out[0]));
    return onnx_emit_reshape(r, s.count, rank, shape, &out[1]);
}

const onnx_converter onnx_patterns_converters[] = {
    {"RegexFullMatch", convert_regex, 1, 1, 1, "pattern", NULL},
    {"StringSplit",               convert_split, 1, 1, 2, "delimiter maxsplit", NULL},
    {0              },
};
