/* ir/text/read/script_macro.c - @T.macro and @T.inline: functions whose statements are read anew at
 * each call, with the arguments as the values of their parameters.
 *
 * A macro is the place of its parameter list among the tokens. Names that it does not define itself
 * are those at its definition; with hygienic=False those at the call.
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

enum { MOST_EXPANSIONS = 20000 };

bool script_is_macro(const char *path) {
    return strcmp(path, "T.macro") == 0 || strcmp(path, "T.inline") == 0;
}

/* ---- definitions ---- */

bool script_skip_function(script_parser *p) {
    while (script_peek(p)->kind != PY_TOKEN_NEWLINE) {
        if (script_peek(p)->kind == PY_TOKEN_END) return script_expected(p, "a body", "");
        p->pos++;
    }
    p->pos++;
    if (script_peek(p)->kind != PY_TOKEN_INDENT) return true;
    int depth = 0;
    do {
        if (script_peek(p)->kind == PY_TOKEN_END) return true;
        depth += script_peek(p)->kind == PY_TOKEN_INDENT;
        depth -= script_peek(p)->kind == PY_TOKEN_DEDENT;
        p->pos++;
    } while (depth > 0);
    return true;
}

bool script_define_macro(script_parser *p, bool is_hygienic) {
    const char *name = NULL;
    p->pos++; /* def */
    if (!script_need_name(p, "the name of the macro", &name)) return false;
    script_macro *macro = script_alloc(p, p->scratch, 1, sizeof *macro);
    if (!macro) return false;
    if (!script_at_op(p, "(")) return script_expected(p, "'('", "behind the name of the macro");
    *macro = (script_macro){.name = name, .at = p->pos, .is_hygienic = is_hygienic};
    macro->name_count = p->name_count + 1; /* it may call itself */
    return script_define(p, name, (script_value){.kind = SCRIPT_MACRO, .u.macro = macro}) &&
           script_skip_function(p);
}

/* ---- calls ---- */

typedef struct binding {
    const script_call *call;
    uint32_t next;       /* positional argument */
    uint32_t used_words; /* keywords that a parameter took */
} binding;

static script_value rest_of_arguments(binding *b) {
    script_value rest = {.kind = SCRIPT_TUPLE, .count = b->call->count - b->next};
    if (rest.count) rest.u.items = b->call->args + b->next;
    b->next = b->call->count;
    return rest;
}

static bool is_parameter(const script_parser *p, uint32_t mark, const char *name) {
    for (uint32_t i = mark; i < p->name_count; i++) {
        if (strlen(name) == p->names[i].length && strcmp(p->names[i].name, name) == 0) return true;
    }
    return false;
}

static bool rest_of_keywords(script_parser *p, binding *b, uint32_t mark, script_value *out) {
    script_value *items =
        script_alloc(p, p->scratch, 2 * (size_t)b->call->keyword_count, sizeof *items);
    uint32_t count = 0;
    if (!items) return false;
    for (uint32_t i = 0; i < b->call->keyword_count; i++) {
        const script_keyword *word = &b->call->keywords[i];
        if (is_parameter(p, mark, word->name)) continue;
        items[2 * count] = (script_value){.kind = SCRIPT_STRING, .u.s = word->name};
        items[2 * count++ + 1] = word->value;
    }
    b->used_words += count;
    *out = (script_value){.kind = SCRIPT_DICT, .count = count, .u.items = items};
    return true;
}

static bool find_argument(binding *b, const char *name, bool only_named, script_value *out) {
    const script_call *call = b->call;
    if (!only_named && b->next < call->count) {
        *out = call->args[b->next++];
        return true;
    }
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        if (strcmp(call->keywords[i].name, name) != 0) continue;
        *out = call->keywords[i].value;
        b->used_words++;
        return true;
    }
    return false;
}

