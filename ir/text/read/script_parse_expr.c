/* ir/text/read/script_parse_expr.c - the grammar of Python expressions, by precedence climbing.
 *
 *   ternary  := or ['if' or 'else' ternary]
 *   or, and, not, comparison (chained), |, ^, &, << >>, + -, * / // %, unary, **
 *   postfix  := atom ( '(' arguments ')' | '[' subscript ']' | '.' name )*
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

static bool parse_ternary(script_parser *p, script_value *out);

/* ---- atoms ---- */

static bool parse_int(script_parser *p, const py_token *t, script_value *out) {
    bool is_huge;
    *out = (script_value){.kind = SCRIPT_INT, .at = p->pos};
    const char *why = py_int_of(&p->source, t->start, t->start + t->length, &out->u.i, &is_huge);
    if (is_huge) out->kind = SCRIPT_HUGE;
    if (why) return script_fail(p, p->pos, "%s", why);
    p->pos++;
    return true;
}

/* 1.5f of other languages */
static bool has_suffix(const script_parser *p, const py_token *t) {
    char last = p->source.text[t->start + t->length - 1];
    double ignored;
    return strchr("fFlLhH", last) &&
           !py_float_of(&p->source, t->start, t->start + t->length - 1, &ignored);
}

static bool parse_float(script_parser *p, const py_token *t, script_value *out) {
    const char *text = p->source.text + t->start;
    *out = (script_value){.kind = SCRIPT_FLOAT, .at = p->pos};
    if (has_suffix(p, t)) {
        int length = (int)t->length - 1;
        return script_fail(p, p->pos,
                           "Python's numbers have no suffix '%c'; T.float32(%.*s) says the type",
                           text[length], length, text);
    }
    const char *why = py_float_of(&p->source, t->start, t->start + t->length, &out->u.f);
    if (why) return script_fail(p, p->pos, "%s", why);
    p->pos++;
    return true;
}

static bool parse_text(script_parser *p, script_value *out) {
    hone_str all = {0};
    *out = (script_value){.kind = SCRIPT_STRING, .at = p->pos};
    for (; script_peek(p)->kind == PY_TOKEN_TEXT; p->pos++) { /* "a" "b" is one string */
        const char *why = NULL;
        char *piece = py_decode_text(&p->source, script_peek(p), p->scratch, &why);
        if (!piece) {
            hone_str_deinit(&all);
            return why ? script_fail(p, p->pos, "%s", why) : script_no_memory(p);
        }
        hone_str_append(&all, piece);
    }
    out->u.s = all.failed ? NULL : hone_arena_strdup(p->scratch, hone_str_text(&all));
    hone_str_deinit(&all);
    return out->u.s || script_no_memory(p);
}

/* Items up to the closing bracket; a trailing comma is allowed. */
static bool parse_items(script_parser *p, const char *close, script_value **out_items,
                        uint32_t *out_count, bool *out_comma) {
    script_value *items = NULL;
    uint32_t count = 0, capacity = 0;
    *out_comma = false;
    while (!script_at_op(p, close)) {
        bool star = script_take_op(p, "*");
        script_value item;
        if (!parse_ternary(p, &item)) return false;
        const script_value *many = &item;
        uint32_t more = 1;
        if (star) script_items(&item, &many, &more);
        if (count + more > UINT16_MAX) return script_fail(p, p->pos, "too many items");
        for (uint32_t i = 0; i < more; i++) {
            if (!script_grow(p, p->scratch, (void **)&items, &capacity, count, sizeof *items)) {
                return false;
            }
            items[count++] = many[i];
        }
        if (script_at_word(p, "for")) {
            return script_fail(p, p->pos, "comprehensions are not part of TVMScript");
        }
        if (!script_take_op(p, ",")) break;
        *out_comma = true;
    }
    *out_items = items;
    *out_count = count;
    return script_need_op(p, close, "or ','");
}

static bool parse_group(script_parser *p, script_value *out) {
    uint32_t at = p->pos++;
    script_value *items = NULL;
    uint32_t count = 0;
    bool comma = false;
    if (!parse_items(p, ")", &items, &count, &comma)) return false;
    if (count == 1 && !comma) {
        *out = items[0];
        out->at = at;
        return true;
    }
    *out = (script_value){.kind = SCRIPT_TUPLE, .count = count, .at = at, .u.items = items};
    return true;
}

