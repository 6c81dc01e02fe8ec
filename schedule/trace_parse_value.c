#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/grow.h"
#include "schedule/trace_args.h"
#include "schedule/trace_parse_impl.h"

/* Characters and values of the Python form of traces: numbers, strings, variables, lists, dicts. */

enum { MAX_DEPTH = 60, MAX_LINE_SHOWN = 160 };

/* ---- errors ---- */

hone_status pytrace_fail_at(const pytrace *p, const char *where, const char *what) {
    if (p->lacks_memory) return pytrace_no_memory();
    const char *line = where;
    uint32_t number = 1;
    while (line > p->text && line[-1] != '\n')
        line--;
    for (const char *c = p->text; c < line; c++)
        number += *c == '\n';
    const char *line_end = line;
    while (line_end < p->end && *line_end != '\n')
        line_end++;
    int length = (int)(line_end - line);
    int column = (int)(where - line);
    if (length > MAX_LINE_SHOWN) length = MAX_LINE_SHOWN;
    return HONE_ERROR(HONE_CODE_INVALID, "%s:%u:%d: %s\n    %.*s\n    %*s^", p->source, number,
                      column + 1, what, length, line, column < length ? column : length, "");
}

hone_status pytrace_fail(const pytrace *p, const char *what) {
    return pytrace_fail_at(p, p->at, what);
}

hone_status pytrace_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "trace");
}

hone_status pytrace_tuple(pytrace *p, const hone_operand *items, uint32_t count,
                          hone_operand *out) {
    *out = items[0];
    if (count == 1) return HONE_OK;
    hone_operand *copy = hone_arena_alloc(p->arena, count * sizeof *copy);
    if (!copy) return pytrace_no_memory();
    memcpy(copy, items, count * sizeof *copy);
    *out = (hone_operand){.kind = HONE_OPERAND_LIST, .count = count, .u.items = copy};
    return HONE_OK;
}

/* ---- characters ---- */

void pytrace_skip_blanks(pytrace *p) {
    while (pytrace_peek(p) == ' ' || pytrace_peek(p) == '\t' || pytrace_peek(p) == '\r')
        p->at++;
}

/* Inside brackets, line ends and comments are blanks too. */
void pytrace_skip_all(pytrace *p) {
    for (;;) {
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) == '#') {
            while (p->at < p->end && *p->at != '\n')
                p->at++;
        }
        if (pytrace_peek(p) != '\n') return;
        p->at++;
    }
}

bool pytrace_accept(pytrace *p, char c) {
    pytrace_skip_all(p);
    if (pytrace_peek(p) != c) return false;
    p->at++;
    return true;
}

/* A name at the cursor, copied; NULL when there is none. */
const char *pytrace_read_name(pytrace *p) {
    const char *start = p->at;
    if (!isalpha((unsigned char)pytrace_peek(p)) && pytrace_peek(p) != '_') return NULL;
    while (pytrace_is_name_char(pytrace_peek(p)))
        p->at++;
    const char *name = hone_arena_strndup(p->arena, start, (size_t)(p->at - start));
    p->lacks_memory = p->lacks_memory || !name;
    return name;
}

/* ---- variables ---- */

const pytrace_binding *pytrace_find(const pytrace *p, const char *name) {
    uint64_t at = 0;
    bool is_there = hone_strmap_find(&p->names, name, &at) ||
                    (p->globals && hone_strmap_find(p->globals, name, &at));
    if (!is_there) return NULL;
    const pytrace_binding *b = &p->bindings[at];
    return b->is_lasting || b->epoch == p->epoch ? b : NULL;
}

static hone_status bind(pytrace *p, const char *name, pytrace_binding binding) {
    binding.epoch = p->epoch;
    if (!hone_grow(p->arena, (void **)&p->bindings, &p->binding_capacity, p->binding_count,
                   sizeof *p->bindings) ||
        !hone_strmap_put(&p->names, name, p->binding_count)) {
        return pytrace_no_memory();
    }
    p->bindings[p->binding_count++] = binding;
    return HONE_OK;
}

hone_status pytrace_bind(pytrace *p, const char *name, uint32_t count, hone_rv first,
                         bool is_list) {
    hone_rv *rvs = hone_arena_alloc(p->arena, (count + 1) * sizeof *rvs);
    if (!rvs) return pytrace_no_memory();
    for (uint32_t i = 0; i < count; i++)
        rvs[i] = first + i;
    return bind(p, name, (pytrace_binding){.count = count, .rvs = rvs, .is_list = is_list});
}

