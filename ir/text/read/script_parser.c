/* ir/text/read/script_parser.c - what every part of the reader stands on: failing with a place,
 * suites, growing arrays, names and their scopes. */
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
    hone_str text = {0};
    hone_str_vprintf(&text, format, args);
    p->error = py_error_at_byte(&p->source, code, at, hone_str_text(&text));
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

bool script_keep(script_parser *p, hone_status st) {
    if (!st) return true;
    if (p->error) {
        hone_status_free(st);
    } else {
        p->error = st;
    }
    return false;
}

hone_status script_pass(script_parser *p, bool ok) {
    hone_status st = p->error;
    if (ok) return HONE_OK;
    p->error = HONE_OK;
    return st ? st : HONE_ERROR(HONE_CODE_INTERNAL, "reading failed without a reason");
}

bool script_check(script_parser *p, uint32_t at, hone_status st) {
    if (!st) return true;
    hone_code code = hone_status_code(st);
    if (p->error || code == HONE_CODE_NO_MEMORY) return script_keep(p, st);
    if (code == HONE_CODE_TYPE) script_fail_type(p, at, "%s", hone_status_message(st));
    if (code != HONE_CODE_TYPE) script_fail(p, at, "%s", hone_status_message(st));
    hone_status_free(st);
    return false;
}

bool script_check_ir(script_parser *p, uint32_t at) {
    return script_check(p, at, hone_ir_finish(&p->ir));
}

const char *script_kind_name(const py_value *v) {
    switch (v->kind) {
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
    default:
        return py_kind_name(v);
    }
}

bool script_enter(script_parser *p, uint32_t at) {
    return script_keep(p, py_descend(&p->run, at));
}

/* ---- the text ---- */

bool script_cut(script_parser *p, uint32_t at, const py_token **out_tokens, uint32_t *out_count,
                uint32_t *out_here) {
    py_token *tokens = NULL;
    if (!script_check(p, at, py_lex(&p->source, p->scratch, &tokens, out_count))) return false;
    *out_tokens = tokens;
    for (*out_here = 0; *out_here + 1 < *out_count; ++*out_here) {
        const py_token *t = &tokens[*out_here];
        bool is_end = t->kind == PY_TOKEN_NEWLINE && t->start >= at;
        if (is_end || (t->length && t->start + t->length > at)) break;
    }
    return true;
}

bool script_expected(script_parser *p, uint32_t at, const char *what) {
    char found[80];
    const py_token *tokens;
    uint32_t count, here;
    if (p->error || !script_cut(p, at, &tokens, &count, &here)) return false;
    py_describe_token(&p->source, &tokens[here], found, sizeof found);
    return script_fail(p, tokens[here].start, "expected %s, found %s", what, found);
}

bool script_can_be_name(const char *text) {
    return py_lexes_as_name(text) && !py_is_keyword(text, strlen(text));
}

bool script_is_text(const script_parser *p, const py_node *node, const char *text) {
    size_t length = strlen(text);
    return node->kind == PY_TEXT && node->end - node->at == length + 2 &&
           memcmp(p->source.text + node->at + 1, text, length) == 0;
}

const char *script_word_of_t(const py_node *node) {
    if (node && node->kind == PY_CALL) node = node->base;
    bool is_member = node && node->kind == PY_ATTRIBUTE && node->base->kind == PY_NAME;
    return is_member && strcmp(node->base->name, "T") == 0 ? node->name : NULL;
}

uint32_t script_name_at(const script_parser *p, const py_node *def) {
    uint32_t at = def->mark + 3; /* behind "def" */
    while (memcmp(p->source.text + at, def->name, strlen(def->name)) != 0)
        at++;
    return at;
}

const py_node *script_body(const py_node *def) {
    return def->items[def->count - 1];
}

bool script_suite(script_parser *p, const py_node *suite, script_statement statement) {
    const py_name *outer = p->suite_begin;
    if (!script_enter(p, suite->at)) return false;
    p->suite_begin = py_newest(&p->run);
    for (uint32_t i = 0; i < suite->count; i++) {
        p->run.at = suite->items[i]->at;
        if (!statement(p, suite->items[i])) return false;
    }
    p->suite_begin = outer;
    p->run.depth--;
    return true;
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

bool script_define(script_parser *p, const char *name, py_value value) {
    return script_keep(p, py_hide(&p->run, name, &value));
}

const py_value *script_lookup(const script_parser *p, const char *name) {
    return py_find(&p->run, name);
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
