/* ir/text/map/index_map_parse.c - reads index maps that are Python: lambda i, j: (i // 16, j, i %
 * 16).
 *
 * The reader of programs reads them, over an empty function that holds their variables: the
 * parameters, and the names that stand for something around.
 */
#include "ir/text/map/index_map_parse.h"

#include <string.h>

#include "ir/text/read/script_impl.h"

typedef struct map_reader {
    script_parser p;
    const hone_index_map_scope *scope;
    const py_node *node;
    hone_index_map *map;
    uint32_t *frees; /* by variable: the reader's number; parameters come behind them */
    uint32_t free_count, free_capacity;
} map_reader;

static bool add_free(map_reader *r, const char *name, uint32_t number, hone_dtype dtype,
                     py_value *out) {
    hone_var var;
    if (!script_grow(&r->p, r->p.arena, (void **)&r->frees, &r->free_capacity, r->free_count,
                     sizeof *r->frees) ||
        !script_new_var(&r->p, name, dtype, &var)) {
        return false;
    }
    r->frees[r->free_count++] = number;
    *out = SCRIPT_VALUE_EXPR(hone_expr_var(&r->p.ir, dtype, var));
    return script_expr_of(out) || script_check_ir(&r->p, r->p.run.at);
}

static bool define_tuple(script_parser *p, const char *name, py_value *items, uint32_t count,
                         bool is_tuple) {
    py_value tuple = {.kind = PYV_TUPLE, .count = count, .u.items = items};
    return script_define(p, name, is_tuple || count != 1 ? tuple : items[0]);
}

static bool define_numbers(map_reader *r, const char *name, bool *out_found) {
    script_parser *p = &r->p;
    uint32_t count = 0;
    const int64_t *numbers = NULL;
    bool is_tuple = false;
    *out_found =
        r->scope->numbers && r->scope->numbers(r->scope->ctx, name, &count, &numbers, &is_tuple);
    if (!*out_found) return true;
    py_value *items = script_alloc(p, p->scratch, (size_t)count + 1, sizeof *items);
    for (uint32_t k = 0; items && k < count; k++)
        items[k] = PYV_OF_INT(numbers[k]);
    return items && define_tuple(p, name, items, count, is_tuple);
}

static bool define_variables(map_reader *r, const char *name, hone_dtype dtype) {
    script_parser *p = &r->p;
    uint32_t count = 0;
    const uint32_t *frees = NULL;
    bool is_tuple = false;
    if (!r->scope->names || !r->scope->names(r->scope->ctx, name, &count, &frees, &is_tuple)) {
        return true;
    }
    py_value *items = script_alloc(p, p->scratch, count, sizeof *items);
    if (!items) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (!add_free(r, name, frees[k], dtype, &items[k])) return false;
    }
    return define_tuple(p, name, items, count, is_tuple);
}

/* A parameter of the lambda hides what its name stands for outside. */
static bool is_parameter(const py_node *node, const char *name) {
    for (uint32_t i = 0; node->kind == PY_LAMBDA && i + 1 < node->count; i++) {
        const char *param = node->items[i]->name;
        if (param && strcmp(param, name) == 0) return true;
    }
    return false;
}

typedef struct free_search {
    map_reader *r;
    hone_dtype dtype;
} free_search;

/* The names in the map that stand for something are variables or numbers. Goes on (false) until
 * something is wrong. */
static bool define_free(void *ctx, const py_node *node) {
    const free_search *s = ctx;
    map_reader *r = s->r;
    bool is_number = false;
    bool is_own = node->kind != PY_NAME || is_parameter(r->node, node->name) ||
                  script_lookup(&r->p, node->name);
    if (is_own) return false;
    if (!define_numbers(r, node->name, &is_number)) return true;
    return !is_number && !define_variables(r, node->name, s->dtype);
}

static bool is_separator(const py_value *v) {
    static const char ending[] = ".AXIS_SEPARATOR";
    size_t length = v->kind == SCRIPT_PATH ? strlen(v->u.s) : 0;
    return length >= sizeof ending && strcmp(v->u.s + length - sizeof ending + 1, ending) == 0;
}