/* Without variables. */
static bool is_plain(const hone_operand *o) {
    if (o->kind == HONE_OPERAND_RV) return false;
    if (o->kind == HONE_OPERAND_MAP) return o->u.map->free_count == 0;
    for (uint32_t i = 0; o->kind == HONE_OPERAND_LIST && i < o->count; i++) {
        if (!is_plain(&o->u.items[i])) return false;
    }
    return true;
}

hone_status pytrace_bind_object(pytrace *p, const char *name, const pytrace_object *object) {
    if (object->is_schedule) {
        p->schedule_name = name;
        return HONE_OK;
    }
    if (object->is_opaque)
        return bind(p, name, (pytrace_binding){.is_opaque = true, .is_lasting = true});
    if (object->operand.kind == HONE_OPERAND_RV) {
        return pytrace_bind(p, name, 1, object->operand.u.rv, false);
    }
    hone_operand *value = hone_arena_alloc(p->arena, sizeof *value);
    if (!value) return pytrace_no_memory();
    *value = object->operand;
    return bind(p, name, (pytrace_binding){.value = value, .is_lasting = is_plain(value)});
}

/* ---- values ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What stands behind a backslash. */
static hone_status read_escape(pytrace *p, char *out) {
    static const char from[] = "ntr\\'\"", to[] = "\n\t\r\\'\"";
    const char *start = p->at - 1;
    char c = pytrace_peek(p);
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        p->at++;
        *out = to[known - from];
        return HONE_OK;
    }
    if (c == 'x' && p->end - p->at >= 3) {
        int high = hex_digit(p->at[1]), low = hex_digit(p->at[2]);
        if (high >= 0 && low >= 0 && high + low > 0) {
            p->at += 3;
            *out = (char)(high * 16 + low);
            return HONE_OK;
        }
    }
    return pytrace_fail_at(p, start,
                           "unknown escape; \\n \\t \\r \\\\ \\' \\\" and \\xNN are known");
}

/* JSON, the other form of a trace, holds nothing else. */
static bool is_utf8(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : (*at & 0xf0) == 0xe0 ? 2 : 3;
        if (more == 3 && (*at < 0xf0 || *at > 0xf4)) return false;
        if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
            (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f)) {
            return false;
        }
        for (at++; more > 0; more--, at++) {
            if ((*at & 0xc0) != 0x80) return false;
        }
    }
    return true;
}

static hone_status read_raw_text(pytrace *p, const char *stop, const char **out) {
    const char *from = p->at + 1;
    if (memchr(from, '\0', (size_t)(stop - from))) {
        return pytrace_fail_at(p, p->at, "a zero byte in a string");
    }
    *out = hone_arena_strndup(p->arena, from, (size_t)(stop - from));
    if (!*out) return pytrace_no_memory();
    if (!is_utf8(*out)) return pytrace_fail_at(p, p->at, "a string that is not UTF-8");
    p->at = stop + 1;
    return HONE_OK;
}

/* From the cursor to stop, with what stands behind backslashes. */
static hone_status read_characters(pytrace *p, const char *start, const char *stop,
                                   const char **out) {
    char *copy = hone_arena_alloc(p->arena, (size_t)(stop - p->at) + 1);
    if (!copy) return pytrace_no_memory();
    size_t length = 0;
    while (p->at < stop) {
        char c = *p->at++;
        if (c == '\\' && p->at < stop && *p->at == '\n') {
            p->at++;
            continue;
        }
        if (c == '\\') HONE_TRY(read_escape(p, &c));
        if (c == '\0') return pytrace_fail_at(p, p->at - 1, "a zero byte in a string");
        copy[length++] = c;
    }
    copy[length] = '\0';
    if (!is_utf8(copy)) return pytrace_fail_at(p, start, "the string is not UTF-8");
    *out = copy;
    return HONE_OK;
}

/* Three quotes on each side, and lines between them. */
static hone_status read_long_string(pytrace *p, const char **out) {
    const char *start = p->at, *stop = pytrace_end_of_string(p, start);
    bool is_closed =
        stop - start >= 6 && stop[-1] == *start && stop[-2] == *start && stop[-3] == *start;
    if (!is_closed) return pytrace_fail_at(p, start, "a string without its end");
    p->at += 3;
    HONE_TRY(read_characters(p, start, stop - 3, out));
    p->at = stop;
    return HONE_OK;
}