static bool parse_list(script_parser *p, script_value *out) {
    *out = (script_value){.kind = SCRIPT_LIST, .at = p->pos++};
    script_value *items = NULL;
    bool comma = false;
    if (!parse_items(p, "]", &items, &out->count, &comma)) return false;
    out->u.items = items;
    return true;
}

static bool parse_dict(script_parser *p, script_value *out) {
    *out = (script_value){.kind = SCRIPT_DICT, .at = p->pos++};
    script_value *items = NULL;
    uint32_t used = 0, capacity = 0;
    while (!script_at_op(p, "}")) {
        for (int side = 0; side < 2; side++) {
            if (!script_grow(p, p->scratch, (void **)&items, &capacity, used, sizeof *items) ||
                !parse_ternary(p, &items[used++]) ||
                (side == 0 && !script_need_op(p, ":", "behind the key"))) {
                return false;
            }
        }
        if (used > 2 * UINT16_MAX) return script_fail(p, p->pos, "too many items");
        if (!script_take_op(p, ",")) break;
    }
    out->count = used / 2;
    out->u.items = items;
    return script_need_op(p, "}", "or ','");
}

/* Names that mean something without being defined. Everything else of Python is not TVMScript. */
static const char *const aliases[][2] = {
    {"T",        "T"       },
    {"R",        "R"       },
    {"I",        "I"       },
    {"tir",      "T"       },
    {"tirx",     "T"       },
    {"relax",    "R"       },
    {"tvm",      "tvm"     },
    {"relay",    "relay"   },
    {"range",    "range"   },
    {"max",      "T.max"   },
    {"min",      "T.min"   },
    {"abs",      "T.abs"   },
    {"len",      "len"     },
    {"int",      "int"     },
    {"float",    "float"   },
    {"bool",     "bool"    },
    {"str",      "str"     },
    {"Tensor",   "R.Tensor"},
    {"Tuple",    "R.Tuple" },
    {"Shape",    "R.Shape" },
    {"Object",   "R.Object"},
    {"ty",       "T"       },
    {"meta",     "metadata"},
    {"metadata", "metadata"},
    {"TypeVar",  "TypeVar" },
    {"s_tir",    "T"       }
};

/* n = TypeVar("n") beside the functions: each function has a size of its own by that name. */
static bool shared_size(script_parser *p, const char *name, const script_value *known,
                        script_value *out) {
    if (p->graph) {
        *out = SCRIPT_VALUE_EXPR(script_graph_size(p, name));
        return out->u.expr != NULL;
    }
    hone_var var = 0;
    const hone_func *func = p->func;
    while (var < func->var_count &&
           !(func->vars[var].is_size && strcmp(func->vars[var].name, name) == 0)) {
        var++;
    }
    if (var == func->var_count && !script_new_var(p, name, known->u.var.dtype, &var)) return false;
    p->func->vars[var].is_size = true;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    return script_check_ir(p, p->pos);
}

static bool is_text(const script_parser *p, uint32_t at, const char *text) {
    if (at >= p->token_count) return false;
    const py_token *t = &p->tokens[at];
    return t->length == strlen(text) && memcmp(p->source.text + t->start, text, t->length) == 0;
}

/* A size in quotes is declared behind: `n: T.int64` among the parameters or `n = T.int64()` in the
 * body; else it is as others of its place. */
static hone_dtype dtype_declared_behind(const script_parser *p, const char *name,
                                        hone_dtype other) {
    for (uint32_t i = p->pos; i + 4 < p->token_count && !is_text(p, i, "@"); i++) {
        if (!is_text(p, i, name) || !is_text(p, i + 2, "T") || !is_text(p, i + 3, ".")) continue;
        if (!is_text(p, i + 1, ":") && !is_text(p, i + 1, "=")) continue;
        return is_text(p, i + 4, "int64") ? HONE_DTYPE_I64 : HONE_DTYPE_I32;
    }
    return other;
}

