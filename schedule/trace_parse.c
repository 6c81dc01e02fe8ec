#include <string.h>

#include "schedule/trace_parse_impl.h"

/* Traces from Python: what TVM prints, and what people write by hand.
 *
 *   line   := [names "="] "sch" "." method "(" args ")" | names "=" value | name "(" args ")"
 *           | "def" … (trace_parse_func.c) | "return" [values] | "for" names "in" value ":" suite
 *   names  := name {"," name} [","]           one name for a list result holds the list
 *   arg    := [keyword "="] value
 *   value  := number | string | True | False | None | name | list | tuple | dict
 *           | index map (trace_parse_map.c) | "sch" "." method "(" args ")" of one result, or of as
 *             many as its arguments or the program say | name "(" args ")", a function of the text
 *           | value "[" index or slice "]" | number operator number
 *
 * A text of functions alone means the last one, applied to the schedule. A new tvm.tir.Schedule(…)
 * begins anew. Programs in the same text (classes, decorated functions), imports, comments,
 * docstrings, "pass" and what only shows something (print, sch.mod.show()) are passed over. */

enum { MAX_NAMES = 256, MAX_TURNS = 10000, MAX_FORS = 16 };

static bool is_schedule(const pytrace *p, const char *name) {
    return name && strcmp(name, p->schedule_name) == 0;
}

static bool is_skipped(const pytrace *p) {
    static const char *const words[] = {"import", "from", "pass", "print", "assert", "IPython"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (pytrace_starts_with_word(p, words[i])) return true;
    }
    return pytrace_peek(p) == '#' || pytrace_peek(p) == '\n' || p->at == p->end;
}

static bool skip_docstring(pytrace *p) {
    if (p->end - p->at < 3 ||
        (memcmp(p->at, "\"\"\"", 3) != 0 && memcmp(p->at, "\'\'\'", 3) != 0)) {
        return false;
    }
    p->at = pytrace_end_of_string(p, p->at);
    return true;
}

/* ---- assignments ---- */

void pytrace_begin_schedule(pytrace *p) {
    while (p->at < p->end && *p->at != '(')
        p->at++;
    const char *open = p->at;
    uint32_t depth = 0;
    do {
        depth += pytrace_peek(p) == '(';
        depth -= pytrace_peek(p) == ')';
        p->at++;
    } while (p->at < p->end && depth && *p->at != '\n');
    if (p->at > p->end) p->at = open;
    hone_trace_init(p->trace, p->arena);
    p->epoch++;
}

static hone_status assign(pytrace *p, const char *where, uint32_t count, const char *const *names,
                          bool has_comma, const pytrace_object *object) {
    if (object->is_schedule && count == 1) {
        p->schedule_name = names[0];
        return HONE_OK;
    }
    if (count == 1 && !has_comma) {
        bool is_none = !object->is_opaque && object->operand.kind == HONE_OPERAND_NONE;
        if (is_none && is_schedule(p, names[0])) return HONE_OK; /* changed in place */
        return pytrace_bind_object(p, names[0], object);
    }
    const hone_operand *list = &object->operand;
    if (object->is_schedule || object->is_opaque || list->kind != HONE_OPERAND_LIST) {
        return pytrace_fail_at(p, where, "expected a list, one value for each name");
    }
    if (list->count != count) {
        const char *text =
            hone_arena_printf(p->arena, "%u names for %u values", count, list->count);
        return text ? pytrace_fail_at(p, where, text) : pytrace_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(pytrace_bind_object(p, names[i], &(pytrace_object){.operand = list->u.items[i]}));
    }
    return HONE_OK;
}

/* "a, b" is a tuple without parentheses. */
static hone_status read_values(pytrace *p, hone_operand *out) {
    hone_operand items[MAX_NAMES];
    uint32_t count = 0;
    for (;;) {
        if (count == MAX_NAMES) return pytrace_fail(p, "too many values");
        HONE_TRY(pytrace_read_value(p, &items[count++]));
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) != ',') break;
        p->at++;
    }
    return pytrace_tuple(p, items, count, out);
}

