#include <string.h>

#include "ir/grow.h"
#include "schedule/trace_parse_impl.h"

/* Functions in the Python form of traces.
 *
 *   def tile(sch, block, factor=16):        a call runs the body with names of its own: what it
 *       …                                   does not find there it looks for outside
 *       return outer, inner
 *
 * The schedule is an argument like others; so are objects that nobody here looks into (a module
 * that tvm.tir.Schedule takes). */

enum { MAX_CALL_DEPTH = 16, MAX_CALLS = 1024, MAX_PARAMS = 64 };

/* what, and a name in quotes. */
static hone_status fail_about(pytrace *p, const char *where, const char *what, const char *name) {
    const char *text = hone_arena_printf(p->arena, "%s '%s'", what, name);
    return text ? pytrace_fail_at(p, where, text) : pytrace_no_memory();
}

/* ---- definitions ---- */

/* ": annotation" behind a parameter or the parameters. */
static void skip_annotation(pytrace *p, const char *stops) {
    uint32_t open = 0;
    while (p->at < p->end && *p->at != '\n') {
        if (!open && strchr(stops, *p->at)) return;
        if (*p->at == '"' || *p->at == '\'') {
            p->at = pytrace_end_of_string(p, p->at);
            continue;
        }
        if (*p->at == '(' || *p->at == '[') open++;
        if (*p->at == ')' || *p->at == ']') open--;
        p->at++;
    }
}

typedef struct params {
    uint32_t count;
    const char *names[MAX_PARAMS];
    hone_operand defaults[MAX_PARAMS];
    bool has_default[MAX_PARAMS];
} params;

static hone_status read_param(pytrace *p, params *out) {
    pytrace_skip_all(p);
    const char *start = p->at, *name = pytrace_read_name(p);
    if (!name) return pytrace_fail_at(p, start, "expected the name of a parameter");
    if (out->count == MAX_PARAMS) return pytrace_fail_at(p, start, "too many parameters");
    uint32_t i = out->count;
    if (strcmp(name, "self") != 0) out->count++;
    out->names[i] = name;
    out->has_default[i] = false;
    if (pytrace_accept(p, ':')) skip_annotation(p, ",=)");
    if (!pytrace_accept(p, '=')) return HONE_OK;
    out->has_default[i] = true;
    return pytrace_read_value(p, &out->defaults[i]);
}

static hone_status read_params(pytrace *p, params *out) {
    if (!pytrace_accept(p, '(')) return pytrace_fail(p, "expected '('");
    while (!pytrace_accept(p, ')')) {
        HONE_TRY(read_param(p, out));
        if (!pytrace_accept(p, ',') && (pytrace_skip_all(p), pytrace_peek(p) != ')'))
            return pytrace_fail(p, "expected ',' or ')'");
    }
    skip_annotation(p, ":");
    if (pytrace_peek(p) != ':') return pytrace_fail(p, "expected ':'");
    p->at++;
    return HONE_OK;
}

static uint32_t indent_at(const pytrace *p, const char *line) {
    uint32_t indent = 0;
    while (line < p->end && (*line == ' ' || *line == '\t')) {
        indent += *line == '\t' ? 8 - indent % 8 : 1;
        line++;
    }
    return indent;
}

static bool is_blank(const pytrace *p, const char *line) {
    while (line < p->end && (*line == ' ' || *line == '\t' || *line == '\r'))
        line++;
    return line == p->end || *line == '\n' || *line == '#';
}

/* Passes over the lines that are indented further than the "def". False when there are none. */
static bool skip_body(pytrace *p, uint32_t indent) {
    bool has_body = false;
    const char *after = p->at;
    while (p->at < p->end) {
        bool blank = is_blank(p, p->at);
        if (!blank && indent_at(p, p->at) <= indent) break;
        has_body = has_body || !blank;
        pytrace_skip_line(p);
        if (!blank) after = p->at;
    }
    p->at = after;
    return has_body;
}

bool pytrace_skip_suite(pytrace *p, const char *head, const char **out_start) {
    while (head > p->text && head[-1] != '\n')
        head--;
    bool is_one_line = !is_blank(p, p->at);
    *out_start = p->at;
    pytrace_skip_line(p);
    if (is_one_line) return true;
    *out_start = p->at;
    return skip_body(p, indent_at(p, head));
}

