/* ir/python/python_call.c - functions of the text.
 *
 *   def tile(sch, block, factor=16, *rest):     a call runs the body with names of its own: what it
 *       …                                       does not find there it looks for where it was
 *       return outer, inner                     written
 *
 * What nobody here looks into (a module, say) may be an argument, too.
 */
#include <string.h>

#include "ir/python/python_run.h"

enum { MAX_CALL_DEPTH = 16, MAX_CALLS = 1024, MAX_PARAMS = 64 };

/* ---- definitions ---- */

typedef struct params {
    uint32_t count, star;
    const char *names[MAX_PARAMS];
    py_value defaults[MAX_PARAMS];
    bool has_default[MAX_PARAMS];
} params;

static hone_status add_param(py_run *p, const py_node *node, params *out) {
    if (node->op == PY_TWO_STARS) {
        return py_fail_at(p, node->at, "'**' is not known here: name the parameters");
    }
    bool is_left_out = !node->name || strcmp(node->name, "self") == 0;
    if (is_left_out) return HONE_OK;
    if (out->count == MAX_PARAMS) return py_fail_at(p, node->at, "too many parameters");
    uint32_t i = out->count++;
    bool is_star = node->op == PY_ONE_STAR;
    if (is_star) out->star = i;
    out->names[i] = node->name;
    out->has_default[i] = is_star || node->items[1];
    out->defaults[i] = (py_value){.kind = PYV_TUPLE};
    return node->items[1] ? py_eval(p, node->items[1], &out->defaults[i]) : HONE_OK;
}

static hone_status keep(py_run *p, const py_node *def, const params *from, const py_func **out) {
    uint32_t count = from->count;
    const char **names = hone_arena_alloc(p->arena, (count + 1) * sizeof *names);
    py_value *defaults = hone_arena_alloc(p->arena, (count + 1) * sizeof *defaults);
    bool *has_default = hone_arena_alloc(p->arena, (count + 1) * sizeof *has_default);
    py_func *func = hone_arena_alloc(p->arena, sizeof *func);
    if (!names || !defaults || !has_default || !func) return py_no_memory();
    memcpy(names, from->names, count * sizeof *names);
    memcpy(defaults, from->defaults, count * sizeof *defaults);
    memcpy(has_default, from->has_default, count * sizeof *has_default);
    *func = (py_func){.def = def,
                      .scope = p->scope,
                      .param_count = count,
                      .params = names,
                      .defaults = defaults,
                      .has_default = has_default,
                      .star = from->star < count ? from->star : count};
    *out = func;
    return HONE_OK;
}

hone_status py_define(py_run *p, const py_node *def) {
    params list = {.star = MAX_PARAMS};
    const py_func *func;
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++)
        HONE_TRY(add_param(p, def->items[i], &list));
    HONE_TRY(keep(p, def, &list, &func));
    if (!p->call_depth) p->last_func = func;
    const py_value value = {.kind = PYV_FUNC, .u.func = func};
    return py_bind(p, def->name, &value);
}

/* ---- arguments ---- */

typedef struct arguments {
    const py_func *func;
    py_value *values; /* one per parameter */
    bool *given;
    py_value rest; /* a list, for the parameter with the star */
    uint32_t position;
} arguments;

static hone_status new_arguments(py_run *p, const py_func *func, arguments *out) {
    *out = (arguments){.func = func};
    out->values = hone_arena_zalloc(p->arena, (func->param_count + 1) * sizeof *out->values);
    out->given = hone_arena_zalloc(p->arena, func->param_count + 1);
    if (!out->values || !out->given) return py_no_memory();
    return py_new_list(p, PYV_LIST, &out->rest);
}

static hone_status store(py_run *p, uint32_t at, const py_value *value, arguments *io) {
    const py_func *func = io->func;
    uint32_t i = io->position++;
    if (i >= func->star && func->star < func->param_count) {
        return py_append(p, at, &io->rest, value);
    }
    if (i >= func->param_count) {
        return py_fail_about(p, at, "too many arguments for ", func->def->name, "");
    }
    io->given[i] = true;
    io->values[i] = *value;
    return HONE_OK;
}

