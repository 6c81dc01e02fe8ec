/* ir/text/read/script_name.c - what a name of the text stands for: what was defined, words of
 * TVMScript, functions of the module, sizes. */
#include <string.h>

#include "ir/text/read/script_impl.h"

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

hone_var script_size_of(const script_parser *p, const char *name) {
    for (hone_var var = 0; var < p->func->var_count; var++) {
        if (p->func->vars[var].is_size && strcmp(p->func->vars[var].name, name) == 0) return var;
    }
    return HONE_NO_ID;
}

/* n = TypeVar("n") beside the functions: each function has a size of its own by that name. */
static bool shared_size(script_parser *p, const char *name, const py_value *known, py_value *out) {
    if (p->graph) {
        *out = SCRIPT_VALUE_EXPR(script_graph_size(p, name));
        return script_expr_of(out) != NULL;
    }
    hone_var var = script_size_of(p, name);
    if (var == HONE_NO_ID && !script_new_var(p, name, script_var_of(known)->dtype, &var))
        return false;
    p->func->vars[var].is_size = true;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    return script_check_ir(p, p->run.at);
}

/* ---- sizes that a description in quotes brings in ---- */

typedef struct declaration {
    const char *name;
    uint32_t behind;
    const char *word; /* behind "T." */
} declaration;

/* `n: T.int64` among the parameters or `n = T.int64()` in the body. */
static bool declares(void *ctx, const py_node *node) {
    declaration *d = ctx;
    bool is_param = node->kind == PY_PARAM && node->name && strcmp(node->name, d->name) == 0;
    bool is_assigned = (node->kind == PY_ASSIGN || node->kind == PY_ANNOTATE) &&
                       node->items[0]->kind == PY_NAME &&
                       strcmp(node->items[0]->name, d->name) == 0;
    if (node->at < d->behind || (!is_param && !is_assigned)) return false;
    d->word = script_word_of_t(is_param                    ? node->items[0]
                               : node->kind == PY_ANNOTATE ? node->items[1]
                                                           : node->base);
    return d->word != NULL;
}

/* A size in quotes is declared behind; else it is as others of its place. */
static hone_dtype dtype_declared_behind(const script_parser *p, const char *name) {
    declaration d = {.name = name, .behind = p->names_are_sizes ? p->quoted_at : p->run.at};
    if (!py_search(p->def, declares, &d)) {
        return p->names_are_sizes ? p->size_dtype : HONE_DTYPE_I32;
    }
    return strcmp(d.word, "int64") == 0 ? HONE_DTYPE_I64 : HONE_DTYPE_I32;
}

/* T.Buffer(("n",), ...): the size n from here on. */
static bool signature_size(script_parser *p, const char *name, py_value *out) {
    hone_var var = HONE_NO_ID;
    if (!script_new_var(p, name, dtype_declared_behind(p, name), &var)) return false;
    *out = SCRIPT_VALUE_EXPR(hone_func_var_expr(&p->ir, p->func, var));
    return script_check_ir(p, p->run.at) && script_define(p, name, *out);
}

typedef struct quotation {
    const script_parser *p;
    const char *name;
} quotation;

static bool quotes(void *ctx, const py_node *node) {
    const quotation *q = ctx;
    return node->at < q->p->run.at && script_is_text(q->p, node, q->name);
}

/* T.Buffer(("n", n * 2)): the size in quotes stands before, in the same description. */
static bool is_quoted_before(const script_parser *p, const char *name) {
    quotation q = {p, name};
    return py_search(p->description, quotes, &q) != NULL;
}

/* ---- all of them ---- */

static const char *alias_of(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(aliases); i++) {
        if (strcmp(aliases[i][0], name) == 0) return aliases[i][1];
    }
    return NULL;
}

static bool is_global(const script_parser *p, const char *name) {
    for (uint32_t i = 0; i < p->global_count; i++) {
        if (strcmp(p->globals[i], name) == 0) return true;
    }
    return false;
}

bool script_is_known(const script_parser *p, const char *name) {
    return alias_of(name) || script_lookup(p, name) || is_global(p, name);
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

/* A name that nothing defines may be a size. */
static bool eval_undefined(script_parser *p, const py_node *node, py_value *out) {
    const char *name = node->name;
    if (p->graph && p->names_are_sizes) {
        *out = SCRIPT_VALUE_EXPR(script_graph_size(p, name));
        return script_expr_of(out) != NULL;
    }
    bool is_size = p->func && (p->names_are_sizes || is_quoted_before(p, name));
    if (is_size) return signature_size(p, name, out);
    if (is_curly_quote(name)) {
        return script_fail(p, node->at, "this is no quotation mark of Python; write \" or '");
    }
    return script_undefined(p, node->at, name);
}

/* In a description in quotes: a size, though it is called as words of TVMScript and functions are
 * ("len", "max", "main"). Those have something behind them there: "max(n, 4)". */
static bool is_size_by_place(const script_parser *p, const py_node *node) {
    if (!p->names_are_sizes) return false;
    const char *behind = p->source.text + node->at + strlen(node->name);
    behind += strspn(behind, " ");
    return *behind != '(' && *behind != '.';
}

bool script_eval_name(script_parser *p, const py_node *node, py_value *out) {
    const char *name = node->name;
    const py_value *known = script_lookup(p, name);
    const char *alias = known ? NULL : alias_of(name);
    if (!known && is_size_by_place(p, node)) return eval_undefined(p, node, out);
    if (known && known->kind == SCRIPT_NEWVAR && (p->graph || p->func)) {
        return shared_size(p, name, known, out);
    }
    if (known) {
        *out = *known;
        out->is_fresh = false;
    } else if (alias) {
        *out = SCRIPT_VALUE_PATH(alias);
    } else if (is_global(p, name)) {
        *out = (py_value){.kind = SCRIPT_GLOBAL, .u.s = name};
    } else if (p->module_name && strcmp(p->module_name, name) == 0) {
        *out = (py_value){.kind = SCRIPT_MODULE};
    } else {
        return eval_undefined(p, node, out);
    }
    return true;
}
