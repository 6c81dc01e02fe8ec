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

static bool is_word_of_programs(void *ctx, const py_node *node) {
    static const char *const words[] = {"Buffer", "handle", "Tensor", "match_buffer"};
    (void)ctx;
    bool is_word = node->kind == PY_NAME || node->kind == PY_ATTRIBUTE;
    for (size_t i = 0; is_word && i < HONE_COUNT(words); i++) {
        if (strcmp(words[i], node->name) == 0) return true;
    }
    return false;
}

static bool is_decorated(void *ctx, const py_node *node) {
    (void)ctx;
    return (node->kind == PY_DEF || node->kind == PY_CLASS) && node->count_ahead;
}

static bool is_return(void *ctx, const py_node *node) {
    (void)ctx;
    return node->kind == PY_RETURN;
}

/* Parameters that are those of a program, which lacks its decorator. */
static bool has_types(const py_node *def) {
    for (uint32_t i = def->count_ahead; i + 1 < def->count; i++) {
        if (py_search(def->items[i], is_word_of_programs, NULL)) return true;
    }
    return false;
}

bool script_define_helper(script_parser *p, const py_node *def, bool *out_is_helper) {
    bool is_factory = py_search(script_body(def), is_decorated, NULL) != NULL;
    *out_is_helper =
        is_factory || (!has_types(def) && py_search(script_body(def), is_return, NULL));
    if (!*out_is_helper) return true;
    return script_define_macro(p, def, is_factory ? SCRIPT_FACTORY : SCRIPT_HELPER, true);
}

/* ---- statements ---- */

static bool run_return(script_parser *p, const py_node *node) {
    p->has_returned = true;
    p->returned = (py_value){.kind = PYV_NONE};
    return !node->base || script_eval(p, node->base, &p->returned);
}

static bool run_if(script_parser *p, const py_node *node) {
    for (uint32_t i = 0; i + 1 < node->count; i += 2) {
        py_value v;
        bool holds = false;
        if (!script_eval(p, node->items[i], &v) || !script_to_bool(p, &v, &holds)) return false;
        if (holds) return script_suite(p, node->items[i + 1], script_helper_statement);
    }
    return node->count % 2 == 0 ||
           script_suite(p, node->items[node->count - 1], script_helper_statement);
}

static bool run_assignment(script_parser *p, const py_node *node) {
    const char *names[SCRIPT_MOST_NAMES];
    const py_value *items;
    uint32_t count;
    if (!script_eval_assignment(p, node, names, &items, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        py_value item = items[i];
        item.is_fresh = false;
        if (!script_define(p, names[i], item)) return false;
    }
    return true;
}

bool script_helper_statement(script_parser *p, const py_node *node) {
    if (p->has_returned || node->kind == PY_PASS || script_is_docstring(node)) return true;
    if (node->kind == PY_RETURN) return run_return(p, node);
    if (node->kind == PY_IF) return run_if(p, node);
    if (node->kind == PY_ASSIGN) return run_assignment(p, node);
    return script_expected(p, node->at,
                           "an assignment, an if over constants or a return in a Python function "
                           "that a program calls");
}

/* ---- factories ---- */

bool script_factory_statement(script_parser *p, const py_node *node) {
    return node->kind == PY_RETURN || script_parse_top(p, node);
}

/* The first parameter that has no default; NULL where all have one. */
static const char *needed_parameter(const script_macro *factory) {
    const py_node *def = factory->def;
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++) {
        const py_node *param = def->items[i];
        if (param->name && param->op == PY_NO_OP && !param->items[1]) return param->name;
    }
    return NULL;
}

bool script_fail_empty(script_parser *p) {
    const script_macro *first = NULL;
    for (const script_macro *m = p->factories; m; m = m->next) {
        if (needed_parameter(m)) first = m;
    }
    if (!first) {
        return script_fail(p, (uint32_t)p->source.length,
                           "expected a function or a module, found nothing");
    }
    return script_fail(p, script_name_at(p, first->def),
                       "nothing calls '%s', whose parameter '%s' has no default; there is no other "
                       "program",
                       first->def->name, needed_parameter(first));
}

/* Those that nothing calls, in a text that has no other programs; first come first. */
bool script_call_factories(script_parser *p, const script_macro *last) {
    if (!last) return true;
    if (!script_call_factories(p, last->next)) return false;
    if (needed_parameter(last)) return true;
    script_call call = {.callee = last->def->name, .at = script_name_at(p, last->def)};
    py_value ignored;
    return script_call_macro(p, last, &call, &ignored);
}
