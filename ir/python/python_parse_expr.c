/* ir/python/python_parse_expr.c - expressions of Python, from the weakest to the strongest:
 *
 *   lambda · a if c else b · or · and · not · comparisons · | · ^ · & · << >> · + - · * / // % @ ·
 *   -x +x ~x · ** · x.name x(…) x[…] · names, literals, brackets
 */

#include "ir/python/python_parse_impl.h"

static hone_status parse_unary(py_parser *p, const py_node **out);
/* ---- brackets ---- */

static hone_status parse_item(py_parser *p, const py_node **out) {
    return py_at_op(p, "*") ? py_parse_star(p, PY_STAR, out) : py_parse_expr(p, out);
}

/* What is left of a list, up to its closing bracket; `first` is read already, or NULL. */
static hone_status parse_items(py_parser *p, const py_node *first, const char *close,
                               py_nodes *out) {
    if (first) {
        HONE_TRY(py_push(p, out, first));
        if (!py_take_op(p, ",")) return py_need_op(p, close, "or ','");
    }
    while (!py_at_op(p, close)) {
        const py_node *item;
        HONE_TRY(parse_item(p, &item));
        HONE_TRY(py_push(p, out, item));
        if (!py_take_op(p, ",")) break;
    }
    return py_need_op(p, close, "or ','");
}

/* The kind and bytes of what stands between brackets that begin with `open`. */
static hone_status finish_brackets(py_parser *p, py_node *open, const py_nodes *items,
                                   const py_node **out) {
    py_done(p, open, items);
    *out = open;
    return HONE_OK;
}

static hone_status parse_pair(py_parser *p, const py_node **out_key, const py_node **out_value) {
    *out_key = NULL;
    if (py_take_op(p, "**")) return py_parse_or(p, out_value);
    HONE_TRY(py_parse_expr(p, out_key));
    HONE_TRY(py_need_op(p, ":", "behind the key"));
    return py_parse_expr(p, out_value);
}

static hone_status parse_dict(py_parser *p, const py_node *key, py_node *node,
                              const py_node **out) {
    py_nodes items = {0};
    const py_node *value;
    node->kind = PY_DICT;
    if (key) {
        HONE_TRY(py_need_op(p, ":", "behind the key"));
        HONE_TRY(py_parse_expr(p, &value));
        if (py_at_clause(p)) {
            HONE_TRY(py_parse_clauses(p, PY_KEYED, key, value, out));
            return py_need_op(p, "}", "behind the comprehension");
        }
        HONE_TRY(py_push(p, &items, key));
        HONE_TRY(py_push(p, &items, value));
        if (!py_take_op(p, ",") && !py_at_op(p, "}")) return py_need_op(p, "}", "or ','");
    }
    while (!py_at_op(p, "}")) {
        HONE_TRY(parse_pair(p, &key, &value));
        HONE_TRY(py_push(p, &items, key));
        HONE_TRY(py_push(p, &items, value));
        if (!py_take_op(p, ",")) break;
    }
    HONE_TRY(py_need_op(p, "}", "or ','"));
    return finish_brackets(p, node, &items, out);
}

static hone_status parse_brackets(py_parser *p, const char *close, py_node_kind kind, py_op op,
                                  const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    const py_node *first = NULL;
    HONE_TRY(py_begin(p, kind, &node));
    p->pos++;
    if (op == PY_CURLY && (py_at_op(p, "}") || py_at_op(p, "**"))) {
        return parse_dict(p, NULL, node, out);
    }
    if (!py_at_op(p, close)) HONE_TRY(parse_item(p, &first));
    if (first && op == PY_CURLY && py_at_op(p, ":")) return parse_dict(p, first, node, out);
    if (first && py_at_clause(p)) {
        HONE_TRY(py_parse_clauses(p, op, first, NULL, out));
        return py_need_op(p, close, "behind the comprehension");
    }
    if (first && op == PY_ROUND && first->kind != PY_STAR && !py_at_op(p, ",")) {
        *out = first; /* (x) is x */
        return py_need_op(p, ")", "or ','");
    }
    HONE_TRY(parse_items(p, first, close, &items));
    return finish_brackets(p, node, &items, out);
}

/* ---- atoms ---- */

