/* ir/text/read/script_macro.c - @T.macro and @T.inline: functions whose statements are read anew at
 * each call, with the arguments as the values of their parameters.
 *
 * Names that a macro does not define itself are those at its definition; with hygienic=False those
 * at the call.
 */
#include "ir/text/read/script_impl.h"

#include <string.h>

enum { MOST_EXPANSIONS = 20000 };

bool script_is_macro(const char *path) {
    return strcmp(path, "T.macro") == 0 || strcmp(path, "T.inline") == 0;
}

/* ---- definitions ---- */

bool script_define_macro(script_parser *p, const py_node *def, script_macro_kind kind,
                         bool is_hygienic) {
    script_macro *macro = script_alloc(p, p->scratch, 1, sizeof *macro);
    if (!macro) return false;
    *macro = (script_macro){.def = def, .is_hygienic = is_hygienic, .kind = kind};
    macro->name_count = p->name_count + 1; /* it may call itself */
    if (kind == SCRIPT_FACTORY) {
        macro->next = p->factories;
        p->factories = macro;
    }
    return script_define(p, def->name, (py_value){.kind = SCRIPT_MACRO, .u.host = macro});
}

/* ---- calls ---- */

typedef struct binding {
    const script_call *call;
    uint32_t next;       /* positional argument */
    uint32_t used_words; /* keywords that a parameter took */
} binding;

static py_value rest_of_arguments(binding *b) {
    py_value rest = {.kind = PYV_TUPLE, .count = b->call->count - b->next};
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

static bool rest_of_keywords(script_parser *p, binding *b, uint32_t mark, py_value *out) {
    py_value *items =
        script_alloc(p, p->scratch, 2 * (size_t)b->call->keyword_count, sizeof *items);
    uint32_t count = 0;
    if (!items) return false;
    for (uint32_t i = 0; i < b->call->keyword_count; i++) {
        const py_word *word = &b->call->keywords[i];
        if (is_parameter(p, mark, word->name)) continue;
        items[2 * count] = (py_value){.kind = PYV_STRING, .u.s = word->name};
        items[2 * count++ + 1] = word->value;
    }
    b->used_words += count;
    *out = (py_value){.kind = PYV_DICT, .count = count, .u.items = items};
    return true;
}

static bool find_argument(binding *b, const char *name, bool only_named, py_value *out) {
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
static bool bind_parameter(script_parser *p, binding *b, uint32_t mark, const py_node *param,
                           bool *only_named) {
    py_value value = {.kind = PYV_NONE};
    bool is_found = true;
    if (!param->name) { /* "*" alone, or "/" */
        *only_named |= param->op == PY_ONE_STAR;
        return true;
    }
    if (param->op == PY_TWO_STARS) {
        if (!rest_of_keywords(p, b, mark, &value)) return false;
    } else if (param->op == PY_ONE_STAR) {
        *only_named = true;
        value = rest_of_arguments(b);
    } else {
        is_found = find_argument(b, param->name, *only_named, &value);
    }
    if (!is_found && !param->items[1]) {
        return script_fail(p, b->call->at, "%s: argument '%s' is missing", b->call->callee,
                           param->name);
    }
    if (!is_found && !script_eval(p, param->items[1], &value)) return false;
    value.is_fresh = false;
    return script_define(p, param->name, value);
}

static bool bind_parameters(script_parser *p, const py_node *def, const script_call *call) {
    binding b = {.call = call};
    bool only_named = false;
    uint32_t mark = p->name_count;
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++) {
        if (!bind_parameter(p, &b, mark, def->items[i], &only_named)) return false;
    }
    if (b.next < call->count) {
        return script_fail(p, call->at, "%s takes %u argument%s, %u given", call->callee, b.next,
                           b.next == 1 ? "" : "s", call->count);
    }
    for (uint32_t i = 0; i < call->keyword_count && b.used_words < call->keyword_count; i++) {
        if (is_parameter(p, mark, call->keywords[i].name)) continue;
        return script_fail(p, call->keywords[i].value.at, "%s takes no argument '%s'", call->callee,
                           call->keywords[i].name);
    }
    return true;
}

bool script_call_macro(script_parser *p, const script_macro *macro, const script_call *call,
                       py_value *out) {
    *out = (py_value){.kind = PYV_NONE};
    const char *name = macro->def->name;
    if (!p->func && macro->kind == SCRIPT_STATEMENTS) {
        return script_fail(p, call->at, "'%s' is called outside of a tensor program", name);
    }
    if (p->expansions++ > MOST_EXPANSIONS || !script_enter(p, call->at)) {
        return script_fail(p, call->at, "macros are expanded too often");
    }
    if (p->func && macro->kind == SCRIPT_FACTORY) {
        return script_fail(p, call->at, "'%s' defines programs and cannot be called in one", name);
    }
    static const script_statement statements[] = {
        [SCRIPT_STATEMENTS] = script_parse_statement,
        [SCRIPT_HELPER] = script_helper_statement,
        [SCRIPT_FACTORY] = script_factory_statement,
    };
    bool has_returned = p->has_returned;
    p->has_returned = false;
    uint32_t names = p->name_count;
    uint32_t hidden_begin = p->hidden_begin, hidden_end = p->hidden_end;
    bool ok = bind_parameters(p, macro->def, call);
    if (macro->is_hygienic) {
        p->hidden_begin = macro->name_count;
        p->hidden_end = names;
    }
    ok = ok && script_suite(p, script_body(macro->def), statements[macro->kind]);
    if (ok && macro->kind == SCRIPT_HELPER && p->has_returned) {
        *out = p->returned;
        out->is_fresh = false;
    }
    p->has_returned = has_returned;
    p->hidden_begin = hidden_begin;
    p->hidden_end = hidden_end;
    p->name_count = names;
    p->run.depth--;
    return ok;
}
