#include <ctype.h>
#include <string.h>

#include "ir/text/map/index_map_parse.h"
#include "schedule/python/trace_parse_impl.h"
#include "support/strbuf.h"

/* Index maps in the Python form of traces.
 *
 *   map := "lambda" … | maker "(" map {"," keyword "=" value} ")" | an expression of constants
 *
 * A maker is T.index_map, IndexMap.from_func or the like (trace_parse_outside.c).
 *
 * What stands behind `lambda` is an expression of programs and is read by their parser; here only
 * its end is looked for. */

/* ---- names in the map ---- */

/* What a name stands for, or the items of it. */
static bool find_items(const pytrace *p, const char *name, const pytrace_value **out_items,
                       uint32_t *out_count, bool *out_is_tuple) {
    const pytrace_value *v = pytrace_find(p, name);
    if (!v || v->kind == PYTRACE_DICT) return false;
    *out_is_tuple = pytrace_items(v, out_items, out_count);
    if (*out_is_tuple) return *out_count != 0;
    *out_items = v;
    *out_count = 1;
    return true;
}

/* Sampled integers. */
static bool find_ints(void *ctx, const char *name, uint32_t *out_count, const uint32_t **out_frees,
                      bool *out_is_tuple) {
    const pytrace *p = ctx;
    const pytrace_value *items;
    if (!find_items(p, name, &items, out_count, out_is_tuple)) return false;
    uint32_t *frees = hone_arena_alloc(p->arena, (*out_count + 1) * sizeof *frees);
    for (uint32_t i = 0; frees && i < *out_count; i++) {
        bool is_one = items[i].kind == PYTRACE_RV && items[i].epoch == p->epoch &&
                      p->trace->rv_kinds[items[i].u.rv] == HONE_RV_INT;
        if (!is_one) return false;
        frees[i] = items[i].u.rv;
    }
    *out_frees = frees;
    return frees != NULL;
}

static bool find_numbers(void *ctx, const char *name, uint32_t *out_count,
                         const int64_t **out_numbers, bool *out_is_tuple) {
    const pytrace *p = ctx;
    const pytrace_value *items;
    if (!find_items(p, name, &items, out_count, out_is_tuple)) return false;
    int64_t *numbers = hone_arena_alloc(p->arena, (*out_count + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < *out_count; i++) {
        if (items[i].kind != PYTRACE_INT) return false;
        numbers[i] = items[i].u.i;
    }
    *out_numbers = numbers;
    return numbers != NULL;
}

static hone_status parse_map(pytrace *p, const hone_index_map_text *text, pytrace_value *out) {
    hone_index_map_text full = *text;
    full.source_name = p->source;
    full.names = find_ints;
    full.numbers = find_numbers;
    full.ctx = p;
    *out = (pytrace_value){.kind = PYTRACE_MAP, .epoch = p->epoch};
    return hone_index_map_parse(p->arena, &full, 0, &out->u.map);
}

hone_status pytrace_read_map(pytrace *p, pytrace_value *out) {
    static const char *const ends[] = {"if", "else", "for", "and", "or", NULL};
    const char *start = p->at;
    p->at = pytrace_scan(p, ends); /* none of them within a lambda */
    const hone_index_map_text text = {.text = p->text,
                                      .from = (size_t)(start - p->text),
                                      .to = (size_t)(p->at - p->text),
                                      .length = (size_t)(p->end - p->text)};
    return parse_map(p, &text, out);
}

/* ---- functions as maps ---- */

static bool is_return(const pytrace *p) {
    return pytrace_starts_with_word(p, "return");
}

/* "def f(i, j): return i // 4, j" is "lambda i, j: (i // 4, j)". */
hone_status pytrace_map_of_func(pytrace *p, const char *where, const pytrace_func *func,
                                pytrace_value *out) {
    static const char wrong[] = "a function that is an index map does nothing but return one";
    pytrace ahead = *p;
    ahead.at = func->body;
    ahead.end = func->body_end;
    ahead.open = 0;
    pytrace_skip_all(&ahead);
    if (pytrace_peek(&ahead) == '"' || pytrace_peek(&ahead) == '\'') { /* a docstring */
        ahead.at = pytrace_end_of_string(&ahead, ahead.at);
        pytrace_skip_all(&ahead);
    }
    if (!is_return(&ahead) || !func->param_count) return pytrace_fail_at(p, where, wrong);
    ahead.at += strlen("return");
    const char *body = ahead.at;
    pytrace_skip_line(&ahead);
    size_t length = (size_t)(ahead.at - body);
    pytrace_skip_all(&ahead);
    if (ahead.at != ahead.end) return pytrace_fail_at(p, where, wrong);
    hone_str text = {0};
    hone_str_append(&text, "lambda ");
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_str_printf(&text, "%s%s%s", i ? ", " : "", i == func->star ? "*" : "",
                        func->params[i]);
    }
    hone_str_append(&text, ": (");
    hone_str_append_n(&text, body, length);
    hone_str_append(&text, ")");
    pytrace_scope *scope = p->scope;
    p->scope = func->scope;
    const hone_index_map_text whole = {
        .text = hone_str_text(&text), .to = text.length, .length = text.length};
    hone_status st = text.failed ? pytrace_no_memory() : parse_map(p, &whole, out);
    p->scope = scope;
    hone_str_deinit(&text);
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    return hone_status_annotate(st, "function '%s'", func->name);
}

