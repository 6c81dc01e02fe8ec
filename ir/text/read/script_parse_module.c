/* ir/text/read/script_parse_module.c - the outermost level: imports, constants, classes, bare
 * functions. */
#include "ir/ops/graph_op.h"
#include "ir/text/read/script_impl.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALL_DEPTH = 200 }; /* of functions whose types are found one after the other */

/* ---- names of functions, known before they are read ---- */

static bool collect_globals(script_parser *p) {
    for (uint32_t i = 0; i + 1 < p->token_count; i++) {
        const py_token *t = &p->tokens[i];
        if (t->kind != PY_TOKEN_NAME || t->length != 3 ||
            memcmp(p->source.text + t->start, "def", 3) != 0 ||
            p->tokens[i + 1].kind != PY_TOKEN_NAME) {
            continue;
        }
        if (!script_grow(p, p->scratch, (void **)&p->globals, &p->global_capacity, p->global_count,
                         sizeof *p->globals)) {
            return false;
        }
        const char *name = script_token_text(p, &p->tokens[i + 1]);
        if (!name) return false;
        p->globals[p->global_count++] = name;
    }
    return true;
}

/* ---- imports ---- */

static const char *meaning_of_import(const char *name) {
    static const char *const rows[][2] = {
        {"tir",       "T"          },
        {"tirx",      "T"          },
        {"s_tir",     "T"          },
        {"relax",     "R"          },
        {"ir",        "I"          },
        {"tvm",       "tvm"        },
        {"script",    "tvm.script" },
        {"ir_module", "I.ir_module"},
        {"prim_func", "T.prim_func"}
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i][0], name) == 0) return rows[i][1];
    }
    return NULL;
}

/* import a.b as c, from a.b import c as d, e: only what comes from tvm.script matters. */
static bool parse_import(script_parser *p) {
    const char *last = NULL;
    for (p->pos++; script_peek(p)->kind == PY_TOKEN_NAME || script_peek(p)->kind == PY_TOKEN_OP;
         p->pos++) {
        if (script_at_word(p, "as")) {
            p->pos++;
            const char *name = NULL;
            if (!script_need_name(p, "a name", &name)) return false;
            const char *meaning = last ? meaning_of_import(last) : NULL;
            if (meaning && !script_define(p, name, SCRIPT_VALUE_PATH(meaning))) return false;
            p->pos--;
            last = NULL;
        } else if (script_peek(p)->kind == PY_TOKEN_NAME) {
            last = script_token_text(p, script_peek(p));
            if (!last) return false;
        }
    }
    return script_need_newline(p);
}

/* ---- decorators ---- */

typedef struct decorator {
    const char *path; /* "T.prim_func", "R.function", "I.ir_module" */
    script_value options;
    uint32_t at;
} decorator;

static bool parse_options(script_parser *p, decorator *d) {
    script_call call;
    static const char *const known[] = {
        "private", "s_tir", "check_well_formed", "pure", "hygienic", "persistent", "func"};
    bool is_own = strchr("TRI", d->path[0]) && d->path[1] == '.';
    if (!script_parse_arguments(p, d->path, d->at, &call)) return false;
    if (is_own && call.count) {
        return script_fail(p, call.args[0].at, "'@%s' takes its options by name: s_tir=True",
                           d->path);
    }
    if (is_own && !script_check_keywords(p, &call, known, HONE_COUNT(known))) return false;
    script_value *items =
        script_alloc(p, p->scratch, 2 * (size_t)call.keyword_count, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < call.keyword_count; i++) {
        items[2 * i] = (script_value){.kind = SCRIPT_STRING, .u.s = call.keywords[i].name};
        items[2 * i + 1] = call.keywords[i].value;
    }
    d->options = (script_value){
        .kind = SCRIPT_DICT, .count = call.keyword_count, .at = d->at, .u.items = items};
    return true;
}

