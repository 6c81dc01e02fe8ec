/* ir/text/read/script_parser.c - what every part of the parser stands on: failing with a place,
 * tokens, growing arrays, names and their scopes. */
#include "ir/text/read/script_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/text/nearest.h"

/* ---- failing ---- */

static bool fail_with(script_parser *p, hone_code code, uint32_t at, const char *format,
                      va_list args) HONE_PRINTF(4, 0);
static bool fail_with(script_parser *p, hone_code code, uint32_t at, const char *format,
                      va_list args) {
    if (p->error) return false;
    if (at >= p->token_count) at = p->token_count - 1;
    hone_str text = {0};
    hone_str_vprintf(&text, format, args);
    const py_token *token = &p->tokens[at];
    p->error = py_error_at(&p->source, code, token->line, token->column, hone_str_text(&text));
    hone_str_deinit(&text);
    return false;
}

bool script_fail(script_parser *p, uint32_t at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_with(p, HONE_CODE_INVALID, at, format, args);
    va_end(args);
    return false;
}

bool script_fail_type(script_parser *p, uint32_t at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_with(p, HONE_CODE_TYPE, at, format, args);
    va_end(args);
    return false;
}

bool script_no_memory(script_parser *p) {
    if (!p->error) p->error = HONE_ERROR(HONE_CODE_NO_MEMORY, "program text");
    return false;
}

bool script_check(script_parser *p, uint32_t at, hone_status st) {
    if (!st) return true;
    hone_code code = hone_status_code(st);
    if (p->error || code == HONE_CODE_NO_MEMORY) {
        if (!p->error) {
            p->error = st;
        } else {
            hone_status_free(st);
        }
        return false;
    }
    if (code == HONE_CODE_TYPE) script_fail_type(p, at, "%s", hone_status_message(st));
    if (code != HONE_CODE_TYPE) script_fail(p, at, "%s", hone_status_message(st));
    hone_status_free(st);
    return false;
}

bool script_check_ir(script_parser *p, uint32_t at) {
    return script_check(p, at, hone_ir_finish(&p->ir));
}

const char *script_kind_name(const script_value *v) {
    switch (v->kind) {
    case SCRIPT_NONE:
        return "None";
    case SCRIPT_ELLIPSIS:
        return "'...'";
    case SCRIPT_BOOL:
        return "a bool";
    case SCRIPT_INT:
    case SCRIPT_HUGE:
        return "an integer";
    case SCRIPT_FLOAT:
        return "a float";
    case SCRIPT_STRING:
        return "a string";
    case SCRIPT_TUPLE:
        return "a tuple";
    case SCRIPT_LIST:
        return "a list";
    case SCRIPT_DICT:
        return "a dictionary";
    case SCRIPT_SLICE:
        return "a slice";
    case SCRIPT_PATH:
        return "a name that is no value";
    case SCRIPT_METHOD:
        return "a method";
    case SCRIPT_EXPR:
        return "an expression";
    case SCRIPT_NEWVAR:
        return "a new variable";
    case SCRIPT_BUFFER:
        return "a buffer";
    case SCRIPT_ACCESS:
        return "a buffer access";
    case SCRIPT_LOOP:
        return "a loop range";
    case SCRIPT_FRAME:
        return "a statement that needs 'with'";
    case SCRIPT_THREAD:
        return "a thread";
    case SCRIPT_MACRO:
        return "a macro";
    case SCRIPT_GARG:
        return "a graph value";
    case SCRIPT_SINFO:
        return "a type";
    case SCRIPT_GLOBAL:
    case SCRIPT_LOCAL:
        return "a function";
    case SCRIPT_MODULE:
        return "the module";
    case SCRIPT_DTYPE:
        return "a dtype";
    case SCRIPT_LAMBDA:
        return "a lambda";
    case SCRIPT_FUNCTION:
        return "an index map or a reducer";
    }
    return "a value";
}

bool script_enter(script_parser *p) {
    if (p->depth >= PY_MAX_DEPTH) {
        return script_fail(p, p->pos, "nested too deeply (more than %d levels)", PY_MAX_DEPTH);
    }
    p->depth++;
    return true;
}

/* ---- tokens ---- */

