/* ir/python/python_call.c - functions of the text.
 *
 *   def tile(sch, block, factor=16, *rest, unroll=True, **words):
 *       …                                       a call runs the body with names of its own: what it
 *       return outer, inner                     does not find there it looks for where it was
 * written
 *
 * What nobody here looks into (a module, say) may be an argument, too.
 */
#include <string.h>

#include "ir/python/python_run.h"

enum { MAX_PARAMS = 64 };

/* ---- definitions ---- */

typedef struct params {
    uint32_t count, star, words, only_named;
    const char *names[MAX_PARAMS];
    py_value defaults[MAX_PARAMS];
    bool has_default[MAX_PARAMS];
} params;

static hone_status add_param(py_run *p, const py_node *node, params *out) {
    if (node->op == PY_ONE_STAR) out->only_named = out->count + (node->name ? 1 : 0);
    bool is_left_out = !node->name || strcmp(node->name, "self") == 0;
    if (is_left_out) return HONE_OK;
    if (out->count == MAX_PARAMS) return py_fail_at(p, node->at, "too many parameters");
    uint32_t i = out->count++;
    if (node->op == PY_ONE_STAR) out->star = i;
    if (node->op == PY_TWO_STARS) out->words = i;
    out->names[i] = node->name;
    out->has_default[i] = node->op != PY_NO_OP || node->items[1];
    out->defaults[i] = (py_value){.kind = PYV_TUPLE};
    return node->items[1] ? py_eval(p, node->items[1], &out->defaults[i]) : HONE_OK;
}

static uint32_t at_most(uint32_t place, uint32_t count) {
    return place < count ? place : count;
}

static hone_status keep(py_run *p, const py_node *def, const params *from, const void *host_own,
                        const py_func **out) {
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
                      .star = at_most(from->star, count),
                      .words = at_most(from->words, count),
                      .only_named = at_most(at_most(from->only_named, from->words), count),
                      .host_own = host_own};
    *out = func;
    return HONE_OK;
}

hone_status py_new_func(py_run *p, const py_node *def, const void *host_own, py_value *out) {
    params list = {.star = MAX_PARAMS, .words = MAX_PARAMS, .only_named = MAX_PARAMS};
    *out = (py_value){.kind = PYV_FUNC};
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++)
        HONE_TRY(add_param(p, def->items[i], &list));
    return keep(p, def, &list, host_own, &out->u.func);
}

hone_status py_define(py_run *p, const py_node *def) {
    py_value value;
    HONE_TRY(py_new_func(p, def, NULL, &value));
    if (!p->call_depth) p->last_func = value.u.func;
    return py_bind(p, def->name, &value);
}

/* ---- arguments ---- */

typedef struct arguments {
    const py_func *func;
    py_value *values; /* one per parameter */
    bool *given;
    py_value rest, words; /* for the parameters with stars */
    uint32_t position;
} arguments;

static hone_status new_arguments(py_run *p, const py_func *func, arguments *out) {
    *out = (arguments){.func = func};
    out->values = hone_arena_zalloc(p->arena, (func->param_count + 1) * sizeof *out->values);
    out->given = hone_arena_zalloc(p->arena, func->param_count + 1);
    if (!out->values || !out->given) return py_no_memory();
    HONE_TRY(py_new_list(p, PYV_DICT, &out->words));
    return py_new_list(p, PYV_LIST, &out->rest);
}

