/* ir/python/python_parse.c - statements of Python, from tokens to a tree.
 *
 *   suite     := simple {";" simple} NEWLINE | NEWLINE INDENT statement … DEDENT
 *   statement := {"@" expression} ("def" … | "class" …)
 *              | "if" … {"elif" …} ["else" …] | "for" … | "while" … | "with" …
 *              | simple {";" simple} NEWLINE
 *   simple    := targets "=" … values | target "+=" values | target ":" type ["=" values] | values
 *              | "return" | "break" | "continue" | "pass" | "assert" | "del" | "import" | "from"
 *
 * Words that begin other statements (try, raise, global, …) are passed over with what belongs to
 * them and become a PY_STATEMENT: whoever runs the text says what it thinks of it.
 */
#include <stdio.h>
#include <string.h>

#include "ir/python/python_parse_impl.h"
#include "support/text/nearest.h"

/* ---- suites ---- */

static hone_status parse_statement(py_parser *p, py_nodes *out);
static hone_status parse_simple_line(py_parser *p, py_nodes *out);

/* Up to a DEDENT or the end. */
static hone_status parse_statements(py_parser *p, py_nodes *out) {
    while (py_peek(p)->kind != PY_TOKEN_DEDENT && py_peek(p)->kind != PY_TOKEN_END) {
        if (py_peek(p)->kind == PY_TOKEN_INDENT) {
            return py_fail_here(p, "unexpected indent: the line before opens no block");
        }
        HONE_TRY(parse_statement(p, out));
    }
    return HONE_OK;
}

/* Behind the ':' of a statement; mark: the word that it belongs to. */
static hone_status parse_suite(py_parser *p, uint32_t mark, const py_node **out) {
    py_node *node;
    py_nodes statements = {0};
    HONE_TRY(py_begin(p, PY_SUITE, &node));
    HONE_TRY(py_enter(p));
    if (!py_take(p, PY_TOKEN_NEWLINE)) {
        HONE_TRY(parse_simple_line(p, &statements));
    } else if (!py_take(p, PY_TOKEN_INDENT)) {
        return py_expected(p, "an indented body");
    } else {
        node->at = py_peek(p)->start;
        HONE_TRY(parse_statements(p, &statements));
        py_take(p, PY_TOKEN_DEDENT);
    }
    node->mark = mark;
    py_leave(p);
    py_done(p, node, &statements);
    if (node->count) node->end = node->items[node->count - 1]->end;
    *out = node;
    return HONE_OK;
}

static hone_status need_colon(py_parser *p) {
    if (py_take_op(p, ":")) return HONE_OK;
    bool is_else_if = py_at_word(p, "if") && p->pos &&
                      py_token_is(p->source, py_peek(p) - 1, PY_TOKEN_NAME, "else");
    const char *hint = py_at_op(p, "=") ? "; '==' compares" : is_else_if ? "; write 'elif'" : "";
    return py_expected_hint(p, "':' before the body", hint);
}

static hone_status push_suite(py_parser *p, uint32_t mark, py_nodes *out) {
    const py_node *suite;
    HONE_TRY(need_colon(p));
    HONE_TRY(parse_suite(p, mark, &suite));
    return py_push(p, out, suite);
}

/* ---- definitions ---- */

static hone_status parse_def(py_parser *p, py_node *node, py_nodes *parts) {
    const py_node *result = NULL, *body = NULL;
    HONE_TRY(py_need_name(p, "the name of the function", &node->name));
    HONE_TRY(py_need_op(p, "(", "behind the name of the function"));
    HONE_TRY(py_parse_params(p, ")", true, parts));
    HONE_TRY(py_need_op(p, ")", "or ','"));
    if (py_take_op(p, "->")) HONE_TRY(py_parse_expr(p, &result));
    HONE_TRY(py_push(p, parts, result));
    HONE_TRY(need_colon(p));
    bool is_heading = p->options->has_headings && py_peek(p)->kind == PY_TOKEN_NEWLINE &&
                      p->pos + 1 < p->count && p->tokens[p->pos + 1].kind != PY_TOKEN_INDENT;
    if (is_heading) {
        p->pos++;
    } else {
        HONE_TRY(parse_suite(p, node->mark, &body));
    }
    return py_push(p, parts, body);
}

static hone_status parse_class(py_parser *p, py_node *node, py_nodes *parts) {
    HONE_TRY(py_need_name(p, "the name of the class", &node->name));
    if (py_take_op(p, "(")) HONE_TRY(py_parse_arguments(p, parts));
    return push_suite(p, node->mark, parts);
}