/* What stands right of the "=". */
static hone_status read_right(pytrace *p, uint32_t count, const char *const *names,
                              bool has_comma) {
    const char *start = p->at;
    pytrace_object object = {.operand = {.kind = HONE_OPERAND_NONE}};
    if (pytrace_makes_schedule(p)) {
        pytrace_begin_schedule(p);
        object.is_schedule = true;
        return assign(p, start, count, names, has_comma, &object);
    }
    const char *callee = pytrace_read_name(p);
    if (is_schedule(p, callee) && pytrace_peek(p) == '.' && !pytrace_call_has_index(p)) {
        p->at++;
        return pytrace_read_call(p, count, names, has_comma);
    }
    const pytrace_func *func = callee ? pytrace_find_func(p, callee) : NULL;
    if (func && pytrace_peek(p) == '(') {
        HONE_TRY(pytrace_call_func(p, func, &object));
    } else {
        char next = pytrace_peek(p);
        bool is_unknown = callee && !is_schedule(p, callee) && (next == '.' || next == '(') &&
                          !pytrace_find(p, callee);
        if (is_unknown) return pytrace_fail_at(p, start, "expected a step of the schedule");
        p->at = start;
        HONE_TRY(read_values(p, &object.operand));
    }
    return assign(p, start, count, names, has_comma, &object);
}

/* ---- statements ---- */

/* "sch.mod.show()", "sch.show()", "sch.trace": looks only. */
static bool shows_schedule(const pytrace *p) {
    return pytrace_starts_with_word(p, "mod") || pytrace_starts_with_word(p, "trace") ||
           pytrace_starts_with_word(p, "show");
}

static hone_status read_statement(pytrace *p) {
    const char *names[MAX_NAMES];
    uint32_t count = 0;
    bool has_comma = false;
    const char *start = p->at;
    for (;;) {
        pytrace_skip_blanks(p);
        pytrace_accept(p, '(');
        const char *name_at = p->at, *name = pytrace_read_name(p);
        if (!name) return pytrace_fail_at(p, name_at, "expected a step of the schedule");
        if (count == MAX_NAMES) return pytrace_fail(p, "too many names");
        names[count++] = name;
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) == ')') p->at++;
        pytrace_skip_blanks(p);
        if (pytrace_peek(p) != ',') break;
        p->at++;
        has_comma = true;
        pytrace_skip_blanks(p);
        bool is_last = pytrace_peek(p) == ')'; /* (a,) = … */
        if (is_last) p->at++;
        pytrace_skip_blanks(p);
        if (is_last || pytrace_peek(p) == '=') break;
    }
    if (count == 1 && pytrace_peek(p) == '.' && is_schedule(p, names[0])) {
        p->at++;
        if (!shows_schedule(p)) return pytrace_read_call(p, 0, NULL, false);
        pytrace_skip_line(p);
        p->at--; /* the end of the line is still to come */
        return HONE_OK;
    }
    const pytrace_func *func = count == 1 ? pytrace_find_func(p, names[0]) : NULL;
    if (func && pytrace_peek(p) == '(') {
        pytrace_object ignored;
        return pytrace_call_func(p, func, &ignored);
    }
    if (pytrace_peek(p) != '=') return pytrace_fail_at(p, start, "expected a step of the schedule");
    p->at++;
    pytrace_skip_blanks(p);
    return read_right(p, count, names, has_comma);
}

static hone_status end_line(pytrace *p) {
    pytrace_skip_blanks(p);
    if (pytrace_peek(p) == ';') {
        p->at++;
        return HONE_OK;
    }
    if (p->at < p->end && pytrace_peek(p) != '\n' && pytrace_peek(p) != '#') {
        return pytrace_fail(p, "expected the end of the line");
    }
    pytrace_skip_line(p);
    return HONE_OK;
}