/* T.Buffer(("n",), ...): the size n from here on. */
static bool signature_size(script_parser *p, const char *name, script_value *out) {
    hone_var var = HONE_NO_ID;
    hone_dtype dtype = p->quoted_in ? dtype_declared_behind(p->quoted_in, name, p->size_dtype)
                                    : dtype_declared_behind(p, name, HONE_DTYPE_I32);
    if (!script_new_var(p, name, dtype, &var)) return false;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    return script_check_ir(p, p->pos) && script_define(p, name, *out);
}

/* T.Buffer(("n", n * 2)): the size in quotes stands before, in the same description. */
static bool is_quoted_before(const script_parser *p, const char *name) {
    bool is_found = false;
    for (uint32_t i = p->pos; i-- > 0 && p->tokens[i].kind != PY_TOKEN_NEWLINE;) {
        const py_token *t = &p->tokens[i];
        if (script_token_is(p, i, PY_TOKEN_NAME, "Buffer")) return is_found;
        bool is_text = t->kind == PY_TOKEN_TEXT && t->length == strlen(name) + 2;
        is_found = is_found ||
                   (is_text && memcmp(p->source.text + t->start + 1, name, t->length - 2) == 0);
    }
    return false;
}

/* What editors of prose make of quotation marks: U+2018, U+2019, U+201C, U+201D. */
static bool is_curly_quote(const char *name) {
    static const char *const marks[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c",
                                        "\xe2\x80\x9d"};
    for (size_t i = 0; i < HONE_COUNT(marks); i++) {
        if (strncmp(name, marks[i], 3) == 0) return true;
    }
    return false;
}

/* Words of Python that stand for nothing in a program. */
static bool is_foreign(const char *word) {
    static const char *const words[] = {"del",    "except", "from", "global",
                                        "import", "raise",  "try",  "yield"};
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (strcmp(word, words[i]) == 0) return true;
    }
    return false;
}

static bool parse_name(script_parser *p, script_value *out) {
    const py_token *t = script_peek(p);
    const char *name = script_token_text(p, t);
    if (!name) return false;
    *out = (script_value){.at = p->pos};
    if (strcmp(name, "None") == 0) {
        out->kind = SCRIPT_NONE;
    } else if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0) {
        out->kind = SCRIPT_BOOL;
        out->u.i = name[0] == 'T';
    } else if (script_is_keyword(p, t)) {
        return script_fail(p, p->pos, "expected an expression, found '%s'%s", name,
                           is_foreign(name) ? ", which is no part of TVMScript" : "");
    } else {
        const script_value *known = script_lookup(p, name);
        if (known && known->kind == SCRIPT_NEWVAR && (p->graph || p->func)) {
            if (!shared_size(p, name, known, out)) return false;
        } else if (known) {
            *out = *known;
            out->is_fresh = false;
        } else {
            bool found = false;
            for (size_t i = 0; i < HONE_COUNT(aliases) && !found; i++) {
                found = strcmp(aliases[i][0], name) == 0;
                if (found) *out = SCRIPT_VALUE_PATH(aliases[i][1]);
            }
            for (uint32_t i = 0; i < p->global_count && !found; i++) {
                found = strcmp(p->globals[i], name) == 0;
                if (found) *out = (script_value){.kind = SCRIPT_GLOBAL, .u.s = name};
            }
            if (!found && p->module_name && strcmp(p->module_name, name) == 0) {
                found = true;
                *out = (script_value){.kind = SCRIPT_MODULE};
            }
            if (!found && p->graph && p->names_are_sizes) {
                found = true;
                *out = SCRIPT_VALUE_EXPR(script_graph_size(p, name));
                if (!out->u.expr) return false;
            }
            bool is_size = p->func && (p->names_are_sizes || is_quoted_before(p, name));
            if (!found && is_size) {
                found = true;
                if (!signature_size(p, name, out)) return false;
            }
            if (!found && is_curly_quote(name)) {
                return script_fail(p, p->pos, "this is no quotation mark of Python; write \" or '");
            }
            if (!found) return script_undefined(p, p->pos, name);
        }
        out->at = p->pos;
    }
    p->pos++;
    return true;
}