static hone_status read_string(pytrace *p, const char **out) {
    const char *raw_end = pytrace_end_of_raw_text(p, p->at);
    if (raw_end) return read_raw_text(p, raw_end, out);
    const char *start = p->at, *stop = p->at + 1;
    if (p->end - p->at >= 3 && p->at[1] == *p->at && p->at[2] == *p->at) {
        return read_long_string(p, out);
    }
    char quote = *p->at++;
    while (stop < p->end && *stop != quote && *stop != '\n') {
        stop += *stop == '\\' && p->end - stop > 1 ? 2 : 1;
    }
    if (stop >= p->end || *stop != quote) {
        return pytrace_fail_at(p, start, "a string without its end");
    }
    HONE_TRY(read_characters(p, start, stop, out));
    p->at = stop + 1;
    return HONE_OK;
}

static hone_status read_number(pytrace *p, hone_operand *out) {
    const char *start = p->at;
    if (pytrace_peek(p) == '-' || pytrace_peek(p) == '+') p->at++;
    bool is_float = false;
    while (isalnum((unsigned char)pytrace_peek(p)) || pytrace_peek(p) == '.' ||
           pytrace_peek(p) == '_' ||
           ((pytrace_peek(p) == '-' || pytrace_peek(p) == '+') &&
            (p->at[-1] == 'e' || p->at[-1] == 'E'))) {
        is_float =
            is_float || pytrace_peek(p) == '.' || pytrace_peek(p) == 'e' || pytrace_peek(p) == 'E';
        p->at++;
    }
    const char *text = hone_arena_strndup(p->arena, start, (size_t)(p->at - start));
    if (!text) return pytrace_no_memory();
    char *stop = NULL;
    errno = 0;
    if (is_float) {
        *out = (hone_operand){.kind = HONE_OPERAND_FLOAT, .u.f = strtod(text, &stop)};
    } else {
        *out = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = strtoll(text, &stop, 10)};
    }
    if (*stop || stop == text) return pytrace_fail_at(p, start, "expected a number");
    bool is_too_large = is_float ? !isfinite(out->u.f) : errno == ERANGE;
    return is_too_large ? pytrace_fail_at(p, start, "the number is too large") : HONE_OK;
}

static hone_status read_items(pytrace *p, char closing, hone_operand *out) {
    hone_operand *items = NULL;
    uint32_t count = 0, capacity = 0;
    bool has_comma = false;
    while (!pytrace_accept(p, closing)) {
        if (!hone_grow(p->arena, (void **)&items, &capacity, count, sizeof *items)) {
            return pytrace_no_memory();
        }
        HONE_TRY(pytrace_read_value(p, &items[count++]));
        has_comma = pytrace_accept(p, ',');
        if (!has_comma && (pytrace_skip_all(p), pytrace_peek(p) != closing)) {
            return pytrace_fail(p, closing == ']' ? "expected ',' or ']'" : "expected ',' or ')'");
        }
    }
    if (closing == ')' && count == 1 && !has_comma) {
        *out = items[0];
        return HONE_OK;
    }
    *out = (hone_operand){.kind = HONE_OPERAND_LIST, .count = count, .u.items = items};
    return HONE_OK;
}

hone_status pytrace_to_value(pytrace *p, const hone_operand *o, hone_value *out) {
    const hone_operand *wrong;
    HONE_TRY(hone_operand_value(p->arena, o, out, &wrong));
    if (!wrong) return HONE_OK;
    return pytrace_fail(p, wrong->kind == HONE_OPERAND_RV
                               ? "expected a plain value, not a variable"
                               : "expected a plain value, not an expression");
}

static hone_status read_dict(pytrace *p, hone_operand *out) {
    hone_attr *items = NULL;
    uint32_t count = 0, capacity = 0;
    while (!pytrace_accept(p, '}')) {
        hone_operand key, value;
        if (!hone_grow(p->arena, (void **)&items, &capacity, count, sizeof *items)) {
            return pytrace_no_memory();
        }
        HONE_TRY(pytrace_read_value(p, &key));
        if (key.kind != HONE_OPERAND_STRING) return pytrace_fail(p, "the key must be a string");
        if (!pytrace_accept(p, ':')) return pytrace_fail(p, "expected ':'");
        HONE_TRY(pytrace_read_value(p, &value));
        items[count].key = key.u.s;
        HONE_TRY(pytrace_to_value(p, &value, &items[count++].value));
        if (!pytrace_accept(p, ',') && (pytrace_skip_all(p), pytrace_peek(p) != '}'))
            return pytrace_fail(p, "expected ',' or '}'");
    }
    hone_value *map = hone_arena_zalloc(p->arena, sizeof *map);
    if (!map) return pytrace_no_memory();
    *map = (hone_value){.kind = HONE_VALUE_MAP, .count = count, .u.attrs = items};
    *out = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = map};
    return HONE_OK;
}

