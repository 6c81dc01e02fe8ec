#include <ctype.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"
#include "schedule/trace/trace_args.h"

/* What the Python form of traces says of things that lie outside of it: modules that it imports,
 * programs in the same text, what is made of them (tvm.build(sch.mod)). Nobody looks into them; but
 * they may not get hold of the schedule, whose steps would be missed. */

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

static const char *read_path(pytrace *p, const char **out_first) {
    const char *path = NULL;
    pytrace_skip_space(p);
    while (pytrace_peek(p) == '.')
        p->at++; /* from . import x */
    for (*out_first = NULL;;) {
        const char *name = pytrace_read_name(p);
        if (!name) return path ? path : "";
        path = path ? hone_arena_printf(p->arena, "%s.%s", path, name) : name;
        if (!path) return NULL;
        if (!*out_first) *out_first = name;
        if (pytrace_peek(p) != '.') return path;
        p->at++;
    }
}

/* "as name" */
static const char *read_alias(pytrace *p, const char *otherwise) {
    if (!pytrace_accept_word(p, "as")) return otherwise;
    pytrace_skip_space(p);
    const char *name = pytrace_read_name(p);
    return name ? name : otherwise;
}

static hone_status bind_import(pytrace *p, const char *name, const char *path) {
    if (!path) return pytrace_no_memory();
    pytrace_value value = PYTRACE_OF_OUTSIDE(path);
    value.count = !is_known_module(path, strcspn(path, "."));
    return name ? pytrace_bind(p, name, &value) : HONE_OK;
}

hone_status pytrace_refuse_strange(pytrace *p, const char *where, const pytrace_value *value) {
    const pytrace_value *items;
    uint32_t count;
    if (value->kind == PYTRACE_OUTSIDE && value->count) {
        return pytrace_fail_about(p, where,
                                  "expected a step of the schedule, an assignment or a "
                                  "definition: ",
                                  value->u.s, " is not run here");
    }
    if (!pytrace_items(value, &items, &count)) return HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != PYTRACE_OUTSIDE) continue;
        HONE_TRY(pytrace_refuse_strange(p, where, &items[i]));
    }
    return HONE_OK;
}

static hone_status import_names(pytrace *p, const char *module) {
    bool is_open = pytrace_open(p, '(');
    do {
        pytrace_skip_space(p);
        const char *name = pytrace_read_name(p);
        if (!name) break; /* "*", or a comma at the end */
        const char *path = hone_arena_printf(p->arena, "%s.%s", module, name);
        HONE_TRY(bind_import(p, read_alias(p, name), path));
    } while (pytrace_accept(p, ','));
    if (is_open && !pytrace_close(p, ')')) return pytrace_fail(p, "expected ')'");
    pytrace_accept(p, '*');
    return HONE_OK;
}

hone_status pytrace_read_import(pytrace *p) {
    const char *first;
    if (pytrace_accept_word(p, "from")) {
        const char *module = read_path(p, &first);
        if (!module) return pytrace_no_memory();
        if (!pytrace_accept_word(p, "import")) return pytrace_fail(p, "expected 'import'");
        return import_names(p, module);
    }
    p->at += strlen("import");
    do {
        const char *path = read_path(p, &first);
        const char *alias = read_alias(p, NULL);
        HONE_TRY(bind_import(p, alias ? alias : first, alias ? path : first ? first : path));
    } while (pytrace_accept(p, ','));
    return HONE_OK;
}

/* ---- what is shown ---- */

/* Is "object.name" a step? object may be NULL. */
static bool is_step(const pytrace *p, const char *object, const char *name) {
    const pytrace_value *known = object ? pytrace_find(p, object) : NULL;
    hone_inst_kind kind;
    return known && known->kind == PYTRACE_SCHEDULE && strncmp(name, "get_", 4) != 0 &&
           hone_inst_find_python(name, &kind);
}

hone_status pytrace_skip_shown(pytrace *p) {
    const char *object = NULL;
    pytrace behind = *p;
    pytrace_skip_statement(&behind);
    while (p->at < behind.at) {
        const char *start = p->at, *name = NULL;
        if (*start == '"' || *start == '\'') {
            p->at = pytrace_end_of_string(p, start);
        } else if (*start == '#') {
            pytrace_skip_line(p);
        } else if ((name = pytrace_read_name(p)) && is_step(p, object, name)) {
            return pytrace_fail_at(p, start,
                                   "what is shown is not read, and this is a step: expected it on "
                                   "a line of its own");
        } else if (!name) {
            p->at++;
        }
        object = name ? name : *start == '.' ? object : NULL;
    }
    p->at = behind.at;
    return HONE_OK;
}