/* "for a, b in list:" runs its suite once for each item. */
static hone_status read_for(pytrace *p) {
    const char *names[MAX_NAMES], *head = p->at, *body;
    uint32_t count = 0;
    hone_operand list;
    p->at += 3; /* "for" */
    do {
        pytrace_skip_blanks(p);
        if (count == MAX_NAMES) return pytrace_fail(p, "too many names");
        names[count] = pytrace_read_name(p);
        if (!names[count++]) return pytrace_fail(p, "expected a name");
        pytrace_skip_blanks(p);
    } while (pytrace_accept(p, ','));
    if (!pytrace_starts_with_word(p, "in")) return pytrace_fail(p, "expected 'in'");
    p->at += 2;
    pytrace_skip_blanks(p);
    const char *where = p->at;
    HONE_TRY(pytrace_read_value(p, &list));
    if (list.kind != HONE_OPERAND_LIST) return pytrace_fail_at(p, where, "expected a list");
    if (!pytrace_accept(p, ':')) return pytrace_fail(p, "expected ':'");
    if (!pytrace_skip_suite(p, head, &body)) return pytrace_fail(p, "expected an indented body");
    const char *behind = p->at, *end = p->end;
    for (uint32_t i = 0; i < list.count && !p->has_returned; i++) {
        pytrace_object item = {.operand = list.u.items[i]};
        if (++p->turn_count > MAX_TURNS) return pytrace_fail_at(p, head, "this runs for too long");
        HONE_TRY(assign(p, where, count, names, count > 1, &item));
        if (p->for_depth == MAX_FORS) return pytrace_fail_at(p, head, "nested too deeply");
        p->at = body;
        p->end = behind;
        p->for_depth++;
        HONE_TRY(pytrace_run(p));
        p->for_depth--;
        p->end = end;
    }
    p->at = behind;
    return HONE_OK;
}

hone_status pytrace_run(pytrace *p) {
    while (p->at < p->end && !p->has_returned) {
        pytrace_skip_blanks(p);
        if (skip_docstring(p) || pytrace_skip_program(p)) continue;
        if (is_skipped(p)) {
            pytrace_skip_line(p);
        } else if (pytrace_starts_with_word(p, "def")) {
            HONE_TRY(pytrace_read_def(p));
        } else if (pytrace_starts_with_word(p, "for")) {
            HONE_TRY(read_for(p));
        } else if (pytrace_starts_with_word(p, "return")) {
            if (p->call_depth) {
                HONE_TRY(pytrace_read_return(p));
            } else {
                pytrace_skip_line(p);
            }
        } else {
            HONE_TRY(read_statement(p));
            HONE_TRY(end_line(p));
        }
    }
    return HONE_OK;
}

/* A text of functions alone means the last one. */
static hone_status read_text(pytrace *p) {
    HONE_TRY(pytrace_run(p));
    bool means_func = p->func_count && !p->trace->count && !p->call_count;
    return means_func ? pytrace_apply_func(p, &p->funcs[p->func_count - 1]) : HONE_OK;
}

hone_status hone_trace_parse_script(hone_arena *arena, const hone_trace_context *context,
                                    const char *text, size_t length, const char *source_name,
                                    hone_trace *out_trace) {
    hone_trace_init(out_trace, arena);
    pytrace p = {.arena = arena,
                 .trace = out_trace,
                 .source = source_name,
                 .context = context,
                 .text = text,
                 .at = text,
                 .end = text + length,
                 .schedule_name = "sch"};
    hone_status st = read_text(&p);
    hone_strmap_deinit(&p.names);
    if (!st || !p.is_refused) return st;
    hone_status_free(st); /* who applies the trace will hear of it, with the place */
    return HONE_OK;
}

hone_status hone_trace_parse_python(hone_arena *arena, const char *text, size_t length,
                                    const char *source_name, hone_trace *out_trace) {
    return hone_trace_parse_script(arena, NULL, text, length, source_name, out_trace);
}
