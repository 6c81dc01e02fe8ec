/* graph/frontend/nodes/strings/onnx_tokenizer.c - Tokenizer of com.microsoft: the words of texts,
 * which match an expression or stand between separators (token_machine.h), as rows of strings that
 * are as long as the longest.
 *
 *   "ab, c"  by [a-z]+:   flags of bytes       B I - - B
 *                         how many begin        1 1 1 1 2     the last one is the count
 *                         word 2 begins where the count becomes 2, and ends behind the last byte
 *                         that is in a word and has this count */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"
#include "graph/frontend/nodes/strings/token_machine.h"
#include "support/core/strbuf.h"

/* Of strings [rows, width]. */
typedef struct tokens {
    hone_token_machine machine;
    hone_garg bytes, flags, back; /* [rows, width] */
    hone_garg numbers, count;     /* of words up to each byte; of all of them, [rows, 1] */
    const hone_expr *width, *most;
} tokens;

/* ---- what words are ---- */

/* One expression of all separators. */
static hone_status join_separators(const Onnx__AttributeProto *list, hone_str *out) {
    for (size_t i = 0; i < list->n_strings; i++) {
        const ProtobufCBinaryData *s = &list->strings[i];
        if (s->len == 0)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "an empty separator among others");
        hone_str_append(out, i ? "|(?:" : "(?:");
        hone_str_append_n(out, (const char *)s->data, s->len);
        hone_str_append(out, ")");
    }
    return hone_str_check(out);
}

static hone_status by_separators(onnx_reader *r, const Onnx__AttributeProto *list, int64_t least,
                                 hone_token_machine *out) {
    hone_str text = {0};
    hone_status st = join_separators(list, &text);
    if (!st)
        st = hone_token_machine_make(hone_str_text(&text), text.length, true, least, r->arena, out);
    hone_str_deinit(&text);
    return st;
}

/* Each character is a word: between the empty separator, or as `.` alone, which takes line feeds
 * here, too, as in onnxruntime. */
static bool are_characters(const Onnx__AttributeProto *list, const Onnx__AttributeProto *e) {
    if (list && list->n_strings) return list->n_strings == 1 && list->strings[0].len == 0;
    return e && e->s.len == 1 && e->s.data[0] == '.';
}

static hone_status read_machine(onnx_reader *r, hone_token_machine *out) {
    static const char any[] = "(?s:.)";
    const Onnx__AttributeProto *list = onnx_attr(r, "separators"), *e = onnx_attr(r, "tokenexp");
    int64_t least;
    HONE_TRY(onnx_attr_int(r, "mincharnum", 1, &least));
    if (are_characters(list, e))
        return hone_token_machine_make(any, sizeof any - 1, false, least, r->arena, out);
    if (list && list->n_strings) return by_separators(r, list, least, out);
    if (!e || !e->s.len)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'separators' or 'tokenexp' is missing");
    return hone_token_machine_make((const char *)e->s.data, e->s.len, false, least, r->arena, out);
}

/* ---- where they are ---- */

static hone_status by_state(onnx_reader *r, const int32_t *numbers, uint32_t count,
                            hone_garg states, hone_garg *out) {
    const int64_t shape = count;
    hone_tensor *tensor;
    hone_garg table;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &shape, &tensor));
    for (int64_t i = 0; i < shape; i++)
        hone_tensor_set_i64(tensor, i, numbers[i]);
    HONE_TRY(onnx_add_constant(r, tensor, &table));
    return onnx_emit_take(r, table, states, 0, out);
}