/* ---- programs ---- */

hone_status pytrace_skip_program(pytrace *p, bool *out_took) {
    static const char *const kinds[] = {"prim_func", "R.function"};
    bool is_class = pytrace_starts_with_word(p, "class"), is_program = is_class;
    *out_took = is_class || pytrace_peek(p) == '@';
    if (!*out_took) return HONE_OK;
    const char *begin = p->at, *text = begin, *body;
    if (!is_class) pytrace_skip_line(p);
    for (size_t i = 0; i < 2 && !is_class; i++) {
        size_t length = strlen(kinds[i]);
        for (const char *at = text; (size_t)(p->at - at) >= length && !is_program; at++)
            is_program = memcmp(at, kinds[i], length) == 0;
    }
    if (!is_program) return HONE_OK;
    if (!p->program) p->program = text;
    pytrace_skip_all(p);
    text = p->at;
    if (!pytrace_accept_word(p, "def") && !pytrace_accept_word(p, "class")) return HONE_OK;
    pytrace_skip_blanks(p);
    const char *name = pytrace_read_name(p);
    pytrace_skip_line(p);
    p->at--; /* to the end of its first line: the body begins behind it */
    pytrace_skip_suite(p, text, &body);
    if (!name) return HONE_OK;
    HONE_TRY(pytrace_note_program(p, name, begin));
    return pytrace_bind(p, name, &PYTRACE_OF_OUTSIDE(name));
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

static hone_status product(pytrace *p, const char *where, const pytrace_args *args,
                           pytrace_value *out) {
    const pytrace_value *items;
    uint32_t count;
    if (args->count != 1) return pytrace_fail_at(p, where, "prod takes one list");
    HONE_TRY(pytrace_iterate(p, where, &args->items[0], &items, &count));
    *out = PYTRACE_OF_INT(1);
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(pytrace_compute(p, where, '*', &items[i], out));
    return HONE_OK;
}

/* Something else is called: it may not know the schedule. */
static hone_status call_outside(pytrace *p, pytrace_value *io) {
    const char *where = p->at;
    pytrace_args args;
    bool reaches = false;
    HONE_TRY(pytrace_read_args(p, &args));
    if (ends_with(io->u.s, "math.prod") || ends_with(io->u.s, "np.prod") ||
        ends_with(io->u.s, "numpy.prod")) {
        return product(p, where, &args, io);
    }
    if (ends_with(io->u.s, "TensorIntrin.register"))
        return pytrace_register_intrin(p, where, &args);
    if (ends_with(io->u.s, "clang.create_llvm")) {
        return pytrace_fail_at(p, where,
                               "no LLVM text is made here: annotate \"pragma_import_c\" with the C "
                               "text itself");
    }
    for (uint32_t i = 0; i < args.count; i++)
        reaches = reaches || pytrace_is_of_schedule(&args.items[i]);
    for (uint32_t i = 0; i < args.keyword_count; i++)
        reaches = reaches || pytrace_is_of_schedule(&args.values[i]);
    if (!reaches) return HONE_OK;
    return pytrace_fail_about(p, where, "what ", io->u.s,
                              " does to the schedule is not known here: write it as a function of "
                              "this text");
}

static hone_status call(pytrace *p, const char *start, pytrace_value *io) {
    if (ends_with(io->u.s, "Schedule")) {
        pytrace_begin_schedule(p, io);
        return HONE_OK;
    }
    if (makes_map(io->u.s)) return pytrace_read_map_call(p, io);
    if (!makes_number(io->u.s)) return call_outside(p, io);
    p->at = start;
    return pytrace_read_map(p, io);
}

hone_status pytrace_read_outside(pytrace *p, const char *start, pytrace_value *io, bool *out_took) {
    char c = pytrace_peek(p);
    *out_took = true;
    if (c == '(') return call(p, start, io);
    if (c == '[') { /* of any kind */
        pytrace_skip_brackets(p);
        return HONE_OK;
    }
    p->at++;
    pytrace_skip_space(p);
    const char *name = pytrace_read_name(p);
    int64_t number = 0;
    if (!name) return pytrace_fail(p, "expected a name");
    io->u.s = hone_arena_printf(p->arena, "%s.%s", io->u.s, name);
    if (!io->u.s) return pytrace_no_memory();
    if (find_constant(io->u.s, &number)) *io = PYTRACE_OF_INT(number);
    return HONE_OK;
}
