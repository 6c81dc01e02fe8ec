/* ir/text/map/index_map_parse.c - reads index maps that are Python: lambda i, j: (i // 16, j, i %
 * 16).
 *
 * The lambda may stand anywhere in another text (a trace). It is read by the parser of programs
 * over an empty function that holds its variables: the parameters, and the names that its reader
 * knows.
 */
#include "ir/text/map/index_map_parse.h"

#include <string.h>

#include "ir/text/read/script_impl.h"

typedef struct map_reader {
    script_parser p;
    const hone_index_map_text *text;
    hone_index_map *map;
    uint32_t *frees; /* by variable: the reader's number; parameters come behind them */
    uint32_t free_count, free_capacity;
} map_reader;

static bool add_free(map_reader *r, const char *name, uint32_t number, hone_dtype dtype,
                     script_value *out) {
    hone_var var;
    if (!script_grow(&r->p, r->p.arena, (void **)&r->frees, &r->free_capacity, r->free_count,
                     sizeof *r->frees) ||
        !script_new_var(&r->p, name, dtype, &var)) {
        return false;
    }
    r->frees[r->free_count++] = number;
    *out = SCRIPT_VALUE_EXPR(hone_expr_var(&r->p.ir, dtype, var));
    return out->u.expr || script_check_ir(&r->p, r->p.pos);
}

static bool define_tuple(script_parser *p, const char *name, script_value *items, uint32_t count,
                         bool is_tuple) {
    script_value tuple = {.kind = SCRIPT_TUPLE, .count = count, .u.items = items};
    return script_define(p, name, is_tuple || count != 1 ? tuple : items[0]);
}

static bool define_numbers(map_reader *r, const char *name, bool *out_found) {
    script_parser *p = &r->p;
    uint32_t count = 0;
    const int64_t *numbers = NULL;
    bool is_tuple = false;
    *out_found =
        r->text->numbers && r->text->numbers(r->text->ctx, name, &count, &numbers, &is_tuple);
    if (!*out_found) return true;
    script_value *items = script_alloc(p, p->scratch, (size_t)count + 1, sizeof *items);
    for (uint32_t k = 0; items && k < count; k++)
        items[k] = SCRIPT_VALUE_INT(numbers[k]);
    return items && define_tuple(p, name, items, count, is_tuple);
}

static bool define_variables(map_reader *r, const char *name, hone_dtype dtype) {
    script_parser *p = &r->p;
    uint32_t count = 0;
    const uint32_t *frees = NULL;
    bool is_tuple = false;
    if (!r->text->names || !r->text->names(r->text->ctx, name, &count, &frees, &is_tuple)) {
        return true;
    }
    script_value *items = script_alloc(p, p->scratch, count, sizeof *items);
    if (!items) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (!add_free(r, name, frees[k], dtype, &items[k])) return false;
    }
    return define_tuple(p, name, items, count, is_tuple);
}

/* A parameter of the lambda hides what its name stands for outside. */
static bool is_parameter(const script_parser *p, const char *name) {
    if (!script_at_word(p, "lambda")) return false;
    for (uint32_t i = p->pos + 1; i < p->token_count; i++) {
        if (script_token_is(p, i, PY_TOKEN_OP, ":")) return false;
        if (script_token_is(p, i, PY_TOKEN_NAME, name)) return true;
    }
    return false;
}

/* The names in the text that stand for something are variables or numbers. */
static bool define_frees(map_reader *r, hone_dtype dtype) {
    script_parser *p = &r->p;
    for (uint32_t i = 0; i < p->token_count; i++) {
        const py_token *t = &p->tokens[i];
        bool is_member = i && p->tokens[i - 1].kind == PY_TOKEN_OP &&
                         p->source.text[p->tokens[i - 1].start] == '.';
        bool is_number = false;
        if (t->kind != PY_TOKEN_NAME || is_member) continue;
        const char *name = script_token_text(p, t);
        if (!name) return false;
        if (is_parameter(p, name) || script_lookup(p, name)) continue;
        if (!define_numbers(r, name, &is_number)) return false;
        if (!is_number && !define_variables(r, name, dtype)) return false;
    }
    return true;
}