static hone_status store_all(py_run *p, uint32_t at, const py_value *list, arguments *io) {
    const py_value *items;
    uint32_t count;
    HONE_TRY(py_iterate(p, at, list, &items, &count));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(store(p, at, &items[i], io));
    return HONE_OK;
}

static hone_status store_named(py_run *p, const py_node *node, const py_value *value,
                               arguments *io) {
    const py_func *func = io->func;
    uint32_t i = 0;
    while (i < func->param_count && strcmp(func->params[i], node->name) != 0)
        i++;
    if (i == func->param_count) {
        return py_fail_about(p, node->at, "the function has no parameter ", node->name, "");
    }
    if (io->given[i]) {
        return py_fail_about(p, node->at, "given twice: argument ", func->params[i], "");
    }
    io->given[i] = true;
    io->values[i] = *value;
    return HONE_OK;
}

/* A name that stands for nothing here is something outside: a module, say. */
static hone_status eval_object(py_run *p, const py_node *node, py_value *out) {
    if (node->kind != PY_NAME || py_find(p, node->name)) return py_eval(p, node, out);
    *out = PYV_OF_UNKNOWN(node->name);
    return HONE_OK;
}

static hone_status read_argument(py_run *p, const py_node *node, arguments *io) {
    py_value value;
    if (node->kind == PY_STARSTAR) {
        return py_fail_at(p, node->at, "'**' is not known here: give arguments by name");
    }
    bool has_word = node->kind == PY_KEYWORD, is_all = node->kind == PY_STAR;
    HONE_TRY(eval_object(p, has_word || is_all ? node->base : node, &value));
    if (is_all) return store_all(p, node->at, &value, io);
    return has_word ? store_named(p, node, &value, io) : store(p, node->at, &value, io);
}

static hone_status fill_defaults(py_run *p, uint32_t at, arguments *args) {
    const py_func *func = args->func;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (i == func->star) {
            args->values[i] = py_tuple_of(&args->rest);
        } else if (!args->given[i]) {
            if (!func->has_default[i]) {
                return py_fail_about(p, at, "no value for parameter ", func->params[i], "");
            }
            args->values[i] = func->defaults[i];
        }
    }
    return HONE_OK;
}

/* ---- calls ---- */

/* Runs the body with names of its own. */
static hone_status run_body(py_run *p, const arguments *args, py_value *out) {
    const py_func *func = args->func;
    py_scope *caller = p->scope;
    p->scope = py_new_scope(p, func->scope);
    hone_status st = p->scope ? HONE_OK : py_no_memory();
    for (uint32_t i = 0; i < func->param_count && !st; i++)
        st = py_bind(p, func->params[i], &args->values[i]);
    if (!st) st = py_run_suite(p, func->def->items[func->def->count - 1]);
    *out = p->flow == PY_RETURNS ? p->result : PYV_OF_NONE;
    p->scope = caller;
    p->flow = PY_GOES_ON;
    return st;
}

static hone_status call(py_run *p, arguments *args, uint32_t at, py_value *out) {
    HONE_TRY(fill_defaults(p, at, args));
    if (p->call_depth == MAX_CALL_DEPTH || ++p->call_count > MAX_CALLS) {
        return py_fail_at(p, at, "too many calls of functions");
    }
    p->call_depth++;
    hone_status st = run_body(p, args, out);
    p->call_depth--;
    return st;
}

hone_status py_call_func(py_run *p, const py_func *func, const py_node *node, py_value *out) {
    arguments args;
    HONE_TRY(new_arguments(p, func, &args));
    for (uint32_t i = 0; i < node->count; i++)
        HONE_TRY(read_argument(p, node->items[i], &args));
    return call(p, &args, node->mark, out);
}

hone_status py_apply_func(py_run *p, const py_func *func, const py_value *first) {
    arguments args;
    py_value ignored;
    HONE_TRY(new_arguments(p, func, &args));
    if (func->param_count) HONE_TRY(store(p, func->def->at, first, &args));
    return call(p, &args, func->def->at, &ignored);
}
