/* ir/text/read/script_parse_module.c - the outermost level: imports, constants, classes, bare
 * functions. */
#include "ir/ops/graph_op.h"
#include "ir/text/read/script_impl.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALL_DEPTH = 200 }; /* of functions whose types are found one after the other */

/* ---- names of functions, known before they are read ---- */

static bool note_global(script_parser *p, const py_node *def) {
    uint32_t same = p->global_capacity;
    if (!script_grow(p, p->scratch, (void **)&p->globals, &p->global_capacity, p->global_count,
                     sizeof *p->globals) ||
        !script_grow(p, p->scratch, (void **)&p->defs, &same, p->global_count, sizeof *p->defs)) {
        return false;
    }
    p->globals[p->global_count] = def->name;
    p->defs[p->global_count++] = def;
    return true;
}

/* Goes on (false) until memory is short. */
static bool collect_global(void *ctx, const py_node *node) {
    script_parser *p = ctx;
    return node->kind == PY_DEF && !note_global(p, node);
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
static bool parse_import(script_parser *p, const py_node *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        const py_node *alias = node->items[i];
        const char *dot = strrchr(alias->name, '.');
        const char *meaning = meaning_of_import(dot ? dot + 1 : alias->name);
        bool matters = alias->items[0] && meaning;
        if (matters && !script_define(p, alias->items[0]->name, SCRIPT_VALUE_PATH(meaning))) {
            return false;
        }
    }
    return true;
}

/* ---- decorators ---- */

typedef struct decorator {
    const char *path; /* "T.prim_func", "R.function", "I.ir_module" */
    script_call options;
    uint32_t at;
} decorator;

static bool parse_options(script_parser *p, const py_node *node, decorator *d) {
    static const char *const known[] = {
        "private", "s_tir", "check_well_formed", "pure", "hygienic", "persistent", "func"};
    bool is_own = strchr("TRI", d->path[0]) && d->path[1] == '.';
    if (!script_eval_arguments(p, d->path, node, &d->options)) return false;
    if (is_own && d->options.count) {
        return script_fail(p, d->options.args[0].at, "'@%s' takes its options by name: s_tir=True",
                           d->path);
    }
    return !is_own || script_check_keywords(p, &d->options, known, HONE_COUNT(known));
}

/* "T.prim_func" for T.prim_func, tvm.script.tir.prim_func or an import of it. */
static bool read_path(script_parser *p, const py_node *node, py_value *out) {
    if (node->kind == PY_ATTRIBUTE) {
        py_value base;
        return read_path(p, node->base, &base) &&
               script_attribute(p, &base, node->name, node->mark, out);
    }
    if (node->kind != PY_NAME) return script_expected(p, node->at, "a decorator");
    const char *name = node->name, *meaning = meaning_of_import(name);
    const py_value *alias = script_lookup(p, name);
    bool is_root = strcmp(name, "T") == 0 || strcmp(name, "R") == 0 || strcmp(name, "I") == 0;
    if (!alias && !meaning && !is_root) {
        return script_fail(p, node->at,
                           "unknown decorator '@%s'; expected @T.prim_func, @R.function "
                           "or @I.ir_module",
                           name);
    }
    bool is_path = alias && alias->kind == SCRIPT_PATH;
    *out = SCRIPT_VALUE_PATH(is_path ? alias->u.s : meaning ? meaning : name);
    return true;
}

static bool parse_decorator(script_parser *p, const py_node *node, decorator *d) {
    bool is_call = node->kind == PY_CALL;
    py_value path;
    *d = (decorator){.at = node->at};
    if (!read_path(p, is_call ? node->base : node, &path)) return false;
    d->path = path.u.s;
    return !is_call || parse_options(p, node, d);
}

static bool makes_function(const char *path) {
    return strcmp(path, "T.prim_func") == 0 || strcmp(path, "R.function") == 0;
}

/* The innermost one decides. */
static bool parse_decorators(script_parser *p, const py_node *def, decorator *d) {
    const char *outer = NULL;
    for (uint32_t i = 0; i < def->count_ahead; i++) {
        if (!parse_decorator(p, def->items[i], d)) return false;
        bool is_twice = outer && makes_function(outer) && makes_function(d->path);
        if (is_twice) return script_fail(p, d->at, "this function is decorated twice");
        outer = d->path;
    }
    return true;
}

/* ---- functions ---- */

/* A function without a decorator. */
static bool parse_bare_def(script_parser *p, const py_node *def) {
    bool is_helper;
    if (!script_define_helper(p, def, &is_helper) || is_helper) return is_helper;
    return script_fail(p, def->at,
                       "function '%s' has no decorator; expected @T.prim_func or @R.function",
                       def->name);
}