static bool parse_decorator(script_parser *p, decorator *d) {
    *d = (decorator){.at = ++p->pos, .options = {.kind = SCRIPT_DICT}};
    script_value v;
    const char *name = NULL;
    if (!script_need_name(p, "a decorator", &name)) return false;
    p->pos--;
    static const char *const known[] = {"T", "R", "I"};
    bool found = script_lookup(p, name) != NULL || meaning_of_import(name) != NULL;
    for (size_t i = 0; i < HONE_COUNT(known); i++)
        found |= strcmp(known[i], name) == 0;
    if (!found) {
        return script_fail(p, p->pos,
                           "unknown decorator '@%s'; expected @T.prim_func, @R.function "
                           "or @I.ir_module",
                           name);
    }
    const script_value *alias = script_lookup(p, name);
    v = SCRIPT_VALUE_PATH(alias && alias->kind == SCRIPT_PATH ? alias->u.s
                          : meaning_of_import(name)           ? meaning_of_import(name)
                                                              : name);
    for (p->pos++; script_take_op(p, ".");) {
        if (!script_need_name(p, "a name", &name)) return false;
        script_value base = v;
        if (!script_attribute(p, &base, name, p->pos - 1, &v)) return false;
    }
    d->path = v.u.s;
    if (script_at_op(p, "(") && !parse_options(p, d)) return false;
    return script_need_newline(p);
}

/* ---- functions ---- */

static bool parse_def(script_parser *p, const decorator *d) {
    const char *name = NULL;
    uint32_t at = p->pos++;
    if (!script_need_name(p, "the name of the function", &name)) return false;
    name = script_strdup(p, name);
    if (!name) return false;
    bool is_helper = false;
    if (!d && !script_define_helper(p, name, &is_helper)) return false;
    if (is_helper) return true;
    if (!d) {
        return script_fail(p, at,
                           "function '%s' has no decorator; expected @T.prim_func or "
                           "@R.function",
                           name);
    }
    if (strcmp(d->path, "T.prim_func") == 0) return script_parse_func(p, &d->options, name);
    if (strcmp(d->path, "R.function") == 0) return script_parse_graph(p, &d->options, name);
    if (strcmp(d->path, "I.ir_module") == 0) {
        return script_fail(p, d->at,
                           "'@I.ir_module' stands before a function; expected @T.prim_func or "
                           "@R.function");
    }
    return script_fail(p, d->at, "unknown decorator '@%s'; expected @T.prim_func or @R.function",
                       d->path);
}

static bool parse_decorated(script_parser *p, bool in_class);

static bool skip_docstring(script_parser *p) {
    while (script_peek(p)->kind == PY_TOKEN_TEXT)
        p->pos++;
    return script_need_newline(p);
}

/* In the class of a module: another name of a function, or one from elsewhere. */
static bool is_function(const script_value *v) {
    bool is_extern = v->kind == SCRIPT_GARG && v->u.garg->kind == HONE_GARG_EXTERN;
    return is_extern || v->kind == SCRIPT_GLOBAL || v->kind == SCRIPT_PATH;
}

/* N, M = 128, 64 beside the functions; n = TypeVar("n"). */
static bool parse_constant(script_parser *p, bool in_class) {
    enum { MOST = 32 };
    const char *names[MOST];
    uint32_t count = 0, have = 0, at = p->pos;
    do {
        if (count == MOST) return script_fail(p, p->pos, "too many names");
        if (!script_need_name(p, "a name", &names[count++])) return false;
    } while (script_take_op(p, ",") && !script_at_op(p, "="));
    if (script_take_op(p, ":")) {
        script_value ignored;
        if (!script_parse_expr(p, &ignored)) return false;
    }
    script_value v;
    const script_value *items = NULL;
    if (!script_need_op(p, "=", "of an assignment") || !script_parse_expr_list(p, &v)) return false;
    items = &v;
    have = 1;
    if (count > 1) script_items(&v, &items, &have);
    if (have != count)
        return script_fail(p, at, "%u names for %u value%s", count, have, have == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++) {
        if (in_class && !is_function(&items[i])) {
            return script_fail(p, at,
                               "a module holds functions; a constant such as '%s' stands before "
                               "the class",
                               names[i]);
        }
        if (!script_define(p, names[i], items[i])) return false;
        bool is_extern = items[i].kind == SCRIPT_GARG && items[i].u.garg->kind == HONE_GARG_EXTERN;
        if (is_extern &&
            !script_check(p, at, hone_module_add_extern(p->module, items[i].u.garg->u.s))) {
            return false;
        }
    }
    return script_need_newline(p);
}