static bool is_separator(const script_value *v) {
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
static bool add_range(map_reader *r, const script_value *v, const hone_expr **indices) {
    script_parser *p = &r->p;
    bool is_pair = v->kind == SCRIPT_TUPLE || v->kind == SCRIPT_LIST;
    if (is_pair && v->count != 2) {
        return script_fail(p, v->at, "a range is (begin, end), found %u items", v->count);
    }
    if (!script_to_expr(p, is_pair ? &v->u.items[0] : v, &indices[0])) return false;
    if (is_pair) return script_to_expr(p, &v->u.items[1], &indices[1]);
    indices[1] = script_fold_binary(&p->ir, HONE_OP_ADD, indices[0], hone_expr_i32(&p->ir, 1));
    return indices[1] || script_check_ir(p, v->at);
}

static bool convert_body(map_reader *r, const script_value *body) {
    script_parser *p = &r->p;
    const script_value *items = NULL;
    uint32_t count = 0, made = 0;
    script_items(body, &items, &count);
    for (uint32_t i = 0; i < count; i++) {
        r->map->is_ranges |= items[i].kind == SCRIPT_TUPLE || items[i].kind == SCRIPT_LIST;
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

static bool visit_pure(void *ctx, const hone_expr *e) {
    bool *is_pure = ctx;
    bool opaque = e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_LET ||
                  e->kind == HONE_EXPR_STRING || e->dtype.lanes != 1 ||
                  (e->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)e->op));
    *is_pure = *is_pure && !opaque;
    return *is_pure;
}

static bool check_pure(map_reader *r, uint32_t at) {
    bool is_pure = true;
    for (uint32_t i = 0; i < r->map->count; i++)
        hone_expr_walk(r->map->indices[i], visit_pure, &is_pure);
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
static hone_dtype dtype_of_text(const hone_index_map_text *t) {
    static const char word[] = "int64";
    for (size_t at = t->from; at + sizeof word - 1 <= t->to; at++) {
        if (memcmp(t->text + at, word, sizeof word - 1) == 0) return HONE_DTYPE_I64;
    }
    return HONE_DTYPE_I32;
}

static bool read_map(map_reader *r, uint32_t rank) {
    script_parser *p = &r->p;
    hone_lambda lambda = {0};
    hone_dtype dtype = dtype_of_text(r->text);
    script_value body;
    if (!script_define(p, "IndexMap", SCRIPT_VALUE_PATH("IndexMap")) ||
        !script_define(p, "te", SCRIPT_VALUE_PATH("te")) || !define_frees(r, dtype)) {
        return false;
    }
    if (script_take_word(p, "lambda") && !script_parse_params(p, dtype, rank, &lambda)) {
        return false;
    }
    uint32_t at = p->pos;
    if (!script_parse_expr(p, &body) || !convert_body(r, &body) || !check_pure(r, at)) {
        return false;
    }
    if (script_peek(p)->kind != PY_TOKEN_NEWLINE) {
        return script_expected(p, "the end of the index map", "");
    }
    return number_vars(r, &lambda);
}

/* A parameter of any number: "lambda *i" or "lambda i, *rest". */
static bool is_variadic(const script_parser *p) {
    bool has_star = false;
    if (!script_at_word(p, "lambda")) return false;
    for (uint32_t i = 1; i < p->token_count; i++) {
        const py_token *t = &p->tokens[i];
        if (t->kind == PY_TOKEN_NAME) continue;
        if (t->kind != PY_TOKEN_OP || t->length != 1) return false;
        char c = p->source.text[t->start];
        bool stands_before_name = i + 1 < p->token_count && p->tokens[i + 1].kind == PY_TOKEN_NAME;
        if (c == ':') return has_star;
        if (c != ',' && !(c == '*' && stands_before_name)) return false;
        has_star |= c == '*';
    }
    return false;
}

/* Reads the piece as a text of its own; the place of an error is counted in it. */
static hone_status read_piece(hone_arena *arena, const hone_index_map_text *text, uint32_t rank,
                              const py_source *source, size_t from, hone_index_map *map) {
    map_reader r = {.text = text, .map = map};
    script_parser *p = &r.p;
    py_token *tokens = NULL;
    hone_status st = HONE_OK;
    p->source = *source;
    p->arena = p->ir.arena = arena;
    p->budget = SCRIPT_STATEMENT_BUDGET;
    p->value_budget = 100000;
    p->scratch = hone_arena_create(1 << 12);
    if (!p->scratch) return HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    HONE_TRY_GOTO(st,
                  py_lex_piece(source, from, from + (text->to - text->from), p->scratch, &tokens,
                               &p->token_count),
                  done);
    p->tokens = tokens;
    p->func = hone_func_create(arena, "index_map");
    bool ok = p->func != NULL;
    if (ok && !rank && is_variadic(p)) {
        map->variadic = hone_arena_strndup(arena, text->text + text->from, text->to - text->from);
        ok = map->variadic != NULL;
    } else if (ok) {
        ok = read_map(&r, rank);
    }
    st = p->error;
    if (!ok && !st) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    hone_status left = hone_ir_finish(&p->ir);
    st = hone_status_join(st, left);
done:
    hone_arena_destroy(p->scratch);
    return st;
}

hone_status hone_index_map_parse(hone_arena *arena, const hone_index_map_text *text, uint32_t rank,
                                 const hone_index_map **out_map) {
    *out_map = NULL;
    hone_index_map *map = hone_arena_zalloc(arena, sizeof *map);
    if (!map) return HONE_ERROR(HONE_CODE_NO_MEMORY, "index map");
    py_source piece = {.text = text->text + text->from,
                       .length = text->length - text->from,
                       .name = text->source_name};
    hone_status st = read_piece(arena, text, rank, &piece, 0, map);
    if (st && hone_status_code(st) != HONE_CODE_NO_MEMORY) {
        /* once more for the place in the whole text, which only a message needs */
        hone_status_free(st);
        py_source whole = {.text = text->text, .length = text->length, .name = text->source_name};
        *map = (hone_index_map){0};
        st = read_piece(arena, text, rank, &whole, text->from, map);
    }
    if (!st) *out_map = map;
    return st;
}

hone_status hone_index_map_instantiate(hone_arena *arena, const hone_index_map *map, uint32_t rank,
                                       const hone_index_map **out_map) {
    *out_map = map;
    if (!map->variadic) return HONE_OK;
    size_t length = strlen(map->variadic);
    hone_index_map_text text = {
        .source_name = "index map", .text = map->variadic, .to = length, .length = length};
    return hone_index_map_parse(arena, &text, rank, out_map);
}
