/* schedule/python/trace_parse_outside.c - what the Python form of traces says of things that lie
 * outside of it: modules that it imports, programs in the same text, what is made of them
 * (tvm.build(sch.mod)). Nobody looks into them; but they may not get hold of the schedule, whose
 * steps would be missed. */
#include <ctype.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"
#include "schedule/trace/trace_args.h"

static bool is_known_module(const char *name, size_t length) {
    static const char *const names[] = {"tvm", "T",  "tir",   "tirx", "s_tir",  "I",
                                        "R",   "np", "numpy", "ms",   "IPython"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return true;
    }
    return false;
}

bool pytrace_is_known_module(const char *name) {
    return is_known_module(name, strlen(name));
}

/* ---- imports ---- */

static hone_status bind_import(pytrace *p, const char *name, const char *path) {
    if (!path) return py_no_memory();
    py_value value = PYV_OF_UNKNOWN(path);
    value.count = !is_known_module(path, strcspn(path, "."));
    return name ? py_bind(&p->run, name, &value) : HONE_OK;
}

hone_status pytrace_refuse_strange(pytrace *p, uint32_t at, const py_value *value) {
    const py_value *items;
    uint32_t count;
    if (value->kind == PYV_UNKNOWN && value->count) {
        return py_fail_about(&p->run, at,
                             "expected a step of the schedule, an assignment or a "
                             "definition: ",
                             value->u.s, " is not run here");
    }
    if (!py_items(value, &items, &count)) return HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != PYV_UNKNOWN) continue;
        HONE_TRY(pytrace_refuse_strange(p, at, &items[i]));
    }
    return HONE_OK;
}

/* import a.b: the first name stands for it; import a.b as c. */
static hone_status import_module(pytrace *p, const py_node *alias) {
    const py_node *as = alias->items[0];
    if (as) return bind_import(p, as->name, alias->name);
    const char *first = hone_arena_strndup(p->arena, alias->name, strcspn(alias->name, "."));
    return bind_import(p, first, first);
}

hone_status pytrace_read_import(pytrace *p, const py_node *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        const py_node *alias = node->items[i];
        if (node->kind == PY_IMPORT) {
            HONE_TRY(import_module(p, alias));
            continue;
        }
        const char *path = hone_arena_printf(p->arena, "%s.%s", node->name, alias->name);
        HONE_TRY(bind_import(p, alias->items[0] ? alias->items[0]->name : alias->name, path));
    }
    return HONE_OK;
}

/* ---- what is shown ---- */

/* Does a step of the schedule stand at this NAME "." NAME? */
static bool names_step(pytrace *p, const char *object, const char *name) {
    hone_inst_kind kind;
    const py_value *known = py_find(&p->run, object);
    return known && known->kind == PYTRACE_SCHEDULE && strncmp(name, "get_", 4) != 0 &&
           hone_inst_find_python(name, &kind);
}

static const char *token_text(const pytrace *p, const py_token *token) {
    return hone_arena_strndup(p->arena, p->source.text + token->start, token->length);
}

hone_status pytrace_check_shown(pytrace *p, const py_node *node) {
    py_token *tokens;
    uint32_t count;
    const py_places places = {.source = &p->source};
    HONE_TRY(py_lex_piece(&places, node->at, node->end, p->arena, &tokens, &count));
    for (uint32_t i = 2; i < count; i++) {
        const py_token *t = &tokens[i];
        bool is_member = t->kind == PY_TOKEN_NAME && t[-2].kind == PY_TOKEN_NAME &&
                         py_token_is(&p->source, t - 1, PY_TOKEN_OP, ".");
        if (!is_member) continue;
        const char *object = token_text(p, t - 2), *name = token_text(p, t);
        if (!object || !name) return py_no_memory();
        if (!names_step(p, object, name)) continue;
        return py_fail_at(&p->run, t->start,
                          "what is shown is not read, and this is a step: expected it on a line of "
                          "its own");
    }
    return HONE_OK;
}

/* ---- programs ---- */

/* Does the text of the decorator name what makes programs? */
static bool makes_program(const pytrace *p, const py_node *decorator) {
    static const char *const kinds[] = {"prim_func", "R.function"};
    for (size_t i = 0; i < HONE_COUNT(kinds); i++) {
        size_t length = strlen(kinds[i]);
        for (uint32_t at = decorator->at; at + length <= decorator->end; at++) {
            if (memcmp(p->source.text + at, kinds[i], length) == 0) return true;
        }
    }
    return false;
}

hone_status pytrace_take_program(pytrace *p, const py_node *node, bool *out_took) {
    *out_took = node->kind == PY_CLASS;
    for (uint32_t i = 0; i < node->count_ahead; i++)
        *out_took = *out_took || makes_program(p, node->items[i]);
    if (!*out_took) return HONE_OK;
    if (!p->program) p->program = node;
    HONE_TRY(pytrace_note_program(p, node));
    return py_bind(&p->run, node->name, &PYV_OF_UNKNOWN(node->name));
}