/* Module attributes and what else a class may hold as a call. */
static bool parse_module_call(script_parser *p) {
    uint32_t at = p->pos;
    script_value v = SCRIPT_VALUE_PATH("I");
    const char *name = NULL;
    if (script_peek(p)->kind != PY_TOKEN_NAME || script_is_keyword(p, script_peek(p))) {
        return script_expected(p, "a function", "of the module");
    }
    if (!script_need_name(p, "a function", &name)) return false;
    while (script_take_op(p, ".")) {
        script_value base = v;
        if (!script_need_name(p, "a name", &name) ||
            !script_attribute(p, &base, name, p->pos - 1, &v)) {
            return false;
        }
    }
    script_call call;
    if (!script_at_op(p, "(")) return script_fail(p, at, "expected a function definition");
    p->value_budget = 1000000;
    if (strcmp(v.u.s, "I.module_global_infos") == 0) { /* devices: nothing here depends on them */
        script_skip_line(p);
        return true;
    }
    if (!script_parse_arguments(p, v.u.s, at, &call)) return false;
    if (strcmp(v.u.s, "I.module_attrs") == 0) {
        const script_value *attrs = NULL;
        if (p->module->attrs.count) {
            return script_fail(p, at, "I.module_attrs stands twice in this module");
        }
        if (!script_need_arg(p, &call, 0, "attrs", &attrs) ||
            !script_to_attrs(p, attrs, &p->module->attrs)) {
            return false;
        }
        return script_need_newline(p);
    }
    return script_fail(p, at, "unknown statement '%s' in a module", v.u.s);
}

static bool class_statement(script_parser *p) {
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (script_at_op(p, "@")) return parse_decorated(p, true);
    if (script_at_word(p, "def")) return parse_def(p, NULL);
    if (script_take_word(p, "pass")) return script_need_newline(p);
    if (script_peek(p)->kind == PY_TOKEN_TEXT) return skip_docstring(p);
    if (script_take_op(p, "...")) return script_need_newline(p);
    if (script_at_op_ahead(p, 1, "=") || script_at_op_ahead(p, 1, ","))
        return parse_constant(p, true);
    return parse_module_call(p);
}

static bool parse_class(script_parser *p) {
    uint32_t at = p->pos++;
    const char *name = NULL;
    if (!script_need_name(p, "the name of the module", &name)) return false;
    if (p->module_name || p->module->member_count) {
        return script_fail(p, at, "a text holds one module");
    }
    p->module_name = name;
    uint32_t names = p->name_count;
    if (script_at_op(p, "(")) {
        if (script_token_is(p, p->pos + 1, PY_TOKEN_NAME, "BasePyModule")) {
            return script_fail(p, p->pos + 1,
                               "modules with functions in Python (BasePyModule, @I.pyfunc) are not "
                               "supported; the others may stand in a module of their own");
        }
        while (!script_at_op(p, ":") && script_peek(p)->kind != PY_TOKEN_NEWLINE)
            p->pos++; /* what a class inherits says nothing */
    }
    if (!script_suite(p, class_statement)) return false;
    p->name_count = names;
    return true;
}