static hone_status remember(pytrace *p, const char *name, const params *from, const char *body) {
    uint32_t count = from->count;
    const char **names = hone_arena_alloc(p->arena, (count + 1) * sizeof *names);
    hone_operand *defaults = hone_arena_alloc(p->arena, (count + 1) * sizeof *defaults);
    bool *has_default = hone_arena_alloc(p->arena, (count + 1) * sizeof *has_default);
    bool has_room =
        names && defaults && has_default &&
        hone_grow(p->arena, (void **)&p->funcs, &p->func_capacity, p->func_count, sizeof *p->funcs);
    if (!has_room) return pytrace_no_memory();
    memcpy(names, from->names, count * sizeof *names);
    memcpy(defaults, from->defaults, count * sizeof *defaults);
    memcpy(has_default, from->has_default, count * sizeof *has_default);
    p->funcs[p->func_count++] = (pytrace_func){.name = name,
                                               .body = body,
                                               .body_end = p->at,
                                               .param_count = count,
                                               .params = names,
                                               .defaults = defaults,
                                               .has_default = has_default};
    return HONE_OK;
}

hone_status pytrace_read_def(pytrace *p) {
    const char *head = p->at;
    p->at += 3; /* "def" */
    pytrace_skip_blanks(p);
    const char *name = pytrace_read_name(p);
    if (!name) return pytrace_fail(p, "expected the name of the function");
    params list = {0};
    HONE_TRY(read_params(p, &list));
    const char *body;
    if (pytrace_skip_suite(p, head, &body)) return remember(p, name, &list, body);
    /* without an indented body it is a heading: what follows is about its first parameter */
    if (list.count) p->schedule_name = list.names[0];
    return HONE_OK;
}

/* "class Module:" and "@T.prim_func": programs beside the schedule are passed over. */
bool pytrace_skip_program(pytrace *p) {
    bool is_class = pytrace_starts_with_word(p, "class");
    if (!is_class && pytrace_peek(p) != '@') return false;
    const char *line = p->at;
    while (line > p->text && line[-1] != '\n')
        line--;
    uint32_t indent = indent_at(p, line);
    const char *text = p->at;
    pytrace_skip_line(p);
    static const char *const kinds[] = {"prim_func", "R.function"};
    bool is_program = is_class;
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(kinds[i]);
        for (const char *at = text; (size_t)(p->at - at) >= length && !is_program; at++)
            is_program = memcmp(at, kinds[i], length) == 0;
    }
    if (is_program && !is_class) pytrace_skip_line(p); /* its "def" */
    if (is_program) skip_body(p, indent);
    return true;
}

const pytrace_func *pytrace_find_func(const pytrace *p, const char *name) {
    for (uint32_t i = p->func_count; i > 0; i--) {
        if (strcmp(p->funcs[i - 1].name, name) == 0) return &p->funcs[i - 1];
    }
    return NULL;
}

/* ---- what is handed over ---- */

static bool ends_object(const pytrace *p) {
    char c = pytrace_peek(p);
    return c == ',' || c == ')' || c == '\n' || c == '\r' || c == '#' || c == ';' ||
           p->at == p->end;
}

/* The schedule, a name that stands for nothing here, or a value. */
static hone_status read_object(pytrace *p, pytrace_object *out) {
    *out = (pytrace_object){.operand = {.kind = HONE_OPERAND_NONE}};
    pytrace_skip_all(p);
    if (pytrace_makes_schedule(p)) {
        pytrace_begin_schedule(p);
        out->is_schedule = true;
        return HONE_OK;
    }
    const char *start = p->at, *name = pytrace_read_name(p);
    if (name) {
        bool is_schedule = strcmp(name, p->schedule_name) == 0;
        if (is_schedule && pytrace_starts_with_word(p, ".mod")) {
            p->at += 4;
            is_schedule = false;
        }
        const char *stop = p->at;
        pytrace_skip_blanks(p);
        const pytrace_binding *b = pytrace_find(p, name);
        bool is_word =
            strcmp(name, "None") == 0 || strcmp(name, "True") == 0 || strcmp(name, "False") == 0;
        if (ends_object(p) && !is_word && (!b || b->is_opaque)) {
            out->is_schedule = is_schedule;
            out->is_opaque = !is_schedule;
            p->at = stop;
            return HONE_OK;
        }
    }
    p->at = start;
    return pytrace_read_value(p, &out->operand);
}