static bool parse_macro(script_parser *p, const py_node *def, const decorator *d) {
    bool is_hygienic = true;
    return script_option(p, &d->options, "hygienic", &is_hygienic) &&
           script_define_macro(p, def, SCRIPT_STATEMENTS, is_hygienic);
}

static bool parse_def(script_parser *p, const py_node *def) {
    decorator d;
    if (!def->count_ahead) return parse_bare_def(p, def);
    if (!parse_decorators(p, def, &d)) return false;
    if (script_is_macro(d.path)) return parse_macro(p, def, &d);
    if (strcmp(d.path, "T.prim_func") == 0) return script_parse_func(p, def, &d.options);
    if (strcmp(d.path, "R.function") == 0) return script_parse_graph(p, def, &d.options);
    if (strcmp(d.path, "I.ir_module") == 0) {
        return script_fail(p, d.at,
                           "'@I.ir_module' stands before a function; expected @T.prim_func or "
                           "@R.function");
    }
    return script_fail(p, d.at, "unknown decorator '@%s'; expected @T.prim_func or @R.function",
                       d.path);
}

bool script_parse_inner_macro(script_parser *p, const py_node *def) {
    decorator d;
    if (!parse_decorators(p, def, &d)) return false;
    if (script_is_macro(d.path)) return parse_macro(p, def, &d);
    return script_fail(p, d.at, "expected @T.inline or @T.macro inside of a function");
}

bool script_parse_inner_graph(script_parser *p, const py_node *def) {
    decorator d;
    if (!parse_decorators(p, def, &d)) return false;
    if (strcmp(d.path, "R.function") == 0) return script_parse_local(p, def, &d.options);
    return script_fail(p, d.at, "expected @R.function inside of a graph function");
}

/* ---- constants ---- */

/* In the class of a module: another name of a function, or one from elsewhere. */
static bool is_function(const py_value *v) {
    bool is_extern = v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_EXTERN;
    return is_extern || v->kind == SCRIPT_GLOBAL || v->kind == SCRIPT_PATH;
}

static bool define_constant(script_parser *p, uint32_t at, const char *name, const py_value *v,
                            bool in_class) {
    if (in_class && !is_function(v)) {
        return script_fail(p, at,
                           "a module holds functions; a constant such as '%s' stands before "
                           "the class",
                           name);
    }
    if (!script_define(p, name, *v)) return false;
    bool is_extern = v->kind == SCRIPT_GARG && script_garg_of(v)->kind == HONE_GARG_EXTERN;
    return !is_extern ||
           script_check(p, at, hone_module_add_extern(p->module, script_garg_of(v)->u.s));
}

/* N, M = 128, 64 beside the functions; n = TypeVar("n"). */
static bool parse_constant(script_parser *p, const py_node *node, bool in_class) {
    const char *names[SCRIPT_MOST_NAMES];
    const py_value *items;
    uint32_t count;
    if (!script_eval_assignment(p, node, names, &items, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!define_constant(p, node->at, names[i], &items[i], in_class)) return false;
    }
    return true;
}

/* ---- classes ---- */

static bool add_attributes(script_parser *p, const script_call *call) {
    const py_value *attrs = NULL;
    if (p->module->attrs.count) {
        return script_fail(p, call->at, "I.module_attrs stands twice in this module");
    }
    return script_need_arg(p, call, 0, "attrs", &attrs) &&
           script_to_attrs(p, attrs, &p->module->attrs);
}

/* Module attributes and what else a class may hold as a call. */
static bool parse_module_call(script_parser *p, const py_node *node) {
    const py_node *value = node->kind == PY_VALUE ? node->base : NULL;
    py_value callee;
    script_call call;
    if (!value) return script_expected(p, node->at, "a function of the module");
    if (value->kind != PY_CALL) return script_fail(p, node->at, "expected a function definition");
    if (!script_eval(p, value->base, &callee)) return false;
    const char *path = callee.kind == SCRIPT_PATH ? callee.u.s : "";
    p->value_budget = 1000000;
    /* devices: nothing here depends on them */
    if (strcmp(path, "I.module_global_infos") == 0) return true;
    if (strcmp(path, "I.module_attrs") == 0) {
        return script_eval_arguments(p, path, value, &call) && add_attributes(p, &call);
    }
    return script_fail(p, node->at, "unknown statement '%s' in a module", path);
}

static bool class_statement(script_parser *p, const py_node *node) {
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (node->kind == PY_PASS || py_is_docstring(node)) return true;
    if (node->kind == PY_DEF) return parse_def(p, node);
    if (node->kind == PY_CLASS) return script_expected(p, node->mark, "'def' in a module");
    if (node->kind == PY_VALUE && node->base->kind == PY_ELLIPSIS) return true;
    if (node->kind == PY_ASSIGN) return parse_constant(p, node, true);
    return parse_module_call(p, node);
}

