/* ir/python/python_parse_params.c - parameters, arguments, lambdas and comprehensions of Python. */
#include "ir/python/python_parse_impl.h"

/* ---- parameters and arguments ---- */

static hone_status parse_param(py_parser *p, bool has_types, const py_node **out) {
    py_node *node;
    const py_node *type = NULL, *fallback = NULL;
    HONE_TRY(py_begin(p, PY_PARAM, &node));
    if (py_take_op(p, "**")) {
        node->op = PY_TWO_STARS;
    } else if (py_take_op(p, "*")) {
        node->op = PY_ONE_STAR;
    }
    bool is_mark = (node->op == PY_ONE_STAR && py_at_op(p, ",")) || py_take_op(p, "/");
    if (!is_mark) {
        HONE_TRY(
            py_need_name(p, has_types ? "a parameter" : "a parameter of the lambda", &node->name));
        if (has_types && py_take_op(p, ":")) HONE_TRY(py_parse_expr(p, &type));
        if (py_take_op(p, "=")) HONE_TRY(py_parse_expr(p, &fallback));
    }
    py_nodes parts = {0};
    HONE_TRY(py_push(p, &parts, type));
    HONE_TRY(py_push(p, &parts, fallback));
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

hone_status py_parse_params(py_parser *p, const char *stop, bool has_types, py_nodes *out) {
    while (!py_at_op(p, stop)) {
        const py_node *param;
        HONE_TRY(parse_param(p, has_types, &param));
        HONE_TRY(py_push(p, out, param));
        if (!py_take_op(p, ",")) break;
    }
    return HONE_OK;
}

hone_status py_parse_lambda(py_parser *p, const py_node **out) {
    py_node *node;
    const py_node *body;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_LAMBDA, &node));
    p->pos++;
    HONE_TRY(py_parse_params(p, ":", false, &parts));
    HONE_TRY(py_need_op(p, ":", "behind the parameters of the lambda"));
    HONE_TRY(py_parse_expr(p, &body));
    HONE_TRY(py_push(p, &parts, body));
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

hone_status py_parse_star(py_parser *p, py_node_kind kind, const py_node **out) {
    py_node *node;
    HONE_TRY(py_begin(p, kind, &node));
    p->pos++;
    HONE_TRY(py_parse_expr(p, &node->base));
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

bool py_at_clause(const py_parser *p) {
    return py_at_word(p, "for") || py_at_word(p, "async");
}

static bool is_op_ahead(const py_parser *p, const char *op) {
    return p->pos + 1 < p->count && py_token_is(p->source, &p->tokens[p->pos + 1], PY_TOKEN_OP, op);
}

static hone_status parse_argument(py_parser *p, const py_node **out) {
    if (py_at_op(p, "*")) return py_parse_star(p, PY_STAR, out);
    if (py_at_op(p, "**")) return py_parse_star(p, PY_STARSTAR, out);
    if (py_peek(p)->kind == PY_TOKEN_NAME && is_op_ahead(p, "=")) {
        py_node *node;
        HONE_TRY(py_begin(p, PY_KEYWORD, &node));
        HONE_TRY(py_need_name(p, "the name of an argument", &node->name));
        p->pos++;
        node->mark = py_peek(p)->start;
        HONE_TRY(py_parse_expr(p, &node->base));
        py_done(p, node, NULL);
        *out = node;
        return HONE_OK;
    }
    HONE_TRY(py_parse_expr(p, out));
    return py_at_clause(p) ? py_parse_clauses(p, PY_ROUND, *out, NULL, out) : HONE_OK;
}

hone_status py_parse_arguments(py_parser *p, py_nodes *out) {
    while (!py_at_op(p, ")")) {
        const py_node *item;
        HONE_TRY(parse_argument(p, &item));
        HONE_TRY(py_push(p, out, item));
        if (!py_take_op(p, ",")) break;
    }
    if (py_at_op(p, "=")) return py_expected_hint(p, "')' or ','", "; '==' compares");
    return py_need_op(p, ")", "or ','");
}

/* ---- comprehensions ---- */

static hone_status parse_clause(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes targets = {0};
    HONE_TRY(py_begin(p, py_at_word(p, "if") ? PY_WHERE : PY_EACH, &node));
    py_take_word(p, "async");
    p->pos++;
    if (node->kind == PY_EACH) {
        const py_node *target;
        HONE_TRY(py_parse_targets(p, &target));
        HONE_TRY(py_push(p, &targets, target));
    }
    HONE_TRY(py_parse_or(p, &node->base));
    py_done(p, node, &targets);
    *out = node;
    return HONE_OK;
}

hone_status py_parse_clauses(py_parser *p, py_op op, const py_node *first, const py_node *second,
                             const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    HONE_TRY(py_begin_at(p, PY_COMPREHENSION, first, &node));
    node->op = op;
    while (py_at_clause(p) || py_at_word(p, "if")) {
        const py_node *clause;
        HONE_TRY(parse_clause(p, &clause));
        HONE_TRY(py_push(p, &parts, clause));
    }
    HONE_TRY(py_push(p, &parts, first));
    if (second) HONE_TRY(py_push(p, &parts, second));
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}
