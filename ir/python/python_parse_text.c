/* ir/python/python_parse_text.c - string literals: what is between the braces of f-strings becomes
 * a tree, too. The rest stays text until somebody wants it. */
#include <ctype.h>
#include <string.h>

#include "ir/python/python_parse_impl.h"

/* ---- f-strings ---- */

typedef struct field_reader {
    py_parser *p;
    const char *text;
    size_t at, end; /* of the characters between the quotes */
    bool is_raw;
    py_nodes items;
} field_reader;

static hone_status fail_at(const field_reader *r, size_t at, const char *what) {
    return py_error_at_byte(r->p->source, HONE_CODE_INVALID, (uint32_t)at, what);
}

static hone_status add_piece(field_reader *r, size_t from, size_t to) {
    py_node *node;
    if (from == to) return HONE_OK;
    HONE_TRY(py_begin(r->p, r->is_raw ? PY_RAW_PIECE : PY_PIECE, &node));
    node->at = node->mark = (uint32_t)from;
    node->end = (uint32_t)to;
    return py_push(r->p, &r->items, node);
}

/* Past a string within a field. */
static size_t skip_quoted(const field_reader *r, size_t at) {
    char quote = r->text[at++];
    while (at < r->end && r->text[at] != quote)
        at++;
    return at + 1;
}

/* Where the expression of a field ends: at '}', ':', '!r' or '='. */
static size_t end_of_expr(const field_reader *r, size_t at) {
    uint32_t open = 0;
    while (at < r->end) {
        char c = r->text[at], next = at + 1 < r->end ? r->text[at + 1] : '\0';
        bool is_pair = next == '=' && strchr("=!<>", c);
        if (c == '"' || c == '\'') {
            at = skip_quoted(r, at);
            continue;
        }
        if (!open && strchr("}:!=", c) && !is_pair) return at;
        open += c == '(' || c == '[' || c == '{';
        open -= open && (c == ')' || c == ']' || c == '}');
        at += is_pair ? 2 : 1;
    }
    return r->end;
}

static hone_status parse_field_expr(field_reader *r, size_t from, size_t to, const py_node **out) {
    py_parser inner = *r->p;
    py_token *tokens = NULL;
    py_places *places = r->p->places;
    if (!places->marks) HONE_TRY(py_places_init(places, r->p->source, r->p->arena));
    HONE_TRY(py_lex_piece(places, from, to, r->p->arena, &tokens, &inner.count));
    inner.tokens = tokens;
    inner.pos = 0;
    HONE_TRY(py_enter(&inner));
    HONE_TRY(py_parse_list(&inner, out));
    if (py_peek(&inner)->kind == PY_TOKEN_NEWLINE) return HONE_OK;
    return py_expected(&inner, "'}'");
}

/* Behind '{'. */
static hone_status parse_field(field_reader *r) {
    py_node *node;
    size_t from = r->at, behind = end_of_expr(r, from), end = behind;
    for (uint32_t open = 0; end < r->end && (open || r->text[end] != '}'); end++) {
        open += r->text[end] == '{';
        open -= open && r->text[end] == '}';
    }
    if (end == r->end) return fail_at(r, from, "expected '}'");
    HONE_TRY(py_begin(r->p, PY_FIELD, &node));
    HONE_TRY(parse_field_expr(r, from, behind, &node->base));
    node->at = (uint32_t)from;
    node->mark = (uint32_t)behind;
    node->end = (uint32_t)end;
    r->at = end + 1;
    return py_push(r->p, &r->items, node);
}

static hone_status parse_fields(field_reader *r) {
    size_t begin = r->at;
    while (r->at < r->end) {
        char c = r->text[r->at], next = r->at + 1 < r->end ? r->text[r->at + 1] : '\0';
        if (c == '\\' && !r->is_raw) {
            r->at += 2;
        } else if ((c == '{' || c == '}') && next == c) {
            HONE_TRY(add_piece(r, begin, r->at + 1));
            begin = r->at += 2;
        } else if (c == '}') {
            return fail_at(r, r->at, "a '}' without its '{'; write }} for one");
        } else if (c == '{') {
            HONE_TRY(add_piece(r, begin, r->at++));
            HONE_TRY(parse_field(r));
            begin = r->at;
        } else {
            r->at++;
        }
    }
    return add_piece(r, begin < r->end ? begin : r->end, r->end);
}

/* ---- literals ---- */

static hone_status parse_format(py_parser *p, size_t prefix, bool is_raw, py_node *node) {
    const py_token *t = py_peek(p);
    const char *text = p->source->text, *open = text + t->start + prefix;
    size_t inside = t->length - prefix;
    size_t quotes = inside >= 6 && open[1] == open[0] && open[2] == open[0] ? 3 : 1;
    field_reader r = {.p = p,
                      .text = text,
                      .at = t->start + prefix + quotes,
                      .end = t->start + t->length - quotes,
                      .is_raw = is_raw};
    node->kind = PY_FORMAT;
    HONE_TRY(parse_fields(&r));
    p->pos++;
    py_done(p, node, &r.items);
    return HONE_OK;
}

static hone_status parse_literal(py_parser *p, const py_node **out) {
    const py_token *t = py_peek(p);
    py_node *node;
    bool has_fields = false, is_raw = false;
    size_t prefix = 0;
    HONE_TRY(py_begin(p, PY_TEXT, &node));
    *out = node;
    for (; isalpha((unsigned char)p->source->text[t->start + prefix]); prefix++) {
        char c = (char)tolower((unsigned char)p->source->text[t->start + prefix]);
        has_fields |= c == 'f';
        is_raw |= c == 'r';
    }
    if (has_fields) return parse_format(p, prefix, is_raw, node);
    p->pos++;
    py_done(p, node, NULL);
    if (t->kind == PY_TOKEN_TEXT) return HONE_OK;
    node->kind = PY_RAW_PIECE;
    node->at++;
    node->end--;
    return HONE_OK;
}

hone_status py_parse_text(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    HONE_TRY(parse_literal(p, out));
    if (py_peek(p)->kind != PY_TOKEN_TEXT) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_JOINED, *out, &node));
    HONE_TRY(py_push(p, &items, *out));
    while (py_peek(p)->kind == PY_TOKEN_TEXT) {
        HONE_TRY(parse_literal(p, out));
        HONE_TRY(py_push(p, &items, *out));
    }
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

/* ---- their values ---- */

char *py_text_of(const py_source *source, const py_node *node, hone_arena *arena,
                 const char **out_why) {
    const py_token token = {.start = node->at, .length = node->end - node->at};
    *out_why = NULL;
    if (node->kind == PY_TEXT) return py_decode_text(source, &token, arena, out_why);
    return py_decode_bytes(source, node->at, node->end, node->kind == PY_RAW_PIECE, arena, out_why);
}