static bool keep_separator(map_reader *r, uint32_t at) {
    uint32_t n = r->map->separator_count;
    int32_t *places = script_alloc(&r->p, r->p.arena, n + 1, sizeof *places);
    if (!places) return false;
    for (uint32_t i = 0; i < n; i++)
        places[i] = r->map->separators[i];
    places[n] = (int32_t)at;
    r->map->separators = places;
    r->map->separator_count = n + 1;
    return true;
}

/* (begin, end), or one index i, which is (i, i + 1). */
static bool add_range(map_reader *r, const py_value *v, const hone_expr **indices) {
    script_parser *p = &r->p;
    const py_value *ends;
    uint32_t count;
    bool is_pair = script_is_list(v);
    script_items(v, &ends, &count);
    if (is_pair && count != 2) {
        return script_fail(p, v->at, "a range is (begin, end), found %u items", count);
    }
    if (!script_to_expr(p, &ends[0], &indices[0])) return false;
    if (is_pair) return script_to_expr(p, &ends[1], &indices[1]);
    indices[1] = script_fold_binary(&p->ir, HONE_OP_ADD, indices[0], hone_expr_i32(&p->ir, 1));
    return indices[1] || script_check_ir(p, v->at);
}

static bool convert_body(map_reader *r, const py_value *body) {
    script_parser *p = &r->p;
    const py_value *items = NULL;
    uint32_t count = 0, made = 0;
    script_items(body, &items, &count);
    for (uint32_t i = 0; i < count; i++) {
        r->map->is_ranges |= script_is_list(&items[i]);
    }
    const hone_expr **indices = script_alloc(p, p->arena, 2 * (size_t)count, sizeof *indices);
    if (!indices) return false;
    for (uint32_t i = 0; i < count; i++) {
        bool ok = true;
        if (is_separator(&items[i])) {
            ok = keep_separator(r, made);
        } else if (r->map->is_ranges) {
            ok = add_range(r, &items[i], &indices[made]);
            made += 2;
        } else {
            ok = script_to_expr(p, &items[i], &indices[made++]);
        }
        if (!ok) return false;
    }
    r->map->indices = indices;
    r->map->count = made;
    return true;
}

static bool is_impure(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_LET || e->kind == HONE_EXPR_STRING ||
           e->dtype.lanes != 1 || hone_expr_is_effect(e);
}

static bool check_pure(map_reader *r, uint32_t at) {
    bool is_pure = true;
    for (uint32_t i = 0; i < r->map->count && is_pure; i++)
        is_pure = !hone_expr_find(r->map->indices[i], is_impure, NULL);
    return is_pure || script_fail(&r->p, at, "an index map computes from its parameters only");
}

/* Parameters come first in the map, the free variables were made first: exchanges them. */
static bool number_vars(map_reader *r, const hone_lambda *lambda) {
    script_parser *p = &r->p;
    hone_index_map *map = r->map;
    uint32_t frees = r->free_count, params = lambda->param_count, count = frees + params;
    hone_var *to = script_alloc(p, p->scratch, count, sizeof *to);
    hone_var_info *vars = script_alloc(p, p->arena, count, sizeof *vars);
    const hone_expr **indices = script_alloc(p, p->arena, map->count, sizeof *indices);
    if (!to || !vars || !indices) return false;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = i < frees ? params + i : i - frees;
        vars[to[i]] = p->func->vars[i];
    }
    for (uint32_t i = 0; i < map->count; i++)
        indices[i] = hone_expr_copy(&p->ir, map->indices[i], to, NULL);
    map->vars = vars;
    map->indices = indices;
    map->frees = r->frees;
    map->param_count = params;
    map->free_count = frees;
    return script_check_ir(p, 0);
}

/* The body says T.int64 where the map is over 64-bit indices. */
static bool says_int64(void *ctx, const py_node *node) {
    const map_reader *r = ctx;
    return (node->kind == PY_ATTRIBUTE && strcmp(node->name, "int64") == 0) ||
           script_is_text(&r->p, node, "int64");
}

