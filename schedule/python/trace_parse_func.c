#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Functions in the Python form of traces.
 *
 *   def tile(sch, block, factor=16, *rest):     a call runs the body with names of its own: what it
 *       …                                       does not find there it looks for where it was
 *       return outer, inner                     written
 *
 * The schedule is an argument like others; so are things that nobody here looks into (a module
 * that tvm.tir.Schedule takes). */

enum { MAX_CALL_DEPTH = 16, MAX_CALLS = 1024, MAX_PARAMS = 64 };

/* ---- definitions ---- */

/* ": annotation" behind a parameter or the parameters. */
static void skip_annotation(pytrace *p, const char *stops) {
    uint32_t open = 0;
    while (p->at < p->end && *p->at && *p->at != '\n') {
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
    uint32_t count, star;
    const char *names[MAX_PARAMS];
    pytrace_value defaults[MAX_PARAMS];
    bool has_default[MAX_PARAMS];
} params;

static hone_status read_param(pytrace *p, params *out) {
    pytrace_skip_space(p);
    const char *start = p->at;
    if (p->end - p->at > 1 && p->at[0] == '*' && p->at[1] == '*') {
        return pytrace_fail(p, "'**' is not known here: name the parameters");
    }
    bool is_star = pytrace_accept(p, '*');
    const char *name = pytrace_read_name(p);
    if (!name && is_star) return HONE_OK; /* what follows is given by name */
    if (!name && pytrace_accept(p, '/')) return HONE_OK;
    if (!name) return pytrace_fail_at(p, start, "expected the name of a parameter");
    if (out->count == MAX_PARAMS) return pytrace_fail_at(p, start, "too many parameters");
    uint32_t i = out->count;
    if (strcmp(name, "self") != 0) out->count++;
    if (is_star) out->star = i;
    out->names[i] = name;
    out->has_default[i] = is_star;
    out->defaults[i] = (pytrace_value){.kind = PYTRACE_TUPLE};
    if (pytrace_accept(p, ':')) skip_annotation(p, ",=)");
    if (!pytrace_accept(p, '=')) return HONE_OK;
    out->has_default[i] = true;
    return pytrace_read_value(p, &out->defaults[i]);
}

static hone_status read_params(pytrace *p, params *out) {
    if (!pytrace_open(p, '(')) return pytrace_fail(p, "expected '('");
    while (!pytrace_close(p, ')')) {
        HONE_TRY(read_param(p, out));
        HONE_TRY(pytrace_next_item(p, ')'));
    }
    skip_annotation(p, ":");
    if (pytrace_peek(p) != ':') return pytrace_fail(p, "expected ':'");
    p->at++;
    return HONE_OK;
}

static hone_status remember(pytrace *p, const char *name, const params *from, const char *body) {
    uint32_t count = from->count;
    const char **names = hone_arena_alloc(p->arena, (count + 1) * sizeof *names);
    pytrace_value *defaults = hone_arena_alloc(p->arena, (count + 1) * sizeof *defaults);
    bool *has_default = hone_arena_alloc(p->arena, (count + 1) * sizeof *has_default);
    pytrace_func *func = hone_arena_alloc(p->arena, sizeof *func);
    if (!names || !defaults || !has_default || !func) return pytrace_no_memory();
    memcpy(names, from->names, count * sizeof *names);
    memcpy(defaults, from->defaults, count * sizeof *defaults);
    memcpy(has_default, from->has_default, count * sizeof *has_default);
    *func = (pytrace_func){.name = name,
                           .body = body,
                           .body_end = p->at,
                           .scope = p->scope,
                           .param_count = count,
                           .params = names,
                           .defaults = defaults,
                           .has_default = has_default,
                           .star = from->star};
    const pytrace_value value = {.kind = PYTRACE_FUNC, .u.func = func};
    if (!p->call_depth) p->last_func = func;
    return pytrace_bind(p, name, &value);
}

hone_status pytrace_read_def(pytrace *p) {
    const char *head = p->at;
    p->at += 3; /* "def" */
    pytrace_skip_blanks(p);
    const char *name = pytrace_read_name(p);
    if (!name) return pytrace_fail(p, "expected the name of the function");
    params list = {.star = MAX_PARAMS};
    HONE_TRY(read_params(p, &list));
    if (list.star >= list.count) list.star = list.count;
    const char *body;
    if (pytrace_skip_suite(p, head, &body)) return remember(p, name, &list, body);
    /* without an indented body it is a heading: what follows is about its first parameter */
    const pytrace_value schedule = {.kind = PYTRACE_SCHEDULE, .epoch = p->epoch};
    return list.count ? pytrace_bind(p, list.names[0], &schedule) : HONE_OK;
}

hone_status pytrace_read_return(pytrace *p) {
    p->at += 6; /* "return" */
    pytrace_value value = PYTRACE_OF_NONE;
    pytrace_skip_blanks(p);
    char c = pytrace_peek(p);
    bool is_bare = p->at == p->end || c == '\n' || c == '#' || c == ';';
    if (!is_bare) HONE_TRY(pytrace_read_values(p, &value)); /* may call functions that return */
    p->flow = PYTRACE_RETURNS;
    p->result = value;
    return HONE_OK;
}

/* ---- calls ---- */

typedef struct arguments {
    const pytrace_func *func;
    pytrace_value *values; /* one per parameter */
    bool *given;
    pytrace_value rest; /* a list, for the parameter with the star */
} arguments;

static hone_status new_arguments(pytrace *p, const pytrace_func *func, arguments *out) {
    *out = (arguments){.func = func};
    out->values = hone_arena_zalloc(p->arena, (func->param_count + 1) * sizeof *out->values);
    out->given = hone_arena_zalloc(p->arena, func->param_count + 1);
    if (!out->values || !out->given) return pytrace_no_memory();
    return pytrace_new_list(p, PYTRACE_LIST, &out->rest);
}

/* A name that stands for nothing here is something outside: a module, say. */
static hone_status read_object(pytrace *p, pytrace_value *out) {
    pytrace_skip_space(p);
    const char *start = p->at, *name = pytrace_read_name(p);
    if (name) {
        pytrace_skip_space(p);
        char c = pytrace_peek(p);
        bool is_word =
            strcmp(name, "None") == 0 || strcmp(name, "True") == 0 || strcmp(name, "False") == 0;
        if ((c == ',' || c == ')') && !is_word && !pytrace_find(p, name)) {
            *out = PYTRACE_OF_OUTSIDE(name);
            return HONE_OK;
        }
    }
    p->at = start;
    return pytrace_read_value(p, out);
}

static hone_status store(pytrace *p, const char *where, uint32_t *io_position,
                         const pytrace_value *value, arguments *io) {
    const pytrace_func *func = io->func;
    uint32_t i = (*io_position)++;
    if (i >= func->star && func->star < func->param_count) {
        return pytrace_push(p, &io->rest, value);
    }
    if (i >= func->param_count) {
        return pytrace_fail_about(p, where, "too many arguments for ", func->name, "");
    }
    io->given[i] = true;
    io->values[i] = *value;
    return HONE_OK;
}

static hone_status read_argument(pytrace *p, uint32_t *io_position, arguments *io) {
    const pytrace_func *func = io->func;
    const pytrace_value *items;
    pytrace_value value;
    uint32_t count, i = 0;
    pytrace_skip_space(p);
    const char *start = p->at;
    bool is_all = pytrace_accept(p, '*');
    if (is_all && pytrace_peek(p) == '*') {
        return pytrace_fail_at(p, start, "'**' is not known here: give arguments by name");
    }
    const char *keyword = is_all ? NULL : pytrace_read_keyword(p);
    HONE_TRY(read_object(p, &value));
    if (is_all) {
        HONE_TRY(pytrace_iterate(p, start, &value, &items, &count));
        for (uint32_t k = 0; k < count; k++)
            HONE_TRY(store(p, start, io_position, &items[k], io));
        return HONE_OK;
    }
    if (!keyword) return store(p, start, io_position, &value, io);
    while (i < func->param_count && strcmp(func->params[i], keyword) != 0)
        i++;
    if (i == func->param_count) {
        return pytrace_fail_about(p, start, "the function has no parameter ", keyword, "");
    }
    if (io->given[i]) {
        return pytrace_fail_about(p, start, "given twice: argument ", func->params[i], "");
    }
    io->given[i] = true;
    io->values[i] = value;
    return HONE_OK;
}

static hone_status fill_defaults(pytrace *p, const char *where, arguments *args) {
    const pytrace_func *func = args->func;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (i == func->star) {
            args->values[i] = pytrace_tuple_of(&args->rest);
        } else if (!args->given[i]) {
            if (!func->has_default[i]) {
                return pytrace_fail_about(p, where, "no value for parameter ", func->params[i], "");
            }
            args->values[i] = func->defaults[i];
        }
    }
    return HONE_OK;
}