static hone_status read_bool(pytrace *p, bool value, hone_operand *out) {
    hone_value *copy = hone_arena_alloc(p->arena, sizeof *copy);
    if (!copy) return pytrace_no_memory();
    *copy = HONE_VALUE_OF_BOOL(value);
    *out = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = copy};
    return HONE_OK;
}

static hone_status read_variable(pytrace *p, const char *start, const char *name,
                                 hone_operand *out) {
    const pytrace_binding *b = pytrace_find(p, name);
    if (!b) {
        const char *text = hone_arena_printf(p->arena, "undefined name '%s'", name);
        return text ? pytrace_fail_at(p, start, text) : pytrace_no_memory();
    }
    if (b->is_opaque) {
        const char *text = hone_arena_printf(p->arena, "'%s' is nothing that a step takes", name);
        return text ? pytrace_fail_at(p, start, text) : pytrace_no_memory();
    }
    if (b->value) {
        *out = *b->value;
        return HONE_OK;
    }
    if (!b->is_list) {
        *out = (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = b->rvs[0]};
        return HONE_OK;
    }
    hone_operand *items = hone_arena_zalloc(p->arena, (b->count + 1) * sizeof *items);
    if (!items) return pytrace_no_memory();
    for (uint32_t i = 0; i < b->count; i++) {
        items[i] = (hone_operand){.kind = HONE_OPERAND_RV, .u.rv = b->rvs[i]};
    }
    *out = (hone_operand){.kind = HONE_OPERAND_LIST, .count = b->count, .u.items = items};
    return HONE_OK;
}

/* The result of a step within another one: sch.get_loops(sch.get_sblock("C")). It gets a name that
 * no text can say. */
static hone_status read_step(pytrace *p, const char *start, hone_operand *out) {
    const char *name = hone_arena_printf(p->arena, "step %u", p->binding_count);
    if (!name) return pytrace_no_memory();
    p->at++; /* the '.' */
    HONE_TRY(pytrace_read_call(p, 1, &name, false));
    return read_variable(p, start, name, out);
}

static hone_status read_plain(pytrace *p, hone_operand *out) {
    char c = pytrace_peek(p);
    if (c == '[' || c == '(') {
        p->at++;
        return read_items(p, c == '[' ? ']' : ')', out);
    }
    if (c == '{') {
        p->at++;
        return read_dict(p, out);
    }
    if (c == '"' || c == '\'') {
        *out = (hone_operand){.kind = HONE_OPERAND_STRING};
        return read_string(p, &out->u.s);
    }
    if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.') return read_number(p, out);
    const char *start = p->at, *name = pytrace_read_name(p);
    if (!name) return pytrace_fail(p, "expected a value");
    if (strcmp(name, "None") == 0) {
        *out = (hone_operand){.kind = HONE_OPERAND_NONE};
        return HONE_OK;
    }
    if (strcmp(name, "True") == 0) return read_bool(p, true, out);
    if (strcmp(name, "False") == 0) return read_bool(p, false, out);
    if (strcmp(name, p->schedule_name) == 0 && pytrace_peek(p) == '.') {
        return read_step(p, start, out);
    }
    const pytrace_func *func = pytrace_peek(p) == '(' ? pytrace_find_func(p, name) : NULL;
    if (func) {
        pytrace_object result;
        HONE_TRY(pytrace_call_func(p, func, &result));
        *out = result.operand;
        bool is_value = !result.is_schedule && !result.is_opaque;
        return is_value ? HONE_OK : pytrace_fail_at(p, start, "this gives no value");
    }
    bool is_builtin = false;
    if (pytrace_peek(p) == '(' && !pytrace_find(p, name)) {
        HONE_TRY(pytrace_call_builtin(p, name, out, &is_builtin));
    }
    if (is_builtin) return HONE_OK;
    if (strcmp(name, "lambda") == 0 || pytrace_peek(p) == '.') {
        p->at = start;
        return pytrace_read_map(p, out);
    }
    return read_variable(p, start, name, out);
}

/* ---- indices and slices ---- */

/* A place in a list of count items; behind the end it is the end. */
static hone_status read_place(pytrace *p, uint32_t count, int64_t fallback, int64_t *out) {
    hone_operand index;
    *out = fallback;
    pytrace_skip_all(p);
    if (pytrace_peek(p) == ':' || pytrace_peek(p) == ']') return HONE_OK;
    HONE_TRY(pytrace_read_value(p, &index));
    if (index.kind != HONE_OPERAND_INT) return pytrace_fail(p, "the index is no number");
    *out = index.u.i < 0 ? index.u.i + count : index.u.i;
    return HONE_OK;
}