static bool parse_macro(script_parser *p, const decorator *d) {
    bool is_hygienic = true;
    for (uint32_t i = 0; i < d->options.count; i++) {
        if (strcmp(d->options.u.items[2 * i].u.s, "hygienic") == 0 &&
            !script_to_bool(p, &d->options.u.items[2 * i + 1], &is_hygienic)) {
            return false;
        }
    }
    return script_define_macro(p, is_hygienic);
}

bool script_parse_inner_macro(script_parser *p) {
    decorator d;
    uint32_t at = p->pos;
    if (!parse_decorator(p, &d)) return false;
    if (script_is_macro(d.path) && script_at_word(p, "def")) return parse_macro(p, &d);
    return script_fail(p, at, "expected @T.inline or @T.macro inside of a function");
}

bool script_parse_inner_graph(script_parser *p) {
    decorator d;
    uint32_t at = p->pos;
    if (!parse_decorator(p, &d)) return false;
    if (strcmp(d.path, "R.function") == 0 && script_at_word(p, "def")) {
        return script_parse_local(p, &d.options);
    }
    return script_fail(p, at, "expected @R.function inside of a graph function");
}

static bool makes_function(const char *path) {
    return strcmp(path, "T.prim_func") == 0 || strcmp(path, "R.function") == 0;
}

static bool parse_decorated(script_parser *p, bool in_class) {
    decorator d;
    if (!parse_decorator(p, &d)) return false;
    while (script_at_op(p, "@")) { /* the innermost decides */
        const char *outer = d.path;
        if (!parse_decorator(p, &d)) return false;
        bool is_twice = makes_function(outer) && makes_function(d.path);
        if (is_twice) return script_fail(p, d.at, "this function is decorated twice");
    }
    if (script_is_macro(d.path) && script_at_word(p, "def")) return parse_macro(p, &d);
    if (script_at_word(p, "def")) return parse_def(p, &d);
    if (script_at_word(p, "class") && !in_class) {
        if (strcmp(d.path, "I.ir_module") != 0) {
            const char *what = makes_function(d.path) ? "a class has the decorator of a function,"
                                                      : "unknown decorator";
            return script_fail(p, d.at, "%s '@%s'; expected @I.ir_module", what, d.path);
        }
        for (uint32_t i = 0; i < d.options.count; i++) {
            if (strcmp(d.options.u.items[2 * i].u.s, "s_tir") == 0 &&
                !script_to_bool(p, &d.options.u.items[2 * i + 1], &p->default_s_tir)) {
                return false;
            }
        }
        return parse_class(p);
    }
    return script_expected(p, in_class ? "'def'" : "'def' or 'class'", "behind the decorator");
}

/* `mod = Module`: another name for what is there. */
static bool renames_module(const script_parser *p) {
    if (!script_at_op_ahead(p, 1, "=") || p->pos + 3 >= p->token_count || !p->module_name) {
        return false;
    }
    const py_token *right = &p->tokens[p->pos + 2];
    return right[0].kind == PY_TOKEN_NAME && right[1].kind == PY_TOKEN_NEWLINE &&
           right[0].length == strlen(p->module_name) &&
           memcmp(p->source.text + right[0].start, p->module_name, right[0].length) == 0;
}

/* `A[0] = 1` belongs into a function; `lib["main"](a, b)` is a call. */
static bool is_store(const script_parser *p) {
    uint32_t open = 0;
    for (uint32_t at = p->pos + 1; at < p->token_count; at++) {
        const py_token *t = &p->tokens[at];
        if (t->kind == PY_TOKEN_NEWLINE || t->kind == PY_TOKEN_END) return false;
        if (t->kind != PY_TOKEN_OP) continue;
        const char *text = p->source.text + t->start;
        bool compares = t->length == 2 && strchr("=!<>", text[0]) != NULL;
        bool assigns = text[t->length - 1] == '=' && !compares;
        if (!open && assigns) return true;
        if (text[0] == '(' || text[0] == '[' || text[0] == '{') open++;
        if (open && (text[0] == ')' || text[0] == ']' || text[0] == '}')) open--;
    }
    return false;
}