static hone_status find_words(onnx_reader *r, tokens *t) {
    const hone_token_machine *m = &t->machine;
    hone_garg states, begins;
    const hone_sinfo *info;
    HONE_TRY(onnx_emit_flat(r, r->inputs[0].u.items[1], &t->bytes));
    HONE_TRY(onnx_emit_take(r, r->inputs[0].u.items[0], t->bytes, 0, &t->bytes));
    HONE_TRY(onnx_info(r, &t->bytes, &info));
    t->width = info->shape[1];
    HONE_TRY(onnx_run_automaton(r, t->bytes, m->states, m->kinds, m->kind_of, m->next, &states));
    HONE_TRY(by_state(r, m->flags, m->states, states, &t->flags));
    HONE_TRY(by_state(r, m->back, m->states, states, &t->back));
    HONE_TRY(onnx_with_scalar(r, "equal", t->flags, HONE_TOKEN_BEGIN, &begins));
    HONE_TRY(onnx_emit_cast(r, begins, HONE_DTYPE_I64, &begins));
    HONE_TRY(onnx_emit_sums(r, begins, 1, &t->numbers));
    HONE_TRY(onnx_emit_along(r, "max", t->numbers, 1, &t->count));
    return onnx_most_parts(r, t->count, hone_expr_const(t->width), &t->most);
}

/* Behind the last byte of each word, [rows, words, 1]; 0 where there is no such word. */
static hone_status find_ends(onnx_reader *r, const tokens *t, hone_garg next, hone_garg *out) {
    hone_garg is_in, numbers = t->numbers, ends;
    hone_attr middle = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_with_scalar(r, "not_equal", t->flags, HONE_TOKEN_NONE, &is_in));
    HONE_TRY(onnx_emit_cast(r, is_in, HONE_DTYPE_I64, &is_in));
    HONE_TRY(onnx_indices(r, t->width, 2, 1, &ends));
    HONE_TRY(onnx_with_scalar(r, "add", ends, 1, &ends));
    HONE_TRY(onnx_emit2(r, "multiply", is_in, ends, &ends));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &ends, 1, &middle, &ends));
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &numbers, 1, &middle, &numbers));
    HONE_TRY(onnx_emit2(r, "equal", numbers, next, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, ends, out));
    return onnx_emit_along(r, "max", *out, -1, out);
}

/* The first byte of each word, [rows, words, 1]. */
static hone_status find_begins(onnx_reader *r, const tokens *t, hone_garg next, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg args[2] = {t->back}, known, last, back;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_index_of_number(r, t->numbers, next, &known));
    HONE_TRY(onnx_sizes_tensor(r, 1, &t->width, &last));
    HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
    HONE_TRY(onnx_emit2(r, "minimum", known, last, &args[1]));
    HONE_TRY(onnx_info(r, &known, &info));
    HONE_TRY(onnx_emit_reshape(r, args[1], 2, info->shape, &args[1]));
    HONE_TRY(onnx_emit(r, "gather_elements", 2, args, 1, &axis, &back));
    HONE_TRY(onnx_emit_reshape(r, back, 3, info->shape, &back));
    HONE_TRY(onnx_with_scalar(r, "subtract", back, 1, &back));
    return onnx_emit2(r, "subtract", known, back, out);
}

static hone_status cut_words(onnx_reader *r, const tokens *t, hone_garg *out) {
    hone_garg next, begin, end;
    HONE_TRY(onnx_indices(r, t->most, 3, 1, &next));
    HONE_TRY(onnx_with_scalar(r, "add", next, 1, &next));
    HONE_TRY(find_begins(r, t, next, &begin));
    HONE_TRY(find_ends(r, t, next, &end));
    HONE_TRY(onnx_cut_parts(r, t->bytes, begin, end, t->most, out));
    return onnx_text_of_bytes(r, *out, out);
}

/* ---- rows ---- */

enum { PAD, START, END, STRINGS };

/* What stands behind words, and, where they are marked, in front of and behind all of a row. */
static hone_status read_strings(onnx_reader *r, hone_garg *out) {
    static uint8_t start[] = {2}, end[] = {3};
    const Onnx__AttributeProto *pad = onnx_attr(r, "pad_value");
    ProtobufCBinaryData strings[STRINGS] = {
        [START] = {1, start},
          [END] = {1, end  }
    };
    if (pad) strings[PAD] = pad->s;
    return onnx_text_table(r, STRINGS, strings, out);
}

static hone_status string_row(onnx_reader *r, hone_garg table, int64_t which, hone_garg *out) {
    return onnx_emit_slice(r, table, 0, which, which + 1, out);
}