/* Functions in Python; what else a class inherits says nothing. */
static bool is_python_module(void *ctx, const py_node *node) {
    (void)ctx;
    return node->kind == PY_NAME && strcmp(node->name, "BasePyModule") == 0;
}

static bool parse_class_body(script_parser *p, const py_node *node) {
    if (p->module_name || p->module->member_count) {
        return script_fail(p, node->mark, "a text holds one module");
    }
    p->module_name = node->name;
    for (uint32_t i = node->count_ahead; i + 1 < node->count; i++) {
        const py_node *found = py_search(node->items[i], is_python_module, NULL);
        if (!found) continue;
        return script_fail(p, found->at,
                           "modules with functions in Python (BasePyModule, @I.pyfunc) are not "
                           "supported; the others may stand in a module of their own");
    }
    py_scope *around = py_open_scope(&p->run, false);
    bool ok = script_suite(p, script_body(node), class_statement);
    p->run.scope = around;
    return ok;
}

static bool parse_class(script_parser *p, const py_node *node) {
    decorator d;
    if (!node->count_ahead) {
        return script_fail(p, node->at, "this class has no decorator; expected @I.ir_module");
    }
    if (!parse_decorators(p, node, &d)) return false;
    if (strcmp(d.path, "I.ir_module") != 0) {
        const char *what = makes_function(d.path) ? "a class has the decorator of a function,"
                                                  : "unknown decorator";
        return script_fail(p, d.at, "%s '@%s'; expected @I.ir_module", what, d.path);
    }
    return script_option(p, &d.options, "s_tir", &p->default_s_tir) && parse_class_body(p, node);
}

/* ---- the outermost level ---- */

/* `mod = Module`: another name for what is there. */
static bool renames_module(const script_parser *p, const py_node *node) {
    return p->module_name && node->kind == PY_ASSIGN && node->base->kind == PY_NAME &&
           strcmp(node->base->name, p->module_name) == 0;
}

/* The name that an expression begins with, when something is done with it: f(…), a.b, x[0]. */
static const py_node *root_of(const py_node *node) {
    const py_node *above = NULL;
    for (;;) {
        const py_node *next = NULL;
        bool has_base =
            node->kind == PY_CALL || node->kind == PY_ATTRIBUTE || node->kind == PY_SUBSCRIPT;
        bool has_items = node->kind == PY_BINARY || node->kind == PY_COMPARE ||
                         node->kind == PY_LOGIC || node->kind == PY_CHOICE ||
                         node->kind == PY_TUPLE;
        if (has_base) next = node->base;
        if (has_items && node->count) next = node->items[0];
        if (!next) return node->kind == PY_NAME && above ? node : NULL;
        above = has_base ? node : NULL;
        node = next;
    }
}

/* What does a statement begin with that is done? `A[0] = 1` belongs into a function. */
static const py_node *root_of_statement(const py_node *node) {
    if (node->kind == PY_VALUE) return root_of(node->base);
    bool assigns = node->kind == PY_ASSIGN || node->kind == PY_AUGMENT;
    if (!assigns || node->items[0]->kind == PY_SUBSCRIPT) return NULL;
    bool is_named = node->kind == PY_ASSIGN && node->items[0]->kind != PY_ATTRIBUTE;
    return root_of(is_named ? node->base : node->items[0]);
}

/* A call of what the text does not define and TVMScript does not know, or of TVM itself: what a
 * Python program does with its tensor programs (sch = tvm.tir.Schedule(Module), np.random.seed(0)).
 * A name that is assigned so stays undefined. */
static bool is_foreign_call(const script_parser *p, const py_node *node) {
    static const char *const own[] = {"T",  "R",       "I",   "tir",   "tirx", "ir",
                                      "te", "TypeVar", "int", "float", "bool", "range"};
    const py_node *root = root_of_statement(node);
    for (size_t i = 0; root && i < HONE_COUNT(own); i++) {
        if (strcmp(own[i], root->name) == 0) return false;
    }
    return root && (strcmp(root->name, "tvm") == 0 || !script_lookup(p, root->name));
}

static bool fail_top(script_parser *p, const py_node *node) {
    const py_node *root = root_of_statement(node);
    const char *name = root ? root->name : "";
    if (strcmp(name, "T") == 0 || strcmp(name, "R") == 0 || strcmp(name, "I") == 0) {
        return script_fail(p, node->at,
                           "expected a function or a module; a decorator begins with '@'");
    }
    return script_expected(p, node->at, "a function or a module");
}

