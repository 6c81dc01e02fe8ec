/* ir/text/read/script_macro.c - functions of a text that are no programs: Python calls them, and
 * here is what their bodies do.
 *
 *   @T.macro                              statements of the program that calls it; also @T.inline
 *   def fill(A, value): ...
 *
 *   def index(i, j):                      a helper: Python, with expressions of the program as
 *       row = i // 16                     values
 *       return row * 16 + j
 *
 *   def make(n, dtype="float32"):         a factory: holds programs, which its call defines
 *       @T.prim_func
 *       def main(A: T.Buffer((n,), dtype)): ...
 *       return main
 *
 * Names that a body does not define itself are those at its definition; with hygienic=False those
 * at the call.
 */
#include <string.h>

#include "ir/text/read/script_impl.h"

bool script_is_macro(const char *path) {
    return strcmp(path, "T.macro") == 0 || strcmp(path, "T.inline") == 0;
}

/* ---- definitions ---- */

bool script_define_macro(script_parser *p, const py_node *def, script_macro_kind kind,
                         bool is_hygienic) {
    script_macro *macro = script_alloc(p, p->scratch, 1, sizeof *macro);
    py_value func;
    if (!macro || !script_keep(p, py_new_func(&p->run, def, macro, &func))) return false;
    *macro = (script_macro){.func = func.u.func, .is_hygienic = is_hygienic, .kind = kind};
    if (kind == SCRIPT_FACTORY) {
        macro->next = p->factories;
        p->factories = macro;
    }
    if (!script_define(p, def->name, func)) return false; /* it may call itself */
    (void)py_open_scope(&p->run, false);                  /* what comes is not known to it */
    return true;
}

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

/* ---- bodies ---- */

static bool factory_statement(script_parser *p, const py_node *node) {
    return node->kind == PY_RETURN || script_parse_top(p, node);
}

/* Its parameters are names among those of the statements. */
static bool run_statements(script_parser *p, const py_func *func, const py_value *values,
                           script_statement statement) {
    (void)py_open_scope(&p->run, false);
    for (uint32_t i = 0; i < func->param_count; i++) {
        py_value value = values[i];
        value.is_fresh = false;
        if (!script_define(p, func->params[i], value)) return false;
    }
    return script_suite(p, script_body(func->def), statement);
}

static bool run_kind(script_parser *p, const script_macro *macro, const py_value *values,
                     py_value *out) {
    if (macro->kind != SCRIPT_HELPER) {
        return run_statements(p, macro->func, values,
                              macro->kind == SCRIPT_FACTORY ? factory_statement
                                                            : script_parse_statement);
    }
    bool ok = script_keep(p, py_run_body(&p->run, macro->func, values, out));
    out->is_fresh = false;
    return ok;
}

static bool check_place(script_parser *p, const script_macro *macro, uint32_t at) {
    const char *name = macro->func->def->name;
    if (!p->func && macro->kind == SCRIPT_STATEMENTS) {
        return script_fail(p, at, "'%s' is called outside of a tensor program", name);
    }
    if (p->func && macro->kind == SCRIPT_FACTORY) {
        return script_fail(p, at, "'%s' defines programs and cannot be called in one", name);
    }
    return true;
}

hone_status script_run_macro(py_run *run, const py_func *func, uint32_t at, const py_value *values,
                             py_value *out) {
    script_parser *p = run->ctx;
    const script_macro *macro = func->host_own;
    py_scope *caller = p->run.scope;
    *out = PYV_OF_NONE;
    if (macro->is_hygienic) p->run.scope = func->scope;
    bool ok = check_place(p, macro, at) && run_kind(p, macro, values, out);
    p->run.scope = caller;
    return script_pass(p, ok);
}

/* ---- factories that nothing calls ---- */

/* The first parameter that has no default; NULL where all have one. */
static const char *needed_parameter(const script_macro *factory) {
    const py_func *func = factory->func;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (!func->has_default[i]) return func->params[i];
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
    const py_node *def = first->func->def;
    return script_fail(p, script_name_at(p, def),
                       "nothing calls '%s', whose parameter '%s' has no default; there is no other "
                       "program",
                       def->name, needed_parameter(first));
}

/* First come first, in a text that has no other programs. */
bool script_call_factories(script_parser *p, const script_macro *last) {
    if (!last) return true;
    if (!script_call_factories(p, last->next)) return false;
    return needed_parameter(last) || script_keep(p, py_apply_func(&p->run, last->func, NULL));
}