/* One column of it, as many rows as there are counts. */
static hone_status column_of(onnx_reader *r, const tokens *t, hone_garg row, hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "multiply", t->count, 0, out));
    return onnx_emit2(r, "add", *out, row, out);
}

/* Words between the strings that mark, and room for one more that fills; *io_most: how many are to
 * stand in a row, where there are no words at all none. */
static hone_status mark_rows(onnx_reader *r, const tokens *t, hone_garg strings, hone_garg pad,
                             const hone_expr **io_most, hone_garg *io) {
    hone_garg parts[3] = {{0}, *io}, index;
    const hone_expr *two = hone_extent_int(&r->ir, 2), *one = hone_extent_int(&r->ir, 1);
    const hone_expr *marks =
        hone_extent_mul(&r->ir, two, hone_expr_binary(&r->ir, HONE_OP_MIN, *io_most, one));
    HONE_TRY(string_row(r, strings, START, &parts[0]));
    HONE_TRY(column_of(r, t, parts[0], &parts[0]));
    HONE_TRY(column_of(r, t, pad, &parts[2]));
    HONE_TRY(onnx_emit_concat(r, 3, parts, 1, io));
    *io_most = hone_extent_sum(&r->ir, *io_most, marks);
    HONE_TRY(onnx_indices(r, *io_most, 1, 0, &index));
    return onnx_emit_take(r, *io, index, 1, io);
}

/* Behind the words, numbers [rows, most] of strings, the string that fills. */
static hone_status fill_rows(onnx_reader *r, const tokens *t, bool is_marked, hone_garg strings,
                             const hone_expr **io_most, hone_garg *io) {
    hone_garg pad, index, is_word, is_end, end, last = t->count;
    HONE_TRY(string_row(r, strings, PAD, &pad));
    if (is_marked) {
        HONE_TRY(mark_rows(r, t, strings, pad, io_most, io));
        HONE_TRY(onnx_with_scalar(r, "add", last, 1, &last));
    }
    HONE_TRY(onnx_indices(r, *io_most, 2, 1, &index));
    HONE_TRY(onnx_emit2(r, "less", index, last, &is_word));
    HONE_TRY(onnx_emit_where(r, is_word, *io, pad, io));
    if (!is_marked) return HONE_OK;
    HONE_TRY(string_row(r, strings, END, &end));
    HONE_TRY(onnx_emit2(r, "equal", index, last, &is_end));
    return onnx_emit_where(r, is_end, end, *io, io);
}

static hone_status convert_tokenizer(onnx_reader *r, hone_garg *out) {
    tokens t = {0};
    int64_t mark;
    hone_garg texts[2], pool;
    const hone_expr *shape[3];
    const hone_sinfo *info;
    if (!onnx_is_text(&r->inputs[0]))
        return HONE_ERROR(HONE_CODE_TYPE, "input 0 is no tensor of strings");
    HONE_TRY(onnx_info(r, &r->inputs[0].u.items[1], &info));
    if (info->rank != 1 && info->rank != 2)
        return HONE_ERROR(HONE_CODE_INVALID, "strings of %d dimensions, must be 1 or 2",
                          (int)info->rank);
    const uint32_t rank = (uint32_t)info->rank;
    memcpy(shape, info->shape, rank * sizeof *shape);
    HONE_TRY(onnx_attr_int(r, "mark", 0, &mark));
    HONE_TRY(read_machine(r, &t.machine));
    HONE_TRY(find_words(r, &t));
    HONE_TRY(cut_words(r, &t, &texts[0]));
    HONE_TRY(read_strings(r, &texts[1]));
    HONE_TRY(onnx_join_texts(r, 2, texts, &pool));
    HONE_TRY(fill_rows(r, &t, mark != 0, texts[1], &t.most, &texts[0]));
    shape[rank] = t.most;
    HONE_TRY(onnx_emit_reshape(r, texts[0], rank + 1, shape, &texts[0]));
    return onnx_make_text(r, pool, texts[0], out);
}

const onnx_converter onnx_tokenizer_converters[] = {
    {"Tokenizer", convert_tokenizer, 1, 1, 1, "mark mincharnum pad_value separators tokenexp",
     NULL},
    {0         },
};