/* ---- calls that make a map ---- */

/* index_dtype="int64" and ndim=2 say what is found out here; an inverse is kept. */
static hone_status read_keyword(pytrace *p, pytrace_value *io, const hone_index_map **io_inverse,
                                hone_dtype *io_dtype) {
    pytrace_value value;
    const char *start = p->at, *name = pytrace_read_name(p);
    bool is_keyword = name && pytrace_accept(p, '=');
    if (!is_keyword) return pytrace_fail_at(p, start, "expected an argument by its name");
    HONE_TRY(pytrace_read_value(p, &value));
    if (strcmp(name, "mapping_function") == 0 || strcmp(name, "mapping") == 0) {
        *io = value;
    } else if (strcmp(name, "inverse_index_map") == 0) {
        if (value.kind == PYTRACE_MAP) *io_inverse = value.u.map;
    } else if (strcmp(name, "index_dtype") == 0) {
        bool is_dtype = value.kind == PYTRACE_STRING && hone_dtype_parse(value.u.s, io_dtype);
        if (!is_dtype) return pytrace_fail_at(p, start, "index_dtype must name a dtype");
    } else if (strcmp(name, "ndim") == 0) {
        bool is_count = value.kind == PYTRACE_INT && value.u.i > 0 && value.u.i <= 64;
        if (!is_count) return pytrace_fail_at(p, start, "ndim must be a number from 1 to 64");
        if (io->kind == PYTRACE_MAP) {
            return hone_index_map_instantiate(p->arena, io->u.map, (uint32_t)value.u.i, &io->u.map);
        }
    } else {
        return pytrace_fail_at(p, start, "an index map has no such argument");
    }
    return HONE_OK;
}

/* The first argument: a lambda, or a function of the text. */
static hone_status read_first(pytrace *p, pytrace_value *out, bool *out_is_one) {
    pytrace_skip_space(p);
    const char *start = p->at;
    *out_is_one = true;
    if (pytrace_starts_with_word(p, "lambda")) return pytrace_read_map(p, out);
    const char *name = pytrace_read_name(p);
    const pytrace_value *known = name ? pytrace_find(p, name) : NULL;
    if (known && known->kind == PYTRACE_FUNC) {
        return pytrace_map_of_func(p, start, known->u.func, out);
    }
    *out_is_one = false;
    p->at = start;
    return HONE_OK;
}

hone_status pytrace_read_map_call(pytrace *p, pytrace_value *out) {
    const char *start = p->at;
    const hone_index_map *inverse = NULL;
    hone_dtype dtype = HONE_DTYPE_VOID;
    *out = PYTRACE_OF_NONE;
    pytrace_open(p, '(');
    for (bool is_first = true; !pytrace_close(p, ')'); is_first = false) {
        bool took = false;
        pytrace_skip_space(p);
        if (is_first) HONE_TRY(read_first(p, out, &took));
        if (!took) HONE_TRY(read_keyword(p, out, &inverse, &dtype));
        HONE_TRY(pytrace_next_item(p, ')'));
    }
    if (out->kind != PYTRACE_MAP) return pytrace_fail_at(p, start, "expected a lambda");
    bool is_index =
        hone_dtype_equal(dtype, HONE_DTYPE_I32) || hone_dtype_equal(dtype, HONE_DTYPE_I64);
    if (is_index && !out->u.map->variadic) {
        out->u.map = hone_index_map_with_dtype(p->arena, out->u.map, dtype);
    }
    if (!out->u.map || !inverse) return out->u.map ? HONE_OK : pytrace_no_memory();
    hone_index_map *map = hone_arena_alloc(p->arena, sizeof *map);
    if (!map) return pytrace_no_memory();
    *map = *out->u.map;
    map->inverse = inverse;
    out->u.map = map;
    return HONE_OK;
}
