/* schedule/python/trace_parse_map.c - index maps in the Python form of traces: lambdas, functions
 * that return one, what T.index_map, IndexMap.from_func or the like make (trace_parse_outside.c),
 * and expressions of constants.
 *
 * What stands in them is an expression of programs. */
#include <string.h>

#include "ir/text/map/index_map_parse.h"
#include "schedule/python/trace_parse_impl.h"
#include "support/core/strbuf.h"

/* ---- names in the map ---- */

/* What a name stands for, or the items of it. */
static bool find_items(const pytrace *p, const char *name, const py_value **out_items,
                       uint32_t *out_count, bool *out_is_tuple) {
    const py_value *v = py_find(&p->run, name);
    if (!v || v->kind == PYV_DICT) return false;
    *out_is_tuple = py_items(v, out_items, out_count);
    if (*out_is_tuple) return *out_count != 0;
    *out_items = v;
    *out_count = 1;
    return true;
}

/* Sampled integers. */
static bool find_ints(void *ctx, const char *name, uint32_t *out_count, const uint32_t **out_frees,
                      bool *out_is_tuple) {
    const pytrace *p = ctx;
    const py_value *items;
    if (!find_items(p, name, &items, out_count, out_is_tuple)) return false;
    uint32_t *frees = hone_arena_alloc(p->arena, (*out_count + 1) * sizeof *frees);
    for (uint32_t i = 0; frees && i < *out_count; i++) {
        bool is_one = items[i].kind == PYTRACE_RV && items[i].mark == p->epoch &&
                      p->trace->rv_kinds[items[i].count] == HONE_RV_INT;
        if (!is_one) return false;
        frees[i] = items[i].count;
    }
    *out_frees = frees;
    return frees != NULL;
}

static bool find_numbers(void *ctx, const char *name, uint32_t *out_count,
                         const int64_t **out_numbers, bool *out_is_tuple) {
    const pytrace *p = ctx;
    const py_value *items;
    if (!find_items(p, name, &items, out_count, out_is_tuple)) return false;
    int64_t *numbers = hone_arena_alloc(p->arena, (*out_count + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < *out_count; i++) {
        if (items[i].kind != PYV_INT) return false;
        numbers[i] = items[i].u.i;
    }
    *out_numbers = numbers;
    return numbers != NULL;
}

static hone_index_map_scope scope_of(pytrace *p) {
    return (hone_index_map_scope){.names = find_ints, .numbers = find_numbers, .ctx = p};
}

static py_value value_of(const pytrace *p, const hone_index_map *map) {
    return (py_value){.kind = PYTRACE_MAP, .mark = p->epoch, .u.host = map};
}

hone_status pytrace_read_map(pytrace *p, const py_node *node, py_value *out) {
    const hone_index_map_scope scope = scope_of(p);
    const hone_index_map *map;
    HONE_TRY(hone_index_map_read(p->arena, &p->source, node, &scope, 0, &map));
    *out = value_of(p, map);
    return HONE_OK;
}

/* ---- functions as maps ---- */

/* What "def f(i, j): return i // 4, j" returns; NULL where it does more than that. */
static const py_node *only_result(const py_func *func) {
    const py_node *body = func->def->items[func->def->count - 1];
    uint32_t first = body->count && body->items[0]->kind == PY_VALUE &&
                     body->items[0]->base->kind == PY_TEXT; /* a docstring */
    bool is_one = body->count == first + 1 && body->items[first]->kind == PY_RETURN;
    return is_one && func->param_count ? body->items[first]->base : NULL;
}

/* "def f(i, j): return i // 4, j" is "lambda i, j: (i // 4, j)". */
hone_status pytrace_map_of_func(pytrace *p, uint32_t at, const py_func *func, py_value *out) {
    const py_node *result = only_result(func);
    if (!result) {
        return py_fail_at(&p->run, at,
                          "a function that is an index map does nothing but return one");
    }
    hone_str text = {0};
    hone_str_append(&text, "lambda ");
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_str_printf(&text, "%s%s%s", i ? ", " : "", i == func->star ? "*" : "",
                        func->params[i]);
    }
    hone_str_append(&text, ": (");
    hone_str_append_n(&text, p->source.text + result->at, result->end - result->at);
    hone_str_append(&text, ")");
    py_scope *around = p->run.scope;
    p->run.scope = func->scope;
    const py_source source = {
        .text = hone_str_text(&text), .length = text.length, .name = p->source.name};
    const hone_index_map_scope scope = scope_of(p);
    const hone_index_map *map = NULL;
    hone_status st =
        text.failed ? py_no_memory() : hone_index_map_parse(p->arena, &source, &scope, 0, &map);
    p->run.scope = around;
    hone_str_deinit(&text);
    *out = value_of(p, map);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    return hone_status_annotate(st, "function '%s'", func->def->name);
}