static bool is_op_behind(const py_parser *p, uint32_t back, const char *op) {
    return p->pos >= back && py_token_is(p->source, py_peek(p) - back, PY_TOKEN_OP, op);
}

/* What stands here in other languages, and how Python says it. */
static const char *other_language(const py_parser *p) {
    if (py_at_op(p, "//")) return "; a comment begins with '#'";
    if (py_at_op(p, "&") && is_op_behind(p, 1, "&")) return "; 'and' joins conditions";
    if (py_at_op(p, "|") && is_op_behind(p, 1, "|")) return "; 'or' joins conditions";
    if (py_at_op(p, ">") && is_op_behind(p, 1, "<")) return "; '!=' says that two differ";
    if (is_op_behind(p, 1, "+") && is_op_behind(p, 2, "+")) return "; write '+= 1'";
    if (is_op_behind(p, 1, "-") && is_op_behind(p, 2, "-")) return "; write '-= 1'";
    return "";
}

static hone_status parse_foreign(py_parser *p, const py_node **out) {
    py_node *node;
    HONE_TRY(py_begin(p, PY_FOREIGN, &node));
    node->name = py_at_word(p, "yield") ? "yield" : "await";
    p->pos++;
    py_take_word(p, "from");
    bool has_value = py_peek(p)->kind != PY_TOKEN_NEWLINE && !py_at_op(p, ")");
    if (has_value) HONE_TRY(py_parse_list(p, &node->base));
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

static bool is_foreign(const py_parser *p) {
    if (py_at_word(p, "yield")) return true;
    return py_at_word(p, "await") && p->pos + 1 < p->count &&
           p->tokens[p->pos + 1].kind == PY_TOKEN_NAME;
}

static hone_status parse_word(py_parser *p, const py_node **out) {
    static const struct {
        const char *word;
        py_node_kind kind;
    } constants[] = {
        {"None",  PY_NONE },
        {"True",  PY_TRUE },
        {"False", PY_FALSE},
    };
    py_node *node;
    if (is_foreign(p)) return parse_foreign(p, out);
    HONE_TRY(py_begin(p, PY_NAME, &node));
    for (size_t i = 0; i < HONE_COUNT(constants); i++) {
        if (py_at_word(p, constants[i].word)) node->kind = constants[i].kind;
    }
    if (node->kind == PY_NAME) {
        HONE_TRY(py_need_name(p, "an expression", &node->name));
    } else {
        p->pos++;
    }
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

static hone_status parse_leaf(py_parser *p, py_node_kind kind, const py_node **out) {
    py_node *node;
    HONE_TRY(py_begin(p, kind, &node));
    p->pos++;
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

static hone_status parse_atom(py_parser *p, const py_node **out) {
    switch (py_peek(p)->kind) {
    case PY_TOKEN_INT:
        return parse_leaf(p, PY_INT, out);
    case PY_TOKEN_FLOAT:
        return parse_leaf(p, PY_FLOAT, out);
    case PY_TOKEN_TEXT:
    case PY_TOKEN_RAW:
        return py_parse_text(p, out);
    case PY_TOKEN_NAME:
        return parse_word(p, out);
    default:
        break;
    }
    if (py_at_op(p, "...")) return parse_leaf(p, PY_ELLIPSIS, out);
    if (py_at_op(p, "(")) return parse_brackets(p, ")", PY_TUPLE, PY_ROUND, out);
    if (py_at_op(p, "[")) return parse_brackets(p, "]", PY_LIST, PY_SQUARE, out);
    if (py_at_op(p, "{")) return parse_brackets(p, "}", PY_SET, PY_CURLY, out);
    return py_expected_hint(p, "an expression", other_language(p));
}

/* ---- what stands behind them ---- */

static hone_status parse_slice(py_parser *p, const py_node **out) {
    py_node *node;
    const py_node *first = NULL;
    py_nodes parts = {0};
    uint32_t colons = 0;
    if (py_at_op(p, "*")) return py_parse_star(p, PY_STAR, out);
    HONE_TRY(py_begin(p, PY_SLICE, &node));
    if (!py_at_op(p, ":")) HONE_TRY(py_parse_expr(p, &first));
    if (!py_at_op(p, ":")) {
        *out = first;
        return HONE_OK;
    }
    HONE_TRY(py_push(p, &parts, first));
    while (colons < 2 && py_take_op(p, ":")) {
        first = NULL;
        colons++;
        bool is_empty = py_at_op(p, ":") || py_at_op(p, "]") || py_at_op(p, ",");
        if (!is_empty) HONE_TRY(py_parse_expr(p, &first));
        HONE_TRY(py_push(p, &parts, first));
    }
    if (colons < 2) HONE_TRY(py_push(p, &parts, NULL));
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

static hone_status parse_subscript(py_parser *p, const py_node **out) {
    py_node *tuple;
    py_nodes items = {0};
    if (py_at_op(p, "]")) return py_expected(p, "an index");
    HONE_TRY(py_begin(p, PY_TUPLE, &tuple));
    bool has_comma = false;
    while (!py_at_op(p, "]")) {
        const py_node *item;
        HONE_TRY(parse_slice(p, &item));
        HONE_TRY(py_push(p, &items, item));
        if (!py_take_op(p, ",")) break;
        has_comma = true;
    }
    py_done(p, tuple, &items);
    *out = has_comma || items.items[0]->kind == PY_STAR ? tuple : items.items[0];
    return py_need_op(p, "]", "or ','");
}

static hone_status parse_trailer(py_parser *p, const py_node *base, const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    uint32_t mark = py_peek(p)->start;
    if (py_take_op(p, ".")) {
        HONE_TRY(py_begin_at(p, PY_ATTRIBUTE, base, &node));
        mark = py_peek(p)->start;
        HONE_TRY(py_need_name(p, "a name behind '.'", &node->name));
    } else if (py_take_op(p, "(")) {
        HONE_TRY(py_begin_at(p, PY_CALL, base, &node));
        HONE_TRY(py_parse_arguments(p, &items));
    } else {
        const py_node *index;
        HONE_TRY(py_begin_at(p, PY_SUBSCRIPT, base, &node));
        p->pos++;
        HONE_TRY(parse_subscript(p, &index));
        HONE_TRY(py_push(p, &items, index));
    }
    node->base = base;
    node->mark = mark;
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

/* The tree is deeper by one for each; the first few cost nothing, so that calls may be nested as
 * deep as brackets: T.axis.remap(…)[0]. */
static hone_status parse_postfix(py_parser *p, const py_node **out) {
    enum { FREE = 4 };
    uint32_t depth = p->depth;
    HONE_TRY(parse_atom(p, out));
    for (uint32_t n = 0; py_at_op(p, ".") || py_at_op(p, "(") || py_at_op(p, "["); n++) {
        if (n >= FREE) HONE_TRY(py_enter(p));
        HONE_TRY(parse_trailer(p, *out, out));
    }
    p->depth = depth;
    return HONE_OK;
}

/* ---- operators ---- */

typedef struct op_row {
    const char *text;
    py_op op;
} op_row;

/* The operator at hand among some; PY_NO_OP when there is none. */
static py_op find_op(const py_parser *p, const op_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (py_at_op(p, rows[i].text)) return rows[i].op;
    }
    return PY_NO_OP;
}

static hone_status take_operator(py_parser *p, py_op op, uint32_t tokens, py_nodes *io) {
    py_node *node;
    HONE_TRY(py_begin(p, PY_OPERATOR, &node));
    node->op = op;
    p->pos += tokens;
    py_done(p, node, NULL);
    return py_push(p, io, node);
}

static hone_status parse_power(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    HONE_TRY(parse_postfix(p, out));
    if (!py_at_op(p, "**")) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_BINARY, *out, &node));
    HONE_TRY(py_push(p, &items, *out));
    HONE_TRY(take_operator(p, PY_POW, 1, &items));
    HONE_TRY(py_enter(p));
    HONE_TRY(parse_unary(p, out));
    py_leave(p);
    HONE_TRY(py_push(p, &items, *out));
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

static hone_status parse_unary(py_parser *p, const py_node **out) {
    static const op_row signs[] = {
        {"-", PY_NEG   },
        {"+", PY_POS   },
        {"~", PY_INVERT},
    };
    py_node *node;
    py_op op = find_op(p, signs, HONE_COUNT(signs));
    if (op == PY_NO_OP) return parse_power(p, out);
    HONE_TRY(py_begin(p, PY_UNARY, &node));
    node->op = op;
    p->pos++;
    HONE_TRY(py_enter(p));
    HONE_TRY(parse_unary(p, &node->base));
    py_leave(p);
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

/* From the weakest, level 0, to the strongest. */
static const struct {
    op_row row;
    size_t level;
} binary[] = {
    {{"|", PY_BITOR},     0},
    {{"^", PY_BITXOR},    1},
    {{"&", PY_BITAND},    2},
    {{"<<", PY_SHL},      3},
    {{">>", PY_SHR},      3},
    {{"+", PY_ADD},       4},
    {{"-", PY_SUB},       4},
    {{"*", PY_MUL},       5},
    {{"/", PY_DIV},       5},
    {{"//", PY_FLOORDIV}, 5},
    {{"%", PY_MOD},       5},
    {{"@", PY_MATMUL},    5},
};
enum { LEVEL_COUNT = 6 };

static py_op op_at_level(const py_parser *p, size_t level) {
    if (py_peek(p)->kind != PY_TOKEN_OP) return PY_NO_OP;
    for (size_t i = 0; i < HONE_COUNT(binary); i++) {
        if (binary[i].level == level && py_at_op(p, binary[i].row.text)) return binary[i].row.op;
    }
    return PY_NO_OP;
}

/* a + b + … of more would be an expression so deep that whoever walks it runs out of stack. */
enum { MOST_OPERATORS = 5000 };

static hone_status parse_level(py_parser *p, size_t level, const py_node **out) {
    py_node *node;
    uint32_t operators = 0;
    py_nodes items = {0};
    if (level == LEVEL_COUNT) return parse_unary(p, out);
    HONE_TRY(parse_level(p, level + 1, out));
    py_op op = op_at_level(p, level);
    if (op == PY_NO_OP) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_BINARY, *out, &node));
    HONE_TRY(py_push(p, &items, *out));
    for (; op != PY_NO_OP; op = op_at_level(p, level)) {
        if (++operators > MOST_OPERATORS) return py_fail_here(p, "this expression is too long");
        HONE_TRY(take_operator(p, op, 1, &items));
        HONE_TRY(parse_level(p, level + 1, out));
        HONE_TRY(py_push(p, &items, *out));
    }
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

/* The comparison at hand, and of how many tokens it is. */
static py_op comparison_at(py_parser *p, uint32_t *out_tokens) {
    static const op_row signs[] = {
        {"==", PY_EQ},
        {"!=", PY_NE},
        {"<=", PY_LE},
        {">=", PY_GE},
        {"<",  PY_LT},
        {">",  PY_GT},
    };
    const py_token *next = p->pos + 1 < p->count ? &p->tokens[p->pos + 1] : py_peek(p);
    *out_tokens = 1;
    if (py_at_word(p, "in")) return PY_IN;
    if (py_at_word(p, "is")) {
        bool is_not = py_token_is(p->source, next, PY_TOKEN_NAME, "not");
        *out_tokens += is_not;
        return is_not ? PY_IS_NOT : PY_IS;
    }
    if (py_at_word(p, "not") && py_token_is(p->source, next, PY_TOKEN_NAME, "in")) {
        *out_tokens = 2;
        return PY_NOT_IN;
    }
    return find_op(p, signs, HONE_COUNT(signs));
}

static hone_status parse_comparison(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    uint32_t tokens;
    HONE_TRY(parse_level(p, 0, out));
    py_op op = comparison_at(p, &tokens);
    if (op == PY_NO_OP) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_COMPARE, *out, &node));
    HONE_TRY(py_push(p, &items, *out));
    for (; op != PY_NO_OP; op = comparison_at(p, &tokens)) {
        HONE_TRY(take_operator(p, op, tokens, &items));
        HONE_TRY(parse_level(p, 0, out));
        HONE_TRY(py_push(p, &items, *out));
    }
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

static hone_status parse_not(py_parser *p, const py_node **out) {
    py_node *node;
    if (!py_at_word(p, "not")) return parse_comparison(p, out);
    HONE_TRY(py_begin(p, PY_UNARY, &node));
    node->op = PY_NOT;
    p->pos++;
    HONE_TRY(py_enter(p));
    HONE_TRY(parse_not(p, &node->base));
    py_leave(p);
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

static hone_status parse_logic(py_parser *p, py_op op, const py_node **out) {
    const char *word = op == PY_OR ? "or" : "and";
    py_node *node;
    py_nodes items = {0};
    HONE_TRY(op == PY_OR ? parse_logic(p, PY_AND, out) : parse_not(p, out));
    if (!py_at_word(p, word)) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_LOGIC, *out, &node));
    node->op = op;
    HONE_TRY(py_push(p, &items, *out));
    while (py_take_word(p, word)) {
        HONE_TRY(op == PY_OR ? parse_logic(p, PY_AND, out) : parse_not(p, out));
        HONE_TRY(py_push(p, &items, *out));
    }
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

hone_status py_parse_or(py_parser *p, const py_node **out) {
    return parse_logic(p, PY_OR, out);
}

/* ---- whole expressions ---- */

static hone_status parse_choice(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    HONE_TRY(py_parse_or(p, out));
    if (!py_at_word(p, "if")) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_CHOICE, *out, &node));
    HONE_TRY(py_push(p, &items, *out));
    p->pos++;
    HONE_TRY(py_parse_or(p, &node->base));
    if (!py_take_word(p, "else")) return py_expected(p, "'else' of this conditional");
    HONE_TRY(py_parse_expr(p, out));
    HONE_TRY(py_push(p, &items, *out));
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

/* name := value */
static hone_status parse_walrus(py_parser *p, const py_node **io) {
    py_node *node;
    HONE_TRY(py_begin_at(p, PY_FOREIGN, *io, &node));
    node->name = ":=";
    p->pos++;
    HONE_TRY(py_parse_expr(p, &node->base));
    py_done(p, node, NULL);
    *io = node;
    return HONE_OK;
}

hone_status py_parse_expr(py_parser *p, const py_node **out) {
    *out = NULL;
    HONE_TRY(py_enter(p));
    HONE_TRY(py_at_word(p, "lambda") ? py_parse_lambda(p, out) : parse_choice(p, out));
    if (py_at_op(p, ":=")) HONE_TRY(parse_walrus(p, out));
    py_leave(p);
    return HONE_OK;
}

/* Is there nothing more of a list without brackets? */
static bool ends_list(const py_parser *p) {
    py_token_kind kind = py_peek(p)->kind;
    return kind == PY_TOKEN_NEWLINE || kind == PY_TOKEN_END || py_at_op(p, "=") ||
           py_at_op(p, ";") || py_at_op(p, ":") || py_at_op(p, ")") || py_at_op(p, "]") ||
           py_at_word(p, "in");
}

static hone_status parse_bare(py_parser *p, hone_status (*next)(py_parser *, const py_node **),
                              const py_node **out) {
    py_node *node;
    py_nodes items = {0};
    HONE_TRY(next(p, out));
    if (!py_at_op(p, ",") && (*out)->kind != PY_STAR) return HONE_OK;
    HONE_TRY(py_begin_at(p, PY_TUPLE, *out, &node));
    HONE_TRY(py_push(p, &items, *out));
    while (py_take_op(p, ",") && !ends_list(p)) {
        HONE_TRY(next(p, out));
        HONE_TRY(py_push(p, &items, *out));
    }
    py_done(p, node, &items);
    *out = node;
    return HONE_OK;
}

hone_status py_parse_list(py_parser *p, const py_node **out) {
    return parse_bare(p, parse_item, out);
}

/* No comparison, since "in" ends it. */
static hone_status parse_target(py_parser *p, const py_node **out) {
    py_node *node;
    if (!py_at_op(p, "*")) return parse_postfix(p, out);
    HONE_TRY(py_begin(p, PY_STAR, &node));
    p->pos++;
    HONE_TRY(parse_postfix(p, &node->base));
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

hone_status py_parse_targets(py_parser *p, const py_node **out) {
    HONE_TRY(parse_bare(p, parse_target, out));
    if (py_take_word(p, "in")) return HONE_OK;
    return py_expected(p, "'in'");
}
