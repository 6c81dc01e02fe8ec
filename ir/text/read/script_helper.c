/* ir/text/read/script_helper.c - Python functions beside the programs, read anew at each call as
 * macros are.
 *
 *   def index(i, j):                      a helper: assignments, ifs over constants, a return
 *       row = i // 16
 *       return row * 16 + j
 *
 *   def make(n, dtype="float32"):         a factory: holds programs, which its call defines
 *       @T.prim_func
 *       def main(A: T.Buffer((n,), dtype)): ...
 *       return main
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

/* ---- definitions ---- */

typedef struct facts {
    bool has_return, has_decorator;
    bool has_types; /* parameters that are those of a program, which lacks its decorator */
} facts;

static bool is_token(const script_parser *p, uint32_t at, const char *text) {
    return p->tokens[at].length == strlen(text) &&
           memcmp(p->source.text + p->tokens[at].start, text, p->tokens[at].length) == 0;
}

/* From '(' to the end of the body. */
static facts look_over(const script_parser *p, uint32_t at) {
    facts f = {0};
    int depth = 0;
    for (; p->tokens[at].kind != PY_TOKEN_NEWLINE; at++) {
        if (p->tokens[at].kind == PY_TOKEN_END) return f;
        f.has_types |= is_token(p, at, "Buffer") || is_token(p, at, "handle") ||
                       is_token(p, at, "Tensor") || is_token(p, at, "match_buffer");
        f.has_return |= is_token(p, at, "return");
    }
    for (at++; p->tokens[at].kind != PY_TOKEN_END; at++) {
        depth += p->tokens[at].kind == PY_TOKEN_INDENT;
        depth -= p->tokens[at].kind == PY_TOKEN_DEDENT;
        if (depth <= 0) break;
        f.has_decorator |= is_token(p, at, "@") && p->tokens[at - 1].kind != PY_TOKEN_NAME &&
                           p->tokens[at + 1].kind == PY_TOKEN_NAME;
        f.has_return |= is_token(p, at, "return");
    }
    return f;
}

bool script_define_helper(script_parser *p, const char *name, bool *out_is_helper) {
    *out_is_helper = false;
    if (!script_at_op(p, "(")) return true;
    facts f = look_over(p, p->pos);
    if (!f.has_decorator && (f.has_types || !f.has_return)) return true;
    script_macro *macro = script_alloc(p, p->scratch, 1, sizeof *macro);
    if (!macro) return false;
    *macro = (script_macro){.name = name,
                            .at = p->pos,
                            .is_hygienic = true,
                            .kind = f.has_decorator ? SCRIPT_FACTORY : SCRIPT_HELPER};
    if (f.has_decorator) {
        macro->next = p->factories;
        p->factories = macro;
    }
    macro->name_count = p->name_count + 1;
    *out_is_helper = true;
    return script_define(p, name, (script_value){.kind = SCRIPT_MACRO, .u.macro = macro}) &&
           script_skip_function(p);
}

/* ---- statements ---- */

static bool parse_return(script_parser *p) {
    p->pos++;
    p->has_returned = true;
    p->returned = (script_value){.kind = SCRIPT_NONE};
    if (script_peek(p)->kind == PY_TOKEN_NEWLINE) return script_need_newline(p);
    return script_parse_expr_list(p, &p->returned) && script_need_newline(p);
}

static bool parse_if(script_parser *p) {
    bool is_taken = false, holds = false;
    do {
        bool has_condition = !script_at_word(p, "else");
        p->pos++;
        if (has_condition && !is_taken) {
            script_value v;
            if (!script_parse_expr(p, &v) || !script_to_bool(p, &v, &holds)) return false;
        }
        bool take = !is_taken && (!has_condition || holds);
        is_taken |= take;
        if (!(take ? script_suite(p, script_helper_statement) : script_skip_function(p)))
            return false;
    } while (script_at_word(p, "elif") || script_at_word(p, "else"));
    return true;
}

static bool parse_assignment(script_parser *p) {
    enum { MOST = 32 };
    const char *names[MOST];
    uint32_t count = 0, have = 1, at = p->pos;
    do {
        if (count == MOST) return script_fail(p, p->pos, "too many names");
        if (!script_need_name(p, "a name", &names[count++])) return false;
    } while (script_take_op(p, ","));
    script_value v;
    const script_value *items = &v;
    if (!script_need_op(p, "=", "of an assignment") || !script_parse_expr_list(p, &v)) return false;
    if (count > 1) script_items(&v, &items, &have);
    if (have != count)
        return script_fail(p, at, "%u names for %u value%s", count, have, have == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++) {
        script_value item = items[i];
        item.is_fresh = false;
        if (!script_define(p, names[i], item)) return false;
    }
    return script_need_newline(p);
}

bool script_helper_statement(script_parser *p) {
    if (p->has_returned) return script_skip_function(p);
    if (script_at_word(p, "return")) return parse_return(p);
    if (script_at_word(p, "if")) return parse_if(p);
    if (script_take_word(p, "pass")) return script_need_newline(p);
    if (script_peek(p)->kind == PY_TOKEN_TEXT) {
        script_skip_line(p);
        return true;
    }
    if (script_peek(p)->kind == PY_TOKEN_NAME &&
        (script_at_op_ahead(p, 1, "=") || script_at_op_ahead(p, 1, ","))) {
        return parse_assignment(p);
    }
    return script_expected(p, "an assignment, an if over constants or a return",
                           "in a Python function that a program calls");
}

/* ---- factories ---- */

bool script_factory_statement(script_parser *p) {
    if (script_at_word(p, "return")) {
        script_skip_line(p);
        return true;
    }
    return script_parse_top(p);
}

static bool is_op_at(const script_parser *p, uint32_t at, const char *ops) {
    const py_token *t = &p->tokens[at];
    return t->kind == PY_TOKEN_OP && t->length == 1 && strchr(ops, p->source.text[t->start]);
}

/* The first parameter that has no default, its token; 0 where all have one. */
static uint32_t needed_parameter(const script_parser *p, const script_macro *factory) {
    uint32_t depth = 0, name = 0;
    for (uint32_t at = factory->at; at + 1 < p->token_count; at++) {
        bool opens = is_op_at(p, at, "([{"), closes = is_op_at(p, at, ")]}");
        bool ends = depth == 1 && (is_op_at(p, at, ",") || closes);
        depth += opens;
        depth -= closes;
        if (ends && name) return name;
        if (depth == 1 && is_op_at(p, at, "=")) name = 0;
        bool begins = depth == 1 && (opens || ends);
        if (begins && p->tokens[at + 1].kind == PY_TOKEN_NAME) name = at + 1;
        if (!depth) break;
    }
    return 0;
}

bool script_fail_empty(script_parser *p) {
    const script_macro *first = NULL;
    for (const script_macro *m = p->factories; m; m = m->next) {
        if (needed_parameter(p, m)) first = m;
    }
    if (!first) return script_fail(p, p->pos, "expected a function or a module, found nothing");
    const char *name = script_token_text(p, &p->tokens[needed_parameter(p, first)]);
    return name && script_fail(p, first->at - 1,
                               "nothing calls '%s', whose parameter '%s' has no default; there is "
                               "no other program",
                               first->name, name);
}

/* Those that nothing calls, in a text that has no other programs; first come first. */
bool script_call_factories(script_parser *p, const script_macro *last) {
    if (!last) return true;
    if (!script_call_factories(p, last->next)) return false;
    if (needed_parameter(p, last)) return true;
    script_call call = {.callee = last->name, .at = last->at - 1};
    script_value ignored;
    return script_call_macro(p, last, &call, &ignored);
}