static bool is_op_behind(const script_parser *p, uint32_t back, const char *op) {
    if (p->pos < back) return false;
    const py_token *t = &p->tokens[p->pos - back];
    return t->kind == PY_TOKEN_OP && t->length == strlen(op) &&
           memcmp(p->source.text + t->start, op, t->length) == 0;
}

/* What stands here in other languages, and how Python says it. */
static const char *other_language(const script_parser *p) {
    if (script_at_op(p, "//")) return "; a comment begins with '#'";
    if (script_at_op(p, "&") && is_op_behind(p, 1, "&")) return "; 'and' joins conditions";
    if (script_at_op(p, "|") && is_op_behind(p, 1, "|")) return "; 'or' joins conditions";
    if (script_at_op(p, ">") && is_op_behind(p, 1, "<")) return "; '!=' says that two differ";
    if (is_op_behind(p, 1, "+") && is_op_behind(p, 2, "+")) return "; write '+= 1'";
    if (is_op_behind(p, 1, "-") && is_op_behind(p, 2, "-")) return "; write '-= 1'";
    return "";
}

static bool parse_atom(script_parser *p, script_value *out) {
    const py_token *t = script_peek(p);
    switch (t->kind) {
    case PY_TOKEN_INT:
        return parse_int(p, t, out);
    case PY_TOKEN_FLOAT:
        return parse_float(p, t, out);
    case PY_TOKEN_TEXT:
        return parse_text(p, out);
    case PY_TOKEN_NAME:
        if (script_at_word(p, "lambda")) return script_skip_lambda(p, out);
        return parse_name(p, out);
    default:
        break;
    }
    if (script_at_op(p, "(")) return parse_group(p, out);
    if (script_at_op(p, "[")) return parse_list(p, out);
    if (script_at_op(p, "{")) return parse_dict(p, out);
    if (script_at_op(p, "...")) {
        *out = (script_value){.kind = SCRIPT_ELLIPSIS, .at = p->pos++};
        return true;
    }
    return script_expected_hint(p, "an expression", other_language(p));
}

/* ---- postfix ---- */

static bool parse_call(script_parser *p, const script_value *callee, script_value *out) {
    const char *name = callee->kind == SCRIPT_PATH || callee->kind == SCRIPT_GLOBAL ? callee->u.s
                       : callee->kind == SCRIPT_METHOD ? callee->u.method.name
                       : callee->kind == SCRIPT_MACRO  ? callee->u.macro->name
                       : callee->kind == SCRIPT_LOCAL  ? callee->u.local->name
                       : callee->kind == SCRIPT_GARG   ? "this function"
                                                       : NULL;
    if (!name) {
        const char *hint = callee->kind == SCRIPT_BUFFER ? "; an element of it is A[i]" : "";
        return script_fail(p, callee->at, "%s cannot be called%s", script_kind_name(callee), hint);
    }
    script_call call;
    if (!script_parse_arguments(p, name, callee->at, &call)) return false;
    *out = (script_value){.at = callee->at};
    bool is_global = callee->kind == SCRIPT_GLOBAL;
    bool ok = callee->kind == SCRIPT_METHOD  ? script_call_method(p, callee, &call, out)
              : callee->kind == SCRIPT_MACRO ? script_call_macro(p, callee->u.macro, &call, out)
              : callee->kind == SCRIPT_LOCAL ? script_call_local(p, callee->u.local, &call, out)
              : callee->kind == SCRIPT_GARG  ? script_call_extern(p, callee, &call, out)
              : is_global && p->func         ? script_call_function(p, name, &call, out)
              : is_global                    ? script_call_global(p, name, &call, out)
                                             : script_call_path(p, &call, out);
    out->at = callee->at;
    return ok;
}

static bool parse_attribute(script_parser *p, const script_value *base, script_value *out) {
    uint32_t at = p->pos;
    const py_token *t = script_peek(p);
    if (t->kind != PY_TOKEN_NAME) return script_fail(p, at, "expected a name behind '.'");
    const char *name = script_token_text(p, t);
    p->pos++;
    return name && script_attribute(p, base, name, at, out);
}