static hone_status store(py_run *p, uint32_t at, const py_value *value, arguments *io) {
    const py_func *func = io->func;
    uint32_t i = io->position++;
    if (i >= func->star && func->star < func->param_count) {
        return py_append(p, at, &io->rest, value);
    }
    if (i >= func->only_named) {
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

static hone_status store_named(py_run *p, uint32_t at, const char *name, const py_value *value,
                               arguments *io) {
    const py_func *func = io->func;
    const py_value key = PYV_OF_STRING(name);
    uint32_t i = 0;
    while (i < func->param_count && strcmp(func->params[i], name) != 0)
        i++;
    bool is_other = i == func->param_count || i == func->star || i == func->words;
    if (is_other && func->words == func->param_count) {
        return py_fail_about(p, at, "the function has no parameter ", name, "");
    }
    if (is_other ? py_get(&io->words, &key) != NULL : io->given[i]) {
        return py_fail_about(p, at, "given twice: argument ", name, "");
    }
    if (is_other) return py_put(p, at, &io->words, &key, value);
    io->given[i] = true;
    io->values[i] = *value;
    return HONE_OK;
}

static hone_status store_words(py_run *p, uint32_t at, const py_value *dict, arguments *io) {
    if (dict->kind != PYV_DICT) return py_fail_at(p, at, "expected a dictionary");
    for (uint32_t i = 0; i < dict->u.list->count; i++) {
        const py_value *key = &dict->u.list->keys[i];
        if (key->kind != PYV_STRING) return py_fail_at(p, at, py_word_is_no_string);
        HONE_TRY(store_named(p, at, key->u.s, &dict->u.list->items[i], io));
    }
    return HONE_OK;
}

/* A name that stands for nothing here is something outside: a module, say. */
static hone_status eval_object(py_run *p, const py_node *node, py_value *out) {
    bool is_outside = p->host->has_outside && node->kind == PY_NAME && !py_find(p, node->name);
    if (!is_outside) return py_eval(p, node, out);
    *out = PYV_OF_UNKNOWN(node->name);
    return HONE_OK;
}

static hone_status read_argument(py_run *p, const py_node *node, arguments *io) {
    py_value value;
    bool has_word = node->kind == PY_KEYWORD, is_all = node->kind == PY_STAR;
    bool has_words = node->kind == PY_STARSTAR;
    HONE_TRY(eval_object(p, has_word || is_all || has_words ? node->base : node, &value));
    if (is_all) return store_all(p, node->at, &value, io);
    if (has_words) return store_words(p, node->at, &value, io);
    return has_word ? store_named(p, node->at, node->name, &value, io)
                    : store(p, node->at, &value, io);
}

static hone_status fill_defaults(py_run *p, uint32_t at, arguments *args) {
    const py_func *func = args->func;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (i == func->star) {
            args->values[i] = py_tuple_of(&args->rest);
        } else if (i == func->words) {
            args->values[i] = args->words;
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

hone_status py_run_body(py_run *p, const py_func *func, const py_value *values, py_value *out) {
    py_scope *caller = p->scope;
    uint32_t suite_depth = p->suite_depth;
    p->scope = py_new_scope(p, func->scope);
    p->suite_depth = 0; /* loops around are none of its own */
    hone_status st = p->scope ? HONE_OK : py_no_memory();
    for (uint32_t i = 0; i < func->param_count && !st; i++)
        st = py_bind(p, func->params[i], &values[i]);
    if (!st) st = py_run_suite(p, func->def->items[func->def->count - 1]);
    *out = p->flow == PY_RETURNS ? p->result : PYV_OF_NONE;
    p->scope = caller;
    p->suite_depth = suite_depth;
    p->flow = PY_GOES_ON;
    return st;
}

static hone_status call(py_run *p, arguments *args, uint32_t at, py_value *out) {
    const py_host *host = p->host;
    const py_func *func = args->func;
    uint32_t most = host->max_calls ? host->max_calls : PY_MAX_CALLS;
    uint32_t deepest = host->max_call_depth ? host->max_call_depth : PY_MAX_CALL_DEPTH;
    HONE_TRY(fill_defaults(p, at, args));
    if (p->call_depth == deepest || ++p->call_count > most) {
        return py_fail_at(p, at, "too many calls of functions");
    }
    p->call_depth++;
    hone_status st = func->host_own ? host->body(p, func, at, args->values, out)
                                    : py_run_body(p, func, args->values, out);
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
    if (func->param_count && first) HONE_TRY(store(p, func->def->at, first, &args));
    return call(p, &args, func->def->at, &ignored);
}