const py_token *script_peek(const script_parser *p) {
    return &p->tokens[p->pos];
}

bool script_token_is(const script_parser *p, uint32_t at, py_token_kind kind, const char *text) {
    return at < p->token_count && py_token_is(&p->source, &p->tokens[at], kind, text);
}

bool script_at_op(const script_parser *p, const char *op) {
    return script_token_is(p, p->pos, PY_TOKEN_OP, op);
}

bool script_at_op_ahead(const script_parser *p, uint32_t ahead, const char *op) {
    return script_token_is(p, p->pos + ahead, PY_TOKEN_OP, op);
}

bool script_at_word(const script_parser *p, const char *word) {
    return script_token_is(p, p->pos, PY_TOKEN_NAME, word);
}

bool script_take_op(script_parser *p, const char *op) {
    if (!script_at_op(p, op)) return false;
    p->pos++;
    return true;
}

bool script_take_word(script_parser *p, const char *word) {
    if (!script_at_word(p, word)) return false;
    p->pos++;
    return true;
}

bool script_expected(script_parser *p, const char *what, const char *where) {
    char found[80];
    py_describe_token(&p->source, script_peek(p), found, sizeof found);
    return script_fail(p, p->pos, "expected %s%s%s, found %s", what, *where ? " " : "", where,
                       found);
}

bool script_expected_hint(script_parser *p, const char *what, const char *hint) {
    char found[80];
    py_describe_token(&p->source, script_peek(p), found, sizeof found);
    return script_fail(p, p->pos, "expected %s, found %s%s", what, found, hint);
}

bool script_need_op(script_parser *p, const char *op, const char *where) {
    if (script_take_op(p, op)) return true;
    char quoted[16];
    snprintf(quoted, sizeof quoted, "'%s'", op);
    return script_expected(p, quoted, where);
}

bool script_need_word(script_parser *p, const char *word, const char *where) {
    if (script_take_word(p, word)) return true;
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", word);
    return script_expected(p, quoted, where);
}

bool script_is_keyword(const script_parser *p, const py_token *token) {
    return py_is_keyword(p->source.text + token->start, token->length);
}

bool script_can_be_name(const char *text) {
    return py_lexes_as_name(text) && !py_is_keyword(text, strlen(text));
}

const char *script_token_text(script_parser *p, const py_token *token) {
    char *copy = hone_arena_alloc(p->scratch, token->length + 1);
    if (!copy) {
        script_no_memory(p);
        return NULL;
    }
    memcpy(copy, p->source.text + token->start, token->length);
    copy[token->length] = '\0';
    return copy;
}

bool script_need_name(script_parser *p, const char *what, const char **out_name) {
    const py_token *t = script_peek(p);
    *out_name = NULL;
    if (t->kind != PY_TOKEN_NAME || script_is_keyword(p, t)) return script_expected(p, what, "");
    *out_name = script_token_text(p, t);
    p->pos++;
    return *out_name != NULL;
}

bool script_need_newline(script_parser *p) {
    if (script_take_op(p, ";")) return true;
    if (script_peek(p)->kind == PY_TOKEN_NEWLINE) {
        p->pos++;
        return true;
    }
    if (script_peek(p)->kind == PY_TOKEN_END) return true;
    if (script_at_op(p, ":") && p->tokens[p->pos + 1].kind == PY_TOKEN_NEWLINE) {
        return script_fail(p, p->pos,
                           "expected the end of the line, found ':'; what has a body begins with "
                           "'with', 'for', 'while' or 'if'");
    }
    bool closes = script_at_op(p, ")") || script_at_op(p, "]") || script_at_op(p, "}");
    return script_expected_hint(p, "the end of the line",
                                closes ? "; no bracket is open here" : "");
}

void script_skip_line(script_parser *p) {
    while (script_peek(p)->kind != PY_TOKEN_END) {
        if (p->tokens[p->pos++].kind == PY_TOKEN_NEWLINE) return;
    }
}