static bool parse_postfix(script_parser *p, script_value *out) {
    if (!parse_atom(p, out)) return false;
    for (uint32_t n = 0;; n++) {
        uint32_t at = p->pos;
        if (n > 1000) return script_fail(p, at, "this expression is too long");
        script_value base = *out;
        if (script_at_op(p, "(")) {
            if (!parse_call(p, &base, out)) return false;
        } else if (script_at_op(p, "[")) {
            if (!script_subscript(p, &base, at, out)) return false;
            out->at = base.at;
        } else if (script_take_op(p, ".")) {
            if (!parse_attribute(p, &base, out)) return false;
            out->at = base.at;
        } else {
            return true;
        }
    }
}

/* ---- operators ---- */

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_BITOR };

typedef struct level {
    const char *ops[5];
} level;

static const level levels[] = {
    [LEVEL_BITOR] = {{"|"}}, {{"^"}},      {{"&"}},
    {{"<<", ">>"}},          {{"+", "-"}}, {{"*", "//", "/", "%", "@"}},
};
#define LEVEL_COUNT (sizeof levels / sizeof levels[0])

/* -2^63, whose digits alone do not fit 64 bits; the sign has been taken. */
static bool takes_least_int(script_parser *p, uint32_t at, script_value *out) {
    const py_token *t = script_peek(p);
    int64_t bits;
    bool is_huge = false;
    bool is_number = t->kind == PY_TOKEN_INT &&
                     !py_int_of(&p->source, t->start, t->start + t->length, &bits, &is_huge);
    if (!is_number || !is_huge || bits != INT64_MIN) return false;
    *out = (script_value){.kind = SCRIPT_INT, .at = at, .u.i = INT64_MIN};
    p->pos++;
    return true;
}

static bool parse_unary(script_parser *p, script_value *out) {
    static const char *const signs[] = {"-", "+", "~"};
    uint32_t at = p->pos;
    for (size_t i = 0; i < HONE_COUNT(signs); i++) {
        if (!script_take_op(p, signs[i])) continue;
        script_value operand;
        if (i == 0 && takes_least_int(p, at, out)) return true;
        if (!script_enter(p) || !parse_unary(p, &operand)) return false;
        p->depth--;
        return script_unary_value(p, at, signs[i], &operand, out);
    }
    if (!parse_postfix(p, out)) return false;
    at = p->pos;
    if (!script_take_op(p, "**")) return true;
    script_value base = *out, exponent;
    if (!script_enter(p) || !parse_unary(p, &exponent)) return false;
    p->depth--;
    return script_binary_value(p, at, "**", &base, &exponent, out);
}

static const char *operator_at(const script_parser *p, size_t at_level) {
    for (size_t i = 0; i < HONE_COUNT(levels[at_level].ops); i++) {
        const char *op = levels[at_level].ops[i];
        if (op && script_at_op(p, op)) return op;
    }
    return NULL;
}

static bool parse_level(script_parser *p, size_t at_level, script_value *out) {
    if (at_level == LEVEL_COUNT) return parse_unary(p, out);
    if (!parse_level(p, at_level + 1, out)) return false;
    for (;;) {
        uint32_t at = p->pos;
        const char *op = operator_at(p, at_level);
        if (!op) return true;
        p->pos++;
        script_value left = *out, right;
        if (!parse_level(p, at_level + 1, &right)) return false;
        if (!script_binary_value(p, at, op, &left, &right, out)) return false;
    }
}

static const char *comparison_at(const script_parser *p) {
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (size_t i = 0; i < HONE_COUNT(ops); i++) {
        if (script_at_op(p, ops[i])) return ops[i];
    }
    return NULL;
}