/* ---- what is made of them ---- */

static bool ends_with(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n == m ? strcmp(path, ending) == 0
                  : n > m && path[n - m - 1] == '.' && strcmp(path + n - m, ending) == 0;
}

/* IterVar.CommReduce and the like, as numbers; ForKind's too. */
static bool find_constant(const char *path, int64_t *out) {
    static const struct {
        const char *name;
        int64_t number;
    } constants[] = {
        {"IterVar.DataPar",        0},
        {"IterVar.ThreadIndex",    1},
        {"IterVar.CommReduce",     2},
        {"IterVar.Ordered",        3},
        {"IterVar.DimInfo",        4},
        {"ForKind.SERIAL",         0},
        {"ForKind.PARALLEL",       1},
        {"ForKind.VECTORIZED",     2},
        {"ForKind.UNROLLED",       3},
        {"ForKind.THREAD_BINDING", 4},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (!ends_with(path, constants[i].name)) continue;
        *out = constants[i].number;
        return true;
    }
    return false;
}

static bool makes_map(const char *path) {
    return ends_with(path, "index_map") || ends_with(path, "IndexMap.from_func") ||
           ends_with(path, "IndexMap.from_func_with_separators");
}

/* Calls that make a number with a dtype. */
static bool makes_number(const char *path) {
    static const char *const names[] = {"IntImm",    "FloatImm",  "const",
                                        "min_value", "max_value", "bool"};
    const char *last = strrchr(path, '.');
    last = last ? last + 1 : path;
    static const char *const types[] = {"int", "uint", "float", "bfloat"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ends_with(path, names[i])) return true;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t n = strlen(types[i]);
        if (strncmp(last, types[i], n) == 0 && isdigit((unsigned char)last[n])) return true;
    }
    return false;
}

static hone_status product(pytrace *p, uint32_t at, const py_args *args, py_value *out) {
    const py_value *items;
    uint32_t count;
    if (args->count != 1) return py_fail_at(&p->run, at, "prod takes one list");
    HONE_TRY(py_iterate(&p->run, at, &args->items[0], &items, &count));
    *out = PYV_OF_INT(1);
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(py_compute(&p->run, at, PY_MUL, &items[i], out));
    return HONE_OK;
}

/* A schedule or a part of one, also within a list. */
static bool is_of_schedule(const py_value *v, uint32_t depth) {
    const py_value *items;
    uint32_t count;
    if (v->kind == PYTRACE_RV || v->kind == PYTRACE_SCHEDULE) return true;
    if (depth > PY_MAX_NESTING || !py_items(v, &items, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (is_of_schedule(&items[i], depth + 1)) return true;
        if (v->kind == PYV_DICT && is_of_schedule(&v->u.list->items[i], depth + 1)) return true;
    }
    return false;
}

static bool reach_schedule(const py_args *args) {
    bool reaches = false;
    for (uint32_t i = 0; i < args->count; i++)
        reaches = reaches || is_of_schedule(&args->items[i], 0);
    for (uint32_t i = 0; i < args->keyword_count; i++)
        reaches = reaches || is_of_schedule(&args->keywords[i].value, 0);
    return reaches;
}

/* Something else is called: it may not know the schedule. */
static hone_status call_other(pytrace *p, const py_node *call, py_value *io) {
    uint32_t at = call->mark;
    py_args args;
    HONE_TRY(py_eval_args(&p->run, call, &args));
    if (ends_with(io->u.s, "math.prod") || ends_with(io->u.s, "np.prod") ||
        ends_with(io->u.s, "numpy.prod")) {
        return product(p, at, &args, io);
    }
    if (ends_with(io->u.s, "TensorIntrin.register")) return pytrace_register_intrin(p, at, &args);
    if (ends_with(io->u.s, "clang.create_llvm")) {
        return py_fail_at(&p->run, at,
                          "no LLVM text is made here: annotate \"pragma_import_c\" with the C text "
                          "itself");
    }
    if (!reach_schedule(&args)) return HONE_OK;
    return py_fail_about(&p->run, at, "what ", io->u.s,
                         " does to the schedule is not known here: write it as a function of this "
                         "text");
}

hone_status pytrace_call_outside(pytrace *p, const py_node *call, py_value *io) {
    if (ends_with(io->u.s, "Schedule")) {
        pytrace_begin_schedule(p, io);
        return HONE_OK;
    }
    if (makes_map(io->u.s)) return pytrace_read_map_call(p, call, io);
    if (makes_number(io->u.s)) return pytrace_read_map(p, call, io);
    return call_other(p, call, io);
}

hone_status pytrace_read_path(pytrace *p, const py_node *node, py_value *io) {
    int64_t number = 0;
    io->u.s = hone_arena_printf(p->arena, "%s.%s", io->u.s, node->name);
    if (!io->u.s) return py_no_memory();
    if (find_constant(io->u.s, &number)) *io = PYV_OF_INT(number);
    return HONE_OK;
}