static hone_status parse_decorators(py_parser *p, py_nodes *parts) {
    while (py_take_op(p, "@")) {
        const py_node *decorator;
        HONE_TRY(py_parse_expr(p, &decorator));
        HONE_TRY(py_push(p, parts, decorator));
        if (!py_take(p, PY_TOKEN_NEWLINE)) return py_expected(p, "the end of the line");
    }
    return HONE_OK;
}

/* The end of what has a suite as its last part. */
static void end_with_suite(const py_parser *p, py_node *node, const py_nodes *parts) {
    py_done(p, node, parts);
    const py_node *last = parts->count ? parts->items[parts->count - 1] : NULL;
    if (last) node->end = last->end;
}

static hone_status parse_definition(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_DEF, &node));
    HONE_TRY(parse_decorators(p, &parts));
    node->count_ahead = parts.count;
    node->mark = py_peek(p)->start;
    py_take_word(p, "async");
    if (py_take_word(p, "def")) {
        HONE_TRY(parse_def(p, node, &parts));
    } else if (py_take_word(p, "class")) {
        node->kind = PY_CLASS;
        HONE_TRY(parse_class(p, node, &parts));
    } else {
        return py_expected(p, "a function or a class behind its decorator");
    }
    end_with_suite(p, node, &parts);
    *out = node;
    return HONE_OK;
}

/* ---- statements with suites ---- */

static hone_status parse_if(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_IF, &node));
    do {
        const py_node *condition;
        uint32_t mark = py_peek(p)->start;
        p->pos++;
        HONE_TRY(py_parse_expr(p, &condition));
        HONE_TRY(py_push(p, &parts, condition));
        HONE_TRY(push_suite(p, mark, &parts));
    } while (py_at_word(p, "elif"));
    uint32_t mark = py_peek(p)->start;
    if (py_take_word(p, "else")) HONE_TRY(push_suite(p, mark, &parts));
    end_with_suite(p, node, &parts);
    *out = node;
    return HONE_OK;
}

static hone_status parse_loop_else(py_parser *p, py_node *node, py_nodes *parts) {
    uint32_t mark = py_peek(p)->start;
    if (py_take_word(p, "else")) {
        HONE_TRY(push_suite(p, mark, parts));
        end_with_suite(p, node, parts);
        return HONE_OK;
    }
    end_with_suite(p, node, parts);
    HONE_TRY(py_push(p, parts, NULL));
    node->count = parts->count;
    node->items = parts->items;
    return HONE_OK;
}

static hone_status parse_for(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    const py_node *targets;
    HONE_TRY(py_begin(p, PY_FOR, &node));
    p->pos++;
    HONE_TRY(py_parse_targets(p, &targets));
    HONE_TRY(py_push(p, &parts, targets));
    HONE_TRY(py_parse_list(p, &node->base));
    HONE_TRY(push_suite(p, node->at, &parts));
    *out = node;
    return parse_loop_else(p, node, &parts);
}

static hone_status parse_while(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_WHILE, &node));
    p->pos++;
    HONE_TRY(py_parse_expr(p, &node->base));
    HONE_TRY(push_suite(p, node->at, &parts));
    *out = node;
    return parse_loop_else(p, node, &parts);
}

static hone_status parse_as(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    const py_node *target = NULL;
    HONE_TRY(py_begin(p, PY_AS, &node));
    HONE_TRY(py_parse_expr(p, &node->base));
    if (py_take_word(p, "as")) HONE_TRY(py_parse_expr(p, &target));
    HONE_TRY(py_push(p, &parts, target));
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

/* Are the brackets at hand those of "with (a as b, c):"? */
static bool has_group(const py_parser *p) {
    uint32_t open = 0, at = p->pos;
    bool has_as = false;
    for (; at < p->count && p->tokens[at].kind != PY_TOKEN_NEWLINE; at++) {
        const py_token *t = &p->tokens[at];
        char c = t->kind == PY_TOKEN_OP && t->length == 1 ? p->source->text[t->start] : ' ';
        open += c == '(' || c == '[' || c == '{';
        open -= open && (c == ')' || c == ']' || c == '}');
        has_as |= open == 1 && py_token_is(p->source, t, PY_TOKEN_NAME, "as");
        if (!open) break;
    }
    return has_as && at + 1 < p->count &&
           py_token_is(p->source, &p->tokens[at + 1], PY_TOKEN_OP, ":");
}

static hone_status parse_with(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_WITH, &node));
    p->pos++;
    bool is_group = py_at_op(p, "(") && has_group(p);
    if (is_group) p->pos++;
    do {
        const py_node *item;
        if (is_group && py_at_op(p, ")")) break;
        HONE_TRY(parse_as(p, &item));
        HONE_TRY(py_push(p, &parts, item));
    } while (py_take_op(p, ","));
    if (is_group) HONE_TRY(py_need_op(p, ")", "or ','"));
    HONE_TRY(push_suite(p, node->at, &parts));
    end_with_suite(p, node, &parts);
    *out = node;
    return HONE_OK;
}