/* a < b < c means a < b and b < c. */
static bool parse_comparison(script_parser *p, script_value *out) {
    script_value left;
    if (!parse_level(p, LEVEL_BITOR, &left)) return false;
    *out = left;
    for (bool first = true;; first = false) {
        uint32_t at = p->pos;
        bool is_is = script_take_word(p, "is");
        const char *op = !is_is ? comparison_at(p) : script_take_word(p, "not") ? "!=" : "==";
        if (!op) return true;
        if (!is_is) p->pos++;
        script_value right, one;
        if (!parse_level(p, LEVEL_BITOR, &right)) return false;
        if (is_is && right.kind != SCRIPT_NONE) {
            return script_fail(p, at, "'is' asks for None here; '==' compares values");
        }
        if (!script_binary_value(p, at, op, &left, &right, &one)) return false;
        script_value before = *out;
        if (first) {
            *out = one;
        } else if (!script_binary_value(p, at, "and", &before, &one, out)) {
            return false;
        }
        left = right;
    }
}

static bool parse_not(script_parser *p, script_value *out) {
    uint32_t at = p->pos;
    if (!script_take_word(p, "not")) return parse_comparison(p, out);
    script_value operand;
    if (!script_enter(p) || !parse_not(p, &operand)) return false;
    p->depth--;
    return script_unary_value(p, at, "not", &operand, out);
}

static bool parse_words(script_parser *p, const char *word, script_value *out,
                        bool (*next)(script_parser *, script_value *)) {
    if (!next(p, out)) return false;
    for (;;) {
        uint32_t at = p->pos;
        if (!script_take_word(p, word)) return true;
        script_value left = *out, right;
        if (!next(p, &right)) return false;
        if (!script_binary_value(p, at, word, &left, &right, out)) return false;
    }
}

static bool parse_and(script_parser *p, script_value *out) {
    return parse_words(p, "and", out, parse_not);
}

static bool parse_or(script_parser *p, script_value *out) {
    return parse_words(p, "or", out, parse_and);
}

static bool choose(script_parser *p, uint32_t at, const script_value *cond, const script_value *yes,
                   const script_value *no, script_value *out) {
    if (cond->kind == SCRIPT_BOOL || cond->kind == SCRIPT_INT) {
        *out = cond->u.i ? *yes : *no;
        return true;
    }
    const hone_expr *args[3];
    if (!script_to_expr(p, cond, &args[0]) || !script_to_expr(p, yes, &args[1]) ||
        !script_to_expr(p, no, &args[2])) {
        return false;
    }
    script_unify(&p->ir, &args[1], &args[2]);
    *out = SCRIPT_VALUE_EXPR(
        hone_expr_call(&p->ir, args[1]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args));
    return script_check_ir(p, at);
}

static bool parse_ternary(script_parser *p, script_value *out) {
    if (!script_enter(p)) return false;
    if (!parse_or(p, out)) return false;
    uint32_t at = p->pos;
    if (script_take_word(p, "if")) {
        script_value yes = *out, cond, no;
        if (!parse_or(p, &cond) || !script_need_word(p, "else", "of this conditional"))
            return false;
        if (!parse_ternary(p, &no) || !choose(p, at, &cond, &yes, &no, out)) return false;
        out->at = yes.at;
    }
    p->depth--;
    return true;
}

bool script_parse_expr(script_parser *p, script_value *out) {
    *out = (script_value){.kind = SCRIPT_NONE, .at = p->pos};
    return parse_ternary(p, out);
}

bool script_parse_expr_list(script_parser *p, script_value *out) {
    uint32_t at = p->pos;
    bool star = script_take_op(p, "*");
    if (!script_parse_expr(p, out)) return false;
    if (!script_at_op(p, ",") && !star) return true;
    script_value *items = NULL;
    uint32_t count = 0, capacity = 0;
    script_value item = *out;
    for (;;) {
        if (count > UINT16_MAX) return script_fail(p, p->pos, "too many items");
        if (!script_grow(p, p->scratch, (void **)&items, &capacity, count, sizeof *items)) {
            return false;
        }
        items[count++] = item;
        if (!script_take_op(p, ",")) break;
        py_token_kind kind = script_peek(p)->kind;
        if (kind == PY_TOKEN_NEWLINE || script_at_op(p, "=") || script_at_op(p, ")") ||
            script_at_op(p, "]")) {
            break;
        }
        if (!script_parse_expr(p, &item)) return false;
    }
    *out = (script_value){.kind = SCRIPT_TUPLE, .count = count, .at = at, .u.items = items};
    return true;
}