bool script_parse_top(script_parser *p, const py_node *node) {
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (py_is_docstring(node)) return true;
    switch (node->kind) {
    case PY_DEF:
        return parse_def(p, node);
    case PY_CLASS:
        return parse_class(p, node);
    case PY_IMPORT:
    case PY_FROM:
        return parse_import(p, node);
    default:
        break;
    }
    if (script_is_metadata(node)) return script_parse_metadata(p, node);
    if (renames_module(p, node) || is_foreign_call(p, node)) return true;
    bool is_named = node->kind == PY_ASSIGN && node->items[0]->kind != PY_SUBSCRIPT &&
                    node->items[0]->kind != PY_ATTRIBUTE;
    return is_named ? parse_constant(p, node, false) : fail_top(p, node);
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
        for (uint32_t a = 0; a < bind->arg_count; a++) { /* branches, bodies of loops */
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

/* Words of T that older releases do not have. */
static bool is_new_member(const char *name) {
    static const char *const words[] = {"tirx",          "s_tir",        "alloc_local",
                                        "alloc_shared",  "alloc_scalar", "local_scalar",
                                        "shared_scalar", "decl_scalar",  "bind"};
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (strcmp(words[i], name) == 0) return true;
    }
    return strncmp(name, "sblock", 6) == 0;
}

/* from tvm.script import tirx, import tvm.tirx as T */
static bool is_new_path(const char *path) {
    bool is_new = strcmp(path, "tirx") == 0;
    for (const char *dot = strchr(path, '.'); dot && !is_new; dot = strchr(dot + 1, '.'))
        is_new = strncmp(dot, ".tirx", 5) == 0 || strncmp(dot, ".s_tir", 6) == 0;
    return is_new;
}

/* {"tirx.noalias": …} */
static bool has_new_key(const script_parser *p, const py_node *dict) {
    for (uint32_t i = 0; i < dict->count; i += 2) {
        const py_node *key = dict->items[i];
        bool is_text = key && key->kind == PY_TEXT && key->end - key->at > 6;
        if (is_text && memcmp(p->source.text + key->at + 1, "tirx.", 5) == 0) return true;
    }
    return false;
}

/* What TVM 0.27 alone says: T.sblock, import tirx, s_tir=True, x += 1. Names and strings of the
 * program's own may look like them. */
static bool is_new_word(void *ctx, const py_node *node) {
    const script_parser *p = ctx;
    switch (node->kind) {
    case PY_ATTRIBUTE:
        return is_new_member(node->name);
    case PY_SUBSCRIPT:
        return node->base->kind == PY_ATTRIBUTE && strcmp(node->base->name, "let") == 0;
    case PY_KEYWORD:
        return strcmp(node->name, "s_tir") == 0;
    case PY_AUGMENT:
        return node->items[0]->kind == PY_NAME;
    case PY_ALIAS:
    case PY_FROM:
        return is_new_path(node->name);
    case PY_DICT:
        return has_new_key(p, node);
    default:
        return false;
    }
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

/* ---- whole texts ---- */

static bool parse_all(script_parser *p, const py_node *text) {
    /* assignments mean something else in TVM 0.27 (scalars) */
    p->is_classic = !has_new_import(&p->source) && !py_search(text, is_new_word, p);
    if (py_search(text, collect_global, p)) return false;
    for (uint32_t i = 0; i < text->count; i++) {
        p->run.at = text->items[i]->at;
        if (!script_parse_top(p, text->items[i])) return false;
    }
    bool is_empty = !p->module->member_count && !p->module_name;
    if (is_empty && !script_call_factories(p, p->factories)) return false;
    if (!p->module->member_count && !p->module_name) {
        return script_fail_empty(p);
    }
    return infer_graphs(p);
}

static hone_status read_text(script_parser *p) {
    static const py_parse_options options = {0};
    const py_node *text;
    HONE_TRY(py_parse(&p->source, &options, p->scratch, &text));
    HONE_TRY(py_places_init(&p->places, &p->source, p->scratch));
    bool ok = parse_all(p, text);
    hone_status st = p->error;
    if (!ok && !st) {
        st = HONE_ERROR(HONE_CODE_INTERNAL, "%s: parsing failed without a reason", p->source.name);
    }
    hone_status left = hone_ir_finish(&p->ir);
    return hone_status_join(st, left);
}

static hone_status read_in_scope(script_parser *p) {
    script_begin(p);
    hone_status st = read_text(p);
    script_end(p);
    return st;
}

hone_status script_parse_module(const py_source *source, hone_tensor *const *weights,
                                uint32_t weight_count, hone_module **out_module) {
    *out_module = NULL;
    script_parser p = {.source = *source,
                       .weights = weights,
                       .weight_count = weight_count,
                       .value_budget = 1000000};
    HONE_TRY(hone_module_create(&p.module));
    p.arena = p.module->arena;
    p.ir.arena = p.arena;
    p.scratch = hone_arena_create(1 << 16);
    hone_status st = p.scratch ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "program text");
    if (!st) st = read_in_scope(&p);
    script_free_metadata(&p);
    hone_arena_destroy(p.scratch);
    if (st) {
        hone_module_release(p.module);
        return st;
    }
    *out_module = p.module;
    return HONE_OK;
}