/* A call of what the text does not define and TVMScript does not know, or of TVM itself: what a
 * Python program does with its tensor programs (sch = tvm.tir.Schedule(Module), np.random.seed(0)).
 * A name that is assigned so stays undefined. */
static bool is_foreign_call(script_parser *p) {
    static const char *const own[] = {"T",  "R",       "I",   "tir",   "tirx", "ir",
                                      "te", "TypeVar", "int", "float", "bool", "range"};
    uint32_t ahead = 0;
    while (p->tokens[p->pos + ahead].kind == PY_TOKEN_NAME &&
           script_at_op_ahead(p, ahead + 1, ",")) {
        ahead += 2;
    }
    if (script_at_op_ahead(p, 1, "[") && is_store(p)) return false;
    ahead = script_at_op_ahead(p, ahead + 1, "=") ? ahead + 2 : 0;
    const py_token *root = &p->tokens[p->pos + ahead];
    if (root->kind != PY_TOKEN_NAME || script_is_keyword(p, root)) return false;
    if (!script_at_op_ahead(p, ahead + 1, ".") && !script_at_op_ahead(p, ahead + 1, "(") &&
        !script_at_op_ahead(p, ahead + 1, "[")) {
        return false;
    }
    const char *name = script_token_text(p, root);
    for (size_t i = 0; name && i < HONE_COUNT(own); i++) {
        if (strcmp(own[i], name) == 0) return false;
    }
    const script_value *known = name ? script_lookup(p, name) : NULL;
    bool is_tvm = name && strcmp(name, "tvm") == 0;
    return name && (is_tvm || !known);
}

bool script_parse_top(script_parser *p) {
    py_token_kind kind = script_peek(p)->kind;
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (kind == PY_TOKEN_NEWLINE) {
        p->pos++;
        return true;
    }
    if (kind == PY_TOKEN_INDENT) return script_fail(p, p->pos, "unexpected indentation");
    if (kind == PY_TOKEN_TEXT) return skip_docstring(p);
    if (script_at_op(p, "@")) return parse_decorated(p, false);
    if (script_at_word(p, "import") || script_at_word(p, "from")) return parse_import(p);
    if (script_at_word(p, "def")) return parse_def(p, NULL);
    if (script_at_word(p, "class")) {
        return script_fail(p, p->pos, "this class has no decorator; expected @I.ir_module");
    }
    if (script_at_metadata(p)) return script_parse_metadata(p);
    if (kind == PY_TOKEN_NAME && (renames_module(p) || is_foreign_call(p))) {
        script_skip_line(p);
        return true;
    }
    if (kind == PY_TOKEN_NAME && (script_at_op_ahead(p, 1, "=") || script_at_op_ahead(p, 1, ","))) {
        return parse_constant(p, false);
    }
    bool is_decorator =
        script_at_op_ahead(p, 1, ".") &&
        (script_at_word(p, "T") || script_at_word(p, "R") || script_at_word(p, "I"));
    if (is_decorator) {
        return script_fail(p, p->pos,
                           "expected a function or a module; a decorator begins with '@'");
    }
    return script_expected(p, "a function or a module", "");
}

/* A function may be called before it is read, but it must come. */
static bool check_callees(script_parser *p, const hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        bool calls = bind->kind == HONE_GBIND_CALL_TIR || bind->kind == HONE_GBIND_CALL_FUNC;
        if (!calls || hone_module_find(p->module, bind->callee)) continue;
        char text[200];
        snprintf(text, sizeof text, "the module has no function '%s'", bind->callee);
        p->error = py_error_at(&p->source, HONE_CODE_INVALID, bind->line, bind->column, text);
        return false;
    }
    return true;
}

