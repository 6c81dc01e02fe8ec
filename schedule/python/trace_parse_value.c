#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/python/trace_parse_impl.h"

/* Names, numbers and what stands behind them in the Python form of traces: calls, indices,
 * attributes. */

/* ---- numbers ---- */

/* Its characters without "_"; past them. */
static const char *take_digits(pytrace *p, bool is_hex, bool *out_is_float) {
    const char *start = p->at;
    if (pytrace_peek(p) == '-' || pytrace_peek(p) == '+') p->at++;
    while (p->at < p->end) {
        char c = *p->at, before = p->at > start ? p->at[-1] : '\0';
        bool is_exponent = !is_hex && (before == 'e' || before == 'E');
        bool is_sign = (c == '-' || c == '+') && is_exponent;
        if (!isalnum((unsigned char)c) && c != '.' && c != '_' && !is_sign) break;
        *out_is_float = *out_is_float || c == '.' || (!is_hex && (c == 'e' || c == 'E'));
        p->at++;
    }
    char *text = hone_arena_strndup(p->arena, start, (size_t)(p->at - start));
    size_t length = 0;
    for (const char *c = text; c && *c; c++) {
        if (*c != '_') text[length++] = *c;
    }
    if (text) text[length] = '\0';
    return text;
}

/* A digit, or a sign before one, is at the cursor. */
static hone_status read_number(pytrace *p, pytrace_value *out) {
    const char *start = p->at, *digits = start;
    if (pytrace_peek(p) == '-' || pytrace_peek(p) == '+') digits++;
    bool is_hex = p->end - digits > 1 && *digits == '0' && (digits[1] == 'x' || digits[1] == 'X');
    bool is_float = false;
    const char *text = take_digits(p, is_hex, &is_float);
    if (!text) return pytrace_no_memory();
    char *stop = NULL;
    errno = 0;
    if (is_float) {
        *out = PYTRACE_OF_FLOAT(strtod(text, &stop));
    } else {
        *out = PYTRACE_OF_INT(strtoll(text, &stop, is_hex ? 16 : 10));
    }
    if (*stop || stop == text) return pytrace_fail_at(p, start, "expected a number");
    bool is_too_large = is_float ? !isfinite(out->u.f) : errno == ERANGE;
    return is_too_large ? pytrace_fail_at(p, start, "the number is too large") : HONE_OK;
}

/* ---- arguments ---- */

const char *pytrace_read_keyword(pytrace *p) {
    pytrace_skip_space(p);
    const char *start = p->at;
    const char *name = pytrace_read_name(p);
    if (name) {
        pytrace_skip_space(p);
        if (pytrace_peek(p) == '=' && p->end - p->at > 1 && p->at[1] != '=') {
            p->at++;
            return name;
        }
    }
    p->at = start;
    return NULL;
}

typedef struct arg_reader {
    pytrace_value list, dict;
} arg_reader;

static hone_status read_one_arg(pytrace *p, arg_reader *r) {
    pytrace_value value;
    const char *keyword = pytrace_read_keyword(p);
    if (!keyword) return pytrace_read_item(p, &r->list);
    HONE_TRY(pytrace_read_value(p, &value));
    return pytrace_put(p, &r->dict, &PYTRACE_OF_STRING(keyword), &value);
}

hone_status pytrace_read_args(pytrace *p, pytrace_args *out) {
    arg_reader r;
    bool is_one = false;
    HONE_TRY(pytrace_new_list(p, PYTRACE_LIST, &r.list));
    HONE_TRY(pytrace_new_list(p, PYTRACE_DICT, &r.dict));
    if (!pytrace_open(p, '(')) return pytrace_fail(p, "expected '('");
    pytrace_value made;
    HONE_TRY(pytrace_read_comprehension(p, &made, &is_one));
    if (is_one) HONE_TRY(pytrace_push(p, &r.list, &made));
    while (!pytrace_close(p, ')')) {
        if (is_one) return pytrace_fail(p, "expected the end of the comprehension");
        HONE_TRY(read_one_arg(p, &r));
        HONE_TRY(pytrace_next_item(p, ')'));
    }
    const pytrace_list *dict = r.dict.u.list;
    const char **keywords = hone_arena_alloc(p->arena, (dict->count + 1) * sizeof *keywords);
    if (!keywords) return pytrace_no_memory();
    for (uint32_t i = 0; i < dict->count; i++)
        keywords[i] = dict->keys[i].u.s;
    *out = (pytrace_args){.count = r.list.u.list->count,
                          .items = r.list.u.list->items,
                          .keyword_count = dict->count,
                          .keywords = keywords,
                          .values = dict->items};
    return HONE_OK;
}

const pytrace_value *pytrace_keyword(const pytrace_args *args, const char *name) {
    for (uint32_t i = 0; i < args->keyword_count; i++) {
        if (strcmp(args->keywords[i], name) == 0) return &args->values[i];
    }
    return NULL;
}