static bool read_suite(script_parser *p, script_statement statement) {
    if (script_at_op(p, "=")) {
        return script_fail(p, p->pos, "expected ':' before the body, found '='; '==' compares");
    }
    bool is_else_if = script_at_word(p, "if") && p->pos > 0 &&
                      script_token_is(p, p->pos - 1, PY_TOKEN_NAME, "else");
    if (is_else_if) {
        return script_fail(p, p->pos, "expected ':' before the body, found 'if'; write 'elif'");
    }
    if (!script_need_op(p, ":", "before the body")) return false;
    if (script_peek(p)->kind != PY_TOKEN_NEWLINE) { /* `if x: y = 1` */
        do {
            if (!statement(p)) return false;
        } while (p->tokens[p->pos - 1].kind == PY_TOKEN_OP &&
                 script_peek(p)->kind != PY_TOKEN_NEWLINE);
        if (p->tokens[p->pos - 1].kind == PY_TOKEN_OP) p->pos++;
        return true;
    }
    p->pos++;
    if (script_peek(p)->kind != PY_TOKEN_INDENT) return script_expected(p, "an indented body", "");
    p->pos++;
    if (!script_enter(p)) return false;
    while (script_peek(p)->kind != PY_TOKEN_DEDENT && script_peek(p)->kind != PY_TOKEN_END) {
        if (script_peek(p)->kind == PY_TOKEN_INDENT) {
            return script_expected(p, "a statement", "at this indentation");
        }
        if (script_peek(p)->kind == PY_TOKEN_NEWLINE) { /* behind `a; ` */
            p->pos++;
            continue;
        }
        if (!statement(p)) return false;
    }
    if (script_peek(p)->kind == PY_TOKEN_DEDENT) p->pos++;
    p->depth--;
    return true;
}

bool script_suite(script_parser *p, script_statement statement) {
    uint32_t outer = p->scope_begin;
    p->scope_begin = p->name_count;
    bool ok = read_suite(p, statement);
    p->scope_begin = outer;
    return ok;
}

/* ---- memory ---- */

void *script_alloc(script_parser *p, hone_arena *arena, size_t count, size_t item_bytes) {
    void *memory = hone_arena_zalloc(arena, (count ? count : 1) * item_bytes);
    if (!memory) script_no_memory(p);
    return memory;
}

bool script_grow(script_parser *p, hone_arena *arena, void **items, uint32_t *capacity,
                 uint32_t count, size_t item_bytes) {
    if (count < *capacity) return true;
    uint32_t wider = *capacity ? *capacity * 2 : 8;
    void *grown = script_alloc(p, arena, wider, item_bytes);
    if (!grown) return false;
    if (count) memcpy(grown, *items, count * item_bytes);
    *items = grown;
    *capacity = wider;
    return true;
}

const char *script_strdup(script_parser *p, const char *text) {
    const char *copy = hone_arena_strdup(p->arena, text);
    if (!copy) script_no_memory(p);
    return copy;
}

/* ---- names ---- */

bool script_define(script_parser *p, const char *name, script_value value) {
    if (!script_grow(p, p->scratch, (void **)&p->names, &p->name_capacity, p->name_count,
                     sizeof *p->names)) {
        return false;
    }
    p->names[p->name_count++] = (script_name){.name = name, .length = strlen(name), .value = value};
    return true;
}

const script_value *script_lookup(const script_parser *p, const char *name) {
    size_t length = strlen(name);
    for (uint32_t i = p->name_count; i-- > 0;) {
        if (i >= p->hidden_begin && i < p->hidden_end) continue;
        if (p->names[i].length == length && memcmp(p->names[i].name, name, length) == 0) {
            return &p->names[i].value;
        }
    }
    return NULL;
}

const char *script_nearest(const char *name, const char *const *candidates, size_t count) {
    const char *best = NULL;
    const char *dot = strrchr(name, '.'); /* what is before it is the same in all of them */
    size_t length = strlen(dot ? dot + 1 : name), limit = length / 3 + 1;
    size_t least = limit < length ? limit + 1 : length; /* one letter is like no other */
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, candidates[i]) == 0) continue;
        if (hone_name_is_same_but_case(name, candidates[i])) return candidates[i];
        size_t d = hone_name_distance(name, candidates[i]);
        if (d < least) {
            least = d;
            best = candidates[i];
        }
    }
    return best;
}