/* Runs the body with names of its own. */
static hone_status run_body(pytrace *p, const arguments *args, pytrace_value *out) {
    const pytrace_func *func = args->func;
    const pytrace caller = *p;
    p->scope = pytrace_new_scope(p, func->scope);
    p->at = func->body;
    p->end = func->body_end;
    p->open = 0;
    hone_status st = p->scope ? HONE_OK : pytrace_no_memory();
    for (uint32_t i = 0; i < func->param_count && !st; i++)
        st = pytrace_bind(p, func->params[i], &args->values[i]);
    if (!st) st = pytrace_run(p);
    *out = p->flow == PYTRACE_RETURNS ? p->result : PYTRACE_OF_NONE;
    p->scope = caller.scope;
    p->at = caller.at;
    p->end = caller.end;
    p->open = caller.open;
    p->flow = PYTRACE_GOES_ON;
    return st;
}

static hone_status call(pytrace *p, arguments *args, const char *where, pytrace_value *out) {
    HONE_TRY(fill_defaults(p, where, args));
    if (p->call_depth == MAX_CALL_DEPTH || ++p->call_count > MAX_CALLS) {
        return pytrace_fail_at(p, where, "too many calls of functions");
    }
    p->call_depth++;
    hone_status st = run_body(p, args, out);
    p->call_depth--;
    return st;
}

hone_status pytrace_call_func(pytrace *p, const pytrace_func *func, pytrace_value *out) {
    const char *where = p->at;
    arguments args;
    uint32_t position = 0;
    HONE_TRY(new_arguments(p, func, &args));
    pytrace_open(p, '(');
    while (!pytrace_close(p, ')')) {
        HONE_TRY(read_argument(p, &position, &args));
        HONE_TRY(pytrace_next_item(p, ')'));
    }
    return call(p, &args, where, out);
}

hone_status pytrace_apply_func(pytrace *p, const pytrace_func *func) {
    arguments args;
    pytrace_value result;
    HONE_TRY(new_arguments(p, func, &args));
    if (func->param_count) {
        args.given[0] = true;
        args.values[0] = (pytrace_value){.kind = PYTRACE_SCHEDULE, .epoch = p->epoch};
    }
    return call(p, &args, func->body, &result);
}