/* ---- what stands behind a value ---- */

static hone_status read_view(pytrace *p, const char *where, const char *name, pytrace_value *io) {
    const pytrace_value *item = pytrace_get(io, &PYTRACE_OF_STRING(name));
    if (item) {
        *io = *item;
        return HONE_OK;
    }
    hone_status st = pytrace_fail_about(p, where, "", name, " is not known of this");
    const pytrace_list *list = io->u.list;
    for (uint32_t i = 0; i < list->count; i++)
        st = hone_status_annotate(st, "%s", list->keys[i].u.s);
    return st;
}

static hone_status read_attribute(pytrace *p, pytrace_value *io) {
    const char *where = p->at++;
    const char *name = pytrace_read_name(p);
    if (!name) return pytrace_fail(p, "expected a name");
    if (io->kind == PYTRACE_VIEW) return read_view(p, where, name, io);
    if (pytrace_is_number(io) && strcmp(name, "value") == 0) return HONE_OK; /* of an IntImm */
    if (pytrace_peek(p) == '(') return pytrace_call_method(p, where, name, io);
    return pytrace_fail_about(p, where, "nothing is known of ", name, " here");
}

static hone_status call_value(pytrace *p, const char *where, pytrace_value *io) {
    if (io->kind == PYTRACE_FUNC) return pytrace_call_func(p, io->u.func, io);
    return pytrace_fail_at(p, where,
                           io->kind == PYTRACE_MAP
                               ? "a lambda is read as an index map; write a function with def"
                               : "this cannot be called");
}

static hone_status read_trailers(pytrace *p, const char *start, pytrace_value *io) {
    for (;;) {
        bool took = false;
        const char *before = p->at;
        pytrace_skip_space(p);
        char c = pytrace_peek(p);
        if (c != '.' && c != '(' && c != '[') {
            p->at = before;
            return HONE_OK;
        }
        if (io->kind == PYTRACE_OUTSIDE) {
            HONE_TRY(pytrace_read_outside(p, start, io, &took));
            if (!took) return HONE_OK;
        } else if (c == '.' && io->kind == PYTRACE_SCHEDULE) {
            HONE_TRY(pytrace_read_member(p, io));
        } else if (c == '.') {
            HONE_TRY(read_attribute(p, io));
        } else if (c == '(') {
            HONE_TRY(call_value(p, p->at, io));
        } else {
            HONE_TRY(pytrace_read_index(p, io));
        }
    }
}

/* ---- names ---- */

static hone_status read_named(pytrace *p, const char *start, const char *name, pytrace_value *out) {
    const pytrace_value *known = pytrace_find(p, name);
    bool is_builtin = false;
    char next = pytrace_peek(p);
    if (known) {
        *out = *known;
        return HONE_OK;
    }
    if (next == '(') HONE_TRY(pytrace_call_builtin(p, name, out, &is_builtin));
    if (is_builtin) return HONE_OK;
    if (pytrace_is_known_module(name)) {
        *out = PYTRACE_OF_OUTSIDE(name);
        return HONE_OK;
    }
    bool is_thread =
        next == '.' && (strcmp(name, "threadIdx") == 0 || strcmp(name, "blockIdx") == 0);
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        return pytrace_fail_about(p, start, "undefined name ", name,
                                  *name == 't' ? "; did you mean True?" : "; did you mean False?");
    }
    return pytrace_fail_about(p, start, "undefined name ", name,
                              is_thread ? "; a thread is named in quotes, as \"threadIdx.x\"" : "");
}

hone_status pytrace_read_primary(pytrace *p, pytrace_value *out) {
    static const struct {
        const char *name;
        pytrace_value value;
    } words[] = {
        {"None",  {.kind = PYTRACE_NONE}               },
        {"True",  {.kind = PYTRACE_BOOL, .u = {.i = 1}}},
        {"False", {.kind = PYTRACE_BOOL}               },
    };
    pytrace_skip_space(p);
    const char *start = p->at;
    char c = pytrace_peek(p);
    if (c == '[' || c == '(' || c == '{') {
        HONE_TRY(pytrace_read_brackets(p, out));
        return read_trailers(p, start, out);
    }
    if (pytrace_is_at_string(p)) {
        HONE_TRY(pytrace_read_strings(p, out));
        return read_trailers(p, start, out);
    }
    if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.') {
        return read_number(p, out);
    }
    if (pytrace_starts_with_word(p, "lambda")) return pytrace_read_map(p, out);
    const char *name = pytrace_read_name(p);
    if (!name) return pytrace_fail(p, "expected a value");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].name, name) != 0) continue;
        *out = words[i].value;
        return HONE_OK;
    }
    HONE_TRY(read_named(p, start, name, out));
    return read_trailers(p, start, out);
}