/* name, name: type, name=default, *rest, **words */
static bool bind_parameter(script_parser *p, binding *b, uint32_t mark, bool *only_named) {
    const char *name = NULL;
    script_value value = {.kind = SCRIPT_NONE}, ignored;
    bool takes_words = script_take_op(p, "**");
    bool takes_rest = !takes_words && script_take_op(p, "*");
    if (takes_rest && (script_at_op(p, ",") || script_at_op(p, ")"))) {
        return *only_named = true;
    }
    if (!script_need_name(p, "a parameter", &name)) return false;
    bool is_found = true;
    if (takes_words) {
        if (!rest_of_keywords(p, b, mark, &value)) return false;
    } else if (takes_rest) {
        *only_named = true;
        value = rest_of_arguments(b);
    } else {
        is_found = find_argument(b, name, *only_named, &value);
    }
    if (script_take_op(p, ":") && !script_parse_expr(p, &ignored)) return false;
    bool has_default = script_take_op(p, "=");
    if (has_default && !script_parse_expr(p, is_found ? &ignored : &value)) return false;
    if (!is_found && !has_default) {
        return script_fail(p, b->call->at, "%s: argument '%s' is missing", b->call->callee, name);
    }
    value.is_fresh = false;
    return script_define(p, name, value);
}

static bool bind_parameters(script_parser *p, const script_call *call) {
    binding b = {.call = call};
    bool only_named = false;
    uint32_t mark = p->name_count;
    if (!script_need_op(p, "(", "of the parameters")) return false;
    while (!script_at_op(p, ")")) {
        if (!bind_parameter(p, &b, mark, &only_named)) return false;
        if (!script_take_op(p, ",")) break;
    }
    if (!script_need_op(p, ")", "or ','")) return false;
    if (b.next < call->count) {
        return script_fail(p, call->at, "%s takes %u argument%s, %u given", call->callee, b.next,
                           b.next == 1 ? "" : "s", call->count);
    }
    for (uint32_t i = 0; i < call->keyword_count && b.used_words < call->keyword_count; i++) {
        if (is_parameter(p, mark, call->keywords[i].name)) continue;
        return script_fail(p, call->keywords[i].value.at, "%s takes no argument '%s'", call->callee,
                           call->keywords[i].name);
    }
    script_value ignored;
    return !script_take_op(p, "->") || script_parse_expr(p, &ignored);
}

bool script_call_macro(script_parser *p, const script_macro *macro, const script_call *call,
                       script_value *out) {
    *out = (script_value){.kind = SCRIPT_NONE};
    if (!p->func && macro->kind == SCRIPT_STATEMENTS) {
        return script_fail(p, call->at, "'%s' is called outside of a tensor program", macro->name);
    }
    if (p->expansions++ > MOST_EXPANSIONS || !script_enter(p)) {
        return script_fail(p, call->at, "macros are expanded too often");
    }
    if (p->func && macro->kind == SCRIPT_FACTORY) {
        return script_fail(p, call->at, "'%s' defines programs and cannot be called in one",
                           macro->name);
    }
    static const script_statement statements[] = {
        [SCRIPT_STATEMENTS] = script_parse_statement,
        [SCRIPT_HELPER] = script_helper_statement,
        [SCRIPT_FACTORY] = script_factory_statement,
    };
    bool has_returned = p->has_returned;
    p->has_returned = false;
    uint32_t pos = p->pos, names = p->name_count;
    uint32_t hidden_begin = p->hidden_begin, hidden_end = p->hidden_end;
    p->pos = macro->at;
    bool ok = bind_parameters(p, call);
    if (macro->is_hygienic) {
        p->hidden_begin = macro->name_count;
        p->hidden_end = names;
    }
    ok = ok && script_suite(p, statements[macro->kind]);
    if (ok && macro->kind == SCRIPT_HELPER && p->has_returned) {
        *out = p->returned;
        out->is_fresh = false;
    }
    p->has_returned = has_returned;
    p->hidden_begin = hidden_begin;
    p->hidden_end = hidden_end;
    p->name_count = names;
    p->pos = pos;
    p->depth--;
    return ok;
}