static bool read_map(map_reader *r, uint32_t rank) {
    script_parser *p = &r->p;
    hone_lambda lambda = {0};
    const py_node *body = r->node;
    bool is_wide = py_search(r->node, says_int64, r) != NULL;
    free_search frees = {r, is_wide ? HONE_DTYPE_I64 : HONE_DTYPE_I32};
    py_value v;
    if (!script_define(p, "IndexMap", SCRIPT_VALUE_PATH("IndexMap")) ||
        !script_define(p, "te", SCRIPT_VALUE_PATH("te")) ||
        py_search(r->node, define_free, &frees)) {
        return false;
    }
    if (body->kind == PY_LAMBDA) {
        if (!script_lambda_params(p, body, frees.dtype, rank, &lambda)) return false;
        body = body->items[body->count - 1];
    }
    return script_eval(p, body, &v) && convert_body(r, &v) && check_pure(r, body->at) &&
           number_vars(r, &lambda);
}

/* A parameter of any number: "lambda *i" or "lambda i, *rest". */
static bool is_variadic(const py_node *node) {
    for (uint32_t i = 0; node->kind == PY_LAMBDA && i + 1 < node->count; i++) {
        if (node->items[i]->op == PY_ONE_STAR) return true;
    }
    return false;
}

static bool read_node(map_reader *r, uint32_t rank) {
    script_parser *p = &r->p;
    const py_node *node = r->node;
    if (rank || !is_variadic(node)) {
        p->func = hone_func_create(p->arena, "index_map");
        return p->func && read_map(r, rank);
    }
    r->map->variadic =
        hone_arena_strndup(p->arena, p->source.text + node->at, node->end - node->at);
    return r->map->variadic != NULL;
}

static hone_status read_with(map_reader *r, uint32_t rank) {
    script_parser *p = &r->p;
    p->scratch = hone_arena_create(1 << 12);
    if (!p->scratch) return HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    script_begin(p);
    bool ok = read_node(r, rank);
    hone_status st = p->error;
    if (!ok && !st) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    st = hone_status_join(st, hone_ir_finish(&p->ir));
    script_end(p);
    hone_arena_destroy(p->scratch);
    return st;
}

hone_status hone_index_map_read(hone_arena *arena, const py_source *source, const py_node *node,
                                const hone_index_map_scope *scope, uint32_t rank,
                                const hone_index_map **out_map) {
    static const hone_index_map_scope nothing = {0};
    hone_index_map *map = hone_arena_zalloc(arena, sizeof *map);
    *out_map = NULL;
    if (!map) return HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    map_reader r = {.scope = scope ? scope : &nothing, .node = node, .map = map};
    r.p = (script_parser){.source = *source,
                          .places = {.source = source},
                          .arena = arena,
                          .ir = {.arena = arena},
                          .budget = SCRIPT_STATEMENT_BUDGET,
                          .value_budget = 100000};
    HONE_TRY(read_with(&r, rank));
    *out_map = map;
    return HONE_OK;
}

static hone_status read_text(hone_arena *arena, hone_arena *scratch, const py_source *source,
                             const hone_index_map_scope *scope, uint32_t rank,
                             const hone_index_map **out_map) {
    static const py_parse_options options = {0};
    const py_node *suite;
    HONE_TRY(py_parse(source, &options, scratch, &suite));
    bool is_one = suite->count == 1 && suite->items[0]->kind == PY_VALUE;
    if (!is_one) {
        return py_error_at_byte(source, HONE_CODE_INVALID, suite->at, "expected an index map");
    }
    return hone_index_map_read(arena, source, suite->items[0]->base, scope, rank, out_map);
}

hone_status hone_index_map_parse(hone_arena *arena, const py_source *source,
                                 const hone_index_map_scope *scope, uint32_t rank,
                                 const hone_index_map **out_map) {
    *out_map = NULL;
    hone_arena *scratch = hone_arena_create(1 << 12); /* the tree */
    if (!scratch) return HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    hone_status st = read_text(arena, scratch, source, scope, rank, out_map);
    hone_arena_destroy(scratch);
    return st;
}

hone_status hone_index_map_instantiate(hone_arena *arena, const hone_index_map *map, uint32_t rank,
                                       const hone_index_map **out_map) {
    *out_map = map;
    if (!map->variadic) return HONE_OK;
    const py_source text = {
        .name = "index map", .text = map->variadic, .length = strlen(map->variadic)};
    return hone_index_map_parse(arena, &text, NULL, rank, out_map);
}
