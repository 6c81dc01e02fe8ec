#include <ctype.h>
#include <string.h>

#include "schedule/trace_parse_impl.h"

/* Index maps in the Python form of traces.
 *
 *   map  := "lambda" … | path "(" map {"," keyword "=" value} ")" | an expression of constants
 *   path := "T.index_map" | … "IndexMap.from_func" | … "IndexMap.from_func_with_separators"
 *
 * What stands behind `lambda` is an expression of programs and is read by their parser; here only
 * its end is looked for. */

/* ---- where an expression ends ---- */

static void skip_string(pytrace *p) {
    char quote = *p->at++;
    while (p->at < p->end && *p->at != quote && *p->at != '\n') {
        if (*p->at == '\\' && p->at + 1 < p->end) p->at++;
        p->at++;
    }
    if (p->at < p->end) p->at++;
}

/* Stops at a comma or a closing bracket that belongs to what is around the expression; the commas
 * between the parameters of a lambda are its own. */
static void skip_expr(pytrace *p, bool is_lambda) {
    uint32_t open = 0;
    while (p->at < p->end) {
        char c = *p->at;
        if (c == '"' || c == '\'') {
            skip_string(p);
            continue;
        }
        if (c == '#') {
            pytrace_skip_all(p);
            continue;
        }
        bool closes = c == ')' || c == ']' || c == '}';
        if (!open && (closes || (c == ',' && !is_lambda))) return;
        if (!open && c == ':') is_lambda = false; /* the body begins */
        if (c == '(' || c == '[' || c == '{') open++;
        if (closes) open--;
        p->at++;
    }
}

/* ---- names in the map ---- */

/* Sampled integers. */
static bool find_ints(void *ctx, const char *name, uint32_t *out_count, const uint32_t **out_frees,
                      bool *out_is_tuple) {
    const pytrace *p = ctx;
    const pytrace_binding *b = pytrace_find(p, name);
    for (uint32_t i = 0; b && i < b->count; i++) {
        if (p->trace->rv_kinds[b->rvs[i]] != HONE_RV_INT) return false;
    }
    if (!b || b->value || b->is_opaque) return false;
    *out_count = b->count;
    *out_frees = b->rvs;
    *out_is_tuple = b->is_list;
    return true;
}

static hone_status read_lambda(pytrace *p, bool is_lambda, hone_operand *out) {
    const char *start = p->at;
    skip_expr(p, is_lambda);
    hone_index_map_text text = {.source_name = p->source,
                                .text = p->text,
                                .from = (size_t)(start - p->text),
                                .to = (size_t)(p->at - p->text),
                                .length = (size_t)(p->end - p->text),
                                .names = find_ints,
                                .ctx = p};
    *out = (hone_operand){.kind = HONE_OPERAND_MAP};
    return hone_index_map_parse(p->arena, &text, 0, &out->u.map);
}

/* ---- calls that make a map ---- */

static bool ends_with(const char *text, size_t length, const char *ending) {
    size_t n = strlen(ending);
    return length >= n && memcmp(text + length - n, ending, n) == 0;
}

/* index_dtype="int64" and ndim=2 say what is found out here; an inverse is kept. */
static hone_status read_keyword(pytrace *p, hone_operand *io, const hone_index_map **io_inverse,
                                hone_dtype *io_dtype) {
    hone_operand value;
    const char *start = p->at, *name = pytrace_read_name(p);
    bool is_keyword = name && pytrace_accept(p, '=');
    if (!is_keyword) return pytrace_fail_at(p, start, "expected an argument by its name");
    HONE_TRY(pytrace_read_value(p, &value));
    if (strcmp(name, "mapping_function") == 0 || strcmp(name, "mapping") == 0) {
        *io = value;
    } else if (strcmp(name, "inverse_index_map") == 0) {
        if (value.kind == HONE_OPERAND_MAP) *io_inverse = value.u.map;
    } else if (strcmp(name, "index_dtype") == 0) {
        bool is_dtype = value.kind == HONE_OPERAND_STRING && hone_dtype_parse(value.u.s, io_dtype);
        if (!is_dtype) return pytrace_fail_at(p, start, "index_dtype must name a dtype");
    } else if (strcmp(name, "ndim") == 0) {
        bool is_count = value.kind == HONE_OPERAND_INT && value.u.i > 0 && value.u.i <= 64;
        if (!is_count) return pytrace_fail_at(p, start, "ndim must be a number from 1 to 64");
        if (io->kind == HONE_OPERAND_MAP) {
            return hone_index_map_instantiate(p->arena, io->u.map, (uint32_t)value.u.i, &io->u.map);
        }
    } else {
        return pytrace_fail_at(p, start, "an index map has no such argument");
    }
    return HONE_OK;
}

static hone_status read_map_call(pytrace *p, hone_operand *out) {
    const char *start = p->at;
    const hone_index_map *inverse = NULL;
    hone_dtype dtype = HONE_DTYPE_VOID;
    *out = (hone_operand){.kind = HONE_OPERAND_NONE};
    pytrace_accept(p, '(');
    for (bool is_first = true; !pytrace_accept(p, ')'); is_first = false) {
        pytrace_skip_all(p);
        bool is_lambda = p->end - p->at > 6 && memcmp(p->at, "lambda", 6) == 0;
        if (is_first && is_lambda) {
            HONE_TRY(read_lambda(p, true, out));
        } else {
            HONE_TRY(read_keyword(p, out, &inverse, &dtype));
        }
        if (!pytrace_accept(p, ',') && (pytrace_skip_all(p), pytrace_peek(p) != ')')) {
            return pytrace_fail(p, "expected ',' or ')'");
        }
    }
    if (out->kind != HONE_OPERAND_MAP) return pytrace_fail_at(p, start, "expected a lambda");
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

hone_status pytrace_read_map(pytrace *p, hone_operand *out) {
    const char *start = p->at;
    while (isalnum((unsigned char)pytrace_peek(p)) || pytrace_peek(p) == '_' ||
           pytrace_peek(p) == '.') {
        p->at++;
    }
    size_t length = (size_t)(p->at - start);
    bool makes_map = ends_with(start, length, "IndexMap.from_func") ||
                     ends_with(start, length, "IndexMap.from_func_with_separators") ||
                     ends_with(start, length, ".index_map");
    if (makes_map && pytrace_peek(p) == '(') return read_map_call(p, out);
    p->at = start;
    return read_lambda(p, length == 6 && memcmp(start, "lambda", 6) == 0, out);
}