/* ---- simple statements ---- */

static hone_status parse_path(py_parser *p, const char **out) {
    uint32_t from = py_peek(p)->start, first = p->pos;
    while (py_take_op(p, ".") || py_take_op(p, "..."))
        from = py_peek(p)->start; /* from . import x */
    while (py_peek(p)->kind == PY_TOKEN_NAME && !py_at_word(p, "import")) {
        p->pos++;
        if (!py_take_op(p, ".")) break;
    }
    if (p->pos == first) return py_expected(p, "a name");
    const py_token *last = &p->tokens[p->pos - 1];
    uint32_t end = last->start + last->length;
    *out = hone_arena_strndup(p->arena, p->source->text + from, end > from ? end - from : 0);
    return *out ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "syntax tree");
}

static hone_status parse_alias(py_parser *p, py_nodes *out) {
    py_node *node, *alias = NULL;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_ALIAS, &node));
    HONE_TRY(parse_path(p, &node->name));
    if (py_take_word(p, "as")) {
        HONE_TRY(py_begin(p, PY_NAME, &alias));
        HONE_TRY(py_need_name(p, "a name", &alias->name));
        py_done(p, alias, NULL);
    }
    HONE_TRY(py_push(p, &parts, alias));
    py_done(p, node, &parts);
    return py_push(p, out, node);
}

static hone_status parse_from(py_parser *p, py_node *node, py_nodes *out) {
    node->kind = PY_FROM;
    HONE_TRY(parse_path(p, &node->name));
    if (!py_take_word(p, "import")) return py_expected(p, "'import'");
    if (py_take_op(p, "*")) return HONE_OK;
    bool is_group = py_take_op(p, "(");
    do {
        if (is_group && py_at_op(p, ")")) break;
        HONE_TRY(parse_alias(p, out));
    } while (py_take_op(p, ","));
    return is_group ? py_need_op(p, ")", "or ','") : HONE_OK;
}