/* ---- calls that make a map ---- */

typedef struct map_call {
    const hone_index_map *map, *inverse;
    hone_dtype dtype;
} map_call;

/* index_dtype="int64" and ndim=2 say what is found out here; an inverse is kept. */
static hone_status read_keyword(pytrace *p, const py_node *arg, map_call *io) {
    py_value value;
    if (arg->kind != PY_KEYWORD) {
        return py_fail_at(&p->run, arg->at, "expected an argument by its name");
    }
    HONE_TRY(py_eval(&p->run, arg->base, &value));
    if (strcmp(arg->name, "mapping_function") == 0 || strcmp(arg->name, "mapping") == 0) {
        io->map = value.kind == PYTRACE_MAP ? pytrace_map_of(&value) : NULL;
    } else if (strcmp(arg->name, "inverse_index_map") == 0) {
        if (value.kind == PYTRACE_MAP) io->inverse = pytrace_map_of(&value);
    } else if (strcmp(arg->name, "index_dtype") == 0) {
        bool is_dtype = value.kind == PYV_STRING && hone_dtype_parse(value.u.s, &io->dtype);
        if (!is_dtype) return py_fail_at(&p->run, arg->at, "index_dtype must name a dtype");
    } else if (strcmp(arg->name, "ndim") == 0) {
        bool is_count = value.kind == PYV_INT && value.u.i > 0 && value.u.i <= 64;
        if (!is_count) return py_fail_at(&p->run, arg->at, "ndim must be a number from 1 to 64");
        if (!io->map) return HONE_OK;
        return hone_index_map_instantiate(p->arena, io->map, (uint32_t)value.u.i, &io->map);
    } else {
        return py_fail_at(&p->run, arg->at, "an index map has no such argument");
    }
    return HONE_OK;
}

/* The first argument: a lambda, or a function of the text. */
static hone_status read_first(pytrace *p, const py_node *arg, map_call *io, bool *out_is_one) {
    const py_value *known = arg->kind == PY_NAME ? py_find(&p->run, arg->name) : NULL;
    bool is_func = known && known->kind == PYV_FUNC;
    py_value value;
    *out_is_one = is_func || arg->kind == PY_LAMBDA;
    if (!*out_is_one) return HONE_OK;
    HONE_TRY(is_func ? pytrace_map_of_func(p, arg->at, known->u.func, &value)
                     : pytrace_read_map(p, arg, &value));
    io->map = pytrace_map_of(&value);
    return HONE_OK;
}

hone_status pytrace_read_map_call(pytrace *p, const py_node *call, py_value *out) {
    map_call c = {.dtype = HONE_DTYPE_VOID};
    for (uint32_t i = 0; i < call->count; i++) {
        bool took = false;
        if (i == 0) HONE_TRY(read_first(p, call->items[i], &c, &took));
        if (!took) HONE_TRY(read_keyword(p, call->items[i], &c));
    }
    if (!c.map) return py_fail_at(&p->run, call->mark, "expected a lambda");
    *out = value_of(p, c.map);
    bool is_index =
        hone_dtype_equal(c.dtype, HONE_DTYPE_I32) || hone_dtype_equal(c.dtype, HONE_DTYPE_I64);
    if (is_index && !c.map->variadic) {
        out->u.host = hone_index_map_with_dtype(p->arena, c.map, c.dtype);
    }
    if (!out->u.host || !c.inverse) return out->u.host ? HONE_OK : py_no_memory();
    hone_index_map *map = hone_arena_alloc(p->arena, sizeof *map);
    if (!map) return py_no_memory();
    *map = *pytrace_map_of(out);
    map->inverse = c.inverse;
    out->u.host = map;
    return HONE_OK;
}
