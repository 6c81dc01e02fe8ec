/* ir/python/python_parse_impl.h - what the files of the parser share. */
#ifndef HONE_IR_PYTHON_PYTHON_PARSE_IMPL_H
#define HONE_IR_PYTHON_PYTHON_PARSE_IMPL_H

#include "ir/python/python_tree.h"

typedef struct py_parser {
    const py_source *source;
    hone_arena *arena;
    const py_token *tokens;
    uint32_t count, pos, depth;
    const py_parse_options *options;
    py_places *places; /* for f-strings; made when the first one is met */
} py_parser;

/* Children of a node that is being read. */
typedef struct py_nodes {
    const py_node **items;
    uint32_t count, capacity;
} py_nodes;

/* ---- tokens (python_parse_tokens.c) ---- */
static inline const py_token *py_peek(const py_parser *p) {
    return &p->tokens[p->pos];
}
bool py_at_op(const py_parser *p, const char *op);
bool py_at_word(const py_parser *p, const char *word);
bool py_take_op(py_parser *p, const char *op);
bool py_take_word(py_parser *p, const char *word);
/* "expected WHAT, found …" */
HONE_NODISCARD hone_status py_expected(const py_parser *p, const char *what);
/* py_expected, and a hint behind it: "expected WHAT, found …; HINT". */
HONE_NODISCARD hone_status py_expected_hint(const py_parser *p, const char *what, const char *hint);
HONE_NODISCARD hone_status py_need_op(py_parser *p, const char *op, const char *where);
/* A name that is no keyword. */
HONE_NODISCARD hone_status py_need_name(py_parser *p, const char *what, const char **out);
/* One level deeper; py_leave when all went well. */
HONE_NODISCARD hone_status py_enter(py_parser *p);
static inline void py_leave(py_parser *p) {
    p->depth--;
}

/* ---- nodes ---- */
/* Begins at the token at hand; its end is that of the last token read when py_done is called. */
HONE_NODISCARD hone_status py_begin(py_parser *p, py_node_kind kind, py_node **out);
/* py_begin, but begins where `first` does. */
HONE_NODISCARD hone_status py_begin_at(py_parser *p, py_node_kind kind, const py_node *first,
                                       py_node **out);
HONE_NODISCARD hone_status py_push(py_parser *p, py_nodes *nodes, const py_node *node);
void py_done(const py_parser *p, py_node *node, const py_nodes *nodes);

/* ---- expressions (python_parse_expr.c) ---- */
HONE_NODISCARD hone_status py_parse_expr(py_parser *p, const py_node **out);
/* "a, *b" without brackets: one alone is itself, several are a tuple. */
HONE_NODISCARD hone_status py_parse_list(py_parser *p, const py_node **out);
/* The targets of "for", up to "in". */
HONE_NODISCARD hone_status py_parse_targets(py_parser *p, const py_node **out);
/* Arguments behind '(' up to ')'. */
HONE_NODISCARD hone_status py_parse_arguments(py_parser *p, py_nodes *out);
/* Parameters up to `stop`, which is left; has_types: they may have annotations. */
HONE_NODISCARD hone_status py_parse_params(py_parser *p, const char *stop, bool has_types,
                                           py_nodes *out);
/* String literals (python_parse_text.c). */
HONE_NODISCARD hone_status py_parse_text(py_parser *p, const py_node **out);

/* ---- tokens by kind (python_parse_tokens.c) ---- */
/* Takes the token at hand if it is of this kind. */
bool py_take(py_parser *p, py_token_kind kind);
/* An error at the token at hand. */
HONE_NODISCARD hone_status py_fail_here(const py_parser *p, const char *what);

/* ---- python_parse_params.c ---- */
/* "lambda" …, whose word is at hand. */
HONE_NODISCARD hone_status py_parse_lambda(py_parser *p, const py_node **out);
/* "*x" or "**x", of this kind. */
HONE_NODISCARD hone_status py_parse_star(py_parser *p, py_node_kind kind, const py_node **out);
/* Behind the item, at "for". */
HONE_NODISCARD hone_status py_parse_clauses(py_parser *p, py_op op, const py_node *first,
                                            const py_node *second, const py_node **out);
/* The clause of a comprehension begins here. */
bool py_at_clause(const py_parser *p);
/* Operators down to "or": no condition, no lambda. */
HONE_NODISCARD hone_status py_parse_or(py_parser *p, const py_node **out);

#endif