static hone_status parse_import(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    HONE_TRY(py_begin(p, PY_IMPORT, &node));
    if (py_take_word(p, "from")) {
        HONE_TRY(parse_from(p, node, &parts));
    } else {
        p->pos++;
        do {
            HONE_TRY(parse_alias(p, &parts));
        } while (py_take_op(p, ","));
    }
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

static const struct {
    const char *text;
    py_op op;
} updates[] = {
    {"+=",  PY_ADD     },
    {"-=",  PY_SUB     },
    {"*=",  PY_MUL     },
    {"/=",  PY_DIV     },
    {"//=", PY_FLOORDIV},
    {"%=",  PY_MOD     },
    {"@=",  PY_MATMUL  },
    {"**=", PY_POW     },
    {"<<=", PY_SHL     },
    {">>=", PY_SHR     },
    {"&=",  PY_BITAND  },
    {"|=",  PY_BITOR   },
    {"^=",  PY_BITXOR  },
};

static py_op take_update(py_parser *p) {
    for (size_t i = 0; i < HONE_COUNT(updates); i++) {
        if (py_take_op(p, updates[i].text)) return updates[i].op;
    }
    return PY_NO_OP;
}

static hone_status parse_chain(py_parser *p, py_node *node, py_nodes *parts) {
    node->kind = PY_ASSIGN;
    while (py_take_op(p, "=")) {
        if (node->base) HONE_TRY(py_push(p, parts, node->base));
        HONE_TRY(py_parse_list(p, &node->base));
    }
    return HONE_OK;
}

static bool ends_line_behind(const py_parser *p) {
    return p->pos + 1 < p->count && p->tokens[p->pos + 1].kind == PY_TOKEN_NEWLINE;
}

/* Assignments of all kinds, and values that stand alone. */
static hone_status parse_value(py_parser *p, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    const py_node *first, *type;
    HONE_TRY(py_begin(p, PY_VALUE, &node));
    HONE_TRY(py_parse_list(p, &first));
    uint32_t mark = py_peek(p)->start;
    bool is_type = !ends_line_behind(p) && py_take_op(p, ":");
    node->op = is_type ? PY_NO_OP : take_update(p);
    bool is_plain = !is_type && node->op == PY_NO_OP && !py_at_op(p, "=");
    if (is_plain) {
        node->base = first;
    } else {
        node->mark = mark;
        HONE_TRY(py_push(p, &parts, first));
    }
    if (is_type) {
        node->kind = PY_ANNOTATE;
        HONE_TRY(py_parse_expr(p, &type));
        HONE_TRY(py_push(p, &parts, type));
        if (py_take_op(p, "=")) HONE_TRY(py_parse_list(p, &node->base));
    } else if (node->op != PY_NO_OP) {
        node->kind = PY_AUGMENT;
        HONE_TRY(py_parse_list(p, &node->base));
    } else if (!is_plain) {
        HONE_TRY(parse_chain(p, node, &parts));
    }
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

static hone_status parse_word(py_parser *p, py_node_kind kind, const py_node **out) {
    py_node *node;
    py_nodes parts = {0};
    const py_node *more = NULL;
    HONE_TRY(py_begin(p, kind, &node));
    p->pos++;
    bool is_bare = py_peek(p)->kind == PY_TOKEN_NEWLINE || py_at_op(p, ";");
    if (kind == PY_ASSERT) {
        HONE_TRY(py_parse_expr(p, &node->base));
        if (py_take_op(p, ",")) HONE_TRY(py_parse_expr(p, &more));
        HONE_TRY(py_push(p, &parts, more));
    } else if (kind == PY_DEL || (kind == PY_RETURN && !is_bare)) {
        HONE_TRY(py_parse_list(p, &node->base));
    }
    py_done(p, node, &parts);
    *out = node;
    return HONE_OK;
}

/* Past the line, and the lines that are indented below it. */
static void skip_statement(py_parser *p) {
    uint32_t depth = 0;
    while (py_peek(p)->kind != PY_TOKEN_NEWLINE && py_peek(p)->kind != PY_TOKEN_END)
        p->pos++;
    py_take(p, PY_TOKEN_NEWLINE);
    do {
        bool opens = py_take(p, PY_TOKEN_INDENT),
             closes = !opens && depth && py_take(p, PY_TOKEN_DEDENT);
        depth += opens;
        depth -= closes;
        if (depth && !opens && !closes) p->pos++;
    } while (depth && py_peek(p)->kind != PY_TOKEN_END);
}

/* Past what stands before the end of the line or ';'. */
static void skip_simple(py_parser *p) {
    uint32_t open = 0;
    while (py_peek(p)->kind != PY_TOKEN_NEWLINE && (open || !py_at_op(p, ";"))) {
        bool opens = py_at_op(p, "(") || py_at_op(p, "[") || py_at_op(p, "{");
        bool closes = py_at_op(p, ")") || py_at_op(p, "]") || py_at_op(p, "}");
        open += opens;
        open -= closes && open;
        p->pos++;
    }
}

static hone_status parse_unread(py_parser *p, void (*skip)(py_parser *), const py_node **out) {
    py_node *node;
    HONE_TRY(py_begin(p, PY_STATEMENT, &node));
    const py_token *t = py_peek(p);
    node->name = hone_arena_strndup(p->arena, p->source->text + t->start, t->length);
    if (!node->name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "syntax tree");
    skip(p);
    py_done(p, node, NULL);
    *out = node;
    return HONE_OK;
}

static bool is_unread(const py_parser *p) {
    for (const char *const *word = p->options->unread; word && *word; word++) {
        if (py_at_word(p, *word)) return true;
    }
    return false;
}

static hone_status parse_simple(py_parser *p, const py_node **out) {
    static const struct {
        const char *word;
        py_node_kind kind;
    } words[] = {
        {"return",   PY_RETURN  },
        {"break",    PY_BREAK   },
        {"continue", PY_CONTINUE},
        {"pass",     PY_PASS    },
        {"assert",   PY_ASSERT  },
        {"del",      PY_DEL     },
    };
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (py_at_word(p, words[i].word)) return parse_word(p, words[i].kind, out);
    }
    if (is_unread(p)) return parse_unread(p, skip_simple, out);
    if (py_at_word(p, "import") || py_at_word(p, "from")) return parse_import(p, out);
    return parse_value(p, out);
}

/* The keyword that a name at the beginning of a line was meant for, or NULL: `fro i in …`. */
static const char *keyword_meant(const char *name) {
    const char *best = NULL, *word;
    size_t least = 3;
    for (size_t i = 0; (word = py_keyword_at(i)) != NULL; i++) {
        size_t distance = strlen(word) > 2 ? hone_name_distance(name, word) : least;
        if (distance >= least || distance >= strlen(name)) continue;
        least = distance;
        best = word;
    }
    return best;
}

static hone_status fail_end(const py_parser *p, const py_node *last) {
    bool closes = py_at_op(p, ")") || py_at_op(p, "]") || py_at_op(p, "}");
    bool opens = py_at_op(p, ":") && ends_line_behind(p);
    bool is_loop = opens && last->kind == PY_VALUE && last->base->kind == PY_COMPARE &&
                   last->base->items[1]->op == PY_IN;
    bool is_name = last->kind == PY_VALUE && last->base->kind == PY_NAME && !closes && !opens;
    const char *word = is_name ? keyword_meant(last->base->name) : NULL;
    char meant[40] = "";
    if (word) snprintf(meant, sizeof meant, "; did you mean '%s'?", word);
    return py_expected_hint(p, "the end of the line",
                            closes    ? "; no bracket is open here"
                            : is_loop ? "; a loop begins with 'for'"
                            : opens ? "; what has a body begins with 'with', 'for', 'while' or 'if'"
                                    : meant);
}

static hone_status parse_simple_line(py_parser *p, py_nodes *out) {
    const py_node *statement = NULL;
    do {
        if (py_peek(p)->kind == PY_TOKEN_NEWLINE) break;
        HONE_TRY(parse_simple(p, &statement));
        HONE_TRY(py_push(p, out, statement));
    } while (py_take_op(p, ";"));
    return py_take(p, PY_TOKEN_NEWLINE) ? HONE_OK : fail_end(p, statement);
}

/* ---- statements ---- */

/* "else" of "try" belongs to it. */
static bool is_unknown(const py_parser *p, const py_nodes *before) {
    static const char *const words[] = {"try", "except", "finally", "raise", "global", "nonlocal"};
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (py_at_word(p, words[i])) return true;
    }
    const py_node *last = before->count ? before->items[before->count - 1] : NULL;
    return py_at_word(p, "else") && last && last->kind == PY_STATEMENT;
}