/* What is wrong with the types that are written is for verify to say. */
bool script_infer_graph(script_parser *p, hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        hone_gvalue_info *value = &graph->values[graph->bindings[i].value];
        if (value->sinfo) continue;
        hone_status st = hone_graph_infer_bind(p->module, graph, &graph->bindings[i], graph->arena,
                                               &value->sinfo);
        if (hone_status_consume(st) == HONE_CODE_NO_MEMORY) return script_no_memory(p);
    }
    return true;
}

typedef struct inference {
    script_parser *p;
    enum { NOT_BEGUN, BEGUN, DONE } * state; /* by member */
    uint32_t depth;
    bool has_cycle; /* a function calls one whose types are not known yet */
} inference;

/* A function of the module, those that it calls first: they tell what calls give. */
static bool infer_member(inference *in, const char *name) {
    const hone_member *member = name ? hone_module_find(in->p->module, name) : NULL;
    if (!member || member->kind != HONE_MEMBER_GRAPH || in->depth == MAX_CALL_DEPTH) return true;
    size_t place = (size_t)(member - in->p->module->members);
    hone_graph_func *graph = member->graph;
    in->has_cycle |= in->state[place] == BEGUN;
    if (in->state[place] != NOT_BEGUN) return true;
    in->state[place] = BEGUN;
    in->depth++;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        if (bind->kind == HONE_GBIND_CALL_FUNC && !infer_member(in, bind->callee)) return false;
        for (uint32_t a = 0; bind->kind == HONE_GBIND_IF && a < HONE_GBIND_IF_ARGS; a++) {
            if (bind->args[a].kind != HONE_GARG_GLOBAL) continue;
            if (!infer_member(in, bind->args[a].u.s)) return false;
        }
    }
    in->depth--;
    in->state[place] = DONE;
    return script_infer_graph(in->p, graph);
}

static bool infer_all(inference *in) {
    script_parser *p = in->p;
    in->has_cycle = false;
    memset(in->state, 0, p->module->member_count * sizeof *in->state);
    for (uint32_t i = 0; i < p->module->member_count; i++) {
        if (p->module->members[i].kind != HONE_MEMBER_GRAPH) continue;
        if (!check_callees(p, p->module->members[i].graph)) return false;
        if (!infer_member(in, p->module->members[i].name)) return false;
    }
    return true;
}

static bool infer_graphs(script_parser *p) {
    inference in = {.p = p};
    in.state = script_alloc(p, p->scratch, p->module->member_count, sizeof *in.state);
    /* where functions call each other, what one tells is known in the second round */
    return in.state && infer_all(&in) && (!in.has_cycle || infer_all(&in));
}

/* ---- which dialect ---- */

static bool is_spelled(const script_parser *p, uint32_t at, const char *text) {
    if (at >= p->token_count || p->tokens[at].length != strlen(text)) return false;
    return memcmp(p->source.text + p->tokens[at].start, text, strlen(text)) == 0;
}

/* Words of T that older releases do not have. */
static bool is_new_member(const script_parser *p, uint32_t at) {
    static const char *const words[] = {"s_tir",        "alloc_local",  "alloc_shared",
                                        "alloc_scalar", "local_scalar", "shared_scalar",
                                        "decl_scalar",  "bind"};
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (is_spelled(p, at, words[i])) return true;
    }
    const py_token *token = &p->tokens[at];
    return token->length >= 6 && memcmp(p->source.text + token->start, "sblock", 6) == 0;
}

/* x += 1 at the beginning of a line. */
static bool adds_to_name(const script_parser *p, uint32_t at) {
    const py_token *token = &p->tokens[at];
    if (at < 2 || token->length < 2 || p->source.text[token->start + token->length - 1] != '=')
        return false;
    py_token_kind before = p->tokens[at - 2].kind;
    bool begins_line =
        before == PY_TOKEN_NEWLINE || before == PY_TOKEN_INDENT || before == PY_TOKEN_DEDENT;
    return begins_line && p->tokens[at - 1].kind == PY_TOKEN_NAME && !is_spelled(p, at, "==");
}