static hone_status read_index(pytrace *p, hone_operand *io) {
    int64_t from, to;
    p->at++; /* the '[' */
    pytrace_skip_all(p);
    if (pytrace_peek(p) == ']') return pytrace_fail(p, "the index is missing");
    bool is_slice = pytrace_peek(p) == ':';
    HONE_TRY(read_place(p, io->count, 0, &from));
    if (pytrace_accept(p, ':')) {
        is_slice = true;
        HONE_TRY(read_place(p, io->count, io->count, &to));
    }
    if (!is_slice && (from < 0 || from >= io->count)) {
        return pytrace_fail(p, "the index is out of range");
    }
    if (!pytrace_accept(p, ']')) return pytrace_fail(p, "expected ']'");
    if (!is_slice) {
        *io = io->u.items[from];
        return HONE_OK;
    }
    if (from < 0) from = 0;
    if (to > io->count) to = io->count;
    if (from > to) from = to = 0;
    if (from > 0) io->u.items += from; /* an empty list has no items */
    io->count = (uint32_t)(to - from);
    return HONE_OK;
}

static hone_status read_indexed(pytrace *p, hone_operand *out) {
    HONE_TRY(read_plain(p, out));
    for (;;) {
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) != '[' || out->kind != HONE_OPERAND_LIST) return HONE_OK;
        HONE_TRY(read_index(p, out));
    }
}

/* ---- arithmetic: of numbers only ---- */

static hone_status compute(pytrace *p, const char *where, char op, const hone_operand *right,
                           hone_operand *io) {
    bool are_numbers = io->kind == HONE_OPERAND_INT && right->kind == HONE_OPERAND_INT;
    if (!are_numbers) return pytrace_fail_at(p, where, "arithmetic is for whole numbers only");
    int64_t a = io->u.i, b = right->u.i;
    bool divides = op == '/' || op == '%';
    if (divides && b == 0) return pytrace_fail_at(p, where, "division by zero");
    if (divides && b == -1) {
        op = op == '%' ? '%' : '*';
        if (op == '%') b = 1;
    }
    bool overflows = false;
    if (op == '+') overflows = __builtin_add_overflow(a, b, &io->u.i);
    if (op == '-') overflows = __builtin_sub_overflow(a, b, &io->u.i);
    if (op == '*') overflows = __builtin_mul_overflow(a, b, &io->u.i);
    int64_t rest = op == '/' || op == '%' ? a % b : 0;
    bool rounds = rest != 0 && (rest < 0) != (b < 0); /* Python rounds down */
    if (op == '/') io->u.i = a / b - rounds;
    if (op == '%') io->u.i = rounds ? rest + b : rest;
    return overflows ? pytrace_fail_at(p, where, "the number is too large") : HONE_OK;
}

/* '*', '%' or '/' for "//"; zero when there is no such operator. */
static char take_operator(pytrace *p, const char *operators) {
    pytrace_skip_blanks(p);
    char c = pytrace_peek(p);
    if (!c || !strchr(operators, c)) return '\0';
    bool is_floor = c == '/' && p->end - p->at > 1 && p->at[1] == '/';
    bool is_power = c == '*' && p->end - p->at > 1 && p->at[1] == '*';
    if ((c == '/' && !is_floor) || is_power) return '\0';
    p->at += is_floor ? 2 : 1;
    return c;
}

static hone_status read_product(pytrace *p, hone_operand *out) {
    HONE_TRY(read_indexed(p, out));
    for (;;) {
        hone_operand right;
        const char *where = p->at;
        char op = take_operator(p, "*/%");
        if (!op) return HONE_OK;
        pytrace_skip_all(p);
        HONE_TRY(read_indexed(p, &right));
        HONE_TRY(compute(p, where, op, &right, out));
    }
}

static hone_status read_sum(pytrace *p, hone_operand *out) {
    HONE_TRY(read_product(p, out));
    for (;;) {
        hone_operand right;
        const char *where = p->at;
        char op = take_operator(p, "+-");
        if (!op) return HONE_OK;
        pytrace_skip_all(p);
        HONE_TRY(read_product(p, &right));
        HONE_TRY(compute(p, where, op, &right, out));
    }
}

hone_status pytrace_read_value(pytrace *p, hone_operand *out) {
    pytrace_skip_all(p);
    if (++p->depth > MAX_DEPTH) return pytrace_fail(p, "nested too deeply");
    hone_status st = read_sum(p, out);
    p->depth--;
    return st;
}
