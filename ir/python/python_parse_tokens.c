/* ir/python/python_parse_tokens.c - the ground of the parser: the token at hand, errors that name
 * it, and nodes. */
#include "ir/python/python_parse_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- tokens ---- */

/* Most tokens are told apart by their first letter. */
static bool begins_with(const py_parser *p, const char *text) {
    const py_token *t = py_peek(p);
    return t->length && p->source->text[t->start] == *text;
}

bool py_at_op(const py_parser *p, const char *op) {
    return begins_with(p, op) && py_token_is(p->source, py_peek(p), PY_TOKEN_OP, op);
}

bool py_at_word(const py_parser *p, const char *word) {
    return begins_with(p, word) && py_token_is(p->source, py_peek(p), PY_TOKEN_NAME, word);
}

bool py_take_op(py_parser *p, const char *op) {
    bool is = py_at_op(p, op);
    p->pos += is;
    return is;
}

bool py_take_word(py_parser *p, const char *word) {
    bool is = py_at_word(p, word);
    p->pos += is;
    return is;
}

bool py_take(py_parser *p, py_token_kind kind) {
    bool is = py_peek(p)->kind == kind;
    p->pos += is;
    return is;
}

hone_status py_fail_here(const py_parser *p, const char *what) {
    const py_token *t = py_peek(p);
    return py_error_at(p->source, HONE_CODE_INVALID, t->line, t->column, what);
}

hone_status py_expected_hint(const py_parser *p, const char *what, const char *hint) {
    char found[80], text[300];
    py_describe_token(p->source, py_peek(p), found, sizeof found);
    snprintf(text, sizeof text, "expected %s, found %s%s", what, found, hint);
    return py_fail_here(p, text);
}

hone_status py_expected(const py_parser *p, const char *what) {
    return py_expected_hint(p, what, "");
}

hone_status py_need_op(py_parser *p, const char *op, const char *where) {
    char what[100];
    if (py_take_op(p, op)) return HONE_OK;
    snprintf(what, sizeof what, "'%s'%s%s", op, *where ? " " : "", where);
    return py_expected(p, what);
}

hone_status py_need_name(py_parser *p, const char *what, const char **out) {
    const py_token *t = py_peek(p);
    const char *text = p->source->text + t->start;
    *out = NULL;
    if (t->kind != PY_TOKEN_NAME || py_is_keyword(text, t->length)) return py_expected(p, what);
    p->pos++;
    *out = hone_arena_strndup(p->arena, text, t->length);
    return *out ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "syntax tree");
}

hone_status py_enter(py_parser *p) {
    if (p->depth == PY_MAX_DEPTH) return py_fail_here(p, "nested too deeply");
    p->depth++;
    return HONE_OK;
}

/* ---- nodes ---- */

hone_status py_begin(py_parser *p, py_node_kind kind, py_node **out) {
    py_node *node = hone_arena_zalloc(p->arena, sizeof *node);
    *out = node;
    if (!node) return HONE_ERROR(HONE_CODE_NO_MEMORY, "syntax tree");
    node->kind = kind;
    node->at = node->mark = node->end = py_peek(p)->start;
    return HONE_OK;
}

hone_status py_begin_at(py_parser *p, py_node_kind kind, const py_node *first, py_node **out) {
    HONE_TRY(py_begin(p, kind, out));
    (*out)->at = (*out)->mark = first->at;
    return HONE_OK;
}

hone_status py_push(py_parser *p, py_nodes *nodes, const py_node *node) {
    if (nodes->count == nodes->capacity) {
        uint32_t capacity = nodes->capacity ? nodes->capacity * 2 : 4;
        const py_node **grown = hone_arena_alloc(p->arena, capacity * sizeof *grown);
        if (!grown) return HONE_ERROR(HONE_CODE_NO_MEMORY, "syntax tree");
        if (nodes->count) memcpy(grown, nodes->items, nodes->count * sizeof *grown);
        nodes->items = grown;
        nodes->capacity = capacity;
    }
    nodes->items[nodes->count++] = node;
    return HONE_OK;
}

void py_done(const py_parser *p, py_node *node, const py_nodes *nodes) {
    if (p->pos) node->end = p->tokens[p->pos - 1].start + p->tokens[p->pos - 1].length;
    if (!nodes) return;
    node->count = nodes->count;
    node->items = nodes->items;
}