/* What TVM 0.27 alone says: T.sblock, import tirx, s_tir=True, x += 1. Names and strings of the
 * program's own may look like them. */
static bool is_new_word(const script_parser *p, uint32_t at) {
    const py_token *token = &p->tokens[at];
    const char *text = p->source.text + token->start;
    if (token->kind == PY_TOKEN_TEXT) {
        return token->length > 6 && memcmp(text + 1, "tirx.", 5) == 0 && is_spelled(p, at + 1, ":");
    }
    if (token->kind == PY_TOKEN_OP) return adds_to_name(p, at);
    if (token->kind != PY_TOKEN_NAME) return false;
    if (is_spelled(p, at, "s_tir") && is_spelled(p, at + 1, "=")) return true;
    bool is_member = at > 0 && is_spelled(p, at - 1, ".");
    bool is_imported = at > 0 && is_spelled(p, at - 1, "import");
    if (is_spelled(p, at, "tirx")) return is_member || is_imported;
    if (is_spelled(p, at, "let")) return is_member && is_spelled(p, at + 1, "[");
    return is_member && is_new_member(p, at);
}

/* Printed programs begin with their imports as comments: "# from tvm.script import tirx as T". */
static bool has_new_import(const py_source *source) {
    static const char import[] = "# from tvm.script import tirx ";
    size_t length = sizeof import - 1;
    for (size_t at = 0; at + length <= source->length; at++) {
        bool begins_line = at == 0 || source->text[at - 1] == '\n';
        if (begins_line && memcmp(source->text + at, import, length) == 0) return true;
    }
    return false;
}

/* Assignments mean something else in TVM 0.27 (scalars). */
static bool is_classic_text(const script_parser *p) {
    if (has_new_import(&p->source)) return false;
    for (uint32_t i = 0; i < p->token_count; i++) {
        if (is_new_word(p, i)) return false;
    }
    return true;
}

static bool parse_all(script_parser *p) {
    if (!collect_globals(p)) return false;
    while (script_peek(p)->kind != PY_TOKEN_END) {
        if (!script_parse_top(p)) return false;
    }
    bool is_empty = !p->module->member_count && !p->module_name;
    if (is_empty && !script_call_factories(p, p->factories)) return false;
    if (!p->module->member_count && !p->module_name) {
        return script_fail_empty(p);
    }
    return infer_graphs(p);
}

hone_status script_parse_module(const py_source *source, hone_tensor *const *weights,
                                uint32_t weight_count, hone_module **out_module) {
    *out_module = NULL;
    script_parser p = {.source = *source, .weights = weights, .weight_count = weight_count};
    HONE_TRY(hone_module_create(&p.module));
    hone_status st = HONE_OK;
    py_token *tokens = NULL;
    p.arena = p.module->arena;
    p.ir.arena = p.arena;
    p.scratch = hone_arena_create(1 << 16);
    if (!p.scratch) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "program text");
        goto done;
    }
    HONE_TRY_GOTO(st, py_lex(source, p.scratch, &tokens, &p.token_count), done);
    p.tokens = tokens;
    p.value_budget = 1000000;
    p.is_classic = is_classic_text(&p);
    bool ok = parse_all(&p);
    st = p.error;
    if (!ok && !st)
        st = HONE_ERROR(HONE_CODE_INTERNAL, "%s: parsing failed without a reason", source->name);
    hone_status left = hone_ir_finish(&p.ir);
    st = hone_status_join(st, left);
done:
    script_free_metadata(&p);
    hone_arena_destroy(p.scratch);
    if (st) {
        hone_module_release(p.module);
        return st;
    }
    *out_module = p.module;
    return HONE_OK;
}