static hone_status parse_statement(py_parser *p, py_nodes *out) {
    const py_node *node;
    bool is_async = py_at_word(p, "async") && p->pos + 1 < p->count;
    bool defines = is_async && py_token_is(p->source, &p->tokens[p->pos + 1], PY_TOKEN_NAME, "def");
    if (py_at_op(p, "@") || py_at_word(p, "def") || py_at_word(p, "class") || defines) {
        HONE_TRY(parse_definition(p, &node));
    } else if (py_at_word(p, "if")) {
        HONE_TRY(parse_if(p, &node));
    } else if (py_at_word(p, "for")) {
        HONE_TRY(parse_for(p, &node));
    } else if (py_at_word(p, "while")) {
        HONE_TRY(parse_while(p, &node));
    } else if (py_at_word(p, "with")) {
        HONE_TRY(parse_with(p, &node));
    } else if (is_unknown(p, out)) {
        HONE_TRY(parse_unread(p, skip_statement, &node));
    } else if (py_at_word(p, "else") || py_at_word(p, "elif")) {
        return py_fail_here(p, "no 'if' stands before this at the same indentation");
    } else {
        return parse_simple_line(p, out);
    }
    return py_push(p, out, node);
}

static hone_status parse_text(py_parser *p, hone_arena *words, const py_node **out_suite) {
    py_token *tokens;
    py_node *suite;
    py_nodes statements = {0};
    HONE_TRY(py_lex(p->source, words, &tokens, &p->count));
    p->tokens = tokens;
    HONE_TRY(py_begin(p, PY_SUITE, &suite));
    bool is_indented = py_take(p, PY_TOKEN_INDENT); /* a piece of a text that was */
    HONE_TRY(parse_statements(p, &statements));
    if (is_indented) py_take(p, PY_TOKEN_DEDENT);
    if (py_peek(p)->kind != PY_TOKEN_END) {
        return py_fail_here(p, "this line is indented less than its block, and as no block around");
    }
    py_done(p, suite, &statements);
    *out_suite = suite;
    return HONE_OK;
}

hone_status py_parse(const py_source *source, const py_parse_options *options, hone_arena *arena,
                     const py_node **out_suite) {
    py_places places = {.source = source};
    py_parser p = {.source = source, .arena = arena, .options = options, .places = &places};
    hone_arena *words = hone_arena_create(1 << 12); /* nobody needs them when there is a tree */
    if (!words) return HONE_ERROR(HONE_CODE_NO_MEMORY, "syntax tree");
    hone_status st = parse_text(&p, words, out_suite);
    hone_arena_destroy(words);
    return st;
}