hone_status pytrace_read_return(pytrace *p) {
    p->at += 6; /* "return" */
    p->has_returned = true;
    p->result = (pytrace_object){.operand = {.kind = HONE_OPERAND_NONE}};
    pytrace_skip_blanks(p);
    if (ends_object(p)) return HONE_OK;
    hone_operand items[MAX_PARAMS];
    uint32_t count = 0;
    for (;;) {
        HONE_TRY(read_object(p, &p->result));
        if (count == MAX_PARAMS) return pytrace_fail(p, "too many results");
        items[count++] = p->result.operand;
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) != ',') break;
        p->at++;
    }
    if (count == 1) return HONE_OK; /* it may be the schedule or a function: kept whole */
    p->result = (pytrace_object){.operand = {.kind = HONE_OPERAND_NONE}};
    return pytrace_tuple(p, items, count, &p->result.operand);
}

/* ---- calls ---- */

typedef struct arguments {
    const pytrace_func *func;
    pytrace_object *values; /* one per parameter */
    bool *given;
} arguments;

static hone_status new_arguments(pytrace *p, const pytrace_func *func, arguments *out) {
    *out = (arguments){func,
                       hone_arena_zalloc(p->arena, (func->param_count + 1) * sizeof *out->values),
                       hone_arena_zalloc(p->arena, func->param_count + 1)};
    return out->values && out->given ? HONE_OK : pytrace_no_memory();
}

static hone_status read_argument(pytrace *p, uint32_t position, arguments *io) {
    const pytrace_func *func = io->func;
    pytrace_skip_all(p);
    const char *start = p->at, *keyword = pytrace_read_keyword(p);
    uint32_t i = keyword ? 0 : position;
    while (keyword && i < func->param_count && strcmp(func->params[i], keyword) != 0)
        i++;
    if (i >= func->param_count) {
        return keyword ? fail_about(p, start, "the function has no parameter", keyword)
                       : fail_about(p, start, "too many arguments for", func->name);
    }
    if (io->given[i]) return fail_about(p, start, "given twice: argument", func->params[i]);
    io->given[i] = true;
    return read_object(p, &io->values[i]);
}

/* Runs the body with names of its own. */
static hone_status run_body(pytrace *p, const arguments *args, pytrace_object *out) {
    const pytrace_func func = *args->func; /* the list may grow meanwhile */
    pytrace caller = *p;
    p->globals = caller.globals ? caller.globals : &caller.names;
    p->names = (hone_strmap){0};
    p->at = func.body;
    p->end = func.body_end;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < func.param_count && !st; i++) {
        st = pytrace_bind_object(p, func.params[i], &args->values[i]);
    }
    if (!st) st = pytrace_run(p);
    *out = p->has_returned ? p->result : (pytrace_object){.operand = {.kind = HONE_OPERAND_NONE}};
    hone_strmap_deinit(&p->names);
    p->names = caller.names;
    p->globals = caller.globals;
    p->at = caller.at;
    p->end = caller.end;
    p->schedule_name = caller.schedule_name;
    p->has_returned = false;
    return st;
}

static hone_status call(pytrace *p, arguments *args, const char *where, pytrace_object *out) {
    const pytrace_func *func = args->func;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (args->given[i]) continue;
        if (!func->has_default[i]) {
            return fail_about(p, where, "no value for parameter", func->params[i]);
        }
        args->values[i] = (pytrace_object){.operand = func->defaults[i]};
    }
    if (p->call_depth == MAX_CALL_DEPTH || ++p->call_count > MAX_CALLS) {
        return pytrace_fail_at(p, where, "too many calls of functions");
    }
    p->call_depth++;
    hone_status st = run_body(p, args, out);
    p->call_depth--;
    return st;
}

hone_status pytrace_call_func(pytrace *p, const pytrace_func *func, pytrace_object *out) {
    const char *where = p->at;
    arguments args;
    HONE_TRY(new_arguments(p, func, &args));
    pytrace_accept(p, '(');
    for (uint32_t position = 0; !pytrace_accept(p, ')'); position++) {
        HONE_TRY(read_argument(p, position, &args));
        if (!pytrace_accept(p, ',') && (pytrace_skip_all(p), pytrace_peek(p) != ')'))
            return pytrace_fail(p, "expected ',' or ')'");
    }
    return call(p, &args, where, out);
}

hone_status pytrace_apply_func(pytrace *p, const pytrace_func *func) {
    arguments args;
    pytrace_object result;
    HONE_TRY(new_arguments(p, func, &args));
    if (func->param_count) {
        args.given[0] = true;
        args.values[0].is_schedule = true;
    }
    return call(p, &args, func->body, &result);
}
